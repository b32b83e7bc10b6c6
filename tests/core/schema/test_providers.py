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
from utcp_bridge.schema.provider import Provider, provider_description

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "realistic.json").read_text(encoding="utf-8"))
TOOLS = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
PROVIDERS = pytest.mark.parametrize("provider", get_args(Provider))
ROOT_COMBINATORS = {"allOf", "anyOf", "oneOf", "not", "enum"}
JSON_TYPES: dict[Any, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}
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


def _children(schema: dict[str, Any]) -> Iterator[Any]:
    """Give the direct subschemas, but for those that close an object or a list, which are booleans in every draft."""
    for keyword, value in schema.items():
        if keyword in MAPS:
            yield from value.values()
        elif keyword in ("allOf", "anyOf", "oneOf", "prefixItems"):
            yield from value
        elif keyword in ("items", "contains", "not", "if", "then", "else", "propertyNames", "contentSchema"):
            yield value


def _check_openai(schema: dict[str, Any]) -> None:
    assert not ROOT_COMBINATORS & schema.keys()
    for part in _all(schema):
        assert not re.search(r"\(\?[=!<]", part.get("pattern", ""))
        if "array" in part.get("type", ()):
            assert "items" in part
        assert not any(isinstance(child, bool) for child in _children(part))


def _check_openai_strict(schema: dict[str, Any]) -> None:
    _check_openai(schema)
    for part in _all(schema):
        assert not part.keys() & {"allOf", "oneOf", "not", "if", "patternProperties", "propertyNames", "default"}
        if "object" in part.get("type", ()):
            assert part["additionalProperties"] is False
            assert sorted(part["required"]) == sorted(part["properties"])
        assert "type" in part or "anyOf" in part
        types = [part.get("type")] if isinstance(part.get("type"), str) else part.get("type", ())
        assert all(any(isinstance(value, JSON_TYPES[name]) for name in types) for value in part.get("enum", ()))
    _check_limits(schema)


def _check_limits(schema: dict[str, Any]) -> None:
    """Restate "Supported schemas" of OpenAI's guide to structured outputs."""
    parts = list(_all(schema))
    lists = [part["enum"] for part in parts if "enum" in part]
    names = [name for part in parts for name in part.get("properties", ())]
    texts = [value for values in lists for value in values if isinstance(value, str)]
    assert len(names) <= 5_000
    assert sum(map(len, (*names, *texts))) <= 120_000
    assert sum(map(len, lists)) <= 1_000
    for values in lists:
        assert len(values) <= 250 or sum(len(value) for value in values if isinstance(value, str)) <= 15_000
    assert _levels(schema) <= 10


def _levels(schema: dict[str, Any]) -> int:
    inside = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else ())]
    if inside:
        return 1 + max(map(_levels, inside))
    return max(map(_levels, schema["anyOf"])) if "anyOf" in schema else 1 if "object" in schema.get("type", ()) else 0


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
        assert part.get("type") != "object" or part["properties"]
        assert part.get("type") != "null"
        assert all(isinstance(value, str) and value for value in part.get("enum", ()))
        assert part.get("type") == "string" or "enum" not in part
        assert part.get("enum") != []
        assert part.get("format", "int32") in ("date-time", "int32", "int64", "float", "double")
        assert set(part.get("required", ())) <= part.get("properties", {}).keys()
        assert not re.search(r"\(\?[=!<]", part.get("pattern", ""))
        assert not any(branch.keys() == {"anyOf"} for branch in part.get("anyOf", ()))
        for name in part.get("properties", ()):
            assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}", name)
    assert sum(part.get("maxItems", 0) for part in _all(schema)) < 960


CHECKS = {
    "openai": _check_openai,
    "openai-strict": _check_openai_strict,
    "azure-openai": _check_openai,
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
_LEAVES: list[Any] = [{}, True, False, {"type": ["string", "null"]}, {"type": "array"}, {"enum": [1, "a", None, ""]}]
_VALUES: list[Any] = [
    *({"enum": ["", "a"]}, {"enum": [""]}, {"const": None}, {"type": "null"}, {"type": ["string", "number"]}),
    *({"type": ["integer", "string"], "enum": ["a", 1.0, True]}, {"enum": [{"a": 1}, [1]]}),
    *({"type": "array", "maxItems": 700}, {"enum": [f"{number:03}" for number in range(400)]}),
]
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
        st.builds(lambda inner, other: {"if": inner, "then": other, "else": other, "contains": other}, inner, inner),
        st.builds(lambda inner: {"not": inner, "if": inner, "default": {"a": 1}, "x-note": 1}, inner),
    )


