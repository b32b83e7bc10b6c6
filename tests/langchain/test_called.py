"""What arrives when LangChain calls a UTCP tool, and what comes back."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from pydantic import ValidationError

from langchain_utcp_toolkit import UTCPTool, UTCPToolError, load_tools
from tests.support.langchain_agents import tool_call
from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset, errors

Echo = Callable[..., UTCPTool]
Invoke = Callable[..., Any]

NAMES = [
    "config", "run_manager", "callbacks", "self", "cls", "args", "kwargs", "__arg1", "tool_call_id", "tool_input",
    "input", "runtime", "state", "store", "name", "type", "id", "verbose", "run_id", "tags", "metadata", "arguments",
    "tool", "", "a.b", "$filter", "été", "model_config", "model_dump", "schema", "json", "_id", "x" * 90,
]  # fmt: skip
OPEN = {"type": "object", "properties": {name: {} for name in NAMES}}


@pytest.fixture(params=["sync", "async"])
def invoke(request: pytest.FixtureRequest) -> Invoke:
    """`tool.invoke` or `tool.ainvoke`, from plain code."""
    if request.param == "sync":
        return lambda tool, *args, **kwargs: tool.invoke(*args, **kwargs)
    return lambda tool, *args, **kwargs: asyncio.run(tool.ainvoke(*args, **kwargs))


def _received(content: Any) -> Any:
    return json.loads(content)["received"]


# -- arguments


def test_arguments_arrive_whatever_their_names(echo: Echo, invoke: Invoke) -> None:
    arguments = {name: {"kept": [None, index, "1", 1.0]} for index, name in enumerate(NAMES)}
    tool = echo(OPEN)
    assert _received(invoke(tool, arguments)) == arguments
    assert _received(invoke(tool, tool_call("m_echo", arguments)).content) == arguments


@pytest.mark.parametrize("name", NAMES)
def test_an_argument_arrives_alone(echo: Echo, name: str) -> None:
    tool = echo({"type": "object", "properties": {name: {}}, "required": [name], "additionalProperties": False})
    assert _received(tool.invoke({name: None})) == {name: None}
    assert _received(tool.invoke(tool_call("m_echo", {name: [1]})).content) == {name: [1]}
    assert _received(asyncio.run(tool.ainvoke({name: {"x": 1}}))) == {name: {"x": 1}}


def test_nothing_that_was_not_given_arrives(echo: Echo, invoke: Invoke) -> None:
    """Neither defaults nor anything of LangChain's own, in a tool that would take it."""
    tool = echo({"type": "object", "properties": {"a": {"default": 1}, "b": {"type": ["string", "null"]}}})
    run = {
        "callbacks": [BaseCallbackHandler()],
        "metadata": {"m": 1},
        "tags": ["t"],
        "configurable": {"thread_id": "1"},
    }
    assert _received(invoke(tool, {}, run)) == {}
    assert _received(invoke(tool, tool_call("m_echo", {"b": None}), run).content) == {"b": None}


@pytest.mark.parametrize(
    ("text", "received"),
    [
        ("Paris", {"city": "Paris"}),
        ("5", {"city": "5"}),
        ('{"city": "Paris"}', {"city": "Paris"}),
        ('{"town": "Paris"}', {"city": '{"town": "Paris"}'}),
        ("", {}),
    ],
)
def test_a_text_is_the_only_argument_or_json(echo: Echo, invoke: Invoke, text: str, received: Any) -> None:
    tool = echo({"type": "object", "properties": {"city": {"type": "string"}}})
    assert _received(invoke(tool, text)) == received


def test_a_text_for_several_arguments_is_json(echo: Echo, invoke: Invoke) -> None:
    tool = echo({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}})
    assert _received(invoke(tool, '{"a": 1, "b": 2}')) == {"a": 1, "b": 2}
    refused = invoke(tool, "one and two")
    assert isinstance(refused, str)
    assert "received" not in refused


@pytest.mark.parametrize("nothing", [None, "", {}])
def test_a_tool_without_arguments_takes_nothing(echo: Echo, invoke: Invoke, nothing: Any) -> None:
    assert _received(invoke(echo({}), nothing)) == {}


