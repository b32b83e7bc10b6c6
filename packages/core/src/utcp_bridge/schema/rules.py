"""A bundled schema, prepared for judging: what its references point to, and its parts as an engine compiles them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from utcp_bridge.schema.bundled import DEFINITION_REF, ROOT_REF, pointed, references, walk
from utcp_bridge.schema.leaves import takes_only_integers
from utcp_bridge.schema.tags import tags_of


class Check(Protocol):
    """A schema that an engine has compiled; safe to share between threads."""

    def is_valid(self, instance: Any, /) -> bool:
        """Tell whether the instance fits."""


def referred(schema: Any, reference: str) -> Any:
    """Give what a reference within a schema points to."""
    if reference.startswith(DEFINITION_REF) and isinstance(schema, dict):
        name = reference.removeprefix(DEFINITION_REF)
        if name in schema.get("$defs", {}):
            return schema["$defs"][name]
    found = pointed(schema, reference)
    return {} if found is None else found


def tracks_evaluated(schema: Any) -> bool:
    """Tell whether a schema says anything about what nothing else has evaluated (core, section 11)."""
    return isinstance(schema, dict) and any(
        "unevaluatedProperties" in part or "unevaluatedItems" in part
        for top in (schema, *schema.get("$defs", {}).values())
        for part in walk(top)
    )


class Rules:
    """A schema, prepared for judging. Safe to share between threads."""

    def __init__(self, schema: dict[str, Any] | bool, compile_check: Callable[[Any], Check], *, is_quick: bool) -> None:
        """Prepare a schema.

        Args:
            schema: A self-contained schema of draft 2020-12.
            compile_check: Compiles a schema with the engine.
            is_quick: Whether the engine's verdict on any part of the schema takes no more time than it should.
        """
        self.schema = schema
        self.tracks = tracks_evaluated(schema)
        self._compile = compile_check
        self._is_quick = is_quick
        self._checks: dict[tuple[int, str], Check] = {}
        self._wholes: dict[int, Check | None] = {}
        self._tags: dict[int, dict[str, dict[str, Any]]] = {}
        self._patterns: dict[str, Check] = {}
        self._naming_integers: dict[int, bool] = {}

    def target(self, reference: str) -> Any:
        """Give what a reference points to."""
        return referred(self.schema, reference)

    def keyword(self, schema: dict[str, Any], keyword: str) -> Check:
        """Compile one keyword of a schema."""
        key = id(schema), keyword
        if key not in self._checks:
            self._checks[key] = self._compile({keyword: schema[keyword]})
        return self._checks[key]

    def pattern(self, pattern: str) -> Check:
        """Compile a regular expression."""
        if pattern not in self._patterns:
            self._patterns[pattern] = self._compile({"pattern": pattern})
        return self._patterns[pattern]

    def whole(self, schema: Any) -> Check | None:
        """Compile a part of the schema; None if the engine might take too long over it."""
        if id(schema) not in self._wholes:
            self._wholes[id(schema)] = self._compiled_part(schema)
        return self._wholes[id(schema)]

    def _compiled_part(self, part: Any) -> Check | None:
        if not self._is_quick or not isinstance(part, dict) or not isinstance(self.schema, dict):
            return None
        definitions: dict[str, Any] = {}
        waiting = [part]
        while waiting:
            for inner in walk(waiting.pop()):
                for reference in references(inner):
                    if reference == ROOT_REF or not reference.startswith(DEFINITION_REF):
                        return None  # the root would be another one
                    name = reference.removeprefix(DEFINITION_REF)
                    if name not in definitions:
                        definitions[name] = self.target(reference)
                        waiting.append(definitions[name])
        return self._compile({**part, "$defs": definitions} if definitions else part)

    def names_integers(self, part: Any) -> bool:
        """Tell whether a part of the schema may take integers and no other numbers somewhere."""
        if id(part) not in self._naming_integers:
            self._naming_integers[id(part)] = any(
                "$ref" in inner or takes_only_integers(inner.get("type", ())) for inner in walk(part)
            )
        return self._naming_integers[id(part)]

    def tags(self, branch: Any) -> dict[str, dict[str, Any]]:
        """Give the properties that tell a branch from the others."""
        if id(branch) not in self._tags:
            self._tags[id(branch)] = tags_of(branch, self.target)
        return self._tags[id(branch)]
