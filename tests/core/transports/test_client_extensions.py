"""What a user puts into UTCP's client works here as there: post-processors, repositories, search strategies."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from utcp.data.tool import Tool
from utcp.implementations.in_mem_tool_repository import InMemToolRepository
from utcp.interfaces.communication_protocol import CommunicationProtocol
from utcp.interfaces.tool_post_processor import ToolPostProcessor
from utcp.interfaces.tool_search_strategy import ToolSearchStrategy
from utcp_http.http_call_template import HttpCallTemplate
from utcp_http.http_communication_protocol import HttpCommunicationProtocol

from tests.support.echo import by_path, event, streaming
from tests.support.http_server import HttpServer, http_server, replying
from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset
from utcp_bridge.transports.upstream.utcp_client import BridgeUtcpClient

DATA = {"name": "Paris", "note": "a long text", "nested": {"name": "x", "secret_plan": 1}}


@pytest.fixture
async def server() -> AsyncIterator[HttpServer]:
    answer = by_path(data=replying(DATA), text=replying("text"), pieces=streaming(event("one"), event("two")))
    async with http_server(answer) as running:
        yield running


def _source(server: HttpServer, *paths: str, **client: Any) -> dict[str, Any]:
    tools = [http_tool(path, f"{server.url}/{path}") for path in paths]
    tools[-1]["tool_call_template"]["headers"] = {"X-Key": "${KEY}"}
    return config(text_manual("m", tools, "http"), variables={"m_KEY": "sk-3f9a77c2d1"}, **client)


class Noting(ToolPostProcessor):
    """Notes what it is given, and puts its name around it."""

    tool_post_processor_type: str = "noting"
    name: str = "n"
    given: list[tuple[Any, ...]] = []  # noqa: RUF012 - a field of a Pydantic model

    def post_process(self, caller: Any, tool: Tool, manual_call_template: Any, result: Any) -> Any:
        self.given.append((caller, tool, manual_call_template, result))
        return {self.name: result}


async def test_post_processors_get_upstreams_objects_in_order(server: HttpServer) -> None:
    first, second = Noting(name="first"), Noting(name="second")
    async with await Toolset.aopen(_source(server, "text", post_processing=[first, second])) as toolset:
        result = await toolset.acall("m.text")
    assert result.data == {"second": {"first": "text"}}
    ((caller, tool, template, reply),) = first.given
    assert isinstance(caller, BridgeUtcpClient)
    assert (tool.name, tool.description, tool.inputs.type) == ("m.text", "Calls text.", "object")
    assert isinstance(template, HttpCallTemplate)
    assert template.headers == {"X-Key": "sk-3f9a77c2d1"}  # filled in, as upstream does
    assert reply == "text"
    assert second.given[0][3] == {"first": "text"}


async def test_what_a_post_processor_adds_is_scrubbed_too(server: HttpServer) -> None:
    class Telling(ToolPostProcessor):
        tool_post_processor_type: str = "telling"

        def post_process(self, caller: Any, tool: Any, manual_call_template: Any, result: Any) -> Any:
            return str(manual_call_template.headers)

    async with await Toolset.aopen(_source(server, "text", post_processing=[Telling()])) as toolset:
        assert (await toolset.acall("m.text")).content == "{'X-Key': '***'}"


async def test_a_post_processor_that_fails_is_a_failed_call(server: HttpServer) -> None:
    class Failing(ToolPostProcessor):
        tool_post_processor_type: str = "failing"

        def post_process(self, caller: Any, tool: Any, manual_call_template: Any, result: Any) -> Any:
            raise ValueError("cannot be processed")

    async with await Toolset.aopen(_source(server, "text", post_processing=[Failing()])) as toolset:
        result = await toolset.acall("m.text")
    assert (result.is_error, result.content) == (True, "m_text failed: cannot be processed")


@pytest.mark.parametrize(
    ("processor", "data"),
    [
        ({"tool_post_processor_type": "limit_strings", "limit": 3}, {"name": "Par", "note": "a l"}),
        ({"tool_post_processor_type": "filter_dict", "only_include_keys": ["name"]}, {"name": "Paris"}),
        (
            {"tool_post_processor_type": "filter_dict", "exclude_keys": ["note"], "exclude_tools": ["m.data"]},
            {"name": "Paris", "note": "a long text"},
        ),
    ],
)
async def test_upstreams_own_post_processors_work(server: HttpServer, processor: Any, data: dict[str, Any]) -> None:
    async with await Toolset.aopen(_source(server, "data", post_processing=[processor])) as toolset:
        result = await toolset.acall("m.data")
    assert {key: result.data.get(key) for key in data} == data
    assert ("note" in result.data) == ("note" in data)


class Watched(InMemToolRepository):
    """A repository of a user's own."""

    tool_repository_type: str = "watched"
    refuses: bool = False

    def __init__(self, **fields: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # upstream's takes no fields

    async def save_manual(self, manual_call_template: Any, manual: Any) -> None:
        if self.refuses:
            raise OSError("the disk is full")
        await super().save_manual(manual_call_template, manual)


async def test_what_a_repository_says_now_counts(server: HttpServer) -> None:
    repository = Watched()
    async with await Toolset.aopen(_source(server, "data", "text", tool_repository=repository)) as toolset:
        assert (await toolset.acall("m.text")).content == "text"
        await repository.remove_tool("m.text")
        gone = await toolset.acall("m.text")
        stored = await repository.get_tool("m.data")
        template, manual = await repository.get_manual_call_template("m"), await repository.get_manual("m")
        assert stored is not None
        assert template is not None
        assert manual is not None
        stored.tool_call_template.url = f"{server.url}/text"  # type: ignore[attr-defined]  # an HttpCallTemplate
        manual.tools = [stored]
        await repository.save_manual(template, manual)
        moved = await toolset.acall("m.data")
        assert moved.content == "text"
    assert gone.is_error
    assert "Tool not found: m.text" in gone.content


async def test_a_repository_that_does_not_take_a_manual_costs_that_manual(server: HttpServer) -> None:
    repository = Watched()
    repository.refuses = True
    async with await Toolset.aopen(_source(server, "text", tool_repository=repository)) as toolset:
        assert "the tool repository did not take it: the disk is full" in str(toolset.report)


class Last(ToolSearchStrategy):
    """Finds the last tool of the repository, and notes what it was asked for."""

    tool_search_strategy_type: str = "last"
    asked: list[tuple[str, int]] = []  # noqa: RUF012 - a field of a Pydantic model

    async def search_tools(
        self, tool_repository: Any, query: str, limit: int = 10, any_of_tags_required: Any = None
    ) -> list[Tool]:
        self.asked.append((query, limit))
        tools = await tool_repository.get_tools()
        if query == "break":
            raise LookupError("the index is broken")
        return [tools[-1]]


async def test_a_search_strategy_is_asked(server: HttpServer) -> None:
    strategy = Last()
    async with await Toolset.aopen(_source(server, "data", "text", tool_search_strategy=strategy)) as toolset:
        assert [tool.name for tool in await toolset.asearch("words")] == ["m_text"]
        with pytest.raises(LookupError, match="the index is broken"):
            await toolset.asearch("break")
    assert [query for query, _ in strategy.asked] == ["words", "break"]


async def test_a_protocol_that_a_user_put_in_the_place_of_http_is_used_as_it_is(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Own(HttpCommunicationProtocol):
        async def call_tool(self, caller: Any, tool_name: str, tool_args: Any, tool_call_template: Any) -> Any:
            return "mine"

    monkeypatch.setitem(CommunicationProtocol.communication_protocols, "http", Own())
    caplog.set_level(logging.INFO, "utcp_bridge")
    async with await Toolset.aopen(_source(server, "text")) as toolset:
        result = await toolset.acall("m.text")
        on_runner: Any = vars(toolset)["_client"]
        assert on_runner.loop_bound("http")  # nobody knows what it keeps
        assert not on_runner.loop_bound("cli")
    assert result.content == "mine"
    assert "The protocol 'http' is not upstream's own" in caplog.text


async def test_pieces_pass_the_post_processors_too(server: HttpServer) -> None:
    tool = http_tool("pieces", f"{server.url}/pieces", call_template_type="sse")
    source = config(text_manual("m", [tool], "sse"), post_processing=[Noting(name="n")])
    async with await Toolset.aopen(source) as toolset:
        assert [piece async for piece in toolset.stream("m.pieces")] == [{"n": "one"}, {"n": "two"}]
        assert (await toolset.acall("m.pieces")).data == {"n": "onetwo"}
