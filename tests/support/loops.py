"""An event loop that tells when another thread has given it something to do."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple

Ts = TypeVarTuple("Ts")


class AskedLoop(asyncio.SelectorEventLoop):
    """Sets `asked` when another thread has given it something to do."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = super().call_soon_threadsafe(callback, *args, context=context)
        self.asked.set()
        return handle
