"""The `$defs` of one direction: each schema that is referred to has one name, and is converted once."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from utcp_bridge.openapi.nodes import Node

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_LEFT_OUT: Final = {"description": "Not described here, because the whole schema is very large."}


@dataclass(frozen=True, slots=True)
class Form:
    """Which of a schema's forms is meant.

    Attributes:
        with_subtypes: Any schema that builds on it may stand in its place.
        opened: It is a part of another one, which decides whether further properties may be there.
    """

    with_subtypes: bool = False
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Definition:
    """A converted definition.

    Attributes:
        value: Its JSON Schema.
        uses: The definitions that it refers to.
        size: How many subschemas it has.
    """

    value: Any
    uses: tuple[str, ...]
    size: int


class Definitions:
    """Names definitions, and gathers those that schemas need.

    Args:
        read: Converts one.
        max_size: The most subschemas of all definitions that one schema needs; those beyond accept anything.
    """

    def __init__(self, read: Callable[[Node, Form], Definition], max_size: int) -> None:
        self._read = read
        self._max_size = max_size
        self._names: dict[tuple[int, str, Form], str] = {}
        self._taken: set[str] = set()
        self._waiting: dict[str, tuple[Node, Form]] = {}
        self._read_ones: dict[str, Definition] = {}
        self._closures: dict[tuple[str, ...], dict[str, Any]] = {}

    def name(self, node: Node, form: Form) -> str:
        """The name of a schema's definition."""
        key = id(node.value), node.base, form
        name = self._names.get(key)
        if name is None:
            wanted = _UNSAFE.sub("_", node.name).strip("_") or "schema"
            wanted += "_any" * form.with_subtypes + "_part" * form.opened
            name, number = wanted, 2
            while name in self._taken:
                name, number = f"{wanted}_{number}", number + 1
            self._names[key] = name
            self._taken.add(name)
            self._waiting[name] = node, form
        return name

    def needed_by(self, names: Iterable[str]) -> dict[str, Any]:
        """The `$defs` that schemas using these names need; shared, so do not change it."""
        wanted = tuple(sorted(set(names)))
        if wanted not in self._closures:
            self._closures[wanted] = self._closure(wanted)
        return self._closures[wanted]

    def _closure(self, names: tuple[str, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        waiting = deque(names)
        size = 0
        while waiting and size <= self._max_size:
            name = waiting.popleft()
            if name in found:
                continue
            definition = self._definition(name)
            found[name] = definition.value
            size += definition.size
            waiting.extend(definition.uses)
        return {**dict.fromkeys(waiting, _LEFT_OUT), **found} if waiting else found

    def _definition(self, name: str) -> Definition:
        if name not in self._read_ones:
            self._read_ones[name] = self._read(*self._waiting[name])
            del self._waiting[name]
        return self._read_ones[name]
