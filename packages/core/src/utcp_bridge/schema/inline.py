"""A bundled schema without references, for readers that follow none."""

from __future__ import annotations

from typing import Any

from utcp_bridge.schema.bundled import definition_name, is_annotation, with_subschemas

MAX_INLINED = 2_000
"""The most subschemas that inlining may write; what comes after is opened, because inlining can grow without end."""

MAX_TURNS = 2
"""How often a definition is written inside itself before it is opened."""


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Copy a bundled schema with every reference replaced by what it points to.

    Where a definition would be written inside itself for the third time it is opened: `type` and `description` stay.
    """
    written: dict[str, Any] = _Inliner(schema).write(schema, ())
    return written


class _Inliner:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._count = 0

    def write(self, schema: Any, entered: tuple[str, ...]) -> Any:
        if not isinstance(schema, dict):
            return schema
        self._count += 1
        rest = {keyword: value for keyword, value in schema.items() if keyword not in ("$ref", "$defs")}
        own = with_subschemas(rest, lambda child: self.write(child, entered))
        if "$ref" not in schema:
            return own
        name = definition_name(schema["$ref"])
        target: Any = self._root["$defs"][name] if name else self._root
        if entered.count(name) >= MAX_TURNS or not name or self._count > MAX_INLINED:
            kept = ("type", "description")
            target = {key: target[key] for key in kept if key in target} if isinstance(target, dict) else target
        else:
            target = self.write(target, (*entered, name))
        if not isinstance(target, dict):
            return target if not own else {**own, "allOf": [*own.get("allOf", []), target]}
        if all(is_annotation(keyword) for keyword in own):
            return {**target, **own}
        return {**own, "allOf": [*own.get("allOf", []), target]}
