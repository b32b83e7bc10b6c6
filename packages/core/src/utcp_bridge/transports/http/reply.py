"""Replies by content type: JSON to data, text to text, anything else to a block that describes it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from utcp_bridge.content_types import UNTYPED, charset_of, decode_text, is_json, is_text, media_type, plain_text
from utcp_bridge.results import NO_CONTENT

# Where a server says that something is which it does not send: what was made (RFC 9110, section 10.2.2), or how the
# work that has begun goes on (Azure's guidelines for long-running operations).
_PLACES = ("Location", "Operation-Location")
_FILENAME = re.compile(r"filename\s*=\s*(?:\"([^\"]*)\"|([^\s;]+))", re.IGNORECASE)


@dataclass(slots=True)
class BegunReply:
    """A reply that is being read; as `begun.Begun`.

    Attributes:
        content_type: Its `Content-Type`, or an empty string.
        pieces: The parts of its body that have come so far.
        latest: When the last of them came, by `time.monotonic`.
    """

    content_type: str
    pieces: list[bytes] = field(default_factory=list)
    latest: float = 0.0

    @property
    def tells_something(self) -> bool:
        """Whether a part of it means something, as a part of a text does, and none of one JSON value or a picture."""
        kind = media_type(self.content_type)
        return is_text(kind) and not is_json(kind)

    def add(self, piece: bytes) -> None:
        """Take the next part, which has come just now."""
        self.pieces.append(piece)
        self.latest = monotonic()

    def whole(self) -> Any:
        """What the parts make together."""
        return read_reply(b"".join(self.pieces), self.content_type)


def reply_of(content: bytes, headers: Mapping[str, str]) -> Any:
    """What a tool's reply means; as `read_reply`, but an empty one tells where there is something, if the server does.

    Args:
        content: The whole body, decompressed.
        headers: The headers, their names in any case.
    """
    reply = read_reply(content, headers.get("Content-Type", ""), headers.get("Content-Disposition", ""))
    places = [f"{name}: {headers[name]}" for name in _PLACES if headers.get(name)]
    return "; ".join((NO_CONTENT, *places)) if reply is None and places else reply


def read_reply(content: bytes, content_type: str, disposition: str = "") -> Any:
    """What a tool's reply means.

    Args:
        content: The whole body, decompressed.
        content_type: The `Content-Type` header, or an empty string.
        disposition: The `Content-Disposition` header, or an empty string.

    Returns:
        None for a body that is empty, or a text of white space alone; data for JSON; a string for text, for JSON that
        is broken, and for UTF-8 text that the server has no type for; for everything else a block
        `{"type": "blob", "mimeType": ..., "size": ..., "blob": <base64>}`, with `filename` if there is one.
    """
    if not content:
        return None
    kind = media_type(content_type)
    if is_json(kind):
        try:
            return json.loads(_json_source(content, content_type))
        except (ValueError, RecursionError):
            return _text(decode_text(content, content_type))
    if is_text(kind):
        return _text(decode_text(content, content_type))
    if kind in UNTYPED and (text := plain_text(content)) is not None:
        return _text(text)
    return _blob(content, kind or "application/octet-stream", disposition)


def _text(text: str) -> str | None:
    return text if text.strip() else None


def _json_source(content: bytes, content_type: str) -> str | bytes:
    # `json` detects the Unicode encodings (RFC 8259, section 8.1); others are read only where they are declared.
    return content if charset_of(content_type)[:3] in {"", "utf"} else decode_text(content, content_type)


def _blob(content: bytes, kind: str, disposition: str) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "blob", "mimeType": kind, "size": len(content)}
    if match := _FILENAME.search(disposition):
        block["filename"] = match.group(1) or match.group(2)
    block["blob"] = base64.b64encode(content).decode("ascii")
    return block
