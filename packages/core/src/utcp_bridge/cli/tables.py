"""What the command prints, as tables for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from utcp_bridge.cli.terminal import visible
from utcp_bridge.discovery import DiscoveryReport, ManualReport, ManualVariable
from utcp_bridge.tools import BridgedTool
from utcp_bridge.transports.client.loaded import RequiredVariable


def tools(listed: Iterable[BridgedTool]) -> RenderableType:
    """One row a tool."""
    table = _table("tool", "what it does", "arguments")
    for tool in listed:
        table.add_row(_text(tool.name), _text(_first_line(tool.description)), _text(_argument_names(tool.input_schema)))
    return table


def tool(shown: BridgedTool) -> RenderableType:
    """One tool as models see it."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column()
    facts.add_column(overflow="fold")
    facts.add_row("name", _text(shown.name, style="bold"))
    facts.add_row("UTCP name", _text(shown.utcp_name))
    facts.add_row("description", _text(shown.description))
    if shown.tags:
        facts.add_row("tags", _text(", ".join(shown.tags)))
    if shown.read_only or shown.destructive:
        facts.add_row("effect", "reads only" if shown.read_only else "deletes something")
    problems = [_text(problem, style="yellow") for problem in shown.schema_problems]
    return Group(facts, Text("arguments"), _json(shown.input_schema), *problems)


def schema_problems(by_tool: Mapping[str, Iterable[str]]) -> RenderableType:
    """One row a problem: what of a tool's schema could not be read, or was left out."""
    table = _table("tool", "in its schema")
    for name, problems in by_tool.items():
        for index, problem in enumerate(problems):
            table.add_row(_text("" if index else name), _text(problem, style="yellow"))
    return table


def report(of: DiscoveryReport) -> RenderableType:
    """One row a manual, and one for each warning, tool that was left out and variable of its tools."""
    table = _table("manual", "tools", "outcome")
    for manual in of.manuals:
        table.add_row(_text(manual.name), str(manual.tool_count), _outcome(manual))
        for warning in manual.warnings:
            table.add_row("", "", _text(warning, style="yellow"))
        for skipped in manual.skipped:
            table.add_row("", "", _text(f"{skipped.name}: {skipped.reason}", style="yellow"))
        for variable in manual.variables:
            style = "yellow" if variable in manual.missing_variables else "dim"
            table.add_row("", "", _text(_variable_line(variable), style=style))
    return table


def variables(required: Sequence[RequiredVariable]) -> RenderableType:
    """One row a variable."""
    is_described = any(each.description for each in required)
    table = _table("variable", "manual", "defined", *(["takes"] if is_described else []))
    for each in required:
        outcome = Text("yes", style="green") if each.defined else Text("no", style="red")
        description = [_text(each.description)] if is_described else []
        table.add_row(_text(each.key), _text(each.manual), outcome, *description)
    return table


def _variable_line(variable: ManualVariable) -> str:
    count, optional = len(variable.tools), len(variable.optional_tools)
    uses = [f"{count} tool{' needs' if count == 1 else 's need'} it"] if count else []
    uses += [f"{optional} tool{'' if optional == 1 else 's'} could use it"] if optional else []
    line = f"the variable {variable.key!r} is {'' if variable.defined else 'not '}defined; {', '.join(uses)}"
    return f"{line}: {variable.description}" if variable.description else line


def _table(*columns: str) -> Table:
    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")  # a name or a path that is shortened cannot be copied
    return table


def _text(text: str, style: str = "") -> Text:
    return Text(visible(text), style=style)


def _outcome(manual: ManualReport) -> Text:
    return Text("ok", style="green") if manual.ok else _text(f"failed: {manual.error}", style="red")


def _argument_names(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    return ", ".join(name if name in required else f"[{name}]" for name in schema["properties"])


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _json(value: Any) -> Syntax:
    return Syntax(json.dumps(value, ensure_ascii=False, indent=2), "json", background_color="default", word_wrap=True)
