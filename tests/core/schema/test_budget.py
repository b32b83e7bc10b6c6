"""A tool's schema within a budget."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.json_schemas import ANY_ROOTS, ARGUMENTS, NAMES, fitting
from utcp_bridge.schema import ArgumentsSchema, arguments_schema, folded, size_of, trimmed
from utcp_bridge.schema.validator import compile_validator


def _tool(levels: int, width: int = 4) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "description": "A leaf. " * 20, "examples": ["x" * 50]}
    for level in range(levels):
        schema = {
            "type": "object",
            "description": f"Level {level}. " * 10,
            "x-order": level,
            "properties": {f"p{number}": schema for number in range(width)},
            "required": ["p0"],
        }
    return schema


def test_a_schema_within_the_budget_is_shown_whole() -> None:
    shown = arguments_schema(_tool(1)).shown
    assert trimmed(shown).schema == shown
    assert trimmed(shown).left_out == ()
    large = arguments_schema(_tool(5)).shown
    assert trimmed(large, None).schema == large


@pytest.mark.parametrize("levels", [2, 3, 5, 6])
@pytest.mark.parametrize("limit", [2_000, 16_000])
def test_what_is_too_large_is_trimmed_and_told(levels: int, limit: int) -> None:
    shown = arguments_schema(_tool(levels)).shown
    before = json.dumps(shown)
    result = trimmed(shown, limit)
    assert size_of(result.schema) <= limit
    assert bool(result.left_out) == (size_of(shown) > limit)
    assert json.dumps(shown) == before
    assert result.schema["required"] == ["p0"]
    assert result.schema["properties"].keys() == shown["properties"].keys()


def test_examples_go_before_descriptions_and_descriptions_before_structure() -> None:
    shown = arguments_schema(_tool(3)).shown
    whole = size_of(shown)
    steps = [
        trimmed(shown, whole - 1).left_out,
        trimmed(shown, whole // 2).left_out,
        trimmed(shown, whole // 20).left_out,
    ]
    assert steps[0] == ("examples and extensions",)
    assert all(step.startswith(("examples", "descriptions")) for step in steps[1])
    assert any(step.startswith("everything below") for step in steps[2])


def test_a_trimmed_schema_is_a_schema_and_takes_whatever_the_whole_one_takes() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}, "leaf": {"$ref": "#/$defs/Leaf"}}}
    leaf = {"type": "object", "description": "L" * 3000, "properties": {"a": {"type": "integer", "minimum": 5}}}
    shown = arguments_schema(
        {"properties": {"n": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node, "Leaf": leaf}}
    ).shown
    given: dict[str, Any] = {"n": {"child": {"leaf": {"a": 5}}, "leaf": {"a": 7}}}
    for limit in range(40, size_of(shown), 60):
        small = arguments_schema(trimmed(shown, limit).schema)
        assert small.problems == ()
        assert small.accept(given) == given


def test_definitions_that_nothing_reaches_any_more_are_left_out() -> None:
    schema = {
        "properties": {"a": {"properties": {"b": {"$ref": "#/$defs/B"}}}},
        "$defs": {"B": {"properties": {"c": {"$ref": "#/$defs/C"}}}, "C": {"enum": ["x" * 50] * 100}},
    }
    result = trimmed(arguments_schema(schema).shown, 200)
    assert "C" not in result.schema.get("$defs", {})
    assert size_of(result.schema) <= 200


def test_the_arguments_own_names_survive_any_budget() -> None:
    shown = arguments_schema({"properties": {f"argument_{number}": {"type": "string"} for number in range(50)}}).shown
    assert trimmed(shown, 10).schema == shown


# -- what is left out never refuses ------------------------------------------------------------------------------------


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(ANY_ROOTS, ARGUMENTS, st.integers(0, 400))
def test_a_trimmed_schema_takes_whatever_the_whole_one_takes(
    schema: dict[str, Any], arguments: dict[str, Any], limit: int
) -> None:
    shown = ArgumentsSchema(schema).shown
    before = json.dumps(shown)
    for whole in (shown, folded(shown, limit)):
        small = trimmed(whole, limit).schema
        assert list(small["properties"]) == list(whole["properties"])
        assert small.get("required") == whole.get("required")
        assert compile_validator(small).is_valid(arguments) or not compile_validator(whole).is_valid(arguments)
    assert json.dumps(shown) == before


@given(st.dictionaries(NAMES, fitting(), max_size=4), st.integers(0, 300))
def test_a_trimmed_schema_takes_what_fits_the_whole_one(parts: dict[str, tuple[Any, Any]], limit: int) -> None:
    schema = {"properties": {name: part for name, (part, _) in parts.items()}, "additionalProperties": False}
    small = trimmed(arguments_schema(schema).shown, limit).schema
    assert compile_validator(small).is_valid({name: value for name, (_, value) in parts.items()})


def test_a_definition_that_only_a_discriminator_names_can_be_trimmed() -> None:
    about = {"propertyName": "kind", "mapping": {"cat": "#/$defs/Cat"}}
    schema = {
        "properties": {"pet": {"type": "object", "description": "d" * 500, "discriminator": about}},
        "$defs": {"Cat": {"type": "object", "description": "c" * 500}},
    }
    shown = arguments_schema(schema).shown
    assert size_of(trimmed(shown, 500).schema) <= 500


def test_long_lists_of_values_and_defaults_are_told_in_part() -> None:
    zones = [f"Zone/{number}" for number in range(3_000)]
    schema = {
        "type": "object",
        "properties": {
            "zone": {"type": "string", "enum": zones, "description": "Where."},
            "mode": {"enum": ["fast", "slow"]},
            "start": {"type": "array", "items": {"type": "string"}, "default": zones},
        },
    }
    result = trimmed(schema)
    assert size_of(result.schema) <= 16_000
    assert result.left_out == ("lists of more than 200 values from level 1 down",)
    zone, mode, start = result.schema["properties"].values()
    assert zone["type"] == "string"
    assert zone["description"].startswith('Where. One of 3000 values, such as "Zone/0", "Zone/1", ')
    assert mode == {"enum": ["fast", "slow"]}
    assert start == {"type": "array", "items": {"type": "string"}}


def test_what_is_cut_keeps_its_kind_and_what_it_is_for() -> None:
    leaf = {"type": "object", "description": "One thing", "properties": {"x": {"enum": ["v" * 300]}}}
    schema = {
        "type": "object",
        "properties": {
            "one": {"$ref": "#/$defs/Leaf"},
            "many": {"type": "array", "items": {"type": "object", "properties": {"y": {"const": "w" * 300}}}},
            "words": {"type": "array", "items": {"type": "string"}},
        },
        "$defs": {"Leaf": leaf},
    }
    result = trimmed(schema, 300)
    assert result.schema == {
        "type": "object",
        "properties": {
            "one": {"type": "object", "description": "One thing"},
            "many": {"type": "array", "items": {}},  # some providers refuse arrays without `items`
            "words": {"type": "array", "items": {"type": "string"}},
        },
    }
    assert result.left_out == ("everything below level 1",)


def test_no_more_is_left_out_than_the_budget_asks_for() -> None:
    shown = arguments_schema(_tool(4)).shown
    sizes = [size_of(trimmed(shown, limit).schema) for limit in range(700, size_of(shown), 2_000)]
    assert sizes == sorted(sizes)
    for limit, size in zip(range(700, size_of(shown), 2_000), sizes, strict=True):
        assert size <= limit
