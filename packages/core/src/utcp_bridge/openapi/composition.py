"""Objects that are made of parts which refuse each other's properties."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, TypeAlias

from utcp_bridge.openapi.nodes import Node, OperationError, key_text
from utcp_bridge.openapi.references import Documents

_MAX_DEPTH: Final = 6


_Part: TypeAlias = tuple[frozenset[str], bool]
"""The properties that a part of a schema knows, and whether it refuses all others."""


class Compositions:
    """Knows what schemas are made of.

    Args:
        documents: The documents.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._behind: dict[tuple[str, str], list[_Part]] = {}

    def refuses_its_parts(self, node: Node) -> bool:
        """Whether a schema is made of parts of which one refuses the properties of another.

        Authors mean `additionalProperties: false` for the whole; JSON Schema takes it for the part alone, and then no
        object fits.
        """
        parts = self._parts(node, 0)
        if not any(is_closed for _, is_closed in parts):
            return False
        names = frozenset[str]().union(*(known for known, _ in parts))
        return any(is_closed and not names <= known for known, is_closed in parts)

    def _parts(self, node: Node, depth: int) -> list[_Part]:
        fields = node.fields
        if depth > _MAX_DEPTH or not fields:
            return []
        parts: list[_Part] = []
        is_closed = fields.get("additionalProperties") is False and "patternProperties" not in fields
        if is_closed or "properties" in fields:
            parts.append((frozenset(map(key_text, node.get("properties").fields)), is_closed))
        reference = fields.get("$ref")
        if isinstance(reference, str):
            parts += self._parts_behind(reference, node.base, depth)
        if "allOf" in fields:
            for arm in node.get("allOf").elements():
                parts += self._parts(arm, depth + 1)
        for keyword in ("oneOf", "anyOf"):
            if keyword in fields and parts:
                choices = [part for arm in node.get(keyword).elements() for part in self._parts(arm, depth + 1)]
                if choices:
                    # One of them is chosen, so they need not know each other's properties.
                    known = frozenset[str]().union(*(names for names, _ in choices))
                    parts.append((known, any(is_closed for _, is_closed in choices)))
        return parts

    def _parts_behind(self, reference: str, base: str, depth: int) -> list[_Part]:
        key = reference, base
        if key not in self._behind:
            self._behind[key] = []  # under way, for a schema that is made of itself
            with suppress(OperationError):  # reported where it is read
                self._behind[key] = self._parts(self._documents.resolve(reference, base), depth + 1)
        return self._behind[key]
