"""MCP through utcp-mcp, with a real server over stdio; that plugin needs an environment of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.http_server import http_server, replying
from utcp_bridge import Toolset
from utcp_bridge.discovery import Discovery, discover
from utcp_bridge.errors import ToolExecutionError
from utcp_bridge.transports.client.client import Client, open_client
from utcp_bridge.transports.http.security import origin_of

pytest.importorskip("utcp_mcp", reason="utcp-mcp requires langchain<0.4, so it is tested in its own environment")

SERVER = """
import base64
import os
import pathlib
import sys
from mcp.server.fastmcp import FastMCP, Image
from mcp.types import BlobResourceContents, EmbeddedResource, ResourceLink, TextContent, TextResourceContents

server = FastMCP("demo")
PNG = b"\\x89PNG" + bytes(1496)

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

@server.tool(structured_output=False)
def code(digits: str) -> str:
    return digits

@server.tool()
def fail(reason: str) -> str:
    raise ValueError(reason + " " + os.environ["SECRET"])

@server.tool()
def whoami() -> str:
    return sys.argv[1] if len(sys.argv) > 1 else "demo"

@server.tool(structured_output=False)
def show(what: str):
    blob = BlobResourceContents(uri="demo://b", mimeType="image/png", blob=base64.b64encode(PNG).decode())
    return {
        "picture": Image(data=PNG, format="png"),
        "mixed": ["Here", Image(data=PNG, format="png"), "7", {"a": None}],
        "texts": ["first", "second"],
        "blob": EmbeddedResource(type="resource", resource=blob),
        "text": EmbeddedResource(type="resource", resource=TextResourceContents(uri="demo://t", text="words")),
        "link": ResourceLink(type="resource_link", uri="demo://l", name="l", mimeType="image/png"),
        "one text": TextContent(type="text", text="alone"),
    }[what]

@server.tool(name="demo.longer")
def named_as_its_server() -> str:
    return "the longer name"

@server.tool()
def resource_like() -> str:
    return "a tool"

@server.resource("demo://text", name="readme")
def readme() -> str:
    return "read me"

@server.resource("demo://blob", name="logo", mime_type="image/png")
def logo() -> bytes:
    return PNG

