"""Work that does not end by itself."""

from __future__ import annotations

import asyncio
import threading


class LongCall:
    """Work that reports its start and its end, and takes a moment to clean up."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.events: list[str] = []

    async def __call__(self) -> None:
        self.started.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.02)
            self.events.append("cleaned up")
