"""Tools for the LlamaIndex tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from llama_index.core.tools import ToolOutput

from llama_index.tools.utcp import UTCPTool
from tests.support.manuals import config
from tests.support.recording import recording_template
from utcp_bridge import Toolset
from utcp_bridge.demo.server import tool_server


@pytest.fixture
def echo() -> Iterator[Callable[..., UTCPTool]]:
    """Gives a tool of this schema that replies with exactly the arguments that reached UTCP.

    Its keyword arguments are those of `UTCPTool`, and `options` those of the toolset.
    """
    with ExitStack() as opened:

        def tool(schema: Any, *, options: Any = None, **tool_options: Any) -> UTCPTool:
            source = config(recording_template("m", {"echo": schema}))
            toolset = opened.enter_context(Toolset.open(source, **(options or {})))
            return UTCPTool(toolset.tools["m_echo"], **tool_options)

        yield tool


@pytest.fixture
def home() -> Iterator[dict[str, Any]]:
    """The configuration of a real server: `home.get_weather` knows Paris and Oslo, `home.add_note` keeps a note."""
    with tool_server() as server:
        yield config(server.call_template("home"))


@pytest.fixture(params=["tool()", "call", "acall"])
def invoke(request: pytest.FixtureRequest) -> Callable[..., ToolOutput]:
    """Calls a tool from plain code, with arguments by name."""

    def by_name(tool: UTCPTool, /, *args: Any, **arguments: Any) -> ToolOutput:
        if request.param == "tool()":
            return tool(*args, **arguments)
        if request.param == "call":
            return tool.call(*args, **arguments)
        return asyncio.run(tool.acall(*args, **arguments))

    return by_name
