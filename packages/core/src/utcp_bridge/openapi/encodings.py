"""What forms say of their fields beside the schema: content types, styles, and headers of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import zip_longest
from typing import Any

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.openapi import media
from utcp_bridge.openapi.arguments import Arguments
from utcp_bridge.openapi.nodes import Node, text
from utcp_bridge.openapi.objects import ObjectView
from utcp_bridge.openapi.parameters import BODY, Parameter, placed, read_parameters
from utcp_bridge.openapi.references import Documents
from utcp_bridge.openapi.schemas import Schema, SchemaReader
from utcp_bridge.openapi.styles import FieldStyles, field_styles
from utcp_bridge.openapi.uploads import Uploads, is_list

# The content type is described elsewhere (OpenAPI 3.0.3, section 4.7.15), and the name is the form's.
_NOT_OF_THE_AUTHOR = frozenset({"content-disposition", "content-type"})


def add_encodings(
    template: dict[str, Any],
    encodings: Node,
    view: ObjectView,
    kind: str,
    files: Collection[str],
    uploads: Uploads,
    *,
    parts_have_styles: bool,
) -> None:
    """Say in a call template how the fields of a form are written.

    Args:
        template: The fields of the call template.
        encodings: The Encoding Objects by name.
        view: The properties of the form.
        kind: Its media type.
        files: The properties that are files.
        uploads: Finds files.
        parts_have_styles: Whether styles count in a multipart form, as they do since OpenAPI 3.1.
    """
    if files:
        template["file_fields"] = list(files)
    if kind == media.FORM or (parts_have_styles and kind == media.MULTIPART):
        styles = field_styles(encodings)
        if kind == media.MULTIPART:  # nothing is percent-encoded there
            escaped = {**styles.escaped, **styles.reserved}
            styles = FieldStyles({name: style for name, style in escaped.items() if name not in files})
        template |= {"form_styles": styles.escaped, "reserved_styles": styles.reserved}
    styled = {*template.get("form_styles", ()), *template.get("reserved_styles", ())}
    types: dict[str, str] = {}
    for name, encoding in encodings.items():
        content_type = text(encoding.fields.get("contentType"))
        is_choice = "," in content_type or "*" in content_type
        if content_type and name not in styled and (name in files or not is_choice):
            types[name] = content_type
    if kind.startswith("multipart/"):
        for name, node in view.properties.items():
            declared = text(uploads.resolved(node).fields.get("contentMediaType"))
            # A text that is JSON is the argument itself, and would be written as JSON once more.
            is_written = name in files or not ("*" in declared or is_json(media_type(declared)))
            if declared and name not in types and is_written:
                types[name] = declared
    # A dollar sign would begin a variable of the user's.
    template["part_types"] = {name: declared for name, declared in types.items() if "$" not in declared}


def add_listed_parts(
    template: dict[str, Any], described: Node, uploads: Uploads, reader: SchemaReader
) -> Schema | None:
    """Say how the parts of a multipart body are written that have a place instead of a name.

    OpenAPI 3.2, section 4.15.

    Args:
        template: The fields of the call template.
        described: The Media Type Object.
        uploads: Finds files.
        reader: Converts the schemas of the parts.

    Returns:
        The schema of the list of parts, or None if it is no list.
    """
    schema = uploads.resolved(described.get("schema"))
    if not (is_list(schema) or "itemSchema" in described.fields):
        return None
    types: dict[str, str] = {}
    files: list[str] = []
    uses: dict[str, None] = {}

    def part(key: str, node: Node, encoding: Node) -> Any:
        content_type = text(encoding.fields.get("contentType"))
        types[key] = "" if "$" in content_type else content_type
        if uploads.is_file(node, content_type):
            files.append(key)
            return uploads.file_schema(node)
        converted = reader.read(node)
        uses.update(dict.fromkeys(converted.uses))
        return converted.value

    value = {key: schema.fields[key] for key in ("minItems", "maxItems", "description") if key in schema.fields}
    value["type"] = "array"
    encodings = list(described.get("prefixEncoding").elements())
    if prefix := list(schema.get("prefixItems").elements()):
        none = Node(None, schema.base)
        pairs = zip_longest(prefix, encodings[: len(prefix)], fillvalue=none)
        value["prefixItems"] = [part(str(index), *pair) for index, pair in enumerate(pairs)]
    items = described.get("itemSchema") if "itemSchema" in described.fields else schema.get("items")
    value["items"] = part("*", items, described.get("itemEncoding"))
    template |= {"part_types": types, "file_fields": files}
    return Schema(value, tuple(uses))


def add_part_headers(
    arguments: Arguments, encodings: Node, needed: Collection[str], documents: Documents, reader: SchemaReader
) -> None:
    """Make arguments of the headers that parts of a multipart body have.

    Args:
        arguments: Where they are added.
        encodings: The Encoding Objects by the name of the part.
        needed: The parts that every call sends.
        documents: The documents.
        reader: Converts their schemas.
    """
    found: list[tuple[str, Parameter]] = []
    for part, encoding in encodings.items():
        for name, node in encoding.get("headers").items():
            if name.lower() not in _NOT_OF_THE_AUTHOR:
                fields = {**documents.follow(node).fields, "name": name, "in": "header"}
                node = Node(fields, documents.follow(node).base)
                found += [(part, header) for header in read_parameters([node], is_swagger=False)]
    counts = Counter(header.name for _, header in found)
    for part, header in found:
        is_taken = counts[header.name] > 1 or header.name == BODY or header.name in arguments.properties
        schema = header.schema(reader)
        argument = arguments.add(
            f"{part}_{header.name}" if is_taken else header.name,
            schema.value,
            schema.uses,
            required=header.required and part in needed,
        )
        where = {**placed(header), "location": "part", "part": part}
        arguments.template["parameters"].append({"argument": argument, "name": header.name, **where})
