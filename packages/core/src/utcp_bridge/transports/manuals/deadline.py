"""Until when a manual may be loaded, for whoever fetches more than one document for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_UNTIL: ContextVar[float | None] = ContextVar("utcp_bridge_manual_until", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Say for the code inside, and the tasks that it starts, how many seconds it has."""
    token = _UNTIL.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _UNTIL.reset(token)


def seconds_left() -> float | None:
    """The seconds that are left; None if nobody said how many there are."""
    until = _UNTIL.get()
    return None if until is None else until - time.monotonic()
