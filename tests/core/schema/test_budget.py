"""A tool's schema within a budget."""

from __future__ import annotations

import json
from typing import Any

import pytest

from utcp_bridge.schema import arguments_schema, size_of, trimmed


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
