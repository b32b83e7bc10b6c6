"""LangChain, as the contract tests speak to it: as an agent's tool node does, with tool calls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_utcp_toolkit import UTCPToolkit
from tests.contract.offers import Adapter, Offer, Outcome
from utcp_bridge.schema import ShownArguments


def without_titles(schema: Any, parent: str = "") -> Any:
    """Drop what LangChain takes for titles (langchain-core 1.8.3, `_rm_titles`)."""
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_titles(value, key)
        for key, value in schema.items()
        if key != "title" or (isinstance(value, dict) and parent == "properties")
    }


class LangChainOffer(Offer):
    """A toolkit."""

    def __init__(self, toolkit: UTCPToolkit, *, blocks: bool) -> None:
        self._toolkit = toolkit
        self._blocks = blocks
        self._tools = {tool.name: tool for tool in toolkit.get_tools()}

    def descriptions(self) -> dict[str, str]:
        """What models are told of each tool."""
        shown = [convert_to_openai_tool(tool)["function"] for tool in self._tools.values()]
        return {function["name"]: function["description"] for function in shown}

    def schema(self, name: str) -> dict[str, Any]:
        """The schema that LangChain sends to a model."""
        parameters: dict[str, Any] = convert_to_openai_tool(self._tools[name])["function"]["parameters"]
        return parameters

    def as_sent(self, shown: ShownArguments) -> dict[str, Any]:
        """Definitions in their places, and no titles; a description at the root is part of the tool's."""
        sent: dict[str, Any] = without_titles(shown.standalone)
        return {keyword: value for keyword, value in sent.items() if keyword != "description"}

    def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a tool as a tool node does."""
        call = ToolCall(name=name, args=dict(arguments), id="call_1", type="tool_call")
        tool = self._tools[name]
        message = tool.invoke(call) if self._blocks else asyncio.run(tool.ainvoke(call))
        assert isinstance(message, ToolMessage)
        return Outcome(str(message.content), message.status == "error")

    def report(self) -> str:
        """The report of the toolkit."""
        return str(self._toolkit.report)


class LangChainAdapter(Adapter):
    """`invoke` or `ainvoke`."""

    @contextmanager
    def offer(self, source: Any, **options: Any) -> Iterator[Offer]:
        """The tools of a source."""
        toolkit = UTCPToolkit(source, **options) if self.blocks else asyncio.run(UTCPToolkit.aopen(source, **options))
        with toolkit:
            yield LangChainOffer(toolkit, blocks=self.blocks)
