"""Pieces that are made on another event loop, handed over as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeAlias

AHEAD = 16
"""How many pieces may wait for the one who takes them; their maker waits before it makes more."""

OnLoop: TypeAlias = Callable[[Callable[[], Coroutine[Any, Any, None]]], Coroutine[Any, Any, None]]
"""Runs work on the other loop, and awaits its end: `Lease.arun`."""

_END = object()


async def relayed(make: Callable[[], AsyncGenerator[Any, None]], on_loop: OnLoop) -> AsyncGenerator[Any, None]:
    """Yield what a generator yields that runs on another loop, in one task there.

    Args:
        make: Makes the generator; called on the other loop. When the caller stops taking pieces, it is cancelled there,
            and its end is awaited.
        on_loop: Runs work on that loop.
    """
    here = asyncio.get_running_loop()
    waiting: asyncio.Queue[Any] = asyncio.Queue()
    room = asyncio.Semaphore(AHEAD)
    there: asyncio.AbstractEventLoop | None = None

    async def work() -> None:
        nonlocal there
        there = asyncio.get_running_loop()
        async with aclosing(make()) as pieces:
            async for piece in pieces:
                await room.acquire()
                here.call_soon_threadsafe(waiting.put_nowait, piece)

    working = asyncio.ensure_future(on_loop(work))
    # After all pieces, for both come to this loop in the order in which they were sent.
    working.add_done_callback(lambda _: waiting.put_nowait(_END))
    try:
        while (piece := await waiting.get()) is not _END:
            if there is not None:
                with suppress(RuntimeError):  # the other loop has ended, and the work with it
                    there.call_soon_threadsafe(room.release)
            yield piece
        await working
    finally:
        working.cancel()
        await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # raised above already, or of no interest any more
