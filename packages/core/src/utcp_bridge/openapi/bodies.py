"""Request bodies: the media type that is sent, and the arguments that it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from utcp_bridge.openapi import media
from utcp_bridge.openapi.arguments import Arguments
from utcp_bridge.openapi.describing import argument_schema
from utcp_bridge.openapi.nodes import Node, OperationError, mapping, sequence, text
from utcp_bridge.openapi.objects import ObjectView, object_view
from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.parameters import BODY, Parameter, delimited
from utcp_bridge.openapi.references import Documents
from utcp_bridge.openapi.schemas import Schema, SchemaReader

FILE_SCHEMA: Final[Mapping[str, Any]] = {
    "description": "A file: its text, or its content as base64.",
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "base64": {"type": "string", "description": "The content in base64."},
                "path": {"type": "string", "description": "The file's path, where uploads from a folder are allowed."},
                "filename": {"type": "string"},
                "content_type": {"type": "string", "description": "Its media type, such as image/png."},
            },
            "oneOf": [{"required": ["base64"]}, {"required": ["path"]}],
            "additionalProperties": False,
        },
    ],
}
"""What the HTTP transport takes for a file."""

_DELIMITED = frozenset({"spaceDelimited", "pipeDelimited", "tabDelimited"})


class BodyReader:
    """Makes arguments of request bodies.

    Args:
        documents: The documents.
        reader: Converts schemas of inputs.
        preferred: Globs of media types, the most wanted first.
        flatten: Whether the properties of an object become arguments of their own.
    """

    def __init__(
        self, documents: Documents, reader: SchemaReader, *, preferred: Sequence[str] = (), flatten: bool = False
    ) -> None:
        self._documents = documents
        self._reader = reader
        self._preferred = preferred
        self._flatten = flatten

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
        resolved = self._resolved(schema)
        content_type = media.concrete(written, is_string=resolved.fields.get("type") in ("string", "file"))
        kind = media.kind_of(content_type)
        arguments.template["content_type"] = content_type
        required = body.fields.get("required") is True
        is_object = kind == media.FORM or kind.startswith("multipart/") or (self._flatten and media.is_json(kind))
        view = object_view(self._documents, schema) if is_object and isinstance(schema.value, Mapping) else ObjectView()
        files = self._files(view, described) if kind.startswith("multipart/") else []
        if not media.is_json(kind):
            self._add_encoding(arguments, view, described, kind, files)
        if self._flatten and view.is_exact and view.properties and not view.is_open:
            self._add_properties(arguments, view, files, required=required)
            return
        converted = self._body_schema(kind, schema, described, view, files)
        value = argument_schema(converted.value, body.fields.get("description"))
        arguments.template["body_field"] = arguments.add(BODY, value, converted.uses, required=required)

    def _best(self, content: Mapping[str, Node]) -> str:
        written = media.best(list(content), self._preferred)
        multipart = next((kind for kind in content if media.kind_of(kind) == media.MULTIPART), None)
        if multipart is not None and media.kind_of(written) == media.FORM and not self._preferred:
            described = content[multipart]
            if self._files(object_view(self._documents, described.get("schema")), described):
                return multipart
        return written

    def _body_schema(self, kind: str, schema: Node, described: Node, view: ObjectView, files: list[str]) -> Schema:
        if files and view.is_exact:
            return self._with_files(view, files, schema)
        if "itemSchema" in described.fields and schema.value is None:  # OpenAPI 3.2, section 4.14
            items = self._reader.read(described.get("itemSchema"))
            return Schema({"type": "array", "items": items.value}, items.uses)
        if media.is_xml(kind) and self._resolved(schema).fields.get("type") != "string":
            converted = self._reader.read(schema)
            return Schema(
                {"type": "string", "contentMediaType": kind, "contentSchema": converted.value}, converted.uses
            )
        if not (
            media.is_json(kind)
            or media.is_json_lines(kind)
            or media.is_text(kind)
            or kind == media.FORM
            or kind.startswith("multipart/")
        ):
            return Schema(dict(FILE_SCHEMA))
        if schema.value is None:
            shapes: Mapping[str, dict[str, Any]] = {media.FORM: {"type": "object"}, media.MULTIPART: {"type": "object"}}
            return Schema({"type": "string"} if media.is_text(kind) else dict(shapes.get(kind, {})))
        return self._reader.read(schema)

    def _with_files(self, view: ObjectView, files: list[str], schema: Node) -> Schema:
        properties: dict[str, Any] = {}
        uses: dict[str, None] = {}
        for name, node in view.properties.items():
            if not self._reader.hides(node):
                converted = self._property(name, node, files)
                properties[name] = converted.value
                uses |= dict.fromkeys(converted.uses)
        value: dict[str, Any] = {"type": "object", "properties": properties}
        if required := [name for name in view.required if name in properties or name not in view.properties]:
            value["required"] = required
        if view.additional is not None:
            converted = self._reader.read(view.additional)
            value["additionalProperties"] = converted.value
            uses |= dict.fromkeys(converted.uses)
        description = self._resolved(schema).fields.get("description")
        return Schema(argument_schema(value, description), tuple(uses))

    def _property(self, name: str, node: Node, files: list[str]) -> Schema:
        if name not in files:
            return self._reader.read(node)
        resolved = self._resolved(node)
        file: dict[str, Any] = dict(FILE_SCHEMA)
        if _is_list(resolved):
            file = {"type": "array", "items": file}
        return Schema(argument_schema(file, resolved.fields.get("description")))

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

    def _add_encoding(
        self, arguments: Arguments, view: ObjectView, described: Node, kind: str, files: list[str]
    ) -> None:
        template = arguments.template
        if files:
            template["file_fields"] = files
        types: dict[str, str] = {}
        styles: dict[str, str] = {}
        for name, encoding in described.get("encoding").items():
            content_type = text(encoding.fields.get("contentType"))
            is_styled = any(key in encoding.fields for key in ("style", "explode", "allowReserved"))
            if kind == media.FORM and is_styled:
                styles[name] = form_style(text(encoding.fields.get("style")), encoding.fields.get("explode"))
            elif content_type and "," not in content_type and "*" not in content_type:
                types[name] = content_type
        if kind.startswith("multipart/"):
            for name, node in view.properties.items():
                declared = self._resolved(node).fields.get("contentMediaType")
                if isinstance(declared, str) and name not in types and "*" not in declared:
                    types[name] = declared
        if types:
            template["part_types"] = types
        if styles:
            template["form_styles"] = styles

    def _files(self, view: ObjectView, described: Node) -> list[str]:
        encoding = described.get("encoding")
        return [
            name
            for name, node in view.properties.items()
            if self._is_file(node, text(encoding.get(name).fields.get("contentType")))
        ]

    def _is_file(self, node: Node, content_type: str) -> bool:
        resolved = self._resolved(node)
        if _is_list(resolved):
            resolved = self._resolved(resolved.get("items"))
        fields = resolved.fields
        types = fields.get("type", "string")
        if types == "file":
            return True
        if types != "string" and types != ["string"] and types != ["string", "null"]:
            return False
        if fields.get("format") == "binary":
            return True
        if "contentEncoding" in fields or fields.get("format") in ("byte", "base64"):
            return False
        kinds = [media.kind_of(kind) for kind in (content_type or text(fields.get("contentMediaType"))).split(",")]
        return any(kind and not media.is_json(kind) and not media.is_text(kind) for kind in kinds)

    def _add_form_fields(self, arguments: Arguments, fields: Sequence[Parameter], consumes: Sequence[str]) -> None:
        """Fields of Swagger 2.0's `formData`, which are parameters there, and arguments of their own here."""
        kinds = {media.kind_of(kind) for kind in consumes}
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

    def _resolved(self, node: Node) -> Node:
        """The schema that this is or refers to, also as the only part of an `allOf`; one of None if there is none."""
        try:
            node = self._documents.follow(node)
            arms = sequence(node.fields.get("allOf"))
            if len(arms) == 1 and "type" not in node.fields:
                return self._documents.follow(Node(arms[0], node.base))
        except OperationError:
            return Node(None, node.base)
        return node


def form_style(style: str, explode: Any) -> str:
    """The style of a form's field in the transport's terms, which have one name for style and explode together."""
    if style == "deepObject":
        return style
    if style in _DELIMITED:
        return "form" if explode is True else style
    return "commaDelimited" if explode is False else "form"


def _is_list(node: Node) -> bool:
    return node.fields.get("type") in ("array", ["array"], ["array", "null"])
