"""Schemas that a model's provider accepts; the original still judges the arguments.

One schema that a provider refuses fails the whole request, so each export gives up what the provider cannot take and
says it in the description instead. Each rule gives where it was documented or reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from utcp_bridge.schema.arguments import arguments_schema
from utcp_bridge.schema.bundled import walk, with_subschemas
from utcp_bridge.schema.choices import without_root_choices
from utcp_bridge.schema.inline import inlined
from utcp_bridge.schema.outline import in_place, parts
from utcp_bridge.schema.reduce import GEMINI, OPENAI_STRICT, reduced

Provider = Literal["openai", "openai-strict", "anthropic", "gemini"]

_LOOK_AROUND = re.compile(r"\(\?(?:=|!|<=|<!)")
_MAX_KEY = 64
_REFUSED_IN_KEYS: Mapping[str, re.Pattern[str]] = {
    # "property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'": the Messages API's own error.
    "anthropic": re.compile(r"[^a-zA-Z0-9_.-]"),
    # Names of a protobuf struct; the function calling reference allows letters, digits and underscores.
    "gemini": re.compile(r"[^a-zA-Z0-9_]"),
}


@dataclass(frozen=True, slots=True)
class ProviderSchema:
    """What a provider is sent for one tool.

    Attributes:
        schema: The schema.
        names: For each property key that the provider refuses, by the key that it is sent: the tool's own.
    """

    schema: dict[str, Any]
    names: Mapping[str, str]
    _original: dict[str, Any]

    def restore(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Give arguments that a model wrote for this schema under the tool's own names."""
        if not self.names:
            return dict(arguments)
        restored: dict[str, Any] = self._restore(arguments, [self._original])
        return restored

    def shown_path(self, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """Give a location in the tool's own arguments in the names that the model was shown."""
        shown = {own: name for name, own in self.names.items()}
        return tuple(shown.get(step, step) if isinstance(step, str) else step for step in location)

    def _restore(self, value: Any, schemas: list[Any]) -> Any:
        here = [part for schema in schemas for part in in_place(schema, self._original)]
        if isinstance(value, Mapping):
            declared = {name for part in here for name in part.get("properties", {})}
            result = {}
            for key, item in value.items():
                own = self.names.get(key, key)
                name = own if own in declared else key
                result[name] = self._restore(item, [child for part in here for child in parts(part, name)])
            return result
        if isinstance(value, list):
            below = [[child for part in here for child in parts(part, index)] for index in range(len(value))]
            return [self._restore(item, schemas) for item, schemas in zip(value, below, strict=True)]
        return value


def provider_schema(schema: Mapping[str, Any] | bool | None, provider: Provider) -> dict[str, Any]:
    """Give a copy of a tool's schema that a provider accepts.

    Args:
        schema: JSON Schema of any draft from 4 to 2020-12, or OpenAPI 3.0's form of it.
        provider: `"openai"`, `"openai-strict"` (structured outputs), `"anthropic"` or `"gemini"`.

    Raises:
        ValueError: The provider is not known.
    """
    return export_schema(schema, provider).schema


def export_schema(schema: Mapping[str, Any] | bool | None, provider: Provider) -> ProviderSchema:
    """Give a copy of a tool's schema that a provider accepts, and the way back from the names in it.

    Raises:
        ValueError: The provider is not known.
    """
    if provider not in get_args(Provider):
        raise ValueError(f"There is no provider {provider!r}; the known ones are {', '.join(get_args(Provider))}.")
    original = arguments_schema(schema).shown
    # Unknown to Gemini (pydantic/pydantic-ai#1250), and of no use to any model.
    shown = {keyword: value for keyword, value in original.items() if keyword not in ("$schema", "$id")}
    # "input_schema does not support oneOf, allOf, or anyOf at the top level" (Anthropic; langchain-ai/langchain#39271);
    # "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" (OpenAI).
    shown = without_root_choices(shown)
    if provider == "gemini":
        shown = reduced(inlined(shown), GEMINI)
    elif provider == "openai-strict":
        shown = reduced(inlined(shown), OPENAI_STRICT)
    elif provider == "openai":
        shown = _mapped(shown, _for_openai)
    names = _renames(original, provider)
    if names:
        shown_names = {own: name for name, own in names.items()}
        shown = _mapped(shown, lambda part: _with_names(part, shown_names))
    return ProviderSchema(shown, names, original)


def _for_openai(schema: dict[str, Any]) -> dict[str, Any]:
    # "True is not of type 'object'": boolean schemas are spelt out.
    schema = with_subschemas(schema, lambda child: {} if child is True else child)
    if False in schema.get("properties", {}).values():
        schema = {
            **schema,
            "properties": {name: child for name, child in schema["properties"].items() if child is not False},
        }
    # "regex lookaround is not supported" (cline/cline#14019, vercel/ai#21037).
    if _LOOK_AROUND.search(schema.get("pattern", "")):
        schema = {keyword: value for keyword, value in schema.items() if keyword != "pattern"}
    types = schema.get("type", ())
    # "array schema missing items" (modelscope/ms-agent#610).
    if "array" in ([types] if isinstance(types, str) else types) and "items" not in schema:
        schema = {**schema, "items": {}}
    return schema


def _renames(original: dict[str, Any], provider: str) -> dict[str, str]:
    refused = _REFUSED_IN_KEYS.get(provider)
    if refused is None:
        return {}
    own_names = set(_property_names(original))
    names: dict[str, str] = {}
    for own in sorted(own_names):
        if own and len(own) <= _MAX_KEY and not refused.search(own) and not (provider == "gemini" and own[0].isdigit()):
            continue
        wanted = refused.sub("_", own) or "unnamed"
        if provider == "gemini" and wanted[0].isdigit():
            wanted = f"_{wanted}"
        name, number = wanted[:_MAX_KEY], 2
        while name in names or name in own_names:
            suffix = f"_{number}"
            name, number = wanted[: _MAX_KEY - len(suffix)] + suffix, number + 1
        names[name] = own
    return names


def _property_names(schema: dict[str, Any]) -> Iterator[str]:
    for top in (schema, *schema.get("$defs", {}).values()):
        for part in walk(top):
            yield from part.get("properties", ())
            yield from part.get("required", ())


def _with_names(schema: dict[str, Any], shown: Mapping[str, str]) -> dict[str, Any]:
    changed = dict(schema)
    for keyword in ("properties", "dependentSchemas", "dependentRequired"):
        if keyword in schema:
            changed[keyword] = {shown.get(name, name): value for name, value in schema[keyword].items()}
    if "dependentRequired" in changed:
        changed["dependentRequired"] = {
            name: [shown.get(other, other) for other in others] for name, others in changed["dependentRequired"].items()
        }
    if "required" in schema:
        changed["required"] = [shown.get(name, name) for name in schema["required"]]
    return changed


def _mapped(schema: Any, change: Any) -> Any:
    """Copy a schema with a change made to each of its subschemas, innermost first."""
    if not isinstance(schema, dict):
        return schema
    return change(with_subschemas(schema, lambda child: _mapped(child, change)))
