"""What holds for any schema and any arguments, against the pure-Python `jsonschema` as an independent judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.json_schemas import ANY_ROOTS, ARGUMENTS, NAMES, SCALARS, fitting
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


def _judge(schema: dict[str, Any], arguments: dict[str, Any]) -> bool:
    try:
        return bool(
            JUDGE({"type": "object", "allOf": [{**schema, "$id": "https://test.example/"}]}).is_valid(arguments)
        )
    except RecursionError:  # a loop of references, which means nothing
        assume(False)
        raise


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(ANY_ROOTS, ARGUMENTS)
def test_any_arguments_are_judged_as_json_schema_judges_them(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    verdict = _judge(schema, arguments)
    read = ArgumentsSchema(schema)
    assume(not read.problems)
    if verdict:
        assert json.dumps(read.accept(arguments, repair=False)) == json.dumps(arguments)
    else:
        with pytest.raises(InvalidArguments) as refused:
            read.accept(arguments, repair=False)
        assert refused.value.faults


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(ANY_ROOTS, ARGUMENTS)
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


_GONE = object()


def _changes(before: Any, after: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        assert after.keys() <= before.keys()
        for name, value in before.items():
            yield from _changes(value, after.get(name, _GONE), (*path, name))
    elif isinstance(before, list) and isinstance(after, list):
        assert len(before) == len(after)
        for index, value in enumerate(before):
            yield from _changes(value, after[index], (*path, index))
    elif json.dumps(before) != (None if after is _GONE else json.dumps(after)):
        yield path, before, after


def _undone(value: Any, path: tuple[Any, ...], before: Any) -> Any:
    if not path:
        return before
    undone: Any = dict(value) if isinstance(value, dict) else list(value)
    undone[path[0]] = _undone(undone[path[0]], path[1:], before) if len(path) > 1 else before
    return undone


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(ANY_ROOTS, ARGUMENTS)
def test_a_repair_reads_text_leaves_out_a_null_or_writes_an_integer_and_only_where_it_must(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    read = ArgumentsSchema(schema)
    try:
        repaired = read.accept(arguments)
    except InvalidArguments:
        return
    for path, before, after in _changes(arguments, repaired):
        if isinstance(before, float):
            assert type(after) is int
            assert after == before
            before += 0.5  # what the integer stands for is taken, and what it could stand for is not
        elif after is _GONE:
            assert before is None
        else:
            assert isinstance(before, str)
            assert isinstance(after, dict | list) or json.loads(before.lower()) == after
        with pytest.raises(InvalidArguments):
            read.accept(_undone(repaired, path, before), repair=False)


@given(st.integers(-(10**40), 10**40), st.sampled_from(["{}", "{}.0", " {}\n", "{}e3", "{}E0", "{}00e-2"]))
def test_the_text_of_an_integer_becomes_that_integer_or_is_refused(number: int, form: str) -> None:
    text = form.format(number)
    try:
        (sent,) = ArgumentsSchema({"properties": {"n": {"type": "integer"}}}).accept({"n": text}).values()
    except InvalidArguments:
        return
    assert type(sent) is int
    assert sent == Decimal(text.strip())


@settings(max_examples=150)
@given(st.dictionaries(NAMES, fitting(), max_size=4), st.data())
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
