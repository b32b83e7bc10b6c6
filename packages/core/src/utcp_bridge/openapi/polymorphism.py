"""Discriminators: which schemas may stand for another, and by which value each of them is known.

OpenAPI 3.0.3, section 4.7.25, and Swagger 2.0, "discriminator" of the Schema Object.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from utcp_bridge.openapi.nodes import Node, key_text, mapping, sequence
from utcp_bridge.openapi.references import DanglingReferenceError, Documents

MAX_SUBTYPES: Final = 50
"""Schemas with more subtypes are shown without them: nobody could choose from such a list."""

_MOST_STEPS = 16
_URL_LIKE = re.compile(r"[#./]")


@dataclass(frozen=True, slots=True)
class Arm:
    """One schema of several that a discriminator decides between.

    Attributes:
        node: The schema; of None where it stands there itself, without a name.
        tags: The values of the discriminating property that mean this one.
        allowed: The values that the schema itself allows for the property; None if it does not say.
        is_default: Whether it is meant, too, where the property is missing or has an unknown value (`defaultMapping`
            of OpenAPI 3.2).
    """

    node: Node
    tags: tuple[str, ...]
    allowed: tuple[Any, ...] | None = None
    is_default: bool = False


class Subtypes:
    """Knows which schemas of the documents build on which others."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def has(self, node: Node) -> bool:
        """Whether a schema has a discriminator and leaves the choice to those that build on it."""
        fields = node.fields
        if "discriminator" not in fields or "oneOf" in fields or "anyOf" in fields:
            return False
        return _property(fields["discriminator"]) is not None and 0 < len(self.of(node)) <= MAX_SUBTYPES

    def of(self, node: Node) -> list[Arm]:
        """The schemas that build on one, and what its discriminator calls them."""
        discriminator = node.fields.get("discriminator")
        tag = _property(discriminator) or ""
        mapped = self._mapped(discriminator, node.base)
        children = {id(child.value): child for child in self._descendants(node)}
        default = self._default(discriminator, node.base)
        for target in (*(target for target, _ in mapped.values()), *([default] if default else [])):
            children.setdefault(id(target.value), target)
        return [self._arm(child, tag, mapped, default) for child in children.values()]

    def arms(self, schemas: Sequence[Any], discriminator: Any, base: str) -> list[Arm]:
        """What the discriminator calls each schema of a `oneOf` or `anyOf`."""
        tag = _property(discriminator) or ""
        mapped, default = self._mapped(discriminator, base), self._default(discriminator, base)
        found: list[Arm] = []
        for schema in schemas:
            reference = mapping(schema).get("$ref")
            try:
                node = self._documents.resolve(reference, base) if isinstance(reference, str) else Node(None, base)
            except DanglingReferenceError:
                node = Node(None, base)
            if node.value is None:
                found.append(Arm(node, (), self._allowed(Node(schema, base), tag)))
            else:
                found.append(self._arm(node, tag, mapped, default))
        return found

    def covers(self, node: Node, tag: str, tags: Sequence[str]) -> bool:
        """Whether these tags are all that a schema allows for its discriminating property."""
        allowed = self._allowed(node, tag)
        return allowed is not None and set(map(str, allowed)) <= set(tags)

    def _arm(self, node: Node, tag: str, mapped: Mapping[int, tuple[Node, list[str]]], default: Node | None) -> Arm:
        tags = mapped[id(node.value)][1] if id(node.value) in mapped else [node.name]
        is_default = default is not None and default.value is node.value
        return Arm(node, tuple(tags), self._allowed(node, tag), is_default)

    def _default(self, discriminator: Any, base: str) -> Node | None:
        target = mapping(discriminator).get("defaultMapping")
        return self._target(target, base) if isinstance(target, str) else None

    def _mapped(self, discriminator: Any, base: str) -> dict[int, tuple[Node, list[str]]]:
        found: dict[int, tuple[Node, list[str]]] = {}
        for value, target in mapping(mapping(discriminator).get("mapping")).items():
            node = self._target(target, base) if isinstance(target, str) else None
            if node is not None:
                found.setdefault(id(node.value), (node, []))[1].append(key_text(value))
        return found

    def _target(self, target: str, base: str) -> Node | None:
        if target in self._schemas:  # a bare name
            return self._schemas[target]
        if not _URL_LIKE.search(target):
            return None
        try:
            node = self._documents.resolve(target, base)
        except DanglingReferenceError:
            return None
        return node if isinstance(node.value, Mapping) else None

    def _allowed(self, node: Node, tag: str) -> tuple[Any, ...] | None:
        for fields in self._in_place(node):
            found = mapping(mapping(fields.value.get("properties")).get(tag))
            if isinstance(found.get("$ref"), str):
                try:
                    found = self._documents.follow(Node(found, fields.base)).fields
                except DanglingReferenceError:
                    continue
            if "const" in found:
                return (found["const"],)
            if isinstance(found.get("enum"), list):
                return tuple(found["enum"])
        return None

    def _in_place(self, node: Node) -> Iterator[Node]:
        """A schema and what it builds on, nearest first."""
        waiting, steps = [node], 0
        while waiting and steps < _MOST_STEPS:
            steps += 1
            current = waiting.pop(0)
            reference = current.fields.get("$ref")
            if isinstance(reference, str):
                try:
                    waiting.append(self._documents.resolve(reference, current.base))
                except DanglingReferenceError:
                    continue
            if isinstance(current.value, Mapping):
                yield current
                waiting.extend(Node(arm, current.base) for arm in sequence(current.value.get("allOf")))

    def _descendants(self, node: Node) -> Iterator[Node]:
        seen = {id(node.value)}
        waiting = [node]
        while waiting:
            for child in self._children[id(waiting.pop(0).value)]:
                if id(child.value) not in seen:
                    seen.add(id(child.value))
                    waiting.append(child)
                    yield child

    @cached_property
    def _schemas(self) -> dict[str, Node]:
        return dict(_components(self._documents.root))

    def _all_schemas(self) -> Iterator[Node]:
        main, *others = self._documents.roots
        yield from (node for _, node in _components(main))
        for root in others:
            yield from (node for _, node in _components(root))
            # Beside the main document stand whole schemas, too, and lists of them without a heading.
            yield Node(root.value, root.base, root.base.rpartition("/")[2].partition(".")[0])
            yield from (node for _, node in root.items())

    @cached_property
    def _children(self) -> Mapping[int, list[Node]]:
        children: dict[int, list[Node]] = defaultdict(list)
        for node in self._all_schemas():
            for arm in sequence(node.fields.get("allOf")):
                reference = mapping(arm).get("$ref")
                if isinstance(reference, str):
                    try:
                        children[id(self._documents.resolve(reference, node.base).value)].append(node)
                    except DanglingReferenceError:
                        continue
        return children


