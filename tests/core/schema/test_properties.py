"""What holds for any schema and any arguments, against the pure-Python `jsonschema` as an independent judge."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from utcp_bridge.schema import (
    ArgumentsSchema,
    InvalidArguments,
    arguments_schema,
    model_from_schema,
    validator,
    wire_arguments,
)
from utcp_bridge.schema._pure import PureEngine
from utcp_bridge.schema._rust import RustEngine

JUDGE: Any = jsonschema.Draft202012Validator
NAMES = st.sampled_from(["a", "b", "_id", "a.b", "self", "model_config", "json", "", "été", "x y", "0", "$ref"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 6),
    st.sampled_from([0.5, 1.0, -2.0]),
    st.sampled_from(["", "a", "b", "abc", "5", "true", "null", "[1]", '{"a": 1}', "1e3", "007", "été"]),
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)


VALUES = st.recursive(SCALARS, _containers, max_leaves=8)
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=4)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])
COUNTS = st.integers(0, 3)


def _some(keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.lists(st.sampled_from(sorted(keywords)), unique=True, max_size=3).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: keywords[keyword] for keyword in chosen})
    )


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    maps = st.dictionaries(NAMES, inner, max_size=3)
    lists = st.lists(inner, min_size=1, max_size=3)
    return _some(
        {
            "$ref": st.sampled_from(["#", "#/$defs/A", "#/$defs/B"]),
            "additionalProperties": inner,
            "allOf": lists,
            "anyOf": lists,
            "const": VALUES,
            "contains": inner,
            "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, unique=True, max_size=2), max_size=2),
            "dependentSchemas": maps,
            "else": inner,
            "enum": st.lists(VALUES, max_size=3),
            "exclusiveMinimum": st.integers(-3, 3),
            "if": inner,
            "items": inner,
            "maxContains": COUNTS,
            "maxItems": COUNTS,
            "maxLength": COUNTS,
            "maxProperties": COUNTS,
            "maximum": st.integers(-3, 3),
            "minContains": COUNTS,
            "minItems": COUNTS,
            "minLength": COUNTS,
            "minProperties": COUNTS,
            "minimum": st.integers(-3, 3),
            "multipleOf": st.sampled_from([1, 2, 0.5]),
            "not": inner,
            "oneOf": lists,
            "pattern": st.sampled_from(["^a", "b$", "^[0-9]+$", "^(?!a)"]),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "d$"]), inner, max_size=2),
            "prefixItems": lists,
            "properties": maps,
            "propertyNames": inner,
            "required": st.lists(NAMES, unique=True, max_size=2),
            "then": inner,
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "unevaluatedItems": inner,
            "unevaluatedProperties": inner,
            "uniqueItems": st.booleans(),
        }
    )


SCHEMAS = st.recursive(st.booleans() | _schemas(st.booleans()), _schemas, max_leaves=6)
ROOTS = st.builds(
    lambda root, properties, a, b: {**root, "properties": properties, "$defs": {"A": a, "B": b}},
    _schemas(SCHEMAS),
    st.dictionaries(NAMES, SCHEMAS, max_size=3),
    SCHEMAS,
    SCHEMAS,
)


@st.composite
def _fitting(draw: st.DrawFn, depth: int = 0) -> tuple[Any, Any]:
    """Draw a schema together with a value that fits it."""
    value = draw(SCALARS if depth > 2 else VALUES)
    if depth < 2 and draw(st.booleans()):
        parts = {draw(NAMES): draw(_fitting(depth + 1)) for _ in range(draw(st.integers(0, 3)))}
        schema: Any = {
            "type": "object",
            "properties": {name: part for name, (part, _) in parts.items()},
            "required": sorted(name for name in parts if draw(st.booleans())),
        }
        if draw(st.booleans()):
            schema["additionalProperties"] = False
        return schema, {name: fitting for name, (_, fitting) in parts.items()}
    kind = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    schema = {"type": kind.get(type(value), "null")}
    if isinstance(value, str):
        schema |= {"minLength": draw(st.integers(0, len(value))), "pattern": "^"}
    elif isinstance(value, int | float) and not isinstance(value, bool):
        schema |= {"minimum": value - draw(COUNTS), "maximum": value + draw(COUNTS)}
    elif isinstance(value, list):
        schema |= {"maxItems": len(value) + draw(COUNTS)}
    other = draw(SCHEMAS.filter(lambda schema: "$ref" not in json.dumps(schema)))
    wrappers = [schema, {"anyOf": [other, schema]}, {"enum": [value, 0]}, {"const": value}, {"allOf": [schema]}]
    return draw(st.sampled_from(wrappers)), value


def _judge(schema: dict[str, Any], arguments: dict[str, Any]) -> bool:
    try:
        return bool(
            JUDGE({"type": "object", "allOf": [{**schema, "$id": "https://test.example/"}]}).is_valid(arguments)
        )
    except RecursionError:  # a loop of references, which means nothing
        assume(False)
        raise


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(ROOTS, ARGUMENTS)
def test_any_arguments_are_judged_as_json_schema_judges_them(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    verdict = _judge(schema, arguments)
    read = ArgumentsSchema(schema)
    assume(not read.problems)
    if verdict:
        accepted = read.accept(arguments)
        assert json.dumps(accepted) == json.dumps(arguments)
    else:
        with pytest.raises(InvalidArguments) as refused:
            read.accept(arguments, repair=False)
        assert refused.value.faults


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(ROOTS, ARGUMENTS)
def test_repaired_arguments_are_valid_and_repairing_them_again_changes_nothing(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    before = json.dumps(arguments)
    read = ArgumentsSchema(schema)
    try:
        repaired = read.accept(arguments)
    except InvalidArguments:
        repaired = None
    assert json.dumps(arguments) == before, "the caller's own arguments were changed"
    if repaired is not None:
        assert json.dumps(read.accept(repaired, repair=False)) == json.dumps(repaired)
        assert read.problems or _judge(schema, repaired)


@settings(max_examples=150)
@given(st.dictionaries(NAMES, _fitting(), max_size=4), st.data())
def test_valid_arguments_go_through_the_model_unchanged_in_their_order(
    parts: dict[str, tuple[Any, Any]], data: st.DataObject
) -> None:
    schema = {
        "type": "object",
        "properties": {name: part for name, (part, _) in parts.items()},
        "required": sorted(parts),
        "additionalProperties": False,
    }
    order = data.draw(st.permutations(sorted(parts)))
    arguments = {name: parts[name][1] for name in order}
    model = model_from_schema("Anything", schema)
    assert json.dumps(wire_arguments(model.model_validate(arguments))) == json.dumps(arguments)
    assert model.model_json_schema() == schema
    for name in order:
        with pytest.raises(ValidationError, match="is missing"):
            model.model_validate({other: value for other, value in arguments.items() if other != name})


# -- nothing in a schema can crash the conversion ----------------------------------------------------------------------

_KEYWORDS = """
    $ref $defs definitions properties items allOf anyOf oneOf not type enum const required additionalProperties
    patternProperties pattern minimum exclusiveMinimum multipleOf minLength uniqueItems contains minContains if then
    dependentRequired dependentSchemas dependencies unevaluatedProperties prefixItems additionalItems $id $anchor
    $dynamicAnchor $dynamicRef $recursiveRef $recursiveAnchor $schema nullable discriminator mapping format default
    description title examples propertyNames id x-note readOnly contentSchema $comment $vocabulary
