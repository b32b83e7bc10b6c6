"""What a bundled schema says about the value at a path of the arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from utcp_bridge.schema.outline import all_in_place, in_place, parts, spoken_names

_Path = tuple[str | int, ...]


class Places:
    """The places that a schema describes, each looked at once."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._known: dict[tuple[bool, tuple[int, ...]], _Place] = {}
        self._start = self._place([root], is_marked=False)

    def is_declared(self, name: str, path: _Path) -> bool:
        """Tell whether a schema of the value at a path speaks of this property by its name."""
        return any(name in spoken_names(part) for part in all_in_place(self._at(path).schemas, self._root))

    def property_schema(self, schema: Any, name: str, path: _Path) -> Any:
        """Find what is said about a property: by the schema that requires it, or by any other of the same value."""
        for start in (schema, *self._at(path).schemas):
            for part in in_place(start, self._root):
                if name in part.get("properties", {}):
                    return part["properties"][name]
        return None

    def is_secret(self, path: _Path) -> bool:
        """Tell whether a value is, lies in, or may hold a secret: `writeOnly` or `format: password`."""
        if not path:
            return True
        place = self._at(path)
        if place.holds_secret is None:
            place.holds_secret = place.is_marked or self._holds_secret(place.schemas)
        return place.holds_secret

    def _at(self, path: _Path) -> _Place:
        place = self._start
        for step in path:
            # The schemas of an item do not depend on which one it is.
            key = step if isinstance(step, str) else 0
            if key not in place.below:
                place.below[key] = self._below(place, step)
            place = place.below[key]
        return place

    def _below(self, place: _Place, step: str | int) -> _Place:
        # Each once: branches that share a target lead to it again.
        found = {id(child): child for part in all_in_place(place.schemas, self._root) for child in parts(part, step)}
        schemas = list(found.values())
        is_marked = place.is_marked or any(map(_marks, all_in_place(schemas, self._root)))
        return self._place(schemas, is_marked=is_marked)

    def _place(self, schemas: list[Any], *, is_marked: bool) -> _Place:
        key = is_marked, tuple(map(id, schemas))
        return self._known.setdefault(key, _Place(schemas, is_marked))

    def _holds_secret(self, schemas: list[Any]) -> bool:
        # A stack of its own, because definitions may lead to each other further than Python can recurse.
        seen: set[int] = set()
        waiting = list(schemas)
        while waiting:
            for part in all_in_place((waiting.pop(),), self._root, seen):
                if _marks(part):
                    return True
                waiting.extend(parts(part, None))
        return False


@dataclass(slots=True)
class _Place:
    """Values that the same schemas judge, below the same kind of places.

    Attributes:
        schemas: The schemas.
        is_marked: Whether the values are, or lie in, a secret.
        holds_secret: Whether they are, lie in or may hold a secret; None if that is not known yet.
        below: The places of their parts: by name, or 0 for any item.
    """

    schemas: list[Any]
    is_marked: bool
    holds_secret: bool | None = None
    below: dict[str | int, _Place] = field(default_factory=dict)


def _marks(schema: dict[str, Any]) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"
