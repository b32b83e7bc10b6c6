"""Spellings of OpenAPI 2.0 and 3.0 brought to JSON Schema, and examples kept short."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from utcp_bridge.openapi.nodes import is_container, mapping, sequence

MOST_EXAMPLES = 3
"""The most examples that an argument is shown with."""

_LONGEST_EXAMPLE = 200
_LITERAL = re.compile(r"/(?P<body>\^.*|.*(?<!\\)\$)/(?P<flags>[a-z]*)", re.DOTALL)  # could match no text otherwise
_IN_ITEMS = frozenset({"$ref", "enum", "const", "allOf", "anyOf", "oneOf"})
_NOTHING = object()


def discriminating(discriminator: Any) -> str | None:
    """The property that decides; Swagger 2.0 names it alone."""
    name = discriminator if isinstance(discriminator, str) else mapping(discriminator).get("propertyName")
    return name if isinstance(name, str) else None


def with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI 3.0's `nullable: true`."""
    if any(keyword in schema for keyword in ("$ref", "allOf", "anyOf", "oneOf", "not")):
        about: dict[str, Any] = {
            key: schema[key] for key in ("title", "description", "default", "deprecated") if key in schema
        }
        return {**about, "anyOf": [{key: schema[key] for key in schema if key not in about}, {"type": "null"}]}
    if isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema


def fitting(schema: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The schema with choices and patterns that its author meant where those that are written fit no value.

    YAML reads `enum: [1, 2]` as numbers also where `type: string` stands beside it, generators put the choices of a
    list's items on the list, and some write patterns as JavaScript does, between slashes.
    """
    enum, pattern = schema.get("enum"), schema.get("pattern")
    types = schema.get("type")
    if types == "string" and pattern is None and (enum is None or all(type(value) is str for value in sequence(enum))):
        return schema  # most of them
    changes: dict[str, Any] = {}
    kinds = [types] if isinstance(types, str) else sequence(types)
    if isinstance(enum, list) and kinds and not all(_is_of(value, kinds) for value in enum):
        if kinds == ["array"] and isinstance(schema.get("items"), Mapping) and not _IN_ITEMS & schema["items"].keys():
            changes = {"enum": None, "items": {**schema["items"], "enum": enum}}
        else:
            changes["enum"] = _spelt(enum, kinds)
    if isinstance(pattern, str) and (match := _LITERAL.fullmatch(pattern)):
        # A flag cannot be said here, and without it the pattern would refuse what it is meant to accept.
        changes["pattern"] = match["body"] if not match["flags"].strip("gmu") else None
    return {**schema, **changes} if changes else schema


def _spelt(values: list[Any], kinds: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        spelt = value if value is None or _is_of(value, kinds) else _in_type(value, kinds)
        if spelt is not _NOTHING and spelt not in found:
            found.append(spelt)
    return found


def _in_type(value: Any, kinds: list[Any]) -> Any:
    if "string" in kinds and isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, str) and not {"integer", "number", "boolean"}.isdisjoint(kinds):
        try:
            read = json.loads(value.lower())
        except ValueError:
            return _NOTHING
        return read if _is_of(read, kinds) else _NOTHING
    return _NOTHING


def _is_of(value: Any, kinds: list[Any]) -> bool:
    if value is None:
        return True  # `nullable` or its lack decides
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    tests = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "integer": is_whole and not isinstance(value, bool),
        "number": isinstance(value, (int, float)) and not isinstance(value, bool),
        "array": isinstance(value, list),
        "object": isinstance(value, Mapping),
    }
    return any(tests.get(str(kind), kind != "null") for kind in kinds)


def short_examples(keyword: str, value: Any) -> list[Any]:
    """What `example` or `examples` of a schema gives, without what would be long to read."""
    examples = [value] if keyword == "example" else sequence(value)
    return [example for example in examples[:MOST_EXAMPLES] if example is not None and _is_short(example)]


def _is_short(value: Any) -> bool:
    if is_container(value):
        items = list(value.values()) if isinstance(value, Mapping) else value
        return len(items) <= 2 * MOST_EXAMPLES and all(
            not isinstance(item, (Mapping, list)) and _is_short(item) for item in items
        )
    return not isinstance(value, str) or len(value) <= _LONGEST_EXAMPLE
