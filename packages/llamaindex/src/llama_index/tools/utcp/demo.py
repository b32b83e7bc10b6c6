"""LlamaIndex's part in `utcp-bridge demo`: a scripted model drives a `FunctionAgent`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent, ToolCall, ToolCallResult
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
from pydantic import PrivateAttr

from llama_index.tools.utcp.spec import UTCPToolSpec
from utcp_bridge import Toolset
from utcp_bridge.demo import Script, Step


class ScriptedModel(CustomLLM, FunctionCallingLLM):
    """A language model that makes the script's tool calls, one a turn, and ends with the script's answer."""

    script: Script
    _shown: list[str] = PrivateAttr(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        """What agents ask of a model before they use it."""
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    async def astream_chat_with_tools(  # noqa: D102  # LlamaIndex's own
        self, tools: Any, *_args: Any, **options: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        self._shown[:] = [tool.metadata.to_openai_tool()["function"]["name"] for tool in tools]
        message = self._turn(options["chat_history"])

        async def stream() -> AsyncGenerator[ChatResponse, None]:
            yield ChatResponse(message=message, delta=message.content)

        return stream()

    def get_tool_calls_from_response(  # noqa: D102  # LlamaIndex's own
        self, response: ChatResponse, *_args: Any, **_options: Any
    ) -> list[ToolSelection]:
        return [*response.message.additional_kwargs.get("tool_calls", ())]

    def _turn(self, messages: Sequence[ChatMessage]) -> ChatMessage:
        results = [str(message.content) for message in messages if message.role == "tool"]
        turn = len(results)
        if turn == len(self.script.calls):
            return ChatMessage(role="assistant", content=self.script.answer(results))
        name, arguments = self.script.calls[turn]
        call = ToolSelection(tool_id=f"call_{turn}", tool_name=name, tool_kwargs=arguments)
        return ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [call]})

    def _prepare_chat_with_tools(self, *_args: Any, **_options: Any) -> dict[str, Any]:
        raise NotImplementedError("The agent of the demo streams.")

    def complete(self, *_args: Any, **_options: Any) -> CompletionResponse:  # noqa: D102  # LlamaIndex's own
        raise NotImplementedError("The agent of the demo chats.")

    def stream_complete(self, *_args: Any, **_options: Any) -> CompletionResponseGen:  # noqa: D102  # LlamaIndex's own
        raise NotImplementedError("The agent of the demo chats.")


def demo(toolset: Toolset, script: Script) -> Iterator[Step]:
    """Let an agent go through the script and tell its steps."""
    yield from asyncio.run(_steps(toolset, script))


async def _steps(toolset: Toolset, script: Script) -> list[Step]:
    model = ScriptedModel(script=script)
    agent = FunctionAgent(tools=[*await UTCPToolSpec(toolset).to_tool_list_async()], llm=model)
    run = agent.run(user_msg=script.question)
    steps = [step async for event in run.stream_events() for step in _told(event)]
    shown = Step("tools", ", ".join(model._shown))  # noqa: SLF001  # a field of this module's own class
    return [shown, *steps, Step("answer", str(await run))]


def _told(event: Any) -> Iterator[Step]:
    if isinstance(event, ToolCallResult):
        yield Step("error" if event.tool_output.is_error else "result", event.tool_output.content)
    elif isinstance(event, ToolCall):
        yield Step("call", f"{event.tool_name} {json.dumps(event.tool_kwargs, ensure_ascii=False)}")
