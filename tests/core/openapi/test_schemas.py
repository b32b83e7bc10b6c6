"""Schemas: self-contained, in one dialect, and saying what is meant for arguments and for replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.openapi import converted, dangling_references, described, json_body, operation, parameter, tool_of
from utcp_bridge.openapi import OpenApiTool
from utcp_bridge.schema import InvalidArguments, arguments_schema


def tool_for(body: Any, version: str = "3.0.3", /, *, reply: Any = None, **schemas: Any) -> OpenApiTool:
    """The tool of an operation with this body (and reply) in a document with these schemas."""
    responses = {"200": {"description": "OK", **({} if reply is None else json_body(reply))}}
    paths = operation(method="post", requestBody=json_body(body), responses=responses)
    tool = tool_of(described(paths, version, components={"schemas": schemas}))
    assert not dangling_references(tool.inputs)
    assert not dangling_references(tool.outputs)
    return tool


def accepts(tool: OpenApiTool, body: Any) -> bool:
    try:
        arguments_schema(tool.inputs).accept({"body": body}, repair=False)
    except InvalidArguments:
        return False
    return True


def ref(name: str, **beside: Any) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}", **beside}


# -- references


def test_exactly_the_reachable_definitions_come_along() -> None:
    tool = tool_for(ref("A"), A={"properties": {"b": ref("B")}}, B={"type": "string"}, C={"type": "integer"})
    assert tool.inputs["$defs"] == {"A": {"properties": {"b": {"$ref": "#/$defs/B"}}}, "B": {"type": "string"}}


def test_cycles_stay_references() -> None:
    node = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": ref("Node")}},
        "required": ["children"],
    }
    tool = tool_for(ref("Node"), Node=node)
    assert accepts(tool, {"children": [{"children": []}]})
    assert not accepts(tool, {"children": [{"children": [{}]}]})


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("a/b", "#/components/schemas/a~1b"),
        ("a~b", "#/components/schemas/a~0b"),
        ("a b", "#/components/schemas/a%20b"),
        ("Généric<T>", "#/components/schemas/G%C3%A9n%C3%A9ric%3CT%3E"),
        ("Page[User]", "#/components/schemas/Page[User]"),
    ],
)
def test_names_that_need_escapes(name: str, reference: str) -> None:
    tool = tool_for({"$ref": reference}, **{name: {"type": "integer"}})
    assert accepts(tool, 5)
    assert not accepts(tool, "x")


def test_different_schemas_with_like_names_stay_apart() -> None:
    body = {"properties": {"a": ref("x y"), "b": ref("x_y"), "c": ref("x-y")}}
    tool = tool_for(body, **{"x y": {"type": "integer"}, "x_y": {"type": "string"}, "x-y": {"type": "boolean"}})
    assert accepts(tool, {"a": 1, "b": "s", "c": True})
    assert not accepts(tool, {"a": "s"})
    assert not accepts(tool, {"b": 1})


def test_a_reference_into_the_middle_of_a_schema() -> None:
    person = {"properties": {"tags": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}}}
    tool = tool_for({"$ref": "#/components/schemas/Person/properties/tags/items/0"}, Person=person)
    assert accepts(tool, 5)
    assert not accepts(tool, "x")


@pytest.mark.parametrize(
    "reference", ["#/components/schemas/Gone", "#gone", "other.json#/x", "https://elsewhere.example/x", "#/openapi"]
)
def test_a_dangling_reference_accepts_anything_and_is_reported(reference: str) -> None:
    body = {"type": "object", "properties": {"a": {"$ref": reference, "description": "An a."}}, "required": ["a"]}
    conversion = converted(described(operation(method="post", requestBody=json_body(body))))
    (tool,) = conversion.tools
    assert tool.inputs["properties"]["body"]["properties"]["a"] == {"description": "An a."}
    assert any(reference in problem for problem in conversion.problems)


def test_anchors_and_identifiers_of_openapi_3_1() -> None:
    schemas = {
        "A": {"$anchor": "here", "type": "integer"},
        "B": {"$id": "https://example.com/b", "$defs": {"inner": {"type": "string"}}, "$ref": "#/$defs/inner"},
        "C": {"$dynamicAnchor": "node", "type": "object", "properties": {"next": {"$dynamicRef": "#node"}}},
    }
    properties = {"a": {"$ref": "#here"}, "b": {"$ref": "https://example.com/b"}, "c": ref("C")}
    tool = tool_for({"type": "object", "properties": properties}, "3.1.0", **schemas)
    assert accepts(tool, {"a": 1, "b": "s", "c": {"next": {"next": {}}}})
    for wrong in ({"a": "s"}, {"b": 1}, {"c": {"next": {"next": 5}}}):
        assert not accepts(tool, wrong)


def test_a_property_may_be_called_ref_or_like_a_keyword() -> None:
    properties = {
        name: {"type": "integer"} for name in ("$ref", "properties", "required", "allOf", "x-y", "$id", "xml", "type")
    }
    tool = tool_for({"type": "object", "properties": properties, "required": ["$ref", "x-y"]})
    assert tool.inputs["properties"]["body"]["properties"] == properties
    assert not accepts(tool, {"$ref": 1})


@pytest.mark.parametrize(("version", "counts"), [("3.0.3", False), ("3.1.0", True)])
def test_what_stands_beside_a_reference_counts_since_openapi_3_1(version: str, counts: bool) -> None:
    tool = tool_for(ref("A", minLength=3, description="An A."), version, A={"type": "string", "description": "Any."})
    assert tool.inputs["properties"]["body"]["description"] == "An A."
    assert accepts(tool, "x") is not counts


# -- spellings


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string", "nullable": True, "enum": ["A"]}, ["A", None], ["B", 5]),
        ({"type": "string", "nullable": False}, ["s"], [None]),
        ({"allOf": [ref("S")], "nullable": True}, ["s", None], [5]),
        (ref("S", nullable=True), ["s", None], [5]),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, [2], [1]),
        ({"type": "array", "items": {"type": "integer", "nullable": True}}, [[1, None]], [["s"]]),
        ({"type": "string", "x-nullable": True}, [None], [5]),
    ],
)
def test_spellings_of_openapi_3_0(schema: Any, good: list[Any], bad: list[Any]) -> None:
    tool = tool_for(schema, reply=schema, S={"type": "string"})
    assert all(accepts(tool, value) for value in good)
    assert not any(accepts(tool, value) for value in bad)
    assert "ullable" not in json.dumps([tool.inputs, tool.outputs])


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": ["string", "null"], "const": None}, [None], ["s"]),
        ({"prefixItems": [{"type": "integer"}], "items": False}, [[1]], [[1, 2]]),
        (True, [5], []),
        (False, [], [5]),
        ({"properties": {"a": False}}, [{}], [{"a": 1}]),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
        (
            {"type": "object", "unevaluatedProperties": False, "allOf": [{"properties": {"a": {}}}]},
            [{"a": 1}],
            [{"b": 1}],
        ),
        ({"type": "integer", "exclusiveMinimum": 1}, [2], [1]),
    ],
)
def test_keywords_of_openapi_3_1(schema: Any, good: list[Any], bad: list[Any]) -> None:
    tool = tool_for(schema, "3.1.0")
    assert all(accepts(tool, value) for value in good)
    assert not any(accepts(tool, value) for value in bad)


@pytest.mark.parametrize(
    "keyword", ["oneOf", "anyOf", "allOf", "properties", "required", "enum", "type", "schema", "format"]
)
@pytest.mark.parametrize("value", [[], {}, {"$ref": "#/gone"}, [{"$ref": "#/gone"}], None, 5])
def test_keywords_of_a_wrong_shape_refuse_nothing_and_leave_no_reference(keyword: str, value: Any) -> None:
    tool = tool_for({"description": "d", keyword: value}, reply={keyword: value})
    assert accepts(tool, {"$ref": "#/gone"})  # which is a value like any other


def test_what_says_nothing_to_a_model_is_left_out_and_examples_are_short() -> None:
    schema = {
        "type": "object",
        "xml": {"name": "a"},
        "externalDocs": {"url": "https://x"},
        "x-internal": {"$ref": "#/gone"},
        "example": {f"k{number}": number for number in range(50)},
        "properties": {"a": {"type": "string", "example": "one"}, "b": {"type": "string", "example": "x" * 1_000}},
    }
    tool = tool_for(schema, reply=schema)
    properties = {"a": {"type": "string", "examples": ["one"]}, "b": {"type": "string"}}
    assert tool.inputs["properties"]["body"] == {"type": "object", "properties": properties}
    assert tool.outputs == {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}


# -- direction


def test_read_only_properties_are_no_arguments_and_write_only_ones_no_reply() -> None:
    user = {
        "type": "object",
        "required": ["id", "name", "password"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "name": {"type": "string"},
            "password": {"type": "string", "writeOnly": True},
            "created": ref("Created"),
        },
    }
    tool = tool_for(ref("User"), reply=ref("User"), User=user, Created={"type": "string", "readOnly": True})
    assert tool.inputs["$defs"]["User"]["properties"].keys() == {"name", "password"}
    assert tool.inputs["$defs"]["User"]["required"] == ["name", "password"]
    assert tool.outputs["$defs"]["User"]["properties"].keys() == {"id", "name", "created"}
    assert tool.outputs["$defs"]["User"]["required"] == ["id", "name"]


def test_what_is_left_out_is_not_required_by_another_part_either() -> None:
    base = {"type": "object", "properties": {"id": {"type": "integer", "readOnly": True}, "name": {"type": "string"}}}
    tool = tool_for({"allOf": [ref("Base"), {"required": ["id", "name"]}]}, Base=base)
    assert accepts(tool, {"name": "x"})
    assert not accepts(tool, {})


# -- discriminators


CAT = {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}}, "required": ["kind"]}
DOG = {"type": "object", "properties": {"kind": {"type": "string"}, "barks": {"type": "boolean"}}, "required": ["kind"]}


@pytest.mark.parametrize(
    ("discriminator", "tags"),
    [
        ({"propertyName": "kind"}, ("Cat", "Dog")),
        ({"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat", "dog": "Dog"}}, ("cat", "dog")),
        ({"propertyName": "kind", "mapping": {"c": "Cat"}}, ("c", "Dog")),
    ],
)
@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_a_discriminator_decides_between_schemas(keyword: str, discriminator: Any, tags: tuple[str, str]) -> None:
    tool = tool_for({keyword: [ref("Cat"), ref("Dog")], "discriminator": discriminator}, Cat=CAT, Dog=DOG)
    assert accepts(tool, {"kind": tags[0], "lives": 9})
    assert accepts(tool, {"kind": tags[1], "barks": True})
    assert not accepts(tool, {"kind": tags[0], "lives": "nine"})
    assert not accepts(tool, {"kind": "Fish"})


def test_schemas_that_name_their_tag_themselves_stay_as_they_are() -> None:
    def tagged(tag: str) -> dict[str, Any]:
        return {"type": "object", "properties": {"kind": {"type": "string", "enum": [tag]}}, "required": ["kind"]}

    body = {"oneOf": [ref("Cat"), ref("Dog")], "discriminator": {"propertyName": "kind"}}
    tool = tool_for(body, Cat=tagged("CAT"), Dog=tagged("DOG"))
    assert tool.inputs["properties"]["body"] == {"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]}


def test_where_nothing_tells_schemas_apart_one_value_may_fit_several() -> None:
    body = {"oneOf": [CAT, DOG], "discriminator": {"propertyName": "kind"}}
    assert accepts(tool_for(body), {"kind": "Cat"})


@pytest.mark.parametrize("default", ["Other", "#/components/schemas/Other"])
@pytest.mark.parametrize("where", ["oneOf", "anyOf", "allOf"])
def test_a_discriminator_may_have_a_default(where: str, default: str) -> None:
    """OpenAPI 3.2, section 4.25: what has no tag, or an unknown one, is of the default schema."""
    discriminator = {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}, "defaultMapping": default}
    kind: dict[str, Any] = {"kind": {"type": "string"}}
    cat: dict[str, Any] = {
        "type": "object",
        "properties": {**kind, "lives": {"type": "integer"}},
        "required": ["lives"],
    }
    other: dict[str, Any] = {"type": "object", "properties": {**kind, "name": {"type": "string"}}, "required": ["name"]}
    if where == "allOf":
        base = {"type": "object", "properties": kind, "discriminator": discriminator}
        cat, other = {"allOf": [ref("Base"), cat]}, {"allOf": [ref("Base"), other]}
        tool = tool_for(ref("Base"), "3.2.0", Base=base, Cat=cat, Other=other)
        assert accepts(tool, {"kind": "Base"})
    else:
        body = {where: [ref("Cat"), ref("Other")], "discriminator": discriminator}
        tool = tool_for(body, "3.2.0", Cat=cat, Other=other)
    assert accepts(tool, {"kind": "cat", "lives": 9})
    assert not accepts(tool, {"kind": "cat", "name": "x"})
    tags: list[dict[str, str]] = [{}, {"kind": "Other"}, {"kind": "unknown"}]
    for tag in tags:
        assert accepts(tool, {**tag, "name": "x"})
        assert not accepts(tool, {**tag, "lives": 9})


PET = {"type": "object", "properties": {"kind": {"type": "string"}, "name": {"type": "string"}}, "required": ["kind"]}


@pytest.mark.parametrize("version", ["2.0", "3.0.3", "3.1.0"])
def test_schemas_that_build_on_one_may_stand_for_it(version: str) -> None:
    prefix = "#/definitions/" if version == "2.0" else "#/components/schemas/"
    pet = {**PET, "discriminator": "kind" if version == "2.0" else {"propertyName": "kind"}}
    cat = {
        "allOf": [
            {"$ref": f"{prefix}Pet"},
            {"type": "object", "properties": {"lives": {"type": "integer"}}, "required": ["lives"]},
        ]
    }
    kitten = {"allOf": [{"$ref": f"{prefix}Cat"}, {"type": "object", "properties": {"age": {"type": "integer"}}}]}
    schemas = {"Pet": pet, "Cat": cat, "Kitten": kitten, "Other": {"type": "object"}}
    body = {"type": "array", "items": {"$ref": f"{prefix}Pet"}}
    if version == "2.0":
        document = described(
            operation({"name": "b", "in": "body", "schema": body}, method="post"), version, definitions=schemas
        )
    else:
        document = described(
            operation(method="post", requestBody=json_body(body)), version, components={"schemas": schemas}
        )
    tool = tool_of(document)
    assert not dangling_references(tool.inputs)
    assert accepts(tool, [{"kind": "Cat", "lives": 9}, {"kind": "Kitten", "lives": 9, "age": 1}, {"kind": "Pet"}])
    assert not accepts(tool, [{"kind": "Cat"}])
    assert not accepts(tool, [{"kind": "Kitten", "lives": 9, "age": "x"}])
    assert not accepts(tool, [{"name": "no kind"}])


def test_a_parent_whose_tags_all_mean_children_cannot_stand_alone() -> None:
    pet = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"type": "string", "enum": ["cat"]}},
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}},
    }
    cat = {"allOf": [ref("Pet"), {"required": ["lives"]}]}
    tool = tool_for(ref("Pet"), Pet=pet, Cat=cat)
    assert accepts(tool, {"kind": "cat", "lives": 9})
    assert not accepts(tool, {"kind": "cat"})


def test_a_child_that_holds_its_parent_comes_to_an_end() -> None:
    pet = {**PET, "discriminator": {"propertyName": "kind"}}
    cat = {"allOf": [ref("Pet"), {"type": "object", "properties": {"mother": ref("Pet")}}]}
    tool = tool_for({"allOf": [ref("Pet")], "description": "One."}, Pet=pet, Cat=cat)
    assert accepts(tool, {"kind": "Cat", "mother": {"kind": "Cat", "mother": {"kind": "Pet"}}})
    assert not accepts(tool, {"kind": "Cat", "mother": {"kind": "Cat", "mother": 5}})


# -- replies


@pytest.mark.parametrize(
    ("responses", "kind"),
    [
        ({"200": "integer", "201": "string"}, "integer"),
        ({"201": "string", "default": "boolean"}, "string"),
        ({"404": "integer", "2XX": "string"}, "string"),
        ({"207": "string", "default": "boolean"}, "string"),
        ({"default": "boolean", "400": "string"}, "boolean"),
        ({"400": "string"}, None),
    ],
)
def test_the_reply_that_a_success_gives(responses: dict[str, str], kind: str | None) -> None:
    described_responses = {code: {"description": "", **json_body({"type": name})} for code, name in responses.items()}
    assert tool_of(described(operation(responses=described_responses))).outputs == ({"type": kind} if kind else {})


def test_the_reply_of_swagger_2() -> None:
    responses = {"200": {"description": "", "schema": {"$ref": "#/definitions/A"}}}
    tool = tool_of(described(operation(responses=responses), "2.0", definitions={"A": {"type": "string"}}))
    assert tool.outputs == {"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}}


@pytest.mark.parametrize(
    ("kinds", "accept"),
    [
        (["application/xml", "application/json"], "application/json, */*;q=0.5"),
        (["application/vnd.a+json", "text/csv"], "application/vnd.a+json, */*;q=0.5"),
        (["application/json"], None),
        (["application/xml"], None),
    ],
)
def test_json_is_asked_for_where_a_server_has_other_forms_too(kinds: list[str], accept: str | None) -> None:
    content: dict[str, Any] = {kind: {"schema": {}} for kind in kinds}
    tool = tool_of(described(operation(responses={"200": {"description": "", "content": content}})))
    assert tool.template.get("headers", {}).get("Accept") == accept


# -- limits


def test_a_huge_reply_is_described_as_far_as_it_helps() -> None:
    schemas = {
        f"S{number}": {"properties": {f"p{k}": ref(f"S{number + 1}") for k in range(3)}} for number in range(5_000)
    }
    tool = tool_for(ref("S0"), reply=ref("S0"), S5000={}, **schemas)
    assert len(tool.outputs["$defs"]) < 1_000
    assert len(json.dumps(tool.outputs)) < 200_000


def test_definitions_are_shared_between_tools() -> None:
    paths = {f"/{number}": operation(parameter("p", kind=ref("A")))["/op"] for number in range(10)}
    conversion = converted(described(paths, components={"schemas": {"A": {"type": "string"}}}))
    assert len({id(tool.inputs["$defs"]) for tool in conversion.tools}) == 1


def test_schemas_nested_too_deeply_accept_anything() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(500):
        schema = {"type": "array", "items": schema}
    conversion = converted(described(operation(method="post", requestBody=json_body(schema))))
    assert len(conversion.tools) == 1
    assert conversion.problems


def test_a_document_whose_parts_hold_themselves_comes_to_an_end() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["self"] = schema
    assert len(converted(described(operation(method="post", requestBody=json_body(schema)))).tools) == 1


def test_the_document_is_not_changed() -> None:
    document = described(
        operation(method="post", requestBody=json_body(ref("A"))),
        components={"schemas": {"A": {"type": "string", "nullable": True, "enum": ["a"], "example": "a"}}},
    )
    before = json.dumps(document)
    converted(document)
    assert json.dumps(document) == before
