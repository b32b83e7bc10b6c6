"""Schemas whose letter fits no value that an API takes: what their authors mean counts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.openapi.test_schemas import accepts, ref, tool_for
from tests.support.openapi import converted, described, json_body, operation, parameter, tool_of

CLOSED = {"type": "object", "additionalProperties": False}


def closed(*names: str, **more: Any) -> dict[str, Any]:
    return {**CLOSED, "properties": {name: {"type": "string"} for name in names}, **more}


# -- `additionalProperties: false` of a part


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [ref("A"), ref("B")]},
        {**CLOSED, "allOf": [ref("A"), ref("B")]},
        {"allOf": [ref("A"), {"properties": {"b": {"type": "string"}}}]},
        {"allOf": [ref("Built")]},
        {"properties": {"b": {"type": "string"}}, "oneOf": [ref("A"), closed("z", required=["z"])]},
        {**closed("b"), "anyOf": [ref("A"), {"properties": {"z": {"type": "string"}}, "required": ["z"]}]},
    ],
)
def test_a_part_that_refuses_all_others_refuses_only_what_no_part_knows(schema: dict[str, Any]) -> None:
    schemas = {"A": closed("a", required=["a"]), "B": closed("b"), "Built": {"allOf": [ref("A"), ref("B")]}}
    tool = tool_for(schema, **schemas)
    assert accepts(tool, {"a": "x", "b": "y"})
    assert not accepts(tool, {"a": "x", "b": "y", "other": 1})
    assert not accepts(tool, {"a": 5, "b": "y"})


def test_parts_that_know_each_others_properties_stay_as_they_are() -> None:
    schema = {"allOf": [ref("A"), {"required": ["a"]}]}
    tool = tool_for(schema, A=closed("a", "b"))
    assert "unevaluatedProperties" not in str(tool.inputs)
    assert tool.inputs["$defs"]["A"] == closed("a", "b")


def test_a_schema_that_is_a_part_here_stays_closed_elsewhere() -> None:
    schema = {"type": "object", "properties": {"whole": ref("A"), "made": {"allOf": [ref("A"), ref("B")]}}}
    tool = tool_for(schema, A=closed("a"), B=closed("b"))
    assert accepts(tool, {"whole": {"a": "x"}, "made": {"a": "x", "b": "y"}})
    assert not accepts(tool, {"whole": {"a": "x", "b": "y"}})


def test_what_a_closed_object_does_not_have_is_not_required() -> None:
    tool = tool_for(closed("a", required=["a", "in_the_path"]))
    assert accepts(tool, {"a": "x"})
    assert not accepts(tool, {})


# -- `oneOf` whose schemas overlap


@pytest.mark.parametrize(
    ("arms", "good", "bad"),
    [
        ([{"type": "string", "format": "uri"}, {"type": "string", "format": "byte"}], ["x"], [5]),
        ([{"type": "integer"}, {"type": "number"}], [1, 1.5], ["x"]),
        ([{"type": "string", "enum": ["auto"]}, {"type": "string"}], ["auto", "x"], [5]),
        ([{"properties": {"id": {"type": "string"}}}, {"properties": {"s": {"type": "object"}}}], [{"id": "x"}], []),
        ([ref("A"), {"allOf": [ref("A")], "description": "The same."}], [{"a": "x"}], [{"a": 5}]),
        ([{"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "number"}}], [[1]], [1]),
    ],
)
def test_alternatives_of_which_one_covers_another_are_any_of_them(
    arms: list[Any], good: list[Any], bad: list[Any]
) -> None:
    tool = tool_for({"oneOf": arms}, A={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    assert all(accepts(tool, value) for value in good)
    assert not any(accepts(tool, value) for value in bad)


@pytest.mark.parametrize(
    ("arms", "both"),
    [
        (
            [{"required": ["a"], "properties": {"a": {}}}, {"required": ["b"], "properties": {"b": {}}}],
            {"a": 1, "b": 1},
        ),
        ([{"type": "number", "minimum": 5}, {"type": "number", "maximum": 10}], 7),
        ([{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}], "ab"),
    ],
)
def test_alternatives_that_exclude_each_other_stay_exclusive(arms: list[Any], both: Any) -> None:
    assert not accepts(tool_for({"oneOf": arms}), both)


def test_schemas_that_hold_each_other_are_compared_to_an_end() -> None:
    a = {"type": "object", "properties": {"m": ref("B"), "n": {"type": "array", "items": ref("A")}}}
    b = {"type": "object", "properties": {"m": ref("A"), "n": {"type": "array", "items": ref("B")}}}
    assert accepts(tool_for({"oneOf": [ref("A"), ref("B")]}, A=a, B=b), {"m": {"n": [{}]}})


# -- choices and patterns


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string", "enum": [1, 2.5, True]}, ["1", "2.5", "true"], [1, "3"]),
        ({"type": "integer", "enum": ["1", "2"]}, [1, 2], ["1", 3]),
        ({"type": "boolean", "enum": ["true", "False"]}, [True, False], ["true"]),
        ({"type": "number", "enum": ["a"]}, [1], ["a"]),
        ({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]}, [["a"], []], [["c"], "a"]),
        ({"type": "string", "enum": ["a", 1], "nullable": True}, ["a", "1", None], [1]),
        ({"type": "string", "pattern": "/^[a-z]+$/"}, ["ab"], ["A1"]),
        ({"type": "string", "pattern": "/^[a-z]+$/i"}, ["AB"], []),
        ({"type": "string", "pattern": "/path/"}, ["a/path/b"], ["path"]),
    ],
)
def test_choices_and_patterns_that_fit_no_value(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    tool = tool_for(schema)
    assert [accepts(tool, value) for value in good] == [True] * len(good)
    assert not any(accepts(tool, value) for value in bad)


@pytest.mark.parametrize(("location", "choices"), [("path", ["a"]), ("query", ["", "a"])])
def test_a_path_is_not_offered_an_empty_choice(location: str, choices: list[str]) -> None:
    kind = {"type": "string", "enum": ["", "a"]}
    tool = tool_of(described(operation(parameter("v", location, kind, required=True), path="/op/{v}")))
    assert [schema["enum"] for schema in tool.inputs["properties"].values() if "enum" in schema] == [choices]


# -- properties that are left out


@pytest.mark.parametrize(
    "schema",
    [
        ref("Twice"),
        {"allOf": [ref("Once")]},
        {"allOf": [ref("Twice")], "description": "d"},
        {"allOf": [{"type": "string"}, {"readOnly": True}]},
    ],
)
def test_read_only_is_seen_through_references_and_parts(schema: dict[str, Any]) -> None:
    body = {"type": "object", "properties": {"id": schema, "name": {"type": "string"}}, "required": ["id", "name"]}
    tool = tool_for(body, Once={"type": "string", "readOnly": True}, Twice=ref("Once"))
    assert list(tool.inputs["properties"]["body"]["properties"]) == ["name"]
    assert accepts(tool, {"name": "n"})


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_what_every_alternative_leaves_out_is_not_required_beside_them(keyword: str) -> None:
    arm = {"type": "object", "properties": {"id": {"type": "string", "readOnly": True}, "a": {"const": 1}}}
    other = {"type": "object", "properties": {"id": {"type": "string", "readOnly": True}, "a": {"const": 2}}}
    arms = [{**arm, "required": ["a"]}, {**other, "required": ["a"]}]
    assert accepts(tool_for({keyword: arms, "required": ["id"]}, "3.1.0"), {"a": 1})


# -- hostile and broken documents


def test_a_broken_reference_or_identifier_costs_what_it_stands_in() -> None:
    bad = {"$ref": "http://[bad"}
    good = operation(parameter("q", kind={"$ref": "#here"}))
    schemas = {"X": {"$anchor": "here", "type": "string"}, "Y": {"$id": "http://[x", "type": "string"}}
    paths: dict[str, Any] = {**good, "/item": bad, "/operation": {"get": bad}}
    paths["/property"] = {"post": {"requestBody": json_body({"properties": {"p": bad}})}}
    conversion = converted(described(paths, "3.1.0", components={"schemas": schemas}))
    assert [tool.path for tool in conversion.tools] == ["/op", "/property"]
    assert [operation.path for operation in conversion.skipped] == ["/item", "/operation"]
    assert all("http://[bad" in operation.reason for operation in conversion.skipped)
    assert any("http://[bad" in problem for problem in conversion.problems)


@pytest.mark.parametrize("arms", [1, 3, 8])
def test_parts_that_hold_themselves_many_times_come_to_an_end(arms: int) -> None:
    bomb = {"type": "object", "properties": {"p": {"type": "string"}}, "allOf": [ref("Bomb")] * arms}
    body = {"content": {"multipart/form-data": {"schema": ref("Bomb")}}}
    document = described(operation(method="post", requestBody=body), components={"schemas": {"Bomb": bomb}})
    assert "body" in tool_of(document).inputs["properties"]


def test_thousands_of_like_names_are_told_apart_in_time() -> None:
    schemes = {"a" + "-" * count: {"type": "http", "scheme": "bearer"} for count in range(3_000)}
    document = described(operation(), components={"securitySchemes": schemes})
    assert len(converted(document).tools) == 1
