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

OnRunner: TypeAlias = Callable[[Callable[[], Coroutine[Any, Any, FetchedManual]]], Coroutine[Any, Any, FetchedManual]]
"""Runs work on the loop that owns loop-bound state, and waits for it: `Lease.arun`."""

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


async def discover(
    client: Client,
    *,
    timeout: float,
    on_runner: OnRunner | None = None,
    on_failure: Literal["skip", "raise"] = "skip",
) -> Discovery:
    """Load all manuals of a client at the same time, or load them anew.

    Args:
        client: The client that the tools will be called with.
        timeout: The limit for fetching each manual, in seconds.
        on_runner: Runs what is bound to a loop where it belongs; default None, everything on the caller's loop.
        on_failure: `"skip"` (default) makes a manual that fails an entry in the report, and one that was loaded
            before keeps the tools it had; `"raise"` raises one error for all of them and stores nothing.

    Returns:
        What was found.

    Raises:
        DiscoveryError: A manual failed and `on_failure` is `"raise"`.
    """
    manuals = await client.manual_templates()
    _warn_of_templates(client, manuals)
    outcomes = await asyncio.gather(*(_fetch(client, manual, timeout, on_runner) for manual in manuals))
    if on_failure == "raise":
        raise_if_failed(DiscoveryReport(tuple(_failed(client, outcome)[0] for outcome in outcomes)))
    # Stored one after the other and only now, so that the tools change together, in one order.
    kept = [await _keep(client, outcome) for outcome in outcomes]
    report = DiscoveryReport(tuple(manual for manual, _ in kept))
    if on_failure == "raise":
        raise_if_failed(report)
    tools = tuple(tool for _, loaded in kept for tool in loaded.tools)
    if not tools and (report.failed or any(manual.skipped for manual in report.manuals)):
        _warn_once(client, str(report))
    else:
        _told.pop(client, None)
    return Discovery(tools, report)


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


async def _keep(client: Client, outcome: _Outcome) -> tuple[ManualReport, LoadedManual]:
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


def _failed(client: Client, outcome: _Outcome, kept: LoadedManual | None = None) -> tuple[ManualReport, LoadedManual]:
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
