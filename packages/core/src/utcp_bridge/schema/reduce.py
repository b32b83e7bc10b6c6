"""Schemas for providers that know few keywords: what they cannot be told is told in the description."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from utcp_bridge.schema.outline import expectation

_LOOK_AROUND = re.compile(r"\(\?(?:=|!|<=|<!)|\\[pPk]")
_BOUNDS = {"exclusiveMinimum": "above", "exclusiveMaximum": "below", "multipleOf": "a multiple of"}
_ANY_SCALAR = ("string", "number", "boolean")
_MAX_NOTED_VALUES = 20
_MAX_DEPTH = 24
_AS_TEXT = "A JSON object, given as JSON text"


@dataclass(frozen=True, slots=True)
class Profile:
    """What a provider can be told.

    Attributes:
        keywords: The keywords of values that it takes as they are.
        formats: The formats that it knows.
        says_nullable: Whether null is allowed by `nullable: true`, and not by a type.
        enums_of_strings: Whether only strings may be enumerated.
        is_closed: Whether every object must name all its properties, all of them required.
    """

    keywords: frozenset[str]
    formats: frozenset[str]
    says_nullable: bool
    enums_of_strings: bool
    is_closed: bool


# The fields of the protobuf message `Schema` (ai.google.dev/api/caching#Schema). Others fail the request as unknown
# names: additionalProperties (brainlid/langchain#599), propertyNames (tailcallhq/forgecode#3426), exclusiveMinimum and
# multipleOf (decolua/9router#3018), title and default in older versions (oaustegard/claude-skills#748). A type is one
# value, never a list (brightwave-inc/tidebreak#1516). An enumeration holds strings (microsoft/azure-devops-mcp#145).
GEMINI = Profile(
    keywords=frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern"}),
    formats=frozenset({"date-time", "int32", "int64", "float", "double"}),
    says_nullable=True,
    enums_of_strings=True,
    is_closed=False,
)
# OpenAI's guide to structured outputs, "Supported schemas": all fields required, additionalProperties false, optional
# by union with null, no allOf, oneOf, not or conditionals.
OPENAI_STRICT = Profile(
    keywords=frozenset(
        {"minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"}
    ),
    formats=frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}),
    says_nullable=False,
    enums_of_strings=False,
    is_closed=True,
)


def reduced(schema: dict[str, Any], profile: Profile) -> dict[str, Any]:
    """Reduce an arguments schema without references to what a profile can say."""
    reducer = _Reducer(profile)
    result = reducer.object({**schema, "type": "object"}, 0)
    notes = reducer.notes(schema, result)
    if notes:
        result["description"] = notes
    return result


class _Reducer:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def schema(self, schema: Any, depth: int) -> dict[str, Any]:
        if depth > _MAX_DEPTH:
            return {"type": "string", "description": "Given as JSON text."}
        if not isinstance(schema, dict):
            schema = {}
        schema, nullable = _without_null(_merged(schema))
        choices = schema.get("anyOf") or schema.get("oneOf")
        types = _types(schema)
        if choices:
            base = {keyword: value for keyword, value in schema.items() if keyword not in ("anyOf", "oneOf")}
            branches = [_over(base, branch) for branch in choices]
        elif len(types) > 1:
            branches = [{**schema, "type": name} for name in types]
        else:
            result = self._one(schema, types[0], depth)
            return self._nullable(result) if nullable else result
        made = [self.schema(branch, depth + 1) for branch in branches]
        unique = [branch for index, branch in enumerate(made) if branch not in made[:index]]
        result = unique[0] if len(unique) == 1 else {"anyOf": unique}
        return self._nullable(result) if nullable else result

    def _one(self, schema: dict[str, Any], kind: str, depth: int) -> dict[str, Any]:
        if kind == "object":
            result = self.object(schema, depth)
        elif kind == "array":
            result = {"type": "array", "items": self._items(schema, depth)}
        else:
            result = {"type": kind}
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if values and (not self._profile.enums_of_strings or all(isinstance(value, str) for value in values)):
            result["enum"] = values
        for keyword in self._profile.keywords & schema.keys():
            if _fits(keyword, kind) and not (keyword == "pattern" and _LOOK_AROUND.search(schema["pattern"])):
                result[keyword] = schema[keyword]
        if schema.get("format") in self._profile.formats and kind in ("string", "integer", "number"):
            result["format"] = schema["format"]
        if notes := self.notes(schema, result):
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
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if values and "enum" not in result:
            said.append(f"One of {', '.join(_json(value) for value in values[:_MAX_NOTED_VALUES])}")
        said += [
            f"Must be {word} {schema[keyword]}"
            for keyword, word in _BOUNDS.items()
            if keyword in schema and keyword not in result
        ]
        if "format" in schema and "format" not in result:
            said.append(f"Format: {schema['format']}")
        if "pattern" in schema and "pattern" not in result and result.get("type") == "string":
            said.append(f"Pattern: {schema['pattern']}")
        if result.get("type") == "string" and _types(schema) == ["object"]:
            said.append(_AS_TEXT)
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
    if types is not None:
        return [types] if isinstance(types, str) else types
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values:
        kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
        return list(dict.fromkeys(kinds[type(value)] for value in values if value is not None)) or ["string"]
    for kind, keywords in _TELLING.items():
        if keywords & schema.keys():
            return [kind]
    return list(_ANY_SCALAR)


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
