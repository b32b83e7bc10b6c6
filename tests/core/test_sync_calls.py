"""Sync calls on the wire: the connections that they share, lose and leave."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import warnings
from collections import UserDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from aiohttp import web

from tests.support.http_server import HttpServer, server_thread
from tests.support.loops import AskedLoop
from utcp_bridge import Toolset


def source_of(server: HttpServer, **template: Any) -> dict[str, Any]:
    call = {"call_template_type": "http", "url": f"{server.url}/tool", "http_method": "POST", **template}
    tool = {"name": "tool", "description": "A tool", "inputs": {"type": "object"}, "tool_call_template": call}
    document = {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": [tool]}
    manual = {
        "name": "m",
        "call_template_type": "text",
        "content": json.dumps(document),
        "allowed_communication_protocols": ["http"],
    }
    return {"manual_call_templates": [manual]}


@pytest.fixture
def quiet() -> Iterator[None]:
    """No warning about anything that was left open."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_calls_of_threads_that_come_and_go_share_a_connection(quiet: None) -> None:
    with server_thread() as server, Toolset.open(source_of(server)) as toolset:
        for _ in range(8):
            thread = threading.Thread(target=toolset.call, args=("m_tool",))
            thread.start()
            thread.join()
        toolset.call("m_tool")
        assert len(server.received) == 9
        assert server.connections == 1


def test_several_threads_at_once_have_one_connection_each(quiet: None) -> None:
    together = threading.Barrier(4)

    async def answer(_request: web.Request) -> web.Response:
        await asyncio.to_thread(together.wait, 30)
        return web.json_response({})

    with server_thread(answer) as server, Toolset.open(source_of(server)) as toolset, ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert not any(result.is_error for result in pool.map(toolset.call, ["m_tool"] * 4))
        assert server.connections == 4


def test_a_connection_that_the_server_closed_between_two_calls_costs_no_call(quiet: None) -> None:
    with server_thread(keep_alive=0.05) as server, Toolset.open(source_of(server)) as toolset:
        for _ in range(4):
            assert not toolset.call("m_tool").is_error
            time.sleep(0.2)
        assert server.connections == 4


def test_toolsets_opened_and_closed_again_and_again_hurt_no_other(quiet: None) -> None:
    """A loop that stays meets sockets of the same numbers as those that were closed on it."""
    with server_thread() as server, Toolset.open(source_of(server)) as kept:
        for _ in range(10):
            with Toolset.open(source_of(server)) as toolset:
                assert not toolset.call("m_tool").is_error
            assert not kept.call("m_tool").is_error
        assert server.connections == 11


def test_closing_while_another_thread_calls_waits_for_nothing(quiet: None) -> None:
    asked = threading.Event()

    async def answer(_request: web.Request) -> web.Response:
        asked.set()
        await asyncio.sleep(20)
        return web.json_response({})

    with server_thread(answer) as server, ThreadPoolExecutor(1) as pool:
        toolset = Toolset.open(source_of(server))
        waiting = pool.submit(toolset.call, "m_tool")
        assert asked.wait(30)
        began = time.monotonic()
        toolset.close()
        result = waiting.result()
        assert time.monotonic() - began < 5
        assert result.is_error
        assert "closed while the call was running" in result.content


class _ArgumentsOnce(UserDict[str, Any]):
    """No arguments, and something that happens before they are read."""

    def __init__(self, happens: Callable[[], None]) -> None:
        super().__init__()
        self._happens = happens

    def __iter__(self) -> Iterator[str]:
        self._happens()
        return super().__iter__()


