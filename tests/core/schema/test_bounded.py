"""Judging takes a bounded time whatever the schema, and still says what is wrong."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from tests.support.json_schemas import ANY_ROOTS, ARGUMENTS
from utcp_bridge import Toolset
from utcp_bridge.schema import InvalidArguments, arguments_schema, validator
from utcp_bridge.schema._pure import PureEngine
from utcp_bridge.schema._rust import RustEngine

ENGINES = pytest.mark.parametrize("engine", [RustEngine, PureEngine], ids=["jsonschema-rs", "jsonschema"])
DEPTH = 20
LIMIT = 2.0  # seconds: a hundred times what each takes, and nothing beside the years of what is not bounded


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _bomb(keyword: str, levels: int = 30, **beside: Any) -> dict[str, Any]:
    """Schemas of which each offers the next one twice."""

    def level(number: int) -> dict[str, Any]:
        following = _ref(f"S{number + 1}")
        forms = {
            "if": {"if": following, "then": following, "else": following},
            "not": {"not": {"allOf": [following, following]}},
            "dependentSchemas": {"dependentSchemas": {"a": following, "b": following}},
        }
        return {**forms.get(keyword, {keyword: [following, following]}), **beside}

    schemas = {f"S{number}": level(number) for number in range(levels)}
    last = {"type": "object", "required": ["a"]}
    return {"properties": {"x": _ref("S0")}, "$defs": {**schemas, f"S{levels}": last}}


def _union(*, discriminator: bool = False) -> dict[str, Any]:
    """A query language: three kinds of groups of conditions, and the conditions."""
    leaf = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"const": "leaf"}, "field": {"type": "string"}},
    }
    groups = {
        name: {
            "type": "object",
            "required": ["type", "operands"],
            "properties": {"operands": {"type": "array", "items": _ref("Filter")}, "type": {"enum": [name.lower()]}},
        }
        for name in ("And", "Or", "Xor")
    }
    choice: dict[str, Any] = {"oneOf": [_ref("And"), _ref("Or"), _ref("Xor"), _ref("Leaf")]}
    if discriminator:
        choice["discriminator"] = {"propertyName": "type"}
    return {"properties": {"x": _ref("Filter")}, "$defs": {"Filter": choice, "Leaf": leaf, **groups}}


def _query(depth: int, leaf: Any) -> Any:
    for level in range(depth):
        leaf = {"type": ("and", "or", "xor")[level % 3], "operands": [leaf]}
    return leaf


def _untagged(keyword: str, *, recursive: bool, **beside: Any) -> dict[str, Any]:
    """Forms that only something far inside tells apart."""
    far = [{"properties": {"k": {"properties": {"z": {"const": number}}}}} for number in (1, 2, 0)]

    def level(number: int) -> dict[str, Any]:
        following = _ref("S0" if recursive else f"S{number + 1}")
        forms = [{"type": "object", "properties": {"a": following, "t": tag}, **beside} for tag in far]
        return {keyword: [{"type": "string"}, *forms] if recursive else forms}

    schemas = {f"S{number}": level(number) for number in range(1 if recursive else DEPTH)}
    return {"properties": {"x": _ref("S0")}, "$defs": {**schemas, f"S{DEPTH}": {"type": "string"}}}


def _chain(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = {"a": leaf, "t": {"k": {"z": 0}}}
    return leaf


_ROWS = {"properties": {"x": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}}}
_MANY_FORMS = [{"required": [f"p{index}"], "properties": {"q": {"minimum": index}}} for index in range(100)]

CASES: dict[str, tuple[dict[str, Any], Any]] = {
    **{
        f"{keyword} {kind}": (_bomb(keyword), value)
        for keyword in ("oneOf", "anyOf", "allOf", "if", "not", "dependentSchemas")
        for kind, value in {"number": 5, "empty": {}, "object": {"a": 1, "b": 2}}.items()
    },
    **{
        f"{keyword} {rule}": (_bomb(keyword, **{rule: False}), {"b": [1]})
        for keyword in ("oneOf", "anyOf", "allOf", "if")
        for rule in ("unevaluatedProperties", "unevaluatedItems")
    },
    **{
        f"{keyword} recursive={recursive} {list(beside)} {leaf}": (
            _untagged(keyword, recursive=recursive, **beside),
            _chain(DEPTH, leaf),
        )
        for keyword in ("oneOf", "anyOf", "allOf")
        for recursive in (True, False)
        for beside in ({}, {"unevaluatedProperties": False}, {"additionalProperties": False, "required": ["a"]})
        for leaf in (5, "5", "text")
    },
    "union": (_union(), _query(DEPTH, {"type": "leaf", "field": 5})),
    "union with a discriminator": (_union(discriminator=True), _query(DEPTH, {"type": "leaf", "field": 5})),
    "union as text": (_union(), json.dumps(_query(DEPTH, {"type": "leaf", "field": 5}))),
    "rows with slips": (_ROWS, [{"n": "7"}] * 5_000),
    "rows, all wrong": (_ROWS, [{"n": "x"}] * 5_000),
    "many forms": ({"properties": {"x": {"items": {"oneOf": _MANY_FORMS}}}}, [{"p5": 1, "q": 1}] * 200),
    "unique": ({"properties": {"x": {"uniqueItems": True}}}, [*({"a": index} for index in range(5_000)), {"a": 1}]),
    "contains": ({"properties": {"x": {"contains": {"required": ["b"]}}}}, [{"a": index} for index in range(5_000)]),
    "names": (
        {"properties": {"x": {"propertyNames": {"maxLength": 3}}}},
        {f"name{index}": 1 for index in range(5_000)},
    ),
    "unknown names": (
        {"properties": {"x": {"properties": {f"known_{n}": {} for n in range(500)}, "additionalProperties": False}}},
        {f"knwon_{index}": 1 for index in range(5_000)},
    ),
    "choices": ({"properties": {"x": {"enum": [f"choice {index}" for index in range(20_000)]}}}, "choise 19999"),
}


@ENGINES
@pytest.mark.parametrize("case", CASES)
def test_a_call_is_judged_in_a_moment(engine: Any, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    schema, value = CASES[case]
    read = arguments_schema({"title": f"{case} {engine.__name__}", **schema})
    started = time.monotonic()
    refusal, accepted = None, {}
    try:
        accepted = read.accept({"x": value})
    except InvalidArguments as error:
        refusal = error
    if refusal is None:
        assert read.accept(accepted, repair=False) == accepted
    else:
        assert refusal.faults
        assert all(fault.path.startswith("x") for fault in refusal.faults)
        assert len(str(refusal)) < 50_000
    assert time.monotonic() - started < LIMIT


@ENGINES
@pytest.mark.parametrize("discriminator", [False, True])
def test_of_a_union_in_itself_the_wrong_leaf_is_told(
    engine: Any, discriminator: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    read = arguments_schema({"title": engine.__name__, **_union(discriminator=discriminator)})
    place = "x" + ".operands[0]" * DEPTH
    for leaf, told in {
        5: f"{place}: must be an object; got 5",
        "field": f"{place}.field: must be a string; got 5",
        "type": f'{place}.type: must be one of "and", "or", "xor", "leaf"; got "leave"',
    }.items():
        wrong = {5: 5, "field": {"type": "leaf", "field": 5}, "type": {"type": "leave"}}[leaf]
        with pytest.raises(InvalidArguments) as refused:
            read.accept({"x": _query(DEPTH, wrong)})
        assert str(refused.value) == told
    assert read.accept({"x": _query(DEPTH, {"type": "leaf", "field": "f"})})


@ENGINES
def test_of_forms_that_nothing_tells_apart_the_one_that_goes_wrong_latest_is_told(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    read = arguments_schema({"title": engine.__name__, **_untagged("oneOf", recursive=False)})
    with pytest.raises(InvalidArguments) as refused:
        read.accept({"x": _chain(DEPTH, 5)})
    place = "x" + ".a" * DEPTH
    assert str(refused.value) == f"x: fits none of 3 forms; for the closest, {place}: must be a string; got 5"


@ENGINES
@pytest.mark.parametrize("mapping", [None, {"kitty": "#/$defs/Cat", "doggy": "#/$defs/Dog"}])
def test_a_discriminator_tells_which_form_was_meant(
    engine: Any, mapping: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the forms themselves say nothing of its values (OpenAPI 3.0, section 4.7.25)."""
    monkeypatch.setattr(validator, "engine", engine)
    about = {"propertyName": "kind", **({"mapping": mapping} if mapping else {})}
    kind = {"kind": {"type": "string"}}
    forms = {
        "Cat": {"properties": {**kind, "lives": {"type": "integer"}}, "required": ["kind", "lives"]},
        "Dog": {"properties": {**kind, "lives": {"type": "string"}, "tail": {}}, "required": ["kind", "tail", "lives"]},
    }
    choice = {"oneOf": [_ref("Cat"), _ref("Dog")], "discriminator": about}
    read = arguments_schema({"title": engine.__name__, "properties": {"x": choice}, "$defs": forms})
    with pytest.raises(InvalidArguments) as refused:
        read.accept({"x": {"kind": "doggy" if mapping else "Dog", "tail": 1, "lives": True}})
    assert str(refused.value) == "x.lives: must be a string; got true"


