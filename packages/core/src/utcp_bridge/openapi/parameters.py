"""Parameters: path, query, header and cookie, with the styles of OpenAPI 3 and the formats of Swagger 2.0."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from utcp_bridge.openapi.arguments import Arguments
from utcp_bridge.openapi.describing import argument_schema
from utcp_bridge.openapi.media import FORM, is_json, kind_of
from utcp_bridge.openapi.nodes import Node, OperationError, key_text, mapping, text
from utcp_bridge.openapi.schemas import Schema, SchemaReader

BODY: Final = "body"
"""The argument that is a whole body, as upstream names it."""

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_LOOSE = re.compile(r"[^a-z0-9]+")
_LOCATIONS = frozenset({"path", "query", "header", "cookie"})
# Each style of a location, and whether it explodes by default (OpenAPI 3.2, section 4.12.2.2).
_STYLES: Mapping[str, Mapping[str, bool]] = {
    "path": {"simple": False, "label": False, "matrix": False},
    "query": {"form": True, "spaceDelimited": False, "pipeDelimited": False, "deepObject": True},
    "header": {"simple": False},
    "cookie": {"form": True},
}
# Swagger 2.0, "collectionFormat" of the Parameter Object.
_DELIMITED: Mapping[str, str] = {"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}
# OpenAPI 3.0.3, section 4.7.12.1: these are described elsewhere.
_NOT_PARAMETERS = frozenset({"accept", "authorization", "content-type"})
# The connection writes them.
_OF_THE_CONNECTION = frozenset(
    {
        *("connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    }
)
_SWAGGER_SCHEMA = frozenset(
    {
        *("type", "format", "items", "default", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
        *("maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "enum", "multipleOf"),
        *("x-nullable", "x-example"),
    }
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A Parameter Object.

    Attributes:
        name: Its name on the wire.
        location: Its `in`; `"formData"` in Swagger 2.0 is a field of the body.
        node: The object.
    """

    name: str
    location: str
    node: Node

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.location == "path" or self.node.fields.get("required") is True

    def schema(self, reader: SchemaReader) -> Schema:
        """Its schema, converted, with what the parameter says about itself."""
        fields = self.node.fields
        converted = reader.read(self.schema_node)
        example = fields.get("example", fields.get("x-example"))
        value = argument_schema(
            converted.value, fields.get("description"), deprecated=fields.get("deprecated") is True, example=example
        )
        return Schema(value, converted.uses)

    @property
    def schema_node(self) -> Node:
        """The schema as the document writes it."""
        if "schema" in self.node.fields:
            return self.node.get("schema")
        _, media = self.content
        if media is not None:
            return media.get("schema")
        own = {key: value for key, value in self.node.fields.items() if key in _SWAGGER_SCHEMA}
        return Node(own, self.node.base)

    @property
    def content(self) -> tuple[str, Node | None]:
        """The media type that its value is written in, if the document gives it one, and what it says of that."""
        return next(self.node.get("content").items(), ("", None))


def read_parameters(nodes: Iterable[Node], *, is_swagger: bool) -> list[Parameter]:
    """The parameters that a caller gives, without those that other parts of the description or the connection give.

    Raises:
        OperationError: One of them has a place that a request does not have.
    """
    found: list[Parameter] = []
    for node in nodes:
        parameter = Parameter(key_text(node.fields.get("name")), text(node.fields.get("in")), node)
        lower = parameter.name.lower()
        if parameter.location not in _LOCATIONS | {"body", "formData", "querystring"}:
            raise OperationError(f"the parameter {parameter.name!r} is in {parameter.location!r}, which is no place")
        if parameter.location == "header" and (
            lower in _OF_THE_CONNECTION or (not is_swagger and lower in _NOT_PARAMETERS)
        ):
            continue
        found.append(parameter)
    return found


