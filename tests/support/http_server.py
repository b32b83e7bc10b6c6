"""A real HTTP server on loopback that remembers exactly what reached it."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web
from multidict import CIMultiDict


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came over the wire: nothing is decoded."""

    method: str
    target: str
    headers: CIMultiDict[str]
    body: bytes
    connection: object

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(self.target.partition("?")[2], keep_blank_values=True)


Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class HttpServer:
    """What `http_server` yields."""

    url: str = ""
    port: int = 0
    received: list[Received] = field(default_factory=list)

    @property
    def last(self) -> Received:
        return self.received[-1]

    @property
    def connections(self) -> int:
        return len({request.connection for request in self.received})


def replying(body: bytes | str | dict[str, Any] | list[Any], *, status: int = 200, **headers: str) -> Answer:
    """An answer with this body; a dict or list is sent as JSON. Header names are written with `_` for `-`."""

    async def answer(_request: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, (dict, list)):
            return web.json_response(body, status=status, headers=named)
        content = body.encode() if isinstance(body, str) else body
        return web.Response(body=content, status=status, headers=named)

    return answer


@asynccontextmanager
async def http_server(
    answer: Answer | None = None, *, tls: ssl.SSLContext | None = None, keep_alive: float = 60.0, notices: bool = False
) -> AsyncIterator[HttpServer]:
    """Serve every path with `answer`, which is `{}` by default; idle connections are kept `keep_alive` seconds.

    With `notices`, an answer is cancelled when its client closes the connection.
    """
    server = HttpServer()
    reply = answer or replying({})

    async def handle(request: web.Request) -> web.StreamResponse:
        transport = request.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        body = await request.read()
        server.received.append(Received(request.method, request.raw_path, CIMultiDict(request.headers), body, peer))
        return await reply(request)

    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(
        app, access_log=None, shutdown_timeout=0.1, keepalive_timeout=keep_alive, handler_cancellation=notices
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        server.port = runner.addresses[0][1]
        server.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.port}"
        yield server
    finally:
        await runner.cleanup()


@contextmanager
def server_thread(answer: Answer | None = None, **options: Any) -> Iterator[HttpServer]:
    """The same on a loop of its own, so that the test's loops can come and go; it answers `{"ok": true}` by default."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    running = http_server(answer or replying({"ok": True}), **options)
    server = asyncio.run_coroutine_threadsafe(running.__aenter__(), loop).result()
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(running.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
