"""`utcp-bridge demo`: the whole path, from a manual to a result, on this machine alone."""

from __future__ import annotations

import asyncio
from typing import Any

from rich.console import Console
from rich.table import Table

from utcp_bridge.testing import ServedTool, ToolServer, ToolServerError
from utcp_bridge.toolset import Toolset

_WEATHER = {"Paris": {"sky": "sunny", "celsius": 21}, "Oslo": {"sky": "snow", "celsius": -3}}


def demo_tools() -> list[ServedTool]:
    """The tools that the demo serves: one that reads a query, one that takes a JSON body."""
    return [
        ServedTool(
            name="get_weather",
            description="The weather in a city right now.",
            properties={"city": {"type": "string", "description": "Name of the city", "examples": ["Paris"]}},
            required=["city"],
            handler=_weather,
        ),
        ServedTool(
            name="add_note",
            description="Keep a note for later.",
            properties={
                "body": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
                    "required": ["text"],
                }
            },
            required=["body"],
            handler=lambda arguments: {"kept": arguments["body"]},
            method="POST",
        ),
    ]


def run() -> None:
    """Run the demo on the terminal."""
    console = Console()
    with ToolServer(demo_tools()) as server:
        asyncio.run(_show(console, server))


async def _show(console: Console, server: ToolServer) -> None:
    config = {"manual_call_templates": [server.call_template("demo")]}
    console.print(f"[bold]1.[/] A UTCP tool server answers on this machine: {server.manual_url}")
    async with await Toolset.aopen(config) as toolset:
        console.print(f"[bold]2.[/] Its manual is loaded: {toolset.report}")
        table = Table("tool", "what it does", "arguments")
        for tool in toolset.tools.values():
            table.add_row(tool.name, tool.description, ", ".join(tool.input_schema["properties"]))
        console.print(table)
        console.print("[bold]3.[/] Its tools are called, one of them with a city that it does not know:")
        await _call(console, toolset, "demo_get_weather", {"city": "Paris"})
        await _call(console, toolset, "demo_add_note", {"body": {"text": "buy milk", "tags": ["home"]}})
        await _call(console, toolset, "demo_get_weather", {"city": "Atlantis"})


async def _call(console: Console, toolset: Toolset, name: str, arguments: dict[str, Any]) -> None:
    result = await toolset.acall(name, arguments)
    mark = "[red]error[/]" if result.is_error else "[green]ok[/]"
    console.print(f"   {name}({arguments}) -> {mark}: {result.content}", highlight=False, soft_wrap=True)


def _weather(arguments: dict[str, Any]) -> dict[str, Any]:
    city = arguments["city"]
    if city not in _WEATHER:
        raise ToolServerError(404, {"error": f"no city {city!r}; try {' or '.join(_WEATHER)}"})
    return {"city": city, **_WEATHER[city]}
