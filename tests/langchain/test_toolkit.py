"""Opening and closing a source's tools in LangChain."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools.base import BaseToolkit

import langchain_utcp_toolkit
from langchain_utcp_toolkit import UTCPTool, UTCPToolkit, aload_tools, load_tools
from tests.support.manuals import broken_manuals, config, text_manual
from tests.support.recording import recording_template
from utcp_bridge import Toolset, errors

TWO = config(recording_template("m", {"b": {"type": "object"}, "a": {"type": "object"}}))


def _names(tools: list[Any]) -> list[str]:
    return [tool.name for tool in tools]


def test_the_public_names_are_these() -> None:
    assert sorted(langchain_utcp_toolkit.__all__) == [
        "UTCPArtifact",
        "UTCPTool",
        "UTCPToolError",
        "UTCPToolkit",
        "aload_tools",
        "load_tools",
    ]


def test_a_source_gives_structured_tools_sorted_by_name() -> None:
    tools = load_tools(TWO)
    assert _names(tools) == ["m_a", "m_b"]
    assert {type(tool) for tool in tools} == {UTCPTool}
    assert issubclass(UTCPTool, StructuredTool)
    assert tools[0].invoke({}) == '{"received":{}}'


def test_async_code_gets_the_same_tools() -> None:
    async def names_and_reply() -> tuple[list[str], Any]:
        tools = await aload_tools(TWO, include=["m.a"])
        return _names(tools), await tools[0].ainvoke({})

    assert asyncio.run(names_and_reply()) == (["m_a"], '{"received":{}}')


def test_options_are_those_of_a_toolset() -> None:
    assert _names(load_tools(TWO, exclude=["*.a"])) == ["m_b"]
    with pytest.raises(errors.ConfigError, match="include"):
        load_tools(TWO, inclde=["m.a"])  # type: ignore[call-arg]


def test_an_open_toolset_is_taken_as_it_is_and_takes_no_options() -> None:
    with Toolset.open(TWO) as toolset:
        assert load_tools(toolset)[0].bridged is toolset.tools["m_a"]
        with pytest.raises(errors.ConfigError):
            load_tools(toolset, timeout=1)


def test_a_toolkit_gives_the_tools_until_it_is_closed() -> None:
    with UTCPToolkit(TWO) as toolkit:
        assert isinstance(toolkit, BaseToolkit)
        tools = toolkit.get_tools()
        assert _names(tools) == ["m_a", "m_b"]
        assert all(isinstance(tool, BaseTool) for tool in tools)
        assert tools[0].invoke({}) == '{"received":{}}'
    toolkit.close()
    assert toolkit.toolset.closed
    with pytest.raises(errors.RunnerError, match="closed"):
        tools[0].invoke({})


async def test_async_code_opens_and_closes_a_toolkit() -> None:
    async with await UTCPToolkit.aopen(TWO, include=["m.b"]) as toolkit:
        (tool,) = toolkit.get_tools()
        assert await tool.ainvoke({}) == '{"received":{}}'
    await toolkit.aclose()
    assert toolkit.toolset.closed


async def test_a_toolset_that_was_handed_in_stays_open() -> None:
    async with await Toolset.aopen(TWO) as toolset:
        UTCPToolkit(toolset).close()
        await (await UTCPToolkit.aopen(toolset)).aclose()
        assert not toolset.closed


def test_a_toolkit_tells_what_came_of_each_manual() -> None:
    healthy = recording_template("ok", {"a": {"type": "object"}})
    not_a_manual = text_manual("malformed", []) | {"content": "no manual"}
    with UTCPToolkit(
        config(healthy, *broken_manuals("http://127.0.0.1:9/"), not_a_manual | {"name": "text"})
    ) as toolkit:
        assert _names(toolkit.get_tools()) == ["ok_a"]
        failed = {manual.name: manual.error for manual in toolkit.report.manuals if manual.error}
    assert failed.keys() >= {"dead", "my_api"}
    assert "my__api_TOKEN" in str(failed["my_api"])


def test_on_failure_raise_is_one_error() -> None:
    with pytest.raises(errors.DiscoveryError, match="dead"):
        UTCPToolkit(config(*broken_manuals("http://127.0.0.1:9/")), on_failure="raise")


def test_a_refreshed_toolset_gives_its_new_tools(tmp_path: Any) -> None:
    with UTCPToolkit(TWO) as toolkit:
        before = toolkit.get_tools()
        toolkit.toolset.refresh()
        assert _names(toolkit.get_tools()) == _names(before)
        assert before[0].invoke({}) == '{"received":{}}'
