"""Schemas of a description as self-contained JSON Schema: every reference leads into the schema's own `$defs`.

What a definition says is converted once for each direction and shared by all tools that reach it, so that a thousand
tools cost little more than the document itself. What only JSON Schema's older drafts spell differently is left to
`utcp_bridge.schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from utcp_bridge.openapi.alternatives import Alternatives
from utcp_bridge.openapi.composition import Compositions
from utcp_bridge.openapi.definitions import Definition, Definitions, Form
from utcp_bridge.openapi.nodes import Node, is_container, key_text, mapping, sequence
from utcp_bridge.openapi.objects import object_view
from utcp_bridge.openapi.polymorphism import Arm, Subtypes, distinguished
from utcp_bridge.openapi.references import DanglingReferenceError, Documents
from utcp_bridge.openapi.spellings import (
    MOST_EXAMPLES,
    discriminating,
    fitting,
    short_examples,
    with_null,
)
from utcp_bridge.openapi.visibility import Direction, Visibility

MAX_DEPTH: Final = 64
"""The most levels of subschemas without a reference between them."""

MAX_SIZE: Final[Mapping[Direction, int]] = {"input": 20_000, "output": 1_000}
"""The most subschemas that one tool's schema may have; definitions beyond that accept anything.

A reply's schema only describes, and one that reaches half of a large API helps nobody.
"""

_REFERENCE: Final = "#/$defs/"
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
_CHOICES = frozenset({"anyOf", "oneOf"})
_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties"})
_COMPOSED = frozenset({"allOf", "anyOf", "oneOf", "properties"})
_ELSEWHERE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "patternProperties"})
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


class _Place(NamedTuple):
    """Where a schema stands, and what that means for its keywords."""

    base: str
    depth: int
    is_definition: bool = False
    hidden: frozenset[str] = frozenset()
    opened: bool = False


class SchemaReader:
    """Converts schemas of one direction: arguments are `"input"`, replies `"output"`.

    Args:
        documents: The documents.
        direction: `readOnly` properties are left out of inputs, `writeOnly` ones out of outputs.
        siblings_count: Whether keywords beside a `$ref` count, as they do since OpenAPI 3.1.

    Attributes:
        problems: What could not be read and accepts anything, in order of its appearance, each once.
        kept: Schemas of parameters, which many operations refer to, by the identity and the location of each.
    """

    def __init__(self, documents: Documents, direction: Direction, *, siblings_count: bool) -> None:
        self.problems: dict[str, None] = {}
        self.kept: dict[tuple[int, str], tuple[Any, Schema]] = {}
        self._documents = documents
        self._direction = direction
        self._siblings_count = siblings_count
        self._subtypes = Subtypes(documents)
        self._visibility = Visibility(documents, direction)
        self._alternatives = Alternatives(documents)
        self._compositions = Compositions(documents)
        self._definitions = Definitions(self._definition, MAX_SIZE[direction])
        self._uses: dict[str, None] = {}
        self._size = 0

    def read(self, node: Node) -> Schema:
        """Convert a schema that stands on its own, such as a parameter's."""
        self._uses, self._size = {}, 0
        value = self._schema(node.value, _Place(node.base, 0))
        return Schema(value, tuple(self._uses))

    def hides(self, node: Node) -> bool:
        """Whether a property is left out in this direction."""
        return self._visibility.hides(node.value, node.base)

    def hides_all(self, node: Node) -> bool:
        """Whether a schema is that of an object of which this direction leaves out every property."""
        view = object_view(self._documents, node)
        return bool(view.properties) and not view.is_open and all(map(self.hides, view.properties.values()))

    def definitions(self, names: Iterable[str]) -> dict[str, Any]:
        """The `$defs` that schemas using these names need; shared, so do not change it."""
        return self._definitions.needed_by(names)

    def _definition(self, node: Node, form: Form) -> Definition:
        self._uses, self._size = {}, 0
        if form.with_subtypes:
            value: Any = self._with_subtypes(node)
        else:
            value = self._schema(node.value, _Place(node.base, 0, is_definition=True, opened=form.opened))
        return Definition(value, tuple(self._uses), self._size)

    # -- one schema

    def _schema(self, schema: Any, place: _Place) -> Any:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping) or place.depth > MAX_DEPTH:
            if schema is not None:
                self.problems["a schema is nested too deeply, or is no object"] = None
            return {}
        self._size += 1
        base = self._documents.identified(schema, place.base) if self._siblings_count else place.base
        refers = isinstance(schema.get("$ref"), str)
        hidden, is_whole = place.hidden, False
        if not _COMPOSED.isdisjoint(schema):
            hidden |= self._visibility.hidden_names(schema, base)
            is_whole = not place.opened and self._is_in_conflict(schema, base)
        inner = _Place(base, place.depth, place.is_definition, hidden, place.opened or is_whole)
        out: dict[str, Any] = {}
        for key, value in fitting(schema).items():
            keyword = key_text(key)
            if keyword in _DROPPED or (keyword.startswith("x-") and keyword != "x-nullable"):
                continue
            if refers and not self._siblings_count and keyword not in _BESIDE_REFERENCE:
                continue
            self._keyword(out, keyword, value, inner)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(schema.get(keyword), str):
                self._refer(out, schema[keyword], base, opened=inner.opened)
        if "discriminator" in schema:
            self._discriminator(out, schema, base)
        elif self._is_ambiguous(schema, out, base):
            out = {"anyOf" if key == "oneOf" else key: value for key, value in out.items()}
        if is_whole:
            out["unevaluatedProperties"] = False
        elif out.get("additionalProperties") is False and "required" in out and _ELSEWHERE.isdisjoint(out):
            # What cannot be there cannot be needed; no object would fit.
            out["required"] = [name for name in out["required"] if name in out.get("properties", ())]
        return with_null(out) if schema.get("nullable") is True or schema.get("x-nullable") is True else out

    def _is_ambiguous(self, schema: Mapping[Any, Any], out: Mapping[str, Any], base: str) -> bool:
        if self._direction == "output" or "oneOf" not in out or "anyOf" in out:
            return False
        return self._alternatives.overlap(sequence(schema["oneOf"]), base)

    def _is_in_conflict(self, schema: Mapping[Any, Any], base: str) -> bool:
        if self._direction == "output" or not ("allOf" in schema or "oneOf" in schema or "anyOf" in schema):
            return False
        return self._compositions.refuses_its_parts(Node(schema, base))

    def _keyword(self, out: dict[str, Any], keyword: str, value: Any, place: _Place) -> None:
        below = _Place(place.base, place.depth + 1)
        if keyword == "properties":
            out[keyword] = {
                key_text(name): self._schema(child, below)
                for name, child in mapping(value).items()
                if not self._visibility.hides(child, place.base)
            }
        elif keyword == "required" and isinstance(value, list):
            if required := [name for name in value if isinstance(name, str) and name not in place.hidden]:
                out[keyword] = required
        elif keyword == "allOf":
            if arms := self._all_of(sequence(value), place):
                out[keyword] = arms
        elif keyword in _LISTS:
            beside = _Place(place.base, place.depth + 1, opened=place.opened and keyword in _CHOICES)
            if arms := [self._schema(child, beside) for child in sequence(value)]:
                out[keyword] = arms
        elif keyword in _MAPS:
            out[keyword] = {
                key_text(name): _names(child) if isinstance(child, list) else self._schema(child, below)
                for name, child in mapping(value).items()
            }
        elif keyword in _SCHEMAS:
            if isinstance(value, list):  # the tuple form of older drafts
                out[keyword] = [self._schema(child, below) for child in value]
            elif not (place.opened and keyword in _CLOSING and value is False):
                out[keyword] = self._schema(value, below)
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

    def _all_of(self, arms: list[Any], place: _Place) -> list[Any]:
        # A definition that builds on another means just that one; elsewhere a single reference is only a wrapping.
        extends = place.is_definition or len(arms) > 1
        converted: list[Any] = []
        for arm in arms:
            fields = mapping(arm)
            if extends and isinstance(fields.get("$ref"), str) and len(fields) == 1:
                out: dict[str, Any] = {}
                self._size += 1
                self._refer(out, fields["$ref"], place.base, as_base=True, opened=place.opened)
                converted.append(out)
            else:
                inner = _Place(place.base, place.depth + 1, hidden=place.hidden, opened=place.opened)
                converted.append(self._schema(arm, inner))
        return converted

    # -- references

    def _refer(
        self, out: dict[str, Any], reference: str, base: str, *, as_base: bool = False, opened: bool = False
    ) -> None:
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
        with_subtypes = self._direction == "input" and not as_base and not opened and self._subtypes.has(node)
        name = self._name(node, Form(with_subtypes, opened))
        if "$ref" in out:
            out.setdefault("allOf", []).append({"$ref": _REFERENCE + name})
        else:
            out["$ref"] = _REFERENCE + name

    def _name(self, node: Node, form: Form) -> str:
        name = self._definitions.name(node, form)
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
            arms.append((arm, {"$ref": _REFERENCE + self._name(arm.node, Form(with_subtypes))}))
        converted, _ = distinguished(arms, tag)
        self._size += len(converted)
        tags = [value for arm, _ in arms for value in arm.tags]
        if not self._subtypes.covers(node, tag, tags):
            own: dict[str, Any] = {"$ref": _REFERENCE + self._name(node, Form())}
            if any(arm.is_default for arm, _ in arms):  # an unknown tag means that one
                own |= {"properties": {tag: {"const": node.name}}, "required": [tag]}
            else:
                own["properties"] = {tag: {"not": {"enum": tags}}}
            converted.append(own)
        description = node.fields.get("description")
        return {**({"description": description} if isinstance(description, str) else {}), "anyOf": converted}


def _names(value: list[Any]) -> list[str]:
    return [name for name in value if isinstance(name, str)]
