"""What stays of a schema that is cut: what kind of value it is for, and what for."""

from __future__ import annotations

from typing import Any

from utcp_bridge.schema.bundled import pointed
from utcp_bridge.schema.levels import is_leaf

_KEPT = ("type", "description", "enum", "const", "format")
_MAX_ENUM = 10
_MAX_CHAIN = 8
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


class Stubs:
    """Makes what stays of schemas that are cut.

    Args:
        root: The bundled schema that they belong to, for its references.
    """

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._known: dict[int, dict[str, None] | None] = {}

    def of(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Give what stays of a schema that has something below itself; it takes whatever the schema takes."""
        whole = schema
        for _ in range(_MAX_CHAIN):
            if "$ref" not in whole or not isinstance(target := pointed(self._root, whole["$ref"]), dict):
                break
            whole = {**target, **{key: value for key, value in whole.items() if key != "$ref"}}
        kept = {key: whole[key] for key in _KEPT if key in whole}
        if len(kept.get("enum", ())) > _MAX_ENUM:
            del kept["enum"]
        if not kept.keys() & {"type", "enum", "const"} and (kinds := self._kinds(schema)):
            types = [kind for kind in kinds if kind != "integer" or "number" not in kinds]
            kept = {"type": types[0] if len(types) == 1 else types, **kept}
        if "array" in kept.get("type", ()):
            # Some providers refuse arrays without it.
            items = whole.get("items")
            kept["items"] = dict(items) if isinstance(items, dict) and is_leaf(items) else {}
        return kept

    def _kinds(self, schema: Any) -> dict[str, None] | None:
        """Tell the types that a schema takes at most, in its order; None if it may take any."""
        if not isinstance(schema, dict):
            return None
        if id(schema) not in self._known:
            self._known[id(schema)] = None  # what leads back to itself says nothing
            self._known[id(schema)] = self._found_kinds(schema)
        return self._known[id(schema)]

    def _found_kinds(self, schema: dict[str, Any]) -> dict[str, None] | None:
        if (types := schema.get("type")) is not None:
            return dict.fromkeys([types] if isinstance(types, str) else types)
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if values is not None:
            return dict.fromkeys("null" if value is None else _TYPES[type(value)] for value in values)
        for part in (*schema.get("allOf", ()), *([pointed(self._root, schema["$ref"])] if "$ref" in schema else ())):
            if (kinds := self._kinds(part)) is not None:
                return kinds
        for keyword in ("anyOf", "oneOf"):
            branches = [branch for branch in schema.get(keyword, ()) if branch is not False]
            found = [self._kinds(branch) for branch in branches]
            if found and all(kinds is not None for kinds in found):
                return {kind: None for kinds in found if kinds for kind in kinds}
        return None