def _components(root: Node) -> Iterator[tuple[str, Node]]:
    owner = root.get("components").get("schemas") if "components" in root.fields else root.get("definitions")
    return owner.items()


def distinguished(arms: Sequence[tuple[Arm, Any]], tag: str) -> tuple[list[Any], bool]:
    """Write into each converted arm the values of the discriminating property that mean it.

    Args:
        arms: What is known of each arm, and its converted schema.
        tag: The name of the discriminating property.

    Returns:
        The schemas, and whether no value can fit more than one of them by accident.
    """
    written: list[Any] = []
    all_told_apart = True
    for arm, schema in arms:
        tags = [value for value in arm.tags if arm.allowed is None or value in arm.allowed]
        if arm.allowed is not None and len(arm.allowed) == 1:
            written.append(schema)
        elif arm.is_default and isinstance(schema, dict) and "properties" not in schema:
            others = [value for other, _ in arms if other is not arm for value in other.tags]
            written.append({**schema, "properties": {tag: {"not": {"enum": others}}}} if others else schema)
        elif tags and isinstance(schema, dict) and "properties" not in schema:
            wanted = {"const": tags[0]} if len(tags) == 1 else {"enum": tags}
            written.append({**schema, "properties": {tag: wanted}, "required": [tag]})
        else:
            all_told_apart = all_told_apart and isinstance(schema, dict) and schema.get("type") == "null"
            written.append(schema)
    return written, all_told_apart


def _property(discriminator: Any) -> str | None:
    name = discriminator if isinstance(discriminator, str) else mapping(discriminator).get("propertyName")
    return name if isinstance(name, str) else None
