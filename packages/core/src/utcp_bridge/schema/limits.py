"""How much a provider takes in one schema, and what goes when there is more of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_MAX_NOTED_VALUES = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The most of a reduced schema that a provider takes; None for as much as there is.

    Attributes:
        levels: Objects and lists inside each other, choices counted like them.
        properties: Properties of all objects.
        characters: Characters of all names of properties and all enumerated values.
        values: Enumerated values of all lists.
        long_list: From how many values on a list is long, and the most characters of one that is.
        items: The sum of all `maxItems`.
    """

    levels: int
    properties: int | None = None
    characters: int | None = None
    values: int | None = None
    long_list: tuple[int, int] | None = None
    items: int | None = None


def told_values(values: list[Any]) -> str:
    """Tell enumerated values in words, the first of them if they are many."""
    some = ", ".join(json.dumps(value, ensure_ascii=False) for value in values[:_MAX_NOTED_VALUES])
    return f"One of {some}" if len(values) <= _MAX_NOTED_VALUES else f"One of {len(values):,} values, such as {some}"


def keep_to(schema: dict[str, Any], limits: Limits) -> bool:
    """Tell in words what a provider cannot be told for its amount: the longest lists of values, the largest `maxItems`.

    Args:
        schema: A reduced schema; it is changed in place.
        limits: What the provider takes.

    Returns:
        Whether the schema keeps to the limits on names and properties as well, which levels have to be given up for.
    """
    parts = list(_parts(schema))
    lists = sorted((part for part in parts if "enum" in part), key=lambda part: -len(part["enum"]))
    count = sum(len(part["enum"]) for part in lists)
    for part in lists:
        is_too_many = limits.values is not None and count > limits.values
        if is_too_many or _is_too_long(part["enum"], limits.long_list):
            count -= len(part["enum"])
            _tell(part, told_values(part.pop("enum")))
    bounded = sorted((part for part in parts if "maxItems" in part), key=lambda part: -part["maxItems"])
    total = sum(part["maxItems"] for part in bounded)
    for part in bounded:
        if limits.items is not None and total > limits.items:
            total -= part["maxItems"]
            _tell(part, f"At most {part.pop('maxItems'):,} items")
    names = [name for part in parts for name in part.get("properties", ())]
    texts = [value for part in parts for value in part.get("enum", ()) if isinstance(value, str)]
    if limits.properties is not None and len(names) > limits.properties:
        return False
    return limits.characters is None or sum(map(len, (*names, *texts))) <= limits.characters


def _is_too_long(values: list[Any], long_list: tuple[int, int] | None) -> bool:
    if long_list is None or len(values) <= long_list[0]:
        return False
    return sum(len(value) for value in values if isinstance(value, str)) > long_list[1]


def _tell(schema: dict[str, Any], sentence: str) -> None:
    author = schema.get("description", "")
    schema["description"] = f"{author} {sentence}." if author else f"{sentence}."


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for child in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from _parts(child)
    if "items" in schema:
        yield from _parts(schema["items"])