TREES = st.recursive(st.sampled_from([*_LEAVES, *_MORE, *_VALUES]), _trees, max_leaves=8)


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
    with pytest.raises(ValueError, match=rf"'grok'.*{', '.join(get_args(Provider))}"):
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


# -- what each provider refuses ----------------------------------------------------------------------------------------


def test_gemini_gets_unions_in_unions_as_one() -> None:
    inner = {"type": ["string", "number"]}
    words = {"type": "array", "items": {"type": "string"}}
    schema = {"properties": {"fill": {"anyOf": [inner, words, {"anyOf": [{"type": "boolean"}, {"type": "null"}]}]}}}
    for provider, null in (("gemini", "nullable"), ("openai-strict", "null")):
        shown = provider_schema(schema, provider)["properties"]["fill"]  # type: ignore[arg-type]
        assert shown.keys() == {"anyOf"}
        types = [part["type"] for part in shown["anyOf"]]
        assert types[:3] == ["string", "number", "array"]
        assert types[3] in ("boolean", ["boolean", "null"])
        assert null in json.dumps(shown)


def test_gemini_is_told_null_by_nullable_alone() -> None:
    schema = {
        "properties": {
            "a": {"anyOf": [{"const": None, "description": "none"}, {"type": "string"}]},
            "b": {"const": None},
        }
    }
    assert provider_schema(schema, "gemini")["properties"] == {
        "a": {"type": "string", "nullable": True},
        "b": {"type": "string", "nullable": True, "description": "One of null. Must be null."},
    }


def test_an_empty_value_that_gemini_refuses_is_told_in_words() -> None:
    schema = {
        "properties": {
            "url": {"type": "string", "enum": ["", "a"], "description": "Where"},
            "none": {"enum": [""]},
            "maybe": {"enum": ["", "b", None]},
        }
    }
    assert provider_schema(schema, "gemini")["properties"] == {
        "url": {"type": "string", "enum": ["a"], "description": 'Where. It may also be "".'},
        "none": {"type": "string", "description": 'One of "".'},
        "maybe": {"type": "string", "enum": ["b"], "nullable": True, "description": 'It may also be "".'},
    }
    assert provider_schema(schema, "openai")["properties"]["url"]["enum"] == ["", "a"]


def test_a_tool_without_arguments_has_one_for_gemini_that_is_never_sent_on() -> None:
    for schema in ({"type": "object", "properties": {}}, {}, None, {"type": "object", "properties": {"a": False}}):
        export = export_schema(schema, "gemini")
        assert list(export.schema["properties"]) == ["_unused"]
        assert "required" not in export.schema
        assert export.restore({"_unused": "x"}) == {}
        for provider in get_args(Provider):
            assert provider == "gemini" or "_unused" not in provider_schema(schema, provider)["properties"]
    own = export_schema({"properties": {"_unused": {"type": "string"}}}, "gemini")
    assert own.restore({"_unused": "x"}) == {"_unused": "x"}


def test_values_stand_only_beside_their_own_type() -> None:
    schema = {"properties": {"size": {"type": ["integer", "string", "boolean"], "enum": [1, 2, "auto"]}}}
    for provider in ("gemini", "openai-strict"):
        branches = provider_schema(schema, provider)["properties"]["size"]["anyOf"]
        by_type = {part["type"]: part for part in branches if part["type"] != "null"}
        assert by_type.keys() == {"integer", "string"}
        assert by_type["string"]["enum"] == ["auto"]
        assert by_type["integer"].get("enum") == ([1, 2] if provider == "openai-strict" else None)


@pytest.mark.parametrize("keyword", ["items", "contains", "not", "if", "then", "else", "propertyNames"])
@pytest.mark.parametrize("value", [True, False])
def test_boolean_schemas_are_spelt_out_for_openai(keyword: str, value: bool) -> None:
    around = {keyword: value} if keyword not in ("then", "else") else {"if": {"type": "string"}, keyword: value}
    for provider in ("openai", "azure-openai"):
        shown = provider_schema({"properties": {"x": around}}, provider)["properties"]["x"]
        assert shown[keyword] == ({} if value else {"not": {}})


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf", "prefixItems"])
def test_boolean_schemas_in_lists_are_spelt_out_for_openai(keyword: str) -> None:
    around = {keyword: [{"type": "string"}, False, True], "additionalProperties": False}
    shown = provider_schema({"properties": {"x": around}}, "openai")["properties"]["x"]
    assert shown == {keyword: [{"type": "string"}, {"not": {}}, {}], "additionalProperties": False}


