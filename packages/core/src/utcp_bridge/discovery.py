"""Manuals to tools, each manual by itself: what one of them does never touches the others."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from utcp_bridge.errors import DiscoveryError
from utcp_bridge.transports.client import Client, DiscoveredTool

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SkippedTool:
    """A tool that was left out, or cannot be told apart, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class ManualReport:
    """What came of one manual; `error` is None when it was loaded."""

    name: str
    tool_count: int = 0
    error: str | None = None
    skipped: tuple[SkippedTool, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the manual was loaded."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class DiscoveryReport:
    """What came of each manual, in the order of the configuration."""

    manuals: tuple[ManualReport, ...] = ()

    @property
    def failed(self) -> tuple[ManualReport, ...]:
        """The manuals that could not be loaded."""
        return tuple(manual for manual in self.manuals if not manual.ok)

    def __str__(self) -> str:
        return "\n".join(_report_line(manual) for manual in self.manuals) or "no manuals are configured"


@dataclass(frozen=True, slots=True)
class Discovery:
    """The tools that were found, in the order of the configuration, and the report."""

    tools: tuple[DiscoveredTool, ...] = ()
    report: DiscoveryReport = field(default_factory=DiscoveryReport)


async def discover(client: Client, templates: Sequence[Mapping[str, Any]], *, timeout: float) -> Discovery:
    """Load all manuals at the same time.

    Args:
        client: The client that the tools will be called with.
        templates: Manual call templates.
        timeout: The limit for each manual, in seconds.

    Returns:
        What was found. A manual that fails is an entry in the report, never an exception.
    """
    outcomes = await asyncio.gather(*(_load(client, template, timeout) for template in templates))
    report = DiscoveryReport(tuple(manual for manual, _ in outcomes))
    tools = tuple(tool for _, manual_tools in outcomes for tool in manual_tools)
    if report.failed and not tools:
        logger.warning("No UTCP tool could be loaded:\n%s", report)
    return Discovery(tools, report)


def raise_if_failed(report: DiscoveryReport) -> None:
    """Raise one `DiscoveryError` that lists every manual that failed; do nothing if none did."""
    if report.failed:
        raise DiscoveryError("\n".join(_report_line(manual) for manual in report.failed))


async def _load(
    client: Client, template: Mapping[str, Any], timeout: float
) -> tuple[ManualReport, tuple[DiscoveredTool, ...]]:
    name = str(template.get("name"))
    try:
        async with asyncio.timeout(timeout):
            tools = await client.register_manual(template)
    except TimeoutError:
        return ManualReport(name, error=f"no answer within {timeout:g} seconds (discovery_timeout)"), ()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything; it costs this manual alone and is reported
        return ManualReport(name, error=str(error) or type(error).__name__), ()
    by_name = {tool.utcp_name: tool for tool in tools}
    skipped = tuple(
        SkippedTool(name, f"{count} tools have this name; only the last can be called")
        for name, count in Counter(tool.utcp_name for tool in tools).items()
        if count > 1
    )
    return ManualReport(name, tool_count=len(by_name), skipped=skipped), tuple(by_name.values())


def _report_line(manual: ManualReport) -> str:
    outcome = f"{manual.tool_count} tools" if manual.ok else f"failed: {manual.error}"
    return f"{manual.name!r}: {outcome}"
