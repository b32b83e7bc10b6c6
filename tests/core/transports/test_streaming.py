"""Replies that come in pieces, over real connections: SSE and streamable HTTP."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal

import pytest
from aiohttp import web
from utcp.interfaces.tool_post_processor import ToolPostProcessor

from tests.support.echo import event, events, streaming, taken
from tests.support.http_server import Answer, HttpServer, http_server, replying
from tests.support.manuals import config, text_manual
from utcp_bridge import ToolResult, Toolset
from utcp_bridge.errors import ToolExecutionError, ToolTimeoutError, ToolTransportError


def _tool(kind: str, url: str, **template: Any) -> dict[str, Any]:
    return {
        "name": "t",
        "inputs": {"type": "object", "properties": {}},
        "tool_call_template": {"call_template_type": kind, "url": f"{url}/t", **template},
    }


@asynccontextmanager
async def offering(
    answer: Answer, kind: str = "sse", *, variables: dict[str, str] | None = None, options: Any = None, **template: Any
) -> AsyncIterator[tuple[Toolset, HttpServer]]:
    """A toolset whose only tool, `m.t`, is answered so."""
    async with http_server(answer, notices=True) as server:
        source = config(text_manual("m", [_tool(kind, server.url, **template)], kind), variables=variables or {})
        async with await Toolset.aopen(source, **(options or {})) as toolset:
            assert toolset.report.ok, str(toolset.report)
            yield toolset, server


async def _gone(noticed: asyncio.Event) -> bool:
    """Whether the server sees that its client has closed the connection."""
    async with asyncio.timeout(5):
        return await noticed.wait()


# -- what comes


@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
async def test_pieces_come_while_the_server_is_still_sending(kind: str) -> None:
    taken_first = asyncio.Event()
    async with offering(streaming(event("1"), taken_first.wait, event("[2]")), kind) as (toolset, _):
        pieces = toolset.stream("m.t")
        assert await anext(pieces) == 1
        taken_first.set()
        assert await taken(pieces) == [[2]]


CONTENTS: list[tuple[str, list[bytes], list[Any], Any]] = [
    ("text/event-stream", [event('{"a": 1}'), event("x")], [{"a": 1}, "x"], [{"a": 1}, "x"]),
    ("text/event-stream", [event("Hel"), event("lo "), event("5")], ["Hel", "lo ", 5], "Hello 5"),
    ("text/event-stream", [event("1.5"), event("2")], [1.5, 2], [1.5, 2]),
    ("text/event-stream", [event('{"a": 1}')], [{"a": 1}], [{"a": 1}]),
    ("text/event-stream", [], [], None),
    (
        "application/x-ndjson",
        [b'{"a": 1}\n{"a"', b": 2}\r\n\n[3]"],
        [{"a": 1}, {"a": 2}, [3]],
        [{"a": 1}, {"a": 2}, [3]],
    ),
    ("application/jsonl", [b'{"a": 1}\n'], [{"a": 1}], [{"a": 1}]),
    ("application/json-seq", [b"\x1e1\n\x1e2\n"], [1, 2], [1, 2]),
    ("application/x-ndjson", [b"{broken\n1\n"], ["{broken", 1], ["{broken", 1]),
    ("application/x-ndjson", [b'"Ann"\n"Bob"\n'], ["Ann", "Bob"], ["Ann", "Bob"]),
    ("application/json-seq", [b'\x1e"Ann"\n\x1enull\n'], ["Ann", None], ["Ann", None]),
    ("application/jsonl", [b'"Ann"'], ["Ann"], ["Ann"]),
    ("application/json", [b'{"a"', b": [1]}"], [{"a": [1]}], {"a": [1]}),
    ("application/problem+json", [b"[]"], [[]], []),
    ("application/json", [], [], None),
    ("text/plain", ["Zoë ".encode()[:3], "Zoë ".encode()[3:], b"b"], ["Zo", "ë ", "b"], "Zoë b"),
    ("text/plain; charset=latin-1", [b"\xe9", b"t\xe9"], ["é", "té"], "été"),
    ("text/plain; charset=nonsense", [b"a"], ["a"], "a"),
    ("text/plain; charset=base64", [b"a"], ["a"], "a"),
    ("", [b"a ", b"text"], [b"a ", b"text"], "a text"),
    ("application/octet-stream", [b"\x00\x01"], [b"\x00\x01"], b"\x00\x01"),
]


@pytest.mark.parametrize(("content_type", "parts", "pieces", "whole"), CONTENTS)
async def test_a_reply_is_read_by_its_content_type(
    content_type: str, parts: list[bytes], pieces: list[Any], whole: Any
) -> None:
    async with offering(streaming(*parts, content_type=content_type), "streamable_http") as (toolset, _):
        assert await taken(toolset.stream("m.t")) == pieces
        seen: list[Any] = []
        results = [
            await toolset.acall("m.t"),
            await toolset.acall("m.t", on_chunk=seen.append),
            await asyncio.to_thread(toolset.call, "m.t"),
        ]
    assert seen == pieces
    assert results[0] == results[1] == results[2]
    if isinstance(whole, bytes):
        assert results[0].raw[0]["mimeType"] == content_type
    else:
        assert (results[0].data if not isinstance(whole, str) else results[0].content) == whole


async def test_bytes_come_in_portions_of_at_most_the_chunk_size() -> None:
    answer = streaming(bytes(2500), content_type="image/png")
    async with offering(answer, "streamable_http", chunk_size=1000) as (toolset, _):
        pieces = await taken(toolset.stream("m.t"))
        result = await toolset.acall("m.t", on_chunk=pieces.count)
    assert all(isinstance(piece, bytes) and len(piece) <= 1000 for piece in pieces)
    assert sum(len(piece) for piece in pieces if isinstance(piece, bytes)) == 2500
    assert result.content == "[blob: image/png, 2,500 bytes]"


async def test_a_compressed_stream_is_unpacked_as_it_comes() -> None:
    async def answer(_request: web.Request) -> web.Response:
        body = gzip.compress(event("packed"))
        return web.Response(body=body, headers={"Content-Type": "text/event-stream", "Content-Encoding": "gzip"})

    async with offering(answer) as (toolset, _):
        assert await taken(toolset.stream("m.t")) == ["packed"]


async def test_only_events_of_the_wanted_type_are_pieces() -> None:
    answer = streaming(event("a"), event("b", kind="tick"), event("c", kind="message"))
    async with offering(answer, event_type="message") as (toolset, _):
        assert await taken(toolset.stream("m.t")) == ["a", "c"]


async def test_other_protocols_give_one_piece() -> None:
    async with offering(replying({"a": 1}), "http") as (toolset, _):
        assert await taken(toolset.stream("m.t")) == [{"a": 1}]
        assert (await toolset.acall("m.t", on_chunk=print)).data == {"a": 1}


async def test_a_finished_stream_leaves_its_connection_to_the_next_call() -> None:
    async with offering(events("a")) as (toolset, server):
        for _ in range(3):
            await taken(toolset.stream("m.t"))
    assert server.connections == 1


async def test_a_ready_client_streams_as_its_own_protocols_do() -> None:
    from utcp.utcp_client import UtcpClient

    async with http_server(events("Hel", "lo")) as server:
        tool = _tool("sse", server.url, http_method="GET")
        ready = await UtcpClient.create(config=config(text_manual("m", [{"description": "", **tool}], "sse")))
        async with await Toolset.aopen(ready) as toolset:
            assert await taken(toolset.stream("m.t")) == ["Hel", "lo"]
            assert (await toolset.acall("m.t", on_chunk=print)).content == "Hello"
        await ready.close()


# -- what is sent


@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
async def test_arguments_are_written_as_over_http(kind: str) -> None:
    answer = events("x")
    template = {"header_fields": ["X-List"], "http_method": "POST"} if kind != "sse" else {"header_fields": ["X-List"]}
    async with offering(answer, kind, body_field="body", **template) as (toolset, server):
        arguments = {"q": True, "none": None, "many": [1, "b"], "X-List": [1, 2], "body": {"a": [None, "é"]}}
        assert not (await toolset.acall("m.t", arguments)).is_error
    sent = server.last
    assert sent.query == [("q", "true"), ("many", "1"), ("many", "b")]
    assert (sent.method, sent.headers["X-List"], sent.headers["Content-Type"]) == ("POST", "1,2", "application/json")
    assert sent.body.decode() == '{"a":[null,"é"]}'
    assert kind != "sse" or sent.headers["Accept"] == "text/event-stream"


@pytest.mark.parametrize(
    ("body", "content_type", "sent"),
    [
        ("text", "application/octet-stream", b"text"),
        ({"base64": "AAE="}, "application/octet-stream", b"\x00\x01"),
        ({"path": "x", "mode": 1}, "application/json", b'{"path":"x","mode":1}'),
        ([1], "application/json", b"[1]"),
    ],
)
async def test_a_body_without_a_declared_type_is_a_file_or_json(body: Any, content_type: str, sent: bytes) -> None:
    async with offering(events("x"), "streamable_http", http_method="POST", body_field="body") as (toolset, server):
        await toolset.acall("m.t", {"body": body})
    assert (server.last.headers["Content-Type"], server.last.body) == (content_type, sent)


@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
async def test_a_refused_token_is_replaced_once(kind: str) -> None:
    issued: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/token":
            issued.append(f"token-{len(issued)}-0123456789")
            return web.json_response({"access_token": issued[-1]})
        if request.headers.get("Authorization") != "Bearer token-1-0123456789":
            return web.json_response({"error": "expired"}, status=401)
        return await events("in")(request)

    async with http_server(answer) as server:
        auth = {
            "auth_type": "oauth2",
            "token_url": f"{server.url}/token",
            "client_id": "c",
            "client_secret": "s3cr3t-0123",
        }
        source = config(text_manual("m", [_tool(kind, server.url, auth=auth)], kind))
        async with await Toolset.aopen(source) as toolset:
            assert (await toolset.acall("m.t")).content == "in"
    assert len(issued) == 2


# -- what goes wrong


FAILURES: list[tuple[str, Answer, dict[str, Any], str]] = [
    ("sse", replying({"error": "the plan has no feeds"}, status=403), {}, "HTTP 403 Forbidden: the plan has no feeds"),
    ("sse", replying({"error": "quota"}), {}, "no event stream, but application/json: quota"),
    ("sse", replying("", status=307), {}, "HTTP 307 Temporary Redirect (a redirect that does not say where to)"),
    ("sse", replying("", status=302, Location="/other"), {}, "redirect (status 302)"),
    ("streamable_http", replying("", status=307, Location="/other"), {}, "redirect (status 307)"),
    ("streamable_http", replying("nope", status=500), {}, "HTTP 500 Internal Server Error: nope"),
    ("sse", events("a", cut=True), {"reconnect": False}, "broke off its reply"),
    ("streamable_http", streaming(b"a", content_type="text/plain", cut=True), {}, "broke off its reply"),
    ("sse", events("x" * 600), {}, "too large: the limit is 500 bytes"),
    ("streamable_http", streaming(b"x" * 600, content_type="text/plain"), {}, "too large: the limit is 500 bytes"),
    ("streamable_http", streaming(b"[" + b"1," * 600), {}, "too large: the limit is 500 bytes"),
]


@pytest.mark.parametrize(("kind", "answer", "template", "reason"), FAILURES)
async def test_a_failure_is_the_last_item_or_raised(
    kind: str, answer: Answer, template: dict[str, Any], reason: str
) -> None:
    options = {"max_reply_bytes": 500}
    async with offering(answer, kind, options=options, **template) as (toolset, _):
        *before, last = await taken(toolset.stream("m.t"))
        result = await toolset.acall("m.t")
    assert isinstance(last, ToolResult)
    assert last.is_error
    assert reason in last.content
    assert not any(isinstance(piece, ToolResult) for piece in before)
    assert result.is_error
    assert result.content.startswith(last.content)  # then what had come before
    async with offering(answer, kind, options={**options, "on_tool_error": "raise"}, **template) as (toolset, _):
        with pytest.raises((ToolExecutionError, ToolTransportError)) as raised:
            await taken(toolset.stream("m.t"))
    assert reason in str(raised.value)


async def test_arguments_that_do_not_fit_are_a_failure_too() -> None:
    async with offering(events("x")) as (toolset, server):
        (last,) = await taken(toolset.stream("m.t", "no json"))
        (unknown,) = await taken(toolset.stream("m.tt"))
    assert isinstance(last, ToolResult)
    assert isinstance(unknown, ToolResult)
    assert "m_t" in unknown.content
    assert not server.received


async def test_a_closed_toolset_says_so() -> None:
    from utcp_bridge.errors import RunnerError

    async with offering(events("x")) as (toolset, _):
        await toolset.aclose()
        with pytest.raises(RunnerError, match="closed"):
            await taken(toolset.stream("m.t"))


# -- connections that break


async def test_a_broken_event_stream_is_taken_up_where_it_broke() -> None:
    answers = [
        streaming(event("a", event_id="1", retry=1), cut=True),
        replying("restarting", status=503),
        streaming(event("b", event_id=""), cut=True),
        streaming(event("c")),
    ]

    async def answer(request: web.Request) -> web.StreamResponse:
        return await answers.pop(0)(request)

    async with offering(answer, retry_timeout=60_000) as (toolset, server):
        assert await taken(toolset.stream("m.t")) == ["a", "b", "c"]
    assert [request.headers.get("Last-Event-ID") for request in server.received] == [None, "1", "1", None]


async def test_a_broken_event_stream_is_taken_up_within_the_time_of_a_call() -> None:
    answers = [events("a", cut=True), events("b")]

    async def answer(request: web.Request) -> web.StreamResponse:
        return await answers.pop(0)(request)

    async with offering(answer, options={"timeout": 10}) as (toolset, _):
        assert (await toolset.acall("m.t")).content == "ab"


async def test_a_server_that_breaks_every_time_is_given_up() -> None:
    async with offering(events("a", cut=True), retry_timeout=1) as (toolset, server):
        *_, last = await taken(toolset.stream("m.t"))
    assert isinstance(last, ToolResult)
    assert len(server.received) == 6


async def test_a_request_with_a_body_is_not_made_twice() -> None:
    async with offering(events("a", cut=True), body_field="body", retry_timeout=1) as (toolset, server):
        *_, last = await taken(toolset.stream("m.t", {"body": {}}))
    assert isinstance(last, ToolResult)
    assert len(server.received) == 1


# -- time limits and early ends


@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
@pytest.mark.parametrize("way", ["break", "aclose", "cancel", "limit", "call", "sync call", "raise"])
async def test_whatever_ends_a_call_early_closes_its_connection(kind: str, way: str) -> None:
    noticed = asyncio.Event()
    forever = asyncio.Event()
    answer = streaming(event("1"), forever.wait, gone=noticed)
    async with offering(answer, kind, options={"timeouts": {"m.t": 0.3 if "call" in way or way == "limit" else 9}}) as (
        toolset,
        server,
    ):
        if way == "break":
            async for _ in toolset.stream("m.t"):
                break
        elif way == "aclose":
            async with aclosing(toolset.stream("m.t")) as pieces:
                assert await anext(pieces) == 1
        elif way == "cancel":
            task = asyncio.create_task(toolset.acall("m.t"))
            async with asyncio.timeout(5):
                while not server.received:  # noqa: ASYNC110 - it happens in the server
                    await asyncio.sleep(0.005)
            task.cancel()
        elif way == "raise":

            def refuse(_piece: object) -> None:
                raise ZeroDivisionError

            with pytest.raises(ZeroDivisionError):
                await toolset.acall("m.t", on_chunk=refuse)
        else:
            if way == "limit":
                first, last = await taken(toolset.stream("m.t"))
                assert first == 1
            elif way == "call":
                last = await toolset.acall("m.t")
            else:
                last = await asyncio.to_thread(toolset.call, "m.t", on_chunk=lambda _: None)
            assert isinstance(last, ToolResult)
            assert "0.3 seconds (timeouts['m.t'])" in last.content
        assert await _gone(noticed)


async def test_the_limit_counts_the_time_of_the_tool_and_not_the_callers() -> None:
    answer = streaming(*(event(str(number)) for number in range(3)))
    async with offering(answer, options={"timeout": 0.3}) as (toolset, _):
        seen = []
        async for piece in toolset.stream("m.t"):
            seen.append(piece)
            await asyncio.sleep(0.15)
    assert seen == [0, 1, 2]


async def test_the_limit_counts_over_all_pieces() -> None:
    answer = streaming(*[part for number in range(20) for part in (event(str(number)), lambda: asyncio.sleep(0.03))])
    async with offering(answer, options={"on_tool_error": "raise"}) as (toolset, _):
        with pytest.raises(ToolTimeoutError, match="timeout of this call"):
            await taken(toolset.stream("m.t", timeout=0.2))


async def test_a_timeout_that_the_template_has_itself_holds_too() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return await streaming(b"1", asyncio.Event().wait, content_type="text/plain")(request)

    async with offering(answer, "streamable_http", timeout=100) as (toolset, _):
        first, last = await taken(toolset.stream("m.t"))
    assert first == "1"
    assert isinstance(last, ToolResult)
    assert "its call template allows (0.1 seconds)" in last.content


UNFINISHED: list[tuple[str, str, list[bytes], str]] = [
    ("http", "text/plain", [b"Hel", b"lo"], "answer had come, in 2 pieces, and then nothing for {}:\nHello"),
    ("http", "text/event-stream", [event("a")], "answer had come, and then nothing for {}:\ndata: a\n\n"),
    ("sse", "text/event-stream", [event('{"a": 1}')], 'answer had come, and then nothing for {}:\n[{{"a":1}}]'),
    (
        "sse",
        "text/event-stream",
        [event("Hel"), event("lo")],
        "answer had come, in 2 pieces, and then nothing for {}:\nHello",
    ),
    ("streamable_http", "text/event-stream", [event("a")], "answer had come, and then nothing for {}:\na"),
    (
        "streamable_http",
        "application/jsonl",
        [b'{"a": 1}\n{"b'],
        'answer had come, and then nothing for {}:\n[{{"a":1}}]',
    ),
    ("streamable_http", "text/plain", [b"started"], "answer had come, and then nothing for {}:\nstarted"),
    (
        "streamable_http",
        "image/png",
        [bytes(9)],
        "answer had come, and then nothing for {}:\n[blob: image/png, 9 bytes]",
    ),
]


WAYS = {
    "http": ("call", "acall"),
    "sse": ("call", "acall", "on_chunk"),
    "streamable_http": ("call", "acall", "on_chunk", "template"),
}


@pytest.mark.parametrize(
    ("kind", "content_type", "parts", "told", "way"), [(*case, way) for case in UNFINISHED for way in WAYS[case[0]]]
)
async def test_what_came_before_a_stream_stalled_is_told(
    kind: str, content_type: str, parts: list[bytes], told: str, way: str
) -> None:
    answer = streaming(*parts, asyncio.Event().wait, content_type=content_type)
    own: dict[str, Any] = {"timeout": 400} if way == "template" else {}
    async with offering(answer, kind, options={"timeout": 9 if own else 0.4}, **own) as (toolset, _):
        if way == "call":
            result = await asyncio.to_thread(toolset.call, "m.t")
        else:
            result = await toolset.acall("m.t", on_chunk=(lambda _: None) if way == "on_chunk" else None)
    assert result.is_error
    limit = "longer than its call template allows" if own else "did not end its answer within 0.4 seconds (timeout)"
    assert limit in result.content
    seconds = re.search(r"nothing for (0\.[234] seconds):", result.content)
    assert seconds is not None, result.content
    assert result.content.endswith(told.format(seconds[1]))
    assert result.raw


async def test_what_came_before_a_connection_broke_is_told() -> None:
    async with offering(events("a", "b", cut=True), reconnect=False) as (toolset, _):
        result = await toolset.acall("m.t")
    assert result.is_error
    assert "broke off its reply" in result.content
    assert result.content.endswith("answer had come, in 2 pieces:\nab")


@pytest.mark.parametrize("content_type", ["application/json", "image/png"])
async def test_the_half_of_something_that_means_nothing_is_not_told(content_type: str) -> None:
    answer = streaming(b'{"a":', asyncio.Event().wait, content_type=content_type)
    async with offering(answer, "http", options={"timeout": 0.3}) as (toolset, _):
        assert (await toolset.acall("m.t")).content.endswith("0.3 seconds (timeout) and was cancelled.")


async def test_of_very_much_that_came_a_part_is_told_and_all_is_kept() -> None:
    answer = streaming(b"x" * 50_000, asyncio.Event().wait, content_type="text/plain")
    async with offering(answer, "streamable_http", options={"timeout": 0.4}) as (toolset, _):
        result = await toolset.acall("m.t")
    assert len(result.content) < 5_000
    assert result.content.endswith("[cut: the full text has 50,000 characters]")
    assert result.raw[-1]["text"] == "x" * 50_000


class _Hiding(ToolPostProcessor):
    tool_post_processor_type: Literal["hiding"] = "hiding"

    def post_process(self, caller: Any, tool: Any, manual_call_template: Any, result: Any) -> Any:
        return "hidden"


async def test_what_a_post_processor_has_not_seen_is_not_told() -> None:
    async with http_server(streaming(event("private"), asyncio.Event().wait), notices=True) as server:
        source = config(text_manual("m", [_tool("sse", server.url)], "sse"), post_processing=[_Hiding()])
        async with await Toolset.aopen(source, timeout=0.3) as toolset:
            whole = await toolset.acall("m.t")
            piecewise = await toolset.acall("m.t", on_chunk=lambda _: None)
    assert whole.content.endswith("0.3 seconds (timeout) and was cancelled.")
    assert "hidden" in piecewise.content
    assert "private" not in str([whole, piecewise])


async def test_a_secret_in_what_came_stays_in() -> None:
    answer = streaming(event("s3cr3t-"), event("0123456789"), asyncio.Event().wait)
    variables = {"m_KEY": "s3cr3t-0123456789"}
    async with offering(answer, variables=variables, options={"timeout": 0.4}, headers={"X-Key": "${KEY}"}) as (
        toolset,
        _,
    ):
        for on_chunk in (None, lambda _: None):
            result = await toolset.acall("m.t", on_chunk=on_chunk)
            assert result.content.endswith("\n***")
            assert "0123" not in str(result)


@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
@pytest.mark.parametrize("status", [200, 202, 204, 205])
async def test_a_reply_that_says_nothing_is_no_failure(kind: str, status: int) -> None:
    async with offering(replying("", status=status), kind) as (toolset, server):
        result = await toolset.acall("m.t")
        assert await taken(toolset.stream("m.t")) == []
    assert (result.content, result.is_error) == ("(no content)", False)
    assert len(server.received) == 2


async def test_a_status_of_204_ends_a_broken_stream() -> None:
    replies = iter([events("a", cut=True), replying("", status=204)])

    async def answer(request: web.Request) -> web.StreamResponse:
        return await next(replies)(request)

    async with offering(answer, retry_timeout=1) as (toolset, _):
        assert (await toolset.acall("m.t")).content == "a"


# -- secrets


@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
async def test_a_secret_that_is_scattered_over_pieces_stays_in(kind: str) -> None:
    key = "sk-3f9a77c2d1e5"
    raw = f"your key is {key}, and {key}".encode()
    portions = [raw[start : start + 5] for start in range(0, len(raw), 5)]
    answer = (
        events(*(portion.decode() for portion in portions))
        if kind == "sse"
        else streaming(*portions, content_type="text/plain")
    )
    headers = {"Authorization": "Bearer ${KEY}"}
    async with offering(answer, kind, variables={"m_KEY": key}, headers=headers) as (toolset, server):
        pieces = await taken(toolset.stream("m.t"))
        result = await toolset.acall("m.t", on_chunk=pieces.count)
    assert server.last.headers["Authorization"] == f"Bearer {key}"
    assert "".join(map(str, pieces)) == result.content == "your key is ***, and ***"
    assert len(pieces) > 3


async def test_bytes_are_scrubbed_over_pieces_too() -> None:
    key = "sk-3f9a77c2d1e5"
    answer = streaming(*(bytes([byte]) for byte in b"\xff" + key.encode() + b"\xff"), content_type="image/png")
    headers = {"X-Key": "${KEY}"}
    async with offering(answer, "streamable_http", variables={"m_KEY": key}, headers=headers) as (toolset, _):
        pieces = await taken(toolset.stream("m.t"))
    assert b"".join(piece for piece in pieces if isinstance(piece, bytes)) == b"\xff***\xff"


# -- functions that are told of pieces


async def test_an_async_function_is_awaited_and_gets_the_pieces_in_order() -> None:
    seen = []

    async def slow(piece: object) -> None:
        await asyncio.sleep(0.005)
        seen.append(piece)

    async with offering(events("a", "b", "c")) as (toolset, _):
        result = await toolset.tools["m_t"].acall(on_chunk=slow)
    assert seen == ["a", "b", "c"]
    assert result.content == "abc"


async def test_a_blocking_function_holds_up_no_other_call() -> None:
    from threading import Event

    other_is_done = Event()
    async with offering(events("a", "b")) as (toolset, _):
        blocked = asyncio.to_thread(toolset.call, "m.t", on_chunk=lambda _: other_is_done.wait(5))
        waiting = asyncio.create_task(blocked)
        await asyncio.sleep(0.05)
        other = await asyncio.to_thread(toolset.call, "m.t")
        other_is_done.set()
        assert (await waiting).content == other.content == "ab"


async def test_what_the_function_raises_is_raised() -> None:
    def refuse(_piece: object) -> None:
        raise ZeroDivisionError

    async with offering(events("a")) as (toolset, _):
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(toolset.call, "m.t", on_chunk=refuse)