def test_the_callers_arguments_stay_as_they_are(echo: Echo, invoke: Invoke) -> None:
    tool = echo({"type": "object", "properties": {"n": {"type": "integer"}, "list": {"type": "array"}}})
    given = {"n": "5", "list": "[1]"}
    assert _received(invoke(tool, given)) == {"n": 5, "list": [1]}
    assert given == {"n": "5", "list": "[1]"}


# -- results


def test_a_plain_call_gives_the_content(home: dict[str, Any], invoke: Invoke) -> None:
    with Toolset.open(home) as toolset:
        weather = _tool(toolset, "home_get_weather")
        assert invoke(weather, {"city": "Paris"}) == '{"city":"Paris","sky":"sunny","celsius":21}'


def test_a_tool_call_gives_a_message_with_content_and_artifact(home: dict[str, Any], invoke: Invoke) -> None:
    with Toolset.open(home) as toolset:
        message = invoke(_tool(toolset, "home_get_weather"), tool_call("home_get_weather", {"city": "Paris"}, "c1"))
    reply = {"city": "Paris", "sky": "sunny", "celsius": 21}
    assert isinstance(message, ToolMessage)
    assert message.content == '{"city":"Paris","sky":"sunny","celsius":21}'
    assert (message.tool_call_id, message.name, message.status) == ("c1", "home_get_weather", "success")
    assert message.artifact == {"is_error": False, "raw": [reply], "data": reply}
    assert json.loads(message.model_dump_json())["artifact"] == message.artifact


def test_a_failure_is_a_message_that_says_so_and_why(home: dict[str, Any], invoke: Invoke) -> None:
    with Toolset.open(home) as toolset:
        weather = _tool(toolset, "home_get_weather")
        message = invoke(weather, tool_call("home_get_weather", {"city": "Atlantis"}, "c1"))
        content = invoke(weather, {"city": "Atlantis"})
    assert (message.tool_call_id, message.name, message.status) == ("c1", "home_get_weather", "error")
    assert "404" in message.content
    assert "try Paris or Oslo" in message.content
    assert content == message.content
    assert message.artifact["is_error"]
    assert message.artifact["raw"][0]["status"] == 404


@pytest.mark.parametrize("given", [{}, {"city": 5}, {"town": "Paris", "city": ["Paris"]}])
def test_arguments_that_do_not_fit_are_a_failure_that_the_model_can_mend(
    home: dict[str, Any], invoke: Invoke, given: dict[str, Any]
) -> None:
    with Toolset.open(home) as toolset:
        message = invoke(_tool(toolset, "home_get_weather"), tool_call("home_get_weather", given))
    assert message.status == "error"
    assert "city" in message.content


def test_a_server_that_is_gone_is_a_failure(invoke: Invoke) -> None:
    # Port 9 is the discard service, which nobody runs.
    manual = text_manual("m", [http_tool("gone", "http://127.0.0.1:9/")], "http")
    with Toolset.open(config(manual)) as toolset:
        assert invoke(_tool(toolset, "m_gone"), tool_call("m_gone", {})).status == "error"


def test_with_response_format_content_there_is_no_artifact(echo: Echo, invoke: Invoke) -> None:
    tool = echo({}).model_copy(update={"response_format": "content"})
    assert invoke(tool, {}) == '{"received":{}}'
    message = invoke(tool, tool_call("m_echo", {}))
    assert (message.content, message.artifact) == ('{"received":{}}', None)


# -- failures, raised and handled

REFUSING = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_on_tool_error_raise_raises_through_langchain(home: dict[str, Any], invoke: Invoke) -> None:
    with Toolset.open(home, on_tool_error="raise") as toolset:
        weather = _tool(toolset, "home_get_weather")
        inputs: list[Any] = [{"city": "Atlantis"}, tool_call("home_get_weather", {"city": "Atlantis"})]
        for given in inputs:
            with pytest.raises(errors.ToolExecutionError, match="try Paris or Oslo"):
                invoke(weather, given)
        with pytest.raises(errors.ToolArgumentsError, match="city"):
            invoke(weather, {})


