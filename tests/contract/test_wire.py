"""Tricky operations, as a server receives and answers them, in every framework."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from tests.contract.offers import Adapter, Outcome
from tests.support.echo import event, streaming, threaded_server
from tests.support.http_server import Answer, HttpServer, Received, replying
from tests.support.manuals import config, http_tool, text_manual

KEY = "sk-3f9a77c2d1"
REFERENCE = "${KEY}"


@dataclass(slots=True)
class Echo:
    """A server that answers each path as `answers` says, and `{}` where it says nothing."""

    server: HttpServer
    answers: dict[str, Answer] = field(default_factory=dict)


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    answers: dict[str, Answer] = {}

    async def answer(request: web.Request) -> web.StreamResponse:
        return await answers.get(request.path, replying({}))(request)

    with threaded_server(answer) as server:
        yield Echo(server, answers)


@dataclass(frozen=True, slots=True)
class Wire:
    """One framework on one side of a connection, and a server on the other."""

    adapter: Adapter
    echo: Echo

    def call(
        self, arguments: Mapping[str, Any] | None = None, path: str = "/op", *, source: Any = None, **template: Any
    ) -> Outcome:
        """Call an operation whose arguments may be anything; `template` and `path` say how it is called."""
        with self.adapter.offer(source or self.source(path, **template)) as offer:
            return offer.call("m_op", dict(arguments or {}))

    def source(self, path: str = "/op", *, kind: str = "http", schema: Any = None, **template: Any) -> dict[str, Any]:
        tool = http_tool("op", self.echo.server.url + path, call_template_type=kind, **template)
        tool["inputs"] = schema or {"type": "object"}
        return config(text_manual("m", [tool], kind), variables={"m_KEY": KEY})

    def sent(self, arguments: Mapping[str, Any] | None = None, path: str = "/op", **template: Any) -> Received:
        """What reaches the server of a call that succeeds."""
        received = self.echo.server.received
        before = len(received)
        outcome = self.call(arguments, path, **template)
        assert not outcome.is_error, outcome.content
        assert len(received) == before + 1
        return received[-1]

    def refused(self, arguments: Mapping[str, Any], path: str = "/op", **template: Any) -> str:
        """What the model is told of a call that never reaches the server."""
        before = len(self.echo.server.received)
        outcome = self.call(arguments, path, **template)
        assert outcome.is_error
        assert len(self.echo.server.received) == before
        return outcome.content

    def reply(self, answer: Answer, **options: Any) -> Outcome:
        """What the model is told of a server's answer."""
        self.echo.answers["/op"] = answer
        try:
            with self.adapter.offer(self.source(), **options) as offer:
                return offer.call("m_op", {})
        finally:
            del self.echo.answers["/op"]


@pytest.fixture
def wire(adapter: Adapter, echo: Echo) -> Wire:
    return Wire(adapter, echo)


# -- the query


@pytest.mark.behaviour("wire.query-boolean")
def test_a_boolean_in_the_query_is_true_or_false(wire: Wire) -> None:
    assert wire.sent({"a": True, "b": False}).query == [("a", "true"), ("b", "false")]


@pytest.mark.behaviour("wire.query-null")
def test_a_null_is_left_out_of_the_query(wire: Wire) -> None:
    assert wire.sent({"a": None, "b": "", "c": [None, 1]}).query == [("b", ""), ("c", "1")]


@pytest.mark.behaviour("wire.query-number")
def test_a_number_in_the_query_is_written_as_json_writes_it(wire: Wire) -> None:
    arguments = {"a": 1, "b": 1.0, "c": -0.5, "d": 10**20, "e": 1e-9}
    assert wire.sent(arguments).query == [("a", "1"), ("b", "1.0"), ("c", "-0.5"), ("d", str(10**20)), ("e", "1e-09")]


@pytest.mark.behaviour("wire.query-list")
def test_a_list_in_the_query_repeats_its_name(wire: Wire) -> None:
    assert wire.sent({"a": ["x", 2, True], "b": []}).query == [("a", "x"), ("a", "2"), ("a", "true")]


@pytest.mark.behaviour("wire.query-object")
def test_an_object_in_the_query_is_json_text(wire: Wire) -> None:
    ((name, text),) = wire.sent({"filter": {"a": [1, None], "ü": "&="}}).query
    assert (name, json.loads(text)) == ("filter", {"a": [1, None], "ü": "&="})


