"""The `utcp-bridge` command."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from utcp_bridge.cli.terminal import Command

# Each command imports what it needs when it runs, so that `--help` and `--version` do not wait for UTCP.

# The command shows every failure itself; these would say it twice.
_SILENT_LOGGERS = ("dotenv", "utcp", "utcp_bridge.discovery", "utcp_cli", "utcp_file", "utcp_http", "utcp_text")
_Command = TypeVar("_Command", bound=Callable[..., Any])

_SOURCE_HELP = (
    "SOURCE is a UTCP configuration (a JSON or YAML file), a manual, or the URL of a manual. It may be the "
    "configuration of a host, such as an OVOS persona: its one 'utcp_config' counts, with the options beside it; "
    "flags win over them."
)
_EXIT_HELP = (
    "Exit codes: 0 when all went well; 1 when what was asked for failed or is missing: a manual (check), every manual "
    "(list), a tool (show, call), a call, a variable (variables), a framework (demo); 2 when the command line, the "
    "configuration or an option is wrong; 130 after Ctrl-C, 143 after SIGTERM."
)


@click.group(
    cls=Command,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EXIT_HELP,
)
@click.version_option(package_name="utcp-bridge")
@click.pass_context
def main(context: click.Context) -> None:
    """Bring UTCP tools into agent frameworks: look at them, call them, check them."""
    for name in _SILENT_LOGGERS:
        logger = logging.getLogger(name)
        context.call_on_close(partial(logger.setLevel, logger.level))  # for programs that run the command in themselves
        logger.setLevel(logging.CRITICAL)


def _source_options(command: _Command) -> _Command:
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option(
            "--allow-http-host",
            "allow_http_hosts",
            multiple=True,
            metavar="GLOB",
            help="A host that may be spoken to over plain HTTP, such as homeassistant.local; may be repeated.",
        ),
        click.option("--discovery-timeout", type=float, metavar="SECONDS", help="Limit for each manual; default 30."),
        click.argument("source"),
    ):
        command = option(command)
    return command


def _filter_options(command: _Command) -> _Command:
    for option in (
        click.option("--read-only", is_flag=True, help="Only tools that change nothing."),
        click.option("--tag", "tags", multiple=True, help="Only tools with this tag; may be repeated."),
        click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out UTCP names; may be repeated."),
        click.option("--include", multiple=True, metavar="GLOB", help="Only these UTCP names; may be repeated."),
    ):
        command = option(command)
    return command


@main.command("list", epilog=_SOURCE_HELP)
@_filter_options
@_source_options
def list_tools(source: str, as_json: bool, **options: Any) -> None:
    """List the tools of a source; exits with 1 when there are none because manuals failed."""
    from utcp_bridge.cli.commands import list_tools

    list_tools(source, as_json=as_json, **options)


@main.command(epilog=_SOURCE_HELP)
@_source_options
@click.argument("tool")
def show(source: str, tool: str, as_json: bool, **options: Any) -> None:
    """Show one tool as models see it; exits with 1 when there is none of this name."""
    from utcp_bridge.cli.commands import show_tool

    show_tool(source, tool, as_json=as_json, **options)


@main.command(epilog=_SOURCE_HELP)
@_source_options
@click.option("--timeout", type=float, metavar="SECONDS", help="Limit of the call; default 30.")
@click.argument("tool")
@click.argument("arguments", nargs=-1)
def call(
    source: str,
    tool: str,
    arguments: tuple[str, ...],
    as_json: bool,
    timeout: float | None,
    **options: Any,
) -> None:
    """Call a tool; exits with 1 when the call fails.

    ARGUMENTS are `name=value` pairs, or one JSON object. Write `--` before arguments that begin with a dash.
    """
    from utcp_bridge.cli.commands import call_tool

    call_tool(source, tool, arguments, as_json=as_json, timeout=timeout, **options)


@main.command(epilog=_SOURCE_HELP)
@_source_options
def check(source: str, as_json: bool, **options: Any) -> None:
    """Say what came of each manual; exits with 1 when one failed."""
    from utcp_bridge.cli.commands import check_source

    check_source(source, as_json=as_json, **options)


@main.command(epilog=_SOURCE_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.argument("source")
def variables(source: str, as_json: bool) -> None:
    """List the variables that a source needs, without connecting; exits with 1 when one is not defined."""
    from utcp_bridge.cli.commands import list_variables

    list_variables(source, as_json=as_json)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
@click.option("--svg", "picture", type=click.Path(dir_okay=False, writable=True), help="Write a picture instead.")
def demo(as_json: bool, picture: str | None) -> None:
    """Start tools on this machine and let an agent of every installed framework use them."""
    from utcp_bridge.cli.demo import run

    run(as_json=as_json, picture=picture)
