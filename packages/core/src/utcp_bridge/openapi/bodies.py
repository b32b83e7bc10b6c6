"""Request bodies: the media type that is sent, and the arguments that it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.openapi import media
from utcp_bridge.openapi.arguments import Arguments
from utcp_bridge.openapi.describing import argument_schema, examples_of
from utcp_bridge.openapi.encodings import add_encodings, add_listed_parts, add_part_headers
from utcp_bridge.openapi.nodes import Node, OperationError, mapping
from utcp_bridge.openapi.objects import ObjectView, object_view
from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.parameters import BODY, Parameter
from utcp_bridge.openapi.references import Documents
from utcp_bridge.openapi.schemas import Schema, SchemaReader
from utcp_bridge.openapi.styles import delimited, form_style
from utcp_bridge.openapi.uploads import ANY_PARTS, FILE_SCHEMA, Upload, Uploads

_COMPOSING = ("$ref", "allOf", "anyOf", "oneOf")


class BodyReader:
    """Makes arguments of request bodies.

    Args:
        documents: The documents.
        reader: Converts schemas of inputs.
        preferred: Globs of media types, the most wanted first.
        flatten: Whether the properties of an object become arguments of their own.
        parts_have_styles: Whether styles count in a multipart form, as they do since OpenAPI 3.1.
    """

    def __init__(
        self,
        documents: Documents,
        reader: SchemaReader,
        *,
        preferred: Sequence[str] = (),
        flatten: bool = False,
        parts_have_styles: bool = False,
    ) -> None:
        self._documents = documents
        self._reader = reader
        self._preferred = preferred
        self._flatten = flatten
        self._parts_have_styles = parts_have_styles
        self._uploads = Uploads(documents)

    def has_body_argument(self, operation: Operation, parameters: Iterable[Parameter]) -> bool:
        """Whether an argument of the name `body` may be needed."""
        return "requestBody" in operation.node.fields or any(parameter.location == "body" for parameter in parameters)

    def add(
        self, arguments: Arguments, operation: Operation, parameters: Sequence[Parameter], consumes: Sequence[str]
    ) -> None:
        """Make the arguments of an operation's body, if it has one.

        Args:
            arguments: Where they are added.
            operation: The operation.
            parameters: Its parameters; in Swagger 2.0 some of them are the body.
            consumes: Swagger 2.0's media types for it.

        Raises:
            OperationError: The body cannot be read.
        """
        arguments.template["body_field"] = None
        body = next((parameter for parameter in parameters if parameter.location == "body"), None)
        fields = [parameter for parameter in parameters if parameter.location == "formData"]
        if body is not None:
            content = {
                kind: Node({"schema": body.schema_node.value}, body.node.base) for kind in consumes or [media.JSON]
            }
            self._add_content(arguments, content, body.node)
        elif fields:
            self._add_form_fields(arguments, fields, consumes)
        elif "requestBody" in operation.node.fields:
            node = self._followed(operation.node.get("requestBody"), "its requestBody")
            content = {
                kind: self._followed(value, f"the {kind} of its requestBody")
                for kind, value in node.get("content").items()
                if not kind.startswith("x-")
            }
            if content:
                self._add_content(arguments, content, node)

    def _followed(self, node: Node, what: str) -> Node:
        try:
            return self._documents.follow(node)
        except OperationError as error:
            raise OperationError(f"{what} cannot be read: {error}") from error

    # -- OpenAPI 3, and the `body` of Swagger 2.0

    def _add_content(self, arguments: Arguments, content: Mapping[str, Node], body: Node) -> None:
        written = self._best(content)
        described = content[written]
        schema = described.get("schema")
        resolved = self._uploads.resolved(schema)
        content_type = media.concrete(written, is_string=resolved.fields.get("type") in ("string", "file"))
        if "$" in content_type:  # a variable of the user's, for UTCP
            raise OperationError(f"its requestBody has the media type {content_type!r}, which is none")
        kind = media_type(content_type)
        arguments.template["content_type"] = content_type
        required = body.fields.get("required") is True
        is_form = kind == media.FORM or kind.startswith("multipart/")
        is_object = (is_form or (self._flatten and is_json(kind))) and isinstance(schema.value, Mapping)
        view = object_view(self._documents, schema) if is_object else ObjectView()
        encodings = described.get("encoding")
        upload = self._uploads.of(schema, encodings) if is_form else Upload()
        if is_form:
            add_encodings(
                arguments.template,
                encodings,
                view,
                kind,
                upload.files,
                self._uploads,
                parts_have_styles=self._parts_have_styles,
            )
        if self._flatten and view.is_exact and view.properties and not view.is_open:
            self._add_properties(arguments, view, list(upload.files), required=required)
        else:
            converted = self._body_schema(kind, described, upload, arguments.template)
            examples = examples_of(described.fields)
            value = argument_schema(converted.value, body.fields.get("description"), examples=examples)
            arguments.template["body_field"] = arguments.add(BODY, value, converted.uses, required=required)
        if kind.startswith("multipart/"):
            add_part_headers(arguments, encodings, view.required if required else (), self._documents, self._reader)

    def _best(self, content: Mapping[str, Node]) -> str:
        written = media.best(list(content), self._preferred)
        multipart = next((kind for kind in content if media_type(kind) == media.MULTIPART), None)
        if multipart is not None and media_type(written) == media.FORM and not self._preferred:
            described = content[multipart]
            if self._uploads.of(described.get("schema"), described.get("encoding")).files:
                return multipart
        return written

    def _body_schema(self, kind: str, described: Node, upload: Upload, template: dict[str, Any]) -> Schema:
        schema = described.get("schema")
        resolved = self._uploads.resolved(schema)
        if kind.startswith("multipart/"):
            if kind != media.MULTIPART and (
                listed := add_listed_parts(template, described, self._uploads, self._reader)
            ):
                return listed
            if not _may_be_object(resolved):
                return Schema(argument_schema(dict(ANY_PARTS), resolved.fields.get("description")))
            return self._reader.read(Node(upload.schema, schema.base))
        if "itemSchema" in described.fields and schema.value is None:  # OpenAPI 3.2, section 4.14
            items = self._reader.read(described.get("itemSchema"))
            return Schema({"type": "array", "items": items.value}, items.uses)
        if kind == media.FORM:
            if schema.value is None or not (_may_be_object(resolved) or resolved.fields.get("type") == "string"):
                return Schema({"type": "object"})
            return self._reader.read(Node(upload.schema, schema.base))
        if media.is_xml(kind) and resolved.fields.get("type") != "string":
            converted = self._reader.read(schema)
            return Schema(
                {"type": "string", "contentMediaType": kind, "contentSchema": converted.value}, converted.uses
            )
        if not (is_json(kind) or media.is_json_lines(kind) or media.is_text(kind)):
            return Schema(dict(FILE_SCHEMA))
        if schema.value is None:
            return Schema({"type": "string"} if media.is_text(kind) else {})
        return self._reader.read(schema)

    def _property(self, name: str, node: Node, files: list[str]) -> Schema:
        return Schema(self._uploads.file_schema(node)) if name in files else self._reader.read(node)

    def _add_properties(self, arguments: Arguments, view: ObjectView, files: list[str], *, required: bool) -> None:
        mapped = arguments.template.setdefault("body_arguments", {})
        names: dict[str, str] = {}
        for wire, node in view.properties.items():
            if self._reader.hides(node):
                continue
            converted = self._property(wire, node, files)
            argument = f"body_{wire}" if wire in arguments.properties else wire
            must = required and wire in view.required
            argument = arguments.add(argument, converted.value, converted.uses, required=must)
            mapped[argument] = wire
            names[wire] = argument
        needed = [names[wire] for wire in view.required if wire in names]
        if required:
            arguments.template["body_required"] = True
        elif needed:
            # Without the body nothing is needed; with any of it, everything that it requires.
            arguments.rules["dependentRequired"] = {
                argument: others
                for argument in names.values()
                if (others := [name for name in needed if name != argument])
            }

    # -- forms

    def _add_form_fields(self, arguments: Arguments, fields: Sequence[Parameter], consumes: Sequence[str]) -> None:
        """Fields of Swagger 2.0's `formData`, which are parameters there, and arguments of their own here."""
        kinds = {media_type(kind) for kind in consumes}
        files = [field.name for field in fields if field.node.fields.get("type") == "file"]
        is_multipart = bool(files) or (media.MULTIPART in kinds and media.FORM not in kinds)
        template = arguments.template
        template["content_type"] = media.MULTIPART if is_multipart else media.FORM
        if files:
            template["file_fields"] = files
        mapped = template.setdefault("body_arguments", {})
        for field in fields:
            schema = field.schema(self._reader)
            value = schema.value
            if field.name in files:
                value = argument_schema(dict(FILE_SCHEMA), field.node.fields.get("description"))
            elif mapping(field.node.fields).get("type") == "array":
                template.setdefault("form_styles", {})[field.name] = form_style(*delimited(field.node.fields))
            name = f"body_{field.name}" if field.name in arguments.properties else field.name
            mapped[arguments.add(name, value, schema.uses, required=field.required)] = field.name


def _may_be_object(node: Node) -> bool:
    """Whether an object is among what a schema says anything about."""
    types = node.fields.get("type")
    if types is None:
        return any(keyword in node.fields for keyword in ("properties", "additionalProperties", *_COMPOSING))
    return types == "object" or (isinstance(types, list) and "object" in types)