@pytest.mark.behaviour("wire.query-text")
def test_any_text_and_name_in_the_query_arrive(wire: Wire) -> None:
    arguments = {"$filter": "a eq 'b'", "x[y]": "100% & more", "日": "€ +\n"}
    assert wire.sent(arguments).query == list(arguments.items())


@pytest.mark.behaviour("wire.undeclared")
def test_an_undeclared_argument_of_a_closed_schema_never_leaks_into_the_query(wire: Wire) -> None:
    schema = {"type": "object", "properties": {"city": {}}, "additionalProperties": False}
    assert "city" in wire.refused({"city": 1, "secret_plan": 2}, schema=schema)


@pytest.mark.behaviour("wire.template-query")
def test_the_query_of_the_template_stays_beside_the_arguments(wire: Wire) -> None:
    assert wire.sent({"a": 1}, "/op?$top=5&v=2").query == [("$top", "5"), ("v", "2"), ("a", "1")]


# -- the path


@pytest.mark.behaviour("wire.path-scalar")
def test_a_scalar_in_the_path_is_one_segment(wire: Wire) -> None:
    assert wire.sent({"id": "a b"}, "/op/{id}").target == "/op/a%20b"
    assert wire.sent({"id": True}, "/op/{id}").target == "/op/true"


@pytest.mark.behaviour("wire.path-number")
def test_a_number_in_the_path_is_written_as_json_writes_it(wire: Wire) -> None:
    assert wire.sent({"id": 7, "ratio": 1.5}, "/op/{id}/{ratio}").target == "/op/7/1.5"


@pytest.mark.behaviour("wire.path-list")
def test_a_list_in_the_path_is_separated_by_commas(wire: Wire) -> None:
    assert wire.sent({"ids": ["a", 2, "x/y"]}, "/op/{ids}").target == "/op/a,2,x%2Fy"


@pytest.mark.behaviour("wire.path-slash")
def test_a_slash_in_a_path_value_stays_within_its_segment(wire: Wire) -> None:
    assert wire.sent({"id": "a/b?c#d"}, "/op/{id}/end").target == "/op/a%2Fb%3Fc%23d/end"


@pytest.mark.behaviour("wire.path-percent")
def test_a_percent_sign_in_a_path_value_is_escaped(wire: Wire) -> None:
    assert wire.sent({"id": "100%2F"}, "/op/{id}").target == "/op/100%252F"


@pytest.mark.behaviour("wire.path-dots")
@pytest.mark.parametrize("value", ["..", ".", "../admin", "%2e%2e", "..\\admin"])
def test_a_path_value_never_changes_the_path(wire: Wire, value: str) -> None:
    assert ".." in (told := wire.refused({"id": value}, "/op/{id}/end")) or "'.'" in told


@pytest.mark.behaviour("wire.path-empty")
@pytest.mark.parametrize("arguments", [{"id": ""}, {"id": []}, {"id": None}, {}])
def test_an_empty_or_missing_path_value_is_refused(wire: Wire, arguments: dict[str, Any]) -> None:
    assert "id" in wire.refused(arguments, "/op/{id}")


# -- headers and cookies


@pytest.mark.behaviour("wire.header-scalar")
def test_a_scalar_goes_into_its_header(wire: Wire) -> None:
    sent = wire.sent({"X-Unit": "celsius", "X-Count": 3, "q": 1}, header_fields=["X-Unit", "X-Count"])
    assert (sent.headers["X-Unit"], sent.headers["X-Count"], sent.query) == ("celsius", "3", [("q", "1")])


@pytest.mark.behaviour("wire.header-list")
def test_a_list_in_a_header_is_separated_by_commas(wire: Wire) -> None:
    assert wire.sent({"X-Tags": ["a", 2]}, header_fields=["X-Tags"]).headers["X-Tags"] == "a,2"


@pytest.mark.behaviour("wire.header-boolean")
def test_a_boolean_in_a_header_is_true_or_false_and_a_null_is_none(wire: Wire) -> None:
    sent = wire.sent({"X-Sure": True, "X-None": None}, header_fields=["X-Sure", "X-None"])
    assert sent.headers["X-Sure"] == "true"
    assert "X-None" not in sent.headers


@pytest.mark.behaviour("wire.header-line-break")
@pytest.mark.parametrize("value", ["a\r\nX-Forged: 1", "a\nb", "a\rb", ["a", "b\r\n"]])
def test_a_line_break_in_a_header_is_refused(wire: Wire, value: Any) -> None:
    assert "X-Unit" in wire.refused({"X-Unit": value}, header_fields=["X-Unit"])


