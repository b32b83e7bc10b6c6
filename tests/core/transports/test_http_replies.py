"""What a reply becomes, by its content type; and what an error reply says."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

import pytest
from aiohttp import web
from utcp_http.http_call_template import HttpCallTemplate

from tests.support.http_server import Answer, http_server, replying
from utcp_bridge.errors import ToolExecutionError, ToolTransportError
from utcp_bridge.transports.http.protocol import HttpOptions, HttpProtocol


@pytest.fixture
async def protocol() -> AsyncIterator[HttpProtocol]:
    opened = HttpProtocol(HttpOptions(max_reply_bytes=100_000))
    yield opened
    await opened.close()


async def reply(protocol: HttpProtocol, answer: Answer, method: Any = "GET") -> Any:
    async with http_server(answer) as server:
        template = HttpCallTemplate(name="m", url=f"{server.url}/x?api_key=sk-secret", http_method=method)
        return await protocol.call_tool(None, "m.x", {"q": "sk-argument"}, template)


# -- success


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/vnd.api+json",
        "application/problem+json",
        "text/json",
    ],
)
@pytest.mark.parametrize("value", [{"a": [1, "é"]}, [1], "text", 0, False, None, 1.5], ids=repr)
async def test_json_of_any_media_type_is_data(protocol: HttpProtocol, content_type: str, value: Any) -> None:
    assert await reply(protocol, replying(json.dumps(value), Content_Type=content_type)) == value


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b'{"a": "\xe9"}', "application/json; charset=iso-8859-1", {"a": "é"}),
        (b'\xef\xbb\xbf{"a": 1}', "application/json", {"a": 1}),
        ('{"a": 1}'.encode("utf-16"), "application/json", {"a": 1}),
        (b'{"a": ', "application/json", '{"a": '),
        (b"[" * 50_000, "application/json", "[" * 50_000),
        ("é".encode(), "text/plain; charset=utf-8", "é"),
        (b"\xe9", 'text/plain; charset="iso-8859-1"', "é"),
        ("é".encode(), "text/plain", "é"),
        (b"\x93x\x94", "text/plain", "\u201cx\u201d"),
        (b"x", "text/plain; charset=klingon", "x"),
        (b"x", "text/plain; charset=base64", "x"),
        (b"<a/>", "application/xml", "<a/>"),
        (b"<a/>", "application/atom+xml", "<a/>"),
        (b"a: 1", "application/yaml", "a: 1"),
        (b"<p>x</p>", "text/html", "<p>x</p>"),
        (b'{"a":1}\n{"a":2}\n', "application/x-ndjson", '{"a":1}\n{"a":2}\n'),
        ("é\n".encode(), "application/octet-stream", "é\n"),
        (b'{"a":1}', "binary/octet-stream", '{"a":1}'),
        *((b"", kind, None) for kind in ("", "application/json", "text/plain", "image/png")),
        *((b" \r\n\t", kind, None) for kind in ("", "application/json", "text/plain", "application/octet-stream")),
        ("\xa0\n".encode("utf-16"), "application/json", None),
    ],
)
async def test_text_is_text_in_its_charset(
    protocol: HttpProtocol, body: bytes, content_type: str, expected: Any
) -> None:
    assert await reply(protocol, replying(body, Content_Type=content_type)) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"plain", "plain"),
        (b'{"a":1}', '{"a":1}'),
        (b"\xff", {"type": "blob", "mimeType": "application/octet-stream", "size": 1, "blob": "/w=="}),
        (b"", None),
    ],
)
async def test_a_reply_without_a_type_is_text_if_it_can_be(protocol: HttpProtocol, body: bytes, expected: Any) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        template = HttpCallTemplate(name="m", url=f"http://127.0.0.1:{port}/")
        assert await protocol.call_tool(None, "m.x", {}, template) == expected


@pytest.mark.parametrize("content_type", ["image/png", "application/pdf", "application/octet-stream", "audio/wav; x=1"])
async def test_binary_content_is_a_block_that_describes_it(protocol: HttpProtocol, content_type: str) -> None:
    content = bytes(range(256))
    assert await reply(protocol, replying(content, Content_Type=content_type)) == {
        "type": "blob",
        "mimeType": content_type.partition(";")[0],
        "size": 256,
        "blob": base64.b64encode(content).decode(),
    }


async def test_a_file_keeps_its_name(protocol: HttpProtocol) -> None:
    answer = replying(b"\xff", Content_Type="image/png", Content_Disposition='attachment; filename="a b.png"')
    assert (await reply(protocol, answer))["filename"] == "a b.png"


@pytest.mark.parametrize("status", [204, 205, 304])
async def test_no_content_is_none(protocol: HttpProtocol, status: int) -> None:
    assert await reply(protocol, replying(b"", status=status)) is None


@pytest.mark.parametrize("header", ["Location", "Operation-Location"])
@pytest.mark.parametrize("status", [200, 201, 202, 204, 300, 304])
async def test_an_empty_reply_tells_where_there_is_something(protocol: HttpProtocol, status: int, header: str) -> None:
    named = {header.replace("-", "_"): "/items/77?v=2"}
    assert await reply(protocol, replying("", status=status, **named)) == f"(no content); {header}: /items/77?v=2"


async def test_a_reply_of_white_space_or_null_tells_so_too_and_one_with_content_is_left_as_it_is(
    protocol: HttpProtocol,
) -> None:
    for body in ("null", " \n"):
        answer = replying(body, status=201, Content_Type="application/json", Location="/i/7", Operation_Location="/o")
        assert await reply(protocol, answer) == "(no content); Location: /i/7; Operation-Location: /o"
    assert await reply(protocol, replying({"id": 7}, status=201, Location="/i/7")) == {"id": 7}
    assert await reply(protocol, replying("", status=200, Content_Location="/i/7")) is None


async def test_a_compressed_reply_is_decompressed(protocol: HttpProtocol) -> None:
    answer = replying(gzip.compress(b'{"a":1}'), Content_Type="application/json", Content_Encoding="gzip")
    assert await reply(protocol, answer) == {"a": 1}


# -- size


async def streaming(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    try:
        while True:
            await response.write(b"x" * 50_000)
    except ConnectionError:
        return response  # the client has gone, as it should


@pytest.mark.parametrize(
    "answer",
    [
        replying(b"x" * 100_001, Content_Type="text/plain"),
        replying(gzip.compress(b"x" * 10_000_000), Content_Type="text/plain", Content_Encoding="gzip"),
        streaming,
    ],
    ids=["declared", "compressed", "endless"],
)
async def test_reading_stops_at_the_limit(protocol: HttpProtocol, answer: Answer) -> None:
    with pytest.raises(ToolExecutionError, match="too large: the limit is 100,000 bytes") as caught:
        await reply(protocol, answer)
    assert caught.value.raw == ({"type": "reply_too_large", "limit": 100_000},)


async def test_a_reply_of_exactly_the_limit_is_read(protocol: HttpProtocol) -> None:
    assert len(await reply(protocol, replying(b"x" * 100_000, Content_Type="text/plain"))) == 100_000


# -- errors

PAGE = """<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>p {color: red}</style></head>
<body><script>var secret = 1</script><h1>Bad &amp; broken</h1><p>try later</p></body></html>"""


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            422,
            {"detail": [{"loc": ["query", "q"], "msg": "field required", "type": "missing"}]},
            f"HTTP 422 {HTTPStatus(422).phrase}: query.q: field required",
        ),
        (
            422,
            {"detail": [{"loc": ["body", "items", 0, "n"], "msg": "too small"}, {"loc": ["body", "m"], "msg": "bad"}]},
            f"HTTP 422 {HTTPStatus(422).phrase}: body.items.0.n: too small; body.m: bad",
        ),
        (403, {"detail": "no access"}, "HTTP 403 Forbidden: no access"),
        (403, {"error": "nope"}, "HTTP 403 Forbidden: nope"),
        (404, {"message": "Not Found"}, "HTTP 404 Not Found"),
        (
            400,
            {"error": {"code": "INVALID_FIELD", "message": "out of range"}},
            "HTTP 400 Bad Request: INVALID_FIELD: out of range",
        ),
        (
            400,
            {"error": {"code": "INVALID_FIELD", "reason": "out of range"}, "message": "Request failed"},
            "HTTP 400 Bad Request: Request failed: INVALID_FIELD: out of range",
        ),
        (
            401,
            {"error": "invalid_client", "error_description": "unknown id"},
            "HTTP 401 Unauthorized: invalid_client: unknown id",
        ),
        (
            400,
            {
                "type": "https://x/validation",
                "title": "Invalid",
                "status": 400,
                "detail": "2 faults",
                "errors": {"age": ["too low"]},
            },
            "HTTP 400 Bad Request: Invalid: 2 faults: age: too low",
        ),
        (
            422,
            {"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "title", "code": "missing"}]},
            f"HTTP 422 {HTTPStatus(422).phrase}: Validation Failed: title: missing",
        ),
        (
            409,
            {
                "errors": [
                    {"status": "409", "title": "Conflict", "detail": "taken", "source": {"pointer": "/data/name"}}
                ]
            },
            "HTTP 409 Conflict: /data/name: Conflict: taken",
        ),
        (400, {"non_field_errors": ["a", "b"], "status": 400}, "HTTP 400 Bad Request: a; b"),
        (400, {"email": ["is taken"]}, "HTTP 400 Bad Request: email: is taken"),
        (400, ["first", "second"], "HTTP 400 Bad Request: first; second"),
        (500, {"code": 7}, 'HTTP 500 Internal Server Error: {"code": 7}'),
        (
            400,
            {"message": "bad", "fields": {"a": "must be set"}},
            'HTTP 400 Bad Request: bad {"fields": {"a": "must be set"}}',
        ),
        (429, {}, "HTTP 429 Too Many Requests"),
        (500, [], "HTTP 500 Internal Server Error"),
        (500, {"a": {}}, 'HTTP 500 Internal Server Error: {"a": {}}'),
    ],
)
async def test_the_reason_of_a_json_error_is_readable(
    protocol: HttpProtocol, status: int, body: Any, expected: str
) -> None:
    with pytest.raises(ToolExecutionError) as caught:
        await reply(protocol, replying(body, status=status))
    assert str(caught.value) == expected
    assert caught.value.raw == ({"type": "http_error", "status": status, "body": body},)


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (PAGE, "text/html", "HTTP 502 Bad Gateway: 502 Bad Gateway: Bad & broken try later"),
        (PAGE, "application/octet-stream", "HTTP 502 Bad Gateway: 502 Bad Gateway: Bad & broken try later"),
        ("<html><title>Login</title></html>", "text/html", "HTTP 502 Bad Gateway: Login"),
        ("plain\r\n\x1b[31mreason", "text/plain", "HTTP 502 Bad Gateway: plain [31mreason"),
        ('{"error": "untyped"}', "application/octet-stream", "HTTP 502 Bad Gateway: untyped"),
        ('{"error": ', "application/json", 'HTTP 502 Bad Gateway: {"error":'),
        ("[" * 20_000, "application/json", None),
        (b"\x89PNG\xff", "image/png", "HTTP 502 Bad Gateway: [image/png, 5 bytes]"),
        ("", "text/plain", "HTTP 502 Bad Gateway"),
        ("bad gateway", "text/plain", "HTTP 502 Bad Gateway"),
    ],
)
async def test_the_reason_of_any_other_error_is_bounded_text(
    protocol: HttpProtocol, body: str | bytes, content_type: str, expected: str | None
) -> None:
    with pytest.raises(ToolExecutionError) as caught:
        await reply(protocol, replying(body, status=502, Content_Type=content_type))
    if expected is not None:
        assert str(caught.value) == expected
    assert len(str(caught.value)) < 2100


@pytest.mark.parametrize("content_type", ["text/plain", "text/html", "application/json"])
async def test_a_huge_error_is_neither_read_nor_shown_in_full(protocol: HttpProtocol, content_type: str) -> None:
    with pytest.raises(ToolExecutionError) as caught:
        await reply(protocol, replying("x" * 5_000_000, status=500, Content_Type=content_type))
    assert len(str(caught.value)) < 2100
    assert len(caught.value.raw[0]["body"]) == 64 * 1024


async def test_an_error_says_when_to_try_again(protocol: HttpProtocol) -> None:
    with pytest.raises(
        ToolExecutionError, match=r"HTTP 429 Too Many Requests: slow \(retry after 30 seconds\)"
    ) as caught:
        await reply(protocol, replying({"error": "slow"}, status=429, Retry_After="30"))
    assert caught.value.raw[0]["retry_after"] == "30"


@pytest.mark.parametrize("written", ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"])
@pytest.mark.parametrize("ahead", [90, 100_000, 0, -90])
async def test_a_date_to_try_again_is_told_in_seconds_too(protocol: HttpProtocol, written: str, ahead: int) -> None:
    date = (datetime.now(UTC) + timedelta(seconds=ahead)).strftime(written)
    with pytest.raises(ToolExecutionError) as caught:
        await reply(protocol, replying({"error": "slow"}, status=503, Retry_After=date))
    assert caught.value.raw[0]["retry_after"] == date
    told = re.search(
        rf"slow \(retry after {re.escape(date)}, (?:([\d,]+) seconds from now|which is now)\)$", str(caught.value)
    )
    assert told is not None
    assert ahead - 30 < int((told[1] or "0").replace(",", "")) <= max(ahead, 0)


@pytest.mark.parametrize("wait", ["soon", "-1", "1.5", "Wed, 21 Oct 99999999999 07:28:00 GMT", "Wed, 32 Oct 2037"])
async def test_what_is_no_date_is_told_as_it_is(protocol: HttpProtocol, wait: str) -> None:
    with pytest.raises(ToolExecutionError, match=re.escape(f"slow (retry after {wait})")):
        await reply(protocol, replying({"error": "slow"}, status=503, Retry_After=wait))


async def test_no_message_holds_the_query(protocol: HttpProtocol) -> None:
    for status in (400, 404, 500):
        with pytest.raises(ToolExecutionError) as caught:
            await reply(protocol, replying("", status=status))
        assert "sk-" not in str(caught.value)


async def broken_off(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "100"})
    await response.prepare(request)
    await response.write(b"x")
    assert request.transport is not None
    request.transport.close()
    return response


async def silent(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


not_gzip = replying("no gzip at all" * 5, Content_Type="text/plain", Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (broken_off, "broke off its reply"),
        (silent, "closed the connection without an answer"),
        (not_gzip, "sent a reply that cannot be decompressed"),
    ],
)
async def test_a_broken_reply_is_a_transport_error(protocol: HttpProtocol, answer: Answer, reason: str) -> None:
    with pytest.raises(ToolTransportError, match=rf"127\.0\.0\.1:\d+ {reason}") as caught:
        await reply(protocol, answer, method="POST")
    assert "sk-" not in str(caught.value)
