"""Connections that are kept, and which of them may be used again.

Nothing may come on a connection while nobody asks. What does come is the end of the stream, or words of a server that
is about to end it, such as `408 Request Timeout`: the next request would fail, or take them for its answer. aiohttp
drops connections whose end its loop has seen; a loop that stood still has seen nothing, and what came before the end it
keeps for the next request (aiohttp 3.14.5). So each connection is looked at when it is chosen, as curl and urllib3 do.
"""

from __future__ import annotations

import select
from collections.abc import Set
from functools import partial
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler


class _KeptConnection(ResponseHandler):
    def __init__(self, loop: Any, in_use: Set[ResponseHandler]) -> None:
        super().__init__(loop=loop)
        self._in_use = in_use

    def is_connected(self) -> bool:
        """Whether it may be used; the connector asks this of an idle connection before it gives it out."""
        if not super().is_connected():
            return False
        return self in self._in_use or not (self.should_close or _is_readable(self.transport))


def only_silent_ones(connector: aiohttp.TCPConnector) -> aiohttp.TCPConnector:
    """The same connector, giving out only those of its kept connections on which nothing has come."""
    # aiohttp 3.x has no public way to a connector's protocols; without these names it works as it is.
    in_use = getattr(connector, "_acquired", None)
    if in_use is not None and hasattr(connector, "_factory"):
        setattr(connector, "_factory", partial(_KeptConnection, connector._loop, in_use))  # noqa: B010, SLF001
    return connector


def _is_readable(transport: Any) -> bool:
    sock = transport.get_extra_info("socket")
    if sock is None:
        return False
    poll = getattr(select, "poll", None)
    if poll is None:  # Windows, where a process may have any number of sockets in `select`
        return bool(select.select([sock], [], [], 0)[0])
    asked = poll()
    asked.register(sock, select.POLLIN)
    return bool(asked.poll(0))
