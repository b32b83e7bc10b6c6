"""What came of the manuals: the report of a load, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from utcp_bridge.transports.client.loaded import ManualVariable
from utcp_bridge.transports.drafts import SkippedTool

_MOST_LINES = 20


@dataclass(frozen=True, slots=True)
class ManualReport:
    """What came of one manual.

    Attributes:
        name: The manual's name as UTCP registers it.
        tool_count: How many of its tools can be called.
        error: Why it could not be loaded, or None if it was.
        skipped: The tools that were left out, or that share a name, and why.
        protocol: The `call_template_type` of its call template, or None where the template has none.
        variables: The variables that its tools need, and those of other credentials that they could use.
        warnings: What is odd about its call template, or those of its tools, and did not keep it from loading: keys
            that have no effect, each with the nearest known one.
        loading: Whether it is being loaded for the first time, and its tools come when it answers.
    """

    name: str
    tool_count: int = 0
    error: str | None = None
    skipped: tuple[SkippedTool, ...] = ()
    protocol: str | None = None
    variables: tuple[ManualVariable, ...] = ()
    warnings: tuple[str, ...] = ()
    loading: bool = False

    @property
    def ok(self) -> bool:
        """Whether the manual was loaded."""
        return self.error is None and not self.loading

    @property
    def missing_variables(self) -> tuple[ManualVariable, ...]:
        """The variables that its tools need and that had no value when it was loaded."""
        return tuple(variable for variable in self.variables if variable.tools and not variable.defined)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "name": self.name,
            "protocol": self.protocol,
            "ok": self.ok,
            "loading": self.loading,
            "tool_count": self.tool_count,
            "error": self.error,
            "skipped": [{"name": tool.name, "reason": tool.reason} for tool in self.skipped],
            "missing_variables": [
                {"key": variable.key, "tools": list(variable.tools)} for variable in self.missing_variables
            ],
            "variables": [
                {
                    "key": variable.key,
                    "defined": variable.defined,
                    "description": variable.description,
                    "tools": list(variable.tools),
                    "optional_tools": list(variable.optional_tools),
                }
                for variable in self.variables
            ],
            "warnings": list(self.warnings),
        }

    @property
    def remarks(self) -> tuple[str, ...]:
        """What else the operator should know, a line each: warnings, tools that were left out, missing variables."""
        lines = [*self.warnings]
        lines += [f"{tool.name}: skipped: {tool.reason}" for tool in self.skipped[:_MOST_LINES]]
        if len(self.skipped) > _MOST_LINES:
            lines.append(f"and {len(self.skipped) - _MOST_LINES} more were skipped")
        missing = self.missing_variables
        lines += map(_missing_line, missing)
        without = {tool for variable in missing for tool in variable.tools}
        lines += [_alternative_line(each) for each in self.variables if not without.isdisjoint(each.optional_tools)]
        return tuple(lines)

    def __str__(self) -> str:
        return "\n    ".join([_headline(self), *self.remarks])


@dataclass(frozen=True, slots=True)
class DiscoveryReport:
    """What came of each manual, in the order of the configuration.

    As text it has one line for each manual, and an indented one for each tool that was left out and each warning.
    """

    manuals: tuple[ManualReport, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every manual was loaded."""
        return all(manual.ok for manual in self.manuals)

    @property
    def failed(self) -> tuple[ManualReport, ...]:
        """The manuals that could not be loaded."""
        return tuple(manual for manual in self.manuals if manual.error is not None)

    @property
    def loading(self) -> tuple[ManualReport, ...]:
        """The manuals that are still being loaded for the first time."""
        return tuple(manual for manual in self.manuals if manual.loading)

    @property
    def tool_count(self) -> int:
        """How many tools can be called, over all manuals."""
        return sum(manual.tool_count for manual in self.manuals)

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "ok": self.ok,
            "tool_count": self.tool_count,
            "manuals": [manual.to_dict() for manual in self.manuals],
        }

    def __str__(self) -> str:
        return "\n".join(map(str, self.manuals)) or "no manuals are configured"


@dataclass(frozen=True, slots=True)
class ToolsetChanges:
    """What differs between two loads, by the names of the tools, each tuple sorted."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def changes_between(before: Mapping[str, object], after: Mapping[str, object]) -> ToolsetChanges:
    """What changed from one set of tools to another.

    Args:
        before: The tools as they were, by name.
        after: The tools as they are, by name.

    Returns:
        The names that only one of them has, and those whose tools are not equal.
    """
    return ToolsetChanges(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(sorted(name for name in before.keys() & after.keys() if before[name] != after[name])),
    )


def _headline(manual: ManualReport) -> str:
    protocol = f" ({manual.protocol})" if manual.protocol else ""
    tools = f"{manual.tool_count} tool{'' if manual.tool_count == 1 else 's'}"
    if manual.loading:
        return f"{manual.name!r}{protocol}: still loading"
    if manual.ok:
        return f"{manual.name!r}{protocol}: {tools}"
    before = f"; its {tools} of the last load stay" if manual.tool_count else ""
    return f"{manual.name!r}{protocol}: failed: {manual.error}{before}"


def _missing_line(variable: ManualVariable) -> str:
    told = f"; it takes {variable.description}" if variable.description else ""
    return f"the variable {variable.key!r} is not defined; {_named(variable.tools)} cannot be called without it{told}"


def _alternative_line(variable: ManualVariable) -> str:
    told = f"; it takes {variable.description}" if variable.description and not variable.tools else ""
    return f"the variable {variable.key!r} would do as well for {_named(variable.optional_tools)}{told}"


def _named(tools: Sequence[str]) -> str:
    more = len(tools) - 1
    return tools[0] + (f" and {more} more tool{'' if more == 1 else 's'}" if more else "")
