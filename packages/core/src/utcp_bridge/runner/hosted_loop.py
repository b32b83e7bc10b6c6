"""An event loop of ours and the work on it: begun, cancelled and settled, and dropped where it refuses to end.

What several threads touch is a flag, or a single operation that the language makes atomic: a loop's thread takes no
lock that another thread could hold while a signal handler of that thread waits for the loop.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from utcp_bridge.errors import RunnerStoppedError, WorkCancelledError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["AT_EXIT", "AT_RELEASE", "GRACE", "NAME", "Call", "HostedLoop", "running_loop"]

T = TypeVar("T")

GRACE = 0.5  # seconds for cancelled work to end; short, because exit must take less than a second
NAME = "utcp-bridge-runner"
AT_EXIT = "The interpreter is shutting down, so the call was not finished. Make calls before the program ends."
AT_RELEASE = "The toolset was closed while the call was running, so the call was cancelled. Close it after its calls."

_logger = logging.getLogger(__name__)


class Call(Generic[T]):
    """One piece of work: begun, cancelled and ended on its loop, settled once, awaited by one caller."""

    __slots__ = ("_context", "_error", "_host", "_reason", "_unsettled", "_value", "_wake", "_work", "owner", "task")

    def __init__(self, owner: object, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self.owner = owner
        self.task: asyncio.Task[None] | None = None
        self._work = work
        self._wake: Callable[[], Any] | None = None
        self._context = contextvars.copy_context()
        self._host: HostedLoop | None = None
        self._reason: BaseException | None = None
        self._unsettled = threading.Lock()
        self._value: T | None = None
        self._error: BaseException | None = None

    def submit(self, host: HostedLoop, wake: Callable[[], Any] | None = None) -> None:
        """Begin on a loop that another thread runs; `wake` is called when there is an outcome."""
        self._belong_to(host, wake)
        host.loop.call_soon_threadsafe(self._begin, host.loop)

    def prepare(self, host: HostedLoop) -> None:
        """Begin on a loop that stands still, as soon as this thread runs it; the outcome stops it."""
        self._belong_to(host, host.loop.stop)
        self._begin(host.loop)

    def cancel(self, reason: BaseException) -> bool:
        """Ask the loop to cancel the work; False if there is nothing to cancel."""
        if self._host is None:
            return False
        with suppress(RuntimeError):  # the loop is closed, and the call settled with it
            self._host.loop.call_soon_threadsafe(self._cancel, reason)
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
        if self._host is not None:
            self._host.calls.discard(self)
        if self._wake is not None:
            with suppress(RuntimeError):  # the caller's loop is closed, so nobody waits
                self._wake()

    @property
    def is_settled(self) -> bool:
        """Whether there is an outcome."""
        return self._unsettled.locked()

    @property
    def succeeded(self) -> bool:
        """Whether the work has ended without an error."""
        return self.is_settled and self._error is None

    @property
    def failed(self) -> bool:
        """Whether the work ended with an error of its own."""
        return self._error is not None and not isinstance(self._error, (asyncio.CancelledError, RunnerStoppedError))

    def result(self) -> T:
        """The outcome, which is given out once."""
        if self._error is None:
            return cast("T", self._value)
        error, self._error = self._error, None
        try:
            raise error
        finally:
            del error  # its traceback holds this frame

    def _belong_to(self, host: HostedLoop, wake: Callable[[], Any] | None) -> None:
        self._host, self._wake = host, wake
        host.calls.add(self)

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self.task = loop.create_task(self._run(), name=NAME, context=self._context)

    async def _run(self) -> None:
        # It settles in the last step of its task. A callback would cost one more turn of the loop, as much time as the
        # whole of a small reply's reading; and out of a task, SystemExit and its like would end the loop.
        try:
            value = await self._work()
        except asyncio.CancelledError as error:
            self.settle(error=self._reason or _cancelled_itself(error))
        except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
            self.settle(error=error)
        else:
            self.settle(value)

    def _cancel(self, reason: BaseException) -> None:
        self.mark(reason)
        if self.task is not None:
            self.task.add_done_callback(lambda _: self.settle(error=reason))  # it may end without having begun
            self.task.cancel()


def _cancelled_itself(error: asyncio.CancelledError) -> WorkCancelledError:
    cancelled = WorkCancelledError(
        "The call was cancelled from inside: it raised asyncio.CancelledError, which nobody had asked for. "
        "Look in the protocol or library that it uses for a cancellation that leaks."
    )
    cancelled.__cause__ = error
    return cancelled


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread, if there is one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class HostedLoop:
    """A loop, the calls on it, and how all of its work ends.

    Args:
        make_loop: Makes the loop.
    """

    def __init__(self, make_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        # A loop keeps the context that it is made in, and what somebody's context holds must not live as long.
        self.loop = contextvars.Context().run(make_loop)
        self.calls: set[Call[Any]] = set()  # add, discard and copy are atomic, with and without the GIL
        self.is_exiting = False

    def stopped(self) -> RunnerStoppedError:
        """Why work is cancelled here."""
        return RunnerStoppedError(AT_EXIT if self.is_exiting else AT_RELEASE)

    def cancel_calls(self, owner: object = None, but: object = None) -> None:
        """Cancel calls, from any thread.

        Args:
            owner: Whose calls; default None, all.
            but: A task that goes on; default None.
        """
        for call in self.calls.copy():
            if (owner is None or call.owner is owner) and (but is None or call.task is not but):
                self._cancel(call)

    def settle_calls(self) -> None:
        """Give every caller who still waits the reason why nothing will come."""
        for call in self.calls.copy():
            call.settle(error=self.stopped())

    def end_tasks(self) -> set[asyncio.Task[Any]]:
        """Cancel all tasks and close the async generators, on this thread; give what refuses to end in time."""
        ending = self.loop.create_task(self._cancel_tasks())
        ending.add_done_callback(lambda _: self.loop.stop())
        while not ending.done():  # not `run_until_complete`: what ends may stop the loop
            self.outlive(self.loop.run_forever)
        return ending.result()

    def drop(self, tasks: set[asyncio.Task[Any]]) -> None:
        """Close the coroutines of tasks that did not end, with a warning that names them."""
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

    def outlive(self, function: Callable[[], Any]) -> None:
        """Run something that a background task may try to end together with the interpreter."""
        try:
            function()
        except (SystemExit, KeyboardInterrupt):
            # asyncio lets these two out of the loop when a background task or a callback raises them.
            _logger.warning("A background task tried to end the interpreter from the runner's thread.", exc_info=True)

    def _cancel(self, call: Call[Any]) -> None:
        call.cancel(self.stopped())

    async def _cancel_tasks(self) -> set[asyncio.Task[Any]]:
        second_try = self.loop.time() + GRACE / 2
        deadline = self.loop.time() + GRACE
        mine = {asyncio.current_task()}
        while tasks := asyncio.all_tasks() - mine:  # again, because what ends may start new ones
            now = self.loop.time()
            if now >= deadline:
                return tasks
            for call in self.calls.copy():
                call.mark(self.stopped())
            for task in tasks:
                if now >= second_try or not task.cancelling():  # a second cancellation would cut short its clean-up
                    task.cancel()
            await asyncio.wait(tasks, timeout=(deadline if now >= second_try else second_try) - now)
        closing = self.loop.create_task(self.loop.shutdown_asyncgens())
        _, refusing = await asyncio.wait([closing], timeout=max(0.0, deadline - self.loop.time()))
        await asyncio.sleep(0)  # for the last callbacks of transports that were closed just now
        return refusing
