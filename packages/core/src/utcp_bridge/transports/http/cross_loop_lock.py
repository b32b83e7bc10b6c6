"""A lock that tasks of several loops, in several threads, await."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from types import TracebackType


class CrossLoopLock:
    """Held by one task at a time, in the order in which they asked; no loop is blocked meanwhile."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._is_held = False
        self._waiting: deque[Future[None]] = deque()

    async def __aenter__(self) -> None:
        with self._guard:
            if not self._is_held:
                self._is_held = True
                return
            turn: Future[None] = Future()
            self._waiting.append(turn)
        try:
            await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            if not turn.cancel():  # it was this one's turn already
                self._pass_on()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        with self._guard:
            while self._waiting:
                turn = self._waiting.popleft()
                if turn.set_running_or_notify_cancel():
                    turn.set_result(None)
                    return
            self._is_held = False
