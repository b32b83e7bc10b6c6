"""Manuals to tools, each manual by itself: what one of them does never touches the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from utcp_bridge.config import ManualTemplate
from utcp_bridge.errors import DiscoveryError
from utcp_bridge.options import seconds_text
from utcp_bridge.reports import DiscoveryReport, ManualReport, ToolsetChanges, changes_between
from utcp_bridge.transports.client.client import Client
from utcp_bridge.transports.client.loaded import DiscoveredTool, FetchedManual, LoadedManual, ManualVariable
from utcp_bridge.transports.drafts import SkippedTool
from utcp_bridge.transports.failures import reason
from utcp_bridge.transports.manuals.deadline import within

__all__ = [
    "Discovery",
    "DiscoveryReport",
    "ManualReport",
    "ManualVariable",
    "SkippedTool",
    "ToolsetChanges",
    "changes_between",
    "discover",
    "raise_if_failed",
]

logger = logging.getLogger(__name__)

OnArrival: TypeAlias = "Callable[[Discovery], object]"
"""Is given what has been found so far."""

OnRunner: TypeAlias = Callable[[Callable[[], Coroutine[Any, Any, FetchedManual]]], Coroutine[Any, Any, FetchedManual]]
"""Runs work on the loop that owns loop-bound state, and waits for it: `Lease.arun`."""

_TOGETHER = 0.1
"""Seconds. Manuals that arrive within this time of another are handed out with it: each time looks at all tools."""

_told: WeakKeyDictionary[Client, str] = WeakKeyDictionary()
_warned: WeakKeyDictionary[Client, set[str]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Discovery:
    """The tools that were found, in the order of the configuration, and the report."""

    tools: tuple[DiscoveredTool, ...] = ()
    report: DiscoveryReport = field(default_factory=DiscoveryReport)


@dataclass(frozen=True, slots=True)
class _Outcome:
    manual: ManualTemplate
    fetched: FetchedManual | None = None
    error: str | None = None


_Kept: TypeAlias = tuple[ManualReport, LoadedManual]
"""What is told of a manual, and what it brought."""


async def discover(
    client: Client,
    *,
    timeout: float,
    on_runner: OnRunner | None = None,
    on_failure: Literal["skip", "raise"] = "skip",
    on_arrival: OnArrival | None = None,
    before: DiscoveryReport | None = None,
) -> Discovery:
    """Load all manuals of a client at the same time, or load them anew.

    Args:
        client: The client that the tools will be called with.
        timeout: The limit for fetching each manual, in seconds.
        on_runner: Runs what is bound to a loop where it belongs; default None, everything on the caller's loop.
        on_failure: `"skip"` (default) makes a manual that fails an entry in the report, and one that was loaded
            before keeps the tools it had; `"raise"` raises one error for all of them and stores nothing.
        on_arrival: Is given what has been found so far: at the start if a manual was never loaded, and whenever one
            has arrived and others have not. It is for hosts that tell their users what the report says, so nothing is
            logged here. Default None: the tools change together. It is never called where `on_failure` is `"raise"`.
        before: The report of the last load, which holds for each manual until that arrives; default None, there was
            no load.

    Returns:
        What was found.

    Raises:
        DiscoveryError: A manual failed and `on_failure` is `"raise"`.
    """
    manuals = await client.manual_templates()
    if on_arrival is None:
        _warn_of_templates(client, manuals)
    kept: dict[int, _Kept] = {}
    async with asyncio.TaskGroup() as group:
        fetches = [group.create_task(_fetch(client, manual, timeout, on_runner)) for manual in manuals]
        if on_arrival is not None and on_failure == "skip":
            waiting = [_waiting(client, manual, before or DiscoveryReport()) for manual in manuals]
            kept = await _kept_as_they_come(client, fetches, waiting, on_arrival)
    outcomes = [fetch.result() for fetch in fetches]
    if on_failure == "raise":
        raise_if_failed(DiscoveryReport(tuple(_failed(client, outcome)[0] for outcome in outcomes)))
    # Stored one after the other and only now, so that the tools change together, in one order.
    found = _found([kept.get(place) or await _keep(client, outcome) for place, outcome in enumerate(outcomes)])
    report = found.report
    if on_failure == "raise":
        raise_if_failed(report)
    if found.tools or not (report.failed or any(manual.skipped for manual in report.manuals)):
        _told.pop(client, None)
    elif on_arrival is None:
        _warn_once(client, str(report))
    return found


async def _kept_as_they_come(
    client: Client, fetches: Sequence[asyncio.Task[_Outcome]], waiting: Sequence[_Kept], on_arrival: OnArrival
) -> dict[int, _Kept]:
    """Store what arrives, and hand it out, until nothing is missing; what arrives at the very last is left over."""
    kept: dict[int, _Kept] = {}
    if any(report.loading for report, _ in waiting):
        on_arrival(_found(waiting))
    while missing := [fetch for fetch in fetches if not fetch.done()]:
        await asyncio.wait(missing, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(missing, timeout=_TOGETHER)
        for place, fetch in enumerate(fetches):
            if fetch.done() and place not in kept:
                kept[place] = await _keep(client, fetch.result())
        if len(kept) < len(fetches):
            on_arrival(_found([kept.get(place, was) for place, was in enumerate(waiting)]))
    return kept


def _found(kept: Sequence[_Kept]) -> Discovery:
    tools = tuple(tool for _, loaded in kept for tool in loaded.tools)
    return Discovery(tools, DiscoveryReport(tuple(report for report, _ in kept)))


def _waiting(client: Client, manual: ManualTemplate, before: DiscoveryReport) -> _Kept:
    loading = ManualReport(manual.name, protocol=_protocol(manual), warnings=client.warnings_of(manual), loading=True)
    report = next((report for report in before.manuals if report.name == manual.name), loading)
    return report, client.kept_manual(manual.name) or LoadedManual()


def _warn_once(client: Client, report: str) -> None:
    # Whoever refreshes every half minute would otherwise be told the same every half minute.
    if _told.get(client) != report:
        _told[client] = report
        logger.warning("No UTCP tool could be loaded:\n%s", report)


def _warn_of_templates(client: Client, manuals: Sequence[ManualTemplate]) -> None:
    for manual in manuals:
        for warning in client.warnings_of(manual):
            sentence = f"The call template of the manual {manual.name!r}: {warning}"
            if sentence not in _warned.setdefault(client, set()):
                _warned[client].add(sentence)
                logger.warning("%s", sentence)


def raise_if_failed(report: DiscoveryReport) -> None:
    """Raise one `DiscoveryError` that lists every manual that failed; do nothing if none did."""
    if report.failed:
        raise DiscoveryError("\n".join(map(str, report.failed)))


async def _fetch(client: Client, manual: ManualTemplate, timeout: float, on_runner: OnRunner | None) -> _Outcome:
    clock = asyncio.timeout(timeout)
    try:
        async with clock:
            with within(timeout):
                if on_runner is not None and client.loop_bound(str(_protocol(manual))):
                    fetched = await on_runner(lambda: client.fetch_manual(manual))
                else:
                    fetched = await client.fetch_manual(manual)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything; it costs this manual alone and is reported
        if isinstance(error, TimeoutError) and clock.expired():
            return _Outcome(manual, error=f"no answer within {seconds_text(timeout)} (discovery_timeout)")
        return _Outcome(manual, error=client.secrets.scrub(reason(error)))
    loaded = fetched.loaded
    if loaded.skipped and not loaded.tools:
        return _Outcome(manual, fetched, "none of its tools can be used")
    return _Outcome(manual, fetched)


async def _keep(client: Client, outcome: _Outcome) -> _Kept:
    manual = outcome.manual
    if outcome.error is None and outcome.fetched is not None:
        try:
            loaded = await client.keep_manual(outcome.fetched)
        except Exception as error:  # noqa: BLE001 - so may a tool repository
            words = client.secrets.scrub(reason(error))
            outcome = _Outcome(manual, error=f"the tool repository did not take it: {words}")
        else:
            return ManualReport(
                manual.name,
                len(loaded.tools),
                skipped=loaded.skipped,
                protocol=_protocol(manual),
                variables=loaded.variables,
                warnings=(*client.warnings_of(manual), *loaded.warnings),
            ), loaded
    return _failed(client, outcome, client.kept_manual(manual.name))


def _failed(client: Client, outcome: _Outcome, kept: LoadedManual | None = None) -> _Kept:
    loaded = kept or LoadedManual()
    skipped = outcome.fetched.loaded.skipped if outcome.fetched is not None else ()
    report = ManualReport(
        outcome.manual.name,
        len(loaded.tools),
        error=outcome.error,
        skipped=skipped,
        protocol=_protocol(outcome.manual),
        warnings=client.warnings_of(outcome.manual),
    )
    return report, loaded


def _protocol(manual: ManualTemplate) -> str | None:
    kind = manual.template.get("call_template_type")
    return kind if isinstance(kind, str) else None
