"""What there is once per process: how it starts, what a fork leaves of it, and how it ends with the program."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from utcp_bridge.errors import RunnerError, RunnerStoppedError
from utcp_bridge.runner.caller_loop import CallerLoop
from utcp_bridge.runner.hosted_loop import AT_EXIT, GRACE
from utcp_bridge.runner.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import Callable

    from utcp_bridge.runner.hosted_loop import Call

__all__ = ["process"]

# A proactor loop must be run by one thread: Windows cancels what a thread has begun when that thread ends.
_CALLERS_RUN_LOOPS: Final = sys.platform != "win32"


class Process:
    """The background thread, the loop that callers run, and how many leases there are.

    The lock is never held while one thread waits for another, in which a finalizer may want it.
    """

    def __init__(self) -> None:
        self.leases = 0
        self._exiting = False
        self._start_anew()
        # Before threads are joined, so that those which wait for us are woken; atexit's own hooks come after that.
        register: Callable[[Callable[[], None]], Any] = getattr(threading, "_register_atexit", atexit.register)
        try:
            register(self._at_exit)
        except RuntimeError:  # imported during exit
            self._exiting = True
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start_anew)

    def _start_anew(self) -> None:
        # Also in a forked child. Another thread may have held the lock when the fork came. What it was doing then does
        # not matter: the child has neither that thread nor the loop's. The parent's loops are not closed here, because
        # both share their selectors, and closing would make the parent's deaf.
        self.lock = threading.RLock()  # reentrant, for signal handlers and finalizers that use a lease
        self.loop_thread: LoopThread | None = None
        self.caller_loop: CallerLoop | None = None
        self._lent_to: Call[Any] | None = None
        self._given_back = threading.Condition(self.lock)

    def running(self) -> tuple[LoopThread, bool]:
        """The loop thread, and whether it is new and the caller has to start it; call it with the lock held."""
        if self._exiting:
            raise RunnerStoppedError(AT_EXIT)
        if self.loop_thread is not None and not self.loop_thread.loop.is_closed():
            return self.loop_thread, False
        try:
            self.loop_thread = LoopThread()
        except (OSError, RuntimeError) as error:
            raise RunnerError(f"The background event loop could not be started: {error}") from error
        return self.loop_thread, True

    def lend(self, call: Call[Any]) -> CallerLoop | None:
        """The loop for a caller to run, with its call on it, or None; call it with the lock held.

        One call at a time has it, and there is but one: loops that run in several threads contend for the interpreter.
        8 threads took 240 µs a call over loopback with one such loop, 283 µs with 16, and 208 µs with none.
        """
        if self._exiting:
            raise RunnerStoppedError(AT_EXIT)
        if self._lent_to is not None or not _CALLERS_RUN_LOOPS:
            return None
        if self.caller_loop is None:
            try:
                self.caller_loop = CallerLoop(lambda: self.close_caller_loop(if_unused=True))
            except OSError:  # no more files may be opened
                return None
        self._lent_to = call
        call.prepare(self.caller_loop)
        return self.caller_loop

    def give_back(self, call: Call[Any]) -> None:
        """Take the loop back from a call that `lend` was asked for, and keep it for the next while there are leases."""
        host = self.caller_loop
        if self._lent_to is not call or host is None:  # it ran elsewhere, or this is a fork, and the loop its parent's
            return
        with self.lock:
            self._lent_to = None
            self._given_back.notify_all()
            if host.is_clean and self.leases > 0 and not self._exiting:
                return
            self.caller_loop = None
        host.close()

    def close_caller_loop(self, *, if_unused: bool = False) -> None:
        """End the loop that callers run, if it stands still; with `if_unused`, if it has done so for a while."""
        with self.lock:
            host = self.caller_loop
            if host is None or self._lent_to is not None or (if_unused and not host.is_unused):
                return
            self.caller_loop = None
        host.close()

    def _at_exit(self) -> None:
        with self.lock:
            self._exiting = True
            loop_thread, self.loop_thread = self.loop_thread, None
            if self.caller_loop is not None:
                self.caller_loop.is_exiting = True
                self.caller_loop.cancel_calls()
                self._given_back.wait_for(
                    lambda: self._lent_to is None, GRACE * 1.2
                )  # the call has its own time to end, and a little to give back
        with suppress(Exception):  # else threading would join no threads, and run no other hooks
            self.close_caller_loop()
        if loop_thread is not None:
            loop_thread.stop(exiting=True)


process = Process()