# -- how much each provider takes --------------------------------------------------------------------------------------


def test_strict_mode_gets_at_most_a_thousand_values_the_longest_lists_told_in_words() -> None:
    few = {"enum": [f"few{number}" for number in range(40)]}
    many = {"enum": [str(number) for number in range(1_500)], "description": "Which one."}
    schema = {"properties": {"few": few, "many": many, "list": {"type": "array", "items": many}}, "required": ["many"]}
    shown = provider_schema(schema, "openai-strict")
    _check_openai_strict(shown)
    assert len(shown["properties"]["few"]["enum"]) == 41  # with null
    assert shown["properties"]["many"]["type"] == "string"
    assert shown["properties"]["many"]["description"].startswith('Which one. One of 1,500 values, such as "0", "1", ')
    whole = provider_schema({"properties": {"many": {"enum": many["enum"][:900]}}}, "openai-strict")
    assert len(whole["properties"]["many"]["enum"]) == 901


def test_strict_mode_gets_no_long_list_of_long_values() -> None:
    values = [f"{number:03}" + "x" * 60 for number in range(300)]
    schema = {"properties": {"long": {"enum": values}, "short": {"enum": values[:250]}}, "required": ["long", "short"]}
    shown = provider_schema(schema, "openai-strict")
    _check_openai_strict(shown)
    assert "enum" not in shown["properties"]["long"]
    assert shown["properties"]["short"]["enum"] == values[:250]


def test_strict_mode_gives_levels_up_for_names_and_properties() -> None:
    rows = {f"column_{number}": {"type": "string"} for number in range(60)}
    schema: dict[str, Any] = {"type": "object", "properties": rows}
    for _ in range(2):
        schema = {"type": "object", "properties": {f"part_{number}": schema for number in range(10)}}
    export = export_schema(schema, "openai-strict")
    _check_openai_strict(export.schema)
    part = export.schema["properties"]["part_0"]["properties"]["part_0"]
    assert part["type"] == ["string", "null"]
    assert part["description"] == "A JSON object, given as JSON text."
    given = {"part_0": {"part_0": json.dumps({"column_1": "x"})}}
    assert arguments_schema(schema).accept(export.restore(given)) == {"part_0": {"part_0": {"column_1": "x"}}}


def test_strict_mode_gets_at_most_ten_levels() -> None:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(9):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert "JSON text" not in json.dumps(provider_schema(schema, "openai-strict"))
    deeper = {"type": "object", "properties": {"a": {"type": "array", "items": schema}}, "required": ["a"]}
    shown = provider_schema(deeper, "openai-strict")
    assert _levels(shown) == 10
    assert "JSON text" in json.dumps(shown)


def test_gemini_gets_no_more_items_than_it_counts() -> None:
    items = {"type": "array", "items": {"type": "string"}, "maxItems": 500}
    schema = {"properties": {"a": items, "b": {**items, "description": "More."}, "c": {**items, "maxItems": 20}}}
    assert provider_schema(schema, "gemini")["properties"] == {
        "a": {"type": "array", "items": {"type": "string"}, "description": "At most 500 items."},
        "b": {"type": "array", "items": {"type": "string"}, "description": "More.", "maxItems": 500},
        "c": {"type": "array", "items": {"type": "string"}, "maxItems": 20},
    }


def test_azure_gets_a_description_of_at_most_1024_characters_that_tells_of_its_cut() -> None:
    text = "Does this. " * 300
    cut = provider_description(text, "azure-openai")
    assert len(cut) <= 1_024
    assert cut.startswith("Does this. Does this. ")
    assert cut.endswith("... [cut to 1,024 of 3,300 characters]")
    assert provider_description("x" * 1_024, "azure-openai") == "x" * 1_024
    for provider in ("openai", "openai-strict", "anthropic", "gemini", None):
        assert provider_description(text, provider) == text
