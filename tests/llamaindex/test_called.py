"""What arrives when LlamaIndex calls a UTCP tool, and what comes back."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]  # public, not exported
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.tools.calling import acall_tool_with_selection, call_tool_with_selection

from llama_index.tools.utcp import UTCPTool
from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import ToolResult, Toolset, errors

Echo = Callable[..., UTCPTool]
Invoke = Callable[..., ToolOutput]

NAMES = [
    "self", "ctx", "input", "args", "kwargs", "arguments", "tool", "cls", "config", "run_manager", "callbacks",
    "memo", "name", "metadata", "callback", "partial_params", "fn", "", "a.b", "a b", "$filter", "filter[name]", "été",
    "工具", "model_config", "model_dump", "schema", "json", "_id", "class", "x" * 90,
]  # fmt: skip
OPEN = {"type": "object", "properties": {name: {} for name in NAMES}}
REFUSING = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def _received(output: ToolOutput) -> Any:
    assert not output.is_error, output.content
    return json.loads(output.content)["received"]


def _weather(toolset: Toolset, **options: Any) -> UTCPTool:
    return UTCPTool(toolset.tools["home_get_weather"], **options)


@pytest.fixture(params=["call_tool", "acall_tool"])
def select(request: pytest.FixtureRequest) -> Callable[[UTCPTool, dict[str, Any]], ToolOutput]:
    """Calls a tool as `predict_and_call` does with a model's tool call."""

    def selected(tool: UTCPTool, kwargs: dict[str, Any]) -> ToolOutput:
        call = ToolSelection(tool_id="1", tool_name=tool.metadata.get_name(), tool_kwargs=kwargs)
        if request.param == "call_tool":
            return call_tool_with_selection(call, [tool])
        return asyncio.run(acall_tool_with_selection(call, [tool]))

    return selected


# -- arguments


def test_arguments_arrive_whatever_their_names(echo: Echo, invoke: Invoke, select: Invoke) -> None:
    arguments = {name: {"kept": [None, index, "1", 1.0]} for index, name in enumerate(NAMES)}
    tool = echo(OPEN)
    assert _received(invoke(tool, **arguments)) == arguments
    assert _received(select(tool, arguments)) == arguments


@pytest.mark.parametrize("name", NAMES)
def test_an_argument_arrives_alone(echo: Echo, select: Invoke, name: str) -> None:
    tool = echo({"type": "object", "properties": {name: {}}, "required": [name], "additionalProperties": False})
    assert _received(tool(**{name: None})) == {name: None}
    assert _received(tool.call(**{name: {"x": 1}})) == {name: {"x": 1}}
    assert _received(asyncio.run(tool.acall(**{name: [1]}))) == {name: [1]}
    assert _received(select(tool, {name: "text"})) == {name: "text"}


def test_nothing_that_was_not_given_arrives(echo: Echo, invoke: Invoke) -> None:
    tool = echo({"type": "object", "properties": {"a": {"default": 1}, "ctx": {}, "b": {"type": ["string", "null"]}}})
    assert _received(invoke(tool)) == {}
    assert _received(invoke(tool, b=None)) == {"b": None}
    assert not tool.requires_context


def test_a_wrong_name_arrives_as_it_was_given(echo: Echo, select: Invoke) -> None:
    """`call_tool` leaves out the name of a lone argument where it can."""
    tool = echo({"type": "object", "properties": {"city": {}}})
    assert _received(select(tool, {"town": "Paris"})) == {"town": "Paris"}
    closed = echo({"type": "object", "properties": {"city": {}}, "additionalProperties": False})
    refused = select(closed, {"town": "Paris"})
    assert refused.is_error
    assert "city" in refused.content


def test_an_argument_without_a_name_is_refused_with_the_names(echo: Echo, invoke: Invoke) -> None:
    tool = echo({"type": "object", "properties": {"city": {}, "unit": {}}})
    with pytest.raises(TypeError, match=r"m_echo .* by name: \(city=..., unit=...\)"):
        invoke(tool, "Paris")
    with pytest.raises(TypeError, match="by name"):
        invoke(tool, {"city": "Paris"})


def test_the_callers_arguments_stay_as_they_are(echo: Echo, invoke: Invoke) -> None:
    tool = echo({"type": "object", "properties": {"n": {"type": "integer"}, "list": {"type": "array"}}})
    given = {"n": "5", "list": "[1]"}
    output = invoke(tool, **given)
    assert _received(output) == {"n": 5, "list": [1]}
    assert given == {"n": "5", "list": "[1]"}
    assert output.raw_input == {"args": (), "kwargs": given}