@pytest.mark.parametrize("handler", [False, None])
def test_without_handle_tool_error_a_failure_is_a_tool_exception(echo: Echo, invoke: Invoke, handler: Any) -> None:
    tool = echo(REFUSING).model_copy(update={"handle_tool_error": handler})
    inputs: list[Any] = [{}, tool_call("m_echo", {})]
    for given in inputs:
        with pytest.raises(UTCPToolError, match="n") as raised:
            invoke(tool, given)
        assert isinstance(raised.value, ToolException)
        assert raised.value.result.is_error
        assert raised.value.result.content == str(raised.value)


@pytest.mark.parametrize("handler", ["It failed.", lambda error: f"It failed{'.' if error.result.is_error else '?'}"])
def test_handle_tool_error_replaces_the_reason(echo: Echo, invoke: Invoke, handler: Any) -> None:
    tool = echo(REFUSING)
    tool.handle_tool_error = handler
    assert invoke(tool, {}) == "It failed."
    message = invoke(tool, tool_call("m_echo", {}))
    assert (message.content, message.status) == ("It failed.", "error")
    assert _received(invoke(tool, {"n": 1})) == {"n": 1}


def test_handle_validation_error_is_for_arguments_that_do_not_fit(echo: Echo, invoke: Invoke) -> None:
    seen: list[Exception] = []

    def handler(error: Any) -> str:
        seen.append(error)
        return "Say n."

    tool = echo(REFUSING)
    tool.handle_validation_error = handler
    assert invoke(tool, {}) == "Say n."
    message = invoke(tool, tool_call("m_echo", {"n": "x"}))
    assert (message.content, message.status) == ("Say n.", "error")
    assert [type(error) for error in seen] == [ValidationError, ValidationError]
    assert _received(invoke(tool, {"n": "5"})) == {"n": 5}


def test_a_closed_toolset_is_the_developers_mistake_and_raises(
    echo: Echo, home: dict[str, Any], invoke: Invoke
) -> None:
    with Toolset.open(home) as toolset:
        weather = _tool(toolset, "home_get_weather")
    with pytest.raises(errors.RunnerError, match="closed"):
        invoke(weather, tool_call("home_get_weather", {"city": "Paris"}))


# -- callbacks


class _Seen(BaseCallbackHandler):
    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []
        self.ended: list[Any] = []
        self.failed: list[BaseException] = []

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **kwargs: Any) -> None:
        self.started.append({"serialized": serialized, **kwargs})

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.ended.append(output)

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.failed.append(error)


def test_callbacks_see_name_arguments_tags_metadata_and_result(home: dict[str, Any], invoke: Invoke) -> None:
    seen = _Seen()
    with Toolset.open(home) as toolset:
        invoke(
            _tool(toolset, "home_get_weather"),
            tool_call("home_get_weather", {"city": "Paris"}),
            {"callbacks": [seen], "tags": ["mine"], "metadata": {"user": 1}},
        )
    (started,), (ended,) = seen.started, seen.ended
    assert started["serialized"]["name"] == "home_get_weather"
    assert started["inputs"] == {"city": "Paris"}
    assert set(started["tags"]) == {"weather", "mine"}
    assert started["metadata"].items() >= {"utcp_name": "home.get_weather", "read_only": True, "user": 1}.items()
    assert ended.status == "success"
    assert not seen.failed


def test_callbacks_see_arguments_of_every_name(echo: Echo, invoke: Invoke) -> None:
    seen = _Seen()
    invoke(echo(OPEN), dict.fromkeys(NAMES, 1), {"callbacks": [seen]})
    assert seen.started[0]["inputs"] == dict.fromkeys(NAMES, 1)


