"""What there is once per process: how it starts, what a fork leaves of it, and how it ends with the program."""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING, Any

from utcp_bridge.errors import RunnerError, RunnerStoppedError
from utcp_bridge.runner.caller_loops import CallerLoop, CallerLoops
from utcp_bridge.runner.hosted_loop import AT_EXIT
from utcp_bridge.runner.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["process"]


class Process:
    """The background thread, the loops that callers run, and how many leases there are."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # reentrant, for signal handlers and finalizers that use a lease
        self.loop_thread: LoopThread | None = None
        self.caller_loops = CallerLoops(self.lock)
        self.leases = 0
        self._exiting = False
        # Before threads are joined, so that those which wait for us are woken; atexit's own hooks come after that.
        register: Callable[[Callable[[], None]], Any] = getattr(threading, "_register_atexit", atexit.register)
        try:
            register(self._at_exit)
        except RuntimeError:  # imported during exit
            self._exiting = True
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork_in_child)

    def running(self) -> tuple[LoopThread, bool]:
        """The loop thread, and whether it is new and the caller has to start it; call it with the lock held.

        The lock is never held while one thread waits for another.
        """
        if self._exiting:
            raise RunnerStoppedError(AT_EXIT)
        if self.loop_thread is not None and not self.loop_thread.loop.is_closed():
            return self.loop_thread, False
        try:
            self.loop_thread = LoopThread()
        except (OSError, RuntimeError) as error:
            raise RunnerError(f"The background event loop could not be started: {error}") from error
        return self.loop_thread, True

    def caller_loop(self) -> CallerLoop | None:
        """A loop for a caller to run, or None; call it with the lock held."""
        if self._exiting:
            raise RunnerStoppedError(AT_EXIT)
        return self.caller_loops.take()

    def put_back(self, host: CallerLoop) -> None:
        """Give such a loop back; it is kept for the next caller while there are leases."""
        self.caller_loops.put_back(host, lambda: self.leases > 0 and not self._exiting)

    def _at_exit(self) -> None:
        with self.lock:
            self._exiting = True
            loop_thread, self.loop_thread = self.loop_thread, None
        self.caller_loops.end()
        if loop_thread is not None:
            loop_thread.stop(exiting=True)

    def _after_fork_in_child(self) -> None:
        # Another thread may have held the lock when the fork came. What it was doing then does not matter: the child
        # has neither that thread nor the loop's. The parent's loop is not closed here, because both share its selector,
        # and closing would make the parent's deaf.
        self.loop_thread = None
        self.lock = threading.RLock()
        self.caller_loops = CallerLoops(self.lock)


process = Process()
