"""Openings that open: what could not be read must not refuse anything, wherever it stands.

Under `not`, in an `if`, as one branch of a `oneOf`, a schema that takes more makes the whole take less. There the
keyword around it is opened as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from utcp_bridge.schema.bundled import definition_name, subschemas, walk

if TYPE_CHECKING:
    from utcp_bridge.schema.bundle import Bundle

MAX_CHAIN = 64
"""The most references that may follow each other without taking a step into the value."""

_IN_PLACE = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("not", "if", "then", "else")
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")


def open_loops(bundle: Bundle) -> list[str]:
    """Open references that make a schema say only that it is itself: no validator comes to an end there.

    References to references are followed up to `MAX_CHAIN`; validators recurse, and end the process where they run
    out of stack.

    Returns:
        What is wrong with the references that were opened.
    """
    reasons: list[str] = []
    lengths: dict[str, int] = {}
    for start in ("", *bundle.definitions):
        path: set[str] = set()
        # A stack of its own, because a chain of references may be longer than Python can recurse.
        stack = [(start, False)]
        while stack:
            name, is_leaving = stack.pop()
            holders = _in_place_references(bundle.definitions[name] if name else bundle.root)
            if is_leaving:
                path.discard(name)
                lengths[name] = _measured(holders, lengths, bundle, reasons)
            elif name not in lengths:
                path.add(name)
                stack.append((name, True))
                for holder in list(holders):
                    target = definition_name(holder["$ref"])
                    if target in path:
                        _open(holder, bundle)
                        reasons.append(f"{target or 'the root'!r} refers to nothing but itself")
                    elif target not in lengths:
                        stack.append((target, False))
    return reasons


def _measured(holders: Iterator[dict[str, Any]], lengths: dict[str, int], bundle: Bundle, reasons: list[str]) -> int:
    longest = 0
    for holder in list(holders):
        target = definition_name(holder["$ref"])
        if lengths[target] >= MAX_CHAIN:
            _open(holder, bundle)
            reasons.append(f"{target or 'the root'!r} leads through more than {MAX_CHAIN} references")
        else:
            longest = max(longest, lengths[target])
    return longest + 1


def _open(holder: dict[str, Any], bundle: Bundle) -> None:
    del holder["$ref"]
    bundle.opened[id(holder)] = holder


def soften(schemas: Collection[Any], opened: Collection[int], resolve: Callable[[str], Any]) -> None:
    """Open the keywords, in place, that an opening inside them would make refuse more.

    Args:
        schemas: The schemas with everything inside them: a root and its definitions.
        opened: The identities of the schemas in them that something was left out of.
        resolve: Gives what a reference points to.
    """
    if not opened:
        return
    holding = _holding_openings(schemas, opened, resolve)
    for schema in schemas:
        for part in walk(schema):
            _soften(part, holding)
            if any(keyword in part for keyword in _UNEVALUATED) and _is_opened_in_place(part, opened, resolve):
                for keyword in _UNEVALUATED:
                    part.pop(keyword, None)


def _is_opened_in_place(schema: dict[str, Any], opened: Collection[int], resolve: Callable[[str], Any]) -> bool:
    """Tell whether something is opened that a value is judged by, so that nobody knows what it evaluates."""
    seen: set[int] = set()
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        if id(part) in opened:
            return True
        seen.add(id(part))
        waiting.extend(_in_place(part))
        if "$ref" in part:
            waiting.append(resolve(part["$ref"]))
    return False


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


def _holding_openings(schemas: Collection[Any], opened: Collection[int], resolve: Callable[[str], Any]) -> set[int]:
    """Find the schemas that hold an opening, in themselves or through references."""
    parents: dict[int, list[int]] = {}
    for schema in schemas:
        for part in walk(schema):
            for child in subschemas(part):
                parents.setdefault(id(child), []).append(id(part))
            if "$ref" in part:
                parents.setdefault(id(resolve(part["$ref"])), []).append(id(part))
    holding: set[int] = set()
    waiting = list(opened)
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
        waiting.extend(_in_place(part))


def _in_place(schema: dict[str, Any]) -> Iterator[Any]:
    for keyword in _IN_PLACE:
        yield from schema.get(keyword, ())
    yield from (schema.get(keyword) for keyword in _IN_PLACE_SINGLE)
    yield from schema.get("dependentSchemas", {}).values()
