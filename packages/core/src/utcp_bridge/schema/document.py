"""One schema document: its resources, anchors and pointers, and what a reference in it points to.

Follows JSON Schema 2020-12 core, sections 8.2 (identifiers and anchors) and 8.2.3 (references), and the older
drafts where they differ.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from utcp_bridge.schema.dialect import (
    DEFINITION_KEYWORDS,
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
    Draft,
    declared_draft,
)
from utcp_bridge.schema.plain import MAX_DEPTH

RECURSIVE = "$recursiveAnchor"
"""The name under which 2019-09's nameless recursive anchors are kept; no author's anchor can have it."""

_MAPS = SCHEMA_MAP_KEYWORDS | DEFINITION_KEYWORDS | {"dependencies"}
_LISTS = SCHEMA_LIST_KEYWORDS | {"items"}
_SINGLES = SCHEMA_KEYWORDS | {"items", "additionalItems"}


@dataclass(frozen=True, slots=True)
class Place:
    """A subschema and what its position means for it.

    Attributes:
        schema: The subschema as the author wrote it, a mapping or a boolean.
        pointer: Its JSON pointer (RFC 6901) from the root of its document.
        base: The URI of the resource that it belongs to, its own `$id` applied.
        draft: The draft that it is written in.
    """

    schema: Any
    pointer: str
    base: str
    draft: Draft

    @property
    def key(self) -> tuple[int, str]:
        """Tells places apart; the document keeps its objects alive, so their identities are stable."""
        return id(self.schema), self.base

    def child(self, schema: Any, *tokens: str | int) -> Place:
        """Go to a subschema below this one."""
        return _placed(schema, self.pointer + "".join(f"/{escape(token)}" for token in tokens), self.base, self.draft)


def escape(token: str | int) -> str:
    """Write one token of a JSON pointer (RFC 6901, section 3)."""
    return str(token).replace("~", "~0").replace("/", "~1")


def _placed(schema: Any, pointer: str, base: str, draft: Draft) -> Place:
    if not isinstance(schema, Mapping):
        return Place(schema, pointer, base, draft)
    identifier = _identifier(schema, draft)
    if identifier is not None or not pointer:
        # Only a resource may change the dialect, and its dialect decides how its identifier is spelt.
        declared = declared_draft(schema.get("$schema"))
        if declared is not None and declared != draft:
            draft = declared
            identifier = _identifier(schema, draft)
    else:
        declared = declared_draft(schema.get("$schema"))
        if declared is not None and (identifier := _identifier(schema, declared)) is not None:
            draft = declared
    return Place(schema, pointer, _join(base, identifier) if identifier else base, draft)


def _identifier(schema: Mapping[str, Any], draft: Draft) -> str | None:
    identifier = schema.get("id" if draft == Draft.D4 else "$id")
    if not isinstance(identifier, str) or (draft <= Draft.D7 and "$ref" in schema):
        return None
    address, _ = urldefrag(identifier)
    return address or None


def _join(base: str, reference: str) -> str:
    # urljoin knows no URNs, and needs to know none: a URN cannot be resolved against.
    return urljoin(base, reference) or reference


@dataclass(slots=True)
class _Index:
    resources: dict[str, Place]
    anchors: dict[tuple[str, str], Place]
    dynamic: dict[str, dict[str, Place]]


class Document:
    """A schema document, able to tell what its references point to."""

    def __init__(self, schema: Any) -> None:
        self.root = _placed(schema, "", "", Draft.D2020)

    def resolve(self, place: Place, reference: str) -> Place | None:
        """Find what a reference at a place points to; None if that is not in the document."""
        if reference.startswith("#"):
            address, fragment = place.base, reference[1:]
        else:
            address, fragment = urldefrag(_join(place.base, reference))
        if address == self.root.base:
            resource: Place | None = self.root
        else:
            resource = self._index.resources.get(address) or _metaschema(address)
        if resource is None:
            return None
        fragment = unquote(fragment)
        if not fragment:
            return resource
        if fragment.startswith("/"):
            return _by_pointer(resource, fragment)
        return self._index_of(resource).anchors.get((resource.base, fragment))

    def outermost(self, place: Place, name: str, scope: tuple[str, ...]) -> Place:
        """Follow a dynamic reference: the outermost resource in scope that has this dynamic anchor decides."""
        if name not in self.dynamic_anchors(place.base):
            return place
        for base in scope:
            if (found := self.dynamic_anchors(base).get(name)) is not None:
                return found
        return place

    def dynamic_anchors(self, base: str) -> Mapping[str, Place]:
        """Tell the dynamic anchors of a resource by name."""
        resource = self._index.resources.get(base) or _metaschema(base)
        return {} if resource is None else self._index_of(resource).dynamic.get(base, {})

    @functools.cached_property
    def _index(self) -> _Index:
        return _indexed(self.root)

    def _index_of(self, resource: Place) -> _Index:
        return self._index if resource.base in self._index.resources else _metaschema_index(resource.base)


def _indexed(root: Place) -> _Index:
    index = _Index({root.base: root}, {}, {})
    seen: set[int] = set()
    stack = [(root, 0)]
    while stack:
        place, depth = stack.pop()
        schema = place.schema
        if not isinstance(schema, Mapping) or id(schema) in seen or depth > 2 * MAX_DEPTH:
            continue
        seen.add(id(schema))
        if _identifier(schema, place.draft) is not None:
            index.resources.setdefault(place.base, place)
        for name in _anchors(schema, place.draft):
            index.anchors.setdefault((place.base, name), place)
        dynamic = "" if schema.get("$recursiveAnchor") is not True or place.draft != Draft.D2019 else RECURSIVE
        if place.draft >= Draft.D2020 and isinstance(schema.get("$dynamicAnchor"), str):
            dynamic = schema["$dynamicAnchor"]
        if dynamic:
            index.dynamic.setdefault(place.base, {}).setdefault(dynamic, place)
        stack.extend((child, depth + 1) for child in _children(place))
    return index


def _anchors(schema: Mapping[str, Any], draft: Draft) -> Iterator[str]:
    if draft >= Draft.D2019:
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                yield schema[keyword]
    # The form of the drafts before 2019-09, which newer ones forbid.
    identifier = schema.get("id" if draft == Draft.D4 else "$id")
    if isinstance(identifier, str) and "#" in identifier and not (draft <= Draft.D7 and "$ref" in schema):
        yield urldefrag(identifier).fragment


def _children(place: Place) -> Iterator[Place]:
    for keyword, value in place.schema.items():
        if keyword in _MAPS and isinstance(value, Mapping):
            for name, child in value.items():
                yield place.child(child, keyword, name)
        elif keyword in _LISTS and isinstance(value, list | tuple):
            for index, child in enumerate(value):
                yield place.child(child, keyword, index)
        elif keyword in _SINGLES:
            yield place.child(value, keyword)


def _by_pointer(resource: Place, pointer: str) -> Place | None:
    place, value = resource, resource.schema
    holds_schemas = True  # whether `value` is a schema, so that an `$id` in it counts
    path: list[str] = []
    for token in (part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")):
        keyword = path[-1] if path else ""
        path.append(token)
        if isinstance(value, Mapping):
            if token not in value:
                return None
            value = value[token]
            is_schema = token in _SINGLES if holds_schemas else keyword in _MAPS
        elif isinstance(value, list | tuple):
            if not token.isdecimal() or int(token) >= len(value):
                return None
            value = value[int(token)]
            is_schema = keyword in _LISTS
        else:
            return None
        holds_schemas = is_schema and isinstance(value, Mapping)
        if holds_schemas:
            place = place.child(value, *path)
            path = []
    if path:
        place = place.child(value, *path)
    return place if isinstance(place.schema, Mapping | bool) else None


@functools.cache
def _metaschema(uri: str) -> Place | None:
    if "json-schema.org/" not in uri:
        return None
    # Loaded only for the rare schema that refers to a metaschema, the one kind of remote document that we know.
    # The package holds nothing but those and is a dependency of `jsonschema`.
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    resource = REGISTRY.get(uri) or REGISTRY.get(f"{uri}#")
    if resource is None:
        return None
    draft = declared_draft(resource.contents.get("$schema")) or Draft.D2020
    return Place(resource.contents, "", uri, draft)


@functools.cache
def _metaschema_index(uri: str) -> _Index:
    place = _metaschema(uri)
    return _Index({}, {}, {}) if place is None else _indexed(place)
