"""What a bundled schema says about one value, in the few words of an error message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from utcp_bridge.schema.bundled import definition_name

_MAX_SHOWN_CHOICES = 30
_MAX_DEPTH = 6
_NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "object": "an object",
    "array": "an array",
    "null": "null",
}


def expectation(schema: Any, root: dict[str, Any], depth: int = 0) -> str:
    """Tell in a few words what a schema expects; empty if it expects nothing in particular."""
    schema = _resolved(schema, root)
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return "" if schema is not False else "left out"
    if "const" in schema:
        return _json(schema["const"])
    if "enum" in schema:
        values = [_json(value) for value in schema["enum"]]
        more = [f"{len(values) - _MAX_SHOWN_CHOICES} more"] if len(values) > _MAX_SHOWN_CHOICES else []
        return f"one of {', '.join([*values[:_MAX_SHOWN_CHOICES], *more])}" if len(values) != 1 else values[0]
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
            parts = [expectation(child, root, depth + 1) for child in schema[keyword]]
            return " or ".join(dict.fromkeys(part for part in parts if part))
    for child in schema.get("allOf", ()):
        if text := expectation(child, root, depth + 1):
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


def is_declared(name: str, path: tuple[str | int, ...], root: dict[str, Any]) -> bool:
    """Tell whether a schema of the value at a path speaks of this property by its name."""
    return any(name in spoken_names(part) for start in _at(root, path) for part in in_place(start, root))


def spoken_names(schema: dict[str, Any]) -> set[str]:
    """Give the property names that a schema itself speaks of, described or required."""
    names = {*schema.get("properties", ()), *schema.get("required", ()), *schema.get("dependentSchemas", ())}
    for name, others in schema.get("dependentRequired", {}).items():
        names |= {name, *others}
    return names


def property_schema(schema: Any, name: str, root: dict[str, Any], path: tuple[str | int, ...]) -> Any:
    """Find what is said about a property: by the schema that requires it, or by any other of the same value."""
    for start in (schema, *_at(root, path)):
        for part in in_place(start, root):
            if name in part.get("properties", {}):
                return part["properties"][name]
    return None


def is_secret(root: dict[str, Any], path: tuple[str | int, ...]) -> bool:
    """Tell whether a value is, lies in, or may hold a secret: `writeOnly` or `format: password`."""
    for length in range(1, len(path) + 1):
        if any(_is_marked(part) for schema in _at(root, path[:length]) for part in in_place(schema, root)):
            return True
    return any(_holds_secret(schema, root) for schema in _at(root, path)) if path else True


def _is_marked(schema: dict[str, Any]) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _holds_secret(schema: Any, root: dict[str, Any]) -> bool:
    # A stack of its own, because definitions may lead to each other further than Python can recurse.
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        for part in in_place(waiting.pop(), root):
            if id(part) not in seen:
                seen.add(id(part))
                if _is_marked(part):
                    return True
                waiting.extend(parts(part, None))
    return False


def _at(root: dict[str, Any], path: tuple[str | int, ...]) -> list[Any]:
    """Find the schemas that judge the value at a path."""
    found: list[Any] = [root]
    for step in path:
        found = [child for schema in found for part in in_place(schema, root) for child in parts(part, step)]
    return found


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
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop(0)
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
