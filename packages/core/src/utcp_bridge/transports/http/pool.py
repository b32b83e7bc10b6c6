"""One pool of kept-alive connections for each running event loop.

A connection belongs to the loop that opened it. A pool ends with its loop: `asyncio.run` and its like close every
asynchronous generator that is left (`loop.shutdown_asyncgens`), and each pool is held open by one. Loops that end
without that are noticed later, and the sockets that they left are then closed directly.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import threading
import time
from collections.abc import AsyncGenerator
from concurrent.futures import Future
from contextlib import suppress
from inspect import signature
from typing import Any, Final

import aiohttp

from utcp_bridge.errors import RunnerError
from utcp_bridge.runner import standing_loop
from utcp_bridge.transports.http.kept_connections import only_silent_ones

logger = logging.getLogger(__name__)

IDLE_SECONDS: Final = 30.0  # how long an unused connection is kept
PER_HOST: Final = 100  # connections to one host; more calls wait for one of them
MAX_HEADER_BYTES: Final = 256 * 1024  # of one header line of a reply, and of its first line; as browsers read
MAX_HEADERS: Final = 1_000  # header lines of a reply
_CLOSE_SECONDS: Final = 5.0  # how long `close` waits for a loop of another thread
_LOOK_SECONDS: Final = 0.02  # how often it looks whether that loop still runs

# No limits: the toolset cancels what takes too long.
_NO_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)
# aiohttp's own limits, of 8,190 bytes and 128 lines, are below what real servers send; older versions count no lines.
_HEADER_LIMITS: Final[dict[str, Any]] = {
    name: limit
    for name, limit in (
        ("max_line_size", MAX_HEADER_BYTES),
        ("max_field_size", MAX_HEADER_BYTES),
        ("max_headers", MAX_HEADERS),
    )
    if name in signature(aiohttp.ClientSession).parameters
}


class Pool:
    """The connections of one loop.

    Attributes:
        loop: The loop that they belong to.
        session: The aiohttp session that keeps them; without cookies of its own, so that no call sees another's.
    """

    __slots__ = ("_lifetime", "_pid", "loop", "session")

    def __init__(self, loop: asyncio.AbstractEventLoop, ssl_context: ssl.SSLContext | None) -> None:
        self.loop = loop
        connector = only_silent_ones(
            aiohttp.TCPConnector(
                limit=0,  # so that calls to one slow host never delay those to another
                limit_per_host=PER_HOST,
                keepalive_timeout=IDLE_SECONDS,
                ssl=True if ssl_context is None else ssl_context,
                # The system's resolver also knows `homeassistant.local` (mDNS), which c-ares does not.
                resolver=aiohttp.ThreadedResolver(),
            )
        )
        self.session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=_NO_TIMEOUT,
            trust_env=False,
            skip_auto_headers=("Content-Type",),  # a request without a body has no type
            **_HEADER_LIMITS,
        )
        self._lifetime: AsyncGenerator[None, None] | None = None
        self._pid = os.getpid()

    @property
    def is_alive(self) -> bool:
        """Whether the pool can be used by the process that asks."""
        return not self.session.closed and self._pid == os.getpid()

    @property
    def is_of_another_process(self) -> bool:
        """Whether this process is a fork of the one that opened the connections."""
        return self._pid != os.getpid()

    async def start(self, lifetime: AsyncGenerator[None, None]) -> None:
        """Tie the pool to the generator that the loop closes when it ends."""
        self._lifetime = lifetime
        await anext(lifetime)

    async def close(self) -> None:
        """Close the connections; to be awaited on the pool's own loop."""
        await self.session.close()
        if self._lifetime is not None:
            with suppress(RuntimeError):  # the loop is ending, and closes the generator itself at this moment
                await self._lifetime.aclose()

    def abandon(self) -> None:
        """Close the sockets without the loop, which does not run here; leaves nothing for a finaliser to warn about."""
        connector = self.session.connector
        if connector is None:
            return
        self.session.detach()
        # A fork shares the loop's selector with its parent, whose registrations must stay.
        loop = None if self.loop.is_closed() or self.is_of_another_process else self.loop
        for transport in _transports_taken_from(connector):
            _close_socket(transport, loop)


