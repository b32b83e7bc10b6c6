"""MCP through utcp-mcp, with a real server over stdio; that plugin needs an environment of its own."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from utcp_bridge.discovery import Discovery, discover
from utcp_bridge.errors import ToolExecutionError
from utcp_bridge.transports.client.client import Client, open_client

pytest.importorskip("utcp_mcp", reason="utcp-mcp requires langchain<0.4, so it is tested in its own environment")

SERVER = """
import os
import pathlib
from mcp.server.fastmcp import FastMCP

server = FastMCP("demo")

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

@server.tool(structured_output=False)
def code(digits: str) -> str:
    return digits

@server.tool()
def fail(reason: str) -> str:
    raise ValueError(reason + " " + os.environ["SECRET"])

pathlib.Path(__file__).with_suffix(".pid").write_text(str(os.getpid()))
server.run()
"""


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[Client, Discovery]]:
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    here = {"command": sys.executable, "args": [str(path)], "env": {"SECRET": "${KEY}"}}
    gone = {"command": str(tmp_path / "gone"), "args": []}
    template = {"name": "m", "call_template_type": "mcp", "config": {"mcpServers": {"demo": here, "gone": gone}}}
    client = await open_client({"variables": {"m_KEY": "pa$WORD-123"}, "manual_call_templates": [template]})
    found = await discover(client, timeout=30)
    yield client, found
    await client.close()


async def test_the_tools_of_the_servers_that_answer_are_loaded_and_the_others_reported(
    opened: tuple[Client, Discovery],
) -> None:
    client, found = opened
    assert [tool.utcp_name for tool in found.tools] == ["m.demo.add", "m.demo.code", "m.demo.fail"]
    assert {tool.protocol for tool in found.tools} == {"mcp"}
    assert client.loop_bound("mcp")
    assert "server 'gone'" in str(found.report)


async def test_results_come_back_as_they_are_and_failures_as_errors(opened: tuple[Client, Discovery]) -> None:
    client, _ = opened
    assert await client.call_tool("m.demo.add", {"a": 1, "b": 2}) == 3
    assert await client.call_tool("m.demo.code", {"digits": "007"}) == "007"
    with pytest.raises(ToolExecutionError, match=r"no way \*\*\*") as caught:
        await client.call_tool("m.demo.fail", {"reason": "no way"})
    assert caught.value.raw[0]["type"] == "text"


@pytest.mark.skipif(sys.platform == "win32", reason="ends a process by a POSIX signal")
async def test_a_server_that_has_ended_is_started_anew(opened: tuple[Client, Discovery], tmp_path: Path) -> None:
    client, _ = opened
    os.kill(int((tmp_path / "server.pid").read_text()), signal.SIGKILL)
    assert await client.call_tool("m.demo.add", {"a": 1, "b": 2}) == 3


@pytest.mark.parametrize(
    ("fields", "warning"),
    [
        ({"config": {"mcpServers": {}, "mcpServer": {}}}, "unknown key 'mcpServer' in 'config'"),
        ({"config": {"mcpServers": {}}, "configuration": {}}, "unknown key 'configuration', .* 'config'"),
        ({"config": {"mcpServers": {}}, "base_url": "https://h"}, "unknown key 'base_url'"),
    ],
)
async def test_a_key_that_the_plugin_does_not_read_is_a_warning(fields: dict[str, Any], warning: str) -> None:
    client = await open_client({"manual_call_templates": [{"name": "m", "call_template_type": "mcp", **fields}]})
    (template,) = await client.manual_templates()
    [told] = client.warnings_of(template)
    assert re.search(warning, told)
    await client.close()


async def test_what_a_server_takes_is_its_own_affair() -> None:
    servers = {"a": {"command": "x", "args": [], "anything": 1}, "b": {"url": "https://h", "headers": {}}}
    template = {"name": "m", "call_template_type": "mcp", "config": {"mcpServers": servers}}
    client = await open_client({"manual_call_templates": [template]})
    (manual,) = await client.manual_templates()
    assert client.warnings_of(manual) == ()
    await client.close()
