"""Parameters: path, query, header and cookie, with the styles of OpenAPI 3 and the formats of Swagger 2.0."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.openapi.arguments import Arguments
from utcp_bridge.openapi.describing import argument_schema, examples_of
from utcp_bridge.openapi.media import FORM
from utcp_bridge.openapi.nodes import Node, OperationError, key_text, mapping, sequence, text
from utcp_bridge.openapi.paths import PLACEHOLDER, path_template, placeholder_for
from utcp_bridge.openapi.schemas import Schema, SchemaReader
from utcp_bridge.openapi.styles import delimited, field_styles

BODY: Final = "body"
"""The argument that is a whole body, as upstream names it."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_NOT_COOKIE_NAME = re.compile(r"[\s\x00-\x1f;,=\"]")  # RFC 6265, section 4.1.1; brackets are in use
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_WITH_VALUES = frozenset({"enum", "examples"})
_LOCATIONS = frozenset({"path", "query", "header", "cookie"})
# Each style of a location, and whether it explodes by default (OpenAPI 3.2, section 4.12.2.2).
_STYLES: Mapping[str, Mapping[str, bool]] = {
    "path": {"simple": False, "label": False, "matrix": False},
    "query": {"form": True, "spaceDelimited": False, "pipeDelimited": False, "deepObject": True},
    "header": {"simple": False},
    "cookie": {"form": True, "cookie": True},
}
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
        """Its schema, converted, with what the parameter says about itself; shared, so do not change it."""
        key = id(self.node.value), self.location
        if key not in reader.kept:
            reader.kept[key] = self.node.value, self._schema(reader)  # alive, so that its identity stays its own
        return reader.kept[key][1]

    def _schema(self, reader: SchemaReader) -> Schema:
        fields = self.node.fields
        converted = reader.read(self.schema_node)
        if self.location == "path" and reader.hides_all(self.schema_node):
            # Generators describe the object that a server makes of the text, such as .NET's `Version`.
            converted = Schema({"type": "string"})
        _, media = self.content
        examples = examples_of(fields) or ([] if media is None else examples_of(media.fields))
        examples = [example for example in examples if self._has_place(example)]
        value = argument_schema(
            self._writable(converted.value),
            fields.get("description"),
            deprecated=fields.get("deprecated") is True,
            examples=examples,
        )
        return Schema(value, converted.uses)

    def _has_place(self, value: Any) -> bool:
        if self.location not in ("path", "header"):
            return True
        return not isinstance(value, str) or not (_CONTROL.search(value) or (self.location == "path" and not value))

    def _writable(self, schema: Any) -> Any:
        """The schema without choices and examples that have no place in a path or a header."""
        if self.location not in ("path", "header") or not isinstance(schema, dict):
            return schema
        shown = schema
        for keyword in _WITH_VALUES & schema.keys():
            kept = [value for value in sequence(schema[keyword]) if self._has_place(value)]
            shown = {**shown, keyword: kept or schema[keyword]}
        return shown

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
        if not parameter.name and parameter.location not in ("body", "querystring"):
            continue  # nothing can be sent under no name
        if not _is_writable(parameter):
            continue
        if parameter.location == "header" and (
            lower in _OF_THE_CONNECTION or (not is_swagger and lower in _NOT_PARAMETERS)
        ):
            continue
        found.append(parameter)
    return found


def _is_writable(parameter: Parameter) -> bool:
    """Whether a request can hold its name.

    Raises:
        OperationError: It cannot, and the parameter is required.
    """
    is_legal = {
        "header": lambda name: _TOKEN.fullmatch(name) is not None,
        "cookie": lambda name: _NOT_COOKIE_NAME.search(name) is None,
    }.get(parameter.location)
    if is_legal is None or is_legal(parameter.name):
        return True
    if parameter.required:
        raise OperationError(f"a {parameter.location} cannot have the name {parameter.name!r}")
    return False


def add_parameters(
    arguments: Arguments,
    parameters: Iterable[Parameter],
    url_path: str,
    reader: SchemaReader,
    *,
    credentials: Collection[tuple[str, str]] = (),
    has_body: bool = False,
    reserved: Collection[str] = ("query",),
) -> str:
    """Make arguments of the parameters outside of the body.

    Args:
        arguments: Where they are added.
        parameters: The operation's parameters.
        url_path: The path as the document writes it.
        reader: Converts their schemas.
        credentials: Location and lower-case name of what a security scheme fills already.
        has_body: Whether the name `body` is taken.
        reserved: The locations where `allowReserved` counts; default the query, as up to OpenAPI 3.1.

    Returns:
        The path, its placeholders spelt as the parameters are.

    Raises:
        OperationError: A parameter cannot be written.
    """
    parameters = list(parameters)
    names = {
        location: [parameter.name for parameter in parameters if parameter.location == location]
        for location in ("path", "query")
    }
    template = path_template(url_path, names["path"], names["query"])
    placeholders = template.placeholders
    wanted: list[Parameter] = []
    spellings: dict[str, str] = {}
    for parameter in parameters:
        if parameter.location in ("body", "formData") or (parameter.location, parameter.name.lower()) in credentials:
            continue
        if parameter.location == "path":
            placeholder = placeholder_for(parameter.name, placeholders)
            if placeholder is None:
                continue  # the path has no room for it
            placeholders.remove(placeholder)
            spellings[placeholder] = parameter.name
        wanted.append(parameter)
    implied = {"in": "path", "schema": {"type": "string"}, "description": "Part of the path."}
    wanted += [Parameter(name, "path", Node(implied, "")) for name in placeholders]
    text_schema = {"in": "query", "schema": {"type": "string"}}
    wanted += [Parameter(name, "query", Node(text_schema, "")) for name in template.implied_query]
    counts = Counter(parameter.name for parameter in wanted)
    mapped = arguments.template.setdefault("parameters", [])
    for parameter in wanted:
        ambiguous = counts[parameter.name] > 1 or (has_body and parameter.name == BODY)
        name = f"{parameter.location}_{parameter.name}" if ambiguous else parameter.name or parameter.location
        schema = parameter.schema(reader)
        name = arguments.add(name, schema.value, schema.uses, required=parameter.required)
        wire = parameter.name
        if parameter.location == "query":
            wire = template.query_names.get(wire, wire)
        mapped.append({"argument": name, "name": wire, **placed(parameter, reserved=reserved)})
    return PLACEHOLDER.sub(lambda match: f"{{{spellings.get(match[1], match[1])}}}", template.text)


def placed(parameter: Parameter, *, reserved: Collection[str] = ()) -> dict[str, Any]:
    """Where the argument goes and how it is written there, in the terms of the call template.

    Args:
        parameter: The parameter.
        reserved: The locations where `allowReserved` counts; default none.
    """
    fields = parameter.node.fields
    location = parameter.location
    content_type, media = parameter.content
    if location == "querystring":
        if media is not None and media_type(content_type) == FORM:
            of_fields = field_styles(media.get("encoding"))
            named = {"field_styles": of_fields.escaped, "reserved_styles": of_fields.reserved}
            found = {key: value for key, value in named.items() if value}
            return {"location": "query", "style": "form", "explode": True, **found}
        return {"location": "query", "whole_query": True, "json_content": is_json(media_type(content_type))}
    if content_type and "schema" not in fields:
        kind = media_type(content_type)
        return {"location": location, "json_content": is_json(kind), "form_content": kind == FORM}
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
    if fields.get("allowReserved") is True and location in reserved:
        written["allow_reserved"] = True
    return written
