"""Arguments as a model is shown them for a provider and within a budget, and the way back to the tool's own."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.json_schemas import ANY_ROOTS, ARGUMENTS
from tests.support.schema_graphs import GRAPHS
from utcp_bridge.schema import (
    ArgumentsSchema,
    InvalidArguments,
    ShownArguments,
    arguments_schema,
    model_of_shown,
    size_of,
    wire_arguments,
)
from utcp_bridge.schema.outline import in_place, parts, spoken_names
from utcp_bridge.schema.provider import Provider

PROVIDERS = pytest.mark.parametrize("provider", get_args(Provider))
AWKWARD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "$top": {"type": "integer"},
        "filter[name]": {"type": "string"},
        "a b": {
            "type": "object",
            "properties": {"c d": {"type": "integer"}},
            "required": ["c d"],
            "additionalProperties": False,
        },
    },
    "required": ["$top"],
    "additionalProperties": False,
    "dependentRequired": {"$top": ["filter[name]"]},
    "anyOf": [{"required": ["$top"]}, {"required": ["a b"]}],
}


def _as_shown(value: Any, schemas: list[Any], own: dict[str, Any], shown: ShownArguments) -> Any:
    """Write arguments as a model does that was shown a schema: under the names in it."""
    here = [part for schema in schemas for part in in_place(schema, own)]
    if isinstance(value, dict):
        known = {name for part in here for name in spoken_names(part)}
        return {
            shown.shown_name(name) if name in known else name: _as_shown(
                item, [child for part in here for child in parts(part, name)], own, shown
            )
            for name, item in value.items()
        }
    if isinstance(value, list):
        below = [[child for part in here for child in parts(part, index)] for index in range(len(value))]
        return [_as_shown(item, schemas, own, shown) for item, schemas in zip(value, below, strict=True)]
    return value


@PROVIDERS
def test_what_a_model_gives_in_the_names_it_was_shown_is_judged_and_sent_in_the_tools_own(provider: Provider) -> None:
    @settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(ANY_ROOTS, ARGUMENTS, st.sampled_from([None, 100, 16_000]))
    def check(schema: dict[str, Any], arguments: dict[str, Any], limit: int | None) -> None:
        own = ArgumentsSchema(schema)
        shown = ShownArguments(own, provider, limit)
        json.dumps([shown.schema, shown.standalone], allow_nan=False)
        if provider == "openai-strict" and "null" in json.dumps(arguments):
            return  # there null may mean "not given"
        written = _as_shown(arguments, [own.shown], own.shown, shown)
        try:
            expected = own.accept(arguments, repair=False)
        except InvalidArguments:
            if provider in ("openai", "anthropic"):
                with pytest.raises(InvalidArguments):
                    shown.accept(written, repair=False)
        else:
            assert json.dumps(shown.accept(written, repair=False)) == json.dumps(expected)

    check()


@PROVIDERS
@pytest.mark.parametrize("graph", GRAPHS)
def test_no_graph_of_definitions_explodes_for_a_provider(provider: Provider, graph: str) -> None:
    for limit in (16_000, 2_000):
        shown = ShownArguments(arguments_schema(GRAPHS[graph]), provider, limit)
        assert size_of(shown.schema) <= limit
        assert size_of(shown.standalone) <= limit
        assert list(shown.schema["properties"]) == ["x"]
        assert shown.schema["required"] == ["x"]


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
@pytest.mark.parametrize(
    ("given_arguments", "told"),
    [
        (
            {},
            "_top: is missing; it must be an integer; the arguments: must have at least one of: _top, a_b; "
            "got none of them",
        ),
        ({"_top": 1}, "filter_name_: is missing, and needed beside _top; it must be a string"),
        (
            {"_top": 1, "filter_name_": "x", "a_b": {"c_d": "z", "q": 1}},
            'a_b.c_d: must be an integer; got "z"; a_b.q: is not a property of a_b; its properties are: c_d',
        ),
        (
            {"_top": 1, "filter_name_": "x", "filter_nam": 2},
            "filter_nam: is not an argument of this tool; did you mean filter_name_? "
            "the arguments are: _top, filter_name_, a_b",
        ),
        ({"_top": 1, "$top": 2}, "_top: is given twice, also as '$top'"),
    ],
)
def test_faults_are_told_in_the_names_that_the_model_was_shown(
    provider: Provider, given_arguments: dict[str, Any], told: str
) -> None:
    shown = ShownArguments(arguments_schema(AWKWARD), provider, None)
    assert list(shown.schema["properties"]) == ["_top", "filter_name_", "a_b"]
    assert shown.schema["description"] == "At least one of these sets of arguments is needed: _top; or a_b."
    for arguments in (given_arguments, json.dumps(given_arguments)):
        with pytest.raises(InvalidArguments) as refused:
            shown.accept(arguments)
        assert set(str(refused.value).split("; ")) == set(told.split("; "))


def test_a_name_that_is_only_required_comes_back_too() -> None:
    schema = {"type": "object", "properties": {"x": {}}, "anyOf": [{"required": ["a b"]}, {"required": ["x"]}]}
    shown = ShownArguments(arguments_schema(schema), "anthropic", None)
    assert shown.accept({"a_b": 1}) == {"a b": 1}


def test_a_key_that_only_looks_like_a_shown_name_stays_and_is_told_as_it_is() -> None:
    schema = {"properties": {"a b": {}, "free": {"additionalProperties": {"type": "integer"}}}}
    shown = ShownArguments(arguments_schema(schema), "anthropic", None)
    assert shown.accept({"a_b": 1, "free": {"a_b": 2, "a b": 3}}) == {"a b": 1, "free": {"a_b": 2, "a b": 3}}
    with pytest.raises(InvalidArguments, match=r'^free\["a b"\]: must be an integer'):
        shown.accept({"free": {"a b": "x"}})


def test_strict_mode_writes_null_for_what_is_not_given() -> None:
    schema = {
        "properties": {
            "id": {"type": "string"},
            "parent": {"type": ["string", "null"]},
            "owner": {"type": ["string", "null"]},
            "rows": {"type": "array", "items": {"properties": {"n": {"type": "integer"}, "any": {}}}},
        },
        "required": ["id", "owner"],
    }
    written = {"id": "a", "parent": None, "owner": None, "rows": [{"n": None, "any": None}, {"n": 1, "any": "x"}]}
    strict = ShownArguments(arguments_schema(schema), "openai-strict", None)
    assert strict.schema["required"] == ["id", "parent", "owner", "rows"]
    assert strict.accept(written) == {"id": "a", "owner": None, "rows": [{}, {"n": 1, "any": "x"}]}
    others = ShownArguments(arguments_schema(schema), "openai", None)
    assert others.accept(written)["parent"] is None


@pytest.mark.parametrize("provider", ["gemini", "openai-strict"])
def test_objects_that_had_to_be_shown_as_text_are_read_back_whatever_repair_says(provider: Provider) -> None:
    shown = ShownArguments(arguments_schema({"properties": {"o": {"type": "object"}}}), provider, None)
    assert "string" in shown.schema["properties"]["o"]["type"]
    for repair in (True, False):
        assert shown.accept({"o": '{"a": 1}'}, repair=repair) == {"o": {"a": 1}}


@pytest.mark.parametrize("provider", [None, *get_args(Provider)])
def test_the_model_class_takes_shown_names_carries_own_ones_and_shows_what_is_shown(provider: Provider | None) -> None:
    schema = {"properties": {"a b": {"type": "integer"}, "c": {}}, "required": ["a b"], "additionalProperties": False}
    shown = ShownArguments(arguments_schema(schema), provider, None)
    model = model_of_shown("Tool", shown)
    assert model.model_json_schema() == shown.schema
    given_arguments = {shown.shown_name("a b"): 1, "c": "x"}
    assert wire_arguments(model.model_validate(given_arguments)) == {"a b": 1, "c": "x"}
    with pytest.raises(ValueError, match="must be an integer"):
        model.model_validate({shown.shown_name("a b"): "x", "c": 1})


def test_what_was_left_out_and_what_could_not_be_read_is_told() -> None:
    schema = {
        "properties": {"a": {"type": "string", "$ref": "#/nowhere"}, "b": {"type": "string", "description": "d" * 500}}
    }
    whole = ShownArguments(arguments_schema(schema), None, None)
    assert whole.problems == (
        "/properties/a/$ref: $ref '#/nowhere' points to nothing in this document; it was left out",
    )
    for provider in (None, *get_args(Provider)):
        small = ShownArguments(arguments_schema(schema), provider, 300)
        assert size_of(small.schema) <= 300
        assert small.problems == (
            *whole.problems,
            "shown without descriptions over 300 characters from level 1 down, "
            "descriptions over 100 characters from level 1 down, to keep to 300 bytes",
        )
