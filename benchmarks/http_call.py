"""What a call through `HttpProtocol` costs, against a bare kept-alive aiohttp request to the same server.

Run it with `uv run python benchmarks/http_call.py`. The server runs in a process of its own; rounds of both are
interleaved, so that whatever slows the machine slows both. The ratio is what to look at; microseconds differ from
machine to machine.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection

import aiohttp
import click
from aiohttp import web
from utcp_http.http_call_template import HttpCallTemplate

from utcp_bridge.transports.http import HttpProtocol

ROUNDS = 30
CALLS = 100
ARGUMENTS = {"city": "Paris", "days": 3, "metric": True}

Call = Callable[[], Awaitable[object]]


def serve(ready: Connection) -> None:
    """Answer every GET and POST with a little JSON, until the process is ended."""

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"temperature": 21.5, "unit": "C", "days": [1, 2, 3]})

    async def main() -> None:
        app = web.Application()
        app.router.add_route("*", "/weather", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ready.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(main())


async def seconds_per_call(call: Call, calls: int, at_once: int) -> float:
    """The mean time of a call, with `at_once` of them under way at any time."""

    async def work() -> None:
        for _ in range(calls // at_once):
            await call()

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return (time.perf_counter() - start) / (calls // at_once * at_once)


async def compare(name: str, raw: Call, ours: Call, at_once: int) -> None:
    """Print the median of both and of their ratio, over interleaved rounds."""
    calls = CALLS if at_once == 1 else max(CALLS, at_once * 8)
    for call in (raw, ours):
        await seconds_per_call(call, calls, at_once)
    pairs = []
    for turn in range(ROUNDS):
        pair = {}
        for call in (raw, ours) if turn % 2 else (ours, raw):
            pair[call] = await seconds_per_call(call, calls, at_once)
        pairs.append((pair[raw], pair[ours]))
    raw_us, our_us = (statistics.median(side) * 1e6 for side in zip(*pairs, strict=True))
    ratio = statistics.median(ours / raw for raw, ours in pairs)
    click.echo(f"{name:<5}{at_once:>8}{raw_us:>12.0f}{our_us:>12.0f}{ratio:>9.3f}")


async def measure(port: int) -> None:
    """Compare GET and POST, one and 64 at once."""
    url = f"http://127.0.0.1:{port}/weather"
    protocol = HttpProtocol()
    get = HttpCallTemplate(name="m", url=url, http_method="GET")
    post = HttpCallTemplate(name="m", url=url, http_method="POST", body_field="body")
    query = {"city": "Paris", "days": "3", "metric": "true"}
    click.echo(f"{'call':<5}{'at once':>8}{'raw us':>12}{'ours us':>12}{'ratio':>9}")
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def raw_get() -> object:
            async with session.get(url, params=query) as response:
                return await response.json()

        async def raw_post() -> object:
            async with session.post(url, json=ARGUMENTS) as response:
                return await response.json()

        for at_once in (1, 64):
            await compare("GET", raw_get, lambda: protocol.call_tool(None, "m.get", ARGUMENTS, get), at_once)
            await compare(
                "POST", raw_post, lambda: protocol.call_tool(None, "m.post", {"body": ARGUMENTS}, post), at_once
            )
    await protocol.close()


def main() -> None:
    """Start the server, measure, stop it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    try:
        asyncio.run(measure(ours.recv()))
    finally:
        server.terminate()
        server.join()


if __name__ == "__main__":
    main()