@pytest.mark.behaviour("wire.cookie")
def test_a_cookie_parameter_is_sent_as_a_cookie(wire: Wire) -> None:
    parameters = [
        {"name": "session", "in": "cookie", "schema": {"type": "string"}},
        {"name": "sizes", "in": "cookie", "explode": False, "schema": {"type": "array"}},
    ]
    document = _openapi(wire, {"get": {"operationId": "op", "parameters": parameters}})
    sent = wire.sent({"session": "a;b c", "sizes": [1, 2]}, source=document)
    assert sent.headers["Cookie"] == "session=a%3Bb%20c; sizes=1,2"
    assert not sent.query


# -- integers


@pytest.mark.behaviour("arguments.integer")
def test_a_whole_float_is_sent_as_an_integer_where_the_schema_takes_nothing_else(wire: Wire) -> None:
    integer, number = {"type": ["integer", "null"]}, {"type": "number"}
    items = {"type": "array", "items": {"$ref": "#/$defs/N"}}
    schema = {
        "type": "object",
        "properties": {
            "code": integer,
            "ratio": number,
            "n": integer,
            "X-N": integer,
            "body": {"type": "object", "properties": {"n": integer, "many": items, "ratio": number}},
        },
        "$defs": {"N": {"type": "integer"}},
    }
    arguments: dict[str, Any] = {"code": 404.0, "ratio": 1.0, "n": 1e21, "X-N": 3.0}
    arguments["body"] = {"n": 3.0, "many": [1.0, 2], "ratio": 1.0, "free": 1.0}
    template = {"http_method": "POST", "body_field": "body", "header_fields": ["X-N"]}
    sent = wire.sent(arguments, "/op/{code}/{ratio}", schema=schema, **template)
    assert (sent.path, sent.query) == ("/op/404/1.0", [("n", "1000000000000000000000")])
    assert sent.headers["X-N"] == "3"
    body = {"n": 3, "many": [1, 2], "ratio": 1.0, "free": 1.0}
    assert json.dumps(json.loads(sent.body)) == json.dumps(body)


# -- bodies


def _body(wire: Wire, value: Any, content_type: str = "application/json") -> Received:
    return wire.sent({"body": value}, http_method="POST", body_field="body", content_type=content_type)


@pytest.mark.behaviour("wire.body-object")
def test_an_object_is_sent_as_a_json_body(wire: Wire) -> None:
    value = {"a": [1, 1.0, None, True], "b": {}, "ü": "日"}
    sent = _body(wire, value)
    assert sent.headers["Content-Type"] == "application/json"
    assert json.dumps(json.loads(sent.body)) == json.dumps(value)


@pytest.mark.behaviour("wire.body-list")
def test_a_list_is_sent_as_a_json_body(wire: Wire) -> None:
    assert json.loads(_body(wire, [1, {"a": None}, []]).body) == [1, {"a": None}, []]


@pytest.mark.behaviour("wire.body-scalar")
@pytest.mark.parametrize("value", ["text", 5, 0, False, ""])
def test_a_scalar_is_sent_as_a_json_body(wire: Wire, value: Any) -> None:
    assert _body(wire, value).body == json.dumps(value).encode()


@pytest.mark.behaviour("wire.body-null")
def test_a_null_is_sent_as_a_json_body(wire: Wire) -> None:
    assert _body(wire, None).body == b"null"


@pytest.mark.behaviour("wire.body-vendor-json")
def test_a_vendors_json_type_is_sent_as_json(wire: Wire) -> None:
    sent = _body(wire, {"a": 1}, "application/vnd.api+json")
    assert (sent.headers["Content-Type"], sent.body) == ("application/vnd.api+json", b'{"a":1}')


@pytest.mark.behaviour("wire.body-charset")
def test_a_json_type_with_parameters_is_sent_as_json(wire: Wire) -> None:
    sent = _body(wire, {"a": "é"}, "application/json; charset=utf-8")
    assert (sent.headers["Content-Type"], sent.body) == ("application/json; charset=utf-8", '{"a":"é"}'.encode())


@pytest.mark.behaviour("wire.body-form")
def test_a_form_is_sent_urlencoded(wire: Wire) -> None:
    sent = _body(wire, {"a": "x y&z", "b": [1, True], "c": None}, "application/x-www-form-urlencoded")
    assert (sent.headers["Content-Type"], sent.body) == (
        "application/x-www-form-urlencoded",
        b"a=x+y%26z&b=1&b=true",
    )


