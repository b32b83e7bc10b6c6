"""Encoding Objects on the wire: styles, reserved characters and headers of the fields and parts of forms."""

from __future__ import annotations

import base64
import json
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import pytest

from tests.support.http_server import Received
from tests.support.openapi import api, described, json_body, operation, tool_of

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
FILE: dict[str, Any] = {"type": "string", "format": "binary"}


def form(
    properties: dict[str, Any],
    kind: str = MULTIPART,
    version: str = "3.1.0",
    /,
    *,
    required: bool = False,
    **media: Any,
) -> dict[str, Any]:
    """A document with one POST of a form; `media` is what its Media Type Object says besides."""
    schema = media.pop("schema", {"type": "object", "properties": properties, "required": media.pop("needed", [])})
    body = {"content": {kind: {"schema": schema, **media}}, "required": required}
    return described(operation(method="post", requestBody=body), version)


def parts_of(received: Received) -> list[tuple[dict[str, str], bytes]]:
    """Headers and content of each part."""
    head = f"Content-Type: {received.headers['Content-Type']}\r\n\r\n".encode()
    found: list[tuple[dict[str, str], bytes]] = []
    for part in BytesParser(policy=HTTP).parsebytes(head + received.body).iter_parts():
        assert isinstance(part, EmailMessage)
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found.append((dict(part.items()), content))
    return found


# -- reserved characters


@pytest.mark.parametrize(
    ("encoding", "value", "body"),
    [
        ({}, "http://a/b?c#d[e]", "v=http%3A%2F%2Fa%2Fb%3Fc%23d%5Be%5D"),
        ({"allowReserved": True}, "http://a/b?c#d[e]", "v=http://a/b?c#d[e]"),
        ({"allowReserved": True}, "a&b=c+d e%20f", "v=a%26b%3Dc%2Bd%20e%20f"),
        ({"allowReserved": True}, ["a/b", "c"], "v=a/b&v=c"),
        ({"allowReserved": True, "explode": False}, ["a/b", "c"], "v=a/b,c"),
        ({"allowReserved": True, "style": "deepObject"}, {"k": "a/b"}, "v%5Bk%5D=a/b"),
        ({"allowReserved": False, "style": "form"}, "a/b", "v=a%2Fb"),
    ],
)
async def test_reserved_characters_of_a_form_field_are_kept_where_it_allows_them(
    encoding: dict[str, Any], value: Any, body: str
) -> None:
    async with api(form({"v": {}}, FORM, encoding={"v": encoding})) as served:
        assert (await served.sent({"body": {"v": value}})).body.decode() == body


async def test_reserved_characters_of_a_field_of_the_whole_query() -> None:
    media = {"schema": {"type": "object"}, "encoding": {"v": {"allowReserved": True}}}
    whole = {"name": "q", "in": "querystring", "content": {FORM: media}}
    async with api(described(operation(whole), "3.2.0")) as served:
        assert (await served.sent({"q": {"v": "a/b&", "w": "a/b"}})).target == "/op?v=a/b%26&w=a%2Fb"


# -- headers of parts

HEADERS = {
    "X-Limit": {"$ref": "#/components/headers/Limit"},
    "X-Tags": {"schema": {"type": "array", "items": {"type": "string"}}, "description": "Some."},
    "Content-Type": {"schema": {"type": "string"}},
    "Content-Disposition": {"schema": {"type": "string"}},
}


