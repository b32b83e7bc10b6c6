"""The format of server-sent events.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from utcp_http.sse_communication_protocol import SseProtocolError

from utcp_bridge.errors import ToolExecutionError

_LONGEST_RETRY = 18  # digits; upstream's bound, which keeps the conversion cheap


class EventStreamError(ToolExecutionError, SseProtocolError):
    """A server answered with something that is no event stream."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """What stood between two empty lines.

    Attributes:
        kind: Its type; `message` where the server gives none.
        data: Its text, or None where there is none, and so no event.
        id: The id to go on from after a broken connection; empty to forget the one before, None to keep it.
        retry: How long to wait before the next connection, in milliseconds, or None.
    """

    kind: str = "message"
    data: str | None = None
    id: str | None = None
    retry: int | None = None

    @property
    def value(self) -> Any:
        """The data as a JSON value where it is one, else as text; None where there is none.

        A number that would be written in another way stays text: in a text that comes in portions, `1e5` is no number.
        """
        if self.data is None:
            return None
        try:
            value = json.loads(self.data, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return self.data
        is_other = isinstance(value, (int, float)) and json.dumps(value) != self.data
        return self.data if is_other else value


class EventParser:
    """Takes a stream of bytes in any pieces, and gives the events that have ended.

    Args:
        longest: The most characters of an event.
    """

    def __init__(self, longest: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._after_return = False
        self._longest = longest
        self._line: list[str] = []
        self._lines: list[str] = []
        self._size = 0

    def feed(self, content: bytes) -> Iterator[ServerEvent]:
        """The events that end in these bytes; no bytes are the end, where an event without its empty line is none.

        Raises:
            EventStreamError: One has more characters than allowed.
        """
        text = self._decoder.decode(content, final=not content)
        if text:
            # A carriage return ends a line at once: what follows it may be long in coming.
            rest = text.removeprefix("\n") if self._after_return else text
            self._after_return = text.endswith("\r")
            text = rest.replace("\r\n", "\n").replace("\r", "\n")
        *ended, rest = text.split("\n")
        for part in ended:
            self._line.append(part)
            self._count(len(part) + 1)
            line = "".join(self._line)
            self._line.clear()
            if line:
                self._lines.append(line)
                continue
            event = _event(self._lines)
            self._lines.clear()
            self._size = 0
            if event is not None:
                yield event
        if rest:
            self._line.append(rest)
            self._count(len(rest))

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self._longest:
            raise EventStreamError(f"the server sent an event of more than {self._longest:,} characters")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _event(lines: list[str]) -> ServerEvent | None:
    kind, data, event_id, retry = "", [], None, None
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            kind = value
        elif name == "id" and "\x00" not in value:
            event_id = value
        elif name == "retry" and value.isascii() and value.isdigit() and len(value) <= _LONGEST_RETRY:
            retry = int(value)
    if not data and event_id is None and retry is None:
        return None
    return ServerEvent(kind or "message", "\n".join(data) if data else None, event_id, retry)
