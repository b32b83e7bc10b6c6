"""Scripted language models that drive LlamaIndex's agents."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool
from pydantic import Field


def tool_call(name: str, kwargs: dict[str, Any], call_id: str = "call_1") -> ToolSelection:
    """A tool call as a model makes one."""
    return ToolSelection(tool_id=call_id, tool_name=name, tool_kwargs=kwargs)


class ScriptedModel(CustomLLM, FunctionCallingLLM):
    """Makes the scripted tool calls, one turn after the other, and ends by repeating what the tools answered.

    Attributes:
        turns: The tool calls of each turn.
        shown: The tools that it was shown, as OpenAI's API would get them, by name.
    """

    turns: list[list[ToolSelection]]
    shown: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        *_args: Any,
        **_options: Any,
    ) -> dict[str, Any]:
        for tool in tools:
            function = tool.metadata.to_openai_tool()["function"]
            self.shown[function["name"]] = function
        asked = [ChatMessage(role="user", content=user_msg)] if isinstance(user_msg, str) else []
        return {"messages": [*(chat_history or ()), *asked]}

    def chat(self, messages: Sequence[ChatMessage], **_options: Any) -> ChatResponse:
        turn = sum("tool_calls" in message.additional_kwargs for message in messages)
        if turn < len(self.turns):
            calls = {"tool_calls": self.turns[turn]}
            return ChatResponse(message=ChatMessage(role="assistant", content="", additional_kwargs=calls))
        answer = " | ".join(str(message.content) for message in messages if message.role == "tool")
        return ChatResponse(message=ChatMessage(role="assistant", content=answer))

    async def achat(self, messages: Sequence[ChatMessage], **_options: Any) -> ChatResponse:
        return self.chat(messages)

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **_options: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        async def stream() -> AsyncGenerator[ChatResponse, None]:
            response = self.chat(messages)
            yield ChatResponse(message=response.message, delta=response.message.content)

        return stream()

    def get_tool_calls_from_response(self, response: ChatResponse, *_args: Any, **_options: Any) -> list[ToolSelection]:
        return [*response.message.additional_kwargs.get("tool_calls", ())]

    def complete(self, *_args: Any, **_options: Any) -> CompletionResponse:
        raise NotImplementedError("agents chat")

    def stream_complete(self, *_args: Any, **_options: Any) -> CompletionResponseGen:
        raise NotImplementedError("agents chat")


class ReasoningModel(ScriptedModel):
    """The same for agents that reason in text: writes each tool call as a ReAct step.

    Attributes:
        prompts: What it was told at each turn.
    """

    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=False)

    def chat(self, messages: Sequence[ChatMessage], **_options: Any) -> ChatResponse:
        self.prompts.append("\n".join(str(message.content) for message in messages))
        turn = len(self.prompts) - 1
        if turn < len(self.turns):
            (call,) = self.turns[turn]
            arguments = json.dumps(call.tool_kwargs, ensure_ascii=False)
            text = f"Thought: I need a tool.\nAction: {call.tool_name}\nAction Input: {arguments}"
        else:
            text = f"Thought: I can answer.\nAnswer: {messages[-1].content}"
        return ChatResponse(message=ChatMessage(role="assistant", content=text))


class CodingModel(ReasoningModel):
    """The same for agents that write code: gives one piece of code each turn, and ends by repeating what it was told.

    Attributes:
        code: What it writes at each turn.
    """

    turns: list[list[ToolSelection]] = Field(default_factory=list)
    code: list[str]

    def chat(self, messages: Sequence[ChatMessage], **_options: Any) -> ChatResponse:
        self.prompts.append("\n".join(str(message.content) for message in messages))
        turn = len(self.prompts) - 1
        text = f"<execute>{self.code[turn]}</execute>" if turn < len(self.code) else str(messages[-1].content)
        return ChatResponse(message=ChatMessage(role="assistant", content=text))
