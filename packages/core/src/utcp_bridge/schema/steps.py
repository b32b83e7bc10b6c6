"""What a schema over its budget can do without before anything of its structure: long words and long lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from utcp_bridge.schema.bundled import with_subschemas
from utcp_bridge.schema.levels import definition_levels, is_leaf, put_together, with_levels

_ILLUSTRATION = frozenset({"example", "examples", "externalDocs", "xml", "$comment"})
_TOLD_VALUES = 10
_MAX_DEFAULT = 200
_BARE = frozenset({"type", "properties", "required", "items", "$ref", "allOf", "anyOf", "oneOf"})


@dataclass(frozen=True, slots=True)
class Step:
    """One way to make a schema smaller.

    Attributes:
        first: The level from which it changes schemas, the root's being 0.
        shrink: Changes one schema in place; tells whether the schema takes more for it.
        told: What it leaves out, in words.
    """

    first: int
    shrink: Callable[[dict[str, Any]], bool]
    told: str


def stepped(schema: dict[str, Any], steps: Iterable[Step]) -> dict[str, Any]:
    """Copy a bundled schema with steps taken on it and everything inside it."""
    for step in steps:
        schema = _taken(schema, step)
    return schema


def _taken(schema: dict[str, Any], step: Step) -> dict[str, Any]:
    opened: dict[int, Any] = {}

    def change(part: Any, level: int) -> Any:
        if not isinstance(part, dict):
            return part
        result = with_levels(part, level, change)
        if level >= step.first and step.shrink(result):
            opened[id(result)] = result
        return result

    levels = definition_levels(schema)
    definitions = schema.get("$defs", {})
    root = change({key: value for key, value in schema.items() if key != "$defs"}, 0)
    met = [name for name in definitions if name in levels]
    return put_together(root, {name: change(definitions[name], levels[name]) for name in met}, opened)


def without_illustration(schema: Any) -> Any:
    """Copy a schema without what only shows what its other keywords say."""
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in _ILLUSTRATION and not key.startswith("x-")}
    return with_subschemas(kept, without_illustration)


def size_of(schema: Any) -> int:
    """Give the size of a schema, in bytes of compact JSON in UTF-8."""
    return len(compact(schema).encode())


def compact(schema: Any) -> str:
    """Write a schema as compact JSON."""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def unique(schemas: Iterable[Any]) -> list[Any]:
    """Give schemas without repetitions, in their order."""
    return list({compact(schema): schema for schema in reversed(list(schemas))}.values())[::-1]


def _shortening(first: int, length: int) -> Step:
    def shorten(schema: dict[str, Any]) -> bool:
        if len(description := schema.get("description", "")) > length:
            schema["description"] = description[:length].rstrip() + "..."
        return False

    return Step(first, shorten, f"descriptions over {length} characters from level {first} down")


def _undescribed(schema: dict[str, Any]) -> bool:
    schema.pop("description", None)
    return False


def _thinning(first: int, most: int) -> Step:
    def thin(schema: dict[str, Any]) -> bool:
        if "default" in schema and size_of(schema["default"]) > _MAX_DEFAULT:
            del schema["default"]
        if len(values := schema.get("enum", ())) <= most:
            return False
        some = ", ".join(json.dumps(value, ensure_ascii=False) for value in values[:_TOLD_VALUES])
        note = f"One of {len(values)} values, such as {some[:_MAX_DEFAULT]}."
        schema["description"] = f"{schema['description']} {note}" if schema.get("description") else note
        del schema["enum"]
        return True

    return Step(first, thin, f"lists of more than {most} values from level {first} down")


def _bare(schema: dict[str, Any]) -> bool:
    before = len(schema)
    for keyword in [keyword for keyword in schema if keyword not in _BARE]:
        del schema[keyword]
    if "items" in schema and not (isinstance(schema["items"], dict) and is_leaf(schema["items"])):
        schema["items"] = {}
    return len(schema) < before


STEPS = (
    _shortening(3, 200),
    _shortening(2, 200),
    _shortening(3, 60),
    _thinning(2, 30),
    _shortening(1, 300),
    _shortening(1, 100),
    _thinning(1, 200),
)
"""The steps that go before levels, each no further than needed."""

LAST_STEPS = (
    _thinning(1, 30),
    _shortening(0, 60),
    _thinning(1, 10),
    _shortening(1, 30),
    Step(1, _undescribed, "descriptions from level 1 down"),
    Step(1, _bare, "everything but the names and types of the arguments"),
)
"""The steps for what cannot be kept to its budget otherwise."""
