"""Servers in a thread of their own, for tests that are no coroutines, and replies that come in pieces."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from aiohttp import web

from tests.support.http_server import Answer, HttpServer, http_server

Part = bytes | Callable[[], Awaitable[object]]
"""What is sent next, or what is waited for before the next is sent."""


@contextmanager
def threaded_server(answer: Answer | None = None) -> Iterator[HttpServer]:
    """The same as `http_server`, on a loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="echo-server", daemon=True)
    thread.start()
    serving = http_server(answer, notices=True)
    try:
        yield asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def by_path(**answers: Answer) -> Answer:
    """An answer that depends on the first segment of the path."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return await answers[request.path.split("/")[1]](request)

    return answer


def streaming(
    *parts: Part, content_type: str = "text/event-stream", gone: asyncio.Event | None = None, cut: bool = False
) -> Answer:
    """An answer that is sent in parts.

    Args:
        parts: What is sent, each part by itself.
        content_type: Its `Content-Type`.
        gone: Set when the client closes the connection before all parts are sent.
        cut: Whether the connection is broken after the last part.
    """

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": content_type} if content_type else {})
        response.enable_chunked_encoding()
        try:
            await response.prepare(request)
            for part in parts:
                if isinstance(part, bytes):
                    await response.write(part)
                    await asyncio.sleep(0.002)  # so that it travels alone
                else:
                    await part()
        except (asyncio.CancelledError, ConnectionError):
            if gone is not None:
                gone.set()
            raise
        if cut and request.transport is not None:
            request.transport.abort()
        return response

    return answer


def events(*data: str, **options: object) -> Answer:
    """An event stream of these data, an event each; see `streaming`."""
    return streaming(*(event(text) for text in data), **options)  # type: ignore[arg-type]  # as there


def event(data: str, *, kind: str = "", event_id: str | None = None, retry: int | None = None) -> bytes:
    """One server-sent event."""
    lines = [f"event: {kind}"] if kind else []
    lines += [] if event_id is None else [f"id: {event_id}"]
    lines += [] if retry is None else [f"retry: {retry}"]
    lines += [f"data: {line}" for line in data.split("\n")]
    return ("\n".join(lines) + "\n\n").encode()


async def taken(pieces: AsyncIterator[object]) -> Sequence[object]:
    """All pieces of a stream."""
    return [piece async for piece in pieces]
