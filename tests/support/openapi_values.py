"""Values that fit a JSON Schema of draft 2020-12: the first that comes to mind, never a random one."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

_MAX_DEPTH = 7
_FORMATS = {
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:00:00Z",
    "time": "12:00:00Z",
    "email": "a@example.com",
    "uri": "https://example.com/a?b=c",
    "url": "https://example.com/a?b=c",
    "uuid": "7f1ff415-d9f0-4a2e-9c52-8d7f6e5a4b3c",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "example.com",
    "byte": "YQ==",
}
_REGEX: Any = importlib.import_module("re._parser")


class NoValueError(Exception):
    """Nothing that fits was found."""


def value_for(schema: Any, root: Mapping[str, Any], *, optional: bool = True, arm: int = 0, depth: int = 0) -> Any:
    """A value for a schema.

    Args:
        schema: The schema.
        root: The schema whose `$defs` its references lead to.
        optional: Whether optional properties are given.
        arm: Which of several alternatives is tried first.
        depth: How deep in the value it stands.

    Raises:
        NoValueError: There is none, or none was found.
    """
    schema = _merged(schema, root)
    if schema is False or depth > 3 * _MAX_DEPTH:
        raise NoValueError
    if schema is True:
        return "any"
    if "const" in schema:
        return schema["const"]
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema:
            rest = {key: value for key, value in schema.items() if key != keyword}
            choices = schema[keyword]
            first = arm % max(len(choices), 1)
            for choice in choices[first:] + choices[:first]:
                try:
                    chosen = {**rest, "allOf": [choice]} if rest else choice
                    return value_for(chosen, root, optional=optional, arm=arm, depth=depth)
                except NoValueError:
                    continue
            raise NoValueError
    if schema.get("enum"):
        return next((value for value in schema["enum"] if value is not None), None)
    kinds = schema.get("type", "object" if "properties" in schema else "array" if "items" in schema else "string")
    kind = kinds if isinstance(kinds, str) else next((name for name in kinds if name != "null"), "null")
    if kind == "object":
        return _object(schema, root, optional=optional, arm=arm, depth=depth)
    if kind == "array":
        return _array(schema, root, optional=optional, arm=arm, depth=depth)
    if kind in ("integer", "number"):
        return _number(schema, whole=kind == "integer")
    return {"boolean": True, "null": None}.get(kind, _text(schema) if kind == "string" else None)


def _object(
    schema: Mapping[str, Any], root: Mapping[str, Any], *, optional: bool, arm: int, depth: int
) -> dict[str, Any]:
    required = schema.get("required", [])
    properties = schema.get("properties", {})
    found: dict[str, Any] = {}
    for name, child in properties.items():
        if name in required or (optional and depth < _MAX_DEPTH):
            try:
                found[name] = value_for(child, root, optional=optional and depth < 3, arm=arm, depth=depth + 1)
            except NoValueError:
                if name in required:
                    raise
    for name in required:
        if name not in found:
            found[name] = value_for(
                schema.get("additionalProperties", True), root, optional=False, arm=arm, depth=depth + 1
            )
    while len(found) < schema.get("minProperties", 0):
        found[f"k{len(found)}"] = value_for(schema.get("additionalProperties", True), root, depth=depth + 1)
    return found


def _array(schema: Mapping[str, Any], root: Mapping[str, Any], *, optional: bool, arm: int, depth: int) -> list[Any]:
    wanted = max(schema.get("minItems", 0), min(schema.get("maxItems", 2), 2 if depth < 3 else 0))
    found = [
        value_for(child, root, optional=optional, arm=arm, depth=depth + 1) for child in schema.get("prefixItems", ())
    ]
    for number in range(len(found), wanted):
        item = value_for(schema.get("items", True), root, optional=optional, arm=arm, depth=depth + 1)
        if schema.get("uniqueItems") and item in found:
            choices = _merged(schema.get("items", {}), root)
            others = [value for value in mapping_of(choices).get("enum", ()) if value not in found]
            if others:
                item = others[0]
            elif isinstance(item, str) and "pattern" not in mapping_of(choices):
                item = f"{item}{number}"
            elif isinstance(item, int) and not isinstance(item, bool):
                item += number
            else:
                break
        found.append(item)
    return found


def mapping_of(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _number(schema: Mapping[str, Any], *, whole: bool) -> float:
    step = schema.get("multipleOf", 1 if whole else 0.5)
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    for candidate in (7, low, high, *(low + step * n for n in (1, 2) if low is not None), step, 0, 1):
        if candidate is None or (whole and candidate != int(candidate)):
            continue
        fits = (
            (low is None or candidate >= low)
            and (high is None or candidate <= high)
            and candidate not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))
            and ("multipleOf" not in schema or candidate % schema["multipleOf"] == 0)
        )
        if fits:
            return int(candidate) if whole else candidate
    raise NoValueError


def _text(schema: Mapping[str, Any]) -> str:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", 1_000)
    candidates = [*schema.get("examples", ()), _FORMATS.get(schema.get("format", "")), "a b&c/é"]
    if "pattern" in schema:
        candidates += [_from_pattern(schema["pattern"], most) for most in (1, 4, 20)]
    candidates += ["ab", "a" * max(shortest, 1)]
    for candidate in candidates:
        if (
            isinstance(candidate, str)
            and shortest <= len(candidate) <= longest
            and ("pattern" not in schema or _matches(schema["pattern"], candidate))
        ):
            return candidate
    raise NoValueError


def _matches(pattern: str, candidate: str) -> bool:
    try:
        return re.search(_in_python(pattern), candidate) is not None
    except re.error as error:
        raise NoValueError from error


def _in_python(pattern: str) -> str:
    return re.sub(r"\\p\{[^}]*\}", r"\\w", pattern)  # near enough for a text of ASCII letters


def _from_pattern(pattern: str, most: int) -> str:
    """A text that fits a simple regular expression; what may be repeated is, up to `most` times."""
    try:
        return _from_nodes(_REGEX.parse(_in_python(pattern)), most)
    except (re.error, TypeError, ValueError, KeyError):
        return ""


def _from_nodes(nodes: Any, most: int) -> str:
    return "".join(_from_node(node, most) for node in nodes)


def _from_node(node: tuple[Any, Any], most: int) -> str:
    kind = str(node[0])
    value: Any = node[1]
    if kind == "LITERAL":
        return chr(int(value))
    if kind == "NOT_LITERAL":
        return "a" if value != ord("a") else "b"
    if kind == "ANY":
        return "a"
    if kind == "IN":
        return _from_set(value)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, highest, inner = value
        return _from_nodes(inner, most) * int(max(least, min(highest, most)))
    if kind == "SUBPATTERN":
        return _from_nodes(value[-1], most)
    if kind == "BRANCH":
        return _from_nodes(value[1][0], most)
    return ""


def _from_set(items: list[tuple[Any, Any]]) -> str:
    kind = str(items[0][0])
    value: Any = items[0][1]
    if kind == "NEGATE":
        return "Q"
    if kind == "RANGE":
        return chr(int(value[0]))
    if kind == "CATEGORY":
        return "1" if "DIGIT" in str(value) else " " if "SPACE" in str(value) else "a"
    return chr(value)


def _merged(schema: Any, root: Mapping[str, Any]) -> Any:
    """The schema with its references and `allOf` written into it, as far as one level can say them."""
    for _ in range(20):
        if not isinstance(schema, Mapping) or not ("$ref" in schema or "allOf" in schema):
            return schema
        parts = [root["$defs"][schema["$ref"].removeprefix("#/$defs/")]] if "$ref" in schema else []
        parts += schema.get("allOf", [])
        merged: dict[str, Any] = {}
        for part in [*parts, {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}]:
            if part is False:
                return False
            for key, value in mapping_of(part).items():
                if key == "properties":
                    merged[key] = {**merged.get(key, {}), **_joined(merged.get(key, {}), value)}
                elif key == "required":
                    merged[key] = [*merged.get(key, []), *value]
                elif key in ("allOf", "oneOf", "anyOf") and key in merged:
                    merged.setdefault("allOf", [])
                    merged["allOf"] = [*merged["allOf"], *(value if key == "allOf" else [{key: value}])]
                elif key == "$ref" and key in merged:
                    merged["allOf"] = [*merged.get("allOf", []), {"$ref": value}]
                else:
                    merged[key] = value
        schema = merged
    raise NoValueError


def _joined(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {"allOf": [before[name], schema]} if name in before and before[name] != schema else schema
        for name, schema in after.items()
    }
