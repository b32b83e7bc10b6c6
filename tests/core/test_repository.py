"""Upstream's objects of tools are made when somebody looks for them, and are whole then."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from utcp.data.tool import Tool
from utcp.implementations.in_mem_tool_repository import InMemToolRepository
from utcp.interfaces.tool_post_processor import ToolPostProcessor

from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset
from utcp_bridge.transports.drafts import draft_of
from utcp_bridge.transports.upstream.repository import LateRepository, upstream_tool

BARE = {"call_template_type": "text", "name": "m", "content": "{}"}


def _draft(name: str, **schema: Any) -> Any:
    tool = Tool.model_validate({"name": name, "description": "", "inputs": schema, "tool_call_template": BARE})
    return draft_of(tool)


def _manual(*names: str) -> Any:
    from utcp.data.utcp_manual import UtcpManual

    drafts = [_draft(name, type="object", properties={"city": {"type": "string"}}) for name in names]
    return UtcpManual.model_construct(
        manual_version="2.0.0", tools=[upstream_tool(f"m.{draft.name}", draft, draft.template) for draft in drafts]
    )


async def test_a_manual_is_made_once_when_somebody_first_looks() -> None:
    made: list[int] = []
    repository = LateRepository()

    def make() -> Any:
        made.append(1)
        return _manual("echo", "other")

    repository.save_later(_draft("echo").template, make)
    assert not made
    assert [tool.name for tool in await repository.get_tools()] == ["m.echo", "m.other"]
    found = await repository.get_tool("m.echo")
    assert found is not None
    assert found.inputs.properties is not None
    assert found.inputs.properties["city"].type == "string"
    assert [manual.manual_version for manual in await repository.get_manuals()] == ["2.0.0"]
    assert len(await repository.get_manual_call_templates()) == 1
    assert len(await repository.get_tools_by_manual("m") or ()) == 2
    assert made == [1]


async def test_a_newer_version_of_a_manual_takes_the_place_of_the_older_one_made_or_not() -> None:
    repository = LateRepository()
    template = _draft("echo").template
    repository.save_later(template, lambda: _manual("never"))
    repository.save_later(template, lambda: _manual("echo", "gone"))
    assert len(await repository.get_tools()) == 2
    repository.save_later(template, lambda: _manual("echo"))
    assert [tool.name for tool in await repository.get_tools()] == ["m.echo"]
    await repository.save_manual(template, _manual("last"))
    assert [tool.name for tool in await repository.get_tools()] == ["m.last"]


async def test_making_a_manual_holds_up_nothing_and_whatever_comes_meanwhile_counts() -> None:
    repository = LateRepository()
    template = _draft("echo").template
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> Any:
        begun.set()
        assert go_on.wait(10)
        return _manual("old")

    repository.save_later(template, slowly)
    looking = [asyncio.create_task(repository.get_tools()) for _ in range(2)]
    await asyncio.to_thread(begun.wait)
    repository.save_later(template, lambda: _manual("new"))
    first = await repository.get_tools()
    go_on.set()
    for tools in (first, *await asyncio.gather(*looking), await repository.get_tools()):
        assert [tool.name for tool in tools] == ["m.new"]


async def test_searches_make_no_tool_again_and_see_every_change() -> None:
    made: list[str] = []

    def named(name: str) -> Any:
        def make() -> Any:
            made.append(name)
            return _manual(name)

        return make

    repository = LateRepository()
    template = _draft("echo").template
    repository.save_later(template, named("one"))
    first, second = (await repository.get_tools())[0], (await repository.get_tools())[0]
    first.tags.append("changed")
    first.description = "changed"
    assert (second.tags, second.description, (await repository.get_tools())[0].tags) == ([], "", [])
    assert second.inputs is first.inputs
    repository.save_later(template, named("two"))
    assert [tool.name for tool in await repository.get_tools()] == ["m.two"]
    assert made == ["one", "two"]


async def test_what_is_removed_is_gone_also_if_it_was_never_made() -> None:
    repository = LateRepository()
    template = _draft("echo").template
    repository.save_later(template, lambda: _manual("echo", "other"))
    assert await repository.remove_tool("m.other")
    assert await repository.get_tool("m.other") is None
    repository.save_later(template, lambda: _manual("echo"))
    assert await repository.remove_manual("m")
    assert await repository.get_manual("m") is None
    assert await repository.get_manual_call_template("m") is None


async def test_loading_and_calling_make_none_and_a_search_makes_them(monkeypatch: Any) -> None:
    made: list[str] = []

    def seen(name: str, draft: Any, template: Any) -> Tool:
        made.append(name)
        return upstream_tool(name, draft, template)

    monkeypatch.setattr("utcp_bridge.transports.upstream.utcp_client.upstream_tool", seen)
    source = config(text_manual("m", [http_tool("echo", "http://127.0.0.1:9/echo")], "http"))
    async with await Toolset.aopen(source) as toolset:
        assert (await toolset.acall("m_echo")).is_error
        assert not made
        assert [tool.name for tool in await toolset.asearch("echo")] == ["m_echo"]
        assert [tool.name for tool in await asyncio.to_thread(toolset.search, "something else")] == ["m_echo"]
    assert made == ["m.echo"]


async def test_a_search_after_a_refresh_sees_what_has_changed(tmp_path: Path) -> None:
    manual = tmp_path / "manual.json"

    def write(*names: str) -> None:
        tools = [http_tool(name, f"http://127.0.0.1:9/{name}") for name in names]
        manual.write_text(json.dumps({"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": tools}))

    write("one", "two")
    template = {"name": "m", "call_template_type": "file", "file_path": str(manual)}
    allowed = {"allowed_communication_protocols": ["file", "http"]}
    async with await Toolset.aopen(config({**template, **allowed})) as toolset:
        assert {tool.name for tool in await toolset.asearch("x")} == {"m_one", "m_two"}
        write("two", "three")
        await toolset.arefresh()
        assert {tool.name for tool in await toolset.asearch("x")} == {"m_two", "m_three"}


class _Seeing(ToolPostProcessor):
    tool_post_processor_type: str = "seeing"

    def post_process(self, caller: Any, tool: Tool, manual_call_template: Any, result: Any) -> Any:
        return [tool.name, sorted(tool.inputs.properties or ()), result]


async def test_a_post_processor_sees_the_whole_tool() -> None:
    tool = {
        "name": "say",
        "inputs": {"type": "object", "properties": {"word": {"type": "string"}}},
        "tool_call_template": {"call_template_type": "cli", "commands": [{"command": "echo UTCP_ARG_word_UTCP_END"}]},
    }
    source = config(text_manual("m", [tool], "cli"), post_processing=[_Seeing()])
    async with await Toolset.aopen(source) as toolset:
        assert (await toolset.acall("m_say", {"word": "hello"})).data == ["m.say", ["word"], "hello"]


async def test_a_repository_of_the_users_own_is_filled_at_once() -> None:
    repository = InMemToolRepository()
    source = config(text_manual("m", [http_tool("echo", "http://127.0.0.1:9/echo")], "http"))
    async with await Toolset.aopen({**source, "tool_repository": repository}):
        assert [tool.name for tool in repository._tools_by_name.values()] == ["m.echo"]  # noqa: SLF001


@pytest.mark.parametrize(
    ("inputs", "properties"), [({"properties": {"x": True}}, {"x"}), ({"type": 5}, set()), (False, set())]
)
def test_a_schema_that_upstream_cannot_take_does_not_cost_the_tool(inputs: Any, properties: set[str]) -> None:
    draft = replace(_draft("odd"), inputs=inputs)
    assert set(upstream_tool("m.odd", draft, draft.template).inputs.properties or ()) == properties
