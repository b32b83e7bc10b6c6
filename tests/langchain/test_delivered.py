"""Any arguments of any schema, by every way into a LangChain tool: they arrive exactly, or are refused before UTCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from langchain_utcp_toolkit import UTCPTool, load_tools
from tests.support.json_schemas import ARGUMENTS, NAMES, ROOTS, fitting
from tests.support.langchain_agents import tool_call
from tests.support.manuals import config
from tests.support.recording import recording_template
from utcp_bridge import Toolset
from utcp_bridge.schema import ArgumentsSchema, InvalidArguments

Way = Callable[[UTCPTool, dict[str, Any]], str]


def _node(*, is_async: bool) -> Way:
    prebuilt = pytest.importorskip("langgraph.prebuilt")
    graphs = pytest.importorskip("langgraph.graph")

    def call(tool: UTCPTool, arguments: dict[str, Any]) -> str:
        builder = graphs.StateGraph(graphs.MessagesState)
        builder.add_node("tools", prebuilt.ToolNode([tool]))
        builder.add_edge("__start__", "tools")
        graph = builder.compile()
        asked = {"messages": [AIMessage("", tool_calls=[tool_call(tool.name, arguments)])]}
        state = asyncio.run(graph.ainvoke(asked)) if is_async else graph.invoke(asked)
        return str(state["messages"][-1].content)

    return call


WAYS: dict[str, Callable[[], Way]] = {
    "invoke-dict": lambda: lambda tool, arguments: tool.invoke(arguments),
    "ainvoke-dict": lambda: lambda tool, arguments: asyncio.run(tool.ainvoke(arguments)),
    "invoke-call": lambda: lambda tool, arguments: tool.invoke(tool_call(tool.name, arguments)).content,
    "ainvoke-call": lambda: lambda tool, arguments: asyncio.run(tool.ainvoke(tool_call(tool.name, arguments))).content,
    "node": lambda: _node(is_async=False),
    "anode": lambda: _node(is_async=True),
}


@pytest.mark.parametrize("way", WAYS)
def test_any_arguments_arrive_exactly_or_are_refused(way: str) -> None:
    call = WAYS[way]()

    @settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(ROOTS, ARGUMENTS)
    def check(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
        before = json.dumps(arguments)
        with Toolset.open(config(recording_template("m", {"echo": schema})), repair=False) as toolset:
            (tool,) = load_tools(toolset)
            content = call(tool, arguments)
        try:
            ArgumentsSchema(schema).accept(arguments, repair=False)
        except InvalidArguments as refusal:
            assert content == f"m_echo: {refusal}"  # noqa: PT017 - either outcome is right
        else:
            assert json.dumps(json.loads(content)["received"]) == before
        assert json.dumps(arguments) == before

    check()


@pytest.mark.parametrize("way", WAYS)
def test_what_fits_a_closed_schema_arrives_exactly_in_its_order(way: str) -> None:
    call = WAYS[way]()

    @settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
    @given(st.dictionaries(NAMES, fitting(), max_size=4))
    def check(parts: dict[str, tuple[Any, Any]]) -> None:
        schema = {
            "type": "object",
            "properties": {name: part for name, (part, _) in parts.items()},
            "required": sorted(parts),
            "additionalProperties": False,
        }
        arguments = {name: value for name, (_, value) in parts.items()}
        with Toolset.open(config(recording_template("m", {"echo": schema}))) as toolset:
            (tool,) = load_tools(toolset)
            content = call(tool, arguments)
        assert json.dumps(json.loads(content)["received"]) == json.dumps(arguments)

    check()