@pytest.mark.behaviour("wire.body-multipart")
def test_files_text_and_objects_are_sent_as_parts(wire: Wire) -> None:
    file = {"base64": "AAH/", "filename": "a.png", "content_type": "image/png"}
    sent = _body(wire, {"image": file, "title": "Zoë", "more": {"n": 1}, "count": 2}, "multipart/form-data")
    parts = _parts(sent)
    assert parts["image"] == ('filename="a.png"', "image/png", b"\x00\x01\xff")
    assert parts["title"] == ("", "", "Zoë".encode())
    assert parts["more"] == ("", "application/json", b'{"n":1}')
    assert parts["count"] == ("", "", b"2")


@pytest.mark.behaviour("wire.body-text")
def test_text_is_sent_in_the_charset_of_its_type(wire: Wire) -> None:
    sent = _body(wire, "é\n", "text/plain; charset=latin-1")
    assert (sent.headers["Content-Type"], sent.body) == ("text/plain; charset=latin-1", b"\xe9\n")


@pytest.mark.behaviour("wire.body-bytes")
def test_bytes_are_given_in_base64_and_sent_as_they_are(wire: Wire) -> None:
    sent = _body(wire, {"base64": "AAH/"}, "application/octet-stream")
    assert (sent.headers["Content-Type"], sent.body) == ("application/octet-stream", b"\x00\x01\xff")


# -- replies


@pytest.mark.behaviour("wire.reply-problem")
def test_a_problem_is_an_error_with_status_title_and_detail(wire: Wire) -> None:
    problem = {"type": "about:blank", "title": "Out of credit", "status": 403, "detail": "Your balance is 30."}
    answer = replying(json.dumps(problem), status=403, Content_Type="application/problem+json")
    outcome = wire.reply(answer)
    assert outcome.is_error
    assert outcome.content == "m_op failed: HTTP 403 Forbidden: Out of credit: Your balance is 30."


@pytest.mark.behaviour("wire.reply-vendor-json")
def test_a_vendors_json_is_data(wire: Wire) -> None:
    outcome = wire.reply(replying(b'{"a": [1]}', Content_Type="application/vnd.api+json; version=1"))
    assert outcome == Outcome('{"a":[1]}', is_error=False)


@pytest.mark.behaviour("wire.reply-text")
@pytest.mark.parametrize("charset", ["latin-1", "utf-8", "utf-16", "shift_jis"])
def test_text_is_read_in_its_charset(wire: Wire, charset: str) -> None:
    text = "\N{HIRAGANA LETTER A}" if charset == "shift_jis" else "Zo\xeb"
    outcome = wire.reply(replying(text.encode(charset), Content_Type=f"text/plain; charset={charset}"))
    assert outcome == Outcome(text, is_error=False)


@pytest.mark.behaviour("wire.reply-image")
def test_an_image_is_described(wire: Wire) -> None:
    outcome = wire.reply(replying(b"\x89PNG\r\n\x1a\n" + bytes(2000), Content_Type="image/png"))
    assert outcome == Outcome("[blob: image/png, 2,008 bytes]", is_error=False)


@pytest.mark.behaviour("wire.reply-no-content")
def test_no_content_is_a_success(wire: Wire) -> None:
    assert wire.reply(replying("", status=204)) == Outcome("(no content)", is_error=False)


@pytest.mark.behaviour("wire.reply-empty")
def test_an_empty_reply_that_is_said_to_be_json_is_a_success(wire: Wire) -> None:
    assert wire.reply(replying("", Content_Type="application/json")) == Outcome("(no content)", is_error=False)


@pytest.mark.behaviour("wire.reply-html-error")
def test_an_error_page_is_told_in_short(wire: Wire) -> None:
    page = (
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>p{}</style></head>"
        f"<body><h1>Bad Gateway</h1><p>No upstream.</p><script>let x;</script>{'<p>filler</p>' * 5000}</body></html>"
    )
    outcome = wire.reply(replying(page, status=502, Content_Type="text/html"))
    assert outcome.is_error
    assert outcome.content.startswith("m_op failed: HTTP 502 Bad Gateway: ")
    assert "No upstream." in outcome.content
    assert "<" not in outcome.content
    assert "let x" not in outcome.content
    assert len(outcome.content) < 700


@pytest.mark.behaviour("wire.reply-broken-json")
def test_broken_json_is_shown_as_text(wire: Wire) -> None:
    outcome = wire.reply(replying(b'{"a": 1,}', Content_Type="application/json"))
    assert outcome == Outcome('{"a": 1,}', is_error=False)