class Pools:
    """The pools of one client, safe to use from any thread.

    Args:
        ssl_context: Which certificates are trusted; None (default) for the system's.
    """

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        self._ssl_context = ssl_context
        self._lock = threading.RLock()  # reentrant, for `discard` in a finalizer
        self._pools: dict[asyncio.AbstractEventLoop, Pool] = {}
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._pools)

    async def get(self) -> Pool:
        """The running loop's pool, opened if need be.

        Raises:
            RunnerError: The pools are closed.
        """
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is not None and pool.is_alive:
            return pool
        pool = Pool(loop, self._ssl_context)
        with self._lock:
            if not self._is_closed:
                self._pools[loop] = pool
            ended = self._take(lambda known: known.loop.is_closed() or known.is_of_another_process)
        for old in ended:
            old.abandon()
        await pool.start(self._lifetime(pool))
        if self._pools.get(loop) is not pool:
            await pool.close()
            raise RunnerError("The HTTP connections are closed; open a new toolset.")
        return pool

    async def close(self) -> None:
        """Close all pools, whichever loops they belong to; a second time does nothing."""
        with self._lock:
            self._is_closed = True
            pools = self._take(lambda _: True)
        for pool in pools:
            if pool.is_of_another_process:
                pool.abandon()
            elif pool.loop is asyncio.get_running_loop():
                await pool.close()
            elif pool.loop is standing_loop():  # its thread waits for this very work
                pool.loop.call_soon_threadsafe(_close_soon, pool)
            elif pool.loop.is_running():
                await _close_elsewhere(pool)
            else:
                pool.abandon()

    def discard(self) -> None:
        """Close all pools without waiting for it: for finalizers, from any thread."""
        with self._lock:
            self._is_closed = True
            pools = self._take(lambda _: True)
        for pool in pools:
            if pool.loop.is_running() and not pool.is_of_another_process:
                with suppress(RuntimeError):  # the loop was closed just now, and the pool with it
                    pool.loop.call_soon_threadsafe(_close_soon, pool)
            else:
                pool.abandon()

    def _take(self, wanted: Any) -> list[Pool]:
        taken = [pool for pool in self._pools.values() if wanted(pool)]
        for pool in taken:
            del self._pools[pool.loop]
        return taken

    async def _lifetime(self, pool: Pool) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            with self._lock:
                if self._pools.get(pool.loop) is pool:
                    del self._pools[pool.loop]
            await pool.session.close()


_closing: set[asyncio.Task[None]] = set()


def _close_soon(pool: Pool) -> asyncio.Task[None]:
    task = pool.loop.create_task(pool.close())
    _closing.add(task)  # a loop keeps only weak references to its tasks
    task.add_done_callback(_closing.discard)
    return task


async def _close_elsewhere(pool: Pool) -> None:
    closed: Future[None] = Future()

    def begin() -> None:
        _close_soon(pool).add_done_callback(end)

    def end(task: asyncio.Task[None]) -> None:
        if task.cancelled():  # the loop ends, and with it every task of it
            pool.abandon()
        elif error := task.exception():
            closed.set_exception(error)
            return
        closed.set_result(None)

    try:
        pool.loop.call_soon_threadsafe(begin)
    except RuntimeError:  # the loop was closed just now
        pool.abandon()
        return
    closing = asyncio.wrap_future(closed)
    deadline = time.monotonic() + _CLOSE_SECONDS
    while not (await asyncio.wait([closing], timeout=_LOOK_SECONDS))[0]:
        if not pool.loop.is_running():  # it was the end of a call, and nobody runs it now
            pool.abandon()
            return
        if time.monotonic() > deadline:
            logger.warning("A thread's event loop did not close its HTTP connections in %g seconds.", _CLOSE_SECONDS)
            return
    closing.result()


def _transports_taken_from(connector: aiohttp.BaseConnector) -> list[Any]:
    # aiohttp 3.x has no public way to a connector's connections, and its `close` needs the loop.
    idle: Any = getattr(connector, "_conns", {})
    busy: Any = getattr(connector, "_acquired", set())
    protocols = [protocol for kept in idle.values() for protocol, _ in kept] + list(busy)
    idle.clear()
    busy.clear()
    return [transport for protocol in protocols if (transport := getattr(protocol, "transport", None)) is not None]


def _close_socket(transport: Any, loop: Any | None) -> None:
    # `close` and `abort` of a transport take effect when its loop runs, and its finaliser warns until then. asyncio
    # keeps the socket in `_sock`, under TLS in the transport below (CPython 3.11).
    tls = getattr(transport, "_ssl_protocol", None)
    below = transport if tls is None else getattr(tls, "_transport", None)
    sock = getattr(below, "_sock", None)
    if sock is None:
        if loop is not None:
            transport.abort()  # uvloop closes the socket at once; a closed uvloop has done so
        return
    if tls is not None:
        setattr(transport, "_closed", True)  # noqa: B010 - the attribute is asyncio's
    setattr(below, "_sock", None)  # noqa: B010 - likewise
    setattr(below, "_closing", True)  # noqa: B010 - else asyncio refuses the next connection with the same number
    if loop is not None:
        for forget in (getattr(loop, "_remove_reader", None), getattr(loop, "_remove_writer", None)):
            if forget is not None:
                forget(sock.fileno())
    sock.close()
