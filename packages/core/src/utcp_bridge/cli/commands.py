"""`utcp-bridge list`, `show`, `call` and `check`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click
from rich.console import Console

from utcp_bridge.cli import tables
from utcp_bridge.cli.terminal import json_text, print_content, table_console, visible
from utcp_bridge.errors import BridgeError, ToolNotFoundError
from utcp_bridge.tools import BridgedTool
from utcp_bridge.toolset import Toolset

_FAILED = 1
_USAGE = 2


def list_tools(source: str, *, as_json: bool, **options: Any) -> None:
    """Print the tools of a source; manuals that failed are named on standard error."""
    with _opened(source, options) as toolset:
        _print_failures(toolset)
        if as_json:
            _print_json([_summary(tool) for tool in toolset.tools.values()])
        elif toolset.tools:
            table_console().print(tables.tools(toolset.tools.values()))
        else:
            click.echo("There are no tools.", err=True)
        nothing_came = not toolset.report.tool_count and bool(toolset.report.failed)
    if nothing_came:
        sys.exit(_FAILED)


def show_tool(source: str, name: str, *, as_json: bool, **options: Any) -> None:
    """Print one tool as models see it."""
    with _opened(source, options) as toolset:
        try:
            tool = toolset.find(name)
        except ToolNotFoundError:
            _print_failures(toolset)
            raise
        if as_json:
            _print_json(_description(tool))
        else:
            Console().print(tables.tool(tool))


def call_tool(
    source: str,
    name: str,
    arguments: Sequence[str],
    *,
    as_json: bool,
    timeout: float | None,
    **options: Any,
) -> None:
    """Call a tool and print its content; exit with 1 when the call fails."""
    given = _arguments(arguments)
    with _opened(source, options) as toolset:
        result = toolset.call(name, given, timeout=timeout)
        if result.is_error and name not in {*toolset.tools, *(tool.utcp_name for tool in toolset.tools.values())}:
            _print_failures(toolset)
    if as_json:
        _print_json({"content": result.content, "is_error": result.is_error, "data": result.data, "raw": result.raw})
    else:
        print_content(result.content, error=result.is_error)
    if result.is_error:
        sys.exit(_FAILED)


def check_source(source: str, *, as_json: bool, **options: Any) -> None:
    """Print the discovery report, and what is odd about schemas; exit with 1 when a manual failed."""
    with _opened(source, options) as toolset:
        report = toolset.report
        problems = {tool.name: tool.schema_problems for tool in toolset.tools.values() if tool.schema_problems}
    if as_json:
        _print_json({**report.to_dict(), "schema_problems": problems})
    elif report.manuals:
        table_console().print(tables.report(report))
        if problems:
            table_console().print(tables.schema_problems(problems))
    else:
        click.echo("No manuals are configured.", err=True)
    if report.failed:
        sys.exit(_FAILED)


@contextmanager
def _opened(source: str, options: Mapping[str, Any]) -> Iterator[Toolset]:
    given = {key: value for key, value in options.items() if value is not None and value != () and value is not False}
    try:
        with Toolset.open(_source(source), **given) as toolset:
            yield toolset
    except BridgeError as error:
        _fail(str(error))


def _source(source: str) -> str | dict[str, Any]:
    if source.lower().startswith(("http://", "https://")):
        return {"manual_call_templates": [{"call_template_type": "http", "url": source, "http_method": "GET"}]}
    return source


def _arguments(arguments: Sequence[str]) -> str | dict[str, str]:
    if len(arguments) == 1 and arguments[0].lstrip().startswith("{"):
        return arguments[0]
    pairs = [argument.partition("=") for argument in arguments]
    wrong = [name for name, separator, _ in pairs if not separator]
    if wrong or any(not name for name, _, _ in pairs):
        _fail(f"Expected name=value, or one JSON object, got {(wrong or ['=' + pairs[0][2]])[0]!r}.")
    given = {name: value for name, _, value in pairs}
    if len(given) < len(pairs):
        _fail("An argument was given twice; write a list as JSON, such as name='[1, 2]'.")
    return given


def _print_failures(toolset: Toolset) -> None:
    for manual in toolset.report.failed:
        click.echo(visible(f"manual {manual.name!r} failed: {manual.error}"), err=True)


def _print_json(value: Any) -> None:
    click.echo(json_text(value, indent=2), color=True)


def _summary(tool: BridgedTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "utcp_name": tool.utcp_name,
        "manual": tool.manual,
        "description": tool.description,
        "tags": list(tool.tags),
        "read_only": tool.read_only,
        "destructive": tool.destructive,
    }


def _description(tool: BridgedTool) -> dict[str, Any]:
    return {
        **_summary(tool),
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "schema_problems": tool.schema_problems,
    }


def _fail(message: str) -> NoReturn:
    click.echo(f"Error: {visible(message)}", err=True)
    sys.exit(_USAGE)
