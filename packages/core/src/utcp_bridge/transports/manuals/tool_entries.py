"""One tool of a manual, in whatever shape its author left it.

What has one plain meaning is mended. The shapes come from the UTCP specification (0.1 to 1.1), from python-utcp 0.2 to
1.2, go-utcp and typescript-utcp, and from manuals in the wild.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from utcp_bridge.config.legacy import tool_call_template_from_provider
from utcp_bridge.transports.drafts import DraftTool

# `tool_provider` is UTCP 0.2, `provider` UTCP 0.1, `tool_transport` a draft between 0.2 and 1.0.
TEMPLATE_KEYS = ("tool_call_template", "tool_provider", "provider", "tool_transport", "call_template")
"""The names under which a tool says how it is called."""

_WITH_AUTH = frozenset({"http", "sse", "streamable_http"})
_INPUT_KEYS = ("inputs", "parameters", "input_schema", "inputSchema", "args_schema")
_OUTPUT_KEYS = ("outputs", "output_schema", "outputSchema", "returns")

# Keywords of JSON Schema (draft 4 to 2020-12) and OpenAPI whose value is an object.
_SCHEMA_HOLDERS = frozenset(
    {
        *("$defs", "definitions", "properties", "patternProperties", "additionalProperties", "propertyNames"),
        *("items", "additionalItems", "contains", "contentSchema", "not", "if", "then", "else", "default", "const"),
        *("dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"),
        *("example", "discriminator", "xml", "externalDocs"),
    }
)
_SCHEMA_MARKS = frozenset({"type", "$ref", "enum", "const", "description", "anyOf", "oneOf", "allOf", "properties"})


class UnusableToolError(ValueError):
    """One tool cannot be used."""


def draft_tool(place: str, entry: Any, auth: Mapping[str, Any] | None = None) -> DraftTool:
    """Read one entry of a manual.

    Args:
        place: Where it stands in the manual, for the reason of an error.
        entry: A JSON value.
        auth: The credentials of a tool that is called over HTTP and says nothing of its own; default None.

    Raises:
        UnusableToolError: It has no name, or does not say how the tool is called.
    """
    if not isinstance(entry, Mapping):
        raise UnusableToolError(f"{place} is {shape_of(entry)}, expected an object")
    function = entry.get("function")
    if isinstance(function, Mapping) and "name" not in entry:  # OpenAI's spelling: {"type": "function", "function": ..}
        entry = {**function, **{key: value for key, value in entry.items() if key not in {"function", "type"}}}
    name = name_of(entry)
    if name is None:
        raise UnusableToolError(f"{place} has no name")
    template = _template(entry)
    if auth is not None and template["call_template_type"] in _WITH_AUTH and "auth" not in template:
        template["auth"] = dict(auth)
    return DraftTool(
        name=name,
        description=_description(entry, template),
        tags=_tags(entry.get("tags")),
        inputs=_inputs(entry),
        outputs=_outputs(entry),
        average_response_size=_size(entry.get("average_response_size")),
        template=template,
    )


def name_of(entry: Any) -> str | None:
    """The name of an entry, or None."""
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if isinstance(name, bool) or not isinstance(name, (str, int, float)):
        return None
    return str(name).strip() or None


def _template(entry: Mapping[str, Any]) -> dict[str, Any]:
    key = next((key for key in TEMPLATE_KEYS if entry.get(key) is not None), None)
    if key is None:
        raise UnusableToolError("it has no 'tool_call_template', so the manual does not say how to call it")
    if not isinstance(entry[key], Mapping):
        raise UnusableToolError(f"its {key!r} is {shape_of(entry[key])}, expected an object")
    template = tool_call_template_from_provider(entry[key])
    if not isinstance(template.get("call_template_type"), str):
        raise UnusableToolError(f'its {key!r} has no \'call_template_type\', such as "http" or "cli"')
    for field_name in ("headers", "env_vars"):
        if isinstance(template.get(field_name), Mapping):
            template[field_name] = {str(k): text_of(v) for k, v in template[field_name].items() if v is not None}
    if isinstance(template.get("header_fields"), str):
        template["header_fields"] = [template["header_fields"]]
    return template


def text_of(value: Any) -> str:
    """A value as the text that it stands for in a header: `true`, not `True`."""
    return ("false", "true")[value] if isinstance(value, bool) else str(value)


def _inputs(entry: Mapping[str, Any]) -> dict[str, Any] | bool:
    key = next((key for key in _INPUT_KEYS if entry.get(key) is not None), None)
    if key is None:
        return {}
    value = entry[key]
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        return _schema_of_parameters(value, key)
    if not isinstance(value, Mapping):
        raise UnusableToolError(f"its {key!r} is {shape_of(value)}, expected a JSON Schema")
    return _schema_of_properties(value) if _is_bare_map(value) else dict(value)


def _is_bare_map(value: Mapping[str, Any]) -> bool:
    """Whether this is a map of argument to schema, which stands for an object schema with these properties."""
    return (
        bool(value)
        and _SCHEMA_HOLDERS.isdisjoint(value)
        and all(isinstance(item, Mapping) and not _SCHEMA_MARKS.isdisjoint(item) for item in value.values())
    )


def _schema_of_properties(properties: Mapping[str, Any]) -> dict[str, Any]:
    required = [name for name, item in properties.items() if isinstance(item, Mapping) and item.get("required") is True]
    bare = {
        name: {k: v for k, v in item.items() if k != "required" or not isinstance(v, bool)}
        if isinstance(item, Mapping)
        else item
        for name, item in properties.items()
    }
    return {"type": "object", "properties": bare, **({"required": required} if required else {})}


def _schema_of_parameters(parameters: Sequence[Any], key: str) -> dict[str, Any]:
    """A list of `{"name": ..., "type": ..., "required": true}`, made the object schema that it stands for."""
    properties: dict[str, Any] = {}
    for item in parameters:
        name = name_of(item)
        if name is None:
            raise UnusableToolError(f"its {key!r} is a list whose items are no named parameters, not a JSON Schema")
        schema = item.get("schema") if isinstance(item.get("schema"), Mapping) else {}
        properties[name] = {**schema, **{k: v for k, v in item.items() if k not in {"name", "schema", "in"}}}
    return _schema_of_properties(properties)


def _outputs(entry: Mapping[str, Any]) -> dict[str, Any]:
    value: Mapping[str, Any] = next((entry[key] for key in _OUTPUT_KEYS if isinstance(entry.get(key), Mapping)), {})
    return _schema_of_properties(value) if _is_bare_map(value) else dict(value)


def _description(entry: Mapping[str, Any], template: Mapping[str, Any]) -> str:
    for key in ("description", "summary", "title"):
        if isinstance(entry.get(key), str) and entry[key].strip():
            return str(entry[key])
    url = template.get("url")
    if template.get("call_template_type") == "http" and isinstance(url, str):
        return f"{template.get('http_method') or 'GET'} {_path(url)}"
    return ""


def _path(url: str) -> str:
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return "/"


def _tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(tag.strip() for tag in value.split(",") if tag.strip())
    return tuple(str(tag) for tag in value if tag is not None) if isinstance(value, (list, tuple)) else ()


def _size(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return int(float(value))
    except (ValueError, OverflowError):
        return None


def shape_of(value: Any) -> str:
    """What kind of JSON value this is, in words."""
    if isinstance(value, Mapping):
        return "an object"
    return {
        type(None): "missing",
        bool: "true or false",
        str: "text",
        int: "a number",
        float: "a number",
        list: "a list",
    }.get(type(value), f"a {type(value).__name__}")
