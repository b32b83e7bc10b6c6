"""Schemas for providers that know few keywords: what they cannot be told is told in the description."""

from __future__ import annotations

import json
import re
from typing import Any

from utcp_bridge.schema.limits import keep_to, told_values
from utcp_bridge.schema.outline import expectation
from utcp_bridge.schema.profiles import Profile
from utcp_bridge.schema.steps import unique

_LOOK_AROUND = re.compile(r"\(\?(?:=|!|<=|<!)|\\[pPk]")
_BOUNDS = {"exclusiveMinimum": "above", "exclusiveMaximum": "below", "multipleOf": "a multiple of"}
_ANY_SCALAR = ("string", "number", "boolean")
_AS_TEXT = {"object": "A JSON object, given as JSON text", "array": "A JSON list, given as JSON text"}

PLACEHOLDER = "_unused"
"""The property that stands for none where a provider wants one."""


def reduced(schema: dict[str, Any], profile: Profile) -> dict[str, Any]:
    """Reduce an arguments schema without references to what a profile can say."""
    for levels in range(profile.limits.levels, 0, -1):
        result = _reduced(schema, profile, levels)
        if keep_to(result, profile.limits):
            break
    return result


def _reduced(schema: dict[str, Any], profile: Profile, levels: int) -> dict[str, Any]:
    reducer = _Reducer(profile, levels)
    result = reducer.object({**schema, "type": "object"}, 0)
    if profile.needs_properties and not result["properties"]:
        result["properties"] = {PLACEHOLDER: {"type": "string", "description": "Not used; leave it out."}}
    notes = reducer.notes(schema, result)
    if notes:
        result["description"] = notes
    return result


