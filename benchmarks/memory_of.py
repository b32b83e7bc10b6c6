"""The memory that tools take, seen in a fresh interpreter: `python -m benchmarks.memory_of SIDE COUNT URL`.

Prints by how many bytes a tool the resident set has grown, as a JSON object: once all are loaded, once all have been
shown to a model, and once each has judged arguments. The resident set also counts what Rust and C allocate.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from benchmarks.own_interpreter import UnavailableError
from benchmarks.servers import source


@click.command()
@click.argument("side")
@click.argument("count", type=int)
@click.argument("manual_url")
@click.argument("small_manual_url")
def main(side: str, count: int, manual_url: str, small_manual_url: str) -> None:
    """Load the manual and print what its tools take."""
    logging.disable(logging.WARNING)
    measure = {"UtcpClient.create": _bare, "core": _core, "LangChain": _langchain}[side]
    asyncio.run(measure(source(small_manual_url), 1))  # what is there once for all tools is not counted
    grown = asyncio.run(measure(source(manual_url), count))
    click.echo(json.dumps(grown))


async def _bare(configuration: Mapping[str, Any], count: int) -> dict[str, float]:
    from utcp.utcp_client import UtcpClient

    before = _resident()
    client = await UtcpClient.create(config=dict(configuration))
    grown = (_resident() - before) / count
    await client.close()
    return {"loaded": grown}


async def _core(configuration: Mapping[str, Any], count: int) -> dict[str, float]:
    from utcp_bridge import Toolset

    before = _resident()
    async with await Toolset.aopen(configuration) as toolset:
        loaded = _resident()
        for tool in toolset.tools.values():
            _ = tool.input_schema
        shown = _resident()
        for tool in toolset.tools.values():
            tool.arguments.accept({"owner": "Ada"}, repair=True)
        used = _resident()
    return {
        "loaded": (loaded - before) / count,
        "shown": (shown - before) / count,
        "used": (used - before) / count,
    }


async def _langchain(configuration: Mapping[str, Any], count: int) -> dict[str, float]:
    from langchain_utcp_toolkit import UTCPToolkit

    before = _resident()
    async with await UTCPToolkit.aopen(configuration) as toolkit:
        tools = toolkit.get_tools()
        loaded = _resident()
        for tool in tools:
            _ = tool.tool_call_schema
        shown = _resident()
    return {"loaded": (loaded - before) / count, "shown": (shown - before) / count}


def _resident() -> int:
    gc.collect()
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError as error:
        raise UnavailableError("only Linux tells the resident set in /proc/self/statm") from error
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
