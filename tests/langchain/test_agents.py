"""Real LangChain and LangGraph agents, driven by a scripted model, over a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict

import pytest

pytest.importorskip("langgraph")

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver, MemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.store.memory import InMemoryStore

from langchain_utcp_toolkit import UTCPTool, UTCPToolkit
from tests.support.langchain_agents import ScriptedModel, agent, tool_call
from tests.support.manuals import config
from utcp_bridge.testing import ServedTool, ToolServer, ToolServerError

PARIS = '{"city":"Paris","sky":"sunny","celsius":21}'


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


@pytest.fixture
def tools(home: dict[str, Any]) -> Iterator[list[BaseTool]]:
    with UTCPToolkit(home) as toolkit:
        yield toolkit.get_tools()


@pytest.fixture(params=["invoke", "ainvoke"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs a graph, sync or async, and gives its messages."""

    def messages(graph: Any, state: Any, **options: Any) -> Any:
        if request.param == "invoke":
            return graph.invoke(state, **options)["messages"]
        return asyncio.run(graph.ainvoke(state, **options))["messages"]

    return messages


def _script() -> ScriptedModel:
    return ScriptedModel(
        turns=[
            [tool_call("home_get_weather", {"city": "Paris"}, "1"), tool_call("home_get_weather", {"town": 1}, "2")],
            [tool_call("home_get_weather", {"city": "Atlantis"}, "3"), tool_call("home_get_wether", {}, "4")],
            [tool_call("home_add_note", {"body": {"text": "sunny", "tags": ["x"]}}, "5")],
        ]
    )


def _question() -> dict[str, Any]:
    return {"messages": [HumanMessage("What is the weather?")]}


def test_an_agent_sees_tools_calls_them_gets_results_and_errors_and_goes_on(
    tools: list[BaseTool], run: Callable[..., Any]
) -> None:
    model = _script()
    messages = run(agent(model, tools), _question())
    answers = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    assert model.shown.keys() == {"home_get_weather", "home_add_note"}
    assert model.shown["home_get_weather"]["parameters"]["required"] == ["city"]
    assert {call_id: answer.status for call_id, answer in answers.items()} == {
        "1": "success",
        "2": "error",
        "3": "error",
        "4": "error",
        "5": "success",
    }
    assert answers["1"].content == PARIS
    assert "city" in answers["2"].content
    assert "try Paris or Oslo" in answers["3"].content
    assert answers["5"].artifact["data"] == {"kept": {"text": "sunny", "tags": ["x"]}}
    assert messages[-1].content.startswith(PARIS)


def test_a_graph_with_a_tool_node_does_the_same(tools: list[BaseTool], run: Callable[..., Any]) -> None:
    model = _script()
    bound = model.bind_tools(tools)
    graph = StateGraph(State)
    graph.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    messages = run(graph.compile(checkpointer=MemorySaver()), _question(), config={"configurable": {"thread_id": "1"}})
    statuses = [message.status for message in messages if isinstance(message, ToolMessage)]
    assert statuses == ["success", "error", "error", "error", "success"]
    assert isinstance(messages[-1], AIMessage)


