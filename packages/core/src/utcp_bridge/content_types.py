"""Content types, and text in the charset that one declares."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s;\"']+)", re.IGNORECASE)
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


@lru_cache(maxsize=1024)
def media_type(content_type: str) -> str:
    """`application/json` of `Application/JSON; charset=utf-8`."""
    return content_type.partition(";")[0].strip().lower()


@lru_cache(maxsize=1024)
def is_json(kind: str) -> bool:
    """Whether a media type is JSON: `application/json`, any `+json` (RFC 6839), and the unregistered spellings."""
    return kind.endswith(("/json", "+json")) or kind in {"application/x-json", "text/x-json"}


def is_text(kind: str) -> bool:
    """Whether a media type is text that a person could read."""
    return kind.startswith("text/") or kind.endswith(("+xml", "+yaml")) or kind in _TEXT_TYPES


@lru_cache(maxsize=1024)
def charset_of(content_type: str) -> str:
    """`iso-8859-1` of `text/plain; charset=ISO-8859-1`; empty where none is declared."""
    match = _CHARSET.search(content_type)
    return match.group(1).lower() if match else ""


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


def _utf8(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