@pytest.mark.parametrize(("kind", "flat"), [(MULTIPART, False), (MULTIPART, True), ("multipart/mixed", False)])
async def test_a_header_of_a_part_is_an_argument(kind: str, flat: bool) -> None:
    document = form({"f": FILE, "note": {}}, kind, needed=["f"], required=True, encoding={"f": {"headers": HEADERS}})
    document["components"] = {"headers": {"Limit": {"required": True, "schema": {"type": "integer"}}}}
    async with api(document, openapi={"flatten_body": flat}) as served:
        schema = served.toolset.find("api.op").input_schema
        assert set(schema["required"]) == {"f" if flat else "body", "X-Limit"}
        assert (schema["properties"]["X-Limit"], schema["properties"]["X-Tags"]["description"]) == (
            {"type": "integer"},
            "Some.",
        )
        body = {"f": "text", "note": "n"}
        received = await served.sent({**(body if flat else {"body": body}), "X-Limit": 5, "X-Tags": ["a", "b"]})
        (first, content), (second, _) = parts_of(received)
        assert (first["X-Limit"], first["X-Tags"], content) == ("5", "a,b", b"text")
        assert first["Content-Disposition"] == 'form-data; name="f"; filename="f"'
        assert "X-Limit" not in second
        assert "X-Limit" not in received.headers
        assert "X-Limit" in await served.refused(body if flat else {"body": body})


async def test_headers_of_one_name_are_told_apart_and_none_is_forged() -> None:
    named = {"headers": {"X-A": {"schema": {"type": "string"}}}}
    document = form({"f": FILE, "g": {}, "X-B": {}}, encoding={"f": named, "g": named})
    document["paths"]["/op"]["post"]["parameters"] = [{"name": "X-B", "in": "header", "schema": {}}]
    document["paths"]["/op"]["post"]["requestBody"]["content"][MULTIPART]["encoding"]["X-B"] = {
        "headers": {"X-B": {"schema": {"type": "string"}}}
    }
    async with api(document) as served:
        arguments = {"body": {"f": "1", "g": "2"}, "f_X-A": "one", "g_X-A": "two", "X-B": "whole", "X-B_X-B": "unsent"}
        received = await served.sent(arguments)
        assert [headers["X-A"] for headers, _ in parts_of(received)] == ["one", "two"]
        assert received.headers["X-B"] == "whole"
        assert "X-A" in await served.refused({"body": {"f": "1"}, "f_X-A": "one\r\nX-C: d"})


# -- styles of parts


@pytest.mark.parametrize(
    ("encoding", "value", "parts"),
    [
        ({"style": "deepObject"}, {"a": 1, "b": ["x/y"]}, [("v[a]", b"1"), ("v[b][0]", b"x/y")]),
        ({"style": "form"}, {"a": "é &", "b": True}, [("a", "é &".encode()), ("b", b"true")]),
        ({"explode": False}, ["x,", "y"], [("v", b"x,,y")]),
        ({"style": "pipeDelimited", "explode": False}, ["x", "y"], [("v", b"x|y")]),
        ({"style": "form"}, ["x", "y"], [("v", b"x"), ("v", b"y")]),
        ({"allowReserved": True}, "a/b", [("v", b"a/b")]),
        ({"style": "form", "contentType": "application/json"}, "a", [("v", b"a")]),
    ],
)
async def test_the_style_of_a_part_counts_since_openapi_3_1(
    encoding: dict[str, Any], value: Any, parts: list[tuple[str, bytes]]
) -> None:
    async with api(form({"v": {}}, encoding={"v": encoding})) as served:
        received = parts_of(await served.sent({"body": {"v": value}}))
        assert received == [({"Content-Disposition": f'form-data; name="{name}"'}, content) for name, content in parts]


async def test_the_style_of_a_part_does_not_count_in_openapi_3_0() -> None:
    async with api(form({"v": {}}, MULTIPART, "3.0.3", encoding={"v": {"style": "deepObject"}})) as served:
        ((headers, content),) = parts_of(await served.sent({"body": {"v": {"a": 1}}}))
        assert (headers["Content-Type"], content) == ("application/json", b'{"a":1}')


async def test_a_file_stays_one_whatever_style_its_part_has() -> None:
    async with api(form({"v": FILE}, encoding={"v": {"style": "form", "contentType": "image/png"}})) as served:
        ((headers, content),) = parts_of(await served.sent({"body": {"v": "text"}}))
        assert ("filename" in headers["Content-Disposition"], content) == (True, b"text")


# -- what stands in a part


async def test_a_text_that_is_json_is_not_written_as_json_once_more() -> None:
    properties = {"v": {"type": "string", "contentMediaType": "application/json"}, "f": FILE}
    async with api(form(properties)) as served:
        assert [content for _, content in parts_of(await served.sent({"body": {"v": '{"a":1}'}}))] == [b'{"a":1}']


