"""A schema document made self-contained, in one dialect: draft 2020-12 with plain references into `$defs`.

Identifiers, anchors and dynamic references are resolved away, so that what is left means the same wherever it
stands. What cannot be read is opened to "anything" at its place and reported; nothing raises.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from utcp_bridge.schema.bundled import DEFINITION_REF, ROOT_REF, definition_name, is_annotation
from utcp_bridge.schema.dialect import (
    IDENTITY_KEYWORDS,
    NULL_HAS_MEANING,
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    SCHEMA_MAP_KEYWORDS,
    SINCE,
    VALUE_READERS,
    Draft,
    UnreadableError,
    any_value,
)
from utcp_bridge.schema.document import Document, Place, escape
from utcp_bridge.schema.keywords import SPECIAL, with_null
from utcp_bridge.schema.openings import open_loops, soften
from utcp_bridge.schema.plain import key_text

MAX_SCHEMA_DEPTH = 64
"""The most levels of subschemas without a reference between them; Python's own recursion bears about 130."""

MAX_SCHEMAS = 100_000
"""The most subschemas that one tool may have; YAML aliases can make a small file hold billions."""

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_KNOWN = frozenset(VALUE_READERS) | SCHEMA_KEYWORDS | SCHEMA_LIST_KEYWORDS | SCHEMA_MAP_KEYWORDS | frozenset(SPECIAL)


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """Something in a schema that could not be read, and was opened to "anything".

    Attributes:
        pointer: Where, as a JSON pointer (RFC 6901) into the author's schema; empty for the root.
        reason: What is wrong there, in words for the tool's author.
    """

    pointer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pointer or 'the root'}: {self.reason}"


@dataclass(slots=True)
class Bundle:
    """A self-contained schema before its root is given the form of an arguments schema.

    Attributes:
        root: The author's root.
        definitions: What its references point to, by name.
        problems: What could not be read.
        opened: The schemas in it that something was left out of, by their identities.
    """

    root: dict[str, Any] | bool
    definitions: dict[str, Any]
    problems: list[SchemaProblem]
    opened: dict[int, Any]

    def target(self, reference: str) -> Any:
        """Give what a reference of the bundle points to."""
        return self.definitions[name] if (name := definition_name(reference)) else self.root


def bundle(schema: Any) -> Bundle:
    """Make a schema self-contained, in draft 2020-12."""
    made = _Bundler(Document(schema)).run()
    made.problems += [SchemaProblem("", reason) for reason in open_loops(made)]
    soften((made.root, *made.definitions.values()), made.opened, made.target)
    return made


@dataclass(slots=True)
class Entry:
    """One subschema on its way through the bundler.

    Attributes:
        place: Where it stands.
        scope: The resources entered on the way to it, outermost first (2020-12 core, section 7.1).
        out: What is written of it.
        also: Schemas that must hold beside it, for what one schema object cannot say twice.
        is_opened: Whether something of it could not be read.
    """

    place: Place
    scope: tuple[str, ...]
    depth: int
    _bundler: _Bundler
    out: dict[str, Any] = field(default_factory=dict)
    also: list[Any] = field(default_factory=list)
    is_opened: bool = False

    @property
    def draft(self) -> Draft:
        """The draft that it is written in."""
        return self.place.draft

    @property
    def document(self) -> Document:
        """The document that it is part of."""
        return self._bundler.document

    def child(self, value: Any, *tokens: str | int) -> dict[str, Any] | bool:
        """Bundle a subschema."""
        schema = self._bundler.schema(self.place.child(value, *tokens), self.scope, self.depth + 1)
        self.is_opened = self.is_opened or (schema is True and value is not True)
        return schema

    def children(self, value: Any, keyword: str) -> list[Any]:
        """Bundle a list of subschemas."""
        if not isinstance(value, list | tuple) or not value:
            raise UnreadableError("must be a list of schemas")
        return [self.child(child, keyword, index) for index, child in enumerate(value)]

    def named_children(self, value: Any, keyword: str) -> dict[str, Any]:
        """Bundle an object of subschemas."""
        if not isinstance(value, Mapping):
            raise UnreadableError("must be an object of schemas")
        return {key_text(name): self.child(child, keyword, key_text(name)) for name, child in value.items()}

    def reference(self, target: Place, scope: tuple[str, ...]) -> str:
        """Give the `$ref` under which a place will be found in the bundle."""
        return self._bundler.reference(target, scope)

    def report(self, reason: str, *tokens: str) -> None:
        """Report a problem at or below the subschema."""
        self.is_opened = True
        self._bundler.report(self.place.pointer + "".join(f"/{escape(token)}" for token in tokens), reason)


