"""An event loop that callers without a loop run themselves, for the time of one call.

A call that hops to the background thread waits for two switches between threads, which cost more than a request on a
connection that is kept (docs/decisions/0007-sync-calls.md). Here the calling thread runs the loop until its call is
settled, and gives it back with its connections to whoever calls next, in whichever thread. Only work that is bound to
no loop of its own may be run so: the next call may find another loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar, TypeVarTuple

from utcp_bridge.runner.hosted_loop import GRACE, NAME, Call, HostedLoop, running_loop

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["IDLE_SECONDS", "CallerLoop"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

IDLE_SECONDS: Final = 30.0  # how long the loop, with the connections on it, is kept for the next call


class CallerLoop(HostedLoop):
    """The loop, which one thread runs at a time.

    Args:
        end_unused: Ends the loop if it is unused; asked for again and again, by a thread of its own.
    """

    def __init__(self, end_unused: Callable[[], None]) -> None:
        self.loop: _CallerEventLoop
        super().__init__(_CallerEventLoop)
        self._is_sound = True
        self._used_at = 0.0
        self._end_unused = end_unused
        self._reaper: threading.Thread | None = None
        self._closing = threading.Event()

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left of the calls that were run, so that another may be."""
        return self._is_sound and not self.calls

    @property
    def is_unused(self) -> bool:
        """Whether nobody has run it for a while."""
        return time.monotonic() - self._used_at >= IDLE_SECONDS

    def run(self, call: Call[T]) -> T:
        """Run the loop until a call that was prepared on it is settled, and give its outcome.

        An exception in the thread, such as `KeyboardInterrupt`, cancels the call and waits for its end, half a second
        at most; the loop is not sound any more then.
        """
        try:
            if self._reaper is None:
                self._start_reaper()
            while not call.is_settled:
                self.loop.run_forever()
            if not call.succeeded:
                self._close_what_broke()
        except BaseException:
            self._is_sound = False
            call.cancel(asyncio.CancelledError())
            if not call.is_settled:
                timer = self.loop.call_later(GRACE, self.loop.stop)
                self.loop.run_forever()
                timer.cancel()
            raise
        self._used_at = time.monotonic()
        return call.result()

    def close(self) -> None:
        """End everything on the loop, which nobody runs, and the loop."""
        self._closing.set()
        if self._reaper is not None and self._reaper.is_alive() and self._reaper is not threading.current_thread():
            self._reaper.join(GRACE)
        if running_loop() is None:
            self._end()
            return
        # A thread cannot run a loop within another one.
        thread = threading.Thread(target=self._end, name=f"{NAME}-closing", daemon=True)
        thread.start()
        thread.join()

    def _cancel(self, call: Call[Any]) -> None:
        super()._cancel(call)
        with suppress(RuntimeError):  # the loop is closed, and the call settled with it
            self.loop.call_soon_threadsafe(self.loop.call_later, GRACE, self._give_up, call)

    def _give_up(self, call: Call[Any]) -> None:
        if not call.is_settled:
            self._is_sound = False
            call.settle(error=self.stopped())

    def _close_what_broke(self) -> None:
        # A transport that was closed in the last turn of the loop lets go of its socket in the next ones.
        for _ in range(2):
            self.loop.call_soon(self.loop.stop)
            self.loop.run_forever()

    def _start_reaper(self) -> None:
        def reap() -> None:
            while not self._closing.wait(IDLE_SECONDS / 2):
                self._end_unused()

        self._reaper = threading.Thread(target=reap, name=f"{NAME}-reaper", daemon=True)
        with suppress(RuntimeError):  # no more threads: then the loop stands until the last toolset is closed
            self._reaper.start()

    def _end(self) -> None:
        if self.is_exiting:
            # Transports and tasks that nobody closed would complain when they are destroyed after their loop is closed,
            # and nobody is left to act on it: so the loop stays as it is.
            self.loop.set_exception_handler(lambda *_: None)
            self.end_tasks()
            self.loop.rests = True
            return
        try:
            self.drop(self.end_tasks())
        finally:
            self.loop.close()


class _CallerEventLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop, with daemon threads for what blocks.

    So a look-up of a host name that hangs holds up neither other calls nor the end of the program.
    """

    def __init__(self) -> None:
        self.rests = False
        self._pid = os.getpid()
        super().__init__()

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