def test_a_checkpoint_keeps_the_artifact(tools: list[BaseTool]) -> None:
    graph = StateGraph(State)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "tools")
    compiled = graph.compile(checkpointer=MemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    calls = [
        tool_call("home_get_weather", {"city": "Paris"}, "1"),
        tool_call("home_get_weather", {"city": "Atlantis"}, "2"),
    ]
    compiled.invoke({"messages": [AIMessage("", tool_calls=calls)]}, thread)
    paris, atlantis = compiled.get_state(thread).values["messages"][1:]
    assert paris.artifact["data"]["celsius"] == 21
    assert atlantis.artifact["raw"][0]["status"] == 404


WEI = [2**64, -(2**63) - 1, 10**30]
TEXTS = [str(number) for number in WEI]
BALANCE = {"content": [{"type": "text", "text": "none"}], "isError": True, "structuredContent": {"wei": WEI}}


@pytest.mark.parametrize(
    ("answer", "data"),
    [
        ({"wei": WEI[0]}, {"wei": TEXTS[0]}),
        (WEI[1], TEXTS[1]),
        ([{"a": [{"wei": number}]} for number in WEI], [{"a": [{"wei": text}]} for text in TEXTS]),
        ([2**64 - 1, -(2**63), True, 1.5], [2**64 - 1, -(2**63), True, 1.5]),
        (BALANCE, {**BALANCE, "structuredContent": {"wei": TEXTS}}),
        (ToolServerError(400, {"wei": WEI[2]}), None),
    ],
)
def test_a_run_with_a_checkpointer_goes_on_after_a_reply_with_integers_beyond_64_bits(
    run: Callable[..., Any], answer: Any, data: Any
) -> None:
    def answers(_arguments: dict[str, Any]) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    create_agent = pytest.importorskip("langchain.agents.factory").create_agent
    thread: Any = {"configurable": {"thread_id": "1"}}
    model = ScriptedModel(turns=[[tool_call("bank_balance", {}, "1")], [tool_call("bank_balance", {}, "2")]])
    with (
        ToolServer([ServedTool("balance", "Tells a balance.", {}, answers)]) as server,
        UTCPToolkit(config(server.call_template("bank"))) as toolkit,
    ):
        graph = create_agent(model, toolkit.get_tools(), checkpointer=InMemorySaver())
        run(graph, _question(), config=thread)
        whole = toolkit.toolset.call("bank_balance")
    _, _, first, _, second, last = graph.get_state(thread).values["messages"]
    assert last.content == f"{whole.content} | {whole.content}"
    for message in (first, second):
        assert message.content == whole.content
        assert json.dumps(message.artifact["data"]) == json.dumps(data)
    assert whole.data == (None if isinstance(answer, Exception) else answer)


def test_nothing_of_langgraphs_own_reaches_the_wire(echo: Callable[..., UTCPTool], run: Callable[..., Any]) -> None:
    """Neither in a tool that takes anything, nor in one that has arguments of the same names."""
    injected = ("runtime", "state", "store", "config", "tool_call_id", "context", "stream_writer")
    open_tool = echo({"type": "object"})
    same_names = echo({"type": "object", "properties": {name: {} for name in injected}})
    same_names.name = "same_names"
    # Pydantic shows the fields of a class, where ToolNode looks for them, once it has been used.
    same_names.bridged.args_model.model_validate({})
    same_names.get_input_schema()(runtime="mine")
    graph = StateGraph(State)
    graph.add_node("tools", ToolNode([open_tool, same_names]))
    graph.add_edge(START, "tools")
    calls = [
        tool_call("m_echo", {}, "1"),
        tool_call("same_names", {"runtime": "mine", "state": None, "store": [1]}, "2"),
    ]
    compiled = graph.compile(store=InMemoryStore())
    _, nothing, mine = run(compiled, {"messages": [AIMessage("", tool_calls=calls)]})
    assert nothing.content == '{"received":{}}'
    assert mine.content == '{"received":{"runtime":"mine","state":null,"store":[1]}}'


def test_streams_show_calls_and_results(tools: list[BaseTool]) -> None:
    graph = agent(_script(), tools)
    by_node = [next(iter(update)) for update in graph.stream(_question(), stream_mode="updates")]
    assert by_node.count("tools") >= 3
    *_, last = graph.stream(_question(), stream_mode="values")
    assert last["messages"][-1].content.startswith(PARIS)
    streamed = [message for message, _ in graph.stream(_question(), stream_mode="messages")]
    assert PARIS in [message.content for message in streamed if isinstance(message, ToolMessage)]


async def test_events_show_each_tools_start_and_end(tools: list[BaseTool]) -> None:
    events = [event async for event in agent(_script(), tools).astream_events(_question(), version="v2")]
    started = [event for event in events if event["event"] == "on_tool_start"]
    ended = [event for event in events if event["event"] == "on_tool_end"]
    assert {"city": "Paris"} in [event["data"]["input"] for event in started]
    assert started[0]["metadata"]["utcp_name"] == "home.get_weather"
    assert sorted(event["data"]["output"].status for event in ended) == ["error", "error", "success", "success"]
