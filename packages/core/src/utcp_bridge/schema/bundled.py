"""Walking a bundled schema: one dialect, references only to its root and into its `$defs`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any
from urllib.parse import quote, unquote

from utcp_bridge.schema.dialect import ANNOTATIONS, SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS

ROOT_REF = "#"
DEFINITION_REF = "#/$defs/"

_SAFE_IN_FRAGMENT = "?:@!$&'()*+,;=-._~"  # RFC 3986, section 3.5; `/` separates the steps of a pointer


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


def references(schema: dict[str, Any]) -> Iterator[str]:
    """Give the references that a schema itself holds; those of a discriminator's mapping count."""
    if "$ref" in schema:
        yield schema["$ref"]
    about = schema.get("discriminator")
    if isinstance(about, dict) and isinstance(about.get("mapping"), dict):
        yield from about["mapping"].values()


def step_below(pointer: str, step: str | int) -> str:
    """Write a reference to one step below another (RFC 6901, section 6)."""
    return f"{pointer}/{quote(str(step).replace('~', '~0').replace('/', '~1'), safe=_SAFE_IN_FRAGMENT)}"


def pointed(root: Any, reference: str) -> Any:
    """Give what a reference within a document points to; None if there is nothing."""
    place = root
    for token in reference.split("/")[1:]:
        key = unquote(token).replace("~1", "/").replace("~0", "~")
        if isinstance(place, list):
            place = place[int(key)] if key.isdecimal() and int(key) < len(place) else None
        else:
            place = place.get(key) if isinstance(place, dict) else None
    return place


def is_annotation(keyword: str) -> bool:
    """Tell whether a keyword never refuses a value."""
    return keyword in ANNOTATIONS or keyword.startswith("x-")


def without_properties(schema: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Give an object schema without these properties, as it is for whoever has given them already."""
    kept = dict(schema)
    for keyword in ("properties", "dependentSchemas", "dependentRequired"):
        if keyword in schema:
            kept[keyword] = {name: value for name, value in schema[keyword].items() if name not in names}
    if "required" in schema:
        kept["required"] = [name for name in schema["required"] if name not in names]
    if "dependentRequired" in schema:
        kept["dependentRequired"] = {
            name: [other for other in others if other not in names]
            for name, others in kept["dependentRequired"].items()
        }
    for keyword in ("allOf", "anyOf", "oneOf"):
        if keyword in schema:
            kept[keyword] = [
                without_properties(branch, names) if isinstance(branch, dict) else branch for branch in schema[keyword]
            ]
    return kept
