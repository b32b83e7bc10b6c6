"""Bytes of a reply to pieces of it, by content type."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, Final, Protocol

from utcp_bridge.content_types import charset_of, is_text, media_type
from utcp_bridge.transports.http.reply import read_reply
from utcp_bridge.transports.streaming.event_stream import EventParser
from utcp_bridge.transports.streaming.pieces import EVENT_STREAM, JSON_LINES

_LINE_END: Final = re.compile(rb"[\r\n\x1e]+")  # the last is the separator of RFC 7464


class StreamParser(Protocol):
    """Takes bytes in any portions and gives the pieces that are complete."""

    def feed(self, content: bytes, /) -> Iterator[Any]:
        """The pieces that end in these bytes; no bytes are the end."""


def parser_of(content_type: str, *, longest_event: int) -> StreamParser:
    """The parser of a content type.

    Args:
        content_type: The `Content-Type`, or an empty string.
        longest_event: The most characters of one event of an event stream.
    """
    kind = media_type(content_type)
    if kind == EVENT_STREAM:
        return _Events(longest_event)
    if kind in JSON_LINES:
        return _Lines()
    return _Text(content_type) if is_text(kind) else _Bytes()


class _Events:
    def __init__(self, longest: int) -> None:
        self._parser = EventParser(longest)

    def feed(self, content: bytes) -> Iterator[Any]:
        return (event.value for event in self._parser.feed(content) if event.data is not None)


class _Lines:
    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def feed(self, content: bytes) -> Iterator[Any]:
        *ended, rest = _LINE_END.split(content)
        if not content:
            ended = [b""]
        for part in ended:
            line = b"".join((*self._begun, part)).strip()
            self._begun.clear()
            if line:
                yield read_reply(line, "application/json")
        self._begun.append(rest)


class _Text:
    def __init__(self, content_type: str) -> None:
        self._decoder = codecs.getincrementaldecoder(_codec(content_type))(errors="replace")

    def feed(self, content: bytes) -> Iterator[str]:
        if text := self._decoder.decode(content, final=not content):
            yield text


class _Bytes:
    def feed(self, content: bytes) -> Iterator[bytes]:
        if content:
            yield content


def _codec(content_type: str) -> str:
    declared = charset_of(content_type)
    try:
        "".encode(declared or "utf-8").decode(declared or "utf-8")
    except (LookupError, ValueError):  # unknown, or a codec that is none for text
        declared = ""
    return "utf-8-sig" if declared in {"", "utf-8", "utf8"} else declared
