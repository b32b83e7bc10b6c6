"""How schemas of other drafts and broken ones are read."""

from __future__ import annotations

import datetime
import json
from enum import Enum
from typing import Any

import pytest

from utcp_bridge.schema import ArgumentsSchema, InvalidArguments, SchemaProblem, arguments_schema, bundle, plain


def _property(schema: Any, **root: Any) -> tuple[Any, list[tuple[str, str]]]:
    read = arguments_schema({"type": "object", "properties": {"x": schema}, **root})
    return read.shown["properties"]["x"], [(problem.pointer, problem.reason) for problem in read.problems]


_STRING, _NULL = {"type": "string"}, {"type": "null"}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ({"minimum": 5, "exclusiveMinimum": True}, {"exclusiveMinimum": 5}),
        ({"maximum": 5, "exclusiveMaximum": False}, {"maximum": 5}),
        ({"exclusiveMaximum": True}, {}),
        ({"items": [_STRING], "additionalItems": _NULL}, {"prefixItems": [_STRING], "items": _NULL}),
        ({"items": [], "additionalItems": False}, {"items": False}),
        ({"items": {}, "additionalItems": False}, {"items": {}}),
        ({"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        ({"dependencies": {"a": "b"}}, {"dependentRequired": {"a": ["b"]}}),
        ({"dependencies": {"a": {"minProperties": 2}}}, {"dependentSchemas": {"a": {"minProperties": 2}}}),
        (
            {"dependencies": {"a": ["b"]}, "dependentRequired": {"c": ["d"]}},
            {"dependentRequired": {"c": ["d"]}, "allOf": [{"dependentRequired": {"a": ["b"]}}]},
        ),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"enum": ["a"], "nullable": True}, {"enum": ["a", None]}),
        ({"const": "a", "nullable": True, "title": "T"}, {"title": "T", "anyOf": [{"const": "a"}, _NULL]}),
        ({"type": ["string", "null"], "nullable": False}, {"type": ["string", "null"]}),
        ({"nullable": True}, {}),
        ({"type": "STRING"}, {"type": "string"}),
        ({"minLength": 1.0, "multipleOf": 0.5, "default": 1.0}, {"minLength": 1, "multipleOf": 0.5, "default": 1.0}),
        (
            {"properties": {"a": {"required": True}}, "required": ["b"]},
            {"properties": {"a": {}}, "required": ["b"], "allOf": [{"required": ["a"]}]},
        ),
    ],
)
def test_older_and_openapi_spellings_are_put_into_one_dialect(written: Any, shown: Any) -> None:
    assert _property(written) == (shown, [])


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema"])
def test_before_2019_a_reference_stands_alone_but_keeps_its_annotations(draft: str) -> None:
    shown, problems = _property(
        {"$ref": "#/definitions/A", "description": "kept", "x-note": 1, "maxLength": 2},
        definitions={"A": {"type": "string"}},
        **{"$schema": draft},
    )
    assert (shown, problems) == ({"$ref": "#/$defs/A", "description": "kept", "x-note": 1}, [])


def test_keywords_that_the_declared_draft_does_not_know_mean_nothing() -> None:
    written = {"const": 1, "if": {}, "prefixItems": [True]}
    shown, problems = _property(written, **{"$schema": "http://json-schema.org/draft-06/schema#"})
    assert (shown, problems) == ({"const": 1}, [])


