"""Keywords that cannot be read by themselves: references, and forms of older drafts and of OpenAPI 3.0."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from utcp_bridge.schema.dialect import ANNOTATIONS, VALUE_READERS, Draft, UnreadableError, any_value
from utcp_bridge.schema.document import RECURSIVE
from utcp_bridge.schema.plain import key_text
from utcp_bridge.schema.validator import pattern_problem

if TYPE_CHECKING:
    from utcp_bridge.schema.bundle import Entry

_Raw = Mapping[str, Any]


def _reference(entry: Entry, value: Any, _raw: _Raw, *, anchor: str = "") -> None:
    if not isinstance(value, str):
        raise UnreadableError("must be a string")
    target = entry.document.resolve(entry.place, value)
    if target is None:
        raise UnreadableError(f"{value!r} points to nothing in this document")
    if anchor:
        target = entry.document.outermost(target, anchor, entry.scope)
    scope = entry.scope if target.base in entry.scope else (*entry.scope, target.base)
    schema = target.schema if isinstance(target.schema, bool) else {"$ref": entry.reference(target, scope)}
    if isinstance(schema, bool) or "$ref" in entry.out:
        entry.also.append(schema)
    else:
        entry.out.update(schema)


def _recursive_reference(entry: Entry, value: Any, raw: _Raw) -> None:
    if entry.draft == Draft.D2019:
        _reference(entry, value, raw, anchor=RECURSIVE)


def _dynamic_reference(entry: Entry, value: Any, raw: _Raw) -> None:
    _reference(entry, value, raw, anchor=str(value).partition("#")[2])


def _items(entry: Entry, value: Any, raw: _Raw) -> None:
    if not isinstance(value, list | tuple):
        entry.out["items"] = entry.child(value, "items")
        return
    # The tuple form of the drafts before 2020-12.
    if value and "prefixItems" not in raw:
        entry.out["prefixItems"] = entry.children(value, "items")
    if raw.get("additionalItems") is not None:
        entry.out["items"] = entry.child(raw["additionalItems"], "additionalItems")


def _additional_items(_entry: Entry, _value: Any, _raw: _Raw) -> None:
    """Read with `items`; without a tuple there it means nothing."""


def _dependencies(entry: Entry, value: Any, raw: _Raw) -> None:
    # 2019-09 split it in two.
    if not isinstance(value, Mapping):
        raise UnreadableError("must be an object")
    required: dict[str, list[str]] = {}
    schemas: dict[str, Any] = {}
    for key, dependency in value.items():
        name = key_text(key)
        if isinstance(dependency, list | tuple | str):
            names = [dependency] if isinstance(dependency, str) else dependency
            required |= VALUE_READERS["dependentRequired"]({name: names})
        else:
            schemas[name] = entry.child(dependency, "dependencies", name)
    for keyword, part in (("dependentRequired", required), ("dependentSchemas", schemas)):
        if part and raw.get(keyword):
            entry.also.append({keyword: part})
        elif part:
            entry.out[keyword] = part


def _bound(entry: Entry, value: Any, raw: _Raw, *, side: str) -> None:
    # Draft 4 and OpenAPI 3.0 write `minimum: 5, exclusiveMinimum: true`.
    exclusive = f"exclusive{side.capitalize()}"
    entry.out[exclusive if raw.get(exclusive) is True else side] = VALUE_READERS[side](value)


def _exclusive_bound(entry: Entry, value: Any, _raw: _Raw, *, keyword: str) -> None:
    if not isinstance(value, bool):
        entry.out[keyword] = VALUE_READERS[keyword](value)


def _nullable(_entry: Entry, value: Any, _raw: _Raw) -> None:
    # True is applied by `with_null` when the rest of the schema is known; false says what holds anyway.
    if not isinstance(value, bool):
        raise UnreadableError("must be true or false")


def with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Apply OpenAPI 3.0's `nullable: true`."""
    if any(keyword in schema for keyword in ("$ref", "allOf", "anyOf", "oneOf", "not", "if", "const")):
        rules = {keyword: value for keyword, value in schema.items() if keyword not in ANNOTATIONS}
        about = {keyword: value for keyword, value in schema.items() if keyword in ANNOTATIONS}
        return {**about, "anyOf": [rules, {"type": "null"}]}
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        schema["type"] = types if "null" in types else [*types, "null"]
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema


