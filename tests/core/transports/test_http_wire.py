"""What the server receives is what the call said: query, path, headers, cookies and bodies."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Any

import pytest
from utcp.data.auth_implementations.api_key_auth import ApiKeyAuth
from utcp.data.auth_implementations.basic_auth import BasicAuth
from utcp_http.http_call_template import HttpCallTemplate

from tests.support.http_server import HttpServer, Received, http_server
from utcp_bridge.errors import ToolArgumentsError, ToolTransportError
from utcp_bridge.transports.http.protocol import HttpOptions, HttpParameter, HttpProtocol, MappedHttpCallTemplate


@pytest.fixture
async def server() -> AsyncIterator[HttpServer]:
    async with http_server() as running:
        yield running


@pytest.fixture
async def protocol() -> AsyncIterator[HttpProtocol]:
    opened = HttpProtocol()
    yield opened
    await opened.close()


async def sent(
    protocol: HttpProtocol, server: HttpServer, arguments: dict[str, Any], path: str = "/tool", **template: Any
) -> Received:
    """Make a call and return what the server received."""
    kind = (
        MappedHttpCallTemplate
        if {"parameters", "body_arguments", "file_fields", "more_auth"} & template.keys()
        else HttpCallTemplate
    )
    await protocol.call_tool(None, "m.tool", arguments, kind(name="m", url=server.url + path, **template))
    return server.last


# -- query


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", ["plain"]),
        ("", [""]),
        ("a b&c=d+e#f/é%20", ["a b&c=d+e#f/é%20"]),
        (True, ["true"]),
        (False, ["false"]),
        (5, ["5"]),
        (0, ["0"]),
        (1.5, ["1.5"]),
        (1e22, ["1e+22"]),
        (12345678901234567890123, ["12345678901234567890123"]),
        (None, []),
        ([], []),
        (["a", "b"], ["a", "b"]),
        ([1, True, None, "x"], ["1", "true", "x"]),
        ([{"a": 1}, [2]], ['{"a":1}', "[2]"]),
        ({"a": {"é": None}}, ['{"a":{"é":null}}']),
    ],
)
async def test_query_values_are_written_as_json_writes_them(
    protocol: HttpProtocol, server: HttpServer, value: Any, expected: list[str]
) -> None:
    received = await sent(protocol, server, {"v": value})
    assert received.query == [("v", text) for text in expected]


@pytest.mark.parametrize("name", ["$top", "filter[name]", "a.b", "a b", "été", "class", "self", "", "a&b=c"])
async def test_any_name_can_be_a_query_parameter(protocol: HttpProtocol, server: HttpServer, name: str) -> None:
    received = await sent(protocol, server, {name: "x"})
    assert received.query == [(name, "x")]


async def test_the_template_keeps_its_own_query(protocol: HttpProtocol, server: HttpServer) -> None:
    received = await sent(protocol, server, {"b": 2, "id": 7}, path="/x?fixed=a%2Fb&ids={id}")
    assert received.query == [("fixed", "a/b"), ("ids", "7"), ("b", "2")]


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", None, ["a", "b"], "v=a&v=b"),
        ("form", False, ["a", "b,c"], "v=a,b%2Cc"),
        ("form", None, {"k": 1, "n": None}, "k=1"),
        ("form", False, {"k": 1, "l": 2}, "v=k,1,l,2"),
        ("spaceDelimited", False, ["a", "b"], "v=a%20b"),
        ("pipeDelimited", None, ["a", "b"], "v=a%7Cb"),
        ("pipeDelimited", True, ["a", "b"], "v=a&v=b"),
        ("deepObject", None, {"k": 1, "l": {"m": True}}, "v%5Bk%5D=1&v%5Bl%5D%5Bm%5D=true"),
        ("deepObject", None, {"k": ["x", "y"]}, "v%5Bk%5D%5B0%5D=x&v%5Bk%5D%5B1%5D=y"),
        ("form", None, "x", "v=x"),
    ],
)
async def test_query_styles_of_openapi(
    protocol: HttpProtocol, server: HttpServer, style: str, explode: bool | None, value: Any, expected: str
) -> None:
    parameter = {"argument": "arg", "name": "v", "location": "query", "style": style, "explode": explode}
    received = await sent(protocol, server, {"arg": value}, parameters=[parameter])
    assert received.target == f"/tool?{expected}"


async def test_reserved_characters_are_kept_where_the_parameter_says_so(
    protocol: HttpProtocol, server: HttpServer
) -> None:
    parameter = HttpParameter(argument="v", name="v", location="query", allow_reserved=True)
    received = await sent(protocol, server, {"v": "a/b:c&d=e%2F%"}, parameters=[parameter])
    assert received.target == "/tool?v=a/b:c%26d%3De%2F%25"


async def test_arguments_of_one_name_go_to_their_own_places(protocol: HttpProtocol, server: HttpServer) -> None:
    places = [
        HttpParameter(argument="id_path", name="id", location="path"),
        HttpParameter(argument="id_query", name="id", location="query"),
        HttpParameter(argument="id_header", name="id", location="header"),
    ]
    arguments = {"id_path": 1, "id_query": 2, "id_header": 3}
    received = await sent(protocol, server, arguments, path="/x/{id}", parameters=places)
    assert (received.target, received.headers["id"]) == ("/x/1?id=2", "3")


async def test_undeclared_arguments_are_refused_where_the_template_is_closed(
    protocol: HttpProtocol, server: HttpServer
) -> None:
    with pytest.raises(ToolArgumentsError, match="no place for 'extra'"):
        await sent(protocol, server, {"extra": 1}, parameters=[], undeclared="refuse")
    assert server.received == []


# -- path


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "a"),
        ("a b/c?d#e", "a%20b%2Fc%3Fd%23e"),
        ("50%", "50%25"),
        ("é", "%C3%A9"),
        ("...", "..."),
        ("a..b", "a..b"),
        (5, "5"),
        (True, "true"),
        (["a", "b,c"], "a,b%2Cc"),
        ([1, None, False], "1,false"),
        ({"k": "v", "n": 2}, "k,v,n,2"),
    ],
)
async def test_path_values_are_written_in_simple_form(
    protocol: HttpProtocol, server: HttpServer, value: Any, expected: str
) -> None:
    received = await sent(protocol, server, {"id": value}, path="/items/{id}/end")
    assert received.target == f"/items/{expected}/end"


@pytest.mark.parametrize(
    "value",
    [
        "..",
        ".",
        "../admin",
        "a/../b",
        "..\\x",
        "%2e%2e",
        "%252E%252e",
        "a%2f..%2fb",
        [
            "..",
        ],
        "./x",
    ],
)
async def test_a_path_value_that_would_change_the_path_is_refused(
    protocol: HttpProtocol, server: HttpServer, value: Any
) -> None:
    with pytest.raises(ToolArgumentsError, match="segment"):
        await sent(protocol, server, {"id": value}, path="/items/{id}/end")
    assert server.received == []


async def test_two_placeholders_cannot_make_a_dot_segment_together(protocol: HttpProtocol, server: HttpServer) -> None:
    with pytest.raises(ToolArgumentsError, match="segment"):
        await sent(protocol, server, {"a": ".", "b": "."}, path="/items/{a}{b}/end")


@pytest.mark.parametrize("value", ["", []])
async def test_an_empty_path_value_is_refused(protocol: HttpProtocol, server: HttpServer, value: Any) -> None:
    with pytest.raises(ToolArgumentsError, match="'id' is empty"):
        await sent(protocol, server, {"id": value}, path="/items/{id}")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [({}, "parameter: id_path; it must"), ({"id_path": ""}, "parameter 'id_path' is empty; it must")],
)
async def test_a_path_value_is_asked_for_by_the_name_of_its_argument(
    protocol: HttpProtocol, server: HttpServer, arguments: dict[str, Any], reason: str
) -> None:
    place = HttpParameter(argument="id_path", name="id", location="path")
    with pytest.raises(ToolArgumentsError, match=reason):
        await sent(protocol, server, arguments, path="/items/{id}", parameters=[place])


@pytest.mark.parametrize("arguments", [{}, {"id": None}])
async def test_a_missing_path_value_is_refused(
    protocol: HttpProtocol, server: HttpServer, arguments: dict[str, Any]
) -> None:
    with pytest.raises(ToolArgumentsError, match="Missing required path parameter: id; it must have a value"):
        await sent(protocol, server, arguments, path="/items/{id}")


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("label", False, ["a", "b"], ".a,b"),
        ("label", True, ["a", "b"], ".a.b"),
        ("matrix", False, ["a", "b"], ";id=a,b"),
        ("matrix", True, ["a", "b"], ";id=a;id=b"),
        ("matrix", True, {"k": 1, "l": 2}, ";k=1;l=2"),
        ("simple", True, {"k": 1, "l": 2}, "k=1,l=2"),
    ],
)
async def test_path_styles_of_openapi(
    protocol: HttpProtocol, server: HttpServer, style: str, explode: bool, value: Any, expected: str
) -> None:
    parameter = {"argument": "arg", "name": "id", "location": "path", "style": style, "explode": explode}
    received = await sent(protocol, server, {"arg": value}, path="/x/{id}", parameters=[parameter])
    assert received.target == f"/x/{expected}"


async def test_literal_parts_of_the_path_are_escaped_once(protocol: HttpProtocol, server: HttpServer) -> None:
    received = await sent(protocol, server, {"id": 1}, path="/a b/é/x%2Fy/:run/{id}")
    assert received.target == "/a%20b/%C3%A9/x%2Fy/:run/1"


# -- headers and cookies


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        (5, "5"),
        (True, "true"),
        (["a", "b"], "a,b"),
        ([1, None], "1"),
        ({"k": 1}, "k,1"),
        (None, None),
    ],
)
async def test_header_values_are_scalars_and_comma_lists(
    protocol: HttpProtocol, server: HttpServer, value: Any, expected: str | None
) -> None:
    received = await sent(protocol, server, {"X-Value": value}, header_fields=["X-Value"])
    assert received.headers.get("X-Value") == expected
    assert received.query == []


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\x00b", ["a", "b\rc"]])
async def test_a_header_value_with_a_line_break_is_refused(
    protocol: HttpProtocol, server: HttpServer, value: Any
) -> None:
    with pytest.raises(ToolArgumentsError, match="header 'X-Value', which the arguments fill in, must not hold CR/LF"):
        await sent(protocol, server, {"X-Value": value}, header_fields=["X-Value"])
    assert server.received == []


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Host", "Connection", "Upgrade"])
async def test_an_argument_cannot_set_a_header_of_the_connection(
    protocol: HttpProtocol, server: HttpServer, name: str
) -> None:
    with pytest.raises(ToolTransportError, match=f"(?i){name}"):
        await sent(protocol, server, {name: "1"}, header_fields=[name])


async def test_a_secret_with_a_line_break_is_refused_without_being_shown(
    protocol: HttpProtocol, server: HttpServer
) -> None:
    auth = ApiKeyAuth(api_key="sk-secret\n", var_name="X-Key", location="header")
    with pytest.raises(ToolTransportError, match="'X-Key' contains CR/LF") as caught:
        await sent(protocol, server, {}, auth=auth)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "style", "expected"),
    [
        ("a", None, "session=a"),
        (5, None, "session=5"),
        ("a;b c,%", None, "session=a%3Bb%20c%2C%25"),
        (["a", "b"], None, "session=a,b"),
        ({"a": 1}, None, "session={%22a%22:1}"),
        ({"a": 1, "b": 2}, "form", "a=1; b=2"),
        (None, None, None),
    ],
)
async def test_cookie_parameters(
    protocol: HttpProtocol, server: HttpServer, value: Any, style: str | None, expected: str | None
) -> None:
    parameter = {"argument": "c", "name": "session", "location": "cookie", "style": style}
    received = await sent(protocol, server, {"c": value}, parameters=[parameter])
    assert received.headers.get("Cookie") == expected


async def test_cookies_of_one_reply_are_not_sent_with_the_next_call(protocol: HttpProtocol) -> None:
    from tests.support.http_server import replying

    async with http_server(replying({}, Set_Cookie="session=1")) as server:
        await sent(protocol, server, {})
        assert "Cookie" not in (await sent(protocol, server, {})).headers


# -- credentials


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("header", ("k%/+ =", None, [])),
        ("query", (None, None, [("X-Key", "k%/+ =")])),
        ("cookie", (None, "theme=dark; X-Key=k%/+%20=", [])),
    ],
)
async def test_api_keys_go_where_the_template_says(
    protocol: HttpProtocol, server: HttpServer, location: str, expected: tuple[Any, ...]
) -> None:
    auth = ApiKeyAuth.model_validate({"api_key": "k%/+ =", "var_name": "X-Key", "location": location})
    headers = {"Cookie": "theme=dark"} if location == "cookie" else None
    received = await sent(protocol, server, {}, auth=auth, headers=headers)
    assert (received.headers.get("X-Key"), received.headers.get("Cookie"), received.query) == expected


async def test_basic_authentication_is_sent_as_utf8(protocol: HttpProtocol, server: HttpServer) -> None:
    received = await sent(protocol, server, {}, auth=BasicAuth.model_validate({"username": "ü", "password": "p:w"}))
    assert base64.b64decode(received.headers["Authorization"].removeprefix("Basic ")).decode() == "ü:p:w"


async def test_several_credentials_can_be_required(protocol: HttpProtocol, server: HttpServer) -> None:
    received = await sent(
        protocol,
        server,
        {},
        auth=ApiKeyAuth(api_key="one", var_name="X-One", location="header"),
        more_auth=[ApiKeyAuth(api_key="two", var_name="two", location="query")],
    )
    assert (received.headers["X-One"], received.query) == ("one", [("two", "two")])


async def test_user_and_password_of_the_url_are_basic_authentication(
    protocol: HttpProtocol, server: HttpServer
) -> None:
    template = HttpCallTemplate(name="m", url=f"http://user:pa%20ss@127.0.0.1:{server.port}/x")
    await protocol.call_tool(None, "m.x", {}, template)
    assert base64.b64decode(server.last.headers["Authorization"].removeprefix("Basic ")) == b"user:pa ss"


# -- bodies


def body_template(content_type: str, **more: Any) -> dict[str, Any]:
    return {"http_method": "POST", "content_type": content_type, "body_field": "body", **more}


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "application/vnd.api+json", "text/json"]
)
@pytest.mark.parametrize(
    "value", [{"a": [1, 1.5, True, None, "é"]}, [], "text", 5, False, None, {"lone": "\ud800"}], ids=repr
)
async def test_json_bodies(protocol: HttpProtocol, server: HttpServer, content_type: str, value: Any) -> None:
    received = await sent(protocol, server, {"body": value}, **body_template(content_type))
    assert json.loads(received.body) == value
    assert received.headers["Content-Type"] == content_type


async def test_a_content_type_among_the_headers_counts_whatever_its_case(
    protocol: HttpProtocol, server: HttpServer
) -> None:
    headers = {"content-type": "text/plain"}
    received = await sent(protocol, server, {"body": "a"}, http_method="POST", headers=headers)
    assert (received.body, received.headers.getall("Content-Type")) == (b"a", ["text/plain"])


async def test_a_number_that_is_not_json_is_refused(protocol: HttpProtocol, server: HttpServer) -> None:
    with pytest.raises(ToolArgumentsError, match="JSON"):
        await sent(protocol, server, {"body": float("nan")}, **body_template("application/json"))


async def test_without_a_body_argument_there_is_no_body(protocol: HttpProtocol, server: HttpServer) -> None:
    received = await sent(protocol, server, {"q": 1}, **body_template("application/json"))
    assert (received.body, received.query) == (b"", [("q", "1")])


async def test_urlencoded_bodies(protocol: HttpProtocol, server: HttpServer) -> None:
    form = {"t": "a b&c", "n": 1.5, "b": True, "none": None, "l": ["x", 2], "o": {"k": 1}, "$x": "ü"}
    received = await sent(protocol, server, {"body": form}, **body_template("application/x-www-form-urlencoded"))
    assert received.body.decode() == "t=a+b%26c&n=1.5&b=true&l=x&l=2&o=%7B%22k%22%3A1%7D&$x=%C3%BC"
    assert received.headers["Content-Type"] == "application/x-www-form-urlencoded"


async def test_a_form_that_is_text_already_is_sent_as_it_is(protocol: HttpProtocol, server: HttpServer) -> None:
    received = await sent(protocol, server, {"body": "a=1&b=2"}, **body_template("application/x-www-form-urlencoded"))
    assert received.body == b"a=1&b=2"


async def test_form_fields_in_a_style_of_openapi(protocol: HttpProtocol, server: HttpServer) -> None:
    template = body_template("application/x-www-form-urlencoded", form_styles={"o": "deepObject"}, parameters=[])
    received = await sent(protocol, server, {"body": {"o": {"k": [1]}}}, **template)
    assert received.body == b"o%5Bk%5D%5B0%5D=1"


async def test_a_body_whose_properties_are_arguments(protocol: HttpProtocol, server: HttpServer) -> None:
    template = body_template("application/json", body_arguments={"a_body": "a", "b": "b"})
    received = await sent(protocol, server, {"a_body": 1, "q": 2}, **template)
    assert (json.loads(received.body), received.query) == ({"a": 1}, [("q", "2")])


@pytest.mark.parametrize(
    ("content_type", "value", "expected"),
    [
        ("text/plain", "é", "é".encode()),
        ("text/plain; charset=iso-8859-1", "é", b"\xe9"),
        ("text/plain", 5, b"5"),
        ("text/plain", {"a": 1}, b'{"a":1}'),
        ("application/xml", "<a/>", b"<a/>"),
        ("application/yaml", {"a": 1}, b'{"a":1}'),
        ("application/x-ndjson", [{"a": 1}, 2], b'{"a":1}\n2\n'),
        ("application/octet-stream", "text", b"text"),
        ("application/octet-stream", {"base64": "AP8="}, b"\x00\xff"),
        ("image/png", "data:image/png;base64,AP8", b"\x00\xff"),
        ("image/png", {"base64": "_-8", "filename": "x.png"}, b"\xff\xef"),
    ],
)
async def test_text_and_binary_bodies(
    protocol: HttpProtocol, server: HttpServer, content_type: str, value: Any, expected: bytes
) -> None:
    received = await sent(protocol, server, {"body": value}, **body_template(content_type))
    assert (received.body, received.headers["Content-Type"]) == (expected, content_type)


@pytest.mark.parametrize(
    ("content_type", "value", "reason"),
    [
        ("application/x-www-form-urlencoded", [1], "must be an object"),
        ("multipart/form-data", "x", "must be an object"),
        ("image/png", {"a": 1}, "sent as image/png"),
        ("image/png", {"base64": "***"}, "not valid base64"),
        ("text/plain; charset=ascii", "é", "cannot write"),
        ("text/plain; charset=klingon", "x", "'klingon'"),
    ],
)
async def test_a_body_that_its_type_cannot_say_is_refused(
    protocol: HttpProtocol, server: HttpServer, content_type: str, value: Any, reason: str
) -> None:
    with pytest.raises(ToolArgumentsError, match=reason):
        await sent(protocol, server, {"body": value}, **body_template(content_type))
    assert server.received == []


async def test_a_body_of_megabytes_is_sent_whole(protocol: HttpProtocol, server: HttpServer) -> None:
    text = "é" * 1_500_000
    received = await sent(protocol, server, {"body": text}, **body_template("text/plain"))
    assert received.body.decode() == text


# -- multipart


def parts(received: Received) -> list[tuple[str, str | None, str, bytes]]:
    """Name, file name, content type and content of each part, as the standard library reads them."""
    head = f"Content-Type: {received.headers['Content-Type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + received.body)
    found = []
    for part in message.iter_parts():
        assert isinstance(part, EmailMessage)
        name = part["Content-Disposition"].params["name"]
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found.append((name, part.get_filename(), part.get("Content-Type", ""), content))
    return found


async def test_multipart_bodies(protocol: HttpProtocol, server: HttpServer) -> None:
    form = {
        "text": "é",
        "n": 5,
        "flag": True,
        "none": None,
        "list": ["a", "b"],
        "object": {"k": 1},
        "file": {"base64": "AP8=", "filename": 'a"b.png', "content_type": "image/png"},
    }
    received = await sent(protocol, server, {"body": form}, **body_template("multipart/form-data"))
    assert parts(received) == [
        ("text", None, "", "é".encode()),
        ("n", None, "", b"5"),
        ("flag", None, "", b"true"),
        ("list", None, "", b"a"),
        ("list", None, "", b"b"),
        ("object", None, "application/json", b'{"k":1}'),
        ("file", "a%22b.png", "image/png", b"\x00\xff"),
    ]


async def test_a_part_cannot_forge_another(protocol: HttpProtocol, server: HttpServer) -> None:
    form = {'a"\r\nX: y': "1", "file": {"base64": "AA==", "filename": "a\r\n\r\nevil"}}
    received = await sent(protocol, server, {"body": form}, **body_template("multipart/form-data"))
    assert [name for name, *_ in parts(received)] == ["a%22%0D%0AX: y", "file"]
    form = {"file": {"base64": "AA==", "content_type": "a/b\r\nX: y"}}
    with pytest.raises(ToolArgumentsError, match="CR/LF"):
        await sent(protocol, server, {"body": form}, **body_template("multipart/form-data"))


async def test_declared_files_and_types_of_parts(protocol: HttpProtocol, server: HttpServer) -> None:
    template = body_template(
        "multipart/form-data", file_fields=["file"], part_types={"meta": "application/json", "file": "text/csv"}
    )
    form = {"file": "a,b\n1,2", "meta": ["x"]}
    received = await sent(protocol, server, {"body": form}, **template)
    assert parts(received) == [("file", "file", "text/csv", b"a,b\n1,2"), ("meta", None, "application/json", b'["x"]')]


@pytest.fixture
def uploads(tmp_path: Path) -> Path:
    folder = tmp_path / "uploads"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.txt").write_bytes(b"content")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


async def test_files_are_read_from_the_upload_folder(uploads: Path, server: HttpServer) -> None:
    protocol = HttpProtocol(HttpOptions(upload_dir=uploads))
    for path in ("sub/a.txt", str(uploads / "sub" / "a.txt")):
        received = await sent(protocol, server, {"body": {"f": {"path": path}}}, **body_template("multipart/form-data"))
        assert parts(received) == [("f", "a.txt", "application/octet-stream", b"content")]
    received = await sent(protocol, server, {"body": {"path": "sub/a.txt"}}, **body_template("image/png"))
    assert received.body == b"content"
    await protocol.close()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret.txt", "outside"),
        ("link.txt", "outside"),
        ("/etc/passwd", "outside"),
        ("sub/../../secret.txt", "outside"),
        ("/nowhere/at/all", "outside"),
        ("../nowhere", "outside"),
        ("missing.txt", "no file 'missing.txt'"),
        ("sub", "no file 'sub'"),
        ("a\x00b", "no file"),
    ],
)
async def test_files_elsewhere_are_refused(uploads: Path, server: HttpServer, path: str, reason: str) -> None:
    protocol = HttpProtocol(HttpOptions(upload_dir=uploads))
    with pytest.raises(ToolArgumentsError, match=reason):
        await sent(protocol, server, {"body": {"f": {"path": path}}}, **body_template("multipart/form-data"))
    assert server.received == []
    await protocol.close()


async def test_without_an_upload_folder_no_file_is_read(protocol: HttpProtocol, server: HttpServer) -> None:
    body = {"f": {"path": "/etc/passwd"}}
    with pytest.raises(ToolArgumentsError, match="no upload folder is allowed"):
        await sent(protocol, server, {"body": body}, **body_template("multipart/form-data"))


# -- methods


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"])
async def test_every_method_reaches_the_server(protocol: HttpProtocol, server: HttpServer, method: str) -> None:
    assert (await sent(protocol, server, {}, http_method=method, parameters=[])).method == method
