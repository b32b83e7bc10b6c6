"""A daemon thread with an event loop, and the work that other threads hand to it.

`LoopThread` starts and stops once; `lease` decides when. Work that swallows its cancellation has half a second to end
when the thread stops; then it is dropped, and a warning names it.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading

# Imported early, not only for the pool: hooks at exit run last in, first out, and the runner's must run before
# the one of this module, which waits for worker threads that may be waiting for the runner.
from concurrent.futures import thread as _pools
from contextlib import suppress

from utcp_bridge.runner.hosted_loop import GRACE, NAME, HostedLoop

__all__ = ["LoopThread"]

_MAX_WORKERS = 64  # more than asyncio's 5 to 32: a few host names that hang must not hold up the others

_logger = logging.getLogger(__name__)


class LoopThread(HostedLoop):
    """The thread and its loop, which takes calls at once. It starts once, and stops once."""

    def __init__(self) -> None:
        super().__init__(_new_loop)
        self._stopping = False
        self._ended = threading.Event()
        # Its threads inherit being daemons from the loop's thread, which starts them.
        self._workers = _pools.ThreadPoolExecutor(_MAX_WORKERS, thread_name_prefix=f"{NAME}-worker")
        self.loop.set_default_executor(self._workers)
        self.thread = threading.Thread(target=self._main, name=NAME, daemon=True)

    def start(self) -> None:
        """Start the thread.

        Raises:
            RuntimeError: The system gives no more threads; the loop is closed and its calls are settled.
        """
        try:
            self.thread.start()
        except RuntimeError:  # what a signal handler raises meanwhile leaves a thread that runs
            self.loop.close()
            self.settle_calls()
            self._ended.set()
            raise

    def is_current_thread(self) -> bool:
        """Whether it is this thread that asks."""
        return threading.get_ident() == self.thread.ident

    def stop(self, *, exiting: bool = False) -> None:
        """Cancel everything and end the thread; on another thread, wait for that, but not for ever."""
        self.is_exiting = exiting
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
        self.settle_calls()

    def _main(self) -> None:
        try:
            while not self._stopping:
                self.outlive(self.loop.run_forever)
            if self.is_exiting:
                # What complains from here on, complains to nobody: a program that ends is to end silently.
                self.loop.set_exception_handler(lambda *_: None)
            refusing = self.end_tasks()
            self.settle_calls()
            if self.is_exiting:
                self._rest()
            self.drop(refusing)
            self._end_workers()
        finally:
            self.loop.close()
            self.settle_calls()
            self._ended.set()

    def _rest(self) -> None:
        # Transports, sessions and tasks that nobody closed would complain when they are destroyed after their loop
        # is closed, and nobody is left to act on it: so the loop stays as it is until the process ends.
        self._ended.set()
        threading.Event().wait()

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
