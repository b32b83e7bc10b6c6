"""The three frameworks: our tool in each, and a tool of the framework's own as its floor."""

from __future__ import annotations

import asyncio
import functools
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.floors import Requests
from benchmarks.servers import ARGUMENTS
from utcp_bridge import Toolset

Blocking = Callable[[], object]
Awaited = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Calls:
    """The same call by our tool and by the floor, each checked to work.

    Attributes:
        blocking: The sync form by the name of the side: "ours", "floor", and "hopless" (see `Requests`).
        awaited: The async form: "ours" and "floor"; empty where the framework has none.
    """

    blocking: Mapping[str, Blocking]
    awaited: Mapping[str, Awaited]


@contextmanager
def langchain_calls(source: Mapping[str, Any], requests: Requests) -> Iterator[Calls]:
    """`invoke` and `ainvoke`."""
    from langchain_core.tools import StructuredTool

    from langchain_utcp_toolkit import load_tools

    make = functools.partial(StructuredTool.from_function, name="get_weather", description="The weather in a city")
    floor = make(requests.blocking, coroutine=requests.awaited)
    hopless = make(requests.hopless)
    with _toolsets(source, requests.loop) as (toolset, on_loop):
        [ours], [ours_on_loop] = load_tools(toolset), load_tools(on_loop)
        yield _checked(
            {"floor": floor.invoke, "ours": ours.invoke, "hopless": hopless.invoke},
            {"floor": floor.ainvoke, "ours": ours_on_loop.ainvoke},
            requests.loop,
        )


@contextmanager
def llamaindex_calls(source: Mapping[str, Any], requests: Requests) -> Iterator[Calls]:
    """`call` and `acall`."""
    from llama_index.core.tools import FunctionTool

    from llama_index.tools.utcp import UTCPToolSpec

    make = functools.partial(FunctionTool.from_defaults, name="get_weather", description="The weather in a city")
    floor = make(requests.blocking, async_fn=requests.awaited)
    hopless = make(requests.hopless)
    with _toolsets(source, requests.loop) as (toolset, on_loop):
        [ours], [ours_on_loop] = UTCPToolSpec(toolset).to_tool_list(), UTCPToolSpec(on_loop).to_tool_list()
        yield _checked(
            {
                "floor": lambda arguments: floor.call(**arguments),
                "ours": lambda arguments: ours.call(**arguments),
                "hopless": lambda arguments: hopless.call(**arguments),
            },
            {
                "floor": lambda arguments: floor.acall(**arguments),
                "ours": lambda arguments: ours_on_loop.acall(**arguments),
            },
            requests.loop,
        )


@contextmanager
def ovos_calls(source: Mapping[str, Any], requests: Requests) -> Iterator[Calls]:
    """`call_tool`; OVOS has no async calls."""
    floor, hopless = ovos_toolbox(requests.blocking), ovos_toolbox(requests.hopless)

    from ovos_utcp_toolbox import UTCPToolBox

    ours = UTCPToolBox(config={"utcp_config": dict(source)})
    try:
        yield _checked(
            {
                "floor": lambda arguments: floor.call_tool("get_weather", arguments),
                "ours": lambda arguments: ours.call_tool("m_get_weather", arguments),
                "hopless": lambda arguments: hopless.call_tool("get_weather", arguments),
            },
            {},
            requests.loop,
        )
    finally:
        ours.close()


@contextmanager
def core_calls(source: Mapping[str, Any], requests: Requests) -> Iterator[Calls]:
    """`Toolset.call` and `Toolset.acall`, whose floor is the request alone."""
    with _toolsets(source, requests.loop) as (toolset, on_loop):
        yield _checked(
            {
                "floor": lambda arguments: requests.blocking(**arguments),
                "ours": lambda arguments: toolset.call("m_get_weather", arguments),
                "hopless": lambda arguments: requests.hopless(**arguments),
            },
            {
                "floor": lambda arguments: requests.awaited(**arguments),
                "ours": lambda arguments: on_loop.acall("m_get_weather", arguments),
            },
            requests.loop,
        )


def ovos_toolbox(call: Callable[..., dict[str, Any]]) -> Any:
    """OPM's own toolbox with one tool, whose arguments and reply are Pydantic models, as OPM's documents show it."""
    with warnings.catch_warnings():
        # OPM imports `aifc`, and with it `audioop`, which Python 3.11 and 3.12 deprecate.
        warnings.simplefilter("ignore", DeprecationWarning)
        from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput

    class Arguments(ToolArguments):
        city: str
        days: int = 1
        metric: bool = True

    class Output(ToolOutput):
        temperature: float
        unit: str
        days: list[int]

    def weather(arguments: Any) -> dict[str, Any]:
        return call(**arguments.model_dump())

    class Weather(ToolBox):
        def discover_tools(self) -> list[AgentTool]:
            return [AgentTool("get_weather", "The weather in a city", Arguments, Output, weather)]

    return Weather(toolbox_id="floor")


FRAMEWORKS = {
    "LangChain": (langchain_calls, "invoke", "ainvoke"),
    "LlamaIndex": (llamaindex_calls, "call", "acall"),
    "OVOS": (ovos_calls, "call_tool", ""),
    "core": (core_calls, "call", "acall"),
}


@contextmanager
def _toolsets(source: Mapping[str, Any], loop: asyncio.AbstractEventLoop) -> Iterator[tuple[Toolset, Toolset]]:
    with Toolset.open(source) as toolset:
        on_loop = loop.run_until_complete(Toolset.aopen(source))
        try:
            yield toolset, on_loop
        finally:
            loop.run_until_complete(on_loop.aclose())


def _checked(
    blocking: Mapping[str, Callable[[dict[str, Any]], object]],
    awaited: Mapping[str, Callable[[dict[str, Any]], Awaitable[object]]],
    loop: asyncio.AbstractEventLoop,
) -> Calls:
    async def result(call: Awaited) -> object:
        return await call()

    calls = Calls(
        {name: functools.partial(call, ARGUMENTS) for name, call in blocking.items()},
        {name: functools.partial(call, ARGUMENTS) for name, call in awaited.items()},
    )
    answers = [call() for call in calls.blocking.values()]
    answers += [loop.run_until_complete(result(call)) for call in calls.awaited.values()]
    wrong = [answer for answer in answers if "21.5" not in repr(answer)]
    if wrong:
        raise RuntimeError(f"a side that is to be measured does not work: {wrong}")
    return calls
