"""A bundled schema without `$defs`, for readers that follow references and lose definitions."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from utcp_bridge.schema.budget import trimmed
from utcp_bridge.schema.bundled import (
    DEFINITION_REF,
    ROOT_REF,
    definition_name,
    is_annotation,
    walk,
    with_subschemas,
)
from utcp_bridge.schema.dialect import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS
from utcp_bridge.schema.document import escape

MAX_WRITTEN = 5_000
"""The most subschemas that folding may write; what comes after is opened, because folding can grow without end."""

_SAFE_IN_FRAGMENT = "?:@!$&'()*+,;=-._~"  # RFC 3986, section 3.5


def is_recursive(schema: dict[str, Any]) -> bool:
    """Tell whether a definition of a bundled schema, or the schema itself, comes up again inside of it."""
    below = {name: _references(definition) for name, definition in schema.get("$defs", {}).items()}
    below[""] = _references({key: value for key, value in schema.items() if key != "$defs"})

    finished: set[str] = set()

    def comes_up(name: str, entered: frozenset[str]) -> bool:
        if name in entered:
            return True
        if name in finished:
            return False
        if any(comes_up(inner, entered | {name}) for inner in below.get(name, ())):
            return True
        finished.add(name)
        return False

    return comes_up("", frozenset())


def folded(schema: dict[str, Any]) -> dict[str, Any]:
    """Copy a bundled schema with its definitions written where they are used.

    A definition that would be written inside of itself becomes a `$ref` to the place where it already is, such as
    `#/properties/tree`, so that the verdict stays the same.
    """
    root = {keyword: value for keyword, value in schema.items() if keyword != "$defs"}
    written: dict[str, Any] = _Folder(schema.get("$defs", {})).write(root, ROOT_REF, {ROOT_REF: ROOT_REF})
    return written


def standalone(schema: dict[str, Any], max_bytes: int | None) -> dict[str, Any]:
    """Fold a bundled schema and keep it within a budget; what a budget cuts away is referred to no more.

    Args:
        schema: An arguments schema as it is shown.
        max_bytes: The most bytes, as `trimmed` counts them; None never trims.
    """
    root = trimmed(folded(schema), max_bytes).schema

    def mended(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        kept = with_subschemas(part, mended)
        if "$ref" in kept and not _leads_somewhere(kept["$ref"], root):
            del kept["$ref"]
        return kept

    result: dict[str, Any] = mended(root)
    return result


def _leads_somewhere(reference: str, root: Any) -> bool:
    place = root
    for token in reference.split("/")[1:]:
        key = unquote(token).replace("~1", "/").replace("~0", "~")
        if isinstance(place, list):
            place = place[int(key)] if key.isdigit() and int(key) < len(place) else None
        else:
            place = place.get(key) if isinstance(place, dict) else None
    return place is not None


class _Folder:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions
        self._written = 0

    def write(self, schema: Any, here: str, entered: dict[str, str]) -> Any:
        """Write a subschema at a place, inside of the definitions whose own places are given."""
        if not isinstance(schema, dict):
            return schema
        self._written += 1
        reference = schema.get("$ref")
        own = {keyword: self._value(keyword, value, here, entered) for keyword, value in schema.items()}
        if reference is None:
            return own
        del own["$ref"]
        if reference in entered:
            return {"$ref": entered[reference], **own}
        # Beside a keyword that judges, the definition needs a place of its own, which a cycle can point to.
        alone = all(is_annotation(keyword) for keyword in own)
        place = here if alone else f"{here}/allOf/{len(own.get('allOf', ()))}"
        target = self._definitions[definition_name(reference)]
        if self._written <= MAX_WRITTEN:
            target = self.write(target, place, {**entered, reference: place})
        elif isinstance(target, dict):
            target = {keyword: target[keyword] for keyword in ("type", "description") if keyword in target}
        if alone and isinstance(target, dict):
            return {**target, **own}
        return {**own, "allOf": [*own.get("allOf", ()), target]} if own else target

    def _value(self, keyword: str, value: Any, here: str, entered: dict[str, str]) -> Any:
        here = f"{here}/{keyword}"
        if keyword in SCHEMA_MAP_KEYWORDS:
            return {name: self.write(child, f"{here}/{_token(name)}", entered) for name, child in value.items()}
        if keyword in SCHEMA_LIST_KEYWORDS:
            return [self.write(child, f"{here}/{index}", entered) for index, child in enumerate(value)]
        if keyword in SCHEMA_KEYWORDS or keyword == "items":
            return self.write(value, here, entered)
        return value


def _references(schema: Any) -> list[str]:
    return [definition_name(part["$ref"]) for part in walk(schema) if _is_local(part.get("$ref"))]


def _is_local(reference: Any) -> bool:
    return isinstance(reference, str) and (reference == ROOT_REF or reference.startswith(DEFINITION_REF))


def _token(name: str) -> str:
    return quote(escape(name), safe=_SAFE_IN_FRAGMENT)
