"""Scripted chat models, as plugins of OPM's group `opm.agents.chat`.

Their configuration holds `calls`, a list of `{"name": ..., "arguments": {...}}`: one for each turn. After the last
one they answer with everything that they were shown of the results.
"""

from __future__ import annotations

import json
from typing import Any

from ovos_plugin_manager.templates.agent_tools import ToolBox
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole, ToolCall


class NativeBrain(ChatEngine):
    """A model that is handed tool definitions and answers with tool calls."""

    supports_tools = True

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        self.offered: list[dict[str, Any]] = []

    def continue_chat(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: Any = None,
    ) -> AgentMessage:
        self.offered = ToolBox.normalize_tools(tools)
        results = [message.content for message in messages if message.role == MessageRole.TOOL]
        calls = self.config["calls"]
        if len(results) == len(calls):
            return AgentMessage(MessageRole.ASSISTANT, " | ".join(results))
        call = calls[len(results)]
        wanted = ToolCall(f"call-{len(results)}", call["name"], call["arguments"])
        return AgentMessage(MessageRole.ASSISTANT, "", tool_calls=[wanted])


class TextBrain(ChatEngine):
    """A model that only writes text, in the form that ReAct asks for."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        self.offered: list[dict[str, Any]] = []

    def continue_chat(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: Any = None,
    ) -> AgentMessage:
        shown = messages[0].content
        self.offered = json.JSONDecoder().raw_decode(shown, shown.index("["))[0]
        results = [
            message.content.removeprefix("Observation: ")
            for message in messages
            if message.content.startswith("Observation: ")
        ]
        calls = self.config["calls"]
        if len(results) == len(calls):
            return AgentMessage(MessageRole.ASSISTANT, f"Thought: done\nFINAL_ANSWER: {' | '.join(results)}")
        call = calls[len(results)]
        text = f"Thought: next\nAction: {call['name']}\nAction Input: {json.dumps(call['arguments'])}"
        return AgentMessage(MessageRole.ASSISTANT, text)
