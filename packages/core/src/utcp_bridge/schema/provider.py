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
from utcp_bridge.schema.budget import TrimmedSchema, trimmed
from utcp_bridge.schema.bundled import walk, with_subschemas
from utcp_bridge.schema.choices import without_root_choices
from utcp_bridge.schema.faults import ArgumentFault, InvalidArguments
from utcp_bridge.schema.inline import inlined
from utcp_bridge.schema.outline import in_place, parts, spoken_names
from utcp_bridge.schema.profiles import GEMINI, OPENAI_STRICT, Profile
from utcp_bridge.schema.reduce import PLACEHOLDER, reduced
from utcp_bridge.schema.steps import size_of

Provider = Literal["openai", "openai-strict", "azure-openai", "anthropic", "gemini"]

_LOOK_AROUND = re.compile(r"\(\?(?:=|!|<=|<!)")
_MAX_KEY = 64
_REFUSED_IN_KEYS: Mapping[str, re.Pattern[str]] = {
    # "property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'": the Messages API's own error.
    "anthropic": re.compile(r"[^a-zA-Z0-9_.-]"),
    # Names of a protobuf struct; the function calling reference allows letters, digits and underscores.
    "gemini": re.compile(r"[^a-zA-Z0-9_]"),
}


_PROFILES: Mapping[str, Profile] = {"gemini": GEMINI, "openai-strict": OPENAI_STRICT}

# "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024": Azure OpenAI
# (OpenHands/OpenHands#4838, langchain-ai/open_deep_research#80). OpenAI itself takes longer ones since May 2025
# (run-llama/llama_index#18784).
_MAX_DESCRIPTIONS: Mapping[str, int] = {"azure-openai": 1_024}
_MAX_TRIMMINGS = 8
_CLOSING = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems")


