"""How often a validator may have to judge one value: references that share their targets multiply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from utcp_bridge.schema.bundled import subschemas, walk

IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
IN_PLACE_SINGLES: Final = ("not", "if", "then", "else")
_BRANCHING: Final = (*IN_PLACE_LISTS, *IN_PLACE_SINGLES, "dependentSchemas")
_MAX_DEPTH: Final = 64
"""The most schemas that a value meets one below the other where none of them branches."""


def weight(schema: Any, target: Callable[[str], Any]) -> float:
    """Tell how often at most one value is judged by a validator that follows every reference.

    Twenty schemas of which each offers the next one twice judge a value a million times. A reference back to a schema
    that is under way counts once: it leads to another value.

    Args:
        schema: A bundled schema.
        target: Gives what a reference points to.
    """

    def here(part: dict[str, Any]) -> Iterator[Any]:
        return in_place(part, target)

    everywhere: dict[int, float] = {}
    _measure(schema, here, subschemas, everywhere)
    # Once more without what is below, where no reference can lead back: there nothing counts too little.
    alone: dict[int, float] = {}
    waiting, seen = [schema], set[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and id(part) not in seen:
            seen.add(id(part))
            _measure(part, here, lambda _: (), alone)
            waiting.extend((*here(part), *subschemas(part)))
    return max(everywhere.get(id(schema), 1), *alone.values(), 1)


_Children = Callable[[dict[str, Any]], Iterable[Any]]


def _measure(schema: Any, here: _Children, below: _Children, known: dict[int, float]) -> None:
    entered: set[int] = set()
    # A stack of its own, because definitions may lead to each other further than Python can recurse.
    stack = [(schema, False)]
    while stack:
        part, is_leaving = stack.pop()
        if not isinstance(part, dict):
            continue
        if is_leaving:
            beside = sum(known.get(id(child), 1) for child in here(part))
            known[id(part)] = 1 + beside + max((known.get(id(child), 1) for child in below(part)), default=0)
        elif id(part) not in known and id(part) not in entered:
            entered.add(id(part))
            stack.append((part, True))
            stack.extend((child, False) for child in (*here(part), *below(part)))


def may_weigh(schema: dict[str, Any], most: float) -> bool:
    """Tell, in a fraction of the time, whether a schema may weigh more than so much.

    Args:
        schema: A bundled schema.
        most: What it may weigh.
    """
    bound = 1.0
    for top in (schema, *schema.get("$defs", {}).values()):
        for part in walk(top):
            if any(keyword in part for keyword in _BRANCHING):
                bound *= 1 + sum(1 for _ in in_place(part, lambda _: None))
                if bound * _MAX_DEPTH > most:
                    return True
    return False


def in_place(schema: dict[str, Any], target: Callable[[str], Any]) -> Iterator[Any]:
    """Give the schemas that a schema itself applies to the same value."""
    if "$ref" in schema:
        yield target(schema["$ref"])
    for keyword in IN_PLACE_LISTS:
        yield from schema.get(keyword, ())
    for keyword in IN_PLACE_SINGLES:
        if keyword in schema:
            yield schema[keyword]
    yield from schema.get("dependentSchemas", {}).values()
