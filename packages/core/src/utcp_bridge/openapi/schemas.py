"""Schemas of a description as self-contained JSON Schema: every reference leads into the schema's own `$defs`.

What a definition says is converted once for each direction and shared by all tools that reach it, so that a thousand
tools cost little more than the document itself. What only JSON Schema's older drafts spell differently is left to
`utcp_bridge.schema`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from utcp_bridge.openapi.nodes import Node, key_text, mapping, sequence
from utcp_bridge.openapi.polymorphism import Arm, Subtypes, distinguished
from utcp_bridge.openapi.references import DanglingReferenceError, Documents
from utcp_bridge.openapi.spellings import MOST_EXAMPLES, discriminating, is_container, short_examples, with_null
from utcp_bridge.openapi.visibility import Direction, Visibility

MAX_DEPTH: Final = 64
"""The most levels of subschemas without a reference between them."""

MAX_SIZE: Final[Mapping[Direction, int]] = {"input": 20_000, "output": 1_000}
"""The most subschemas that one tool's schema may have; definitions beyond that accept anything.

A reply's schema only describes, and one that reaches half of a large API helps nobody.
"""

_REFERENCE: Final = "#/$defs/"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_SCHEMAS = frozenset(
    {
        *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
        *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    }
)
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAPS = frozenset({"patternProperties", "properties", "dependentSchemas", "dependencies"})
# About the document rather than about values.
_DROPPED = frozenset(
    {
        *("$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary"),
        *("definitions", "externalDocs", "xml", "$ref", "$dynamicRef", "$recursiveRef", "discriminator"),
    }
)
# Before 3.1 nothing else beside a reference counts (OpenAPI 3.0.3, section 4.7.23.1); authors mean these all the same.
_BESIDE_REFERENCE = frozenset({"default", "deprecated", "description", "example", "nullable", "title", "x-nullable"})
_LEFT_OUT: Final = {"description": "Not described here, because the whole schema is very large."}
_NULLABLE = frozenset({"nullable", "x-nullable"})
# Containers elsewhere are dropped: in a keyword that nobody knows they may be schemas, whose references lead nowhere.
_ANY_VALUE = frozenset({"const", "default"})


@dataclass(frozen=True, slots=True)
class Schema:
    """A converted schema.

    Attributes:
        value: JSON Schema whose references lead to `#/$defs/<name>`.
        uses: The names that it refers to directly.
    """

    value: Any
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Definition:
    value: Any
    uses: tuple[str, ...]
    size: int


class SchemaReader:
    """Converts schemas of one direction: arguments are `"input"`, replies `"output"`.

    Args:
        documents: The documents.
        direction: `readOnly` properties are left out of inputs, `writeOnly` ones out of outputs.
        siblings_count: Whether keywords beside a `$ref` count, as they do since OpenAPI 3.1.

    Attributes:
        problems: What could not be read and accepts anything, in order of its appearance, each once.
    """

    def __init__(self, documents: Documents, direction: Direction, *, siblings_count: bool) -> None:
        self.problems: dict[str, None] = {}
        self._documents = documents
        self._direction = direction
        self._siblings_count = siblings_count
        self._subtypes = Subtypes(documents)
        self._visibility = Visibility(documents, direction)
        self._names: dict[tuple[int, str, bool], str] = {}
        self._taken: set[str] = set()
        self._waiting: dict[str, tuple[Node, bool]] = {}
        self._definitions: dict[str, _Definition] = {}
        self._closures: dict[tuple[str, ...], dict[str, Any]] = {}
        self._uses: dict[str, None] = {}
        self._size = 0

    def read(self, node: Node) -> Schema:
        """Convert a schema that stands on its own, such as a parameter's."""
        self._uses, self._size = {}, 0
        value = self._schema(node.value, node.base, 0)
        return Schema(value, tuple(self._uses))

    def hides(self, node: Node) -> bool:
        """Whether a property is left out in this direction."""
        return self._visibility.hides(node.value, node.base)

    def definitions(self, names: Iterable[str]) -> dict[str, Any]:
        """The `$defs` that schemas using these names need; shared, so do not change it."""
        wanted = tuple(sorted(set(names)))
        if wanted not in self._closures:
            self._closures[wanted] = self._closure(wanted)
        return self._closures[wanted]

    def _closure(self, names: tuple[str, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        waiting = deque(names)
        size = 0
        while waiting:
            name = waiting.popleft()
            if name in found:
                continue
            if size > MAX_SIZE[self._direction]:
                found[name] = _LEFT_OUT
                continue
            definition = self._definition(name)
            found[name] = definition.value
            size += definition.size
            waiting.extend(definition.uses)
        return found

    def _definition(self, name: str) -> _Definition:
        if name not in self._definitions:
            node, with_subtypes = self._waiting.pop(name)
            self._uses, self._size = {}, 0
            if with_subtypes:
                value: Any = self._with_subtypes(node)
            else:
                value = self._schema(node.value, node.base, 0, is_definition=True)
            self._definitions[name] = _Definition(value, tuple(self._uses), self._size)
        return self._definitions[name]

    # -- one schema

    def _schema(
        self,
        schema: Any,
        base: str,
        depth: int,
        *,
        is_definition: bool = False,
        hidden: frozenset[str] = frozenset(),
    ) -> Any:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
            if schema is not None:
                self.problems["a schema is nested too deeply, or is no object"] = None
            return {}
        self._size += 1
        base = self._documents.identified(schema, base) if self._siblings_count else base
        reference = schema.get("$ref")
        refers = isinstance(reference, str)
        if "properties" in schema or "allOf" in schema:
            hidden = hidden | self._visibility.hidden_names(schema, base)
        out: dict[str, Any] = {}
        for key, value in schema.items():
            keyword = key_text(key)
            if keyword in _DROPPED or (keyword.startswith("x-") and keyword != "x-nullable"):
                continue
            if refers and not self._siblings_count and keyword not in _BESIDE_REFERENCE:
                continue
            self._keyword(out, keyword, value, base, depth, is_definition=is_definition, hidden=hidden)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(schema.get(keyword), str):
                self._refer(out, schema[keyword], base)
        if "discriminator" in schema:
            self._discriminator(out, schema, base)
        return with_null(out) if schema.get("nullable") is True or schema.get("x-nullable") is True else out

    def _keyword(
        self,
        out: dict[str, Any],
        keyword: str,
        value: Any,
        base: str,
        depth: int,
        *,
        is_definition: bool,
        hidden: frozenset[str],
    ) -> None:
        if keyword == "properties":
            out[keyword] = {
                key_text(name): self._schema(child, base, depth + 1)
                for name, child in mapping(value).items()
                if not self._visibility.hides(child, base)
            }
        elif keyword == "required" and isinstance(value, list):
            if required := [name for name in value if isinstance(name, str) and name not in hidden]:
                out[keyword] = required
        elif keyword == "allOf":
            if arms := self._all_of(sequence(value), base, depth, is_definition=is_definition, hidden=hidden):
                out[keyword] = arms
        elif keyword in _LISTS:
            if arms := [self._schema(child, base, depth + 1) for child in sequence(value)]:
                out[keyword] = arms
        elif keyword in _MAPS:
            out[keyword] = {
                key_text(name): _names(child) if isinstance(child, list) else self._schema(child, base, depth + 1)
                for name, child in mapping(value).items()
            }
        elif keyword in _SCHEMAS:
            if isinstance(value, list):  # the tuple form of older drafts
                out[keyword] = [self._schema(child, base, depth + 1) for child in value]
            else:
                out[keyword] = self._schema(value, base, depth + 1)
        elif keyword in ("example", "examples"):
            if self._direction == "input" and (examples := short_examples(keyword, value)):
                out["examples"] = [*out.get("examples", []), *examples][:MOST_EXAMPLES]
        elif keyword == "type" and value == "file":  # Swagger 2.0
            out |= {"type": "string", "format": "binary"}
        elif keyword in _ANY_VALUE or (keyword == "enum" and value and isinstance(value, list)):
            out[keyword] = value
        elif keyword == "type" and isinstance(value, list):
            out[keyword] = _names(value)
        elif keyword == "dependentRequired":
            out[keyword] = {key: names for key, names in mapping(value).items() if isinstance(names, list)}
        elif keyword not in _NULLABLE and value is not None and not is_container(value):
            out[keyword] = value

    def _all_of(
        self, arms: list[Any], base: str, depth: int, *, is_definition: bool, hidden: frozenset[str]
    ) -> list[Any]:
        # A definition that builds on another means just that one; elsewhere a single reference is only a wrapping.
        extends = is_definition or len(arms) > 1
        converted: list[Any] = []
        for arm in arms:
            fields = mapping(arm)
            if extends and isinstance(fields.get("$ref"), str) and len(fields) == 1:
                out: dict[str, Any] = {}
                self._size += 1
                self._refer(out, fields["$ref"], base, as_base=True)
                converted.append(out)
            else:
                converted.append(self._schema(arm, base, depth + 1, hidden=hidden))
        return converted

    # -- references

    def _refer(self, out: dict[str, Any], reference: str, base: str, *, as_base: bool = False) -> None:
        try:
            node = self._documents.resolve(reference, base)
        except DanglingReferenceError as error:
            self.problems[str(error)] = None
            return
        if node.value is True or not isinstance(node.value, (Mapping, bool)):
            if node.value is not True:
                self.problems[f"the reference {reference!r} leads to something that is no schema"] = None
            return
        if node.value is False:
            out["not"] = {}
            return
        with_subtypes = self._direction == "input" and not as_base and self._subtypes.has(node)
        name = self._name(node, with_subtypes=with_subtypes)
        if "$ref" in out:
            out.setdefault("allOf", []).append({"$ref": _REFERENCE + name})
        else:
            out["$ref"] = _REFERENCE + name

    def _name(self, node: Node, *, with_subtypes: bool) -> str:
        key = id(node.value), node.base, with_subtypes
        name = self._names.get(key)
        if name is None:
            wanted = _UNSAFE.sub("_", node.name).strip("_") or "schema"
            if with_subtypes:
                wanted += "_any"
            name, number = wanted, 2
            while name in self._taken:
                name, number = f"{wanted}_{number}", number + 1
            self._names[key] = name
            self._taken.add(name)
            self._waiting[name] = node, with_subtypes
        self._uses[name] = None
        return name

    # -- discriminators

    def _discriminator(self, out: dict[str, Any], schema: Mapping[Any, Any], base: str) -> None:
        """Let the discriminator decide between the arms, as it is meant to (OpenAPI 3.0.3, section 4.7.25)."""
        tag = discriminating(schema["discriminator"])
        keyword = next((keyword for keyword in ("oneOf", "anyOf") if keyword in out), None)
        if tag is None or keyword is None or self._direction == "output":
            return
        arms = self._subtypes.arms(schema[keyword], schema["discriminator"], base)
        converted, all_told_apart = distinguished(list(zip(arms, out.get(keyword, ()), strict=False)), tag)
        if len(converted) != len(out.get(keyword, ())):
            return
        del out[keyword]
        # Arms that cannot be told apart would all fit one value, and `oneOf` would refuse it.
        out[keyword if all_told_apart else "anyOf"] = converted

    def _with_subtypes(self, node: Node) -> dict[str, Any]:
        """A schema that others build on, for a place where any of them may stand."""
        tag = discriminating(node.fields["discriminator"]) or ""
        arms: list[tuple[Arm, Any]] = []
        for arm in self._subtypes.of(node):
            with_subtypes = arm.node.value is not node.value and self._subtypes.has(arm.node)
            arms.append((arm, {"$ref": _REFERENCE + self._name(arm.node, with_subtypes=with_subtypes)}))
        converted, _ = distinguished(arms, tag)
        self._size += len(converted)
        tags = [value for arm, _ in arms for value in arm.tags]
        if not self._subtypes.covers(node, tag, tags):
            own = {"$ref": _REFERENCE + self._name(node, with_subtypes=False)}
            converted.append({**own, "properties": {tag: {"not": {"enum": tags}}}})
        description = node.fields.get("description")
        return {**({"description": description} if isinstance(description, str) else {}), "anyOf": converted}


def _names(value: list[Any]) -> list[str]:
    return [name for name in value if isinstance(name, str)]
