"""`utcp-bridge list`, `show`, `call`, `check` and `variables`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from utcp_bridge.cli import tables
from utcp_bridge.cli.terminal import json_text, print_content, table_console, visible
from utcp_bridge.config import load_config
from utcp_bridge.errors import BridgeError, ConfigError, ToolNotFoundError
from utcp_bridge.tools import BridgedTool
from utcp_bridge.toolset import Toolset

_FAILED = 1
_USAGE = 2

# `localhost:8000/utcp`, `192.168.1.5/x`, `api.example.com:80`, `api.example.com/openapi.json`
_HOST = re.compile(r"(?:localhost|\d+(?:\.\d+){3}|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,})(?::\d+|/)", re.IGNORECASE)

# A host may want an exception; here every failure is printed.
_SHOWN_BY_THE_COMMAND = frozenset({"on_failure", "on_tool_error"})


def list_tools(source: str, *, as_json: bool, **options: Any) -> None:
    """Print the tools of a source; manuals that failed, and what is odd about others, are told on standard error."""
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
    """Print one tool as models see it; exit with 1 when there is none of this name."""
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
        click.echo("No manuals are configured; they stand in 'manual_call_templates'.", err=True)
    if report.failed:
        sys.exit(_FAILED)


def list_variables(source: str, *, as_json: bool) -> None:
    """Print the variables that a source needs; exit with 1 when one has no value."""
    try:
        variables = Toolset.required_variables(load_config(_source(source)))
    except BridgeError as error:
        _fail(str(error))
    if as_json:
        _print_json([asdict(each) for each in variables])
    elif variables:
        table_console().print(tables.variables(variables))
    else:
        click.echo("No variables are needed, as far as can be told without connecting.", err=True)
    if not all(each.defined for each in variables):
        sys.exit(_FAILED)


@contextmanager
def _opened(source: str, flags: Mapping[str, Any]) -> Iterator[Toolset]:
    given = {key: value for key, value in flags.items() if value is not None and value != () and value is not False}
    try:
        config = load_config(_source(source))
        beside = {key: value for key, value in config.host_options.items() if key not in _SHOWN_BY_THE_COMMAND}
        with Toolset.open(config, **{**beside, **given}) as toolset:
            yield toolset
    except ConfigError as error:
        _fail(str(error))
    except BridgeError as error:
        click.echo(f"Error: {visible(str(error))}", err=True)
        sys.exit(_FAILED)


def _source(source: str) -> str | dict[str, Any]:
    if source.lower().startswith(("http://", "https://")):
        return {"manual_call_templates": [{"call_template_type": "http", "url": source, "http_method": "GET"}]}
    if _HOST.match(source) and not Path(source).exists():
        _fail(f"There is no file {source!r}; the URL of a manual begins with its scheme, as in 'http://{source}'.")
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
    for manual in toolset.report.manuals:
        if not manual.ok:
            click.echo(visible(f"manual {manual.name!r} failed: {manual.error}"), err=True)
        for warning in manual.warnings:
            click.echo(visible(f"manual {manual.name!r}: {warning}"), err=True)


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