def _properties(entry: Entry, value: Any, raw: _Raw) -> None:
    entry.out["properties"] = entry.named_children(value, "properties")
    # Draft 3 marks a property itself as required, and hand-written schemas still do.
    marked = [
        key_text(name) for name, child in value.items() if isinstance(child, Mapping) and child.get("required") is True
    ]
    if marked and raw.get("required") is None:
        entry.out["required"] = marked
    elif marked:
        entry.also.append({"required": marked})


def _required(entry: Entry, value: Any, _raw: _Raw) -> None:
    if isinstance(value, bool):
        return  # read with the properties that it stands among
    names = value
    if isinstance(value, list | tuple) and not all(isinstance(name, str) for name in value):
        entry.report("required holds something that is not a property name; it was left out", "required")
        names = [name for name in value if isinstance(name, str)]
    entry.out["required"] = VALUE_READERS["required"](names)


def _pattern(entry: Entry, value: Any, _raw: _Raw) -> None:
    pattern = VALUE_READERS["title"](value)
    if (problem := pattern_problem(pattern)) is not None:
        raise UnreadableError(f"is no regular expression that can be used: {problem}")
    entry.out["pattern"] = pattern


def _pattern_properties(entry: Entry, value: Any, raw: _Raw) -> None:
    readable = {}
    lost = False
    for pattern, child in entry.named_children(value, "patternProperties").items():
        if (problem := pattern_problem(pattern)) is None:
            readable[pattern] = child
        else:
            lost = True
            entry.report(f"is no regular expression that can be used: {problem}", "patternProperties", pattern)
    entry.out["patternProperties"] = readable
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if lost and raw.get(keyword, True) is not True:
            entry.report("cannot be told from the properties of a lost pattern; it was left out", keyword)


def _others(entry: Entry, value: Any, raw: _Raw, *, keyword: str) -> None:
    # The properties that something lost was for must not fall to the rule for all others.
    properties, patterns = raw.get("properties") or {}, raw.get("patternProperties") or {}
    if isinstance(properties, Mapping) and isinstance(patterns, Mapping):
        if all(pattern_problem(key_text(pattern)) is None for pattern in patterns):
            entry.out[keyword] = entry.child(value, keyword)
    else:
        raise UnreadableError("says nothing without the properties beside it, which cannot be read")


def _discriminator(entry: Entry, value: Any, _raw: _Raw) -> None:
    # Its mapping holds references, or bare names of OpenAPI components.
    found = any_value(value)
    mapping = found.get("mapping") if isinstance(found, dict) else None
    if isinstance(mapping, dict):
        targets = {
            tag: entry.document.resolve(entry.place, reference)
            for tag, reference in mapping.items()
            if isinstance(reference, str)
        }
        kept = {
            tag: entry.reference(target, entry.scope)
            for tag, target in targets.items()
            if target is not None and isinstance(target.schema, Mapping)
        }
        found = {key: item for key, item in found.items() if key != "mapping"} | ({"mapping": kept} if kept else {})
    entry.out["discriminator"] = found


SPECIAL: Mapping[str, Callable[[Entry, Any, _Raw], None]] = {
    "$ref": _reference,
    "$recursiveRef": _recursive_reference,
    "$dynamicRef": _dynamic_reference,
    "items": _items,
    "additionalItems": _additional_items,
    "dependencies": _dependencies,
    "minimum": functools.partial(_bound, side="minimum"),
    "maximum": functools.partial(_bound, side="maximum"),
    "exclusiveMinimum": functools.partial(_exclusive_bound, keyword="exclusiveMinimum"),
    "exclusiveMaximum": functools.partial(_exclusive_bound, keyword="exclusiveMaximum"),
    "nullable": _nullable,
    "properties": _properties,
    "required": _required,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": functools.partial(_others, keyword="additionalProperties"),
    "unevaluatedProperties": functools.partial(_others, keyword="unevaluatedProperties"),
    "discriminator": _discriminator,
}
"""How each of them is read into an entry; a reader raises `UnreadableError` for what it cannot read."""
