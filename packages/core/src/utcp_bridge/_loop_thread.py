"""A daemon thread with an event loop, and the work that other threads hand to it.

`LoopThread` starts and stops once; `utcp_bridge.runner` decides when. Work that swallows its
cancellation has half a second to end when the thread stops; then it is dropped, and a warning names it.

What several threads touch is a flag, or a single operation that the language makes atomic: the loop's thread
takes no lock that another thread could hold while a signal handler of that thread waits for the loop.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sys
import threading

# Imported early, not only for the pool: hooks at exit run last in, first out, and the runner's must run before
# the one of this module, which waits for worker threads that may be waiting for the runner.
from concurrent.futures import thread as _pools
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from utcp_bridge.errors import RunnerStoppedError, WorkCancelledError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["AT_EXIT", "AT_RELEASE", "GRACE", "Call", "LoopThread"]

T = TypeVar("T")

GRACE = 0.5  # seconds for cancelled work to end; short, because exit must take less than a second
_NAME = "utcp-bridge-runner"
_MAX_WORKERS = 64  # more than asyncio's 5 to 32: a few host names that hang must not hold up the others
AT_EXIT = "The interpreter is shutting down, so the call was not finished. Make calls before the program ends."
AT_RELEASE = "The toolset was closed while the call was running, so the call was cancelled. Close it after its calls."

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Escaped:
    """An exception that asyncio would let through to the loop's thread, and so end it."""

    error: BaseException


