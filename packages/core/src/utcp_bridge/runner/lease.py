"""Who may use the runner, and how work gets there and ends.

One background event loop per process serves callers that have none, and state that is bound to a loop. Work that is
bound to none may instead run in the calling thread (`Lease.run_here`).

Every toolset holds a `Lease`. The first call through any of them starts one daemon thread with one event
loop; the release of the last one stops it. The behaviour follows anyio's blocking portal, with rules of its
own at two borders:

- **Fork.** A child starts without the thread, and starts its own with its first call; leases that were taken
  before the fork go on working in it. So one lease may see several loops, and state that is bound to a loop
  must be kept by loop.
- **Exit.** The loop stops just before Python joins its threads: work in flight is cancelled, and whoever
  waits for it gets `RunnerStoppedError`. From then on every call raises that at once, in threads that outlive
  the main thread too, as with `concurrent.futures`.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from utcp_bridge.errors import RunnerError
from utcp_bridge.runner.hosted_loop import GRACE, Call, running_loop
from utcp_bridge.runner.process import process

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["Lease", "acquire", "standing_loop"]

T = TypeVar("T")

# Seconds. A lock that is waited for cannot be interrupted by Ctrl-C on Windows, and elsewhere not by one that comes
# just before the wait; between two waits every one is noticed.
_WAIT = 0.1

# Those that have names; `signal.getsignal` makes an enum of each answer, which takes ten times as long.
_SIGNALS = tuple(sorted(number for number in signal.valid_signals() if number < 32))
_handler_of: Callable[[int], Any] = getattr(sys.modules.get("_signal"), "getsignal", signal.getsignal)

_standing_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("standing_loop", default=None)


def standing_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that stands still until the work at hand ends, because its thread waits for it in `Lease.run`.

    What is bound to that loop cannot be awaited in the work: it would wait for itself. None if there is no such loop.
    """
    return _standing_loop.get()


def acquire() -> Lease:
    """Take a share in the runner.

    Nothing starts yet: the thread and the loop come with the first call, so that a program which never needs
    them can fork without a thread.

    Returns:
        A lease, to be released when its owner is closed.
    """
    with process.lock:
        process.leases += 1
    return Lease()


