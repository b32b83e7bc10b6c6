"""Combinators at the root of a schema, which some providers refuse, told in properties and words instead."""

from __future__ import annotations

from typing import Any

from utcp_bridge.schema.bundled import definition_name

_REFUSED = ("allOf", "anyOf", "oneOf", "not", "enum", "const")
_PHRASES = {"anyOf": "At least one of these sets of arguments is needed", "oneOf": "Exactly one of these sets fits"}


def without_root_choices(schema: dict[str, Any]) -> dict[str, Any]:
    """Merge the branches at the root: all their properties, and as required only what every branch requires."""
    if not any(keyword in schema for keyword in _REFUSED):
        return schema
    merged = {keyword: value for keyword, value in schema.items() if keyword not in _REFUSED}
    properties = dict(schema["properties"])
    required = list(schema.get("required", ()))
    sentences = []
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = [_flat(branch, schema, set()) for branch in schema.get(keyword, ())]
        if not branches:
            continue
        for branch in branches:
            for name, child in branch.get("properties", {}).items():
                properties[name] = _both(properties[name], child) if name in properties else child
        sets = [list(branch.get("required", ())) for branch in branches]
        if keyword == "allOf":
            required += [name for names in sets for name in names]
        else:
            required += [name for name in sets[0] if all(name in names for names in sets)]
            choices = list(dict.fromkeys(", ".join(names) for names in sets if names))
            if len(choices) > 1:
                sentences.append(f"{_PHRASES[keyword]}: {'; or '.join(choices)}.")
        if any(branch.get("properties") for branch in branches):
            # Closed branches would refuse each other's properties.
            merged.pop("additionalProperties", None)
            merged.pop("unevaluatedProperties", None)
    merged["properties"] = properties
    if required:
        merged["required"] = list(dict.fromkeys(required))
    if sentences:
        merged["description"] = " ".join([*([merged["description"]] if "description" in merged else []), *sentences])
    return merged


def _flat(branch: Any, root: dict[str, Any], entered: set[str]) -> dict[str, Any]:
    """Give what a branch says about properties, its own references, `allOf` and choices included."""
    if not isinstance(branch, dict):
        return {}
    properties = dict(branch.get("properties", {}))
    required = list(branch.get("required", ()))
    inner = [_flat(part, root, entered) for part in branch.get("allOf", ())]
    name = definition_name(branch["$ref"]) if "$ref" in branch else ""
    if name and name not in entered:
        inner.append(_flat(root["$defs"][name], root, entered | {name}))
    for part in inner:
        properties |= {key: child for key, child in part["properties"].items() if key not in properties} if part else {}
        required += part.get("required", ())
    for keyword in ("anyOf", "oneOf"):
        for part in (_flat(part, root, entered) for part in branch.get(keyword, ())):
            properties |= {key: child for key, child in part.get("properties", {}).items() if key not in properties}
    return {"properties": properties, "required": required}


def _both(first: Any, second: Any) -> Any:
    """Give what takes either of two property schemas; one that says nothing adds nothing."""
    if first == second or second in ({}, True):
        return first
    if first in ({}, True):
        return second
    branches = first["anyOf"] if isinstance(first, dict) and first.keys() == {"anyOf"} else [first]
    return {"anyOf": branches if second in branches else [*branches, second]}
