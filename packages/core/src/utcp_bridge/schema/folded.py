"""A bundled schema without `$defs`, for readers that follow references and lose definitions."""

from __future__ import annotations

from collections import deque
from typing import Any

from utcp_bridge.schema.budget import DEFAULT_MAX_BYTES, trimmed
from utcp_bridge.schema.bundled import ROOT_REF, definition_name, is_annotation, step_below, walk
from utcp_bridge.schema.dialect import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS
from utcp_bridge.schema.steps import size_of

MAX_WRITTEN = 1_000
"""The most subschemas that folding writes in order to write every definition wherever it is used."""

MAX_LEVELS = 64
"""The most levels of subschemas; a definition that comes up further down is opened."""


def standalone(schema: dict[str, Any], max_bytes: int | None) -> dict[str, Any]:
    """Fold a bundled schema and keep it within a budget; see `folded` and `trimmed`."""
    return trimmed(folded(schema, max_bytes), max_bytes).schema


def folded(schema: dict[str, Any], max_bytes: int | None = DEFAULT_MAX_BYTES) -> dict[str, Any]:
    """Copy a bundled schema with its definitions written where they are used.

    A definition that would be written inside of itself becomes a `$ref` to the place where it already is, such as
    `#/properties/tree`. Where writing definitions again and again would take more than `max_bytes`, each is written
    at its first use only, and its other uses refer to that place. So the verdict stays the same, and the size bounded.

    Args:
        schema: An arguments schema as it is shown; without references it is given back itself.
        max_bytes: See above; None for the default, 16,000.
    """
    if "$defs" not in schema and not any("$ref" in part for part in walk(schema)):
        return schema
    everywhere = _Folder(schema, only_first=False).write()
    if everywhere is not None and size_of(everywhere) <= (max_bytes or DEFAULT_MAX_BYTES):
        return everywhere
    first = _Folder(schema, only_first=True).write()
    assert first is not None  # noqa: S101 - each definition is written once, which has an end
    return first


class _Folder:
    def __init__(self, schema: dict[str, Any], *, only_first: bool) -> None:
        self._definitions = schema.get("$defs", {})
        self._root = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
        self._only_first = only_first
        self._places: dict[str, str] = {}
        # Breadth first, so that the first place of a definition is the one closest to the root.
        self._waiting: deque[tuple[dict[str, Any], str, str, int, dict[str, str]]] = deque()
        self._written = 0

    def write(self) -> dict[str, Any] | None:
        """Write the schema; None if it became too large."""
        result = self._part(self._root, ROOT_REF, 0, {ROOT_REF: ROOT_REF})
        while self._waiting:
            if self._written > MAX_WRITTEN and not self._only_first:
                return None
            self._follow(*self._waiting.popleft())
        for part in walk(result):
            if isinstance(about := part.get("discriminator"), dict) and "mapping" in about:
                part["discriminator"] = self._placed(about)
        assert isinstance(result, dict)  # noqa: S101 - as the root was
        return result

    def _part(self, schema: Any, here: str, level: int, entered: dict[str, str]) -> Any:
        """Write a subschema; what it refers to is written later."""
        if not isinstance(schema, dict):
            return schema
        own = self._own(schema, here, level, entered)
        if "$ref" in schema:
            self._waiting.append((own, schema["$ref"], here, level, entered))
        return own

    def _own(self, schema: dict[str, Any], here: str, level: int, entered: dict[str, str]) -> dict[str, Any]:
        self._written += 1
        return {
            keyword: self._value(keyword, value, here, level, entered)
            for keyword, value in schema.items()
            if keyword != "$ref"
        }

    def _follow(self, out: dict[str, Any], reference: str, here: str, level: int, entered: dict[str, str]) -> None:
        """Write what a reference points to into the schema that holds it."""
        if reference in entered:
            out["$ref"] = entered[reference]
            return
        if self._only_first and reference in self._places:
            out["$ref"] = self._places[reference]
            return
        target = self._definitions[definition_name(reference)]
        if not isinstance(target, dict):
            target = {} if target else {"not": {}}
        if level > MAX_LEVELS:
            target = {keyword: target[keyword] for keyword in ("type", "description") if keyword in target}
        elif not all(is_annotation(keyword) and keyword not in SCHEMA_KEYWORDS for keyword in out):
            # Beside a keyword that judges, the definition needs a place of its own, which a cycle can point to.
            beside: dict[str, Any] = {}
            here = step_below(step_below(here, "allOf"), len(out.setdefault("allOf", [])))
            out["allOf"].append(beside)
            out = beside
        entered = {**entered, reference: here}
        if level <= MAX_LEVELS:
            self._places.setdefault(reference, here)
        about = dict(out)
        out.clear()
        out.update({**self._own(target, here, level, entered), **about})
        if "$ref" in target:
            self._waiting.append((out, target["$ref"], here, level, entered))

    def _value(self, keyword: str, value: Any, here: str, level: int, entered: dict[str, str]) -> Any:
        here, level = step_below(here, keyword), level + 1
        if keyword in SCHEMA_MAP_KEYWORDS:
            return {name: self._part(child, step_below(here, name), level, entered) for name, child in value.items()}
        if keyword in SCHEMA_LIST_KEYWORDS:
            return [self._part(child, step_below(here, index), level, entered) for index, child in enumerate(value)]
        if keyword in SCHEMA_KEYWORDS or keyword == "items":
            return self._part(value, here, level, entered)
        return value

    def _placed(self, discriminator: dict[str, Any]) -> dict[str, Any]:
        rest = {key: value for key, value in discriminator.items() if key != "mapping"}
        places = {ROOT_REF: ROOT_REF, **self._places}
        mapping = {tag: places[target] for tag, target in discriminator["mapping"].items() if target in places}
        return {**rest, "mapping": mapping} if mapping else rest
