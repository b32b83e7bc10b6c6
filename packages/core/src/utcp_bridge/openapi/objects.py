"""The properties of an object schema, gathered from what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from utcp_bridge.openapi.nodes import Node, OperationError, key_text, sequence
from utcp_bridge.openapi.references import Documents

_MAX_DEPTH = 32
_SAYS_NO_MORE = frozenset(
    {
        *("$ref", "additionalProperties", "allOf", "default", "deprecated", "description", "example", "examples"),
        *("externalDocs", "nullable", "properties", "required", "title", "type", "xml", "readOnly"),
        *("writeOnly", "minProperties"),
    }
)


@dataclass(slots=True)
class ObjectView:
    """What an object may hold.

    Attributes:
        properties: Its properties as the document writes them.
        required: The names of those that must be there.
        is_exact: Whether the schema says nothing beyond this and `is_open`.
        is_open: Whether the document says that other properties may be there; undefined counts as no.
        additional: What the schema says about other properties; None if nothing.
    """

    properties: dict[str, Node] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    is_exact: bool = True
    is_open: bool = False
    additional: Node | None = None


def object_view(documents: Documents, node: Node) -> ObjectView:
    """Gather the properties of an object schema, also through references and `allOf`."""
    view = ObjectView()
    _gather(documents, node, view, set(), 0)
    return view


def _gather(documents: Documents, node: Node, view: ObjectView, seen: set[int], depth: int) -> None:
    fields = node.fields
    if id(node.value) in seen:
        return  # saying it twice adds nothing
    seen.add(id(node.value))
    if depth > _MAX_DEPTH or not isinstance(node.value, Mapping):
        view.is_exact = view.is_exact and node.value is True
        return
    if not all(key in _SAYS_NO_MORE or key_text(key).startswith("x-") for key in fields):
        view.is_exact = False
    if fields.get("type", "object") not in ("object", ["object"]):
        view.is_exact = False
    reference = fields.get("$ref")
    if isinstance(reference, str):
        try:
            _gather(documents, documents.resolve(reference, node.base), view, seen, depth + 1)
        except OperationError:
            view.is_exact = False
    for arm in sequence(fields.get("allOf")):
        _gather(documents, Node(arm, node.base), view, seen, depth + 1)
    for name, child in node.get("properties").items():
        known = view.properties.get(name)
        if known is None or known.value == child.value:
            view.properties[name] = child
        elif known.base == child.base:
            view.properties[name] = Node({"allOf": [known.value, child.value]}, child.base)
        else:
            view.is_exact = False
    view.required |= dict.fromkeys(name for name in sequence(fields.get("required")) if isinstance(name, str))
    additional: Any = fields.get("additionalProperties")
    if additional is not None:
        view.additional = node.get("additionalProperties")
        view.is_open = view.is_open or additional is not False