def test_partial_params_are_sent_and_a_callers_own_win(echo: Echo, invoke: Invoke) -> None:
    tool = echo({"type": "object", "properties": {"a": {}, "self": {}}}, partial_params={"self": 1, "a": [2]})
    assert _received(invoke(tool)) == {"self": 1, "a": [2]}
    assert _received(invoke(tool, a=3)) == {"self": 1, "a": 3}
    assert json.loads(tool.fn(a=3)) == {"received": {"self": 1, "a": 3}}
    async_fn: Any = tool.async_fn
    assert json.loads(asyncio.run(async_fn())) == {"received": {"self": 1, "a": [2]}}


# -- results


def test_a_result_is_an_output_with_content_and_the_whole_result(home: dict[str, Any], invoke: Invoke) -> None:
    with Toolset.open(home) as toolset:
        output = invoke(_weather(toolset), city="Paris")
    reply = {"city": "Paris", "sky": "sunny", "celsius": 21}
    assert isinstance(output, ToolOutput)
    assert output.content == str(output) == '{"city":"Paris","sky":"sunny","celsius":21}'
    assert (output.tool_name, output.is_error) == ("home_get_weather", False)
    assert output.raw_input == {"args": (), "kwargs": {"city": "Paris"}}
    assert output.raw_output == ToolResult(output.content, raw=[reply], data=reply)
    assert output.model_dump(mode="json")["raw_output"]["data"] == reply


def test_a_failure_is_an_output_that_says_so_and_why(home: dict[str, Any], invoke: Invoke) -> None:
    with Toolset.open(home) as toolset:
        output = invoke(_weather(toolset), city="Atlantis")
    assert output.is_error
    assert "404" in output.content
    assert "try Paris or Oslo" in output.content
    assert output.raw_output.is_error
    assert output.raw_output.raw[0]["status"] == 404


@pytest.mark.parametrize("given", [{}, {"city": 5}, {"town": "Paris", "city": ["Paris"]}])
def test_arguments_that_do_not_fit_are_a_failure_that_the_model_can_mend(
    home: dict[str, Any], invoke: Invoke, given: dict[str, Any]
) -> None:
    with Toolset.open(home) as toolset:
        output = invoke(_weather(toolset), **given)
    assert output.is_error
    assert "city" in output.content


def test_a_server_that_is_gone_is_a_failure(invoke: Invoke) -> None:
    # Port 9 is the discard service, which nobody runs.
    manual = text_manual("m", [http_tool("gone", "http://127.0.0.1:9/")], "http")
    with Toolset.open(config(manual)) as toolset:
        assert invoke(UTCPTool(toolset.tools["m_gone"])).is_error


def test_on_tool_error_raise_raises(home: dict[str, Any], invoke: Invoke) -> None:
    with Toolset.open(home, on_tool_error="raise") as toolset:
        weather = _weather(toolset)
        with pytest.raises(errors.ToolExecutionError, match="try Paris or Oslo"):
            invoke(weather, city="Atlantis")
        with pytest.raises(errors.ToolArgumentsError, match="city"):
            invoke(weather)


def test_a_closed_toolset_is_the_developers_mistake_and_raises(home: dict[str, Any], invoke: Invoke) -> None:
    with Toolset.open(home) as toolset:
        weather = _weather(toolset)
    with pytest.raises(errors.RunnerError, match="closed"):
        invoke(weather, city="Paris")


# -- callbacks


def _sync(callback: Callable[[ToolResult], Any]) -> dict[str, Any]:
    return {"callback": callback}


def _async(callback: Callable[[ToolResult], Any]) -> dict[str, Any]:
    async def awaited(result: ToolResult) -> Any:
        await asyncio.sleep(0)
        return callback(result)

    return {"async_callback": awaited}


