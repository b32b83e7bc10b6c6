"""A reply that comes in pieces, put together again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.transports.http.reply import read_reply

EVENT_STREAM: Final = "text/event-stream"
# JSON values one after the other; the last is RFC 7464.
JSON_LINES: Final = frozenset(
    (
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonl",
        "application/jsonlines",
        "application/json-seq",
    )
)

_collected: ContextVar[Reply | None] = ContextVar("utcp_bridge_collected_reply", default=None)


@dataclass(slots=True)
class Reply:
    """The pieces of one reply.

    Attributes:
        content_type: The `Content-Type` of the whole; an empty string where there is none, None where it is not known.
        disposition: Its `Content-Disposition`, or an empty string.
        pieces: What has come so far: text, bytes or JSON values.
        latest: When the last of them came, by `time.monotonic`.
    """

    content_type: str | None = None
    disposition: str = ""
    pieces: list[Any] = field(default_factory=list)
    latest: float = 0.0

    def add(self, piece: Any) -> None:
        """Take the next piece, which has come just now."""
        self.pieces.append(piece)
        self.latest = monotonic()

    def whole(self) -> Any:
        """What all pieces make together.

        Returns:
            None for no piece; the values of JSON lines as a list; pieces of text as one text, with the numbers and the
            like between them as JSON writes them; pieces of bytes read by their content type, if that is known; other
            values of an event stream as a list; a piece of anything else as it is, several of them as a list.
        """
        if not self.pieces:
            return None
        if media_type(self.content_type or "") in JSON_LINES:
            return list(self.pieces)
        if all(isinstance(piece, bytes) for piece in self.pieces):
            content = b"".join(self.pieces)
            return content if self.content_type is None else read_reply(content, self.content_type, self.disposition)
        if any(isinstance(piece, str) for piece in self.pieces) and all(map(_is_scalar, self.pieces)):
            return "".join(piece if isinstance(piece, str) else json.dumps(piece) for piece in self.pieces)
        if len(self.pieces) == 1 and not is_list(self.content_type or ""):
            return self.pieces[0]
        return list(self.pieces)


def is_list(content_type: str) -> bool:
    """Whether a media type is that of any number of values."""
    kind = media_type(content_type)
    return kind == EVENT_STREAM or kind in JSON_LINES


def is_one_value(content_type: str) -> bool:
    """Whether a media type is that of one JSON value, which means nothing before its end."""
    kind = media_type(content_type)
    return is_json(kind) and kind not in JSON_LINES


@contextmanager
def collected() -> Iterator[Reply]:
    """A reply that learns its content type from the protocol that is called within the block."""
    reply = Reply()
    token = _collected.set(reply)
    try:
        yield reply
    finally:
        _collected.reset(token)


def note_type(content_type: str, disposition: str = "") -> None:
    """Tell the reply that is collected, if one is, what type it has."""
    reply = _collected.get()
    if reply is not None:
        reply.content_type, reply.disposition = content_type, disposition


@asynccontextmanager
async def closing(pieces: Any) -> AsyncIterator[Any]:
    """Close a stream of a protocol at the end of the block, if it can be closed: plugins yield in several ways."""
    try:
        yield pieces
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


def _is_scalar(piece: object) -> bool:
    return piece is None or isinstance(piece, (str, int, float))
