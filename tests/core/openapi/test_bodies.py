"""Bodies on the wire: media types, forms, files, and the arguments that they are made of."""

from __future__ import annotations

import base64
import json
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.support.http_server import Received
from tests.support.openapi import api, converted, described, json_body, operation, tool_of

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
PET: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}


def posting(schema: Any, kind: str = "application/json", /, **fields: Any) -> dict[str, Any]:
    """Paths with one POST of this body."""
    return operation(method="post", requestBody=json_body(schema, kind, **fields))


def parts_of(received: Received) -> list[tuple[str | None, str | None, str, bytes]]:
    """Name, file name, type and content of each part."""
    head = f"Content-Type: {received.headers['Content-Type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + received.body)
    found: list[tuple[str | None, str | None, str, bytes]] = []
    for part in message.iter_parts():
        assert isinstance(part, EmailMessage)
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found.append((str(name), part.get_filename(), part.get("Content-Type", ""), content))
    return found


# -- JSON


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "application/json; charset=utf-8",
        "application/vnd.api+json",
        "application/merge-patch+json",
        "text/json",
    ],
)
async def test_json_of_every_spelling(kind: str) -> None:
    async with api(described(posting(PET, kind))) as served:
        received = await served.sent({"body": {"name": "é", "age": 5}})
        assert received.headers["Content-Type"] == kind
        assert json.loads(received.body) == {"name": "é", "age": 5}


@pytest.mark.parametrize("value", [[1, "a"], "text", 5, True, None, {"a": None}])
async def test_json_of_every_type(value: Any) -> None:
    async with api(described(posting({}))) as served:
        received = await served.sent({"body": value})
        assert json.loads(received.body) == value


@pytest.mark.parametrize("required", [True, False, None])
async def test_a_body_is_required_if_the_document_says_so(required: bool | None) -> None:
    schema = {**PET, "required": ["name"]}
    fields = {} if required is None else {"required": required}
    async with api(described(posting(schema, **fields))) as served:
        if required:
            assert "body" in await served.refused({})
        else:
            assert (await served.sent({})).body == b""
        assert (await served.sent({"body": {"name": "x"}})).body == b'{"name":"x"}'


@pytest.mark.parametrize("method", ["get", "delete", "put", "patch", "options", "query"])
async def test_every_method_can_have_a_body(method: str) -> None:
    async with api(described(operation(method=method, requestBody=json_body(PET)), "3.2.0")) as served:
        received = await served.sent({"body": {"age": 1}})
        assert (received.method, received.body) == (method.upper(), b'{"age":1}')


def test_a_body_says_what_the_document_says_of_it() -> None:
    tool = tool_of(described(posting(PET, description="The pet.", required=True)))
    assert tool.inputs == {
        "type": "object",
        "properties": {"body": {**PET, "description": "The pet."}},
        "required": ["body"],
        "additionalProperties": False,
    }


# -- several media types


@pytest.mark.parametrize(
    ("kinds", "chosen"),
    [
        (["application/xml", "application/json"], "application/json"),
        ([FORM, "application/hal+json"], "application/hal+json"),
        ([MULTIPART, FORM], FORM),
        (["application/xml", "text/plain"], "text/plain"),
        (["application/octet-stream", "application/xml"], "application/xml"),
        (["application/json-patch+json", "application/merge-patch+json"], "application/merge-patch+json"),
        (["*/*"], "application/json"),
        (["image/png", "image/*"], "image/png"),
    ],
)
def test_the_best_of_several_media_types_is_chosen(kinds: list[str], chosen: str) -> None:
    body = {"content": {kind: {"schema": PET} for kind in kinds}}
    document = described(operation(method="post", requestBody=body))
    assert tool_of(document).template["content_type"] == chosen


def test_a_form_with_files_is_sent_as_multipart() -> None:
    schema = {"type": "object", "properties": {"f": {"type": "string", "format": "binary"}}}
    body = {"content": {kind: {"schema": schema} for kind in (FORM, MULTIPART)}}
    assert tool_of(described(operation(method="post", requestBody=body))).template["content_type"] == MULTIPART


