"""Connections are kept, belong to one loop, and end with it, with the protocol, and with a cancelled call."""

from __future__ import annotations

import asyncio
import datetime
import gc
import importlib.util
import ipaddress
import logging
import os
import socket
import ssl
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web
from utcp_http.http_call_template import HttpCallTemplate

from tests.support.http_server import HttpServer, http_server, replying, server_thread
from tests.support.loops import AskedLoop
from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset
from utcp_bridge.errors import RunnerError, ToolTransportError
from utcp_bridge.transports.http.protocol import HttpOptions, HttpProtocol

Loops = Callable[[], asyncio.AbstractEventLoop]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("cryptography") is None:
        pytest.skip("needs cryptography to make a certificate")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "utcp-bridge tests")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture(params=["plain", "tls"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[HttpServer, HttpProtocol]]:
    tls, trusted = None, None
    if request.param == "tls":
        pem = request.getfixturevalue("certificate")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(pem)
        trusted = ssl.create_default_context(cafile=pem)
    with server_thread(tls=tls) as server:
        protocol = HttpProtocol(HttpOptions(ssl_context=trusted))
        yield server, protocol
        asyncio.run(protocol.close())


def uvloops() -> Loops | None:
    if importlib.util.find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop


@pytest.fixture(params=["asyncio", "uvloop"])
def loops(request: pytest.FixtureRequest) -> Loops:
    factory = asyncio.new_event_loop if request.param == "asyncio" else uvloops()
    if factory is None:
        pytest.skip("needs uvloop")
    return factory


def open_sockets(expected: int | None = None) -> int:
    """How many sockets the process holds; waits a while for `expected`, as the server's side closes a little later."""
    if not sys.platform.startswith("linux"):
        pytest.skip("counts sockets in /proc")
    gc.collect()
    deadline = time.monotonic() + (0 if expected is None else 5)
    while (count := _sockets()) != expected and time.monotonic() < deadline:
        time.sleep(0.01)
    return count


def _sockets() -> int:
    count = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            count += str(entry.readlink()).startswith("socket:")
        except FileNotFoundError:
            continue  # the directory's own descriptor
    return count


async def several(protocol: HttpProtocol, server: HttpServer, count: int = 3) -> None:
    template = HttpCallTemplate(name="m", url=f"{server.url}/x")
    replies = await asyncio.gather(*(protocol.call_tool(None, "m.x", {}, template) for _ in range(count)))
    assert replies == [{"ok": True}] * count


async def one_by_one(protocol: HttpProtocol, server: HttpServer, count: int) -> None:
    for _ in range(count):
        await several(protocol, server, 1)


def test_calls_on_one_loop_share_a_connection(served: tuple[HttpServer, HttpProtocol]) -> None:
    server, protocol = served
    asyncio.run(one_by_one(protocol, server, 20))
    assert server.connections == 1


def test_a_pool_ends_with_its_loop_and_leaves_no_socket(served: tuple[HttpServer, HttpProtocol], loops: Loops) -> None:
    server, protocol = served
    before = open_sockets()
    for _ in range(3):
        with asyncio.Runner(loop_factory=loops) as runner:
            runner.run(several(protocol, server))
    assert open_sockets(before) == before
    assert server.connections == 9


def test_sockets_of_a_loop_that_was_just_closed_are_closed_with_the_next_call(
    served: tuple[HttpServer, HttpProtocol],
) -> None:
    server, protocol = served
    before = open_sockets()
    for _ in range(3):
        loop = asyncio.new_event_loop()
        loop.run_until_complete(several(protocol, server))
        loop.close()  # without `shutdown_asyncgens`, as much older code does
    asyncio.run(several(protocol, server))
    assert open_sockets(before) == before


def test_close_ends_the_pool_of_a_loop_that_has_stopped(served: tuple[HttpServer, HttpProtocol]) -> None:
    server, protocol = served
    before = open_sockets()
    loop = asyncio.new_event_loop()
    of_the_loop = open_sockets() - before
    loop.run_until_complete(several(protocol, server))
    asyncio.run(protocol.close())
    assert open_sockets(before + of_the_loop) == before + of_the_loop
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def test_close_ends_the_pools_of_running_loops_too(served: tuple[HttpServer, HttpProtocol]) -> None:
    server, protocol = served
    before = open_sockets()
    loop = asyncio.new_event_loop()
    of_the_loop = open_sockets() - before
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(several(protocol, server), loop).result()

    async def close_from_here() -> None:
        await several(protocol, server)
        await protocol.close()
        await protocol.close()

    asyncio.run(close_from_here())
    assert open_sockets(before + of_the_loop) == before + of_the_loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_a_fork_leaves_the_connections_to_its_parent(served: tuple[HttpServer, HttpProtocol]) -> None:
    server, protocol = served
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")

    async def main() -> None:
        await several(protocol, server, 1)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                # The running loop is not the child's: it makes one of its own, as every forked worker does.
                asyncio._set_running_loop(None)  # noqa: SLF001 - what asyncio's own fork handler does from 3.12 on
                asyncio.run(several(protocol, server, 1))
                asyncio.run(protocol.close())
                code = 0
            finally:
                os._exit(code)
        _, status = await asyncio.to_thread(os.waitpid, child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        await several(protocol, server, 1)

    asyncio.run(main())
    assert server.connections == 2


@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("another", [False, True], ids=["alone", "beside another"])
def test_sync_toolsets_opened_and_closed_again_and_again_leave_nothing(
    threads: int, another: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Their connections stand on loops that nobody runs, which those who come later use with the same descriptors."""
    with server_thread() as server:
        before = open_sockets()
        source = config(text_manual("m", [http_tool("op", f"{server.url}/x")], "http"))
        kept = Toolset.open(source) if another else None

        def use(_: int) -> list[str]:
            with Toolset.open(source) as toolset:
                in_line = [toolset.call("m.op", {}).content for _ in range(3)]
                in_a_loop = asyncio.run(toolset.acall("m.op", {})).content
                return [*in_line, in_a_loop, toolset.call("m.op", {}).content]

        with ThreadPoolExecutor(threads) as pool:
            contents = [content for answers in pool.map(use, range(40)) for content in answers]
        if kept is not None:
            assert kept.call("m.op", {}).content == '{"ok":true}'
            kept.close()
        assert set(contents) == {'{"ok":true}'}
        assert open_sockets(before) == before
    gc.collect()  # what was left behind would warn now
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("another", [False, True], ids=["alone", "beside another"])
def test_a_toolset_that_is_closed_while_threads_call_leaves_nothing(
    another: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with server_thread() as server:
        before = open_sockets()
        source = config(text_manual("m", [http_tool("op", f"{server.url}/x")], "http"))
        kept = Toolset.open(source) if another else None
        for _ in range(5):
            toolset = Toolset.open(source)
            called = threading.Barrier(7)

            def work(toolset: Toolset = toolset, called: threading.Barrier = called) -> None:
                toolset.call("m.op", {})
                called.wait(10)
                with suppress(RunnerError):
                    while True:
                        toolset.call("m.op", {})

            workers = [threading.Thread(target=work) for _ in range(6)]
            for worker in workers:
                worker.start()
            called.wait(10)
            toolset.close()
            for worker in workers:
                worker.join(10)
        if kept is not None:
            kept.close()
        assert open_sockets(before) == before
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_a_loop_may_end_while_another_thread_closes_the_toolset(steps: int, caplog: pytest.LogCaptureFixture) -> None:
    with server_thread() as server:
        before = open_sockets()
        toolset = Toolset.open(config(text_manual("m", [http_tool("op", f"{server.url}/x")], "http")))
        loop = AskedLoop()
        with ThreadPoolExecutor(1) as other:

            async def main() -> Future[None]:
                await toolset.acall("m.op")
                loop.asked.clear()
                closing = other.submit(toolset.close)
                loop.asked.wait(10)  # the loop stands still until it has been asked to close what is its own
                for _ in range(steps):
                    await asyncio.sleep(0)
                return closing

            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                closing = runner.run(main())
            closing.result(10)
        assert open_sockets(before) == before
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_after_close_a_call_says_so() -> None:
    async with http_server() as server:
        protocol = HttpProtocol()
        await protocol.close()
        with pytest.raises(RunnerError, match="closed"):
            await protocol.call_tool(None, "m.x", {}, HttpCallTemplate(name="m", url=server.url))


@pytest.fixture
async def protocol() -> AsyncIterator[HttpProtocol]:
    opened = HttpProtocol()
    yield opened
    await opened.close()


async def test_a_cancelled_call_closes_its_connection_and_no_other(protocol: HttpProtocol) -> None:
    gone = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path != "/slow":
            return web.json_response({})
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            gone.set()
            raise
        return web.json_response({})

    async with http_server() as quick:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        slow = HttpCallTemplate(name="m", url=f"http://127.0.0.1:{runner.addresses[0][1]}/slow")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await protocol.call_tool(None, "m.slow", {}, slow)
        await asyncio.wait_for(gone.wait(), 5)
        await one_by_one_ok(protocol, quick)
        await runner.cleanup()


async def one_by_one_ok(protocol: HttpProtocol, server: HttpServer) -> None:
    template = HttpCallTemplate(name="m", url=server.url)
    assert await protocol.call_tool(None, "m.x", {}, template) == {}


async def test_slow_calls_do_not_delay_others(protocol: HttpProtocol) -> None:
    release = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        await release.wait()
        return web.json_response({})

    async with http_server(answer) as slow, http_server() as quick:
        template = HttpCallTemplate(name="m", url=slow.url)
        waiting = [asyncio.ensure_future(protocol.call_tool(None, "m.x", {}, template)) for _ in range(150)]
        await asyncio.sleep(0)
        await asyncio.wait_for(one_by_one_ok(protocol, quick), 5)
        release.set()
        assert await asyncio.gather(*waiting) == [{}] * 150


def test_a_post_after_the_server_closed_an_idle_connection_succeeds() -> None:
    """While its loop stands still, a client does not learn that the server has closed the connection."""
    with server_thread(keep_alive=0.1) as server:
        protocol = HttpProtocol()
        template = HttpCallTemplate(name="m", url=server.url, http_method="POST")
        loop = asyncio.new_event_loop()
        for _ in range(2):
            assert loop.run_until_complete(protocol.call_tool(None, "m.x", {}, template)) == {"ok": True}
            time.sleep(0.7)
        assert server.connections == 2
        loop.run_until_complete(protocol.close())
        loop.close()


@pytest.mark.parametrize(
    ("host", "reason"),
    [("127.0.0.1", "refused"), ("no-such-host.invalid", "not found")],
)
async def test_an_unreachable_server_is_named_without_the_url(protocol: HttpProtocol, host: str, reason: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    scheme = "http" if host == "127.0.0.1" else "https"
    template = HttpCallTemplate(name="m", url=f"{scheme}://{host}:{port}/path?api_key=sk-secret")
    with pytest.raises(ToolTransportError, match=reason) as caught:
        await protocol.call_tool(None, "m.x", {"q": "sk-argument"}, template)
    assert host in str(caught.value)
    assert "sk-" not in str(caught.value)
    assert "/path" not in str(caught.value)


def test_a_certificate_that_is_not_trusted_is_said_to_be_so(certificate: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with server_thread(tls=tls) as server:
        protocol = HttpProtocol()

        async def main() -> None:
            with pytest.raises(ToolTransportError, match=r"certificate of 127.0.0.1:.* was not accepted: self"):
                await protocol.call_tool(None, "m.x", {}, HttpCallTemplate(name="m", url=server.url))
            await protocol.close()

        asyncio.run(main())


async def test_https_to_a_port_without_tls_is_said_to_be_so(protocol: HttpProtocol) -> None:
    async with http_server() as server:
        template = HttpCallTemplate(name="m", url=server.url.replace("http:", "https:"))
        with pytest.raises(ToolTransportError, match="speaks HTTPS"):
            await protocol.call_tool(None, "m.x", {}, template)


async def test_something_that_is_not_http_is_said_to_be_so(protocol: HttpProtocol) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"220 mail ready\r\n\r\n")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener:
        template = HttpCallTemplate(name="m", url=f"http://127.0.0.1:{port}/?api_key=sk-secret")
        with pytest.raises(ToolTransportError, match="not HTTP") as caught:
            await protocol.call_tool(None, "m.x", {}, template)
    assert "sk-secret" not in "".join(traceback.format_exception(caught.value))


@asynccontextmanager
async def sending(head: bytes) -> AsyncIterator[str]:
    """The URL of a server that answers with these header lines and `{"a":1}`; aiohttp's own may not send such."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + head)
            writer.write(b'Content-Length: 7\r\nConnection: close\r\n\r\n{"a":1}')
            await writer.drain()
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/?api_key=sk-secret"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Security-Policy: " + b"v" * 9_000 + b"\r\n",
        b"Set-Cookie: session=" + b"v" * 200_000 + b"\r\n",
        b"Link: <https://h/>; rel=a\r\n" * 800,
    ],
)
async def test_a_reply_with_big_headers_is_read(protocol: HttpProtocol, head: bytes) -> None:
    async with sending(head) as url:
        assert await protocol.call_tool(None, "m.x", {}, HttpCallTemplate(name="m", url=url)) == {"a": 1}


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"X-Big: " + b"v" * 300_000 + b"\r\n", "a header of more than 262,144 bytes"),
        (b"X-" + b"n" * 300_000 + b": v\r\n", "a header of more than 262,144 bytes"),
        (b"X-Many: v\r\n" * 1_100, "more header lines than are read"),
    ],
)
async def test_headers_over_the_limit_are_said_to_be_so(protocol: HttpProtocol, head: bytes, reason: str) -> None:
    async with sending(head) as url:
        with pytest.raises(ToolTransportError, match=reason) as caught:
            await protocol.call_tool(None, "m.x", {}, HttpCallTemplate(name="m", url=url))
    assert "sk-secret" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("trust_env", [True, False])
async def test_proxies_of_the_environment_are_used_only_when_asked(
    trust_env: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_server(replying({"via": "proxy"})) as proxy, http_server(replying({"via": "direct"})) as server:
        monkeypatch.setenv("http_proxy", f"http://user:pa@127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        protocol = HttpProtocol(HttpOptions(trust_env=trust_env, allow_http_hosts=("printer.invalid",)))
        loopback = HttpCallTemplate(name="m", url=server.url)
        assert await protocol.call_tool(None, "m.x", {}, loopback) == {"via": "direct"}
        lan = HttpCallTemplate(name="m", url="http://printer.invalid/x", headers={"Authorization": "Bearer mine"})
        if trust_env:
            assert await protocol.call_tool(None, "m.x", {}, lan) == {"via": "proxy"}
            assert proxy.last.target == "http://printer.invalid/x"
            assert proxy.last.headers["Proxy-Authorization"] == "Basic dXNlcjpwYQ=="
            assert proxy.last.headers["Authorization"] == "Bearer mine"
        else:
            with pytest.raises(ToolTransportError, match="not found"):
                await protocol.call_tool(None, "m.x", {}, lan)
            assert proxy.received == []
        await protocol.close()