def test_callbacks_see_a_failure_as_its_end_and_a_raised_one_as_an_error(echo: Echo, invoke: Invoke) -> None:
    seen = _Seen()
    tool = echo(REFUSING)
    invoke(tool, tool_call("m_echo", {}), {"callbacks": [seen]})
    assert [message.status for message in seen.ended] == ["error"]
    assert not seen.failed
    tool.handle_tool_error = False
    with pytest.raises(UTCPToolError) as raised:
        invoke(tool, {}, {"callbacks": [seen]})
    assert seen.failed == [raised.value]


# -- loops and threads


class _NoExecutor(ThreadPoolExecutor):
    def submit(self, *_args: Any, **_kwargs: Any) -> Any:
        raise AssertionError("a call was sent to another thread")


async def test_async_code_needs_no_other_thread(home: dict[str, Any]) -> None:
    """Neither an executor's, where LangChain runs tools without a coroutine, nor the bridge's own."""
    async with await Toolset.aopen(home) as toolset:
        weather = _tool(toolset, "home_get_weather")
        asyncio.get_running_loop().set_default_executor(_NoExecutor())
        before = {thread.name for thread in threading.enumerate()}
        contents = await asyncio.gather(*(weather.ainvoke({"city": "Paris"}) for _ in range(20)))
        new = {thread.name for thread in threading.enumerate()} - before
    assert len(set(contents)) == 1
    # The server's threads are in this process too.
    assert not [name for name in new if "tool-server" not in name]


async def test_a_sync_call_works_inside_a_running_loop(home: dict[str, Any]) -> None:
    async with await Toolset.aopen(home) as toolset:
        weather = _tool(toolset, "home_get_weather")
        assert weather.invoke({"city": "Paris"}) == await weather.ainvoke({"city": "Paris"})


def test_one_loop_after_the_other_works(home: dict[str, Any]) -> None:
    with Toolset.open(home) as toolset:
        weather = _tool(toolset, "home_get_weather")
        assert len({asyncio.run(weather.ainvoke({"city": "Paris"})) for _ in range(3)}) == 1


def test_batches_give_every_result_in_order(echo: Echo) -> None:
    tool = echo({"type": "object", "properties": {"n": {}}})
    inputs: list[Any] = [{"n": index} for index in range(20)]
    assert [_received(content)["n"] for content in tool.batch(inputs)] == list(range(20))
    assert [_received(content)["n"] for content in asyncio.run(tool.abatch(inputs))] == list(range(20))


def test_the_functions_of_a_tool_can_be_called_by_themselves(echo: Echo) -> None:
    tool = echo(OPEN)
    assert tool.func is not None
    assert _received(tool.func(self=1, tool=2)) == {"self": 1, "tool": 2}
    acall: Any = tool.coroutine
    assert _received(asyncio.run(acall(config=1))) == {"config": 1}


# -- copies


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda tool: tool.model_copy(deep=True)])
def test_a_copy_works_and_shares_the_connection(echo: Echo, copied: Callable[[UTCPTool], UTCPTool]) -> None:
    tool = echo({"type": "object", "properties": {"n": {}}})
    twin = copied(tool)
    assert twin is not tool
    assert twin.bridged is tool.bridged
    assert _received(twin.invoke({"n": 1})) == {"n": 1}
    assert _received(asyncio.run(twin.ainvoke({"n": 1}))) == {"n": 1}


def test_a_tool_can_be_shown_to_people_and_dumped(echo: Echo) -> None:
    tool = echo(OPEN)
    assert "m_echo" in repr(tool)
    assert tool.model_dump()["name"] == "m_echo"


def test_a_tool_goes_through_langchains_runnable_interface(echo: Echo) -> None:
    tool = echo({"type": "object", "properties": {"n": {}}})
    assert _received(tool.with_retry().invoke({"n": 1})) == {"n": 1}
    assert (tool | len).invoke({"n": 1}) == len('{"received":{"n":1}}')
    assert _received(tool.with_config(tags=["x"]).invoke({"n": 1})) == {"n": 1}
    assert [_received(chunk) for chunk in tool.stream({"n": 1})] == [{"n": 1}]


def _tool(toolset: Toolset, name: str) -> BaseTool:
    return next(tool for tool in load_tools(toolset) if tool.name == name)
