"""A session of mcp-use that is opened and closed by one task.

The MCP SDK opens task groups in a session, which only the task that opened them may close. utcp-mcp 1.2.0 opens a
session in the task of the first call and closes it in another: then each close fails, and is logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any


class GivenUpError(Exception):
    """A session was not opened, because its client ended. Its words are none that make utcp-mcp try once more."""


class SessionKeeper:
    """Keeps one session open in a task of its own. Make it on the loop that uses the session.

    Args:
        open_session: Opens it.
        give_up: Ends what was begun when it is cancelled before it is open.
    """

    def __init__(self, open_session: Callable[[], Awaitable[Any]], give_up: Callable[[], Awaitable[object]]) -> None:
        self._open_session = open_session
        self._give_up = give_up
        self._opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._end = asyncio.Event()
        self._task = asyncio.create_task(self._keep(), name="utcp-bridge-mcp-session")

    def when_ended(self, tell: Callable[[SessionKeeper], object]) -> None:
        """Have it told when the session has ended, or was never opened."""
        self._task.add_done_callback(lambda _: tell(self))

    async def session(self) -> Any:
        """The open session, whose `disconnect` may be awaited in any task of the loop.

        Raises:
            Exception: Whatever opening it raised.
        """
        try:
            return await asyncio.shield(self._opened)
        except asyncio.CancelledError:
            if not self._opened.done():
                await self.close()
            raise

    async def close(self) -> None:
        """Close the session and wait for its end; a second time does nothing. What is not open yet is given up."""
        self._end.set()
        if not self._opened.done():
            self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            raise error

    async def _keep(self) -> None:
        try:
            session = await self._open_session()
        except asyncio.CancelledError:
            await self._give_up()
            self._opened.set_exception(GivenUpError("it was given up before the server answered"))
            self._opened.exception()  # as below
            raise
        except Exception as error:  # noqa: BLE001 - it is raised where the session is waited for
            self._opened.set_exception(error)
            self._opened.exception()  # whoever waited may be gone
            return
        disconnect = session.disconnect
        session.disconnect = self.close
        # Else mcp-use opens a lost connection anew in the task of a call; utcp-mcp has a new session instead.
        with suppress(AttributeError):
            session.connector.auto_reconnect = False
        self._opened.set_result(session)
        try:
            await self._end.wait()
        finally:
            await disconnect()