class _Bundler:
    def __init__(self, document: Document) -> None:
        self.document = document
        self._problems: dict[tuple[str, str], SchemaProblem] = {}
        self._names: dict[Any, str] = {}
        self._waiting: deque[tuple[str, Place, tuple[str, ...]]] = deque()
        self._taken: set[str] = set()
        self._active: set[int] = set()
        self._opened: dict[int, Any] = {}
        self._containers: set[str] = set()
        self._count = 0

    def run(self) -> Bundle:
        place = self.document.root
        scope: tuple[str, ...] = (place.base,)
        self._names[place.key, self._effective(scope)] = ""
        root = self.schema(place, scope, 0)
        definitions = {}
        while self._waiting:
            name, place, scope = self._waiting.popleft()
            definitions[name] = self.schema(place, scope, 0)
        if isinstance(root, dict):
            for keyword in self._containers - _KNOWN:
                root.pop(keyword, None)
        return Bundle(root, definitions, list(self._problems.values()), self._opened)

    def report(self, pointer: str, reason: str) -> None:
        self._problems.setdefault((pointer, reason), SchemaProblem(pointer, reason))

    def schema(self, place: Place, scope: tuple[str, ...], depth: int) -> dict[str, Any] | bool:
        raw = place.schema
        if isinstance(raw, bool):
            return raw
        if not isinstance(raw, Mapping):
            self.report(place.pointer, f"must be a schema, not {type(raw).__name__}; anything is accepted here")
            return True
        self._count += 1
        if self._count > MAX_SCHEMAS:
            self.report("", f"has more than {MAX_SCHEMAS} subschemas; the others accept anything")
            return True
        if depth > MAX_SCHEMA_DEPTH or id(raw) in self._active:
            self.report(place.pointer, "is nested too deeply or within itself; anything is accepted here")
            return True
        if place.base not in scope:
            scope = (*scope, place.base)
        self._active.add(id(raw))
        try:
            return self._object(Entry(place, scope, depth, self), raw)
        finally:
            self._active.discard(id(raw))

    def _object(self, entry: Entry, raw: Mapping[str, Any]) -> dict[str, Any]:
        only_reference = entry.draft <= Draft.D7 and isinstance(raw.get("$ref"), str)
        for key, value in raw.items():
            keyword = key_text(key)
            if only_reference and keyword != "$ref" and not is_annotation(keyword):
                continue  # before 2019-09 a reference stands alone
            try:
                self._keyword(entry, keyword, value, raw)
            except UnreadableError as error:
                entry.report(f"{keyword} {error}; it was left out", keyword)
        if entry.also:
            entry.out["allOf"] = [*entry.out.get("allOf", []), *entry.also]
        schema = with_null(entry.out) if raw.get("nullable") is True else entry.out
        if entry.is_opened:
            self._opened[id(schema)] = schema
        return schema

    def _keyword(self, entry: Entry, keyword: str, value: Any, raw: Mapping[str, Any]) -> None:
        if keyword in IDENTITY_KEYWORDS or (keyword == "id" and entry.draft == Draft.D4):
            return
        if value is None and keyword in _KNOWN and keyword not in NULL_HAS_MEANING:
            return
        if SINCE.get(keyword, entry.draft) > entry.draft:
            return
        if keyword in SPECIAL:
            SPECIAL[keyword](entry, value, raw)
        elif keyword in VALUE_READERS:
            entry.out[keyword] = VALUE_READERS[keyword](value)
        elif keyword in SCHEMA_KEYWORDS:
            entry.out[keyword] = entry.child(value, keyword)
        elif keyword in SCHEMA_LIST_KEYWORDS:
            entry.out[keyword] = entry.children(value, keyword)
        elif keyword in SCHEMA_MAP_KEYWORDS:
            entry.out[keyword] = entry.named_children(value, keyword)
        else:
            entry.out[keyword] = any_value(value)

    def reference(self, target: Place, scope: tuple[str, ...]) -> str:
        key = target.key, self._effective(scope)
        if key not in self._names:
            wanted = _UNSAFE.sub("_", _wanted_name(target)) or "schema"
            name, number = wanted, 2
            while name in self._taken:
                name, number = f"{wanted}_{number}", number + 1
            self._taken.add(name)
            self._names[key] = name
            self._waiting.append((name, target, scope))
            if target.pointer and target.base == self.document.root.base:
                # A keyword of the author's own that holds definitions, such as OpenAPI's `components`.
                self._containers.add(target.pointer.split("/", 2)[1])
        name = self._names[key]
        return f"{DEFINITION_REF}{name}" if name else ROOT_REF

    def _effective(self, scope: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """Tell what a dynamic scope decides: for each dynamic anchor, the outermost resource that has it."""
        if len(scope) == 1:
            return ()
        decided: dict[str, str] = {}
        for base in scope:
            for name in self.document.dynamic_anchors(base):
                decided.setdefault(name, base)
        return tuple(sorted(decided.items()))


def _wanted_name(place: Place) -> str:
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in place.pointer.split("/") if token]
    if tokens:
        return "_".join(tokens[-2:]) if tokens[-1].isdecimal() else tokens[-1]
    title = place.schema.get("title")
    return title if isinstance(title, str) else place.base.rstrip("/").rpartition("/")[2]
