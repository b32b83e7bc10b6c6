"""Opening and closing a source's tools in LlamaIndex."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from pydantic import BaseModel

import llama_index.tools.utcp
from llama_index.tools.utcp import UTCPTool, UTCPToolSpec
from tests.support.manuals import broken_manuals, config, text_manual
from tests.support.recording import recording_template
from utcp_bridge import Toolset, errors

TWO = config(recording_template("m", {"b": {"type": "object"}, "a": {"type": "object"}}))


def _names(tools: list[Any]) -> list[str]:
    return [tool.metadata.name for tool in tools]


def test_the_public_names_are_these() -> None:
    names = ["UTCPTool", "UTCPToolChunk", "UTCPToolMetadata", "UTCPToolSpec"]
    assert sorted(llama_index.tools.utcp.__all__) == names


def test_a_source_gives_function_tools_sorted_by_name() -> None:
    spec = UTCPToolSpec(TWO)
    tools = spec.to_tool_list()
    assert isinstance(spec, BaseToolSpec)
    assert _names(tools) == ["m_a", "m_b"]
    assert {type(tool) for tool in tools} == {UTCPTool}
    assert issubclass(UTCPTool, FunctionTool)
    assert tools[0].call().content == '{"received":{}}'


def test_async_code_gets_the_same_tools() -> None:
    async def names_and_reply() -> tuple[list[str], Any]:
        tools = await UTCPToolSpec(TWO, include=["m.a"]).to_tool_list_async()
        return _names(tools), (await tools[0].acall()).content

    assert asyncio.run(names_and_reply()) == (["m_a"], '{"received":{}}')


def test_the_tools_keep_the_connection_open_when_the_spec_is_gone() -> None:
    tool = UTCPToolSpec(TWO).to_tool_list()[0]
    assert tool.call().content == '{"received":{}}'


def test_options_are_those_of_a_toolset_and_are_judged_at_once() -> None:
    assert _names(UTCPToolSpec(TWO, exclude=["*.a"]).to_tool_list()) == ["m_b"]
    with pytest.raises(errors.ConfigError, match="include"):
        UTCPToolSpec(TWO, inclde=["m.a"])  # type: ignore[call-arg]


def test_a_source_that_cannot_be_read_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigError, match=r"missing\.json"):
        UTCPToolSpec(tmp_path / "missing.json").to_tool_list()


def test_an_open_toolset_is_taken_as_it_is_and_takes_no_options() -> None:
    with Toolset.open(TWO) as toolset:
        (first, _) = UTCPToolSpec(toolset).to_tool_list()
        assert isinstance(first, UTCPTool)
        assert first.bridged is toolset.tools["m_a"]
        with pytest.raises(errors.ConfigError):
            UTCPToolSpec(toolset, timeout=1)


def test_a_spec_gives_the_tools_until_it_is_closed() -> None:
    with UTCPToolSpec(TWO) as spec:
        tools = spec.to_tool_list()
        assert tools[0].call().content == '{"received":{}}'
    spec.close()
    assert spec.toolset.closed
    with pytest.raises(errors.RunnerError, match="closed"):
        tools[0].call()


async def test_async_code_opens_and_closes_a_spec() -> None:
    async with UTCPToolSpec(TWO, include=["m.b"]) as spec:
        (tool,) = await spec.to_tool_list_async()
        assert (await tool.acall()).content == '{"received":{}}'
    await spec.aclose()
    assert spec.toolset.closed


async def test_entering_a_spec_opens_it(tmp_path: Path) -> None:
    missing = tmp_path / "missing.json"
    with pytest.raises(errors.ConfigError, match="no file"), UTCPToolSpec(missing):
        pass
    with pytest.raises(errors.ConfigError, match="no file"):
        await UTCPToolSpec(missing).__aenter__()


async def test_a_toolset_that_was_handed_in_stays_open() -> None:
    async with await Toolset.aopen(TWO) as toolset:
        UTCPToolSpec(toolset).close()
        await UTCPToolSpec(toolset).aclose()
        with UTCPToolSpec(toolset):
            pass
        assert not toolset.closed


async def test_a_spec_that_was_never_used_has_nothing_to_close() -> None:
    UTCPToolSpec(TWO).close()
    await UTCPToolSpec(TWO).aclose()


async def test_it_is_opened_once_whoever_comes_first() -> None:
    by_tasks = UTCPToolSpec(TWO)
    lists = await asyncio.gather(*(by_tasks.to_tool_list_async() for _ in range(4)))
    by_threads = UTCPToolSpec(TWO)
    with ThreadPoolExecutor(4) as pool:
        lists += pool.map(lambda _: by_threads.to_tool_list(), range(4))
    for spec, tools in zip([by_tasks] * 4 + [by_threads] * 4, lists, strict=True):
        first = tools[0]
        assert isinstance(first, UTCPTool)
        assert first.bridged is spec.toolset.tools["m_a"]
        assert first.call().content == '{"received":{}}'


def test_a_spec_tells_what_came_of_each_manual() -> None:
    healthy = recording_template("ok", {"a": {"type": "object"}})
    not_a_manual = text_manual("text", []) | {"content": "no manual"}
    with UTCPToolSpec(config(healthy, *broken_manuals("http://127.0.0.1:9/"), not_a_manual)) as spec:
        assert _names(spec.to_tool_list()) == ["ok_a"]
        failed = {manual.name: manual.error for manual in spec.report.manuals if manual.error}
    assert failed.keys() == {"dead", "my_api", "malformed", "text"}
    assert "my__api_TOKEN" in str(failed["my_api"])


async def test_on_failure_raise_is_one_error() -> None:
    spec = UTCPToolSpec(config(*broken_manuals("http://127.0.0.1:9/")), on_failure="raise")
    with pytest.raises(errors.DiscoveryError, match="dead"):
        spec.to_tool_list()
    with pytest.raises(errors.DiscoveryError, match="dead"):
        await spec.to_tool_list_async()


def test_a_refreshed_toolset_gives_its_new_tools(tmp_path: Path) -> None:
    manual = tmp_path / "manual.json"
    manual.write_text(recording_template("m", {"a": {"type": "object"}})["content"])
    template = {
        "name": "m",
        "call_template_type": "file",
        "file_path": str(manual),
        "allowed_communication_protocols": ["recording"],
    }
    with UTCPToolSpec(config(template)) as spec:
        (before,) = spec.to_tool_list()
        manual.write_text(recording_template("m", {"a": {"type": "object"}, "b": {}})["content"])
        spec.toolset.refresh()
        assert _names(spec.to_tool_list()) == ["m_a", "m_b"]
        assert before.call().content == '{"received":{}}'


# -- what `BaseToolSpec` offers: a choice, and other metadata


async def test_functions_can_be_chosen_by_name() -> None:
    with UTCPToolSpec(TWO) as spec:
        assert _names(spec.to_tool_list(["m_b"])) == ["m_b"]
        assert _names(spec.to_tool_list(["m.b", ("m_a", "m_a")])) == ["m_b", "m_a"]
        assert _names(await spec.to_tool_list_async(["m_b"])) == ["m_b"]
        with pytest.raises(errors.ToolNotFoundError, match="m_a"):
            spec.to_tool_list(["m_aa"])


def test_metadata_can_be_given_for_a_tool() -> None:
    class Mine(BaseModel):
        n: int = 1

    given = {
        "m_a": ToolMetadata(description="Does a.", return_direct=True),
        "m.b": ToolMetadata(description="Does b.", name="bee", fn_schema=Mine),
    }
    with UTCPToolSpec(TWO) as spec:
        a, b = spec.to_tool_list(func_to_metadata_mapping=given)
        assert (a.metadata.name, a.metadata.description, a.metadata.return_direct) == ("m_a", "Does a.", True)
        assert a.metadata.get_parameters_dict() == {"type": "object", "properties": {}}
        assert (b.metadata.name, b.metadata.description, b.metadata.fn_schema) == ("bee", "Does b.", Mine)
        assert b.call(n=2).content == '{"received":{"n":2}}'
