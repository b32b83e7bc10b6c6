"""A look at the manuals in the background, which outlives neither the program nor, half done, a fork of it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_MOMENT = 0.02  # seconds between two looks at whether something has arrived
_LONGEST_IMPORT = 10.0  # seconds that a fork waits for


class Look:
    """One look at the manuals, in a thread of its own.

    Args:
        work: Looks; it is given this object, and calls `begin` when it turns to the manuals.
        name: The name of the thread.
    """

    def __init__(self, work: Callable[[Look], None], name: str) -> None:
        self._begun = threading.Event()
        self._begun_at = 0.0
        self._has_run = False
        self._process = os.getpid()
        # No daemon: one that is in the middle of an import when the program ends leaves it with the lock for imports,
        # for which it then waits for ever. The look ends with the program, because the runner does.
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=False)
        _beginning.add(self)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return not self._thread.is_alive()

    @property
    def is_lost(self) -> bool:
        """Whether a fork came in between, which leaves it to the parent."""
        return self._process != os.getpid() and not self._has_run

    def begin(self) -> None:
        """Let the patience of those who wait begin; what came before was this computer's own work."""
        self._begun_at = time.monotonic()
        self._begun.set()
        _beginning.discard(self)

    def wait(self, patience: float) -> None:
        """Wait for the end, without limit until it has begun, and then for so many seconds at most."""
        self._begun.wait()
        left = self._begun_at + patience - time.monotonic()
        self._thread.join(min(max(0.0, left), threading.TIMEOUT_MAX))

    def wait_for_imports(self) -> None:
        """Wait until it has begun, so that it imports nothing any more; 10 seconds at most."""
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._begun.wait(_LONGEST_IMPORT)

    def wait_a_moment(self) -> None:
        """Wait for the end for 20 milliseconds at most."""
        self._thread.join(_MOMENT)

    def _run(self, work: Callable[[Look], None]) -> None:
        try:
            work(self)
        finally:
            self._has_run = True
            self._begun.set()
            _beginning.discard(self)


def _before_fork() -> None:
    # A child can import nothing that another thread was importing.
    for look in _beginning.copy():
        look.wait_for_imports()


_beginning: set[Look] = set()  # add, discard and copy are atomic, with and without the GIL
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
