"""Which properties a direction leaves out: `readOnly` ones an argument, `writeOnly` ones a reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from utcp_bridge.openapi.nodes import key_text, mapping, sequence
from utcp_bridge.openapi.references import DanglingReferenceError, Documents

Direction = Literal["input", "output"]

_HIDDEN: Mapping[Direction, str] = {"input": "readOnly", "output": "writeOnly"}
_MAX_DEPTH = 64


class Visibility:
    """Knows what is left out in one direction.

    Args:
        documents: The documents.
        direction: Arguments are `"input"`, replies `"output"`.
    """

    def __init__(self, documents: Documents, direction: Direction) -> None:
        self._documents = documents
        self._keyword = _HIDDEN[direction]
        self._known: dict[tuple[int, str], frozenset[str]] = {}
        self._kept: list[Any] = []  # alive, so that their identities stay theirs

    def hides(self, schema: Any, base: str) -> bool:
        """Whether a property of this schema is left out."""
        fields = mapping(schema)
        if fields.get(self._keyword) is True:
            return True
        reference = fields.get("$ref")
        if not isinstance(reference, str):
            return False
        try:
            return self._documents.resolve(reference, base).fields.get(self._keyword) is True
        except DanglingReferenceError:
            return False

    def hidden_names(self, schema: Any, base: str, depth: int = 0) -> frozenset[str]:
        """The properties that an object schema leaves out, also through references and `allOf`."""
        key = id(schema), base
        if key not in self._known and depth < _MAX_DEPTH:
            self._known[key] = frozenset()  # under way, for a schema that contains itself
            self._kept.append(schema)
            fields = mapping(schema)
            properties = mapping(fields.get("properties")).items()
            names = {key_text(name) for name, child in properties if self.hides(child, base)}
            for arm in sequence(fields.get("allOf")):
                names |= self.hidden_names(arm, base, depth + 1)
            reference = fields.get("$ref")
            if isinstance(reference, str):
                names |= self._names_behind(reference, base, depth + 1)
            self._known[key] = frozenset(names)
        return self._known.get(key, frozenset())

    def _names_behind(self, reference: str, base: str, depth: int) -> frozenset[str]:
        try:
            target = self._documents.resolve(reference, base)
        except DanglingReferenceError:
            return frozenset()  # reported where it is read
        return self.hidden_names(target.value, target.base, depth)
