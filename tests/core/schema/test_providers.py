"""Schemas as providers get them. The checks restate what each provider refuses; the original judges as before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utcp_bridge.schema import arguments_schema, export_schema, provider_schema, size_of
from utcp_bridge.schema.provider import Provider

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "realistic.json").read_text(encoding="utf-8"))
TOOLS = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
PROVIDERS = pytest.mark.parametrize("provider", get_args(Provider))
ROOT_COMBINATORS = {"allOf", "anyOf", "oneOf", "not", "enum"}
MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs")
GEMINI_FIELDS = {
    *("type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required"),
    *("minProperties", "maxProperties", "minLength", "maxLength", "pattern", "anyOf", "items", "minimum", "maximum"),
}


def _all(schema: Any) -> Iterator[dict[str, Any]]:
    """Give every schema in a schema; what stands under `enum` and the like is no schema."""
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword, value in schema.items():
        if keyword in MAPS:
            for child in value.values():
                yield from _all(child)
        elif keyword not in ("enum", "const", "default", "examples", "example"):
            for child in value if isinstance(value, list) else [value]:
                yield from _all(child)


def _check_openai(schema: dict[str, Any]) -> None:
    assert not ROOT_COMBINATORS & schema.keys()
    for part in _all(schema):
        assert not re.search(r"\(\?[=!<]", part.get("pattern", ""))
        if "array" in part.get("type", ()):
            assert "items" in part
        assert not any(isinstance(child, bool) for child in part.get("properties", {}).values())


def _check_openai_strict(schema: dict[str, Any]) -> None:
    _check_openai(schema)
    for part in _all(schema):
        assert not part.keys() & {"allOf", "oneOf", "not", "if", "patternProperties", "propertyNames", "default"}
        if "object" in part.get("type", ()):
            assert part["additionalProperties"] is False
            assert sorted(part["required"]) == sorted(part["properties"])
        assert "type" in part or "anyOf" in part


def _check_anthropic(schema: dict[str, Any]) -> None:
    assert not ROOT_COMBINATORS & schema.keys()
    for part in _all(schema):
        for name in part.get("properties", ()):
            assert re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name)


def _check_gemini(schema: dict[str, Any]) -> None:
    for part in _all(schema):
        assert part.keys() <= GEMINI_FIELDS
        assert "anyOf" in part or isinstance(part["type"], str)
        assert "anyOf" not in part or part.keys() == {"anyOf"}
        assert part.get("type") != "array" or "items" in part
        assert part.get("type") != "object" or part is schema or part["properties"]
        assert all(isinstance(value, str) for value in part.get("enum", ()))
        assert part.get("format", "int32") in ("date-time", "int32", "int64", "float", "double")
        assert set(part.get("required", ())) <= part.get("properties", {}).keys()
        assert not re.search(r"\(\?[=!<]", part.get("pattern", ""))
        for name in part.get("properties", ()):
            assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}", name)


CHECKS = {
    "openai": _check_openai,
    "openai-strict": _check_openai_strict,
    "anthropic": _check_anthropic,
    "gemini": _check_gemini,
}


def _check(schema: dict[str, Any], provider: str) -> None:
    assert schema["type"] == "object"
    assert "$schema" not in schema
    json.dumps(schema, allow_nan=False)
    CHECKS[provider](schema)


@TOOLS
@PROVIDERS
def test_a_provider_gets_only_what_it_accepts(case: dict[str, Any], provider: Provider) -> None:
    before = json.dumps(case["schema"])
    _check(provider_schema(case["schema"], provider), provider)
    assert json.dumps(case["schema"]) == before


@TOOLS
@PROVIDERS
def test_arguments_in_the_providers_names_come_back_under_the_tools_own(
    case: dict[str, Any], provider: Provider
) -> None:
    export = export_schema(case["schema"], provider)
    shown = {own: name for name, own in export.names.items()}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {shown.get(key, key): renamed(item) for key, item in value.items()}
        return [renamed(item) for item in value] if isinstance(value, list) else value

    for valid in case["valid"]:
        if provider == "openai-strict" and "null" in json.dumps(valid):
            continue  # there null may mean "not given"
        assert json.dumps(export.restore(renamed(valid))) == json.dumps(valid)


NAMES = st.text("ab$ .[é1", max_size=4) | st.just("x" * 70)
_LEAVES: list[Any] = [{}, True, False, {"type": ["string", "null"]}, {"type": "array"}, {"enum": [1, "a", None]}]
_MORE: list[Any] = [{"type": "object"}, {"const": 1}, {"pattern": "^(?=a)"}, {"$ref": "#/$defs/R"}, {"format": "email"}]
_OTHERS: list[Any] = [{}, {"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}]


def _trees(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arms = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(
            lambda named, others: {"type": "object", "properties": named, "required": [*named][:1], **others},
            st.dictionaries(NAMES, inner, max_size=3),
            st.sampled_from(_OTHERS),
        ),
        st.builds(lambda keyword, arms: {keyword: arms}, st.sampled_from(["anyOf", "oneOf", "allOf"]), arms),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda items: {"prefixItems": items}, arms),
        st.builds(lambda inner: {"not": inner, "if": inner, "default": {"a": 1}, "x-note": 1}, inner),
    )


TREES = st.recursive(st.sampled_from([*_LEAVES, *_MORE]), _trees, max_leaves=8)


@PROVIDERS
def test_any_schema_becomes_one_that_the_provider_accepts(provider: Provider) -> None:
    @settings(max_examples=120)
    @given(TREES, TREES)
    def check(root: Any, recursive: Any) -> None:
        schema = {**root, "$defs": {"R": recursive}} if isinstance(root, dict) else root
        _check(provider_schema(schema, provider), provider)

    check()


def test_what_a_provider_cannot_be_told_is_told_in_the_description() -> None:
    schema = {
        "properties": {
            "n": {"type": "integer", "exclusiveMinimum": 0, "description": "How many", "default": 3},
            "v": {"type": "integer", "enum": [1, 2]},
            "m": {"type": "string", "format": "email"},
            "o": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "anyOf": [{"required": ["n"]}, {"required": ["v", "m"]}],
    }
    shown = provider_schema(schema, "gemini")
    assert shown == {
        "type": "object",
        "description": "At least one of these sets of arguments is needed: n; or v, m.",
        "properties": {
            "n": {"type": "integer", "description": "How many. Must be above 0. Default: 3."},
            "v": {"type": "integer", "description": "One of 1, 2."},
            "m": {"type": "string", "description": "Format: email."},
            "o": {
                "type": "string",
                "description": "A JSON object, given as JSON text. Other properties are allowed, each a string.",
            },
        },
    }
    arguments = arguments_schema(schema)
    assert arguments.accept({"n": 1, "v": 2, "o": '{"a": "b"}'}) == {"n": 1, "v": 2, "o": {"a": "b"}}


@pytest.mark.parametrize(
    "keyword", ["$schema", "$id", "$comment", "const", "exclusiveMinimum", "examples", "x-foo", "default"]
)
def test_a_property_that_is_named_like_a_keyword_stays(keyword: str) -> None:
    for provider in get_args(Provider):
        export = export_schema({"properties": {keyword: {"type": "string"}}}, provider)
        assert {export.names.get(name, name) for name in export.schema["properties"]} == {keyword}


def test_branches_at_the_root_are_merged() -> None:
    closed = {"properties": {"b": {}, "same": {"type": "null"}}, "required": ["id"], "additionalProperties": False}
    open_branch = {"properties": {"a": {"type": "string"}, "same": {"type": "string"}}, "required": ["id", "a"]}
    schema = {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "oneOf": [open_branch, {"$ref": "#/$defs/B"}],
        "$defs": {"B": closed},
    }
    shown = provider_schema(schema, "anthropic")
    assert shown["required"] == ["id"]
    assert shown["properties"] == {
        "id": {"type": "integer"},
        "a": {"type": "string"},
        "same": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "b": {},
    }


def test_nulls_that_strict_mode_makes_models_write_are_left_out() -> None:
    table = {"properties": {"table": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["table"]}
    query = {"properties": {"sql": {"type": "string"}}, "required": ["sql"]}
    schema = {"oneOf": [{**form, "additionalProperties": False} for form in (query, table)]}
    assert arguments_schema(schema).accept({"sql": None, "table": "t", "limit": None}) == {"table": "t"}


def test_renamed_keys_never_meet_a_name_of_the_tool() -> None:
    own: dict[str, Any] = {"_top": {}, "_top_2": {}, "": {}, "x" * 70: {}, "x" * 64: {}}
    schema: dict[str, Any] = {"properties": {"$top": {"properties": {"a b": {}}}, **own}}
    export = export_schema(schema, "anthropic")
    _check_anthropic(export.schema)
    assert len(export.schema["properties"]) == 6
    given_arguments = {name: {"a_b": name} if name == "_top_3" else name for name in export.schema["properties"]}
    restored = export.restore(given_arguments)
    assert restored.keys() == schema["properties"].keys()
    assert restored["$top"] == {"a b": "_top_3"}
    assert export.shown_names["$top"] == "_top_3"
    assert {name: own for own, name in export.shown_names.items()} == export.names


def test_keys_that_the_schema_does_not_declare_are_left_alone() -> None:
    export = export_schema({"properties": {"$top": {}, "free": {"type": "object"}}}, "anthropic")
    assert export.restore({"free": {"_top": 1}, "_top": 2}) == {"free": {"_top": 1}, "$top": 2}


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'grok'.*openai, openai-strict, anthropic, gemini"):
        provider_schema({}, "grok")  # type: ignore[arg-type]


@PROVIDERS
@pytest.mark.parametrize("levels", [10, 26, 40, 62])
def test_a_deep_schema_is_exported(provider: Provider, levels: int) -> None:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    _check(provider_schema(schema, provider), provider)


@TOOLS
@PROVIDERS
def test_an_export_keeps_to_a_budget_and_stays_what_the_provider_accepts(
    case: dict[str, Any], provider: Provider
) -> None:
    whole = provider_schema(case["schema"], provider)
    for limit in (300, 1_000):
        export = export_schema(case["schema"], provider, max_bytes=limit)
        _check(export.schema, provider)
        assert export.schema["properties"].keys() == whole["properties"].keys()
        assert size_of(export.schema) <= max(limit, 130 * len(whole["properties"]))
