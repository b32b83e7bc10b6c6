"""A schema for readers that lose definitions, and every key called `title`: it means the same, and does not explode."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.schema.test_suite import URIS, _as_property, _cases
from tests.support.json_schemas import ANY_ROOTS, ARGUMENTS
from tests.support.schema_graphs import GRAPHS
from utcp_bridge.schema import ArgumentsSchema, arguments_schema, folded, size_of, standalone, trimmed
from utcp_bridge.schema.bundled import pointed, references, walk
from utcp_bridge.schema.titles import without_title_keys
from utcp_bridge.schema.validator import compile_validator


def _check_self_contained(schema: dict[str, Any]) -> None:
    json.dumps(schema, allow_nan=False)
    for top in (schema, *schema.get("$defs", {}).values()):
        for part in walk(top):
            for reference in references(part):
                assert isinstance(pointed(schema, reference), dict), reference


def _shown(schema: Any) -> dict[str, Any]:
    return {key: value for key, value in arguments_schema(schema).shown.items() if key not in ("$schema", "$id")}


@pytest.mark.parametrize("draft", URIS)
def test_every_verdict_of_the_test_suite_stays(draft: str) -> None:
    for case in _cases(draft):
        shown = _shown(_as_property(case.schema, draft))
        for limit in (None, 50):
            schema = without_title_keys(folded(shown, limit))
            _check_self_contained(schema)
            assert "$defs" not in schema
            judge = compile_validator(schema)
            for test in case.tests:
                assert judge.is_valid({"value": test["data"]}) == test["valid"], (case.file, case.description)


@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(ANY_ROOTS, ARGUMENTS, st.sampled_from([None, 60, 400]))
def test_any_verdict_stays(schema: dict[str, Any], arguments: dict[str, Any], limit: int | None) -> None:
    shown = ArgumentsSchema(schema).shown
    before = json.dumps(shown)
    flat = folded(shown, limit)
    _check_self_contained(flat)
    assert "$defs" not in flat
    assert compile_validator(flat).is_valid(arguments) == compile_validator(shown).is_valid(arguments)
    assert json.dumps(shown) == before


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("limit", [None, 16_000, 300, 1])
def test_no_graph_of_definitions_explodes(graph: str, limit: int | None) -> None:
    shown = arguments_schema(GRAPHS[graph]).shown
    for schema in (trimmed(shown, limit).schema, folded(shown, limit), standalone(shown, limit)):
        _check_self_contained(schema)
        assert size_of(schema) <= max(20_000, 5 * size_of(shown))
        assert schema["required"] == ["x"]
        assert list(schema["properties"]) == ["x"]
        assert compile_validator(schema).is_valid({"x": {"p0": {}}})
    if limit is not None:
        assert size_of(standalone(shown, limit)) <= max(limit, 100)


def test_definitions_stand_where_they_are_used_while_that_is_small() -> None:
    address = {"type": "object", "properties": {"street": {"type": "string"}}}
    schema = {
        "type": "object",
        "properties": {"home": {"$ref": "#/$defs/A"}, "work": {"$ref": "#/$defs/A", "description": "Where they work"}},
        "$defs": {"A": address},
    }
    everywhere = {
        "type": "object",
        "properties": {"home": address, "work": {**address, "description": "Where they work"}},
    }
    assert folded(schema) == everywhere
    assert folded(schema, 100)["properties"] == {
        "home": address,
        "work": {"$ref": "#/properties/home", "description": "Where they work"},
    }


def test_a_definition_beside_rules_gets_a_place_of_its_own() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/N", "minimum": 5, "title": "Number"}, "m": {"$ref": "#/$defs/Same"}},
        "$defs": {"N": {"type": "integer", "maximum": 9}, "Same": {"$ref": "#/$defs/N", "description": "The same"}},
    }
    assert folded(schema)["properties"] == {
        "n": {"minimum": 5, "title": "Number", "allOf": [{"type": "integer", "maximum": 9}]},
        "m": {"type": "integer", "maximum": 9, "description": "The same"},
    }


def test_recursion_through_the_root_and_odd_names_leads_back() -> None:
    schema = {
        "type": "object",
        "properties": {"a/b~c %": {"$ref": "#/$defs/D"}, "again": {"$ref": "#"}},
        "$defs": {"D": {"type": "object", "properties": {"é": {"$ref": "#/$defs/D"}, "top": {"$ref": "#"}}}},
    }
    flat = folded(schema)
    _check_self_contained(flat)
    assert flat["properties"]["again"] == {"$ref": "#"}
    assert pointed(flat, flat["properties"]["a/b~c %"]["properties"]["é"]["$ref"]) == flat["properties"]["a/b~c %"]
    given_arguments: Any = {"again": {"a/b~c %": {"é": {"é": {"top": {"again": {}}}}}}}
    assert compile_validator(flat).is_valid(given_arguments)
    given_arguments["again"]["a/b~c %"]["é"]["é"]["top"]["again"] = 1
    assert not compile_validator(flat).is_valid(given_arguments)


def test_a_discriminator_maps_to_the_places_of_its_branches() -> None:
    cat = {"type": "object", "properties": {"kind": {"const": "cat"}}}
    schema = {
        "type": "object",
        "properties": {
            "pet": {
                "oneOf": [{"$ref": "#/$defs/Cat"}],
                "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}},
            }
        },
        "$defs": {"Cat": cat, "Dog": {"type": "object"}},
    }
    about = folded(schema)["properties"]["pet"]["discriminator"]
    assert about == {"propertyName": "kind", "mapping": {"cat": "#/properties/pet/oneOf/0"}}
    for limit in range(20, size_of(schema)):
        _check_self_contained(trimmed(schema, limit).schema)
        _check_self_contained(standalone(schema, limit))


def test_a_schema_without_references_is_given_back_itself() -> None:
    schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    assert folded(schema) is schema


# -- titles ------------------------------------------------------------------------------------------------------------


def _dropping_titles(schema: Any, parent: str = "") -> Any:
    """Do as langchain-core's `_rm_titles` does."""
    if not isinstance(schema, dict):
        return schema
    return {
        key: _dropping_titles(value, key)
        for key, value in schema.items()
        if key != "title" or (isinstance(value, dict) and parent == "properties")
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"title": True}, "additionalProperties": False},
        {"properties": {"title": False}},
        {"properties": {"title": {"type": "string", "title": "Title"}}, "required": ["title"]},
        {"dependentRequired": {"title": ["a"]}},
        {"dependentSchemas": {"title": {"required": ["a"]}}, "unevaluatedProperties": {"type": "integer"}},
        {"patternProperties": {"title": {"type": "integer"}}, "additionalProperties": False},
        {"properties": {"a": {"const": {"title": 1}}}},
        {"properties": {"a": {"const": {"deep": {"title": [1]}}, "enum": [{"deep": {"title": [1]}}, 2]}}},
        {"properties": {"properties": {"type": "object", "properties": {"title": {"const": {"title": None}}}}}},
    ],
)
def test_a_title_that_is_a_name_or_data_survives_readers_that_drop_titles(schema: dict[str, Any]) -> None:
    shown = _shown(schema)
    before = json.dumps(shown)
    seen = compile_validator(_dropping_titles(without_title_keys(shown)))
    values: list[Any] = [1, "x", None, {"title": 1}, {"deep": {"title": [1]}}, {}, {"title": {"title": None}}]
    for name in ("title", "a", "properties", "subtitle"):
        for value in values:
            for rest in ({}, {"title": "x"}, {"a": 1}, {"a": {"title": 1}}):
                arguments = {**rest, name: value}
                assert seen.is_valid(arguments) == compile_validator(shown).is_valid(arguments), arguments
    assert json.dumps(shown) == before


def test_a_default_with_a_title_is_told_in_words() -> None:
    schema = {"properties": {"a": {"description": "What.", "default": {"title": "x"}}, "b": {"default": {"title": 1}}}}
    properties = without_title_keys(schema)["properties"]
    assert properties == {
        "a": {"description": 'What. Default: {"title": "x"}.'},
        "b": {"description": 'Default: {"title": 1}.'},
    }