async def test_a_content_type_reads_no_variable_of_the_users() -> None:
    document = form({"v": {"type": "string"}}, encoding={"v": {"contentType": "text/${SECRET}"}})
    async with api(document, variables={"api_SECRET": "hush"}) as served:
        assert b"hush" not in (await served.sent({"body": {"v": "a"}})).body


# -- a file in a urlencoded form


@pytest.mark.parametrize(
    "schema",
    [FILE, {"type": "string", "contentMediaType": "application/octet-stream"}, {"anyOf": [FILE, {"type": "null"}]}],
)
@pytest.mark.parametrize("is_list", [False, True])
async def test_a_urlencoded_form_with_a_file_is_sent_as_multipart_once_there_is_one(
    schema: dict[str, Any], is_list: bool
) -> None:
    properties = {"f": {"type": "array", "items": schema} if is_list else schema, "n": {"type": "integer"}}
    async with api(form(properties, FORM)) as served:
        file = {"base64": base64.b64encode(b"\x00\xff").decode(), "filename": "a.bin"}
        received = await served.sent({"body": {"f": [file] if is_list else file, "n": 5}})
        assert received.headers["Content-Type"].startswith(MULTIPART)
        (first, content), (second, number) = parts_of(received)
        assert ('filename="a.bin"' in first["Content-Disposition"], content, number) == (True, b"\x00\xff", b"5")
        assert "filename" not in second["Content-Disposition"]
        without = await served.sent({"body": {"n": 5}})
        assert (without.headers["Content-Type"], without.body) == (FORM, b"n=5")
        text = await served.sent({"body": {"f": ["a b"] if is_list else "a b"}})
        assert (text.headers["Content-Type"], text.body) == (FORM, b"f=a+b")


# -- parts without names


@pytest.mark.parametrize(
    "media",
    [
        {"itemSchema": {"type": "object"}, "itemEncoding": {"contentType": "application/json"}},
        {"schema": {"type": "array", "items": {"type": "object"}}},
    ],
)
async def test_the_parts_of_a_list_have_no_names(media: dict[str, Any]) -> None:
    document = described(operation(method="post", requestBody={"content": {"multipart/mixed": media}}), "3.2.0")
    async with api(document) as served:
        received = await served.sent({"body": [{"a": 1}, {"b": [2]}]})
        assert received.headers["Content-Type"].startswith("multipart/mixed; boundary=")
        assert [(headers, json.loads(content)) for headers, content in parts_of(received)] == [
            ({"Content-Type": "application/json"}, {"a": 1}),
            ({"Content-Type": "application/json"}, {"b": [2]}),
        ]


async def test_each_place_of_a_list_of_parts_has_its_own_type() -> None:
    media = {
        "schema": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "object"}],
            "items": FILE,
            "minItems": 2,
        },
        "prefixEncoding": [{}, {"contentType": "application/vnd.a+json"}],
        "itemEncoding": {"contentType": "image/png, image/jpeg"},
    }
    document = described(operation(method="post", requestBody={"content": {"multipart/related": media}}), "3.2.0")
    async with api(document) as served:
        file = {"base64": base64.b64encode(b"\xff").decode(), "content_type": "image/jpeg"}
        parts = parts_of(await served.sent({"body": ["text", {"a": 1}, file, "x"]}))
        assert parts == [
            ({}, b"text"),
            ({"Content-Type": "application/vnd.a+json"}, b'{"a":1}'),
            ({"Content-Type": "image/jpeg"}, b"\xff"),
            ({"Content-Type": "image/png"}, b"x"),
        ]
        assert "at least 2" in await served.refused({"body": ["text"]})


def test_parts_of_a_form_always_have_names() -> None:
    tool = tool_of(described(operation(method="post", requestBody=json_body({"type": "array"}, MULTIPART)), "3.2.0"))
    assert tool.inputs["properties"]["body"]["type"] == "object"
