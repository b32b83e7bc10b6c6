"""Whole floats of models: sent as integers where the schema takes nothing else, and as they are everywhere else."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from utcp_bridge.schema import (
    Provider,
    ShownArguments,
    arguments_schema,
    model_from_schema,
    validator,
    wire_arguments,
)
from utcp_bridge.schema._pure import PureEngine
from utcp_bridge.schema._rust import RustEngine

ENGINES = pytest.mark.parametrize("engine", [RustEngine, PureEngine], ids=["jsonschema-rs", "jsonschema"])
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
LIMIT = 2.0  # seconds: many times what each takes
NULL = {"type": "null"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _needs(name: str, **properties: Any) -> dict[str, Any]:
    return {**_object(**properties), "required": [name]}


PLACES: dict[str, Callable[[Any], tuple[Any, Callable[[float], Any]]]] = {
    "itself": lambda kind: (kind, lambda value: value),
    "with limits": lambda kind: ({**kind, "minimum": 0, "multipleOf": 1}, lambda value: value),
    "in an object": lambda kind: (_object(a=_object(b=kind)), lambda value: {"a": {"b": value}}),
    "in a list": lambda kind: ({"items": kind}, lambda value: [value, value]),
    "in a long list": lambda kind: ({"items": {"items": kind}}, lambda value: [[1, value]] * 40),
    "in a tuple": lambda kind: ({"prefixItems": [{}, kind], "items": kind}, lambda value: ["x", value, value]),
    "as any property": lambda kind: ({"additionalProperties": kind}, lambda value: {"a": value}),
    "by a pattern": lambda kind: ({"patternProperties": {"^n": kind}}, lambda value: {"n1": value}),
    "as what is left": lambda kind: (
        {"allOf": [_object(a={})], "unevaluatedProperties": kind},
        lambda value: {"b": value},
    ),
    "or null": lambda kind: ({"anyOf": [kind, NULL]}, lambda value: value),
    "one of": lambda kind: ({"oneOf": [{"type": "boolean"}, kind]}, lambda value: value),
    "all of": lambda kind: ({"allOf": [{}, kind]}, lambda value: value),
    "by reference": lambda kind: ({"$ref": "#/properties/x/$defs/K", "$defs": {"K": kind}}, lambda value: value),
    "in a tree": lambda kind: (
        {
            "$ref": "#/properties/x/$defs/Tree",
            "$defs": {"Tree": _object(n=kind, kids={"items": {"$ref": "#/properties/x/$defs/Tree"}})},
        },
        lambda value: {"n": value, "kids": [{"n": value, "kids": [{"n": value}]}]},
    ),
    "in the form that was meant": lambda kind: (
        {"oneOf": [_needs("x", n={"type": "string"}), _needs("y", n=kind)]},
        lambda value: {"y": 1.5, "n": value},
    ),
    "under a condition": lambda kind: (
        {"if": _needs("on", on={"const": True}), "then": _object(n=kind), "else": _object(n={"type": "string"})},
        lambda value: {"on": True, "n": value},
    ),
    "with another": lambda kind: ({"dependentSchemas": {"a": _object(n=kind)}}, lambda value: {"a": 1, "n": value}),
}


def _accepted(engine: Any, schema: Any, given: Any, **options: Any) -> str:
    # A title of its own, so that no validator of another engine is found for it.
    read = arguments_schema({"title": engine.__name__, "properties": {"x": schema}, "required": ["x"]})
    return json.dumps(read.accept({"x": given}, **options)["x"])


@ENGINES
@pytest.mark.parametrize("place", PLACES)
def test_a_whole_float_is_sent_as_the_integer_that_the_schema_asks_for(
    engine: Any, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    for name in ("integer", ["integer", "null"], ["string", "integer"]):
        schema, given = PLACES[place]({"type": name})
        for value, sent in ((3.0, 3), (1e21, 10**21), (0.0, 0)):
            assert _accepted(engine, schema, given(value)) == json.dumps(given(sent))
            assert _accepted(engine, schema, given(value), repair=False) == json.dumps(given(value))


@ENGINES
@pytest.mark.parametrize("place", PLACES)
def test_a_number_stays_as_it_was_given_where_the_schema_takes_other_numbers(
    engine: Any, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    for kind in (
        NUMBER,
        {},
        {"type": ["integer", "number"]},
        {"type": "number", "enum": [1.0, 1.1]},
        {"enum": [1.0, 1.1]},
        {"anyOf": [INTEGER, NUMBER]},
        {"anyOf": [INTEGER, {"not": {"type": "string"}}]},
        {"not": {"not": INTEGER}},
    ):
        schema, given = PLACES[place](kind)
        assert _accepted(engine, schema, given(1.0)) == json.dumps(given(1.0))


@pytest.mark.parametrize(
    ("schema", "given", "sent"),
    [
        # What the fitting form says counts, whatever the others say of the same names.
        (
            {"oneOf": [_needs("x", n=INTEGER, m=INTEGER), _needs("y", n=NUMBER, m=INTEGER)]},
            {"y": 1.0, "n": 1.0, "m": 1.0},
            {"y": 1.0, "n": 1.0, "m": 1},
        ),
        (
            {"anyOf": [_object(n=INTEGER, m=INTEGER), _object(n=INTEGER, m=NUMBER)]},
            {"n": 1.0, "m": 1.0},
            {"n": 1, "m": 1.0},
        ),
        ({"allOf": [NUMBER, INTEGER]}, 3.0, 3),
        ({"if": INTEGER, "then": {"maximum": 9}}, 3.0, 3.0),  # a question, and no rule
        ({"contains": INTEGER}, ["x", 3.0], ["x", 3.0]),
        ({"type": "array", "items": INTEGER}, "[1.0, 2, 3.0]", [1, 2, 3]),  # text first, then its numbers
        (INTEGER, 1e23, 10**23),  # what its JSON text says
        ({**INTEGER, "multipleOf": 2**24}, 1e23, 1e23),  # the float fits, and the integer would not
        (INTEGER, -0.0, 0),
        ({"items": INTEGER}, [float(n) for n in range(9_000)], list(range(9_000))),
    ],
)
def test_only_what_holds_for_the_value_counts(schema: Any, given: Any, sent: Any) -> None:
    before = json.dumps(given)
    assert _accepted(RustEngine, schema, given) == json.dumps(sent)
    assert json.dumps(given) == before


@pytest.mark.parametrize("provider", ["gemini", "openai-strict"])
def test_without_repair_numbers_stay_also_where_objects_are_read_from_text(provider: Provider) -> None:
    shown = ShownArguments(arguments_schema(_object(n=INTEGER, free={"type": "object"})), provider, None)
    for repair, number in ((True, "3"), (False, "3.0")):
        accepted = shown.accept({"n": 3.0, "free": '{"a": 1.0}'}, repair=repair)
        assert json.dumps(accepted) == f'{{"n": {number}, "free": {{"a": 1.0}}}}'


def test_the_model_of_the_arguments_sends_integers_too() -> None:
    schema = _object(n=INTEGER, ratio=NUMBER)
    given = {"n": 3.0, "ratio": 1.0}
    model = model_from_schema("T", schema)
    assert json.dumps(wire_arguments(model.model_validate(given))) == '{"n": 3, "ratio": 1.0}'
    unrepaired = model_from_schema("T", schema, repair=False)
    assert json.dumps(wire_arguments(unrepaired.model_validate(given))) == '{"n": 3.0, "ratio": 1.0}'


def _tree(levels: int) -> Any:
    """A tree of twice as many lists at each level, with whole floats for leaves."""
    tree: Any = [1.0]
    for _ in range(levels):
        tree = [tree, tree]
    return tree


_LIST = {"type": "array", "items": {"$ref": "#/$defs/L"}}
_LISTS = {"anyOf": [INTEGER, _LIST, {**_LIST, "minItems": 1}]}


@pytest.mark.parametrize(
    ("schema", "given", "sent"),
    [
        # More than can be looked at: what was given is right as it is.
        ({"items": {"anyOf": [_needs(f"k{n}", n=INTEGER) for n in range(500)]}}, [{"k499": 1, "n": 1.0}] * 500, float),
        ({"items": {"anyOf": [_needs(f"k{n}", n=INTEGER) for n in range(50)]}}, [{"k49": 1, "n": 1.0}] * 50, int),
        ({"items": NUMBER, "not": INTEGER}, [float(n) for n in range(100_000)], float),
        ({"items": INTEGER}, [*range(100_000), 1.0], int),
        ({"$ref": "#/$defs/L"}, [_tree(16), 1.0], float),
        ({"$ref": "#/$defs/L"}, [_tree(8), 1.0], int),
    ],
)
def test_whole_floats_are_looked_for_in_a_moment(schema: Any, given: Any, sent: type) -> None:
    read = arguments_schema({"properties": {"x": schema}, "$defs": {"L": _LISTS}})
    read.accept({"x": []})
    started = time.monotonic()
    last = read.accept({"x": given})["x"][-1]
    assert time.monotonic() - started < LIMIT
    assert type(last["n"] if isinstance(last, dict) else last) is sent