class Call(Generic[T]):
    """One piece of work: started, cancelled and finished on the loop, settled once, awaited by one caller."""

    __slots__ = ("_context", "_error", "_reason", "_thread", "_unsettled", "_value", "_wake", "_work", "owner", "task")

    def __init__(self, owner: object, work: Callable[[], Coroutine[Any, Any, T]], wake: Callable[[], Any]) -> None:
        self.owner = owner
        self.task: asyncio.Task[T | _Escaped] | None = None
        self._work = work
        self._wake = wake
        self._context = contextvars.copy_context()
        self._thread: LoopThread | None = None
        self._reason: BaseException | None = None
        self._unsettled = threading.Lock()
        self._value: T | None = None
        self._error: BaseException | None = None

    def submit(self, thread: LoopThread) -> None:
        self._thread = thread
        thread.calls.add(self)
        thread.loop.call_soon_threadsafe(self._start, context=self._context)

    def cancel(self, reason: BaseException) -> bool:
        """Ask the loop to cancel the work; False if there is nothing to cancel."""
        if self._thread is None:
            return False
        with suppress(RuntimeError):  # the loop is closed, and the call settled with it
            self._thread.loop.call_soon_threadsafe(self._cancel, reason)
        return True

    def mark(self, reason: BaseException) -> None:
        """Give the reason for a cancellation; the first one counts."""
        if self._reason is None:
            self._reason = reason

    def settle(self, value: T | None = None, error: BaseException | None = None) -> None:
        """Give the outcome and wake the caller; the first outcome counts."""
        if not self._unsettled.acquire(blocking=False):
            return
        self._value, self._error = value, error
        if self._thread is not None:
            self._thread.calls.discard(self)
        with suppress(RuntimeError):  # the caller's loop is closed, so nobody waits
            self._wake()

    @property
    def failed(self) -> bool:
        """Whether the work ended with an error of its own."""
        return self._error is not None and not isinstance(self._error, (asyncio.CancelledError, RunnerStoppedError))

    def result(self) -> T:
        if self._error is None:
            return cast("T", self._value)
        error, self._error = self._error, None
        try:
            raise error
        finally:
            del error  # its traceback holds this frame

    def _start(self) -> None:
        self.task = asyncio.get_running_loop().create_task(self._guarded(), name=_NAME)
        self.task.add_done_callback(self._finish)

    def _cancel(self, reason: BaseException) -> None:
        self.mark(reason)
        if self.task is not None:
            self.task.cancel()

    async def _guarded(self) -> T | _Escaped:
        try:
            return await self._work()
        except asyncio.CancelledError as error:
            if self._reason is not None:
                raise
            raise WorkCancelledError(
                "The call was cancelled from inside: it raised asyncio.CancelledError, which nobody had asked for. "
                "Look in the protocol or library that it uses for a cancellation that leaks."
            ) from error
        except (SystemExit, KeyboardInterrupt) as error:
            return _Escaped(error)

    def _finish(self, task: asyncio.Task[T | _Escaped]) -> None:
        if task.cancelled():
            self.settle(error=self._reason or asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self.settle(error=error)
        elif isinstance(outcome := task.result(), _Escaped):
            self.settle(error=outcome.error)
        else:
            self.settle(outcome)


class LoopThread:
    """The thread and its loop, which takes calls at once. It starts once, and stops once."""

    def __init__(self) -> None:
        self.loop = _new_loop()
        self.calls: set[Call[Any]] = set()  # add, discard and copy are atomic, with and without the GIL
        self._stopping = False
        self._exiting = False
        self._ended = threading.Event()
        # Its threads inherit being daemons from the loop's thread, which starts them.
        self._workers = _pools.ThreadPoolExecutor(_MAX_WORKERS, thread_name_prefix=f"{_NAME}-worker")
        self.loop.set_default_executor(self._workers)
        self.thread = threading.Thread(target=self._main, name=_NAME, daemon=True)

    def start(self) -> None:
        """Start the thread.

        Raises:
            RuntimeError: The system gives no more threads; the loop is closed and its calls are settled.
        """
        try:
            self.thread.start()
        except BaseException:
            self.loop.close()
            self._settle_calls()
            self._ended.set()
            raise

    def is_current_thread(self) -> bool:
        return threading.get_ident() == self.thread.ident

    def stop(self, *, exiting: bool = False) -> None:
        """Cancel everything and end the thread; on another thread, wait for that, but not for ever."""
        self._exiting = exiting
        self._stopping = True
        with suppress(RuntimeError):  # it has ended by itself
            self.loop.call_soon_threadsafe(self.loop.stop)
        if self.is_current_thread():
            return
        # When the last lease is released, tasks and worker threads have one grace each; at exit only tasks have one.
        ended = self._ended.wait(GRACE * 1.2 if exiting else GRACE * 2.4)
        if exiting:
            self._leave_workers()
        elif ended:
            self.thread.join()
        else:
            _logger.warning("The runner's thread was left behind: something blocks its loop without awaiting.")
        self._settle_calls()

    def _main(self) -> None:
        try:
            while not self._stopping:
                self._outlive(self.loop.run_forever)
            if self._exiting:
                # What complains from here on, complains to nobody: a program that ends is to end silently.
                self.loop.set_exception_handler(lambda *_: None)
            refusing = self._end_tasks()
            if self._exiting:
                self._rest()
            self._drop(refusing)
            self._end_workers()
        finally:
            self.loop.close()
            self._settle_calls()
            self._ended.set()

    def _rest(self) -> None:
        # Transports, sessions and tasks that nobody closed would complain when they are destroyed after their loop
        # is closed, and nobody is left to act on it: so the loop stays as it is until the process ends.
        self._settle_calls()
        self._ended.set()
        threading.Event().wait()

    def _outlive(self, function: Callable[..., Any], *args: Any) -> None:
        try:
            function(*args)
        except (SystemExit, KeyboardInterrupt):
            # asyncio lets these two out of the loop when a background task or a callback raises them.
            _logger.warning("A background task tried to end the interpreter from the runner's thread.", exc_info=True)

    def _end_tasks(self) -> set[asyncio.Task[Any]]:
        ending = self.loop.create_task(self._cancel_tasks())
        while not ending.done():
            self._outlive(self.loop.run_until_complete, ending)
        return ending.result()

    async def _cancel_tasks(self) -> set[asyncio.Task[Any]]:
        """Cancel all tasks, close the async generators, and give what refuses to end in time."""
        second_try = self.loop.time() + GRACE / 2
        deadline = self.loop.time() + GRACE
        mine = {asyncio.current_task()}
        while tasks := asyncio.all_tasks() - mine:  # again, because what ends may start new ones
            now = self.loop.time()
            if now >= deadline:
                return tasks
            for call in self.calls.copy():
                call.mark(self._stopped())
            for task in tasks:
                if now >= second_try or not task.cancelling():  # a second cancellation would cut short its clean-up
                    task.cancel()
            await asyncio.wait(tasks, timeout=(deadline if now >= second_try else second_try) - now)
        closing = self.loop.create_task(self.loop.shutdown_asyncgens())
        _, refusing = await asyncio.wait([closing], timeout=max(0.0, deadline - self.loop.time()))
        await asyncio.sleep(0)  # for the last callbacks of transports that were closed just now
        return refusing

    def _drop(self, tasks: set[asyncio.Task[Any]]) -> None:
        if not tasks:
            return
        _logger.warning(
            "%d task(s) did not end within %g s of being cancelled, and were dropped: %s",
            len(tasks),
            GRACE,
            ", ".join(sorted(str(task.get_coro()) for task in tasks)),
        )
        self.loop.set_exception_handler(lambda *_: None)  # asyncio would say the same again, once for each
        for task in tasks:
            coroutine = task.get_coro()
            try:
                if coroutine is not None:
                    coroutine.close()
            except Exception:
                _logger.exception("A task that was dropped failed while it was closed.")

    def _end_workers(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)
        deadline = self.loop.time() + GRACE
        for worker in self._worker_threads():
            worker.join(max(0.0, deadline - self.loop.time()))
        self._leave_workers()

    def _leave_workers(self) -> None:
        # concurrent.futures waits at exit for every worker, daemon or not, also for one that hangs in a look-up
        # of a host name. There is no public way out; without these two names, exit is only slower.
        waited_for = getattr(_pools, "_threads_queues", {})
        for worker in self._worker_threads():
            waited_for.pop(worker, None)

    def _worker_threads(self) -> list[threading.Thread]:
        return list(getattr(self._workers, "_threads", ()))

    def _settle_calls(self) -> None:
        for call in self.calls.copy():
            call.settle(error=self._stopped())

    def _stopped(self) -> RunnerStoppedError:
        return RunnerStoppedError(AT_EXIT if self._exiting else AT_RELEASE)


def _new_loop() -> asyncio.AbstractEventLoop:
    # Not what the user's policy gives: in a thread of ours, a GUI toolkit's loop does not work, and on Windows the
    # selector loop, which notebooks ask for, starts no processes.
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()
    if sys.version_info < (3, 14):
        # Until Python 3.14 asyncio's own loop asks the policy for the watcher of its child processes. uvloop's
        # policy has none, and then only its own loops can start processes.
        policy = asyncio.get_event_loop_policy()
        if type(policy).get_child_watcher is asyncio.AbstractEventLoopPolicy.get_child_watcher:
            return policy.new_event_loop()
    return asyncio.SelectorEventLoop()