@pytest.mark.parametrize(
    ("schema", "shown", "pointers"),
    [
        ({"type": "any"}, {}, ["/properties/x/type"]),
        ({"type": []}, {}, ["/properties/x/type"]),
        ({"type": 3, "minLength": 1}, {"minLength": 1}, ["/properties/x/type"]),
        ({"minimum": "5"}, {}, ["/properties/x/minimum"]),
        ({"minimum": float("nan")}, {}, ["/properties/x/minimum"]),
        ({"maxLength": -1}, {}, ["/properties/x/maxLength"]),
        ({"multipleOf": 0}, {}, ["/properties/x/multipleOf"]),
        ({"enum": "a"}, {}, ["/properties/x/enum"]),
        ({"pattern": "(["}, {}, ["/properties/x/pattern"]),
        ({"required": "a"}, {}, ["/properties/x/required"]),
        ({"required": ["a", 1]}, {"required": ["a"]}, ["/properties/x/required"]),
        ({"anyOf": []}, {}, ["/properties/x/anyOf"]),
        ({"anyOf": [{"type": "string"}, 5]}, {"anyOf": [{"type": "string"}, True]}, ["/properties/x/anyOf/1"]),
        ({"items": "string"}, {"items": True}, ["/properties/x/items"]),
        ({"properties": ["a"]}, {}, ["/properties/x/properties"]),
        ({"properties": {"a/b": None}}, {"properties": {"a/b": True}}, ["/properties/x/properties/a~1b"]),
        ({"$ref": "#/$defs/Gone", "description": "d"}, {"description": "d"}, ["/properties/x/$ref"]),
        ({"$ref": "https://example.com/x.json"}, {}, ["/properties/x/$ref"]),
        ({"$ref": 5}, {}, ["/properties/x/$ref"]),
        ({"$ref": "#/type"}, {}, ["/properties/x/$ref"]),
        ({"uniqueItems": "yes", "description": 5}, {}, ["/properties/x/uniqueItems", "/properties/x/description"]),
        ({"default": float("inf")}, {}, ["/properties/x/default"]),
        ("string", True, ["/properties/x"]),
        (None, True, ["/properties/x"]),
    ],
)
def test_what_cannot_be_read_is_opened_at_its_place_and_reported(schema: Any, shown: Any, pointers: list[str]) -> None:
    found, problems = _property(schema)
    assert found == shown
    assert [pointer for pointer, _ in problems] == pointers


_GONE = {"$ref": "#/$defs/Gone"}


@pytest.mark.parametrize(
    "schema",
    [
        {"not": _GONE},
        {"not": {"type": "any"}},
        {"not": {"properties": {"a": {"items": _GONE}}}},
        {"oneOf": [_GONE, {"type": "object"}]},
        {"oneOf": [{"$ref": "#/$defs/Opened"}, {"type": "object"}]},
        {"oneOf": [{"minimum": "x"}, {}], "anyOf": [{}]},
        {"if": _GONE, "then": False},
        {"if": {"not": _GONE}, "then": True, "else": False},
        {"properties": ["a"], "additionalProperties": False},
        {"properties": {"a": 5}, "additionalProperties": False},
        {"patternProperties": "^a", "unevaluatedProperties": False},
    ],
)
def test_an_opening_never_makes_a_schema_refuse_more(schema: Any) -> None:
    read = arguments_schema({"properties": {"x": schema}, "$defs": {"Opened": {"allOf": [_GONE]}}})
    assert read.problems
    assert read.accept({"x": {"a": 1}}) == {"x": {"a": 1}}


def test_an_opening_among_counted_items_lifts_the_upper_count() -> None:
    read = arguments_schema({"properties": {"x": {"contains": {"type": "any"}, "maxContains": 1}}})
    assert read.accept({"x": [1, 2]}) == {"x": [1, 2]}


def test_a_lost_pattern_opens_the_rule_for_all_other_properties() -> None:
    read = arguments_schema({"patternProperties": {"(": {"type": "integer"}}, "additionalProperties": False})
    assert {problem.pointer for problem in read.problems} == {"/patternProperties/(", "/additionalProperties"}
    assert read.accept({"anything": 1}) == {"anything": 1}


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": ["array", "null"]}, False])
def test_a_root_that_is_no_object_is_a_problem_and_refuses_every_call(schema: Any) -> None:
    read = arguments_schema(schema)
    assert read.shown["type"] == "object"
    assert read.shown["properties"] == {}
    assert len(read.problems) == 1
    with pytest.raises(InvalidArguments):
        read.accept({})


@pytest.mark.parametrize("schema", [None, {}, True, {"type": "object"}, {"type": ["object", "null"]}, {"title": None}])
@pytest.mark.parametrize("given", [None, {}, "", " ", "{}"])
def test_a_tool_without_arguments_shows_an_empty_object_and_takes_nothing_in_any_form(schema: Any, given: Any) -> None:
    read = arguments_schema(schema)
    assert read.shown == {"type": "object", "properties": {}}
    assert read.accept(given) == {}


def test_a_required_argument_that_nothing_describes_is_reported() -> None:
    assert arguments_schema({"required": ["a"]}).problems == (
        SchemaProblem("/required", "'a' is required but not among the properties"),
    )
    described = {"required": ["a"], "anyOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"properties": {"a": {}}}}}
    assert arguments_schema(described).problems == ()


# -- documents that do not end ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"anyOf": [{"not": {"$ref": "#/$defs/a"}}]}}},
    ],
)
def test_a_reference_that_only_leads_to_itself_is_opened_and_reported(schema: Any) -> None:
    read = arguments_schema(schema)
    assert any("nothing but itself" in problem.reason for problem in read.problems)
    assert read.accept({"x": 1}) == {"x": 1}