pathlib.Path(__file__).with_suffix(".pid").write_text(str(os.getpid()))
server.run()
"""


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """The program of an MCP server."""
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return path


def _manual(name: str, **servers: Sequence[str | Path]) -> dict[str, Any]:
    started = {
        key: {"command": sys.executable, "args": list(map(str, args)), "env": {"SECRET": "${KEY}"}}
        for key, args in servers.items()
    }
    return {"name": name, "call_template_type": "mcp", "config": {"mcpServers": started}}


def _config(*manuals: dict[str, Any]) -> dict[str, Any]:
    variables = {f"{manual['name']}_KEY": "pa$WORD-123" for manual in manuals}
    return {"variables": variables, "manual_call_templates": list(manuals)}


@pytest.fixture
async def opened(server: Path, tmp_path: Path) -> AsyncIterator[tuple[Client, Discovery]]:
    template = _manual("m", demo=[server])
    template["config"]["mcpServers"]["gone"] = {"command": str(tmp_path / "gone"), "args": []}
    client = await open_client(_config(template))
    found = await discover(client, timeout=30)
    yield client, found
    await client.close()


async def test_the_tools_of_the_servers_that_answer_are_loaded_and_the_others_reported(
    opened: tuple[Client, Discovery],
) -> None:
    client, found = opened
    names = ("add", "code", "fail", "whoami", "show", "longer", "resource_like")
    assert [tool.utcp_name for tool in found.tools] == [f"m.demo.{name}" for name in names]
    assert {tool.protocol for tool in found.tools} == {"mcp"}
    assert client.loop_bound("mcp")
    assert "server 'gone'" in str(found.report)


@pytest.mark.parametrize("status", [401, 404, 500, 503])
async def test_a_server_over_http_that_refuses_is_reported_with_its_status(status: int) -> None:
    async with http_server(replying("down", status=status)) as refusing:
        remote = {"x": {"type": "http", "url": f"{refusing.url}/mcp?key=sk-LIVE"}}
        error = await _error_of(remote)
    assert str(status) in error
    assert refusing.url in error
    assert not re.search(r"sk-LIVE|information|\n", error)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/mcp?key=sk-LIVE", "https://u:sk-LIVE@127.0.0.1:1/mcp", "https://nowhere.invalid/mcp"]
)
async def test_a_server_over_http_that_cannot_be_reached_is_named(url: str) -> None:
    error = await _error_of({"x": {"url": url}})
    assert error.endswith(f"({origin_of(url)})")
    assert "sk-LIVE" not in error


async def test_a_server_that_is_started_needs_no_arguments(server: Path) -> None:
    program = server.with_name("started")
    program.write_text(f"#!{sys.executable}\n{SERVER}")
    program.chmod(0o700)
    written: list[dict[str, Any]] = [{}, {"args": None}, {"args": []}]
    for more in written:
        config = {"mcpServers": {"x": {"command": str(program), "env": {"SECRET": "s"}, **more}}}
        template = {"name": "m", "call_template_type": "mcp", "config": config}
        async with await Toolset.aopen({"manual_call_templates": [template]}) as toolset:
            assert (await toolset.acall("m.x.add", {"a": 1, "b": 2})).content == "3"


async def test_a_server_that_is_neither_started_nor_asked_is_told_what_is_missing() -> None:
    assert (await _error_of({"x": {"httpUrl": "https://h"}})).endswith("has neither 'command' nor 'url'")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"args": [12345]}, "args[0]: expected text, got a number"),
        ({"args": [], "env": {"PIN": 12345}}, "env.PIN: expected text, got a number"),
    ],
)
async def test_what_is_wrong_about_a_server_is_told_without_its_value(fields: dict[str, Any], told: str) -> None:
    error = await _error_of({"x": {"command": sys.executable, **fields}})
    assert error == f"Failed to discover tools for server 'x': {told}"


async def _error_of(servers: dict[str, Any]) -> str:
    template = {"name": "m", "call_template_type": "mcp", "config": {"mcpServers": servers}}
    async with await Toolset.aopen({"manual_call_templates": [template]}, discovery_timeout=30) as toolset:
        return str(toolset.report.manuals[0].error)


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


PICTURE = "[image: image/png, 1,500 bytes]"


@pytest.mark.parametrize(
    ("what", "content"),
    [
        ("picture", PICTURE),
        ("mixed", f'Here\n{PICTURE}\n7\n{{\n  "a": null\n}}'),
        ("texts", "first\nsecond"),
        ("blob", "[resource 'demo://b': image/png, 1,500 bytes]"),
        ("text", "words"),
        ("link", "[resource: demo://l (l, image/png)]"),
        ("one text", "alone"),
    ],
)
async def test_pictures_and_resources_are_described_alone_and_among_texts(
    server: Path, what: str, content: str
) -> None:
    async with await Toolset.aopen(_config(_manual("m", demo=[server]))) as toolset:
        result = await toolset.acall("m.demo.show", {"what": what})
    assert (result.content, result.is_error) == (content, False)
    assert ("iVBOR" in str(result.raw)) == ("1,500 bytes" in content)


async def test_resources_that_are_tools_are_read(server: Path) -> None:
    manual = {**_manual("m", demo=[server]), "register_resources_as_tools": True}
    async with await Toolset.aopen(_config(manual)) as toolset:
        assert (await toolset.acall("m.demo.resource_readme")).content == "read me"
        assert (await toolset.acall("m.demo.resource_logo")).content.endswith(": image/png, 1,500 bytes]")
        assert (await toolset.acall("m.demo.resource_like")).content == "a tool"


async def test_a_tool_whose_own_name_begins_with_its_servers_is_called(server: Path) -> None:
    async with await Toolset.aopen(_config(_manual("m", demo=[server]))) as toolset:
        assert (await toolset.acall("m.demo.longer")).content == "the longer name"


async def test_of_servers_with_tools_of_the_same_name_the_right_one_is_called(server: Path) -> None:
    manual = _manual("m", **{name: [server, name] for name in ("one", "two", "two.half")})
    async with await Toolset.aopen(_config(manual)) as toolset:
        calls = [f"m.{name}.whoami" for name in ("two.half", "two", "one")]
        assert [(await toolset.acall(call)).content for call in calls] == ["two.half", "two", "one"]


@pytest.mark.skipif(sys.platform == "win32", reason="ends a process by a POSIX signal")
@pytest.mark.parametrize("fate", ["used", "killed", "killed and used"])
@pytest.mark.parametrize("way", ["sync", "async", "threads"])
def test_sessions_close_without_complaint(
    server: Path, way: str, fate: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever opens them, and in whichever task they are closed."""
    source = _config(_manual("m", demo=[server]))

    def end_one() -> None:
        if "killed" in fate:
            os.kill(int(server.with_suffix(".pid").read_text()), signal.SIGKILL)

    async def use() -> None:
        toolset = await Toolset.aopen(source)
        end_one()
        if "used" in fate:
            answers = await asyncio.gather(*(toolset.acall("m.demo.add", {"a": 1, "b": 2}) for _ in range(3)))
            assert {answer.content for answer in answers} == {"3"}
        await asyncio.create_task(toolset.aclose())

    if way == "async":
        asyncio.run(use())
    else:
        toolset = Toolset.open(source)
        end_one()
        if "used" in fate:
            with ThreadPoolExecutor(3) as pool:
                called = list(pool.map(lambda _: toolset.call("m.demo.add", {"a": 1, "b": 2}).content, range(3)))
            assert set(called) == {"3"}
        closing = threading.Thread(target=toolset.close)
        if way == "threads":
            closing.start()
            closing.join()
        else:
            toolset.close()
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    if "killed" in fate:  # which may be told
        told = [
            message for message in told if not re.match(r".*Session-level error|Error closing stdio context", message)
        ]
    assert told == []
    assert capfd.readouterr().out == ""