async def test_the_choice_of_a_media_type_can_be_overridden() -> None:
    body = {"content": {kind: {"schema": PET} for kind in ("application/json", FORM)}}
    document = described(operation(method="post", requestBody=body))
    async with api(document, openapi={"media_types": ["application/x-www-*"]}) as served:
        assert (await served.sent({"body": {"age": 5}})).body == b"age=5"


# -- forms


async def test_a_form() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {}}, "c": PET}}
    async with api(described(posting(schema, FORM))) as served:
        received = await served.sent({"body": {"a": "x y&z", "b": [1, "two"], "c": {"age": 5}}})
        assert received.headers["Content-Type"] == FORM
        assert parse_qsl(received.body.decode()) == [("a", "x y&z"), ("b", "1"), ("b", "two"), ("c", '{"age":5}')]


@pytest.mark.parametrize(
    ("encoding", "value", "expected"),
    [
        ({"style": "deepObject", "explode": True}, {"a": 1, "b": "x"}, "v[a]=1&v[b]=x"),
        ({"style": "deepObject"}, ["x", "y"], "v[0]=x&v[1]=y"),
        ({"style": "form"}, {"a": 1}, "a=1"),
        ({"style": "form", "explode": False}, ["x", "y"], "v=x,y"),
        ({"explode": False}, {"a": 1}, "v=a,1"),
        ({"style": "pipeDelimited"}, ["x", "y"], "v=x|y"),
        ({"style": "spaceDelimited", "explode": True}, ["x", "y"], "v=x&v=y"),
        ({"contentType": "application/json"}, ["x", "y"], 'v=["x","y"]'),
    ],
)
async def test_the_encoding_of_a_form_field(encoding: dict[str, Any], value: Any, expected: str) -> None:
    media = {"schema": {"type": "object", "properties": {"v": {}}}, "encoding": {"v": encoding}}
    async with api(described(operation(method="post", requestBody={"content": {FORM: media}}))) as served:
        received = await served.sent({"body": {"v": value}})
        assert parse_qsl(received.body.decode()) == parse_qsl(expected)


async def test_multipart_with_files() -> None:
    schema = {
        "type": "object",
        "required": ["file"],
        "properties": {
            "file": {"type": "string", "format": "binary", "description": "The picture."},
            "more": {"type": "array", "items": {"$ref": "#/components/schemas/File"}},
            "title": {"type": "string"},
            "pet": {"$ref": "#/components/schemas/Pet"},
            "id": {"type": "string", "readOnly": True},
        },
    }
    components = {"schemas": {"Pet": PET, "File": {"type": "string", "format": "binary"}}}
    content = {MULTIPART: {"schema": schema, "encoding": {"file": {"contentType": "image/png"}}}}
    document = described(operation(method="post", requestBody={"content": content}), components=components)
    async with api(document) as served:
        tool = served.toolset.find("api.op")
        assert "id" not in tool.input_schema["properties"]["body"]["properties"]
        assert tool.input_schema["properties"]["body"]["properties"]["file"]["description"] == "The picture."
        picture = base64.b64encode(b"\x89PNG").decode()
        body = {
            "file": {"base64": picture, "filename": "a.png"},
            "more": ["one", "two"],
            "title": "é",
            "pet": {"age": 1},
        }
        parts = parts_of(await served.sent({"body": body}))
        assert parts == [
            ("file", "a.png", "image/png", b"\x89PNG"),
            ("more", "more", "application/octet-stream", b"one"),
            ("more", "more", "application/octet-stream", b"two"),
            ("title", None, "", "é".encode()),
            ("pet", None, "application/json", b'{"age":1}'),
        ]
        assert "file" in await served.refused({"body": {"title": "no file"}})


