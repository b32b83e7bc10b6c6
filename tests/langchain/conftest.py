"""Tools for the LangChain tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from langchain_utcp_toolkit import UTCPTool, load_tools
from tests.support.manuals import config
from tests.support.recording import recording_template
from utcp_bridge import Toolset
from utcp_bridge.demo.server import tool_server


@pytest.fixture
def echo() -> Iterator[Callable[..., UTCPTool]]:
    """Gives a tool of this schema that replies with exactly the arguments that reached UTCP."""
    with ExitStack() as opened:

        def tool(schema: Any, **options: Any) -> UTCPTool:
            source = config(recording_template("m", {"echo": schema}))
            (found,) = load_tools(opened.enter_context(Toolset.open(source, **options)))
            return found

        yield tool


@pytest.fixture
def home() -> Iterator[dict[str, Any]]:
    """The configuration of a real server: `home.get_weather` knows Paris and Oslo, `home.add_note` keeps a note."""
    with tool_server() as server:
        yield config(server.call_template("home"))