STUBBORN = """
import pathlib, signal, sys, time
pathlib.Path(sys.argv[1]).write_text("begun")
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="looks for processes in /proc")
def test_a_server_that_never_answers_ends_with_its_toolset_while_others_are_open(
    server: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stubborn, begun = tmp_path / "stubborn.py", tmp_path / "begun"
    stubborn.write_text(STUBBORN)
    with Toolset.open(_config(_manual("m", demo=[server]))) as other:
        source = _config(*(_manual(f"s{number}", x=[stubborn, begun, str(number)]) for number in range(3)))
        toolset = Toolset.open(source, discovery_timeout=1)
        assert begun.exists()
        assert len(_processes_of(stubborn)) == 3
        caplog.clear()
        closed = time.monotonic()
        toolset.close()
        assert time.monotonic() - closed < 8  # each has two seconds after the end of its input, and two after SIGTERM
        assert not _processes_of(stubborn)
        assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
        assert other.call("m.demo.add", {"a": 1, "b": 2}).content == "3"


def _processes_of(program: Path) -> list[str]:
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], check=True, capture_output=True, text=True)  # noqa: S607
    return [line for line in listed.stdout.splitlines() if str(program) in line]


@pytest.mark.parametrize(
    "command", [["list"], ["check"], ["show", "m_demo_add"], ["call", "m_demo_add", '{"a": 1, "b": 2}']]
)
def test_the_command_prints_json_alone(server: Path, tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "utcp.json"
    path.write_text(json.dumps(_config(_manual("m", demo=[server], gone=[tmp_path / "gone.py"]))))
    name, *rest = command
    program = "import sys; from utcp_bridge.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, name, str(path), *rest, "--json"], check=False, capture_output=True, text=True
    )
    json.loads(ran.stdout)


def test_what_others_log_with_the_same_packages_is_printed_as_before(server: Path, tmp_path: Path) -> None:
    program = f"""
import json, logging, sys
before = "before" in sys.argv
if before:
    import mcp_use
    logging.getLogger("mcp_use").warning("mine, before")
from utcp_bridge import Toolset
with Toolset.open(json.loads({json.dumps(json.dumps(_config(_manual("m", demo=[server]))))})) as toolset:
    assert toolset.call("m.demo.add", {{"a": 1, "b": 2}}).content == "3"
logging.getLogger("mcp_use").warning("mine, after")
"""
    for when in ("before", "not"):
        ran = subprocess.run([sys.executable, "-c", program, when], check=True, capture_output=True, text=True)
        expected = ["mine, before", "mine, after"] if when == "before" else ["mine, after"]
        assert [line.rpartition("- ")[2] for line in ran.stdout.splitlines()] == expected


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
