"""OVOS's part in `utcp-bridge demo`: a scripted model drives the native tool-call loop of `ovos-agentic-loop`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ovos_agentic_loop.native_toolcall import NativeToolCallEngine
from ovos_plugin_manager.templates.agent_tools import ToolBox
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole, ToolCall
from ovos_utils.log import LOG

from ovos_utcp_toolbox.toolbox import UTCPToolBox
from ovos_utcp_toolbox.tools import AdapterToolOutput
from utcp_bridge import Toolset
from utcp_bridge.demo import Script, Step


class ScriptedEngine(ChatEngine):
    """A chat engine that makes the script's tool calls, one a turn, and ends with the script's answer."""

    supports_tools = True

    def __init__(self, script: Script, steps: list[Step]) -> None:
        super().__init__()
        self._script = script
        self._steps = steps

    def continue_chat(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: Any = None,
    ) -> AgentMessage:
        """Take the next turn of the script."""
        results = [message.content for message in messages if message.role == MessageRole.TOOL]
        turn = len(results)
        if turn == 0:
            names = [tool["function"]["name"] for tool in ToolBox.normalize_tools(tools)]
            self._steps.append(Step("tools", ", ".join(names)))
        if turn == len(self._script.calls):
            return AgentMessage(MessageRole.ASSISTANT, self._script.answer(results))
        name, arguments = self._script.calls[turn]
        return AgentMessage(MessageRole.ASSISTANT, "", tool_calls=[ToolCall(f"call_{turn}", name, arguments)])


class WatchedToolBox(UTCPToolBox):
    """A toolbox that notes what it was called with and what came of it."""

    steps: list[Step]

    def call_tool(self, name: str, tool_kwargs: Any = None) -> AdapterToolOutput:
        """Call a tool, and note it."""
        self.steps.append(Step("call", f"{name} {json.dumps(tool_kwargs, ensure_ascii=False)}"))
        output = super().call_tool(name, tool_kwargs)
        self.steps.append(Step("error" if output.is_error else "result", str(output)))
        return output


def demo(toolset: Toolset, script: Script) -> Iterator[Step]:
    """Let an agent go through the script."""
    steps: list[Step] = []
    level = LOG.level
    LOG.set_level("WARNING")  # OVOS logs to the standard output, where the demo shows its steps
    try:
        toolbox = WatchedToolBox(config={"utcp_config": toolset})
        toolbox.steps = steps
        engine = NativeToolCallEngine()
        engine.load_toolboxes([toolbox])
        engine.set_brain(ScriptedEngine(script, steps))
        answer = engine.continue_chat([AgentMessage(MessageRole.USER, script.question)])
        toolbox.close()
    finally:
        LOG.set_level(level)
    yield from steps
    yield Step("answer", answer.content)
