"""Replies by content type: JSON to data, text to text, anything else to a block that describes it."""

from __future__ import annotations

import base64
import codecs
import json
import re
from functools import lru_cache
from typing import Any

from utcp_bridge.transports._http_body import is_json, media_type

_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"']+)", re.IGNORECASE)
_FILENAME = re.compile(r"filename\s*=\s*(?:\"([^\"]*)\"|([^\s;]+))", re.IGNORECASE)
# What a server says that does not know: no type at all, or "some bytes" (the second is what object stores say).
UNTYPED = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_NOT_IN_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_TEXT_TYPES = frozenset(
    (
        "application/xml",
        "application/javascript",
        "application/ecmascript",
        "application/x-javascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/graphql",
        "application/sql",
        "application/x-sh",
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/json-seq",
        "application/x-www-form-urlencoded",
        "application/rtf",
        "application/x-httpd-php",
        "image/svg+xml",
    )
)


def read_reply(content: bytes, content_type: str, disposition: str = "") -> Any:
    """What a tool's reply means.

    Args:
        content: The whole body, decompressed.
        content_type: The `Content-Type` header, or an empty string.
        disposition: The `Content-Disposition` header, or an empty string.

    Returns:
        None for an empty body; data for JSON; a string for text, for JSON that is broken, and for UTF-8 text that
        the server has no type for; for everything else a block
        `{"type": "blob", "mimeType": ..., "size": ..., "blob": <base64>}`, with `filename` if there is one.
    """
    if not content:
        return None
    kind = media_type(content_type)
    if is_json(kind):
        try:
            return json.loads(_json_source(content, content_type))
        except (ValueError, RecursionError):
            return decode_text(content, content_type)
    if is_text(kind):
        return decode_text(content, content_type)
    if kind in UNTYPED and (text := plain_text(content)) is not None:
        return text
    return _blob(content, kind or "application/octet-stream", disposition)


def is_text(kind: str) -> bool:
    """Whether a media type is text that a person could read."""
    return kind.startswith("text/") or kind.endswith(("+xml", "+yaml")) or kind in _TEXT_TYPES


def decode_text(content: bytes, content_type: str) -> str:
    """Text in its declared charset; without one UTF-8, else Windows-1252, as browsers read it."""
    for mark, codec in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if content.startswith(mark):
            return content.decode(codec, errors="replace")
    if charset := charset_of(content_type):
        try:
            return content.decode(charset, errors="replace")
        except (LookupError, ValueError):  # an unknown charset, or a codec that is not one for text
            return content.decode(errors="replace")
    text = _utf8(content)
    return content.decode("cp1252", errors="replace") if text is None else text


def plain_text(content: bytes) -> str | None:
    """The content as text if it is UTF-8 without control characters that no text has, else None."""
    text = _utf8(content)
    return None if text is None or _NOT_IN_TEXT.search(text) else text


def _json_source(content: bytes, content_type: str) -> str | bytes:
    # `json` detects the Unicode encodings (RFC 8259, section 8.1); others are read only where they are declared.
    return content if charset_of(content_type)[:3] in {"", "utf"} else decode_text(content, content_type)


@lru_cache(maxsize=1024)
def charset_of(content_type: str) -> str:
    """`iso-8859-1` of `text/plain; charset=ISO-8859-1`; empty where none is declared."""
    match = _CHARSET.search(content_type)
    return match.group(1).lower() if match else ""


def _utf8(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _blob(content: bytes, kind: str, disposition: str) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "blob", "mimeType": kind, "size": len(content)}
    if match := _FILENAME.search(disposition):
        block["filename"] = match.group(1) or match.group(2)
    block["blob"] = base64.b64encode(content).decode("ascii")
    return block
