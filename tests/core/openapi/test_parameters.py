"""Parameters on the wire: what a server receives is what the description prescribes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.openapi import api, converted, described, json_body, operation, parameter, tool_of

RGB = {"R": 100, "G": 200}
LIST: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
OBJECT: dict[str, Any] = {"type": "object"}


@pytest.mark.parametrize(
    ("fields", "kind", "value", "target"),
    [
        ({}, "string", "a b&c", "/op?v=a%20b%26c"),
        ({}, "string", "", "/op?v="),
        ({}, "boolean", True, "/op?v=true"),
        ({}, "number", 1.5, "/op?v=1.5"),
        # OpenAPI 3.0.3, section 4.7.12.4
        ({}, LIST, ["blue", "black"], "/op?v=blue&v=black"),
        ({"explode": False}, LIST, ["blue", "black"], "/op?v=blue,black"),
        ({"style": "form", "explode": True}, OBJECT, RGB, "/op?R=100&G=200"),
        ({"style": "form", "explode": False}, OBJECT, RGB, "/op?v=R,100,G,200"),
        ({"style": "spaceDelimited"}, LIST, ["blue", "black"], "/op?v=blue%20black"),
        ({"style": "spaceDelimited", "explode": True}, LIST, ["blue", "black"], "/op?v=blue&v=black"),
        ({"style": "pipeDelimited"}, LIST, ["blue", "black"], "/op?v=blue%7Cblack"),
        ({"style": "pipeDelimited", "explode": False}, OBJECT, RGB, "/op?v=R%7C100%7CG%7C200"),
        ({"style": "deepObject", "explode": True}, OBJECT, RGB, "/op?v%5BR%5D=100&v%5BG%5D=200"),
        ({"style": "matrix"}, LIST, ["a"], "/op?v=a"),  # no style of a query
        ({"allowReserved": True}, "string", "a/b?c", "/op?v=a/b?c"),
        # left open by OpenAPI
        ({}, OBJECT, {"page": 1, "sort": ["a", "b"]}, "/op?page=1&sort=a&sort=b"),
    ],
)
async def test_query_styles(fields: dict[str, Any], kind: Any, value: Any, target: str) -> None:
    async with api(described(operation(parameter("v", "query", kind, **fields)))) as served:
        assert (await served.sent({"v": value})).target == target


@pytest.mark.parametrize(
    ("fields", "kind", "value", "target"),
    [
        ({}, "string", "a/b c", "/op/a%2Fb%20c"),
        ({}, LIST, ["blue", "black"], "/op/blue,black"),
        ({"explode": True}, OBJECT, RGB, "/op/R=100,G=200"),
        ({}, OBJECT, RGB, "/op/R,100,G,200"),
        ({"style": "label"}, LIST, ["blue", "black"], "/op/.blue,black"),
        ({"style": "label", "explode": True}, LIST, ["blue", "black"], "/op/.blue.black"),
        ({"style": "matrix"}, "string", "blue", "/op/;v=blue"),
        ({"style": "matrix"}, LIST, ["blue", "black"], "/op/;v=blue,black"),
        ({"style": "matrix", "explode": True}, LIST, ["blue", "black"], "/op/;v=blue;v=black"),
        ({"style": "matrix", "explode": True}, OBJECT, RGB, "/op/;R=100;G=200"),
        # RFC 6570, section 3.2.7
        ({"style": "matrix"}, "string", "", "/op/;v"),
        ({"style": "matrix", "explode": True}, LIST, ["", "a"], "/op/;v;v=a"),
        ({"style": "matrix", "explode": True}, OBJECT, {"R": "", "G": 1}, "/op/;R;G=1"),
    ],
)
async def test_path_styles(fields: dict[str, Any], kind: Any, value: Any, target: str) -> None:
    paths = operation(parameter("v", "path", kind, required=True, **fields), path="/op/{v}")
    async with api(described(paths)) as served:
        assert (await served.sent({"v": value})).target == target


@pytest.mark.parametrize(
    ("fields", "kind", "value", "text"),
    [
        ({}, "string", "a b", "a b"),
        ({}, "integer", 5, "5"),
        ({}, LIST, ["blue", "black"], "blue,black"),
        ({}, OBJECT, RGB, "R,100,G,200"),
        ({"explode": True}, OBJECT, RGB, "R=100,G=200"),
    ],
)
async def test_headers(fields: dict[str, Any], kind: Any, value: Any, text: str) -> None:
    async with api(described(operation(parameter("X-V", "header", kind, **fields)))) as served:
        assert (await served.sent({"X-V": value})).headers["X-V"] == text


async def test_cookies() -> None:
    paths = operation(parameter("a", "cookie"), parameter("b", "cookie", "integer"), parameter("c", "cookie", OBJECT))
    async with api(described(paths)) as served:
        received = await served.sent({"a": "x", "b": 5, "c": RGB})
        assert received.headers["Cookie"] == "a=x; b=5; R=100; G=200"
        assert received.target == "/op"


@pytest.mark.parametrize(
    ("fields", "kind", "value", "cookie"),
    [
        ({"style": "cookie"}, "string", "a%20b c", "v=a%20b c"),
        ({"style": "cookie"}, LIST, ["blue", "black"], "v=blue; v=black"),
        ({"style": "cookie"}, OBJECT, RGB, "R=100; G=200"),
        ({"style": "cookie", "explode": False}, LIST, ["blue", "black"], "v=blue,black"),
        ({"style": "cookie", "explode": False}, OBJECT, RGB, "v=R,100,G,200"),
        ({}, OBJECT, {"x; session": "evil"}, "x%3B%20session=evil"),
    ],
)
async def test_cookie_styles(fields: dict[str, Any], kind: Any, value: Any, cookie: str) -> None:
    async with api(described(operation(parameter("v", "cookie", kind, **fields)), "3.2.0")) as served:
        assert (await served.sent({"v": value})).headers["Cookie"] == cookie


@pytest.mark.parametrize("value", ["a; session=evil", {"a; session": "evil"}, {"a=b": "c"}, ["a\nb"]])
async def test_a_cookie_that_is_not_escaped_holds_no_other(value: Any) -> None:
    paths = operation(parameter("v", "cookie", {}, style="cookie"))
    async with api(described(paths, "3.2.0")) as served:
        assert "cookie" in await served.refused({"v": value})


@pytest.mark.parametrize(
    ("kind", "value", "target"),
    [
        ("application/json", {"a": [1]}, "/op?%7B%22a%22%3A%5B1%5D%7D"),
        ("text/plain", "a b", "/op?a%20b"),
        ("application/x-www-form-urlencoded", {"a": [1, 2]}, "/op?a=1&a=2"),
    ],
)
async def test_a_whole_query_of_any_type(kind: str, value: Any, target: str) -> None:
    field = {"in": "querystring", "name": "q", "content": {kind: {"schema": {}}}}
    async with api(described(operation(field), "3.2.0")) as served:
        assert (await served.sent({"q": value})).target == target


async def test_the_encoding_of_the_fields_of_a_whole_query() -> None:
    encoding = {"d": {"style": "form", "explode": False}, "o": {"style": "deepObject"}}
    content = {"application/x-www-form-urlencoded": {"schema": OBJECT, "encoding": encoding}}
    async with api(described(operation({"in": "querystring", "name": "q", "content": content}), "3.2.0")) as served:
        received = await served.sent({"q": {"d": [1, 2], "e": [1, 2], "o": {"a": 1}}})
        assert received.target == "/op?d=1,2&e=1&e=2&o%5Ba%5D=1"


@pytest.mark.parametrize(("version", "path"), [("3.2.0", "/op/a:b%2F%41%2Fc"), ("3.1.0", "/op/a%3Ab%2F%2541%252Fc")])
async def test_reserved_characters_of_a_path_since_openapi_3_2(version: str, path: str) -> None:
    field = parameter("v", "path", required=True, allowReserved=True)
    async with api(described(operation(field, path="/op/{v}"), version)) as served:
        assert (await served.sent({"v": "a:b/%41%2Fc"})).target == path
        assert "path" in await served.refused({"v": "a/../b"})


@pytest.mark.parametrize("location", ["query", "header"])
async def test_a_parameter_with_the_content_of_a_form(location: str) -> None:
    field = {"name": "v", "in": location, "content": {"application/x-www-form-urlencoded": {"schema": OBJECT}}}
    async with api(described(operation(field))) as served:
        received = await served.sent({"v": {"a": "b c", "d": [1, 2]}})
        assert {"query": received.target, "header": received.headers.get("v")}[location] == {
            "query": "/op?v=a%3Db%2Bc%26d%3D1%26d%3D2",
            "header": "a=b+c&d=1&d=2",
        }[location]


async def test_a_path_value_that_is_described_as_what_the_server_makes_of_it_is_a_text() -> None:
    version = {"type": "object", "properties": {"Major": {"type": "integer", "readOnly": True}}}
    field = parameter("v", "path", {"$ref": "#/components/schemas/Version"}, required=True)
    document = described(operation(field, path="/op/{v}"), components={"schemas": {"Version": version}})
    async with api(document) as served:
        assert (await served.sent({"v": "10.8.1"})).target == "/op/10.8.1"


def test_headers_that_differ_in_case_are_one() -> None:
    paths = operation(parameter("x-a", "header", "integer"))
    paths["/op"]["parameters"] = [parameter("X-A", "header")]
    assert tool_of(described(paths)).inputs["properties"] == {"x-a": {"type": "integer"}}


@pytest.mark.parametrize(
    ("location", "name"), [("header", "X Bad"), ("header", "X:Y"), ("cookie", "a b"), ("query", "")]
)
def test_a_name_that_cannot_be_sent_costs_no_more_than_it_must(location: str, name: str) -> None:
    assert tool_of(described(operation(parameter(name, location)))).inputs["properties"] == {}
    conversion = converted(described(operation(parameter(name, location, required=True))))
    assert [repr(name) in operation.reason for operation in conversion.skipped] == [True] * (name != "")


@pytest.mark.parametrize(
    ("fields", "examples"),
    [
        ({"example": "a"}, ["a"]),
        ({"examples": {"one": {"value": "a"}, "two": {"value": "b"}}}, ["a", "b"]),
        ({"examples": {"one": {"dataValue": "a"}, "two": {"externalValue": "https://h"}}}, ["a"]),
        ({"examples": {"one": {"value": "a\nb"}, "two": {"value": "c"}}}, ["c"]),
    ],
)
def test_examples_of_a_parameter_are_shown(fields: dict[str, Any], examples: list[str]) -> None:
    tool = tool_of(described(operation(parameter("v", "header", **fields))))
    assert tool.inputs["properties"]["v"]["examples"] == examples


@pytest.mark.parametrize("location", ["path", "query", "header", "cookie"])
async def test_a_parameter_with_json_content_is_json_text(location: str) -> None:
    field = {"name": "v", "in": location, "content": {"application/json": {"schema": OBJECT}}, "required": True}
    async with api(described(operation(field, path="/op/{v}" if location == "path" else "/op"))) as served:
        received = await served.sent({"v": {"a": [1]}})
    text = '{"a":[1]}'
    escaped = "%7B%22a%22%3A%5B1%5D%7D"
    if location in ("path", "query"):
        assert received.target == {"path": f"/op/{escaped}", "query": f"/op?v={escaped}"}[location]
    else:
        assert (
            received.headers.get("v", received.headers.get("Cookie", ""))
            .removeprefix("v=")
            .replace("%22", '"')
            .replace("%2C", ",")
            == text
        )


@pytest.mark.parametrize(
    ("collection_format", "query", "path", "header"),
    [
        (None, "/op?v=a,b", "/op/a,b", "a,b"),
        ("csv", "/op?v=a,b", "/op/a,b", "a,b"),
        ("ssv", "/op?v=a%20b", "/op/a%20b", "a b"),
        ("tsv", "/op?v=a%09b", "/op/a%09b", "a\tb"),
        ("pipes", "/op?v=a%7Cb", "/op/a%7Cb", "a|b"),
        ("multi", "/op?v=a&v=b", None, None),
    ],
)
async def test_collection_formats_of_swagger_2(
    collection_format: str | None, query: str, path: str | None, header: str | None
) -> None:
    field = {"name": "v", "type": "array", "items": {"type": "string"}, "required": True}
    field |= {} if collection_format is None else {"collectionFormat": collection_format}
    one = {"responses": {}, "parameters": [{**field, "in": "query"}], "operationId": "query"}
    two = {"responses": {}, "parameters": [{**field, "in": "path"}], "operationId": "path"}
    three = {"responses": {}, "parameters": [{**field, "in": "header"}], "operationId": "header"}
    document = described({"/op": {"get": one, "post": three}, "/op/{v}": {"get": two}}, "2.0")
    async with api(document) as served:
        arguments = {"v": ["a", "b"]}
        assert (await served.sent(arguments, "api.query")).target == query
        if path is not None:
            assert (await served.sent(arguments, "api.path")).target == path
            assert (await served.sent(arguments, "api.header")).headers["v"] == header


async def test_a_whole_query_of_openapi_3_2() -> None:
    field = {"in": "querystring", "name": "all", "content": {"application/x-www-form-urlencoded": {"schema": OBJECT}}}
    async with api(described(operation(field), "3.2.0")) as served:
        assert (await served.sent({"all": {"a": 1, "b": "c d"}})).target == "/op?a=1&b=c%20d"


# -- which arguments there are


def test_parameters_of_the_path_are_merged_and_those_of_the_operation_win() -> None:
    paths = operation(parameter("a", kind="integer"), parameter("a", "header"), path="/op/{id}")
    paths["/op/{id}"]["parameters"] = [parameter("a"), parameter("b"), parameter("id", "path")]
    tool = tool_of(described(paths))
    assert tool.inputs["properties"] == {
        "query_a": {"type": "integer"},
        "b": {"type": "string"},
        "id": {"type": "string"},
        "header_a": {"type": "string"},
    }


async def test_one_name_in_several_places_is_told_apart() -> None:
    places = ("path", "query", "header", "cookie")
    fields = [parameter("id", place, required=True) for place in places]
    async with api(described(operation(*fields, path="/op/{id}"))) as served:
        received = await served.sent({f"{place}_id": place for place in places})
        assert received.target == "/op/path?id=query"
        assert (received.headers["id"], received.headers["Cookie"]) == ("header", "id=cookie")


async def test_a_parameter_named_body_beside_a_body() -> None:
    paths = operation(parameter("body"), method="post", requestBody=json_body({"type": "integer"}))
    async with api(described(paths)) as served:
        received = await served.sent({"query_body": "q", "body": 5})
        assert (received.target, received.body) == ("/op?body=q", b"5")


@pytest.mark.parametrize(
    ("location", "name"),
    [
        *(
            ("query", name)
            for name in ("filter[name]", "$top", "a.b", "été", "a b", "from", "self", "model_config", "_id")
        ),
        *(("header", name) for name in ("X-Trace-Id", "a.b", "from", "_id", "$top")),
    ],
)
async def test_awkward_names_arrive(name: str, location: str) -> None:
    async with api(described(operation(parameter(name, location)))) as served:
        received = await served.sent({name: "value"})
        assert (dict(received.query).get(name) or received.headers.get(name)) == "value"


def test_required_in_both_directions() -> None:
    fields = [
        parameter("a", required=True),
        parameter("b", required=False),
        parameter("c"),
        parameter("d", "path", required=False),
    ]
    assert tool_of(described(operation(*fields, path="/op/{d}"))).inputs["required"] == ["a", "d"]


async def test_what_was_not_given_is_not_sent_and_what_is_not_declared_is_refused() -> None:
    paths = operation(parameter("a", kind={"type": "string", "default": "x"}), parameter("b"))
    async with api(described(paths)) as served:
        assert (await served.sent({})).target == "/op"
        assert "c: is not an argument" in await served.refused({"c": 1})


def test_what_the_author_says_of_a_parameter_is_kept() -> None:
    schema = {"type": "integer", "default": 20, "minimum": 1, "maximum": 100, "enum": [10, 20], "description": "of it"}
    tool = tool_of(
        described(operation(parameter("a", kind=schema, description="<b>How many</b>", deprecated=True, example=10)))
    )
    assert tool.inputs["properties"]["a"] == {**schema, "description": "How many", "deprecated": True, "examples": [10]}


def test_what_swagger_2_says_of_a_parameter_is_kept() -> None:
    schema = {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "default": ["a"]}
    paths = operation({"name": "a", "in": "query", "collectionFormat": "csv", "description": "d", **schema})
    assert tool_of(described(paths, "2.0")).inputs["properties"]["a"] == {**schema, "description": "d"}


@pytest.mark.parametrize("name", ["Accept", "authorization", "Content-Type"])
def test_headers_that_openapi_3_describes_elsewhere_are_no_arguments(name: str) -> None:
    assert tool_of(described(operation(parameter(name, "header")))).inputs["properties"] == {}


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding"])
@pytest.mark.parametrize("version", ["2.0", "3.0.3"])
def test_headers_of_the_connection_are_no_arguments(version: str, name: str) -> None:
    assert tool_of(described(operation(parameter(name, "header", required=True)), version)).inputs["properties"] == {}


async def test_placeholders_of_a_path_are_filled_even_if_they_are_described_badly() -> None:
    fields = [parameter("pet_id", "path"), parameter("unused", "path")]
    paths = operation(*fields, path="/op/{petId}/{nobody}/{petId}")
    async with api(described(paths)) as served:
        received = await served.sent({"pet_id": "a", "nobody": "b"})
        assert received.target == "/op/a/b/a"


@pytest.mark.parametrize("value", ["..", "a/../b", "%2e%2e", "."])
async def test_a_path_value_never_leaves_its_place(value: str) -> None:
    async with api(described(operation(parameter("v", "path"), path="/op/{v}/end"))) as served:
        assert "path" in await served.refused({"v": value})


async def test_a_dollar_sign_of_a_path_is_no_variable() -> None:
    async with api(described(operation(parameter("$top", kind="integer"), path="/users/$count"))) as served:
        assert (await served.sent({"$top": 5})).target == "/users/$count?$top=5"
