"""Manuals and OpenAPI documents over HTTP: what is read, and what is said when nothing can be."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from utcp.data.auth_implementations.api_key_auth import ApiKeyAuth
from utcp.data.auth_implementations.basic_auth import BasicAuth
from utcp_http.http_call_template import HttpCallTemplate

from tests.support.http_server import http_server, replying
from utcp_bridge.transports.documents import yaml
from utcp_bridge.transports.documents.parsing import parse_document
from utcp_bridge.transports.http.protocol import DocumentError, HttpProtocol

MANUAL = {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": []}


@pytest.fixture
async def protocol() -> AsyncIterator[HttpProtocol]:
    opened = HttpProtocol()
    yield opened
    await opened.close()


async def test_a_json_document_comes_with_its_url(protocol: HttpProtocol) -> None:
    async with http_server(replying(MANUAL)) as server:
        template = HttpCallTemplate(name="m", url=f"{server.url}/utcp")
        assert await protocol.fetch_document(template) == (MANUAL, f"{server.url}/utcp")


async def test_the_url_is_the_one_after_redirects(protocol: HttpProtocol) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/utcp":
            return web.Response(status=302, headers={"Location": "/v2/openapi.yaml"})
        return web.Response(text="openapi: 3.1.0", content_type="text/plain")

    async with http_server(answer) as server:
        document, url = await protocol.fetch_document(HttpCallTemplate(name="m", url=f"{server.url}/utcp"))
        assert (document, url) == ({"openapi": "3.1.0"}, f"{server.url}/v2/openapi.yaml")


@pytest.mark.parametrize(
    "auth",
    [
        ApiKeyAuth(api_key="key", var_name="X-Key", location="header"),
        BasicAuth.model_validate({"username": "u", "password": "p"}),
    ],
    ids=["api key", "basic"],
)
async def test_headers_and_credentials_are_sent(protocol: HttpProtocol, auth: Any) -> None:
    async with http_server(replying(MANUAL)) as server:
        template = HttpCallTemplate(name="m", url=server.url, auth=auth, headers={"X-Team": "blue"})
        await protocol.fetch_document(template)
        result = await protocol.register_manual(None, template)
    assert result.success
    for received in server.received:
        assert received.headers["X-Team"] == "blue"
        assert ("X-Key" in received.headers) != ("Authorization" in received.headers)


@pytest.mark.parametrize(
    ("body", "content_type", "url"),
    [
        (b'{"a": [1]}', "application/json", "/x"),
        (b'\xef\xbb\xbf{"a": [1]}', "application/json", "/x"),
        (b'{"a": [1]}', "text/plain", "/x"),
        (b'{"a": [1]}', "", "/x.yaml"),
        (b'{"a": [1]}', "text/html", "/x"),
        (b"a:\n  - 1\n", "application/yaml", "/x"),
        (b"a: [1]", "text/x-yaml; charset=utf-8", "/x"),
        (b"a: [1]", "application/octet-stream", "/x.yml?raw=1"),
        (b"a: [1]", "text/plain", "/x"),
        (b"# comment\n{a: [1]}", "application/vnd.oai.openapi", "/x"),
    ],
)
def test_json_and_yaml_are_told_apart(body: bytes, content_type: str, url: str) -> None:
    assert parse_document(body, content_type, f"https://example.com{url}") == {"a": [1]}


def test_yaml_is_read_as_json_could_say_it() -> None:
    text = """
    responses: {200: ok, 404: missing}
    true: key
    date: 2020-01-31
    time: 12:30
    answer: no
    flag: true
    octal: 010
    hex: 0x1F
    float: 1.5e3
    negative: -5
    nothing: ~
    empty:
    text: "1"
    base: &base {a: 1}
    merged: {<<: *base, b: 2}
    several: {a: 0, <<: [{b: 1, c: 1}, {b: 2, d: 2}]}
    same: *base
    version: 1.10
    tagged: !!str 5
    number: !!float 5
    quoted: 'yes'
    block: |
      two
      lines
    folded: >-
      one
      line
    ? long
    : key
    -1: minus
    list: [a, -, 1e3, .5, 0o17, 1_000, "<<", =]
    """
    assert parse_document(text.encode(), "application/yaml", "") == {
        "responses": {"200": "ok", "404": "missing"},
        "true": "key",
        "date": "2020-01-31",
        "time": "12:30",
        "answer": "no",
        "flag": True,
        "octal": 10,
        "hex": 31,
        "float": 1500.0,
        "negative": -5,
        "nothing": None,
        "empty": None,
        "text": "1",
        "base": {"a": 1},
        "merged": {"a": 1, "b": 2},
        "several": {"a": 0, "b": 1, "c": 1, "d": 2},
        "same": {"a": 1},
        "version": 1.1,
        "tagged": "5",
        "number": 5.0,
        "quoted": "yes",
        "block": "two\nlines\n",
        "folded": "one line",
        "long": "key",
        "-1": "minus",
        "list": ["a", "-", 1000.0, 0.5, 15, "1_000", "<<", "="],
    }


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('!Sub "arn:aws:${Region}"', "arn:aws:${Region}"),
        ("!Ref Name", "Name"),
        ("!GetAtt [Function, Arn]", ["Function", "Arn"]),
        ("!If {a: !Ref b}", {"a": "b"}),
        ("!unit 5", 5),
        ("!unit '5'", "5"),
        ("!e!x yes", "yes"),
        ("!!set {a, b}", {"a": None, "b": None}),
        ("!!omap [a: 1]", [{"a": 1}]),
        ("!!int five", "five"),
        ("!!python/object/apply:os.system [id]", ["id"]),
        ("!!python/name:os.system", None),
        ("!<tag:example.com,2026:x> {}", {}),
        ("{? [a, b] : 1, ? {c: 2} : 3}", {'["a", "b"]': 1, '{"c": 2}': 3}),
        ("{? [[a], {b: [c]}] : {? [d] : e}}", {'[["a"], {"b": ["c"]}]': {'["d"]': "e"}}),
        ("{x: &k [a], ? *k : 1}", {"x": ["a"], '["a"]': 1}),
        ("{x: &k 5, *k : 1}", {"x": 5, "5": 1}),
    ],
)
def test_what_json_cannot_say_costs_no_more_than_itself(written: str, read: Any) -> None:
    """Tags of applications leave the value, and keys become text: one under `x-*` must not take the document away."""
    text = f"%TAG !e! tag:example.com,2026:\n---\nopenapi: 3.1.0\nx-a: {written}\npaths: {{}}\n"
    assert parse_document(text.encode(), "application/yaml", "") == {"openapi": "3.1.0", "x-a": read, "paths": {}}


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "text/html", "text/plain", "image/png", ""]
)
@pytest.mark.parametrize("url", ["/openapi.yaml", "/openapi.json", "/openapi"])
@pytest.mark.parametrize("start", ["", "# Our API\n", "---\n", "\ufeff"])
def test_yaml_is_read_under_any_type(content_type: str, url: str, start: str) -> None:
    text = f"{start}openapi: 3.1.0\ninfo:\n  title: Things\npaths: {{}}\n"
    document = parse_document(text.encode(), content_type, f"https://example.com{url}")
    assert document == {"openapi": "3.1.0", "info": {"title": "Things"}, "paths": {}}


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        ("", "application/json", "the document is empty"),
        (" \n", "", "the document is empty"),
        ('{"a": 1,}', "application/json", "not JSON: .* at line 1, column"),
        ("a: 1", "application/json", "not JSON"),
        ("a: [1\nb: 2", "application/yaml", "neither JSON nor YAML: .* at line 2"),
        ("just a sentence", "text/plain", r"\(text/plain\) is neither JSON nor YAML$"),
        ("<!DOCTYPE html><html><body>Sign in</body></html>", "text/html", "an HTML page, .*login"),
        ("<html></html>", "application/octet-stream", "an HTML page"),
        (
            "<!-- x --><html><head><title>Log\n in &amp; go</title>",
            "text/html",
            r"^https://example\.com/doc sent an HTML page \('Log in & go'\), not a JSON or YAML document; check",
        ),
        ("<html><title>Log in</title></html>", "application/json", r"an HTML page \('Log in'\)"),
        ("Sign in", "text/html", "an HTML page"),
        ('<?xml version="1.0"?><tools/>', "application/xml", "sent an XML document"),
        ("# nothing\n", "application/yaml", "the document is empty"),
        ("null", "application/yaml", "the document is empty"),
        ('{"tools": [}', "text/plain", "neither JSON nor YAML: Expecting value at line 1, column 12"),
        ('{"tools": []', "text/plain", "it ends too early: a bracket or a quote is not closed"),
        ("{'tools': []}]", "", r"texts stand in straight double quotes"),
        ("[" * 100_000, "application/json", "nested too deeply"),
        ("[" * 100_000, "application/yaml", "neither JSON nor YAML|nested too deeply"),
        ("- " * 100_000 + "x", "application/yaml", "neither JSON nor YAML|nested too deeply"),
        (f"{LAUGHS}? *i\n: 1", "application/yaml", "a key is too large at line 10"),
        ("a: 1\n---\nb: 2", "application/yaml", "more than one document at line 2"),
        ("a: *b", "application/yaml", "an alias has no anchor at line 1, column 4"),
        ("<<: 5", "application/yaml", "merges something that is not an object"),
        ("a: \x00", "application/yaml", "character that YAML does not allow"),
        ("Error: no such file", "application/json", "not JSON"),
        ("a: &a [*a]", "application/yaml", "aliases"),
        (LAUGHS, "application/yaml", "aliases"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(body: str, content_type: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason) as caught:
        parse_document(body.encode(), content_type, "https://example.com/doc")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (gzip.compress(b'{"tools": []}', mtime=0), "compressed with gzip"),
        (b"PK\x03\x04rest", "a ZIP archive"),
        (b"%PDF-1.7 rest", "a PDF file"),
        (b"\x89PNG\r\n\x1a\nrest", "a PNG image"),
        (b"\x7fELF\x02\x01\x01\x00\xfe\xff", "binary data"),
    ],
)
@pytest.mark.parametrize("content_type", ["application/json", "application/octet-stream", ""])
def test_what_is_no_text_is_named_for_what_it_is(content: bytes, reason: str, content_type: str) -> None:
    with pytest.raises(DocumentError, match=f"is {reason}, expected JSON or YAML"):
        parse_document(content, content_type, "https://example.com/doc")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_json_is_read_in_every_unicode_encoding(encoding: str) -> None:
    text = '{"tools": ["\u00e9"]}'
    assert parse_document(text.encode(encoding), "application/json", "") == {"tools": ["\u00e9"]}
    with pytest.raises(DocumentError, match="remove the comma before the closing bracket"):
        parse_document(text.replace("]}", "],}").encode(encoding), "application/json", "")


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, {"message": "no manual here"}, "HTTP 404 Not Found: no manual here"),
        (403, {"detail": "bad key"}, "HTTP 403 Forbidden: bad key"),
        (500, {}, "HTTP 500 Internal Server Error"),
    ],
)
async def test_an_http_error_has_its_status_and_reason(
    protocol: HttpProtocol, status: int, body: Any, reason: str
) -> None:
    async with http_server(replying(body, status=status)) as server:
        with pytest.raises(DocumentError, match=reason) as caught:
            await protocol.fetch_document(HttpCallTemplate(name="m", url=f"{server.url}/utcp?key=sk-secret"))
    assert caught.value.status == status
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:9/utcp?key=sk-secret", "127.0.0.1:9: it was refused"),
        ("http://example.com/utcp?key=sk-secret", "Security error during manual discovery"),
        ("https://no-such-host.invalid/?key=sk-secret", "not found"),
        ("http://127.0.0.1/{missing}", "Missing required path parameter"),
    ],
)
async def test_a_server_that_cannot_be_asked_is_said_to_be_so(protocol: HttpProtocol, url: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason) as caught:
        await protocol.fetch_document(HttpCallTemplate(name="m", url=url))
    assert caught.value.status is None
    assert "sk-secret" not in str(caught.value)


async def test_a_document_has_a_size_limit(protocol: HttpProtocol, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utcp_bridge.transports.http.protocol.MAX_DOCUMENT_BYTES", 1000)
    async with http_server(replying({"a": "x" * 2000})) as server:
        with pytest.raises(DocumentError, match="limit is 1,000 bytes"):
            await protocol.fetch_document(HttpCallTemplate(name="m", url=server.url))


async def test_a_large_document_does_not_hold_up_the_loop(protocol: HttpProtocol) -> None:
    text = "".join(f"k{number}: {{a: [1, 2, 3], b: text, c: {{d: 1.5}}}}\n" for number in range(20_000))
    turns = 0

    async def watch() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.001)
            turns += 1

    async with http_server(replying(text, Content_Type="application/yaml")) as server:
        watching = asyncio.ensure_future(watch())
        document, _ = await protocol.fetch_document(HttpCallTemplate(name="m", url=server.url))
        watching.cancel()
    assert len(document) == 20_000
    assert turns > 10


def test_the_size_of_a_document_with_aliases_is_counted_and_not_walked() -> None:
    document: Any = ["x"]
    for _ in range(200):
        document = [document] * 10
    assert yaml._expanded_size(document) > 1e199  # noqa: SLF001 - too large to be written as text
    shared = {"a": 1}
    assert yaml._expanded_size({"x": shared, "y": [shared, shared]}) == 8  # noqa: SLF001
    assert json.dumps({"x": shared, "y": [shared, shared]})
