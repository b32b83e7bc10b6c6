"""A scripted chat model, and the agents that it drives: LangChain's and, before LangChain 1.0, LangGraph's."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field


def tool_call(name: str, args: dict[str, Any], call_id: str = "call_1") -> ToolCall:
    """A tool call as a model makes one."""
    return ToolCall(name=name, args=args, id=call_id, type="tool_call")


class ScriptedModel(BaseChatModel):
    """Makes the scripted tool calls, one turn after the other, and ends by repeating what the tools answered.

    Attributes:
        turns: The tool calls of each turn.
        shown: The tools that it was shown, as OpenAI's API would get them, by name.
    """

    turns: list[list[ToolCall]]
    shown: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        for tool in tools:
            function = convert_to_openai_tool(tool)["function"]
            self.shown[function["name"]] = function
        return self.bind(**kwargs)

    def _generate(self, messages: list[BaseMessage], *_args: Any, **_kwargs: Any) -> ChatResult:
        turn = sum(isinstance(message, AIMessage) for message in messages)
        if turn < len(self.turns):
            message = AIMessage("", tool_calls=self.turns[turn])
        else:
            message = AIMessage(" | ".join(str(m.content) for m in messages if isinstance(m, ToolMessage)))
        return ChatResult(generations=[ChatGeneration(message=message)])


def agent(model: BaseChatModel, tools: Sequence[BaseTool]) -> Any:
    """An agent of this model and these tools."""
    if importlib.util.find_spec("langchain") and importlib.util.find_spec("langchain.agents.factory"):
        from langchain.agents import create_agent

        return create_agent(model, list(tools))
    from langgraph.prebuilt import create_react_agent

    return create_react_agent(model, list(tools))