def add_parameters(
    arguments: Arguments,
    parameters: Iterable[Parameter],
    url_path: str,
    reader: SchemaReader,
    *,
    credentials: Collection[tuple[str, str]] = (),
    has_body: bool = False,
) -> str:
    """Make arguments of the parameters outside of the body.

    Args:
        arguments: Where they are added.
        parameters: The operation's parameters.
        url_path: The path as the document writes it.
        reader: Converts their schemas.
        credentials: Location and lower-case name of what a security scheme fills already.
        has_body: Whether the name `body` is taken.

    Returns:
        The path, its placeholders spelt as the parameters are.

    Raises:
        OperationError: A parameter cannot be written.
    """
    placeholders = list(dict.fromkeys(_PLACEHOLDER.findall(url_path)))
    wanted: list[Parameter] = []
    spellings: dict[str, str] = {}
    for parameter in parameters:
        if parameter.location in ("body", "formData") or (parameter.location, parameter.name.lower()) in credentials:
            continue
        if parameter.location == "path":
            placeholder = _placeholder(parameter.name, placeholders)
            if placeholder is None:
                continue  # the path has no room for it
            placeholders.remove(placeholder)
            spellings[placeholder] = parameter.name
        wanted.append(parameter)
    implied = {"in": "path", "schema": {"type": "string"}, "description": "Part of the path."}
    wanted += [Parameter(name, "path", Node(implied, "")) for name in placeholders]
    counts = Counter(parameter.name for parameter in wanted)
    mapped = arguments.template.setdefault("parameters", [])
    for parameter in wanted:
        ambiguous = counts[parameter.name] > 1 or (has_body and parameter.name == BODY)
        name = f"{parameter.location}_{parameter.name}" if ambiguous else parameter.name or parameter.location
        schema = parameter.schema(reader)
        name = arguments.add(name, schema.value, schema.uses, required=parameter.required)
        mapped.append({"argument": name, "name": parameter.name, **_written(parameter, reader)})
    return _PLACEHOLDER.sub(lambda match: f"{{{spellings.get(match[1], match[1])}}}", url_path)


def delimited(fields: Mapping[Any, Any]) -> tuple[str, bool]:
    """Style and explode that Swagger 2.0's `collectionFormat` stands for; it is `csv` by default."""
    format_name = fields.get("collectionFormat")
    if format_name == "multi":
        return "form", True
    return _DELIMITED.get(str(format_name), "form"), False


def _written(parameter: Parameter, reader: SchemaReader) -> dict[str, Any]:
    """How the argument is written, in the terms of the call template."""
    fields = parameter.node.fields
    location = parameter.location
    content_type, _ = parameter.content
    if location == "querystring":
        if kind_of(content_type) != FORM:
            raise OperationError(f"its whole query is {content_type or 'of no type'}, which cannot be written")
        return {"location": "query", "style": "form", "explode": True}
    if content_type and "schema" not in fields:
        return {"location": location, "json_content": is_json(kind_of(content_type))}
    if "schema" not in fields and "type" in fields:  # Swagger 2.0
        if mapping(fields).get("type") != "array":
            return {"location": location}
        style, explodes = delimited(fields)
        if location in ("path", "header") and style == "form":
            style = "simple"
        return {"location": location, "style": style, "explode": explodes and location == "query"}
    styles = _STYLES[location]
    style = text(fields.get("style"))
    if style not in styles:
        style = next(iter(styles))
    explode = fields.get("explode")
    explodes = explode if isinstance(explode, bool) else styles[style]
    written: dict[str, Any] = {"location": location, "style": style, "explode": explodes}
    if fields.get("allowReserved") is True and location == "query":
        written["allow_reserved"] = True
    return written


def _placeholder(name: str, placeholders: list[str]) -> str | None:
    """The placeholder that a path parameter is for: of its name, or of one that differs in spelling only."""
    if name in placeholders:
        return name
    alike = [placeholder for placeholder in placeholders if _loose(placeholder) == _loose(name)]
    return alike[0] if len(alike) == 1 else None


def _loose(name: str) -> str:
    return _LOOSE.sub("", name.lower())