@pytest.mark.behaviour("wire.reply-huge")
def test_a_huge_reply_is_refused_at_the_limit(wire: Wire) -> None:
    outcome = wire.reply(replying(b"x" * 200_000), max_reply_bytes=100_000)
    assert outcome.is_error
    assert "100,000 bytes" in outcome.content


@pytest.mark.behaviour("wire.reply-compressed")
def test_a_compressed_reply_is_unpacked_and_its_size_counts_unpacked(wire: Wire) -> None:
    answer = replying(
        gzip.compress(b'{"a": "' + b"x" * 50_000 + b'"}'), Content_Encoding="gzip", Content_Type="application/json"
    )
    assert len(wire.reply(answer, max_chars=None).content) == 50_008
    assert "too large" in wire.reply(answer, max_reply_bytes=10_000).content


@pytest.mark.behaviour("wire.reply-redirect")
def test_a_redirect_is_followed_on_the_same_server(wire: Wire) -> None:
    wire.echo.answers["/there"] = replying({"arrived": True})
    outcome = wire.reply(replying("", status=307, Location="/there?x=1"))
    assert outcome == Outcome('{"arrived":true}', is_error=False)
    assert wire.echo.server.last.target == "/there?x=1"


@pytest.mark.behaviour("wire.reply-redirect-refused")
@pytest.mark.parametrize("location", ["http://198.51.100.7/x", "file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_a_redirect_to_an_unsafe_address_is_refused(wire: Wire, location: str) -> None:
    outcome = wire.reply(replying("", status=302, Location=location))
    assert outcome.is_error
    assert "redirect" in outcome.content


@pytest.mark.behaviour("wire.reply-pieces")
@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
def test_a_reply_in_pieces_is_one_text_or_a_list(wire: Wire, kind: str) -> None:
    wire.echo.answers["/text"] = streaming(event("Hel"), event("lo"), event(" you"))
    wire.echo.answers["/data"] = streaming(event('{"n": 1}'), event("[2]"))
    assert wire.call({}, "/text", kind=kind) == Outcome("Hello you", is_error=False)
    assert wire.call({}, "/data", kind=kind) == Outcome('[{"n":1},[2]]', is_error=False)


@pytest.mark.behaviour("wire.timeout")
def test_a_call_over_its_limit_closes_its_connection(wire: Wire) -> None:
    noticed = threading.Event()

    async def stuck(_request: web.Request) -> web.StreamResponse:
        try:
            await asyncio.Event().wait()
        finally:
            noticed.set()
        raise AssertionError

    assert "0.2 seconds (timeout) and was cancelled" in wire.reply(stuck, timeout=0.2).content
    assert noticed.wait(5)


# -- credentials


def _auth(kind: str, **fields: Any) -> dict[str, Any]:
    return {"auth_type": kind, **fields}


@pytest.mark.behaviour("wire.auth-header")
def test_an_api_key_goes_into_its_header(wire: Wire) -> None:
    auth = _auth("api_key", api_key=REFERENCE, var_name="X-Key", location="header")
    assert wire.sent(auth=auth).headers["X-Key"] == KEY


@pytest.mark.behaviour("wire.auth-query")
def test_an_api_key_goes_into_the_query(wire: Wire) -> None:
    auth = _auth("api_key", api_key=REFERENCE, var_name="key", location="query")
    assert wire.sent({"q": 1}, auth=auth).query == [("q", "1"), ("key", KEY)]


@pytest.mark.behaviour("wire.auth-cookie")
def test_an_api_key_goes_into_a_cookie(wire: Wire) -> None:
    auth = _auth("api_key", api_key=REFERENCE, var_name="key", location="cookie")
    assert wire.sent(auth=auth).headers["Cookie"] == f"key={KEY}"


@pytest.mark.behaviour("wire.auth-basic")
def test_a_user_name_and_a_password_are_sent_as_utf8(wire: Wire) -> None:
    auth = _auth("basic", username="zoë", password=REFERENCE)
    assert wire.sent(auth=auth).headers["Authorization"] == "Basic em/Dqzpzay0zZjlhNzdjMmQx"


@pytest.mark.behaviour("wire.auth-bearer")
def test_a_bearer_token_is_sent_as_it_is_written(wire: Wire) -> None:
    auth = _auth("api_key", api_key="Bearer ${KEY}", var_name="Authorization", location="header")
    assert wire.sent(auth=auth).headers["Authorization"] == f"Bearer {KEY}"


@dataclass(slots=True)
class Issuer:
    """Issues tokens, one after the other, and serves only who has the last."""

    lifetime: float
    issued: int = 0
    forms: list[str] = field(default_factory=list)

    async def token(self, request: web.Request) -> web.StreamResponse:
        self.forms.append((await request.read()).decode())
        self.issued += 1
        return web.json_response({"access_token": f"token-{self.issued}-{KEY}", "expires_in": self.lifetime})

    async def op(self, request: web.Request) -> web.StreamResponse:
        last = f"Bearer token-{self.issued}-{KEY}"
        status = 200 if request.headers.get("Authorization") == last else 401
        return web.json_response({"served": status == 200}, status=status)


def _issuer(wire: Wire, lifetime: float) -> tuple[Issuer, dict[str, Any]]:
    issuer = Issuer(lifetime)
    wire.echo.answers["/token"] = issuer.token
    wire.echo.answers["/guarded"] = issuer.op
    token_url = f"{wire.echo.server.url}/token"
    credentials = {"client_id": "me", "client_secret": REFERENCE, "scope": "read write"}
    auth = _auth("oauth2", token_url=token_url, **credentials)
    return issuer, wire.source("/guarded", auth=auth)


@pytest.mark.behaviour("wire.auth-oauth2")
def test_a_token_is_fetched_with_the_clients_credentials_and_used_until_it_expires(wire: Wire) -> None:
    issuer, source = _issuer(wire, lifetime=3600)
    with wire.adapter.offer(source) as offer:
        assert [offer.call("m_op", {}).content for _ in range(3)] == ['{"served":true}'] * 3
    assert issuer.forms == [f"grant_type=client_credentials&client_id=me&client_secret={KEY}&scope=read+write"]


@pytest.mark.behaviour("wire.auth-oauth2-expiry")
def test_a_token_that_has_expired_is_fetched_anew(wire: Wire) -> None:
    issuer, source = _issuer(wire, lifetime=0)
    with wire.adapter.offer(source) as offer:
        assert [offer.call("m_op", {}).content for _ in range(3)] == ['{"served":true}'] * 3
    assert issuer.issued == 3


@pytest.mark.behaviour("wire.auth-oauth2-refused")
def test_a_token_that_the_server_refuses_is_fetched_anew_once(wire: Wire) -> None:
    issuer, source = _issuer(wire, lifetime=3600)
    with wire.adapter.offer(source) as offer:
        assert offer.call("m_op", {}).content == '{"served":true}'
        issuer.issued += 1  # somebody else got a newer one
        assert offer.call("m_op", {}).content == '{"served":true}'
        wire.echo.answers["/guarded"] = replying({"error": "locked"}, status=401)
        before = len(issuer.forms)
        outcome = offer.call("m_op", {})
    assert len(issuer.forms) == before + 1
    assert outcome == Outcome("m_op failed: HTTP 401 Unauthorized: locked", is_error=True)


def _openapi(wire: Wire, path_item: Any) -> dict[str, Any]:
    """A source whose only tool, `m_op`, comes from an OpenAPI document."""
    responses = {"200": {"description": "OK"}}
    item = {method: {"responses": responses, **operation} for method, operation in path_item.items()}
    url = wire.echo.server.url
    document = {
        "openapi": "3.0.3",
        "info": {"title": "T", "version": "1"},
        "servers": [{"url": url}],
        "paths": {"/op": item},
    }
    return config({"name": "m", "call_template_type": "text", "content": json.dumps(document), **_ALLOWED})


_ALLOWED = {"allowed_communication_protocols": ["http"]}
_PART = re.compile(
    rb'Content-Disposition: form-data; name="([^"]*)"(?:; ([^\r]*))?\r\n(?:Content-Type: ([^\r]*)\r\n)?\r\n'
)


def _parts(sent: Received) -> dict[str, tuple[str, str, bytes]]:
    """What stands beside the name of each part, its type and its content."""
    kind, _, boundary = sent.headers["Content-Type"].partition("; boundary=")
    assert kind == "multipart/form-data"
    first, *parts, last = sent.body.split(f"--{boundary}".encode())
    assert (first, last) == (b"", b"--\r\n")
    found = {}
    for part in parts:
        head = _PART.match(part.removeprefix(b"\r\n"))
        assert head is not None, part
        name, beside, content_type = (text.decode() if text else "" for text in head.groups())
        found[name] = (beside, content_type, part.removeprefix(b"\r\n")[head.end() :].removesuffix(b"\r\n"))
    return found
