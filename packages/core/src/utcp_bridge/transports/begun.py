"""Replies that were begun and not ended: all that there is to know of a call that was cancelled at its time limit."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, Protocol

_begun: ContextVar[list[Begun] | None] = ContextVar("utcp_bridge_begun_replies", default=None)


class Begun(Protocol):
    """A reply that was begun."""

    @property
    def pieces(self) -> Sequence[Any]:
        """What has come so far: text, bytes or JSON values."""

    @property
    def latest(self) -> float:
        """When the last of them came, by `time.monotonic`."""

    def whole(self) -> Any:
        """What all pieces make together."""


class noticing:  # noqa: N801 - used like a function; as one, by `contextlib`, it takes five times as long in each call
    """The replies that are begun within the block, also those that never come to their end."""

    __slots__ = ("_begun", "_token")

    def __enter__(self) -> list[Begun]:
        self._begun: list[Begun] = []
        self._token = _begun.set(self._begun)
        return self._begun

    def __exit__(self, *_: object) -> None:
        _begun.reset(self._token)


def note_begun(reply: Begun, caller: Any) -> None:
    """Show a reply that was begun to who notices them, if somebody does.

    Args:
        reply: The reply.
        caller: The client. One with post-processors is shown none: they see whole replies, and may take out what is
            not to be shown.
    """
    begun = _begun.get()
    if begun is not None and not getattr(getattr(caller, "config", None), "post_processing", None):
        begun.append(reply)
