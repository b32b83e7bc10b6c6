"""Event loops that callers without a loop run themselves, for the time of one call.

A call that hops to the background thread waits for two switches between threads, which cost more than a request on a
connection that is kept (docs/decisions/0007-sync-calls.md). Here the calling thread takes a loop that stands still,
runs it until its call is settled, and puts it back with its connections for whoever calls next, in whichever thread.
Only work that is bound to no loop of its own may be run so: the next call may find another loop.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar, TypeVarTuple

from utcp_bridge.runner.hosted_loop import GRACE, NAME, Call, HostedLoop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["IDLE_SECONDS", "MOST", "CallerLoop", "CallerLoops"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

IDLE_SECONDS: Final = 30.0  # how long a loop, with the connections on it, is kept for the next call
# Calls at the same time; more hop to the background thread. Loops that run in several threads contend for the
# interpreter: 8 threads took 240 µs a call over loopback with one, 283 µs with 16, and 208 µs with none.
MOST: Final = 1

# A proactor loop must be run by one thread: Windows cancels what a thread has begun when that thread ends.
_SUPPORTED: Final = sys.platform != "win32"

_resting: list[CallerLoop] = []


class CallerLoop(HostedLoop):
    """One such loop. It is run by one thread at a time."""

    def __init__(self) -> None:
        self.loop: _CallerEventLoop
        super().__init__(_CallerEventLoop())
        self.idle_since = 0.0
        self.is_sound = True

    def run(self, call: Call[T]) -> T:
        """Run the loop until a call that was prepared on it is settled, and give its outcome.

        An exception in the thread, such as `KeyboardInterrupt`, cancels the call and waits for its end, half a second
        at most; the loop is not sound any more then.
        """
        try:
            while not call.is_settled:
                self.loop.run_forever()
            if not call.succeeded:
                self._close_what_broke()
        except BaseException:
            self.is_sound = False
            if call.cancel(asyncio.CancelledError()) and not call.is_settled:
                timer = self.loop.call_later(GRACE, self.loop.stop)
                self.loop.run_forever()
                timer.cancel()
            raise
        return call.result()

    def cancel(self, call: Call[Any], reason: BaseException) -> None:
        """Cancel a call from any thread; after half a second its caller goes on without its end."""
        call.cancel(reason)
        with suppress(RuntimeError):  # the loop is closed, and the call settled with it
            self.loop.call_soon_threadsafe(self.loop.call_later, GRACE, self._give_up, call, reason)

    def close(self) -> None:
        """End everything on the loop, and the loop; the thread must not be running another one."""
        if self.is_exiting:
            self._rest()
            return
        try:
            self.drop(self.end_tasks())
        finally:
            self.loop.close()

    def _rest(self) -> None:
        # Transports and tasks that nobody closed would complain when they are destroyed after their loop is closed, and
        # nobody is left to act on it: so the loop stays as it is until the process ends.
        self.loop.set_exception_handler(lambda *_: None)
        self.end_tasks()
        self.loop.rests = True
        _resting.append(self)

    def _give_up(self, call: Call[Any], reason: BaseException) -> None:
        if not call.is_settled:
            self.is_sound = False
            call.settle(error=reason)

    def _close_what_broke(self) -> None:
        # A transport that was closed in the last turn of the loop lets go of its socket in the next ones.
        for _ in range(2):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()


class CallerLoops:
    """The loops of one process that stand still or are being run, at most `MOST`.

    Args:
        lock: Held by whoever calls `take`, and taken by everything else here.
    """

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._idle: list[CallerLoop] = []
        self._busy: set[CallerLoop] = set()
        self._reaper: _Reaper | None = None
        self._settled = threading.Condition(lock)
        self._is_ending = False

    def take(self) -> CallerLoop | None:
        """The loop that was used last, or a new one; None if there is none to be had."""
        if self._idle:
            host = self._idle.pop()
        elif _SUPPORTED and len(self._busy) < MOST:
            try:
                host = CallerLoop()
            except OSError:  # no more files may be opened
                return None
        else:
            return None
        self._busy.add(host)
        return host

    def put_back(self, host: CallerLoop, is_wanted: Callable[[], bool]) -> None:
        """Give a loop back by the thread that ran it; if it is not sound, or not wanted any more, it ends."""
        with self._lock:
            self._busy.discard(host)
            keep = host.is_sound and not host.calls and is_wanted()
            if keep:
                host.idle_since = time.monotonic()
                self._idle.append(host)
                self._start_reaper()
            if self._is_ending:
                self._settled.notify_all()
        if not keep:
            host.close()

    def cancel_calls(self, owner: object, but: object) -> None:
        """Cancel the calls of an owner that are being run, for it is released.

        Args:
            owner: The owner.
            but: A task that goes on, or None.
        """
        with self._lock:
            for host in self._busy:
                for call in host.calls.copy():
                    if call.owner is owner and (but is None or call.task is not but):
                        host.cancel(call, host.stopped())

    def close_idle(self) -> None:
        """End all loops that stand still."""
        with self._lock:
            closing, self._idle = self._idle, []
            reaper, self._reaper = self._reaper, None
        if reaper is not None:
            reaper.stop()
        _close_all(closing)

    def end(self) -> None:
        """At exit: cancel all calls and wait for their end, half a second at most; then end what stands still."""
        with self._lock:
            self._is_ending = True
            for host in self._busy:
                host.is_exiting = True
                for call in host.calls.copy():
                    host.cancel(call, host.stopped())
            self._settled.wait_for(lambda: not self._busy, GRACE * 1.2)
            for host in self._idle:
                host.is_exiting = True
        with suppress(Exception):
            self.close_idle()

    def _start_reaper(self) -> None:
        if self._reaper is None:
            self._reaper = reaper = _Reaper(self._reap)  # at once, for a signal handler may come here too
            try:
                reaper.start()
            except RuntimeError:  # no more threads: then loops stand until the last toolset is closed
                self._reaper = None

    def _reap(self) -> bool:
        """End the loops that nobody has used for a while; say whether others still stand."""
        latest = time.monotonic() - IDLE_SECONDS
        with self._lock:
            closing = [host for host in self._idle if host.idle_since <= latest]
            self._idle = [host for host in self._idle if host.idle_since > latest]
            remain = bool(self._idle)
            if not remain and self._reaper is threading.current_thread():
                self._reaper = None  # with the lock held, so that the next loop to stand still gets a new one
        _close_all(closing)
        return remain


class _Reaper(threading.Thread):
    """Asks again and again for unused loops to be ended, until there are none."""

    def __init__(self, reap: Callable[[], bool]) -> None:
        super().__init__(name=f"{NAME}-reaper", daemon=True)
        self._reap = reap
        self._stopping = threading.Event()

    def run(self) -> None:
        while not self._stopping.wait(IDLE_SECONDS / 2) and self._reap():
            pass

    def stop(self) -> None:
        """End at once, and wait for it."""
        self._stopping.set()
        if self.ident is not None and self is not threading.current_thread():
            self.join(GRACE)


class _CallerEventLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, with daemon threads for what blocks.

    So a look-up of a host name that hangs holds up neither other calls nor the end of the program.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rests = False
        self._pid = os.getpid()

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        if executor is not None:
            return super().run_in_executor(executor, func, *args)
        done: Future[T] = Future()

        def work() -> None:
            if not done.set_running_or_notify_cancel():
                return
            try:
                done.set_result(func(*args))
            except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
                done.set_exception(error)

        threading.Thread(target=work, name=f"{NAME}-worker", daemon=True).start()
        return asyncio.wrap_future(done, loop=self)

    def __del__(self) -> None:
        if self._pid == os.getpid() and not self.rests:
            super().__del__()
            return
        # A forked child shares the selector with its parent, and closing would make the parent's loop deaf.
        for pipe in (getattr(self, "_ssock", None), getattr(self, "_csock", None)):
            if pipe is not None:
                pipe.detach()


def _close_all(hosts: Iterable[CallerLoop]) -> None:
    def close() -> None:
        for host in hosts:
            host.close()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        close()
        return
    # A thread cannot run a loop within another one.
    thread = threading.Thread(target=close, name=f"{NAME}-closing", daemon=True)
    thread.start()
    thread.join()
