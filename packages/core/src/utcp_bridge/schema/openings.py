"""Openings that open: what could not be read must not refuse anything, wherever it stands.

Under `not`, in an `if`, as one branch of a `oneOf`, a schema that takes more makes the whole take less. There the
keyword around it is opened as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from utcp_bridge.schema.bundled import definition_name, subschemas, walk

if TYPE_CHECKING:
    from utcp_bridge.schema.bundle import Bundle

_IN_PLACE = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("not", "if", "then", "else")


def open_loops(bundle: Bundle) -> list[str]:
    """Open references that make a schema say only that it is itself: no validator comes to an end there.

    Returns:
        The names of the definitions that were referred to; empty for the root.
    """
    opened: list[str] = []
    done: set[str] = set()
    for start in ("", *bundle.definitions):
        path: list[str] = []
        # A stack of its own, because a chain of references may be longer than Python can recurse.
        stack = [(start, False)] if start not in done else []
        while stack:
            name, left = stack.pop()
            if left:
                done.add(path.pop())
                continue
            if name in done:
                continue
            path.append(name)
            stack.append((name, True))
            for holder in _in_place_references(bundle.definitions[name] if name else bundle.root):
                target = definition_name(holder["$ref"])
                if target in path:
                    del holder["$ref"]
                    bundle.opened[id(holder)] = holder
                    opened.append(target)
                elif target not in done:
                    stack.append((target, False))
    return opened


def soften(bundle: Bundle) -> None:
    """Open the keywords that an opening inside them would make refuse more."""
    if not bundle.opened:
        return
    holding = _holding_openings(bundle)
    for schema in (bundle.root, *bundle.definitions.values()):
        for part in walk(schema):
            _soften(part, holding)


def _soften(schema: dict[str, Any], holding: set[int]) -> None:
    if id(schema.get("not")) in holding:
        del schema["not"]
    if id(schema.get("if")) in holding:
        for keyword in ("if", "then", "else"):
            schema.pop(keyword, None)
    if id(schema.get("contains")) in holding:
        schema.pop("maxContains", None)
    if any(id(branch) in holding for branch in schema.get("oneOf", ())):
        branches = schema.pop("oneOf")
        if "anyOf" in schema:
            schema["allOf"] = [*schema.get("allOf", ()), {"anyOf": branches}]
        else:
            schema["anyOf"] = branches


def _holding_openings(bundle: Bundle) -> set[int]:
    """Find the schemas that hold an opening, in themselves or through references."""
    parents: dict[int, list[int]] = {}
    for schema in (bundle.root, *bundle.definitions.values()):
        for part in walk(schema):
            for child in subschemas(part):
                parents.setdefault(id(child), []).append(id(part))
            if "$ref" in part:
                name = definition_name(part["$ref"])
                target = bundle.definitions[name] if name else bundle.root
                parents.setdefault(id(target), []).append(id(part))
    holding: set[int] = set()
    waiting = list(bundle.opened)
    while waiting:
        found = waiting.pop()
        if found not in holding:
            holding.add(found)
            waiting.extend(parents.get(found, ()))
    # The booleans are two objects that all schemas share.
    return holding - {id(True), id(False)}


def _in_place_references(schema: Any) -> Iterator[dict[str, Any]]:
    """Go through the subschemas that judge the same value, and give those that hold a reference."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            continue
        if "$ref" in part:
            yield part
        for keyword in _IN_PLACE:
            waiting.extend(part.get(keyword, ()))
        waiting.extend(part.get(keyword) for keyword in _IN_PLACE_SINGLE)
        waiting.extend(part.get("dependentSchemas", {}).values())
