"""Spellings of OpenAPI 2.0 and 3.0 brought to JSON Schema, and examples kept short."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utcp_bridge.openapi.nodes import mapping, sequence

MOST_EXAMPLES = 3
"""The most examples that an argument is shown with."""

_LONGEST_EXAMPLE = 200


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


def short_examples(keyword: str, value: Any) -> list[Any]:
    """What `example` or `examples` of a schema gives, without what would be long to read."""
    examples = [value] if keyword == "example" else sequence(value)
    return [example for example in examples[:MOST_EXAMPLES] if example is not None and _is_short(example)]


def is_container(value: Any) -> bool:
    """Whether a value is an object or a list."""
    return isinstance(value, (Mapping, list))


def _is_short(value: Any) -> bool:
    if is_container(value):
        items = list(value.values()) if isinstance(value, Mapping) else value
        return len(items) <= 2 * MOST_EXAMPLES and all(
            not isinstance(item, (Mapping, list)) and _is_short(item) for item in items
        )
    return not isinstance(value, str) or len(value) <= _LONGEST_EXAMPLE
