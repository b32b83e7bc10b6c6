"""Walking a bundled schema: one dialect, references only to its root and into its `$defs`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from utcp_bridge.schema.dialect import ANNOTATIONS, SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS

ROOT_REF = "#"
DEFINITION_REF = "#/$defs/"


def subschemas(schema: dict[str, Any]) -> Iterator[Any]:
    """Give the subschemas directly below a bundled schema, without its definitions."""
    for keyword, value in schema.items():
        if keyword in SCHEMA_MAP_KEYWORDS:
            yield from value.values()
        elif keyword in SCHEMA_LIST_KEYWORDS:
            yield from value
        elif keyword in SCHEMA_KEYWORDS or keyword == "items":
            yield value


def walk(schema: Any) -> Iterator[dict[str, Any]]:
    """Give a bundled schema and all schemas inside it, outermost first, without following references."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(subschemas(part))


def with_subschemas(schema: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Copy a bundled schema with each of its direct subschemas, and its definitions, changed."""
    result = dict(schema)
    for keyword, value in schema.items():
        if keyword in SCHEMA_MAP_KEYWORDS or keyword == "$defs":
            result[keyword] = {name: change(child) for name, child in value.items()}
        elif keyword in SCHEMA_LIST_KEYWORDS:
            result[keyword] = [change(child) for child in value]
        elif keyword in SCHEMA_KEYWORDS or keyword == "items":
            result[keyword] = change(value)
    return result


def definition_name(reference: str) -> str:
    """Give the name of the definition that a reference of a bundled schema points to; empty for the root."""
    return reference.removeprefix(DEFINITION_REF) if reference != ROOT_REF else ""


def is_annotation(keyword: str) -> bool:
    """Tell whether a keyword never refuses a value."""
    return keyword in ANNOTATIONS or keyword.startswith("x-")


def without_properties(schema: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Give an object schema without these properties; they are not required either."""
    if not schema["properties"].keys() & set(names):
        return schema
    properties = {name: child for name, child in schema["properties"].items() if name not in names}
    shown = {**schema, "properties": properties}
    if "required" in schema:
        shown["required"] = [name for name in schema["required"] if name not in names]
    return shown
