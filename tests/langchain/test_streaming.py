"""Replies that come in pieces, shown by LangChain's and LangGraph's own streams while they come."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("langgraph")

from langchain_core.messages import HumanMessage, ToolMessage

from langchain_utcp_toolkit import UTCPTool, load_tools
from tests.support.echo import by_path, event, streaming, threaded_server
from tests.support.http_server import replying
from tests.support.langchain_agents import ScriptedModel, agent, tool_call
from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset

QUESTION = {"messages": [HumanMessage("What is new?")]}


@dataclass(slots=True)
class News:
    """Tools of a server; `m_news` sends its second piece when `heard` is set."""

    tools: list[UTCPTool]
    heard: threading.Event = field(default_factory=threading.Event)

    @property
    def news(self) -> UTCPTool:
        return next(tool for tool in self.tools if tool.name == "m_news")


@pytest.fixture
def news() -> Iterator[News]:
    found = News([])
    answer = by_path(
        news=streaming(event("Rain"), lambda: asyncio.to_thread(found.heard.wait, 5), event(" tomorrow")),
        plain=replying({"plain": True}),
    )
    with threaded_server(answer) as server:
        feed = http_tool("news", f"{server.url}/news")
        feed["tool_call_template"] = {"call_template_type": "sse", "url": f"{server.url}/news"}
        source = config(text_manual("m", [feed, http_tool("plain", f"{server.url}/plain")], "sse", "http"))
        with Toolset.open(source) as toolset:
            found.tools = load_tools(toolset)
            yield found
            found.heard.set()


def _agent(news: News) -> Any:
    turns = [[tool_call("m_news", {}, "1")], [tool_call("m_plain", {}, "2")]]
    return agent(ScriptedModel(turns=turns), news.tools)


CHUNKS = [{"tool": "m_news", "tool_call_id": "1", "chunk": text} for text in ("Rain", " tomorrow")]


def test_a_graph_shows_each_piece_when_it_comes(news: News) -> None:
    shown: list[Any] = []
    answers: list[str] = []
    for mode, update in _agent(news).stream(QUESTION, stream_mode=["custom", "updates"]):
        if mode == "custom":
            shown.append(update)
            news.heard.set()  # only now does the server go on
        else:
            messages = [message for state in update.values() for message in state["messages"]]
            answers += [str(message.content) for message in messages if isinstance(message, ToolMessage)]
    assert shown == CHUNKS
    assert answers == ["Rain tomorrow", '{"plain":true}']


async def test_a_graph_shows_each_piece_to_async_callers(news: News) -> None:
    shown: list[Any] = []
    async for update in _agent(news).astream(QUESTION, stream_mode="custom"):
        shown.append(update)
        news.heard.set()
    assert shown == CHUNKS


async def test_events_show_each_piece(news: News) -> None:
    shown: list[Any] = []
    async for seen in _agent(news).astream_events(QUESTION, version="v2"):
        if seen["event"] == "on_custom_event":
            assert seen["name"] == "utcp_tool_chunk"
            shown.append(seen["data"])
            news.heard.set()
    assert shown == CHUNKS


async def test_events_of_a_tool_alone_show_each_piece(news: News) -> None:
    news.heard.set()
    seen = [seen async for seen in news.news.astream_events({}, version="v2")]
    assert [one["data"]["chunk"] for one in seen if one["event"] == "on_custom_event"] == ["Rain", " tomorrow"]


def test_a_callback_gets_each_piece(news: News) -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    class Heard(BaseCallbackHandler):
        chunks: list[Any] = []  # noqa: RUF012 - one handler, one test

        def on_custom_event(self, name: str, data: Any, **_rest: Any) -> None:
            self.chunks.append((name, data["chunk"]))

    news.heard.set()
    assert news.news.invoke({}, {"callbacks": [Heard()]}) == "Rain tomorrow"
    assert Heard.chunks == [("utcp_tool_chunk", "Rain"), ("utcp_tool_chunk", " tomorrow")]


def test_outside_of_a_run_the_result_is_the_joined_text(news: News) -> None:
    news.heard.set()
    assert news.news.invoke({}) == "Rain tomorrow"
    assert asyncio.run(news.news.ainvoke({})) == "Rain tomorrow"
    message = news.news.invoke(tool_call("m_news", {}))
    assert (message.content, message.artifact["data"]) == ("Rain tomorrow", None)
