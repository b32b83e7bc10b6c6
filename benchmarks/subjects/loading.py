"""From one manual of many tools to a list that an agent can take, against upstream's `UtcpClient.create` alone."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from benchmarks.figures import Figure, cost
from benchmarks.measuring import Effort, awaited, in_turns, repeated
from benchmarks.servers import manual_of, source, tool_server

BARE = "UtcpClient.create"


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure the core and the three frameworks; what was opened is closed again within the measured time."""
    for case, count in effort.tools.items():
        manual = json.dumps(manual_of([many_sided_tool(index) for index in range(count)])).encode()
        with tool_server(manual) as base_url:
            configuration = source(f"{base_url}/utcp")
            loop = asyncio.new_event_loop()
            sides = {
                name: awaited(loop, functools.partial(work, configuration, count)) for name, work in _AWAITED.items()
            }
            sides["OVOS"] = repeated(functools.partial(_ovos, configuration, count))
            rounds = in_turns(sides, rounds=max(1, effort.rounds * 1_000 // max(count, 1_000)), calls=1)
            loop.close()
        at_most = 1.3 if count >= 1_000 else None
        for name in sides:
            if name != BARE:
                yield cost("Loading a manual", f"{name}, {case}", rounds, name, BARE, unit="ms", at_most=at_most)


def many_sided_tool(index: int) -> dict[str, Any]:
    """A tool of usual size, whose schema no other tool has."""
    return {
        "name": f"list_things_{index}",
        "description": f"Lists the things of kind {index}, newest first, and says how many there are of each.",
        "tags": ["things", f"kind-{index % 7}"],
        "inputs": {
            "type": "object",
            "properties": {
                "owner": {"type": "string", "description": "Whose things to list", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                "order": {"enum": ["newest", "oldest", "name"]},
                "labels": {"type": "array", "items": {"type": "string"}},
                f"only_{index}": {"type": "boolean"},
            },
            "required": ["owner"],
        },
        "outputs": {"type": "object", "properties": {"things": {"type": "array", "items": {"type": "string"}}}},
        "tool_call_template": {
            "call_template_type": "http",
            "url": f"http://127.0.0.1:9/things/{index}",
            "http_method": "GET",
        },
    }


async def only_upstream(configuration: Mapping[str, Any], count: int) -> None:
    """Open and close upstream's client."""
    from utcp.utcp_client import UtcpClient

    client = await UtcpClient.create(config=dict(configuration))
    await client.close()


async def core_list(configuration: Mapping[str, Any], count: int) -> None:
    """Open and close a toolset."""
    from utcp_bridge import Toolset

    async with await Toolset.aopen(configuration) as toolset:
        _require(len(toolset.tools), count)


async def langchain_list(configuration: Mapping[str, Any], count: int) -> None:
    """Make LangChain's list and release it."""
    from langchain_utcp_toolkit import UTCPToolkit

    async with await UTCPToolkit.aopen(configuration) as toolkit:
        _require(len(toolkit.get_tools()), count)


async def _llamaindex(configuration: Mapping[str, Any], count: int) -> None:
    from llama_index.tools.utcp import UTCPToolSpec

    async with UTCPToolSpec(configuration) as spec:
        _require(len(await spec.to_tool_list_async()), count)


def _ovos(configuration: Mapping[str, Any], count: int) -> None:
    from ovos_utcp_toolbox import UTCPToolBox

    toolbox = UTCPToolBox(config={"utcp_config": dict(configuration)})
    _require(len(toolbox.tools), count)
    toolbox.close()


_AWAITED: dict[str, Callable[[Mapping[str, Any], int], Awaitable[None]]] = {
    BARE: only_upstream,
    "core": core_list,
    "LangChain": langchain_list,
    "LlamaIndex": _llamaindex,
}


def _require(found: int, count: int) -> None:
    if found != count:
        raise RuntimeError(f"{found} of {count} tools were loaded")
