"""The root of an arguments schema: always an object with `properties`, because that is what models are shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from utcp_bridge.schema.bundle import Bundle, SchemaProblem
from utcp_bridge.schema.bundled import DEFINITION_REF, ROOT_REF, definition_name, is_annotation, walk
from utcp_bridge.schema.dialect import ANNOTATIONS
from utcp_bridge.schema.plain import MAX_DEPTH

_LIFTABLE = ANNOTATIONS | {"type", "properties", "required", "$ref", "allOf"}
_IN_PLACE = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLE = ("not", "if", "then", "else")
_CLOSED = ("additionalProperties", "unevaluatedProperties", "patternProperties")


def shape(bundle: Bundle) -> tuple[dict[str, Any], list[SchemaProblem]]:
    """Give a bundled schema the form of an arguments schema.

    The verdict on objects stays what it was. A `$ref` or `allOf` at the root is lifted where that changes nothing.

    Returns:
        The schema, with `type: object`, `properties` and what it needs of `$defs`, and all problems.
    """
    problems = list(bundle.problems)
    root, definitions = bundle.root, bundle.definitions
    if isinstance(root, bool):
        if not root:
            problems.append(SchemaProblem("", "refuses everything; no call of this tool can be right"))
        root = {} if root else {"not": {}}
    lifted = _lift(dict(root), definitions)
    shown = _as_object(lifted, problems)
    _declare_required(shown, definitions, problems)
    return _closed_over(shown, root, definitions), problems


# -- lifting --------------------------------------------------------------------------------------------------------


def _lift(root: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    seen: set[str] = set()
    while True:
        rules = [keyword for keyword in root if not is_annotation(keyword)]
        about = {keyword: value for keyword, value in root.items() if is_annotation(keyword)}
        if rules == ["$ref"] and root["$ref"] != ROOT_REF and root["$ref"] not in seen:
            seen.add(root["$ref"])
            whole = definitions[definition_name(root["$ref"])]
        elif rules == ["allOf"] and len(root["allOf"]) == 1:
            whole = root["allOf"][0]
        else:
            break
        if not isinstance(whole, dict):
            break
        root = {**whole, **about}
    if "additionalProperties" in root or not ("$ref" in root or "allOf" in root):
        return root
    return _merge(root, definitions, seen)


def _merge(root: dict[str, Any], definitions: dict[str, Any], seen: set[str]) -> dict[str, Any]:
    merged = {keyword: value for keyword, value in root.items() if keyword not in ("$ref", "allOf")}
    arms = list(root.get("allOf", ()))
    if "$ref" in root:
        arms.insert(0, {"$ref": root["$ref"]})
    kept = []
    for arm in arms:
        flat = _flat(arm, definitions, seen)
        if flat is None or not _can_join(merged, flat):
            kept.append(arm)
        else:
            _join(merged, flat)
    if kept:
        merged["allOf"] = kept
    return merged


def _flat(arm: Any, definitions: dict[str, Any], seen: set[str]) -> dict[str, Any] | None:
    """Give an arm without references and `allOf`; None if it says more than which properties there are."""
    if not isinstance(arm, dict) or not all(keyword in _LIFTABLE or keyword.startswith("x-") for keyword in arm):
        return None
    flat = {keyword: value for keyword, value in arm.items() if keyword not in ("$ref", "allOf")}
    parts = list(arm.get("allOf", ()))
    if "$ref" in arm:
        if arm["$ref"] == ROOT_REF or arm["$ref"] in seen or len(seen) > MAX_DEPTH:
            return None
        seen = seen | {arm["$ref"]}
        parts.insert(0, definitions[definition_name(arm["$ref"])])
    for part in parts:
        inner = _flat(part, definitions, seen)
        if inner is None or not _can_join(flat, inner):
            return None
        _join(flat, inner)
    return flat


def _can_join(into: dict[str, Any], arm: dict[str, Any]) -> bool:
    return bool(into.get("type", "object") == arm.get("type", "object") == "object")


def _join(into: dict[str, Any], arm: dict[str, Any]) -> None:
    for keyword, value in arm.items():
        if keyword == "properties":
            properties = dict(into.get("properties", {}))
            for name, schema in value.items():
                same = name not in properties or properties[name] == schema
                properties[name] = schema if same else {"allOf": [properties[name], schema]}
            into["properties"] = properties
        elif keyword == "required":
            into["required"] = list(dict.fromkeys([*into.get("required", ()), *value]))
        else:
            into.setdefault(keyword, value)


# -- an object with properties --------------------------------------------------------------------------------------


def _as_object(root: dict[str, Any], problems: list[SchemaProblem]) -> dict[str, Any]:
    types = root.get("type", "object")
    if types != "object" and "object" not in types:
        named = " or ".join([types] if isinstance(types, str) else types)
        problems.append(SchemaProblem("/type", f"arguments are an object, but this schema describes {named}"))
        about = {keyword: value for keyword, value in root.items() if is_annotation(keyword)}
        rules = {keyword: value for keyword, value in root.items() if not is_annotation(keyword)}
        return {**about, "type": "object", "properties": {}, "allOf": [rules]}
    if "type" in root and "properties" in root:
        return {**root, "type": "object"}
    start = {"type": "object"} if "type" not in root else {}
    shown = {**start, **root, "type": "object"}
    return shown if "properties" in shown else {**shown, "properties": {}}


def _declare_required(root: dict[str, Any], definitions: dict[str, Any], problems: list[SchemaProblem]) -> None:
    """Give a required argument that is described nowhere a place in `properties`, so that models see it."""
    missing = [
        name
        for name in root.get("required", ())
        if name not in root["properties"] and not _describes(root, name, definitions, frozenset())
    ]
    for name in missing:
        reason = f"{name!r} is required but not among the properties"
        if root.get("additionalProperties", True) is False:
            reason += ", and others are refused; no call of this tool can be right"
        problems.append(SchemaProblem("/required", reason))
    if missing and not any(keyword in root for keyword in _CLOSED):
        root["properties"] = {**root["properties"], **{name: {} for name in missing}}


def _describes(schema: Any, name: str, definitions: dict[str, Any], seen: frozenset[str]) -> bool:
    if not isinstance(schema, dict):
        return False
    if name in schema.get("properties", {}):
        return True
    children = [child for keyword in _IN_PLACE for child in schema.get(keyword, ())]
    children += [schema[keyword] for keyword in _IN_PLACE_SINGLE if keyword in schema]
    children += schema.get("dependentSchemas", {}).values()
    reference = schema.get("$ref", ROOT_REF)
    if reference != ROOT_REF and reference not in seen and len(seen) < MAX_DEPTH:
        seen |= {reference}
        children.append(definitions[definition_name(reference)])
    return any(_describes(child, name, definitions, seen) for child in children)


# -- definitions ----------------------------------------------------------------------------------------------------


def _closed_over(shown: dict[str, Any], root: dict[str, Any] | bool, definitions: dict[str, Any]) -> dict[str, Any]:
    """Add the definitions that are reachable, and the unchanged root where something refers to it."""
    reachable: dict[str, Any] = {}
    root_references: list[dict[str, Any]] = []
    waiting: list[Any] = [shown]
    narrowed = isinstance(root, dict) and root.get("type") != "object"
    while waiting:
        for holder in _references(waiting.pop()):
            if holder["$ref"] == ROOT_REF:
                root_references.append(holder)
                if narrowed and len(root_references) == 1:
                    waiting.append(root)
            elif (name := definition_name(holder["$ref"])) not in reachable:
                reachable[name] = definitions[name]
                waiting.append(definitions[name])
    if root_references and narrowed:
        name = "arguments"
        while name in reachable:
            name += "_"
        reachable[name] = root
        for holder in root_references:
            holder["$ref"] = DEFINITION_REF + name
    ordered = {name: reachable[name] for name in (*definitions, *reachable) if name in reachable}
    return {**shown, "$defs": ordered} if ordered else shown


def _references(schema: Any) -> Iterator[dict[str, Any]]:
    """Give every subschema that holds a `$ref`; a discriminator's mapping counts as some."""
    for part in walk(schema):
        if "$ref" in part:
            yield part
        about = part.get("discriminator")
        if isinstance(about, dict) and isinstance(about.get("mapping"), dict):
            yield from ({"$ref": reference} for reference in about["mapping"].values())
