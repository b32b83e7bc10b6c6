"""The floor of a call: a bare request on a connection that is kept, and a tool of the framework's own around it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp

from benchmarks.servers import ARGUMENTS, QUERY

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Requests:
    """The same bare request in three ways. Each takes what the tool's argument schema says and returns the JSON.

    Attributes:
        loop: The loop that `awaited` belongs to.
        awaited: On a loop, by whoever awaits it there.
        awaited_post: The same, with the arguments as a JSON body.
        blocking: From plain code, through a loop that runs in a thread of its own. That is what keeps a connection
            for callers without a loop, whichever thread they are in.
        hopless: From plain code, on a loop of the calling thread that stands still between two calls. It serves one
            thread, and does not look whether a connection is still good before it is used.
    """

    loop: asyncio.AbstractEventLoop
    awaited: Callable[..., Coroutine[Any, Any, dict[str, Any]]]
    awaited_post: Callable[[], Coroutine[Any, Any, dict[str, Any]]]
    blocking: Callable[..., dict[str, Any]]
    hopless: Callable[..., dict[str, Any]]


@contextmanager
def requests_to(base_url: str) -> Iterator[Requests]:
    """Sessions that speak to a tool server."""
    url = f"{base_url}/weather"
    loop, background = asyncio.new_event_loop(), asyncio.new_event_loop()
    thread = threading.Thread(target=background.run_forever, daemon=True)
    thread.start()

    def elsewhere(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, background).result()

    session = loop.run_until_complete(_session())
    background_session = elsewhere(_session())

    async def request(session: aiohttp.ClientSession) -> dict[str, Any]:
        async with session.get(url, params=QUERY) as response:
            reply: dict[str, Any] = await response.json()
            return reply

    async def awaited(city: str, days: int, metric: bool) -> dict[str, Any]:
        return await request(session)

    async def awaited_post() -> dict[str, Any]:
        async with session.post(url, json=ARGUMENTS) as response:
            reply: dict[str, Any] = await response.json()
            return reply

    def blocking(city: str, days: int, metric: bool) -> dict[str, Any]:
        return elsewhere(request(background_session))

    def hopless(city: str, days: int, metric: bool) -> dict[str, Any]:
        return loop.run_until_complete(request(session))

    try:
        yield Requests(loop, awaited, awaited_post, blocking, hopless)
    finally:
        loop.run_until_complete(session.close())
        elsewhere(background_session.close())
        background.call_soon_threadsafe(background.stop)
        thread.join()
        background.close()
        loop.close()


async def _session() -> aiohttp.ClientSession:
    # Without limit and cookies it is fastest.
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar())
