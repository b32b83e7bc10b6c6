"""Which properties a direction leaves out: `readOnly` ones an argument, `writeOnly` ones a reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from utcp_bridge.openapi.nodes import Node, key_text, mapping, sequence
from utcp_bridge.openapi.objects import object_view
from utcp_bridge.openapi.references import DanglingReferenceError, Documents

Direction = Literal["input", "output"]

_HIDDEN: Mapping[Direction, str] = {"input": "readOnly", "output": "writeOnly"}
_MAX_DEPTH = 64
_MOST_STEPS = 32
_CHOICES = frozenset({"anyOf", "oneOf"})
_COMPOSING = frozenset({"$ref", "allOf", "anyOf", "oneOf", "properties"})
_NONE: Final = frozenset[str]()


class Visibility:
    """Knows what is left out in one direction.

    Args:
        documents: The documents.
        direction: Arguments are `"input"`, replies `"output"`.
    """

    def __init__(self, documents: Documents, direction: Direction) -> None:
        self._documents = documents
        self._keyword = _HIDDEN[direction]
        self._hidden_targets: dict[tuple[str, str], bool] = {}
        self._known: dict[tuple[int, str], frozenset[str]] = {}
        self._kept: list[Any] = []  # alive, so that their identities stay theirs

    def hides(self, schema: Any, base: str) -> bool:
        """Whether a property of this schema is left out, also if only what it is made of says so."""
        fields = mapping(schema)
        if "$ref" not in fields and "allOf" not in fields:
            return fields.get(self._keyword) is True
        reference = fields.get("$ref")
        if len(fields) > 1 or not isinstance(reference, str):
            return self._any_hides(Node(schema, base))
        key = reference, base
        if key not in self._hidden_targets:
            self._hidden_targets[key] = self._any_hides(Node(schema, base))
        return self._hidden_targets[key]

    def _any_hides(self, node: Node) -> bool:
        waiting = [node]
        for _ in range(_MOST_STEPS):
            if not waiting:
                break
            node = waiting.pop()
            if node.fields.get(self._keyword) is True:
                return True
            waiting += [Node(arm, node.base) for arm in sequence(node.fields.get("allOf"))]
            reference = node.fields.get("$ref")
            if isinstance(reference, str):
                try:
                    waiting.append(self._documents.resolve(reference, node.base))
                except DanglingReferenceError:
                    continue  # reported where it is read
        return False

    def hidden_names(self, schema: Any, base: str, depth: int = 0) -> frozenset[str]:
        """The properties that an object schema leaves out, also through references and `allOf`."""
        if _COMPOSING.isdisjoint(mapping(schema)):
            return _NONE
        key = id(schema), base
        if key not in self._known and depth < _MAX_DEPTH:
            self._known[key] = frozenset()  # under way, for a schema that contains itself
            self._kept.append(schema)
            fields = mapping(schema)
            properties = mapping(fields.get("properties"))
            names = {key_text(name) for name in properties if self.hides(properties[name], base)}
            for arm in sequence(fields.get("allOf")):
                names |= self.hidden_names(arm, base, depth + 1)
            for keyword in _CHOICES & fields.keys():
                # Each of them leaves it out, or does not know it.
                arms = sequence(fields.get(keyword))
                hidden = frozenset[str]().union(*(self.hidden_names(arm, base, depth + 1) for arm in arms))
                names |= hidden - self._shown_names(arms, base) if hidden else hidden
            reference = fields.get("$ref")
            if isinstance(reference, str):
                names |= self._names_behind(reference, base, depth + 1)
            self._known[key] = frozenset(names)
        return self._known.get(key, _NONE)

    def _shown_names(self, arms: list[Any], base: str) -> set[str]:
        names: set[str] = set()
        for arm in arms:
            view = object_view(self._documents, Node(arm, base))
            names |= {name for name, node in view.properties.items() if not self.hides(node.value, node.base)}
        return names

    def _names_behind(self, reference: str, base: str, depth: int) -> frozenset[str]:
        try:
            target = self._documents.resolve(reference, base)
        except DanglingReferenceError:
            return frozenset()  # reported where it is read
        return self.hidden_names(target.value, target.base, depth)