class Lease:
    """A share in the runner, made by `acquire`. The release of the last one stops the loop."""

    __slots__ = ("_released",)

    def __init__(self) -> None:
        self._released = False

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run work on the runner's loop, and block until it ends.

        It may be called from any other thread, also from one whose own loop is running (that loop stands
        still meanwhile). The work sees the caller's context variables. An exception in the waiting thread,
        such as `KeyboardInterrupt`, cancels the work and waits for its end, half a second at most.

        Args:
            work: Gives the coroutine to run, such as a coroutine function; called on the loop.

        Returns:
            What the coroutine returns. What it raises is raised here, `SystemExit` and its like too.

        Raises:
            RunnerError: The lease was released, or this is the runner's own thread.
            RunnerStoppedError: The lease was released during the call, or the interpreter is exiting.
            WorkCancelledError: The work cancelled itself.
        """
        loop_thread = process.loop_thread
        if loop_thread is not None and loop_thread.is_current_thread():
            raise RunnerError(
                "A blocking call was made on the thread that would have to do the work, and would wait for ever. "
                "Await the async form here (`acall` for `call`, `aclose` for `close`), or call from another thread, "
                "for example with `asyncio.to_thread`."
            )
        # Not threading.Event: that holds a lock of its own for moments in which a signal handler can run.
        ended = threading.Lock()
        ended.acquire()
        standing = _standing_loop.set(running_loop())
        try:
            call = Call(self, work)  # which takes the context along
        finally:
            _standing_loop.reset(standing)
        try:
            self._submit(call, ended.release)
            while not ended.acquire(timeout=_WAIT):
                pass
        except BaseException:
            if call.cancel(asyncio.CancelledError()) and not call.is_settled:
                ended.acquire(timeout=GRACE)
            raise
        return call.result()

    def run_here(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run work that is bound to no loop, in this thread where that is possible, and block until it ends.

        It is possible unless a loop is running here, or another thread does the same at this moment, or a handler of a
        signal could raise here; then it is `run` that does the work. Otherwise this is as `run`, without two switches
        between threads.

        Args:
            work: Gives the coroutine to run, which may find another loop each time.

        Returns:
            What the coroutine returns; what it raises is raised here.

        Raises:
            RunnerError: The lease was released, or this is the runner's own thread.
            RunnerStoppedError: The lease was released during the call, or the interpreter is exiting.
            WorkCancelledError: The work cancelled itself.
        """
        if running_loop() is not None or _is_signal_handled_here():
            return self.run(work)
        call = Call(self, work)
        try:
            with process.lock:
                self._refuse_if_released()
                host = process.lend(call)
            if host is not None:
                return host.run(call)
        finally:
            process.give_back(call)
        return self.run(work)

    async def arun(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run work on the runner's loop, and await its end on the caller's.

        Cancelling the caller cancels the work and waits for its end, as if it had been awaited here; where
        the caller is on the runner's loop already, it is. The work sees the caller's context variables.

        Args:
            work: Gives the coroutine to run, such as a coroutine function; called on the runner's loop.

        Returns:
            What the coroutine returns; what it raises is raised here.

        Raises:
            RunnerError: The lease was released, or the caller is not on a loop of asyncio.
            RunnerStoppedError: The lease was released during the call, or the interpreter is exiting.
            WorkCancelledError: The work cancelled itself.
        """
        loop = running_loop()
        if loop is None:
            raise RunnerError(
                "No event loop of asyncio is running here. Await this from asyncio; from another framework, such as "
                "Trio, make the blocking call (`call` for `acall`) in a worker thread."
            )
        loop_thread = process.loop_thread
        if loop_thread is not None and loop_thread.loop is loop:
            self._refuse_if_released()
            return await work()
        ended = asyncio.Event()
        call = Call(self, work)
        self._submit(call, lambda: loop.call_soon_threadsafe(ended.set))
        cancelled: asyncio.CancelledError | None = None
        try:
            while not ended.is_set():
                try:
                    await ended.wait()
                except asyncio.CancelledError as error:
                    cancelled = error
                    call.cancel(asyncio.CancelledError())
        except BaseException:  # GeneratorExit: the caller's loop is gone, and nothing can be awaited any more
            call.cancel(asyncio.CancelledError())
            raise
        if cancelled is None or call.failed:
            return call.result()
        try:
            raise cancelled
        finally:
            del cancelled  # its traceback holds this frame

    def release_after(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Run work on the runner's loop and then give the share back, without waiting: for finalizers.

        Args:
            work: Gives the coroutine to run; what it raises is for asyncio's exception handler.

        Raises:
            RunnerError: The lease was released, or the loop does not run; the work was not begun, and the share is
                given back.
        """

        async def last() -> None:
            try:
                await work()
            finally:
                self.release()

        with process.lock:
            self._refuse_if_released()
            loop_thread = process.loop_thread
            if loop_thread is not None and not loop_thread.loop.is_closed():
                Call(self, last).submit(loop_thread)
                return
            # A garbage collector is no place to start a thread from.
            self._released = True
            process.leases -= 1
        raise RunnerError("The background event loop does not run.")

    def release(self) -> None:
        """Give the share back; a second time does nothing.

        Calls of this lease that are still running are cancelled and raise `RunnerStoppedError`. The last release
        also cancels all other tasks of the loop and waits for the end of the thread: at most about a second
        if something refuses to end, else milliseconds. On the runner's own thread the task that releases
        runs to its end first.
        """
        with process.lock:
            if self._released:
                return
            self._released = True
            process.leases -= 1
            is_last = process.leases == 0
            loop_thread = process.loop_thread
            if is_last:
                process.loop_thread = None
        current = asyncio.current_task() if running_loop() is not None else None
        for host in (process.caller_loop, loop_thread):
            if host is not None:
                host.cancel_calls(self, but=current)
        if not is_last:
            return
        process.close_caller_loop()
        if loop_thread is None:
            return
        if current is not None and loop_thread.is_current_thread():
            current.add_done_callback(lambda _: loop_thread.stop())
        else:
            loop_thread.stop()

    def _submit(self, call: Call[Any], wake: Callable[[], Any]) -> None:
        with process.lock:
            self._refuse_if_released()
            loop_thread, is_new = process.running()
            call.submit(loop_thread, wake)
        # Not with the lock held: starting a thread waits for it, and a finalizer that runs in it may want the lock.
        if is_new:
            try:
                loop_thread.start()
            except RuntimeError as error:
                raise RunnerError(f"The background event loop could not be started: {error}") from error

    def _refuse_if_released(self) -> None:
        if self._released:
            raise RunnerError("The toolset is closed; open a new one.")


def _is_signal_handled_here() -> bool:
    """Whether this is the main thread, and a signal has a handler in Python besides the one for Ctrl-C.

    What such a handler raises, as Celery's does at a soft time limit, asyncio takes for a fault of whatever callback it
    is in at that moment, and goes on; only `KeyboardInterrupt` and `SystemExit` come through.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return False
    return any(
        callable(handler) and handler is not signal.default_int_handler for handler in map(_handler_of, _SIGNALS)
    )
