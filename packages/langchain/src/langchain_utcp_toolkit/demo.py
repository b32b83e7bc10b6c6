"""LangChain's part in `utcp-bridge demo`: a scripted model drives an agent of `create_agent`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from langchain_utcp_toolkit.toolkit import load_tools
from utcp_bridge import Toolset
from utcp_bridge.demo import Script, Step

try:
    from langchain.agents import create_agent
except ImportError as error:
    raise ImportError("The demo needs langchain 1.0 or later.", name="langchain>=1.0") from error


class ScriptedModel(BaseChatModel):
    """A chat model that makes the script's tool calls, one a turn, and ends with the script's answer."""

    script: Script
    _shown: list[str] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_options: Any) -> Any:
        """Note which tools the model is shown."""
        self._shown[:] = [convert_to_openai_tool(tool)["function"]["name"] for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *_args: Any, **_options: Any) -> ChatResult:
        results = [str(message.content) for message in messages if isinstance(message, ToolMessage)]
        turn = len(results)
        if turn < len(self.script.calls):
            name, arguments = self.script.calls[turn]
            message = AIMessage("", tool_calls=[ToolCall(name=name, args=arguments, id=f"call_{turn}")])
        else:
            message = AIMessage(self.script.answer(results))
        return ChatResult(generations=[ChatGeneration(message=message)])


def demo(toolset: Toolset, script: Script) -> Iterator[Step]:
    """Let an agent go through the script; each step is given as it happens."""
    model = ScriptedModel(script=script)
    agent = create_agent(model, load_tools(toolset))
    question: Any = {"messages": [{"role": "user", "content": script.question}]}
    for turn, update in enumerate(agent.stream(question, stream_mode="updates")):
        if turn == 0:
            yield Step("tools", ", ".join(model._shown))  # noqa: SLF001  # a field of this module's own class
        for state in update.values():
            for message in state["messages"]:
                yield from _steps(message)


def _steps(message: AnyMessage) -> Iterator[Step]:
    if isinstance(message, ToolMessage):
        yield Step("error" if message.status == "error" else "result", str(message.content))
    elif isinstance(message, AIMessage) and message.tool_calls:
        for call in message.tool_calls:
            yield Step("call", f"{call['name']} {json.dumps(call['args'], ensure_ascii=False)}")
    else:
        yield Step("answer", str(message.content))
