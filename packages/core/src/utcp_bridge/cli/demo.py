"""`utcp-bridge demo`: the whole path, from a manual to an agent's answer, on this machine alone."""

from __future__ import annotations

import dataclasses
import io
import re
import sys
from contextlib import closing
from pathlib import Path

import click
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from utcp_bridge.cli import tables
from utcp_bridge.cli.terminal import json_text
from utcp_bridge.demo import Step
from utcp_bridge.demo.story import SCRIPT, FrameworkRun, Loaded, tell

_PICTURE_WIDTH = 118
_STYLES = {"tools": "dim", "call": "cyan", "result": "green", "error": "red", "answer": "bold"}
_LABELS = {"tools": "is shown", "call": "calls", "result": "gets", "error": "gets error", "answer": "answers"}

_NEXT = """\
Now with your own tools:

  utcp-bridge check my-utcp.json        what came of each manual, and why
  utcp-bridge list my-utcp.json         the tools, as models see them
  utcp-bridge call my-utcp.json TOOL name=value

  my-utcp.json: {"manual_call_templates": [{"name": "weather", "call_template_type": "http",
                 "url": "https://api.example.com/utcp", "http_method": "GET"}]}

  LangChain     from langchain_utcp_toolkit import load_tools;  tools = load_tools("my-utcp.json")
  LlamaIndex    from llama_index.tools.utcp import UTCPToolSpec;  tools = UTCPToolSpec("my-utcp.json").to_tool_list()
  OVOS          in the settings of the persona's loop:
                "toolboxes": ["ovos-utcp-toolbox"], "ovos-utcp-toolbox": {"utcp_config": "my-utcp.json"}"""

_NO_ADAPTER = """
No adapter is installed, so no agent was asked. Install one of them, and its framework:
  pip install langchain-utcp-toolkit langchain
  pip install llama-index-tools-utcp
  pip install ovos-utcp-toolbox ovos-agentic-loop"""


def run(*, as_json: bool = False, picture: str | None = None) -> None:
    """Run the demo; exit with 1 when an installed framework could not finish it.

    Args:
        as_json: Print one JSON object for each event, in place of the terminal's text.
        picture: Where to write the terminal as SVG; default None, print it.
    """
    console = Console(file=io.StringIO(), record=True, width=_PICTURE_WIDTH) if picture else Console(soft_wrap=True)
    with closing(tell()) as events:
        finished = [_finished(event, as_json, console) for event in events]
    if not as_json:
        if len(finished) == 1:
            console.print(_NO_ADAPTER, highlight=False, markup=False)
        console.print()
        console.print(_NEXT, highlight=False, markup=False)
    if picture:
        Path(picture).write_text(_svg(console), encoding="utf-8")
    if not all(finished):
        sys.exit(1)


def _svg(console: Console) -> str:
    # Without the web fonts of Rich's template: a picture loads nothing.
    template = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(title="utcp-bridge demo", code_format=template)


def _finished(event: Loaded | FrameworkRun, as_json: bool, console: Console) -> bool:
    if as_json:
        click.echo(json_text(_jsonable(event)))
    elif isinstance(event, Loaded):
        _print_loaded(event, console)
    else:
        _print_run(event, console)
    if isinstance(event, Loaded):
        return True
    return not event.failed and (event.problem is not None or any(step.kind == "answer" for step in event.steps))


def _print_loaded(event: Loaded, console: Console) -> None:
    console.print(Text.assemble(("1. ", "bold"), f"UTCP tools answer on this machine: {event.url} and a command line"))
    console.print(Text.assemble(("2. ", "bold"), "Their manuals are loaded:"))
    console.print(tables.report(event.report), tables.tools(event.tools))
    console.print(Text.assemble(("3. ", "bold"), f"A scripted model is asked: {SCRIPT.question}"))


def _print_run(event: FrameworkRun, console: Console) -> None:
    console.print()
    console.print(Text(event.framework, style="bold underline"))
    if event.problem:
        console.print(Text(f"  {event.problem}", style="yellow"))
    for step in event.steps:
        console.print(_line(step))


def _line(step: Step) -> Text:
    return Text.assemble((f"  {_LABELS[step.kind]:<10} ", "dim"), (step.text, _STYLES[step.kind]))


def _jsonable(event: Loaded | FrameworkRun) -> dict[str, object]:
    if isinstance(event, Loaded):
        return {"url": event.url, "report": event.report.to_dict(), "tools": [tool.name for tool in event.tools]}
    return {**dataclasses.asdict(event), "steps": [dataclasses.asdict(step) for step in event.steps]}
