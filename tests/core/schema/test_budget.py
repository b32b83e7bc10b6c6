"""A tool's schema within a budget."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.json_schemas import ANY_ROOTS, ARGUMENTS, NAMES, fitting
from utcp_bridge.schema import ArgumentsSchema, arguments_schema, folded, size_of, trimmed
from utcp_bridge.schema.bundled import pointed
from utcp_bridge.schema.validator import compile_validator

ONE_FORM = "which arguments go together"


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
        result = trimmed(whole, limit)
        small, own = result.schema, list(whole["properties"])
        # Arguments of the root's choices may come to stand beside the root's own.
        assert list(small["properties"])[: len(own)] == own
        assert set(small.get("required", ())) >= set(whole.get("required", ()))
        if ONE_FORM not in result.left_out:
            assert list(small["properties"]) == own
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
    expected = {
        "type": "object",
        "properties": {
            "one": {"type": "object", "description": "One thing"},
            "many": {"type": "array", "items": {}},  # some providers refuse arrays without `items`
            "words": {"type": "array", "items": {"type": "string"}},
        },
    }
    result = trimmed(schema, size_of(expected))
    assert result.schema == expected
    assert result.left_out == ("everything below level 1",)


def test_no_more_is_left_out_than_the_budget_asks_for() -> None:
    shown = arguments_schema(_tool(4)).shown
    sizes = [size_of(trimmed(shown, limit).schema) for limit in range(700, size_of(shown), 2_000)]
    assert sizes == sorted(sizes)
    for limit, size in zip(range(700, size_of(shown), 2_000), sizes, strict=True):
        assert size <= limit


# -- the arguments of a root that chooses ------------------------------------------------------------------------------


def _argument_names(schema: Any, root: dict[str, Any], seen: tuple[str, ...] = ()) -> set[str]:
    """Collect the names that a schema and everything that it applies to the same value describe."""
    if not isinstance(schema, dict):
        return set()
    names = set(schema.get("properties", ()))
    if schema.get("additionalProperties") is False:
        return names  # others cannot be given
    parts = [part for keyword in ("allOf", "anyOf", "oneOf") for part in schema.get(keyword, ())]
    parts += [schema[keyword] for keyword in ("then", "else") if keyword in schema]
    parts += schema.get("dependentSchemas", {}).values()
    for part in parts:
        names |= _argument_names(part, root, seen)
    if (place := schema.get("$ref")) and place not in seen:
        names |= _argument_names(pointed(root, place), root, (*seen, place))
    return names


def _form(kind: str, extra: int, **more: Any) -> dict[str, Any]:
    inner = {"type": "object", "properties": {f"part_{number}": {"const": "z" * 40} for number in range(20)}}
    properties: dict[str, Any] = {"kind": {"const": kind}, "name": {"type": "string", "description": "A name. " * 20}}
    properties |= {f"{kind}_{number}": inner for number in range(extra)}
    return {"type": "object", "properties": properties, "required": ["kind", f"{kind}_0"], **more}


def _choosing(keyword: str, **more: Any) -> dict[str, Any]:
    return {keyword: [_form("one", 4, **more), {"$ref": "#/$defs/Two"}], "$defs": {"Two": _form("two", 4, **more)}}


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
def test_the_arguments_of_each_choice_keep_their_names_types_and_required_marks(keyword: str) -> None:
    shown = arguments_schema(_choosing(keyword)).shown
    for limit in (2_000, 3_000, 6_000):
        for whole in (shown, folded(shown, limit)):
            result = trimmed(whole, limit)
            assert size_of(result.schema) <= limit
            assert _argument_names(result.schema, result.schema) == _argument_names(whole, whole)
            if keyword == "allOf":
                assert ONE_FORM not in result.left_out
                continue
            branches = [branch for key in ("oneOf", "anyOf") for branch in result.schema.get(key, ())]
            for branch, kind in zip(branches, ("one", "two"), strict=True):
                form = pointed(result.schema, branch["$ref"]) if "$ref" in branch else branch
                assert form["required"] == ["kind", f"{kind}_0"]
                assert form["properties"]["kind"] == {"const": kind}
                assert form["properties"]["name"]["type"] == "string"
                assert all(form["properties"][f"{kind}_{number}"]["type"] == "object" for number in range(4))


def test_choices_that_take_too_much_are_shown_as_one_form() -> None:
    forms = [_form(f"form{number}", 3, additionalProperties=False) for number in range(40)]
    shown = arguments_schema({"oneOf": forms}).shown
    result = trimmed(shown, 10_000)
    assert size_of(result.schema) <= 10_000
    assert result.left_out[0] == ONE_FORM
    assert "oneOf" not in result.schema
    assert result.schema["required"] == ["kind"]
    assert result.schema["properties"].keys() == _argument_names(shown, shown)
    assert result.schema["properties"]["name"]["type"] == "string"
    assert result.schema["properties"]["kind"] == {"enum": [f"form{number}" for number in range(40)]}
    assert result.schema["properties"]["form7_2"]["type"] == "object"


def test_an_argument_that_some_choices_leave_open_is_told_in_words() -> None:
    forms = [_form(f"form{number}", 3) for number in range(40)]
    result = trimmed(arguments_schema({"oneOf": forms}).shown, 12_000)
    # The other forms take anything under its name.
    assert result.schema["properties"]["form7_2"] == {"description": "Usually an object."}
    accepted = {"kind": "form8", "form8_0": {}, "form7_2": "anything"}
    assert compile_validator(result.schema).is_valid(accepted)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(ANY_ROOTS, st.integers(0, 400))
def test_no_argument_is_left_out_wherever_the_root_describes_it(schema: dict[str, Any], limit: int) -> None:
    shown = ArgumentsSchema(schema).shown
    for whole in (shown, folded(shown, limit)):
        small = trimmed(whole, limit).schema
        assert _argument_names(small, small) >= _argument_names(whole, whole)


# -- how the budget is spent -------------------------------------------------------------------------------------------


def test_each_argument_is_shown_as_deep_as_there_is_room_for_it() -> None:
    huge = {"type": "object", "properties": {f"h{number}": {"const": "x" * 90} for number in range(300)}}
    small: dict[str, Any] = {"type": "string"}
    for name in "dcba":
        small = {"type": "object", "properties": {name: small}}
    schema = {"type": "object", "properties": {"huge": huge, "small": small, "list": {"type": "array", "items": small}}}
    result = trimmed(arguments_schema(schema).shown, 2_000)
    assert result.schema["properties"]["huge"] == {"type": "object"}
    assert result.schema["properties"]["small"] == small
    assert result.schema["properties"]["list"]["items"] == small
    assert result.left_out == ("parts of what is below level 1",)


def test_most_of_the_budget_is_spent() -> None:
    rows = {f"p{number}": {"type": "string", "description": f"Property {number}"} for number in range(30)}
    group = {"type": "object", "properties": {f"g{n}": {"type": "object", "properties": rows} for n in range(12)}}
    result = trimmed(arguments_schema({"properties": {"first": group, "second": group}}).shown)
    assert 14_000 < size_of(result.schema) <= 16_000
    assert all(name in result.schema["properties"]["first"]["properties"] for name in group["properties"])


def test_a_required_argument_is_opened_before_an_optional_one() -> None:
    part = {"type": "object", "properties": {f"p{number}": {"const": "x" * 40} for number in range(20)}}
    schema = {"properties": {"one": part, "two": part, "three": part}, "required": ["three"]}
    shown = trimmed(arguments_schema(schema).shown, 1_600).schema["properties"]
    assert [len(shown[name].get("properties", ())) for name in ("one", "two", "three")] == [0, 0, 20]


def test_a_cut_argument_tells_the_types_that_its_choices_take() -> None:
    large = {"type": "object", "properties": {f"p{number}": {"const": "x" * 90} for number in range(20)}}
    schema = {
        "properties": {
            "cache": {"description": "Caching.", "anyOf": [{"const": True}, {"$ref": "#/$defs/Large"}]},
            "size": {"oneOf": [{"type": "integer"}, {"type": "number"}, {"type": "null"}, large]},
            "names": {"$ref": "#/$defs/Names"},
            "any": {"anyOf": [{"type": "string"}, {"properties": large["properties"]}]},
        },
        "$defs": {"Large": large, "Names": {"type": "array", "items": {"type": "string"}}},
    }
    expected = {
        "cache": {"type": ["boolean", "object"], "description": "Caching."},
        "size": {"type": ["number", "null", "object"]},
        "names": {"type": "array", "items": {"type": "string"}},
        "any": {},
    }
    limit = size_of({"type": "object", "properties": expected})
    assert trimmed(arguments_schema(schema).shown, limit).schema["properties"] == expected


def test_very_many_arguments_lose_their_descriptions_before_the_budget_is_broken() -> None:
    texts = {"type": "array", "items": {"type": "string"}, "description": "Many of them. " * 5}
    schema = {"properties": {f"argument_{number}": texts for number in range(200)}, "required": ["argument_7"]}
    result = trimmed(arguments_schema(schema).shown, 12_000)
    assert size_of(result.schema) <= 12_000
    assert "descriptions from level 1 down" in result.left_out
    assert result.schema["properties"]["argument_7"] == {"type": "array", "items": {"type": "string"}}
    assert result.schema["required"] == ["argument_7"]


def test_trimming_gives_the_same_every_time() -> None:
    schema = _choosing("oneOf")
    results = {
        json.dumps(trimmed(arguments_schema(json.loads(json.dumps(schema))).shown, 3_000).schema) for _ in range(5)
    }
    assert len(results) == 1


def test_a_large_schema_is_trimmed_in_a_moment() -> None:
    definitions = {
        f"D{number}": {
            "type": "object",
            "description": f"Definition {number}. " * 8,
            "properties": {
                **{f"p{n}": {"type": "string", "description": "d" * 60} for n in range(8)},
                **{f"r{n}": {"$ref": f"#/$defs/D{(number * 7 + n) % 300}"} for n in range(6)},
            },
        }
        for number in range(300)
    }
    roots = {f"a{number}": {"$ref": f"#/$defs/D{number}"} for number in range(40)}
    shown = arguments_schema({"properties": roots, "$defs": definitions}).shown
    assert size_of(shown) > 300_000
    started = time.perf_counter()
    assert size_of(trimmed(shown).schema) <= 16_000
    assert time.perf_counter() - started < 2  # about 0.05 s; quadratic work would take minutes
