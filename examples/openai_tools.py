"""An adapter in one file: UTCP tools as the tool definitions of OpenAI's chat completions API.

definitions = openai_tools(toolset)             # hand these to the model
message = tool_message(toolset, tool_call)      # and each of its tool calls to this
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utcp_bridge import Toolset


def openai_tools(toolset: Toolset) -> list[dict[str, Any]]:
    """The tool definitions that a model is shown."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in toolset.tools.values()
    ]


def tool_message(toolset: Toolset, tool_call: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one tool call of the model; a failure becomes a text that the model can act on."""
    function = tool_call["function"]
    result = toolset.call(function["name"], function["arguments"])
    return {"role": "tool", "tool_call_id": tool_call["id"], "content": result.content}


async def atool_message(toolset: Toolset, tool_call: Mapping[str, Any]) -> dict[str, Any]:
    """The same from async code."""
    function = tool_call["function"]
    result = await toolset.acall(function["name"], function["arguments"])
    return {"role": "tool", "tool_call_id": tool_call["id"], "content": result.content}
