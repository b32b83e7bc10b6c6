"""Cutting a bundled schema to a size, branch by branch.

Nothing is cut of what is said about the arguments themselves. What lies below them is opened level by level, what is
required and what is small first, as long as there is room; the rest stays as stubs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from utcp_bridge.schema.bundled import definition_name, references, walk
from utcp_bridge.schema.levels import children, is_leaf, put_together, with_levels
from utcp_bridge.schema.steps import Step, size_of, unique
from utcp_bridge.schema.stub import Stubs

_LEAST = 8
"""What opening a schema takes at least, in bytes; with less room nothing is looked for."""

_KEPT_ALONE = frozenset({"type", "description", "enum", "const", "format"})
"""Keywords that mean the same beside any others."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A schema that was cut.

    Attributes:
        schema: The schema; it takes whatever it took before.
        told: What was left out, in words; empty if nothing.
    """

    schema: dict[str, Any]
    told: str


class Cutter:
    """Cuts a schema.

    Args:
        schema: A bundled schema.
        steps: The steps that will be taken on what is left, which its size is counted with.
    """

    def __init__(self, schema: dict[str, Any], steps: Sequence[Step]) -> None:
        self._definitions: dict[str, Any] = schema.get("$defs", {})
        self._root = {key: value for key, value in schema.items() if key != "$defs"}
        self._steps = steps
        self._stubs = Stubs(schema)
        self._open: set[int] = set()
        self._levels: dict[str, int] = {}
        self._sizes: dict[int, int] = {}
        self._below: list[tuple[dict[str, Any], int, bool]] = []
        self._deepest = 0
        self._open_up(self._root, 0)

    @property
    def least(self) -> int:
        """The size of the schema with everything cut that can be, in bytes."""
        definitions = {name: self._sized(self._definitions[name], level) for name, level in self._levels.items()}
        root = self._sized(self._root, 0)
        return size_of({**root, "$defs": definitions} if definitions else root)

    def cut(self, max_bytes: int) -> Cut:
        """Cut the schema to a size.

        Args:
            max_bytes: The most bytes after the steps; less than `least` cuts everything that can be.
        """
        room = max_bytes - self.least
        left: list[int] = []
        waiting: list[tuple[int, bool, int, int, dict[str, Any]]] = []
        seen = 0
        while self._below or waiting:
            for child, level, is_required in self._below:
                seen += 1
                heapq.heappush(waiting, (level, not is_required, self._cost(child, level)[0], seen, child))
            self._below.clear()
            level, _, _, _, schema = heapq.heappop(waiting)
            cost, names = self._cost(schema, level)
            if room < _LEAST or cost > room:
                left.append(level)
                continue
            room -= cost
            self._deepest = max(self._deepest, level)
            for name in names:
                self._levels[name] = level
                self._open_up(self._definitions[name], level)
            self._open_up(schema, level)
        if not left:
            return Cut(self._shown(), "")
        first = min(left)
        what = "everything" if self._deepest < first else "parts of what is"
        return Cut(self._shown(), f"{what} below level {first}")

    def _open_up(self, schema: Any, level: int) -> None:
        """Show a schema itself; what is below it may wait."""
        if not isinstance(schema, dict) or id(schema) in self._open:
            return
        self._open.add(id(schema))
        if level == 0 and (name := definition_name(schema.get("$ref", "#"))) in self._definitions:
            self._levels[name] = 0
            self._open_up(self._definitions[name], 0)
        for child, below, is_required in children(schema, level):
            if not isinstance(child, dict):
                continue
            if below == 0:
                self._open_up(child, 0)
            elif not is_leaf(child):
                self._below.append((child, below, is_required))

    def _cost(self, schema: dict[str, Any], level: int) -> tuple[int, list[str]]:
        """Tell how many bytes it takes to show a schema instead of its stub, and which definitions come with it."""
        cost = self._size(schema, level) - size_of(self._closed(schema, level))
        names: list[str] = []
        part: Any = schema
        while isinstance(part, dict) and (name := definition_name(part.get("$ref", "#"))) in self._definitions:
            if name in self._levels or name in names:
                break
            part = self._definitions[name]
            cost += self._size(part, level) + size_of(name) + len(":,")
            cost += 0 if self._levels or names else len('"$defs":{},')
            names.append(name)
        return cost, names

    def _size(self, schema: Any, level: int) -> int:
        """Give the size of a schema that is shown with all below it cut."""
        if id(schema) not in self._sizes:
            self._sizes[id(schema)] = size_of(self._with_stubs(schema, level))
        return self._sizes[id(schema)]

    def _with_stubs(self, schema: Any, level: int) -> Any:
        if not isinstance(schema, dict):
            return schema
        return _without_repetitions(with_levels(self._stepped(schema, level), level, self._closed))

    def _closed(self, schema: Any, level: int) -> Any:
        if not isinstance(schema, dict):
            return schema
        return self._stepped(schema if is_leaf(schema) else self._stubs.of(schema), level)

    def _sized(self, schema: Any, level: int) -> Any:
        """Give a schema as it would be shown now, with the steps taken."""
        if id(schema) in self._open:
            return with_levels(self._stepped(schema, level), level, self._sized)
        return self._closed(schema, level)

    def _stepped(self, schema: dict[str, Any], level: int) -> dict[str, Any]:
        result = dict(schema)
        for step in self._steps:
            if level >= step.first:
                step.shrink(result)
        return result

    def _shown(self) -> dict[str, Any]:
        """Give the schema with everything cut that is not open, before any steps."""
        stubs: dict[int, Any] = {}

        def shown(part: Any, level: int) -> Any:
            if not isinstance(part, dict):
                return part
            if id(part) in self._open:
                return with_levels(part, level, shown)
            if is_leaf(part):
                return dict(part)
            kept = self._stubs.of(part)
            stubs[id(kept)] = kept
            return kept

        root = shown(self._root, 0)
        names = [name for name in self._definitions if name in self._levels]
        definitions = {name: shown(self._definitions[name], self._levels[name]) for name in names}
        result = put_together(root, definitions, stubs)
        parts = [part for top in (result, *result.get("$defs", {}).values()) for part in walk(top)]
        # References by place count the branches.
        if not any("/anyOf/" in reference for part in parts for reference in references(part)):
            for part in parts:
                _say_once(part)
        return result


def _say_once(schema: dict[str, Any]) -> None:
    """Drop the branches of an `anyOf` that say the same, and the `anyOf` where only one is left."""
    branches = unique(schema.get("anyOf", ()))
    only = branches[0] if len(branches) == 1 and isinstance(branches[0], dict) else None
    if only is not None and only.keys() <= _KEPT_ALONE and schema.keys().isdisjoint(only):
        del schema["anyOf"]
        schema.update(only)
        return
    if branches:
        schema["anyOf"] = branches


def _without_repetitions(schema: dict[str, Any]) -> dict[str, Any]:
    # A `oneOf` whose branches were cut becomes an `anyOf`.
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            schema[keyword] = unique(schema[keyword])
    return schema