@pytest.mark.parametrize(
    ("schema", "encoding", "is_file"),
    [
        ({"type": "string", "format": "binary"}, {}, True),
        ({"type": "string", "contentMediaType": "image/png"}, {}, True),
        ({"type": "string"}, {"contentType": "image/png, image/jpeg"}, True),
        ({}, {"contentType": "application/octet-stream"}, True),
        ({"allOf": [{"type": "string", "format": "binary"}]}, {}, True),
        ({"type": "string", "contentMediaType": "image/png", "contentEncoding": "base64"}, {}, False),
        ({"type": "string", "format": "byte"}, {}, False),
        ({"type": "string"}, {"contentType": "text/csv"}, False),
        ({"type": "object"}, {"contentType": "application/json"}, False),
        ({"type": "string"}, {}, False),
    ],
)
def test_which_parts_are_files(schema: dict[str, Any], encoding: dict[str, Any], is_file: bool) -> None:
    media = {"schema": {"type": "object", "properties": {"v": schema}}, "encoding": {"v": encoding}}
    tool = tool_of(described(operation(method="post", requestBody={"content": {MULTIPART: media}}), "3.1.0"))
    assert ("v" in tool.template.get("file_fields", ())) is is_file


# -- text and binary


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/csv", "application/xml", "application/yaml", "text/plain; charset=utf-8"]
)
async def test_a_text_is_sent_as_it_is(kind: str) -> None:
    async with api(described(posting({"type": "string"}, kind))) as served:
        received = await served.sent({"body": "<a>é</a>"})
        assert (received.body.decode(), received.headers["Content-Type"]) == ("<a>é</a>", kind)


def test_xml_is_a_text_whose_content_is_described() -> None:
    tool = tool_of(
        described(
            posting({"$ref": "#/components/schemas/Pet"}, "application/xml"), components={"schemas": {"Pet": PET}}
        )
    )
    assert tool.inputs["properties"]["body"] == {
        "type": "string",
        "contentMediaType": "application/xml",
        "contentSchema": {"$ref": "#/$defs/Pet"},
    }
    assert tool.inputs["$defs"] == {"Pet": PET}


@pytest.mark.parametrize("schema", [None, {"type": "string", "format": "binary"}, {}])
async def test_a_binary_body_is_a_file(schema: Any) -> None:
    async with api(described(posting(schema, "application/pdf"))) as served:
        received = await served.sent({"body": {"base64": base64.b64encode(b"\x00\xff").decode()}})
        assert (received.body, received.headers["Content-Type"]) == (b"\x00\xff", "application/pdf")


async def test_a_sequence_of_openapi_3_2() -> None:
    body = {"content": {"application/jsonl": {"itemSchema": PET}}}
    async with api(described(operation(method="post", requestBody=body), "3.2.0")) as served:
        assert served.toolset.find("api.op").input_schema["properties"]["body"] == {"type": "array", "items": PET}
        assert (await served.sent({"body": [{"age": 1}, {"age": 2}]})).body == b'{"age":1}\n{"age":2}\n'


# -- Swagger 2.0


@pytest.mark.parametrize(
    ("consumes", "content_type"),
    [(None, "application/json"), (["application/xml", "application/vnd.a+json"], "application/vnd.a+json")],
)
async def test_the_body_of_swagger_2(consumes: list[str] | None, content_type: str) -> None:
    field = {
        "name": "pet",
        "in": "body",
        "schema": {"$ref": "#/definitions/Pet"},
        "required": True,
        "description": "A pet.",
    }
    more = {} if consumes is None else {"consumes": consumes}
    async with api(described(operation(field, method="post"), "2.0", definitions={"Pet": PET}, **more)) as served:
        assert served.toolset.find("api.op").input_schema["properties"]["body"]["description"] == "A pet."
        received = await served.sent({"body": {"age": 5}})
        assert (received.body, received.headers["Content-Type"]) == (b'{"age":5}', content_type)


