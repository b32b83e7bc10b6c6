"""Alternatives of a `oneOf` that nobody could choose: whatever fits one of them fits another, too.

JSON Schema then refuses the value, and most APIs do not. It happens where arms differ in their `format` alone, in
properties that are not required, or as an integer from a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from utcp_bridge.openapi.nodes import Node, OperationError, sequence
from utcp_bridge.openapi.objects import ObjectView, object_view
from utcp_bridge.openapi.references import Documents

MAX_ARMS: Final = 40
"""More alternatives are not compared with each other."""

_MAX_DEPTH = 6
_BOUNDS = (
    *("pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "contentEncoding"),
)
_NOT_COMPARED = (
    *("anyOf", "oneOf", "not", "if", "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas"),
    *("dependencies", "contains", "prefixItems", "unevaluatedProperties", "unevaluatedItems", "const", "$dynamicRef"),
)


class Alternatives:
    """Compares the arms of a `oneOf`.

    Args:
        documents: The documents.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._known: dict[tuple[int, int], tuple[bool, Node, Node]] = {}
        self._views: dict[tuple[int, str], tuple[ObjectView, Node]] = {}

    def overlap(self, arms: Sequence[Any], base: str) -> bool:
        """Whether one of them accepts all that another one describes."""
        if len(arms) > MAX_ARMS:
            return False
        nodes = [self._resolved(Node(arm, base)) for arm in arms]
        return any(
            self._covers(wide, narrow, 0)
            for index, wide in enumerate(nodes)
            for other, narrow in enumerate(nodes)
            if index != other
        )

    def _covers(self, wide: Node, narrow: Node, depth: int) -> bool:
        wide, narrow = self._resolved(wide), self._resolved(narrow)
        key = id(wide.value), id(narrow.value)
        if key not in self._known:
            self._known[key] = (True, wide, narrow)  # under way, for schemas that contain themselves
            self._known[key] = (self._compare(wide, narrow, depth), wide, narrow)
        return self._known[key][0]

    def _compare(self, wide: Node, narrow: Node, depth: int) -> bool:
        if wide.value is narrow.value or wide.value is True:
            return wide.value is not None
        if depth > _MAX_DEPTH or not isinstance(wide.value, Mapping) or not isinstance(narrow.value, Mapping):
            return False
        if any(keyword in wide.fields for keyword in _NOT_COMPARED):
            return False
        views = self._view(wide), self._view(narrow)
        if "allOf" in wide.fields and not views[0].is_exact:
            return False
        return (
            _types_covered(wide.fields, narrow.fields, views)
            and _values_covered(wide.fields, narrow.fields)
            and self._object_covered(*views, depth)
            and self._items_covered(wide, narrow, depth)
        )

    def _view(self, node: Node) -> ObjectView:
        key = id(node.value), node.base
        if key not in self._views:
            self._views[key] = object_view(self._documents, node), node  # alive, so that its identity stays its own
        return self._views[key][0]

    def _object_covered(self, wide: ObjectView, narrow: ObjectView, depth: int) -> bool:
        if not set(wide.required) <= set(narrow.required):
            return False
        for name, node in narrow.properties.items():
            known = wide.properties.get(name, wide.additional)
            if known is not None and not self._covers(known, node, depth + 1):
                return False
        return True

    def _items_covered(self, wide: Node, narrow: Node, depth: int) -> bool:
        if "items" not in wide.fields or "array" not in (_types(narrow.fields) or ()):
            return True
        return "items" in narrow.fields and self._covers(wide.get("items"), narrow.get("items"), depth + 1)

    def _resolved(self, node: Node) -> Node:
        try:
            return self._documents.follow(node)
        except OperationError:
            return Node(None, node.base)


def _types(fields: Mapping[Any, Any]) -> tuple[Any, ...] | None:
    types = fields.get("type")
    return tuple(types) if isinstance(types, list) else None if types is None else (types,)


def _types_covered(wide: Mapping[Any, Any], narrow: Mapping[Any, Any], views: tuple[ObjectView, ObjectView]) -> bool:
    wide_types, narrow_types = _types(wide), _types(narrow)
    if wide_types is None and views[0].properties:
        wide_types = ("object",)  # what its author had in mind
    if narrow_types is None and views[1].properties:
        narrow_types = ("object",)
    if wide_types is None:
        return True
    return narrow_types is not None and all(
        kind in wide_types or (kind == "integer" and "number" in wide_types) for kind in narrow_types
    )


def _values_covered(wide: Mapping[Any, Any], narrow: Mapping[Any, Any]) -> bool:
    if any(keyword in wide and wide[keyword] != narrow.get(keyword) for keyword in _BOUNDS):
        return False
    if "enum" not in wide:
        return True
    values = [narrow["const"]] if "const" in narrow else sequence(narrow.get("enum"))
    return bool(values) and all(value in sequence(wide["enum"]) for value in values)