class _Reducer:
    def __init__(self, profile: Profile, levels: int) -> None:
        self._profile = profile
        self._levels = levels

    def schema(self, schema: Any, depth: int) -> dict[str, Any]:
        result = self._branch(schema, depth)
        if result.get("type") != "null" or not self._profile.says_nullable:
            return result
        # A type that is null alone is refused by Vertex AI (BerriAI/litellm#9618).
        about = result.get("description", "").strip()
        return {"type": "string", "nullable": True, "description": f"{about} Must be null.".strip()}

    def _branch(self, schema: Any, depth: int) -> dict[str, Any]:
        """Reduce a schema that may be one branch of a union, where null has a meaning of its own."""
        schema, nullable = _without_null(_merged(schema if isinstance(schema, dict) else {}))
        choices = schema.get("anyOf") or schema.get("oneOf")
        types = _types(schema)
        if choices:
            base = {keyword: value for keyword, value in schema.items() if keyword not in ("anyOf", "oneOf")}
            branches = [_over(base, branch) for branch in choices]
        else:
            branches = [{**schema, "type": name} for name in types]
        if len(branches) == 1 and not choices:
            result = self._one(schema, types[0], depth)
        elif depth >= self._levels:
            result = {"type": "string", "description": "Given as JSON text."}
        else:
            result, with_null = self._union([self._branch(branch, depth + 1) for branch in branches])
            nullable = nullable or with_null
        return self._nullable(result) if nullable else result

    def _union(self, branches: list[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
        """Join branches; the second tells whether null was one of them, where that is said otherwise."""
        # Vertex AI takes no field beside an `anyOf`, also none for null, so that unions in unions are opened out.
        flat = unique(inner for branch in branches for inner in branch.get("anyOf", [branch]))
        others = [branch for branch in flat if branch.get("type") != "null"] if self._profile.says_nullable else flat
        with_null = len(others) < len(flat)
        flat = others or flat[:1]
        return (flat[0] if len(flat) == 1 else {"anyOf": flat}), with_null and bool(others)

    def _one(self, schema: dict[str, Any], kind: str, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {"type": kind}
        if kind in _AS_TEXT and depth >= self._levels:
            result = {"type": "string"}
        elif kind == "object":
            result = self.object(schema, depth)
        elif kind == "array":
            result = {"type": "array", "items": self._items(schema, depth)}
        values = [value for value in _values(schema) if kind in _kinds_of(value)]
        if kind == "integer":
            values = [int(value) for value in values]  # 1.0 is an integer of JSON Schema, and of few others
        if values and kind not in _AS_TEXT:
            if not self._profile.enums_of_strings:
                result["enum"] = values
            elif kind == "string" and any(values):
                result["enum"] = [value for value in values if value]
        for keyword in self._profile.keywords & schema.keys():
            if keyword == "pattern" and _LOOK_AROUND.search(schema["pattern"]):
                continue
            if _fits(keyword, kind) and result["type"] == kind:
                result[keyword] = schema[keyword]
        if schema.get("format") in self._profile.formats and kind in ("string", "integer", "number"):
            result["format"] = schema["format"]
        if notes := self.notes({**schema, "type": kind}, result):
            result["description"] = notes
        return result

    def object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = {name: child for name, child in schema.get("properties", {}).items() if child is not False}
        if not properties and depth:
            # "should be non-empty for OBJECT type" (Gemini); strict mode takes no open objects. Text is read back.
            return {"type": "string"}
        required = [name for name in schema.get("required", ()) if name in properties]
        result: dict[str, Any] = {
            "type": "object",
            "properties": {name: self.schema(child, depth + 1) for name, child in properties.items()},
        }
        if self._profile.is_closed:
            for name in properties.keys() - set(required):
                result["properties"][name] = self._nullable(result["properties"][name])
            return {**result, "required": list(properties), "additionalProperties": False}
        return {**result, "required": required} if required else result

    def _items(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        kinds = [
            *schema.get("prefixItems", ()),
            *([schema["items"]] if schema.get("items") not in (None, False) else ()),
        ]
        return self.schema({"anyOf": kinds} if len(kinds) > 1 else kinds[0] if kinds else {}, depth + 1)

    def _nullable(self, schema: dict[str, Any]) -> dict[str, Any]:
        if self._profile.says_nullable:
            if "anyOf" in schema:
                # "any_of must be the only field set" (Vertex AI), so each branch says it.
                return {"anyOf": [{**branch, "nullable": True} for branch in schema["anyOf"]]}
            return {**schema, "nullable": True}
        if "anyOf" in schema:
            null = {"type": "null"}
            return schema if null in schema["anyOf"] else {"anyOf": [*schema["anyOf"], null]}
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        result = {**schema, "type": types if "null" in types else [*types, "null"]}
        if "enum" in schema and None not in schema["enum"]:
            result["enum"] = [*schema["enum"], None]
        return result

    def notes(self, schema: dict[str, Any], result: dict[str, Any]) -> str:
        """Write the description: the author's, and what the result does not say."""
        said = []
        if values := _values(schema):
            if "enum" not in result:
                said.append(told_values(values))
            elif "" in values and "" not in result["enum"]:
                said.append('It may also be ""')
        said += [
            f"Must be {word} {schema[keyword]}"
            for keyword, word in _BOUNDS.items()
            if keyword in schema and keyword not in result
        ]
        if "format" in schema and "format" not in result:
            said.append(f"Format: {schema['format']}")
        if "pattern" in schema and "pattern" not in result and result.get("type") == "string":
            said.append(f"Pattern: {schema['pattern']}")
        if result.get("type") == "string" and (kinds := _types(schema))[0] in _AS_TEXT and len(kinds) == 1:
            said.append(_AS_TEXT[kinds[0]])
        others = schema.get("additionalProperties")
        if isinstance(others, dict) and others:
            said.append(f"Other properties are allowed{_each(others)}")
        if "default" in schema:
            said.append(f"Default: {_json(schema['default'])}")
        if schema.get("examples"):
            said.append(f"For example {_json(schema['examples'][0])}")
        author = schema.get("description", "").strip()
        if author and said and author[-1] not in ".!?:;":
            author += "."
        return " ".join([*([author] if author else []), *(f"{sentence}." for sentence in said)])


def _each(schema: dict[str, Any]) -> str:
    wanted = expectation(schema, {})
    return f", each {wanted}" if wanted else ""


def _types(schema: dict[str, Any]) -> list[str]:
    types = schema.get("type")
    values = _values(schema)
    if types is not None:
        types = [types] if isinstance(types, str) else types
        return [name for name in types if any(name in _kinds_of(value) for value in values)] or types
    if values:
        return list(dict.fromkeys(_kinds_of(value)[0] for value in values))
    for kind, keywords in _TELLING.items():
        if keywords & schema.keys():
            return [kind]
    return list(_ANY_SCALAR)


def _values(schema: dict[str, Any]) -> list[Any]:
    """Give the values that a schema enumerates; none if it does not."""
    values: list[Any] = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return values


def _kinds_of(value: Any) -> tuple[str, ...]:
    """Give the types of a value, the narrowest first."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("integer", "number") if value == int(value) else ("number",)
    return (_KINDS[type(value)],)


_KINDS = {str: "string", bool: "boolean", list: "array", dict: "object", type(None): "null"}

_TELLING = {
    "object": {"properties", "required", "additionalProperties", "patternProperties", "minProperties"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems"},
    "string": {"pattern", "minLength", "maxLength", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}


def _fits(keyword: str, kind: str) -> bool:
    kinds = [name for name, keywords in _TELLING.items() if keyword in keywords]
    return kind in kinds or (kind == "integer" and "number" in kinds)


def _without_null(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Take null out of a schema; the second tells whether it was in it."""
    result, nullable = dict(schema), False
    types = schema.get("type")
    if isinstance(types, list) and "null" in types and len(types) > 1:
        result["type"], nullable = [name for name in types if name != "null"], True
    if None in schema.get("enum", ()) and len(schema["enum"]) > 1:
        result["enum"], nullable = [value for value in schema["enum"] if value is not None], True
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword, ())
        others = [branch for branch in branches if branch != {"type": "null"}]
        if others and len(others) < len(branches):
            result[keyword], nullable = others, True
    return result, nullable


def _merged(schema: dict[str, Any]) -> dict[str, Any]:
    """Merge the parts of an `allOf` into the schema around them, as far as one schema can say both."""
    result = {keyword: value for keyword, value in schema.items() if keyword != "allOf"}
    for part in schema.get("allOf", ()):
        if isinstance(part, dict):
            result = _over(_merged(part), result)
    return result


def _over(base: dict[str, Any], branch: Any) -> dict[str, Any]:
    """Lay one schema over another: properties and required are joined, the upper one wins elsewhere."""
    if not isinstance(branch, dict):
        return base
    result = {**base, **branch}
    if "properties" in base and "properties" in branch:
        result["properties"] = {**base["properties"], **branch["properties"]}
    if "required" in base and "required" in branch:
        result["required"] = list(dict.fromkeys([*base["required"], *branch["required"]]))
    if "description" in base and "description" in branch and base["description"] != branch["description"]:
        result["description"] = f"{base['description']} {branch['description']}"
    return result


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