def test_a_python_object_that_contains_itself_is_opened_and_reported() -> None:
    node: dict[str, Any] = {"type": "object"}
    node["properties"] = {"child": node}
    read = arguments_schema({"properties": {"root": node}})
    assert json.loads(json.dumps(read.shown)) == read.shown
    assert [problem.pointer for problem in read.problems] == ["/properties/root/properties/child"]


def test_objects_shared_many_times_cost_a_bounded_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MAX_SCHEMAS", 1000)
    monkeypatch.setattr(plain, "MAX_VALUES", 1000)
    shared: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        shared = {"type": "object", "properties": {"a": shared, "b": shared}, "default": [shared, shared]}
    read = arguments_schema({"properties": {"x": shared}})
    assert any("subschemas" in problem.reason for problem in read.problems)


@pytest.mark.parametrize("depth", [70, 5000])
def test_a_schema_nested_too_deeply_is_opened_below(depth: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    read = arguments_schema(schema)
    assert any("too deeply" in problem.reason for problem in read.problems)
    assert read.accept({"a": {"a": {}}}) == {"a": {"a": {}}}


def _chain(length: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(length)}
    definitions[f"d{length}"] = {"type": "integer"}
    return {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions}


def test_a_chain_of_references_is_followed() -> None:
    read = arguments_schema(_chain(50))
    assert read.problems == ()
    with pytest.raises(InvalidArguments, match="x: must be an integer"):
        read.accept({"x": "no"})


@pytest.mark.parametrize("keyword", ["$ref", "allOf"])
def test_a_chain_of_references_that_no_validator_could_follow_is_opened_and_reported(keyword: str) -> None:
    schema = _chain(20_000)
    if keyword == "allOf":
        for definition in schema["$defs"].values():
            if "$ref" in definition:
                definition["allOf"] = [{"$ref": definition.pop("$ref")}]
    read = arguments_schema(schema)
    assert read.problems
    assert all("references" in problem.reason for problem in read.problems)
    assert read.accept({"x": "anything"}) == {"x": "anything"}


# -- what Python objects and YAML bring --------------------------------------------------------------------------------


class Unit(Enum):
    CELSIUS = "c"


def test_a_schema_of_python_objects_becomes_plain_json() -> None:
    schema = {
        "properties": {
            True: {"enum": (Unit.CELSIUS, "f")},
            200: {"default": datetime.date(2026, 1, 31)},
            "bad": {"examples": [{1, 2}]},
        },
        "required": (),
    }
    read = arguments_schema(schema)
    assert read.shown == {
        "type": "object",
        "properties": {"true": {"enum": ["c", "f"]}, "200": {"default": "2026-01-31"}, "bad": {}},
        "required": [],
    }
    assert [problem.pointer for problem in read.problems] == ["/properties/bad/examples"]


def test_the_authors_object_is_neither_changed_nor_kept() -> None:
    author = {"properties": {"a": {"type": "string", "nullable": True}}}
    read = arguments_schema(author)
    author["properties"]["a"]["type"] = "integer"
    assert read.shown["properties"]["a"] == {"type": ["string", "null"]}
    assert author == {"properties": {"a": {"type": "integer", "nullable": True}}}


def test_equal_schemas_share_one_reading_and_different_ones_do_not() -> None:
    first = arguments_schema({"properties": {"a": {"const": 1}}})
    assert arguments_schema({"properties": {"a": {"const": 1}}}) is first
    assert arguments_schema({"properties": {"a": {"const": True}}}) is not first
    assert arguments_schema({"properties": {"a": {"const": 1}}}, assert_formats=True) is not first


def test_a_reference_to_the_whole_schema_keeps_its_meaning() -> None:
    """The arguments are an object, but what refers to the author's root may be anything that the author allowed."""
    read = ArgumentsSchema({"properties": {"child": {"$ref": "#"}, "n": {"type": "integer"}}})
    assert read.accept({"child": "text"}) == {"child": "text"}
    assert ArgumentsSchema(read.shown).accept({"child": {"child": 5, "n": 1}}) == {"child": {"child": 5, "n": 1}}
    with pytest.raises(InvalidArguments, match=r"child\.n"):
        read.accept({"child": {"n": "x"}})
