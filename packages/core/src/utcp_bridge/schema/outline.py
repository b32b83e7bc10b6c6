"""What a bundled schema says about one value, in the few words of an error message."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from utcp_bridge.schema.bundled import definition_name

_MAX_SHOWN_CHOICES = 30
_MAX_DEPTH = 6
_MAX_TOLD = 500
_NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "object": "an object",
    "array": "an array",
    "null": "null",
}


def expectation(schema: Any, root: dict[str, Any]) -> str:
    """Tell in a few words what a schema expects; empty if it expects nothing in particular."""
    return _expected(schema, root, 0, {})


def _expected(schema: Any, root: dict[str, Any], depth: int, told: dict[tuple[int, int], str]) -> str:
    # Each once at each depth: the branches of a choice may lead to the same ones again and again.
    key = id(schema), depth
    if key not in told:
        told[key] = "" if len(told) > _MAX_TOLD else _in_words(schema, root, depth, told)
    return told[key]


def _in_words(schema: Any, root: dict[str, Any], depth: int, told: dict[tuple[int, int], str]) -> str:
    schema = _resolved(schema, root)
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return "" if schema is not False else "left out"
    if "const" in schema:
        return _json(schema["const"])
    if "enum" in schema:
        values = [_json(value) for value in schema["enum"][:_MAX_SHOWN_CHOICES]]
        more = len(schema["enum"]) - len(values)
        return f"one of {', '.join([*values, f'{more} more'] if more else values)}" if len(values) != 1 else values[0]
    if "type" in schema:
        types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        text = " or ".join(_NOUNS[name] for name in types)
        if "format" in schema and "string" in types:
            text += f" ({schema['format']})"
        if "pattern" in schema and "string" in types:
            text += f" matching {schema['pattern']}"
        return text
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            parts = [_expected(child, root, depth + 1, told) for child in schema[keyword]]
            return " or ".join(dict.fromkeys(part for part in parts if part))
    for child in schema.get("allOf", ()):
        if text := _expected(child, root, depth + 1, told):
            return text
    if "properties" in schema or "required" in schema:
        return "an object"
    return f"a string matching {schema['pattern']}" if "pattern" in schema else ""


def declared_names(schema: Any, root: dict[str, Any]) -> list[str]:
    """Tell the property names that a schema knows, also through what applies in place."""
    names = [
        name
        for part in in_place(schema, root)
        for name, child in part.get("properties", {}).items()
        if child is not False
    ]
    return list(dict.fromkeys(names))


def spoken_names(schema: dict[str, Any]) -> set[str]:
    """Give the property names that a schema itself speaks of, described or required."""
    names = {*schema.get("properties", ()), *schema.get("required", ()), *schema.get("dependentSchemas", ())}
    for name, others in schema.get("dependentRequired", {}).items():
        names |= {name, *others}
    return names


def parts(schema: dict[str, Any], step: str | int | None) -> Iterator[Any]:
    """Give the schemas of the parts of a value: of one property or item, or of all."""
    if step is None or isinstance(step, str):
        properties = schema.get("properties", {})
        yield from properties.values() if step is None else (properties[step],) if step in properties else ()
        yield from schema.get("patternProperties", {}).values()
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if keyword in schema and (step is None or step not in properties):
                yield schema[keyword]
    if step is None or isinstance(step, int):
        yield from schema.get("prefixItems", ())
        for keyword in ("items", "contains", "unevaluatedItems"):
            if keyword in schema:
                yield schema[keyword]


def in_place(schema: Any, root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give a schema and everything that it applies to the same value."""
    return all_in_place((schema,), root)


def all_in_place(
    schemas: Iterable[Any], root: dict[str, Any], seen: set[int] | None = None
) -> Iterator[dict[str, Any]]:
    """Give schemas and everything that they apply to the same value, each once, and none that was seen before."""
    seen = set() if seen is None else seen
    waiting = deque(schemas)
    while waiting:
        part = waiting.popleft()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if "$ref" in part:
            waiting.append(_target(part["$ref"], root))
        for keyword in ("allOf", "anyOf", "oneOf"):
            waiting.extend(part.get(keyword, ()))
        waiting.extend(part[keyword] for keyword in ("if", "then", "else") if keyword in part)
        waiting.extend(part.get("dependentSchemas", {}).values())


def _resolved(schema: Any, root: dict[str, Any]) -> Any:
    for _ in range(_MAX_DEPTH):
        if not isinstance(schema, dict) or "$ref" not in schema or "type" in schema:
            break
        schema = _target(schema["$ref"], root)
    return schema


def _target(reference: str, root: dict[str, Any]) -> Any:
    return root["$defs"][name] if (name := definition_name(reference)) else root


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
