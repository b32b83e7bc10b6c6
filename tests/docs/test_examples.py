"""The examples do what they say."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from examples.openai_tools import atool_message, openai_tools, tool_message
from tests.support.manuals import config
from utcp_bridge import Toolset
from utcp_bridge.demo.server import tool_server

EXAMPLE = Path(__file__).parents[2] / "examples" / "openai_tools.py"


def _tool_call(city: str) -> dict[str, Any]:
    function = {"name": "home_get_weather", "arguments": json.dumps({"city": city})}
    return {"id": f"call_{city}", "type": "function", "function": function}


def test_the_example_adapter_defines_tools_and_answers_calls() -> None:
    with tool_server() as server, Toolset.open(config(server.call_template("home"))) as toolset:
        definitions = {tool["function"]["name"]: tool["function"] for tool in openai_tools(toolset)}
        paris = tool_message(toolset, _tool_call("Paris"))
        atlantis = tool_message(toolset, _tool_call("Atlantis"))
        assert asyncio.run(atool_message(toolset, _tool_call("Paris"))) == paris
    assert definitions["home_get_weather"]["parameters"]["required"] == ["city"]
    assert paris == {
        "role": "tool",
        "tool_call_id": "call_Paris",
        "content": '{"city":"Paris","sky":"sunny","celsius":21}',
    }
    assert "404" in atlantis["content"]
    assert "try Paris or Oslo" in atlantis["content"]


def test_the_example_adapter_stays_below_sixty_lines() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 60
