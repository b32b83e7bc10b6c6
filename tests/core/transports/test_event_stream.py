"""Server-sent events, as their standard reads them, whatever the pieces in which they arrive."""

from __future__ import annotations

from typing import Any

import pytest

from utcp_bridge.transports.streaming.event_stream import EventParser, EventStreamError, ServerEvent

STREAMS: list[tuple[bytes, list[ServerEvent]]] = [
    (b"data: a\n\ndata: b\n\n", [ServerEvent(data="a"), ServerEvent(data="b")]),
    (b"data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", [ServerEvent(data=text) for text in "abc"]),
    (b"data: one\ndata\ndata:two\n\n", [ServerEvent(data="one\n\ntwo")]),
    (b"data:  two spaces\n\n", [ServerEvent(data=" two spaces")]),
    (b"event: tick\nid: 7\nretry: 20\ndata: x\n\n", [ServerEvent("tick", "x", "7", 20)]),
    (b": keep alive\n\n:\n\n\n\n", []),
    (b"id: 3\n\n", [ServerEvent(id="3")]),
    (b"id\ndata: x\n\n", [ServerEvent(data="x", id="")]),
    (b"id: a\x00b\ndata: x\n\n", [ServerEvent(data="x")]),
    (b"retry: 20ms\nretry: -1\nretry: 1234567890123456789\ndata: x\n\n", [ServerEvent(data="x")]),
    ("data: Zoë 日本\n\n".encode(), [ServerEvent(data="Zoë 日本")]),
    (b"\xef\xbb\xbfdata: after a mark\n\n", [ServerEvent(data="after a mark")]),
    (b"data: \xff\n\n", [ServerEvent(data="\N{REPLACEMENT CHARACTER}")]),
    (b"data: a\n\ndata: not ended\n", [ServerEvent(data="a")]),
    (b"unknown: x\ndata: a\n\n", [ServerEvent(data="a")]),
    (b"data: ends with the stream\n\r", [ServerEvent(data="ends with the stream")]),
]


def _read(*portions: bytes) -> list[ServerEvent]:
    parser = EventParser(1000)
    return [event for portion in (*portions, b"") for event in parser.feed(portion)]


@pytest.mark.parametrize(("stream", "events"), STREAMS)
def test_events_are_read_whatever_the_portions(stream: bytes, events: list[ServerEvent]) -> None:
    assert _read(stream) == events
    for cut in range(1, len(stream)):
        assert _read(stream[:cut], stream[cut:]) == events, cut
    assert _read(*(stream[index : index + 1] for index in range(len(stream)))) == events


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_an_event_comes_with_the_end_of_its_empty_line(line_end: bytes) -> None:
    parser = EventParser(1000)
    for text in "abc":
        assert list(parser.feed(b"data: " + text.encode() + line_end)) == []
        assert list(parser.feed(line_end[:1])) == [ServerEvent(data=text)]
        if rest := line_end[1:]:
            assert list(parser.feed(rest)) == []


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("plain", "plain"),
        ("5", 5),
        ('"5"', "5"),
        ("", ""),
        ("{", "{"),
        ("null", None),
    ],
)
def test_data_is_a_json_value_where_it_is_one(data: str, value: Any) -> None:
    assert ServerEvent(data=data).value == value


@pytest.mark.parametrize("portions", [[b"data: " + b"x" * 1001], [b"data: x\n"] * 200, [b"x" * 400] * 3])
def test_an_event_without_an_end_is_an_error(portions: list[bytes]) -> None:
    with pytest.raises(EventStreamError, match="1,000 characters"):
        _read(*portions)


def test_the_limit_is_one_of_each_event() -> None:
    assert len(_read(*[b"data: " + b"x" * 900 + b"\n\n"] * 5)) == 5
