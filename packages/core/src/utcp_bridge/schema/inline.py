"""A bundled schema without references, for readers that follow none."""

from __future__ import annotations

from typing import Any

from utcp_bridge.schema.bundled import definition_name, is_annotation, with_subschemas

MAX_INLINED = 2_000
"""The most subschemas that inlining may write; where there would be more, fewer levels are written."""

MAX_TURNS = 2
"""How often a definition is written inside itself before it is opened."""

_LEVELS = (24, 16, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1, 0)


class _TooManyError(Exception):
    """Inlining would write too much."""


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Copy a bundled schema with every reference replaced by what it points to.

    A definition that would be written inside itself for the third time, or below more levels than can all be written,
    is opened: `type` and `description` stay.
    """
    for levels in _LEVELS[:-1]:
        try:
            return _Inliner(schema, levels, MAX_INLINED).write(schema, (), 0)  # type: ignore[no-any-return]
        except _TooManyError:
            continue
    return _Inliner(schema, _LEVELS[-1], None).write(schema, (), 0)  # type: ignore[no-any-return]


class _Inliner:
    def __init__(self, root: dict[str, Any], levels: int, most: int | None) -> None:
        self._root = root
        self._levels = levels
        self._most = most
        self._count = 0

    def write(self, schema: Any, entered: tuple[str, ...], level: int) -> Any:
        if not isinstance(schema, dict):
            return schema
        self._count += 1
        if self._most is not None and self._count > self._most:
            raise _TooManyError
        rest = {keyword: value for keyword, value in schema.items() if keyword not in ("$ref", "$defs")}
        own = with_subschemas(rest, lambda child: self.write(child, entered, level + 1))
        if "$ref" not in schema:
            return own
        name = definition_name(schema["$ref"])
        target: Any = self._root["$defs"][name] if name else self._root
        if entered.count(name) >= MAX_TURNS or not name or level > self._levels:
            kept = ("type", "description")
            target = {key: target[key] for key in kept if key in target} if isinstance(target, dict) else target
        else:
            target = self.write(target, (*entered, name), level)
        if not isinstance(target, dict):
            return target if not own else {**own, "allOf": [*own.get("allOf", []), target]}
        if all(is_annotation(keyword) for keyword in own):
            return {**target, **own}
        return {**own, "allOf": [*own.get("allOf", []), target]}
