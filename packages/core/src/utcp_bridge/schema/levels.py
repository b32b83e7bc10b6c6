"""Levels of a bundled schema: how many steps below the arguments something is described.

What the root applies to the arguments themselves (its choices, what it refers to) is level 0 like the root, so that
the arguments are level 1 wherever they are described. Further down each subschema is one level more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from utcp_bridge.schema.bundled import definition_name, pointed, references, subschemas, walk
from utcp_bridge.schema.dialect import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS
from utcp_bridge.schema.openings import soften

_OF_THE_ARGUMENTS = frozenset({"allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"})

Change = Callable[[Any, int], Any]
"""Gives what a subschema of a level becomes."""


def with_levels(schema: dict[str, Any], level: int, change: Change) -> dict[str, Any]:
    """Copy a schema of a level with each of its direct subschemas changed; definitions stay."""
    result = dict(schema)
    for keyword, value in schema.items():
        below = _below(keyword, level)
        if keyword in SCHEMA_MAP_KEYWORDS:
            result[keyword] = {name: change(child, below) for name, child in value.items()}
        elif keyword in SCHEMA_LIST_KEYWORDS:
            result[keyword] = [change(child, below) for child in value]
        elif keyword in SCHEMA_KEYWORDS or keyword == "items":
            result[keyword] = change(value, below)
    return result


def children(schema: dict[str, Any], level: int) -> Iterator[tuple[Any, int, bool]]:
    """Give the direct subschemas of a schema of a level: each with its level, and whether it is of a required key."""
    required = frozenset(schema.get("required", ()))
    for keyword, value in schema.items():
        below = _below(keyword, level)
        if keyword in SCHEMA_MAP_KEYWORDS:
            for name, child in value.items():
                yield child, below, keyword == "properties" and name in required
        elif keyword in SCHEMA_LIST_KEYWORDS:
            yield from ((child, below, False) for child in value)
        elif keyword in SCHEMA_KEYWORDS or keyword == "items":
            yield value, below, False


def definition_levels(schema: dict[str, Any]) -> dict[str, int]:
    """Tell the level at which each definition is first met; those that are never met are not told."""
    levels: dict[str, int] = {}
    definitions = schema.get("$defs", {})
    waiting: list[Any] = [{key: value for key, value in schema.items() if key != "$defs"}]
    level = 0
    while waiting:
        below: list[Any] = []
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict):
                continue
            for reference in references(part):
                name = definition_name(reference)
                if name in definitions and name not in levels:
                    levels[name] = level
                    waiting.append(definitions[name])
            for child, child_level, _ in children(part, level):
                (waiting if child_level == level else below).append(child)
        waiting, level = below, level + 1
    return levels


def is_leaf(schema: dict[str, Any]) -> bool:
    """Tell whether a schema has nothing below itself."""
    return "$ref" not in schema and not any(isinstance(child, dict) for child in subschemas(schema))


def put_together(root: dict[str, Any], definitions: dict[str, Any], opened: dict[int, Any]) -> dict[str, Any]:
    """Put changed parts together so that the whole takes whatever it took before.

    What is left out is referred to no more, what would refuse more for it is opened, and definitions that nothing
    reaches are dropped.

    Args:
        root: The root, without definitions; it is changed in place.
        definitions: The definitions by name; they are changed in place.
        opened: The schemas in them that something was left out of, by identity.
    """
    _put_right(root, definitions, opened)
    whole = {**root, "$defs": definitions}
    reachable = definition_levels(whole)
    kept = {name: child for name, child in definitions.items() if name in reachable}
    return {**root, "$defs": kept} if kept else root


def _put_right(root: dict[str, Any], definitions: dict[str, Any], opened: dict[int, Any]) -> None:
    whole = {**root, "$defs": definitions}
    is_whole = False
    while not is_whole:
        soften((root, *definitions.values()), opened, partial(pointed, whole))
        whole = {**root, "$defs": definitions}
        is_whole = True
        for part in [part for top in (root, *definitions.values()) for part in walk(top)]:
            if "$ref" in part and pointed(whole, part["$ref"]) is None:
                del part["$ref"]
                opened[id(part)] = part
                is_whole = False
            about = part.get("discriminator")
            if isinstance(about, dict) and any(pointed(whole, place) is None for place in references(part)):
                part["discriminator"] = {key: value for key, value in about.items() if key != "mapping"}


def _below(keyword: str, level: int) -> int:
    return 0 if level == 0 and keyword in _OF_THE_ARGUMENTS else level + 1