@dataclass(frozen=True, slots=True)
class ProviderSchema:
    """What a provider is sent for one tool.

    Attributes:
        schema: The schema.
        names: For each property key that the provider refuses, by the key that it is sent: the tool's own.
        shown_names: The same the other way: by the tool's own key, the one that is sent.
        whole: The schema as it was before it was trimmed, as far as the provider takes references.
        left_out: What was left out to keep to a number of bytes, in words.
        is_reduced: Whether it makes models write what has to be read back, such as an object as text.
    """

    schema: dict[str, Any]
    names: Mapping[str, str]
    shown_names: Mapping[str, str]
    whole: dict[str, Any]
    left_out: tuple[str, ...]
    is_reduced: bool
    _original: dict[str, Any]
    _nulls_are_absent: bool
    _has_placeholder: bool

    def restore(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Give arguments that a model wrote for this schema as the tool knows them.

        They come under the tool's own names, and a null for an optional property is left out where strict mode makes
        models write one for "not given".

        Raises:
            InvalidArguments: An argument is given twice, under both its names.
        """
        given = {
            name: value for name, value in arguments.items() if not (name == PLACEHOLDER and self._has_placeholder)
        }
        if not self.names and not self._nulls_are_absent:
            return given
        restored: dict[str, Any] = self._restored(given, [self._original], ())
        return restored

    def _restored(self, value: Any, schemas: list[Any], path: tuple[str | int, ...]) -> Any:
        here = [part for schema in schemas for part in in_place(schema, self._original)]
        if isinstance(value, Mapping):
            return self._restored_object(value, here, path)
        if isinstance(value, list):
            below = [[child for part in here for child in parts(part, index)] for index in range(len(value))]
            return [
                self._restored(item, schemas, (*path, index))
                for index, (item, schemas) in enumerate(zip(value, below, strict=True))
            ]
        return value

    def _restored_object(
        self, value: Mapping[str, Any], here: list[dict[str, Any]], path: tuple[str | int, ...]
    ) -> dict[str, Any]:
        declared = {name for part in here for name in spoken_names(part)}
        required = {name for part in here for name in part.get("required", ())}
        absent_if_null = declared - required if self._nulls_are_absent else set()
        result: dict[str, Any] = {}
        for key, item in value.items():
            own = self.names.get(key, key)
            name = own if own in declared else key
            if item is None and name in absent_if_null:
                continue
            if name in result:
                shown = self.shown_names[name]
                raise InvalidArguments([ArgumentFault.at((*path, shown), f"is given twice, also as {name!r}")])
            result[name] = self._restored(item, [child for part in here for child in parts(part, name)], (*path, key))
        return result


def provider_schema(schema: Mapping[str, Any] | bool | None, provider: Provider) -> dict[str, Any]:
    """Give a copy of a tool's schema that a provider accepts.

    Args:
        schema: JSON Schema of any draft from 4 to 2020-12, or OpenAPI 3.0's form of it.
        provider: `"openai"`, `"openai-strict"` (structured outputs), `"azure-openai"`, `"anthropic"` or `"gemini"`.

    Raises:
        ValueError: The provider is not known.
    """
    return export_schema(schema, provider).schema


def provider_description(description: str, provider: Provider | None) -> str:
    """Give a tool's description at a length that a provider accepts; what had to be cut is told at its end.

    Args:
        description: The description.
        provider: See `provider_schema`; None for no provider's limits.
    """
    most = _MAX_DESCRIPTIONS.get(provider or "")
    if most is None or len(description) <= most:
        return description
    notice = f"... [cut to {most:,} of {len(description):,} characters]"
    return description[: most - len(notice)].rstrip() + notice


def export_schema(
    schema: Mapping[str, Any] | bool | None, provider: Provider, *, max_bytes: int | None = None
) -> ProviderSchema:
    """Give a copy of a tool's schema that a provider accepts, and the way back from it.

    Args:
        schema: See `provider_schema`.
        provider: See `provider_schema`.
        max_bytes: The most bytes of the copy, see `trimmed`; default None, which never trims.

    Raises:
        ValueError: The provider is not known.
    """
    if provider not in get_args(Provider):
        raise ValueError(f"There is no provider {provider!r}; the known ones are {', '.join(get_args(Provider))}.")
    original = arguments_schema(schema).shown
    # Unknown to Gemini (pydantic/pydantic-ai#1250), and of no use to any model.
    shown = {keyword: value for keyword, value in original.items() if keyword not in ("$schema", "$id")}
    names = _renames(original, provider)
    shown_names = {own: name for name, own in names.items()}
    if names:
        shown = _mapped(shown, lambda part: _with_names(part, shown_names))
    # "input_schema does not support oneOf, allOf, or anyOf at the top level" (Anthropic; langchain-ai/langchain#39271);
    # "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" (OpenAI).
    shown = without_root_choices(shown)
    if provider in ("openai", "azure-openai"):
        shown = _mapped(shown, _for_openai)
    profile = _PROFILES.get(provider)
    if profile is None:
        within, whole = trimmed(shown, max_bytes), shown
    else:
        within = _reduced(shown, profile, max_bytes)
        whole = within.schema
    return ProviderSchema(
        schema=within.schema,
        names=names,
        shown_names=shown_names,
        whole=whole,
        left_out=within.left_out,
        is_reduced=profile is not None,
        _original=original,
        _nulls_are_absent=profile is not None and profile.is_closed,
        _has_placeholder=PLACEHOLDER in within.schema["properties"] and PLACEHOLDER not in shown["properties"],
    )


def _reduced(shown: dict[str, Any], profile: Profile, max_bytes: int | None) -> TrimmedSchema:
    """Reduce a schema to a profile within a budget: what is told in words instead may make it larger again."""
    whole = inlined(shown)
    within = trimmed(whole, max_bytes)
    result = reduced(within.schema, profile)
    for _ in range(_MAX_TRIMMINGS):
        if max_bytes is None or (size := size_of(result)) <= max_bytes:
            break
        before = size_of(within.schema)
        within = trimmed(whole, min(max_bytes, before) * max_bytes // (size + 1))
        if size_of(within.schema) >= before:
            break  # there is no less of it
        result = reduced(within.schema, profile)
    return TrimmedSchema(result, within.left_out)


def _for_openai(schema: dict[str, Any]) -> dict[str, Any]:
    if False in schema.get("properties", {}).values():
        schema = {
            **schema,
            "properties": {name: child for name, child in schema["properties"].items() if child is not False},
        }
    # "True is not of type 'object'": boolean schemas are spelt out, but where every draft takes them.
    closed = {keyword: False for keyword in _CLOSING if schema.get(keyword) is False}
    spelt: dict[bool, Any] = {True: {}, False: {"not": {}}}
    schema = {**with_subschemas(schema, lambda child: spelt[child] if isinstance(child, bool) else child), **closed}
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
