"""Files: wherever a document describes one, its content can be given, and its type arrives."""

from __future__ import annotations

from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import pytest

from tests.support.http_server import Received
from tests.support.openapi import api, described, operation, tool_of

FILE = {"type": "string", "format": "binary"}
FILE_31 = {"type": "string", "contentMediaType": "application/octet-stream"}
GIF = {"base64": "R0lGODlh", "filename": "x.gif", "content_type": "image/gif"}
CONTENT = b"GIF89a"


def posting(content: dict[str, Any], version: str = "3.1.0") -> dict[str, Any]:
    return described(operation(method="post", requestBody={"content": content, "required": True}), version)


def uploading(schema: Any, version: str = "3.1.0", /, **encoding: Any) -> dict[str, Any]:
    return posting({"multipart/form-data": {"schema": schema, "encoding": encoding}}, version)


def parts(received: Received) -> list[tuple[str, str | None, str, bytes]]:
    head = f"Content-Type: {received.headers['Content-Type']}\r\n\r\n".encode()
    found = []
    for part in BytesParser(policy=HTTP).parsebytes(head + received.body).iter_parts():
        assert isinstance(part, EmailMessage)
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        name = str(part.get_param("name", header="content-disposition"))
        found.append((name, part.get_filename(), part.get_content_type(), content))
    return found


@pytest.mark.parametrize(
    "schema",
    [
        FILE,
        FILE_31,
        {"type": ["null", "string"], "format": "binary"},
        {"type": "string", "format": "audio/x-wav"},
        {"anyOf": [FILE_31, {"type": "null"}]},
        {"oneOf": [FILE, {"type": "array", "items": FILE}]},
        {"allOf": [FILE], "description": "A picture."},
    ],
)
@pytest.mark.parametrize(
    "beside", [{}, {"anyOf": [{"required": ["f"]}, {"required": ["u"]}]}, {"not": {"type": "null"}}]
)
async def test_a_property_that_is_a_file(schema: dict[str, Any], beside: dict[str, Any]) -> None:
    body = {"type": "object", "properties": {"f": schema, "u": {"type": "string"}}, **beside}
    async with api(uploading(body)) as served:
        received = await served.sent({"body": {"f": GIF, "u": "t"}})
        assert parts(received) == [("f", "x.gif", "image/gif", CONTENT), ("u", None, "text/plain", b"t")]
        assert parts(await served.sent({"body": {"f": "text"}}))[0][1:] == ("f", "application/octet-stream", b"text")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": FILE},
        {"anyOf": [{"type": "array", "items": FILE_31}, {"type": "null"}]},
    ],
)
async def test_a_property_that_is_a_list_of_files(schema: dict[str, Any]) -> None:
    async with api(uploading({"type": "object", "properties": {"f": schema}})) as served:
        assert parts(await served.sent({"body": {"f": [GIF, GIF]}})) == [("f", "x.gif", "image/gif", CONTENT)] * 2


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
async def test_files_of_a_body_that_is_made_of_others(keyword: str) -> None:
    arms = [{"type": "object", "properties": {"f": FILE}, "required": ["f"]}]
    async with api(uploading({keyword: arms})) as served:
        assert parts(await served.sent({"body": {"f": GIF}})) == [("f", "x.gif", "image/gif", CONTENT)]


@pytest.mark.parametrize(
    ("declared", "file", "sent"),
    [
        ("image/png, image/jpeg", {"base64": "R0lGODlh"}, "image/png"),
        ("image/png, image/jpeg", {"base64": "R0lGODlh", "filename": "x.jpg"}, "image/jpeg"),
        ("image/png, image/jpeg", GIF, "image/png"),
        ("image/*", GIF, "image/gif"),
        ("image/*", {"base64": "R0lGODlh", "filename": "x.png"}, "image/png"),
        ("application/octet-stream", GIF, "image/gif"),
        ("image/png", GIF, "image/png"),
    ],
)
async def test_the_type_of_a_file_is_one_that_the_document_allows(
    declared: str, file: dict[str, str], sent: str
) -> None:
    body = {"type": "object", "properties": {"f": FILE}}
    async with api(uploading(body, "3.0.3", f={"contentType": declared})) as served:
        assert [kind for _, _, kind, _ in parts(await served.sent({"body": {"f": file}}))] == [sent]


