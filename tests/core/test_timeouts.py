"""After a time limit nothing keeps running and nothing arrives later, whatever was called, and how."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from tests.support.echo import streaming
from tests.support.http_server import HttpServer, http_server
from tests.support.manuals import cli_tool, config, http_tool, text_manual
from tests.support.processes import is_running
from utcp_bridge import ToolResult, Toolset
from utcp_bridge.errors import ConfigError
from utcp_bridge.options import Options

posix = pytest.mark.skipif(sys.platform == "win32", reason="the commands are written for a POSIX shell")

Call = Callable[[Toolset, str], Awaitable[ToolResult]]


async def _acall(toolset: Toolset, name: str) -> ToolResult:
    return await toolset.acall(name, {})


async def _call(toolset: Toolset, name: str) -> ToolResult:
    return await asyncio.to_thread(toolset.call, name, {})


async def _stream(toolset: Toolset, name: str) -> ToolResult:
    *_, last = [piece async for piece in toolset.stream(name, {})]
    assert isinstance(last, ToolResult)
    return last


@pytest.fixture(params=[_acall, _call, _stream])
def call(request: pytest.FixtureRequest) -> Call:
    """Each way to call a tool."""
    way: Call = request.param
    return way


class Stuck:
    """A server that never comes to an end.

    Attributes:
        noticed: Set when a client closes its connection.
        server: Where it listens.
    """

    def __init__(self) -> None:
        self.noticed = asyncio.Event()
        self.server = HttpServer()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        forever = asyncio.Event().wait
        if request.path == "/begins":
            return await streaming(b'{"a": ', forever, content_type="application/json", gone=self.noticed)(request)
        if request.path == "/fails":
            response = web.StreamResponse(status=500)
            await response.prepare(request)
        try:
            await forever()
        finally:
            self.noticed.set()
        raise AssertionError

    async def is_left(self) -> bool:
        """Whether the client has closed its connection."""
        async with asyncio.timeout(5):
            return await self.noticed.wait()


@pytest.fixture
async def stuck() -> AsyncIterator[Stuck]:
    found = Stuck()
    async with http_server(found.answer, notices=True) as found.server:
        yield found


@pytest.mark.parametrize("path", ["/silent", "/begins", "/fails"])
async def test_an_http_call_closes_its_connection(stuck: Stuck, call: Call, path: str) -> None:
    source = config(text_manual("m", [http_tool("t", stuck.server.url + path)], "http"))
    async with await Toolset.aopen(source, timeout=0.2) as toolset:
        result = await call(toolset, "m.t")
        assert "0.2 seconds (timeout) and was cancelled" in result.content
        assert await stuck.is_left()
        assert not [task for task in asyncio.all_tasks() if "utcp_bridge" in repr(task)]


async def test_waiting_for_a_token_ends_too(stuck: Stuck, call: Call) -> None:
    credentials = {"auth_type": "oauth2", "client_id": "me", "client_secret": "s3cret-01"}
    tool = http_tool("t", f"{stuck.server.url}/t", auth={**credentials, "token_url": f"{stuck.server.url}/token"})
    async with await Toolset.aopen(config(text_manual("m", [tool], "http")), timeout=0.2) as toolset:
        assert "0.2 seconds" in (await call(toolset, "m.t")).content
        assert await stuck.is_left()
    assert [request.path for request in stuck.server.received] == ["/token"]


@posix
@pytest.mark.parametrize("call", [_acall, _call])
async def test_a_command_ends_with_all_its_processes(call: Call, tmp_path: Path) -> None:
    command = f"cd {tmp_path}; echo $$ >one; bash -c 'echo $$ >two; sleep 60; touch late'; touch later"
    source = config(text_manual("m", [cli_tool("t", command)], "cli"))
    async with await Toolset.aopen(source, timeout=1) as toolset:
        assert "1 second (timeout)" in (await call(toolset, "m.t")).content
        assert not any(map(is_running, _pids(tmp_path, "one", "two")))


def _pids(folder: Path, *names: str) -> list[int]:
    return [int((folder / name).read_text()) for name in names]


@pytest.mark.parametrize("kind", ["http", "sse", "streamable_http"])
async def test_fetching_a_manual_closes_its_connection(stuck: Stuck, kind: str) -> None:
    manual = {"name": "m", "call_template_type": kind, "url": f"{stuck.server.url}/utcp"}
    async with await Toolset.aopen(config(manual), discovery_timeout=0.2) as toolset:
        assert "0.2 seconds (discovery_timeout)" in str(toolset.report)
        assert await stuck.is_left()


@posix
async def test_a_command_that_should_print_a_manual_ends(tmp_path: Path) -> None:
    command = f"cd {tmp_path}; echo $$ >pid; sleep 60; touch late"
    manual = {"name": "m", "call_template_type": "cli", "commands": [{"command": command}]}
    async with await Toolset.aopen(config(manual), discovery_timeout=1) as toolset:
        assert "no answer within 1 second (discovery_timeout)" in str(toolset.report)
        assert not any(map(is_running, _pids(tmp_path, "pid")))


async def test_the_next_call_has_a_connection_of_its_own(stuck: Stuck) -> None:
    """Nothing that is still on its way to the one before can reach it."""
    source = config(text_manual("m", [http_tool("t", f"{stuck.server.url}/begins")], "http"))
    async with await Toolset.aopen(source, timeout=0.1) as toolset:
        for _ in range(3):
            await toolset.acall("m.t")
    assert stuck.server.connections == 3


# -- which limit


@pytest.mark.parametrize(
    ("timeouts", "given", "told"),
    [
        ({}, None, "0.1 seconds (timeout)"),
        ({"m": 0.05}, None, "0.05 seconds (timeouts['m'])"),
        ({"m": 9, "m.*": 0.05}, None, "0.05 seconds (timeouts['m.*'])"),
        ({"m": 9, "m.*": 9, "m.t": 0.05}, None, "0.05 seconds (timeouts['m.t'])"),
        ({"m_t": 0.05, "m": 9}, None, "0.05 seconds (timeouts['m_t'])"),
        ({"m.t": 9, "m": 9}, 0.05, "0.05 seconds (timeout of this call)"),
    ],
)
async def test_the_most_specific_limit_holds_and_is_named(
    stuck: Stuck, timeouts: dict[str, float], given: float | None, told: str
) -> None:
    source = config(text_manual("m", [http_tool("t", f"{stuck.server.url}/silent")], "http"))
    async with await Toolset.aopen(source, timeout=0.1, timeouts=timeouts) as toolset:
        results = [
            await toolset.acall("m.t", timeout=given),
            await asyncio.to_thread(toolset.call, "m.t", timeout=given),
            *[piece async for piece in toolset.stream("m.t", timeout=given)],
        ]
    assert [told in result.content for result in results] == [True] * 3


KEYS = ["m", "m.t", "m_t", "m.*", "*", "m.t*", "*.t", "n", "n.t", "m.x"]


@given(st.dictionaries(st.sampled_from(KEYS), st.floats(1, 99)), st.floats(100, 200))
def test_limits_are_layered(timeouts: dict[str, float], default: float) -> None:
    """A tool by name, then globs on tools, then the manual, then globs on everything, then the default."""
    layers = [["m.t", "m_t"], ["m.t*", "m.*", "*.t"], ["m"], ["*"]]
    limit = Options.parse({"timeout": default, "timeouts": timeouts}).timeout_for("m.t", "m_t")
    allowed = next(([key for key in layer if key in timeouts] for layer in layers if timeouts.keys() & set(layer)), [])
    if allowed:
        assert (limit.seconds, limit.origin) in [(timeouts[key], f"timeouts[{key!r}]") for key in allowed]
    else:
        assert (limit.seconds, limit.origin) == (default, "timeout")


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "5", True])
async def test_a_limit_that_is_none_is_the_developers_mistake(stuck: Stuck, wrong: Any) -> None:
    source = config(text_manual("m", [http_tool("t", f"{stuck.server.url}/silent")], "http"))
    async with await Toolset.aopen(source) as toolset:
        with pytest.raises(ConfigError, match="timeout: expected a number of seconds"):
            await toolset.acall("m.t", timeout=wrong)
        with pytest.raises(ConfigError, match="timeout: expected a number of seconds"):
            await asyncio.to_thread(toolset.call, "m.t", timeout=wrong)
        with pytest.raises(ConfigError, match="timeout: expected a number of seconds"):
            await anext(toolset.stream("m.t", timeout=wrong))
