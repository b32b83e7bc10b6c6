"""Replies of every kind as results."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from utcp_bridge import normalise
from utcp_bridge.results import within_64_bits

MCP = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "isError": True}


@pytest.mark.parametrize(
    ("reply", "content", "data"),
    [
        ("hi", "hi", None),
        ("", "(no content)", None),
        (None, "(no content)", None),
        ({"a": None, "b": True, "ü": "中"}, '{"a":null,"b":true,"ü":"中"}', {"a": None, "b": True, "ü": "中"}),
        ([1], "[1]", [1]),
        ([], "[]", []),
        (0, "0", 0),
        (False, "false", False),
        ({"type": "text", "text": "hi"}, "hi", {"type": "text", "text": "hi"}),
        ({"text": "hi", "is_error": False, "meta": {}}, "hi", {"text": "hi", "is_error": False, "meta": {}}),
        ({"text": "hi", "lang": "en"}, '{"text":"hi","lang":"en"}', {"text": "hi", "lang": "en"}),
        ({"content": "hi", "is_error": False}, "hi", {"content": "hi", "is_error": False}),
        ({"content": "hi", "id": 3}, '{"content":"hi","id":3}', {"content": "hi", "id": 3}),
        (MCP, "a\nb", MCP),
    ],
)
def test_content_and_data(reply: object, content: str, data: object) -> None:
    result = normalise(reply)
    assert result.content == content
    assert result.data == data
    assert type(result.data) is type(data)


@pytest.mark.parametrize("key", ["text", "content"])
@pytest.mark.parametrize(
    "beside",
    [
        {"ok": True, "channel": "C024BE91L", "ts": "1503435956.000247"},
        {"id": 1, "by": "pg", "kids": [2, 3], "type": "comment"},
        {"confidence": 0.98},
        {"next": None},
    ],
)
def test_what_stands_beside_a_text_is_shown_with_it(key: str, beside: dict[str, Any]) -> None:
    reply = {**beside, key: "Here's a message for you"}
    assert json.loads(normalise(reply).content) == reply


def test_an_mcp_error_stays_an_error() -> None:
    assert normalise(MCP).is_error
    assert not normalise({**MCP, "isError": False}).is_error
    assert normalise({"content": [{"type": "of tomorrow", "x": 1}], "isError": True}).is_error
    told = normalise({"text": "no disk", "is_error": True, "code": 28})
    assert (told.content, told.is_error) == ('{"text":"no disk","is_error":true,"code":28}', True)


@pytest.mark.parametrize(
    ("reply", "raw"),
    [
        ("hi", [{"type": "text", "text": "hi"}]),
        ({"text": "hi"}, [{"text": "hi"}]),
        ([1, 2], [{"type": "raw", "value": [1, 2]}]),
        (MCP, MCP["content"]),
    ],
)
def test_raw_holds_the_original(reply: object, raw: list[dict[str, Any]]) -> None:
    assert normalise(reply).raw == raw


def test_bytes_are_described_and_kept() -> None:
    result = normalise(b"\x89PNG\x00")
    assert result.content == "[blob: application/octet-stream, 5 bytes]"
    assert base64.b64decode(result.raw[0]["blob"]) == b"\x89PNG\x00"


def test_a_file_is_described_by_name_type_and_size() -> None:
    block = {"type": "blob", "mimeType": "audio/wav", "size": 1500, "blob": "UklGRg==", "filename": "hi.wav"}
    result = normalise(block)
    assert (result.content, result.raw, result.data) == ("[blob 'hi.wav': audio/wav, 1,500 bytes]", [block], None)


def test_media_blocks_are_described_beside_the_text() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(bytes(1500)).decode()}
    assert normalise([{"type": "text", "text": "a chart"}, image]).content == "a chart\n[image: image/png, 1,500 bytes]"


_PICTURE = base64.b64encode(bytes(1500)).decode()
_IMAGE = {"type": "image", "data": _PICTURE, "mimeType": "image/png", "annotations": None, "_meta": None}
_SAID = "[image: image/png, 1,500 bytes]"


@pytest.mark.parametrize(
    ("reply", "content"),
    [
        (_IMAGE, _SAID),
        (["Here", _IMAGE, "end"], f"Here\n{_SAID}\nend"),
        ([{"width": 3}, _IMAGE, 7], f'{{"width":3}}\n{_SAID}\n7'),
        ({"content": [_IMAGE], "structuredContent": {"width": 3}}, f'{{"width":3}}\n{_SAID}'),
        ({"content": [_IMAGE, {"type": "of tomorrow"}], "isError": False}, f'{_SAID}\n{{"type":"of tomorrow"}}'),
        ({**_IMAGE, "data": f"data:image/png;base64,{_PICTURE}"}, _SAID),
        ({"type": "audio", "data": _PICTURE, "mimeType": "audio/wav"}, "[audio: audio/wav, 1,500 bytes]"),
        (
            {"type": "resource", "resource": {"uri": "file:///a.png", "blob": _PICTURE, "mimeType": "image/png"}},
            "[resource 'file:///a.png': image/png, 1,500 bytes]",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "words", "mimeType": "text/plain"}},
            "words",
        ),
        (
            {"type": "resource_link", "uri": "file:///a.png", "name": "a", "mimeType": "image/png"},
            "[resource: file:///a.png (a, image/png)]",
        ),
        (
            {"contents": [{"uri": "a:1", "text": "words"}, {"uri": "a:2", "blob": _PICTURE}], "meta": None},
            "words\n[resource 'a:2': unknown type, 1,500 bytes]",
        ),
    ],
)
def test_media_of_mcp_are_described_alone_and_among_texts_and_kept(reply: Any, content: str) -> None:
    result = normalise(reply)
    assert result.content == content
    assert (_PICTURE in json.dumps(result.raw)) == (_PICTURE in json.dumps(reply))


@pytest.mark.parametrize(
    "reply",
    [
        [{"type": "image", "image_url": "https://host/a.png", "alt_text": "a"}],
        {"type": "image", "data": "https://host/a.png", "mimeType": "image/png"},
        [{"type": "text", "text": {"content": "x"}, "plain_text": "x", "annotations": {"bold": True}}],
        {"type": "resource", "resource": {"uri": "a:b", "id": 5}},
        ["a", "b"],
    ],
)
def test_what_only_resembles_content_of_mcp_is_shown_whole(reply: Any) -> None:
    assert json.loads(normalise(reply).content) == reply


def test_python_objects_become_json_text() -> None:
    @dataclass
    class Reply:
        day: date
        other: object

    content = normalise(Reply(date(2026, 1, 2), {1, 2})).content
    assert content == '{"day":"2026-01-02","other":[1,2]}'


@given(st.text(max_size=200), st.integers(min_value=0, max_value=200))
def test_content_keeps_to_the_limit_and_raw_is_whole(text: str, limit: int) -> None:
    result = normalise(text, max_chars=limit)
    assert len(result.content) <= max(limit, 0)
    assert result.raw == [{"type": "text", "text": text}]


def test_a_cut_says_the_full_size() -> None:
    result = normalise("x" * 5_000, max_chars=100)
    assert result.content.endswith("[cut: the full text has 5,000 characters]")
    assert normalise("x" * 50_000, max_chars=None).content == "x" * 50_000


@pytest.mark.parametrize(
    ("reply", "content"),
    [
        (
            {"ratio": float("nan"), "limit": float("inf"), "floor": float("-inf")},
            '{"ratio":"NaN","limit":"Infinity","floor":"-Infinity"}',
        ),
        ({"emoji": "a\ud83d"}, '{"emoji":"a\N{REPLACEMENT CHARACTER}"}'),
        ({"k\udfff": [1]}, '{"k\N{REPLACEMENT CHARACTER}":[1]}'),
        ("a\ud83d", "a\N{REPLACEMENT CHARACTER}"),
        ({1: "a", None: "b", False: "c"}, '{"1":"a","null":"b","false":"c"}'),
        ({"data": b"\xff\xfe\xfd"}, '{"data":"//79"}'),
        ([object()], '["[object]"]'),
        (10**30, "1" + "0" * 30),
    ],
)
def test_what_json_cannot_say_is_said_as_near_as_it_can(reply: object, content: str) -> None:
    result = normalise(reply)
    assert result.content == content
    json.loads(json.dumps([result.data, result.raw], allow_nan=False))
    result.content.encode()


class _Model(BaseModel):
    picture: bytes = b"\xff\x00"
    when: date = date(2024, 1, 31)


@pytest.mark.parametrize(
    ("reply", "content"),
    [
        (_Model(), '{"picture":"/wA=","when":"2024-01-31"}'),
        ([_Model()], '[{"picture":"/wA=","when":"2024-01-31"}]'),
        ({"content": [], "structuredContent": {"celsius": 21}}, '{"celsius":21}'),
        ({"content": [{"type": "text", "text": ""}], "structuredContent": [1]}, "[1]"),
        ({"content": [{"type": "text", "text": "21"}], "structuredContent": {"celsius": 21}}, "21"),
        ({"content": [{"type": "text", "text": None}]}, "(no content)"),
        ({"content": [{"type": "text", "text": {"a": None}}]}, '{"a":null}'),
        ([{"type": "resource", "resource": {"uri": "a:b", "text": [True]}}], "[true]"),
        ({"text": "", "error": "out of range"}, '{"text":"","error":"out of range"}'),
        ({"text": ""}, "(no content)"),
        ({"text": "", "is_error": True}, "(no content)"),
    ],
)
def test_nothing_that_was_said_is_lost(reply: object, content: str) -> None:
    assert normalise(reply).content == content


def _nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def test_what_is_nested_too_deeply_is_a_result_all_the_same() -> None:
    ring: list[Any] = []
    ring.append(ring)
    loop: dict[str, Any] = {}
    loop["again"] = loop
    for reply in (ring, loop, _nested(20_000), {"content": [{"type": "text", "text": _nested(20_000)}]}):
        result = normalise(reply)
        assert "nested too deeply" in result.content
        assert not result.is_error
        json.dumps([result.raw, result.data])


WIDE = {2**64 - 1: 2**64 - 1, -(2**63): -(2**63), 2**64: str(2**64), -(2**63) - 1: str(-(2**63) - 1), True: True}


@pytest.mark.parametrize(("number", "kept"), WIDE.items())
def test_integers_beyond_64_bits_can_be_had_as_text_at_any_depth(number: int, kept: object) -> None:
    for around in (
        lambda value: value,
        lambda value: [value],
        lambda value: {"a": "b", "n": value, "x": None},
        lambda value: [{"rows": [[], {}, [1.5, {"n": value}]]}],
        lambda value: {"raw": [{"value": [value]}], "data": [value]},
    ):
        result = normalise(around(number))
        before = json.dumps([result.raw, result.data])
        assert json.dumps(within_64_bits(result.data)) == json.dumps(around(kept))
        assert json.dumps([result.raw, result.data]) == before
        assert kept != number or within_64_bits(result.data) is result.data


def test_integers_beyond_64_bits_are_found_as_deep_as_a_result_can_be() -> None:
    reply: Any = 2**64
    while True:
        deeper = [reply]
        if "nested too deeply" in normalise(deeper).content:
            break
        reply = deeper
    assert json.dumps(within_64_bits(normalise(reply).data)) == json.dumps(reply).replace(str(2**64), f'"{2**64}"')