@pytest.mark.parametrize("kind", [_sync, _async])
def test_a_callback_sees_the_result_and_replaces_content_or_output(echo: Echo, invoke: Invoke, kind: Any) -> None:
    seen: list[ToolResult] = []
    assert _received(invoke(echo(REFUSING, **kind(seen.append)), n=1)) == {"n": 1}
    assert [result.data for result in seen] == [{"received": {"n": 1}}]

    replaced = invoke(echo(REFUSING, **kind(lambda result: f"{result.data}!")), n=1)
    assert replaced.content == "{'received': {'n': 1}}!"
    assert replaced.raw_output.data == {"received": {"n": 1}}
    assert replaced.raw_input == {"args": (), "kwargs": {"n": 1}}

    own = ToolOutput(content="mine", tool_name="x", raw_input={}, raw_output=None)
    assert invoke(echo(REFUSING, **kind(lambda _: own)), n=1) is own


@pytest.mark.parametrize("kind", [_sync, _async])
def test_a_callback_sees_failures_and_they_stay_failures(echo: Echo, invoke: Invoke, kind: Any) -> None:
    output = invoke(echo(REFUSING, **kind(lambda result: "Say n." if result.is_error else None)))
    assert (output.content, output.is_error) == ("Say n.", True)


# -- loops and threads


async def test_an_async_call_of_http_stays_on_the_callers_loop(home: dict[str, Any]) -> None:
    async with await Toolset.aopen(home) as toolset:
        weather = _weather(toolset)
        before = set(threading.enumerate())
        outputs = await asyncio.gather(*(weather.acall(city="Paris") for _ in range(20)))
        new = {thread.name for thread in threading.enumerate() if thread not in before}
    assert not any(output.is_error for output in outputs)
    assert all(name.startswith("utcp-bridge-tool-server") for name in new)


async def test_a_sync_call_works_inside_a_running_loop(home: dict[str, Any]) -> None:
    async with await Toolset.aopen(home) as toolset:
        weather = _weather(toolset)
        assert weather.call(city="Paris").content == (await weather.acall(city="Paris")).content


def test_one_loop_after_the_other_works(home: dict[str, Any]) -> None:
    with Toolset.open(home) as toolset:
        weather = _weather(toolset)
        contents = {asyncio.run(weather.acall(city="Paris")).content for _ in range(3)}
    assert contents == {'{"city":"Paris","sky":"sunny","celsius":21}'}


# -- a FunctionTool to everybody else


def test_it_is_a_function_tool_with_real_functions(echo: Echo) -> None:
    tool = echo(OPEN)
    assert isinstance(tool, FunctionTool)
    assert inspect.isfunction(tool.fn)
    assert inspect.iscoroutinefunction(tool.async_fn)
    assert tool.real_fn is tool.fn
    async_fn: Any = tool.async_fn
    assert json.loads(tool.fn(self=1, tool=2)) == {"received": {"self": 1, "tool": 2}}
    assert json.loads(asyncio.run(async_fn(config=1))) == {"received": {"config": 1}}


def test_its_function_can_be_shown_to_a_model_that_writes_code(echo: Echo) -> None:
    """`CodeActAgent` shows name, signature and docstring of `real_fn`."""
    schema = {"type": "object", "properties": {"city": {"enum": ["Paris"]}}}
    function = echo(schema).real_fn
    assert function.__name__ == "m_echo"
    assert echo(schema, name="mine").real_fn.__name__ == "mine"
    assert function.__doc__ is not None
    assert "Replies with its arguments" in function.__doc__
    assert '"city": {"enum": ["Paris"]}' in function.__doc__


def test_spans_hold_arguments_of_every_name(echo: Echo, invoke: Invoke) -> None:
    spans = SimpleSpanHandler()
    dispatcher = get_dispatcher()
    before = dispatcher.span_handlers
    dispatcher.span_handlers = [spans]
    try:
        invoke(echo(OPEN), **dict.fromkeys(NAMES, 1))
    finally:
        dispatcher.span_handlers = before
    assert {span.id_.split("-")[0] for span in spans.completed_spans} & {"UTCPTool.call", "UTCPTool.acall"}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_works_and_shares_the_connection(echo: Echo, copied: Callable[[UTCPTool], UTCPTool]) -> None:
    tool = echo({"type": "object", "properties": {"n": {}}}, partial_params={"n": [1]})
    twin = copied(tool)
    assert twin is not tool
    assert twin.bridged is tool.bridged
    assert _received(twin()) == {"n": [1]}
    assert _received(asyncio.run(twin.acall(n=2))) == {"n": 2}


def test_a_deep_copy_has_a_name_of_its_own(echo: Echo) -> None:
    tool = echo({})
    copy.deepcopy(tool).metadata.name = "other"
    assert tool.metadata.name == "m_echo"