"""
_ODD_TEXTS = """
    # #/ #/$defs/a #/definitions/b #/properties/a #a b http://x/y #/$defs/a%25 #/allOf/0 #/items/0 http://[ #/%zz
    https://json-schema.org/draft/2020-12/schema http://json-schema.org/draft-07/schema# any object string array
    http://json-schema.org/draft-04/schema# https://json-schema.org/draft/2019-09/schema ^a ( [ \\p{L} (?<=a+)b
"""
KEYWORDS = st.sampled_from(_KEYWORDS.split())
ODD_TEXTS = st.sampled_from([*_ODD_TEXTS.split(), "\ud800"])
JUNK = st.recursive(
    SCALARS | ODD_TEXTS | st.floats() | st.sampled_from([10**30, b"x", {1, 2}]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYWORDS, inner, max_size=4)
        | st.dictionaries(NAMES | st.sampled_from([True, None, 3, "\ud800"]), inner, max_size=3)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("engine", [RustEngine, PureEngine], ids=["jsonschema-rs", "jsonschema"])
def test_whatever_is_given_as_a_schema_can_be_shown_and_can_judge(
    engine: type[RustEngine | PureEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)

    @settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
    @given(st.dictionaries(KEYWORDS, JUNK, max_size=6) | JUNK, st.dictionaries(NAMES, JUNK, max_size=3))
    def check(schema: Any, arguments: dict[str, Any]) -> None:
        validator.pattern_problem.cache_clear()
        read = arguments_schema(schema)
        assert read.shown["type"] == "object"
        assert isinstance(read.shown["properties"], dict)
        json.dumps(read.shown, ensure_ascii=False, allow_nan=False).encode()
        problems = read.problems
        for given_arguments in ({}, arguments, None, ""):
            try:
                json.dumps(read.accept(given_arguments), allow_nan=False).encode()
            except InvalidArguments as refusal:
                assert str(refusal)  # noqa: PT017 - either outcome is right, and both must be fit to send
        assert read.problems == problems, "the validator refused what was shown"

    check()
    validator.pattern_problem.cache_clear()