def test_a_call_that_begins_while_the_toolset_closes_says_so_like_any_other(quiet: None) -> None:
    blocks, let_go = threading.Event(), threading.Event()
    loop = AskedLoop()

    async def call_and_block() -> None:
        await toolset.acall("m_tool")
        loop.asked.clear()
        blocks.set()
        let_go.wait(30)
        await asyncio.sleep(0.1)

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(call_and_block())

    def half_close() -> None:
        """The closing waits for a loop that blocks; by then no other loop gets connections."""
        if not blocks.is_set():
            pool.submit(run)
            assert blocks.wait(30)
            pool.submit(toolset.close)
            assert loop.asked.wait(30)

    with server_thread() as server, ThreadPoolExecutor(2) as pool:
        toolset = Toolset.open(source_of(server))
        try:
            result = toolset.call("m_tool", _ArgumentsOnce(half_close))
        finally:
            let_go.set()
    assert result.is_error
    assert result.content == "m_tool was not finished: its toolset was closed while the call was running."


def test_a_time_out_ends_the_connection_at_once(quiet: None) -> None:
    ended = threading.Event()

    async def answer(_request: web.Request) -> web.Response:
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            ended.set()
            raise
        return web.json_response({})

    with server_thread(answer, notices=True) as server, Toolset.open(source_of(server), timeout=0.1) as toolset:
        result = toolset.call("m_tool")
        assert "within 0.1 seconds" in result.content
        assert ended.wait(5)


def test_calls_of_several_threads_ask_for_a_token_once(quiet: None) -> None:
    tokens: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/token":
            await asyncio.sleep(0.1)
            tokens.append(f"t{len(tokens)}")
            return web.json_response({"access_token": tokens[-1], "expires_in": 3600})
        return web.json_response({"seen": request.headers.get("Authorization")})

    with server_thread(answer) as server:
        auth = {
            "auth_type": "oauth2",
            "token_url": f"{server.url}/token",
            "client_id": "c",
            "client_secret": "s",
            "scope": "",
        }
        with Toolset.open(source_of(server, auth=auth)) as toolset, ThreadPoolExecutor(8) as pool:
            results = list(pool.map(toolset.call, ["m_tool"] * 8))
        assert not [result.content for result in results if result.is_error]
        assert tokens == ["t0"]


def test_a_tool_of_the_users_own_client_stays_on_one_loop() -> None:
    """What its protocols keep may be bound to the loop of its first call."""
    from utcp.utcp_client import UtcpClient

    loops: set[int] = set()

    async def opened(server: HttpServer) -> UtcpClient:
        client = await UtcpClient.create(config=source_of(server))
        call = client.call_tool

        async def noted(*args: Any, **kwargs: Any) -> Any:
            loops.add(id(asyncio.get_running_loop()))
            return await call(*args, **kwargs)

        client.call_tool = noted  # type: ignore[method-assign]
        return client

    with server_thread() as server:
        client = asyncio.run(opened(server))
        with Toolset.open(client) as toolset, ThreadPoolExecutor(4) as pool:
            assert not any(result.is_error for result in pool.map(toolset.call, ["m_tool"] * 8))
    assert len(loops) == 1


WORDS = {
    "408 and the end": b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    "another answer": b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"stale":1}',
    "nonsense": b"\x00\x01",
    "the end": b"",
}


@contextmanager
def talkative(words: bytes, *, ends: bool) -> Iterator[str]:
    """A server that answers each request, and then says something that nobody asked for; yields its base URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while connection.recv(65536):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n")
                connection.sendall(b'{"fresh":1}')
                time.sleep(0.02)
                connection.sendall(words)
                if ends:
                    return

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
def test_what_a_server_says_between_two_calls_is_no_answer(words: bytes, ends: bool, method: str) -> None:
    """Real ones send `408 Request Timeout` on idle connections; an answer too many belongs to nobody."""
    with talkative(words, ends=ends) as url:
        server = HttpServer(url=url)
        with Toolset.open(source_of(server, http_method=method)) as toolset:
            contents = []
            for _ in range(3):
                contents.append(toolset.call("m_tool").content)
                time.sleep(0.05)

            async def main() -> None:
                for _ in range(3):
                    contents.append((await toolset.acall("m_tool")).content)
                    await asyncio.sleep(0.05)

            asyncio.run(main())
    assert contents == ['{"fresh":1}'] * 6
