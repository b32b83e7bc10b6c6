"""Schemas and arguments of any kind, for hypothesis."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

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


def _is_an_objects(schema: dict[str, Any]) -> bool:
    kind = schema.get("type", "object")
    return kind == "object" or (not isinstance(kind, str) and (not kind or "object" in kind))


ANY_ROOTS = st.builds(
    lambda root, properties, a, b: {**root, "properties": properties, "$defs": {"A": a, "B": b}},
    _schemas(SCHEMAS),
    st.dictionaries(NAMES, SCHEMAS, max_size=3),
    SCHEMAS,
    SCHEMAS,
)

ROOTS = ANY_ROOTS.filter(_is_an_objects)
"""What the arguments of a tool may be; others are refused when a manual is loaded."""


@st.composite
def fitting(draw: st.DrawFn, depth: int = 0) -> tuple[Any, Any]:
    """Draw a schema together with a value that fits it."""
    value = draw(SCALARS if depth > 2 else VALUES)
    if depth < 2 and draw(st.booleans()):
        parts = {draw(NAMES): draw(fitting(depth + 1)) for _ in range(draw(st.integers(0, 3)))}
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