async def test_form_data_of_swagger_2() -> None:
    fields: list[dict[str, Any]] = [
        {"name": "a", "in": "formData", "type": "string", "required": True},
        {"name": "b", "in": "formData", "type": "array", "items": {"type": "integer"}},
        {"name": "c", "in": "formData", "type": "array", "items": {"type": "string"}, "collectionFormat": "multi"},
        {"name": "d", "in": "formData", "type": "array", "items": {"type": "string"}, "collectionFormat": "tsv"},
    ]
    async with api(described(operation(*fields, method="post"), "2.0")) as served:
        received = await served.sent({"a": "x y", "b": [1, 2], "c": ["p", "q"], "d": ["r", "s"]})
        assert (received.target, received.headers["Content-Type"]) == ("/op", FORM)
        assert parse_qsl(received.body.decode()) == [("a", "x y"), ("b", "1,2"), ("c", "p"), ("c", "q"), ("d", "r\ts")]
        assert "a: is missing" in await served.refused({})


@pytest.mark.parametrize("consumes", [[MULTIPART], [], [FORM, MULTIPART]])
async def test_a_file_of_swagger_2(consumes: list[str]) -> None:
    fields = [
        {"name": "file", "in": "formData", "type": "file", "description": "The file."},
        {"name": "id", "in": "formData", "type": "integer"},
        {"name": "id", "in": "query", "type": "integer"},
    ]
    async with api(described(operation(*fields, method="post", consumes=consumes), "2.0")) as served:
        received = await served.sent({"file": "content", "id": 1, "body_id": 2})
        assert received.target == "/op?id=1"
        assert [(name, content) for name, _, _, content in parts_of(received)] == [("file", b"content"), ("id", b"2")]


# -- flattened


def flat(document: dict[str, Any]) -> Any:
    return tool_of(document, flatten_body=True)


async def test_flattened_properties_are_arguments_of_their_own() -> None:
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Pet"},
            {"properties": {"id": {"type": "integer"}}, "required": ["name"]},
        ]
    }
    paths = operation(
        {"name": "id", "in": "path", "schema": {}},
        method="put",
        path="/op/{id}",
        requestBody=json_body(schema, required=True),
    )
    document = described(paths, components={"schemas": {"Pet": PET}})
    async with api(document, openapi={"flatten_body": True}) as served:
        received = await served.sent({"id": "p", "name": "n", "body_id": 5})
        assert (received.target, json.loads(received.body)) == ("/op/p", {"name": "n", "id": 5})
        assert "name" in await served.refused({"id": "p"})


async def test_a_required_body_is_sent_even_if_nothing_of_it_was_given() -> None:
    async with api(described(posting(PET, required=True)), openapi={"flatten_body": True}) as served:
        assert (await served.sent({})).body == b"{}"


async def test_an_optional_body_is_given_with_all_that_it_requires_or_not_at_all() -> None:
    async with api(described(posting({**PET, "required": ["name"]})), openapi={"flatten_body": True}) as served:
        assert (await served.sent({})).body == b""
        assert "name" in await served.refused({"age": 5})
        assert json.loads((await served.sent({"age": 5, "name": "n"})).body) == {"age": 5, "name": "n"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": PET},
        {"oneOf": [PET, PET]},
        {**PET, "additionalProperties": True},
        {**PET, "additionalProperties": {"type": "string"}},
        {"type": "object"},
        {"type": "string"},
    ],
)
def test_a_body_that_is_more_than_its_properties_stays_whole(schema: dict[str, Any]) -> None:
    assert list(flat(described(posting(schema))).inputs["properties"]) == ["body"]


@pytest.mark.parametrize("kind", [FORM, MULTIPART])
async def test_a_flattened_form(kind: str) -> None:
    async with api(described(posting(PET, kind)), openapi={"flatten_body": True}) as served:
        received = await served.sent({"name": "n"})
        assert b"n" in received.body
        assert received.headers["Content-Type"].startswith(kind)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError):
        converted(described(posting(PET)), flattenbody=True)
