"""Replies that come in pieces, shown by the workflow in which a tool is called while they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent, ToolCallResult
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step

from llama_index.tools.utcp import UTCPTool, UTCPToolChunk, UTCPToolSpec
from tests.support.echo import by_path, event, streaming
from tests.support.http_server import http_server, replying
from tests.support.llamaindex_agents import CodingModel, ReasoningModel, ScriptedModel, tool_call
from tests.support.manuals import config, http_tool, text_manual

pytestmark = [
    # As in test_agents.
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:ServiceManager is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(Context, "get_step_context"), reason="the workflows have no context of a step"),
]

TURNS = [[tool_call("m_news", {}, "1")], [tool_call("m_plain", {}, "2")]]


@dataclass(slots=True)
class News:
    """Tools of a server; `m_news` sends its second piece when `heard` is set."""

    tools: list[Any]
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def news(self) -> UTCPTool:
        found = next(tool for tool in self.tools if tool.metadata.name == "m_news")
        assert isinstance(found, UTCPTool)
        return found


@pytest.fixture
async def news() -> AsyncIterator[News]:
    found = News([])
    answer = by_path(
        news=streaming(event("Rain"), found.heard.wait, event(" tomorrow")), plain=replying({"plain": True})
    )
    async with http_server(answer) as server:
        feed = http_tool("news", f"{server.url}/news")
        feed["tool_call_template"] = {"call_template_type": "sse", "url": f"{server.url}/news"}
        source = config(text_manual("m", [feed, http_tool("plain", f"{server.url}/plain")], "sse", "http"))
        async with UTCPToolSpec(source) as spec:
            found.tools = await spec.to_tool_list_async()
            yield found


def _function_agent(tools: list[Any]) -> Any:
    return FunctionAgent(tools=tools, llm=ScriptedModel(turns=TURNS))


def _workflow(tools: list[Any]) -> Any:
    return AgentWorkflow.from_tools_or_functions(tools, llm=ScriptedModel(turns=TURNS))


def _react_agent(tools: list[Any]) -> Any:
    return ReActAgent(tools=tools, llm=ReasoningModel(turns=TURNS))


@pytest.mark.parametrize("make", [_function_agent, _workflow, _react_agent])
async def test_a_run_shows_each_piece_when_it_comes(news: News, make: Any) -> None:
    handler = make(news.tools).run(user_msg="What is new?")
    shown: list[tuple[str, Any]] = []
    outputs: list[str] = []
    async for seen in handler.stream_events():
        if isinstance(seen, UTCPToolChunk):
            shown.append((seen.tool_name, seen.chunk))
            news.heard.set()  # only now does the server go on
        elif isinstance(seen, ToolCallResult):
            outputs.append(seen.tool_output.content)
    await handler
    assert shown == [("m_news", "Rain"), ("m_news", " tomorrow")]
    assert outputs == ["Rain tomorrow", '{"plain":true}']


async def test_a_step_of_ones_own_workflow_shows_them_too(news: News) -> None:
    news.heard.set()

    class Asking(Workflow):
        @step
        async def ask(self, ev: StartEvent) -> StopEvent:
            output = await news.news.acall()
            return StopEvent(result=output.content)

    handler = Asking().run()
    shown = [seen.chunk async for seen in handler.stream_events() if isinstance(seen, UTCPToolChunk)]
    assert (shown, await handler) == (["Rain", " tomorrow"], "Rain tomorrow")


async def test_outside_of_a_run_the_result_is_the_joined_text(news: News) -> None:
    news.heard.set()
    assert (await news.news.acall()).content == "Rain tomorrow"
    assert (await asyncio.to_thread(news.news.call)).content == "Rain tomorrow"


async def test_an_agent_that_writes_code_takes_such_tools(news: News) -> None:
    """It refuses tools that ask LlamaIndex for their context."""
    CodeActAgent(tools=news.tools, llm=CodingModel(code=[]), code_execute_fn=lambda code: code)