@ENGINES
def test_what_is_too_large_to_be_told_is_narrowed_down_and_nothing_right_is_blamed(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    monkeypatch.setattr(validator, "STEPS", 50)
    item = {"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}}}, {"type": "null"}]}
    schema = {"properties": {"a": {"type": "string"}, "x": {"prefixItems": [item] * 100}, "y": item}}
    read = arguments_schema({"title": engine.__name__, **schema})
    given: dict[str, Any] = {"a": "fits", "x": [{"n": 1}] * 99 + [{"n": []}], "y": {"n": 1}}
    with pytest.raises(InvalidArguments) as refused:
        read.accept(given)
    if engine is PureEngine:
        assert (
            str(refused.value) == "x[99].n: must be an integer; got an array with 0 items"
        )  # its own verdict, in full
    else:
        assert "too large to tell what" in str(refused.value)
        assert refused.value.faults[0].path in ("", "x")


def test_no_more_is_told_than_anyone_reads_and_the_rest_is_counted() -> None:
    with pytest.raises(InvalidArguments) as refused:
        arguments_schema(_ROWS).accept({"x": [{"n": "x"}] * 1_000})
    assert len(refused.value.faults) == 100
    assert refused.value.more == 900
    assert str(refused.value).endswith("; and 975 more")


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(ANY_ROOTS, ARGUMENTS)
def test_reasons_are_found_exactly_where_the_engine_refuses(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    shown = arguments_schema(schema).shown
    assume(all(keyword not in shown for keyword in ("$schema", "$id")))
    quick = validator.compile_validator(shown)
    told = quick.judge(arguments)
    assert (told == []) == quick.is_valid(arguments)
    assert all(violation.keyword != "unjudged" for violation in told)


async def test_a_call_with_wrong_arguments_leaves_the_loop_to_others() -> None:
    tool = {
        "name": "find",
        "description": "Find things",
        "inputs": {"type": "object", **_union()},
        "tool_call_template": {
            "call_template_type": "http",
            "url": "https://api.example.com/find",
            "http_method": "POST",
        },
    }
    manual = {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": [tool]}
    source = {
        "manual_call_templates": [
            {
                "name": "m",
                "call_template_type": "text",
                "content": manual,
                "allowed_communication_protocols": ["text", "http"],
            }
        ]
    }
    async with await Toolset.aopen(source) as toolset:
        started = time.monotonic()
        result = await toolset.acall("m_find", {"x": _query(DEPTH, {"type": "leaf", "field": 5})})
        assert result.is_error
        assert ".field: must be a string; got 5" in str(result.content)
        assert time.monotonic() - started < LIMIT