@pytest.mark.parametrize(
    ("kinds", "file", "sent"),
    [
        (["image/*"], GIF, "image/gif"),
        (["image/*"], "data:image/png;base64,R0lGODlh", "image/png"),
        (["*/*"], GIF, "image/gif"),
        (["*/*"], {"base64": "R0lGODlh"}, "application/octet-stream"),
        (["image/*", "image/png"], GIF, "image/png"),
        (["application/octet-stream"], GIF, "application/octet-stream"),
    ],
)
async def test_a_body_that_is_a_file_is_sent_as_what_it_is(kinds: list[str], file: Any, sent: str) -> None:
    async with api(posting({kind: {"schema": FILE} for kind in kinds})) as served:
        received = await served.sent({"body": file})
        assert (received.headers["Content-Type"], received.body) == (sent, CONTENT if file != "t" else b"t")


@pytest.mark.parametrize("schema", [None, {}, FILE, {"type": "string"}, {"type": "array", "items": {"type": "string"}}])
async def test_a_form_that_its_document_does_not_describe_takes_any_fields(schema: Any) -> None:
    content = {"multipart/form-data": {} if schema is None else {"schema": schema}}
    async with api(posting(content)) as served:
        received = await served.sent({"body": {"f": GIF, "n": 5}})
        assert parts(received) == [("f", "x.gif", "image/gif", CONTENT), ("n", None, "text/plain", b"5")]
        assert "body" in await served.refused({"body": "no form"})


@pytest.mark.parametrize(("collection", "sent"), [(None, [b"a,b"]), ("pipes", [b"a|b"]), ("multi", [b"a", b"b"])])
async def test_lists_of_a_multipart_form_of_swagger_2(collection: str | None, sent: list[bytes]) -> None:
    field = {"name": "t", "in": "formData", "type": "array", "items": {"type": "string"}}
    if collection:
        field["collectionFormat"] = collection
    document = described(operation(field, method="post", consumes=["multipart/form-data"]), "2.0")
    async with api(document) as served:
        assert [content for *_, content in parts(await served.sent({"t": ["a", "b"]}))] == sent


@pytest.mark.parametrize("kind", ["application/json-seq", "application/x-jsonlines"])
async def test_sequences_of_values(kind: str) -> None:
    async with api(posting({kind: {"itemSchema": {"type": "integer"}}}, "3.2.0")) as served:
        start = b"\x1e" if kind.endswith("seq") else b""
        assert (await served.sent({"body": [1, 2]})).body == start + b"1\n" + start + b"2\n"
    described_once = posting({kind: {"schema": {"type": "object"}}}, "3.0.3")
    async with api(described_once) as served:
        assert (await served.sent({"body": {"a": 1}})).body == start + b'{"a":1}\n'


@pytest.mark.parametrize(
    ("kinds", "schema", "sent"),
    [
        (["application/*+json"], {"type": "object"}, "application/json"),
        (["*/*", "application/vnd.a+json"], {"type": "object"}, "application/vnd.a+json"),
        (["*/*", "text/plain"], {"type": "string"}, "text/plain"),
        (["*/*", "application/xml"], {"type": "object"}, "application/json"),
        ([""], {"type": "object"}, "application/json"),
        (["applicationjson"], {"type": "object"}, "application/json"),
        (["form-data"], {"type": "object"}, "multipart/form-data"),
    ],
)
def test_what_is_sent_is_always_a_media_type(kinds: list[str], schema: Any, sent: str) -> None:
    tool = tool_of(posting({kind: {"schema": schema} for kind in kinds}))
    assert tool.template["content_type"] == sent
