"""Files in multipart bodies: which properties are files, and how an argument gives one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.openapi import media
from utcp_bridge.openapi.describing import argument_schema
from utcp_bridge.openapi.nodes import Node, OperationError, key_text, mapping, sequence, text
from utcp_bridge.openapi.references import Documents

FILE_SCHEMA: Final[Mapping[str, Any]] = {
    "description": "A file.",
    "anyOf": [
        {"type": "string", "description": "The file's text."},
        {
            "type": "object",
            "description": "A file that is no text, or has a name or type of its own.",
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

ANY_PARTS: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "The fields of the form by name.",
    "additionalProperties": {"anyOf": [*FILE_SCHEMA["anyOf"], {"type": ["number", "boolean"]}]},
}
"""A multipart body that its document says nothing about."""

_MAX_DEPTH = 8
_MOST_CHOICES_IN_ANOTHER = 3  # each of them would be written out for each choice
_MEDIA_TYPE = re.compile(r"(?:application|audio|image|video)/[\w.+-]+")  # some write it into `format`
_COMPOSING = ("allOf", "anyOf", "oneOf")
_CHOICES = ("anyOf", "oneOf")


@dataclass(slots=True)
class Upload:
    """A multipart body with the files in it found.

    Attributes:
        schema: Its schema as the document writes it, but for the files, which are as arguments give them.
        files: The names of the properties that are files.
    """

    schema: Any = None
    files: dict[str, None] = field(default_factory=dict)


class Uploads:
    """Finds files.

    Args:
        documents: The documents.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._known: dict[tuple[int, str, str], tuple[bool, Node]] = {}

    def of(self, schema: Node, encoding: Node) -> Upload:
        """The files of a multipart body.

        Args:
            schema: The body's schema.
            encoding: The Encoding Objects of its properties, by name.
        """
        upload = Upload()

        def content_type(name: str) -> str:
            return text(encoding.get(name).fields.get("contentType"))

        upload.schema = self._opened(schema, content_type, upload.files, set())
        return upload

    def is_file(self, node: Node, content_type: str = "", depth: int = 0) -> bool:
        """Whether a property is a file, or a list of them.

        Args:
            node: Its schema.
            content_type: What its Encoding Object says it is, divided by commas; default nothing.
            depth: How deep in the property's schema it stands.
        """
        key = id(node.value), node.base, content_type
        if key not in self._known:
            self._known[key] = self._is_file(node, content_type, depth), node  # alive, so that its identity stays
        return self._known[key][0]

    def _is_file(self, node: Node, content_type: str, depth: int) -> bool:
        resolved = self.resolved(node)
        fields = resolved.fields
        if depth > _MAX_DEPTH:
            return False
        if is_list(resolved):
            return self.is_file(resolved.get("items"), content_type, depth + 1)
        for keyword in _CHOICES:
            if keyword in fields and "type" not in fields:
                return any(self.is_file(arm, content_type, depth + 1) for arm in resolved.get(keyword).elements())
        types = fields.get("type", "string")
        if types == "file":
            return True
        if types != "string" and (not isinstance(types, list) or set(map(str, types)) - {"null"} != {"string"}):
            return False
        written = text(fields.get("format"))
        if written in ("binary", "file") or (_MEDIA_TYPE.fullmatch(written) and not media.is_text(written)):
            return True
        if "contentEncoding" in fields or fields.get("format") in ("byte", "base64"):
            return False
        kinds = [media_type(kind) for kind in (content_type or text(fields.get("contentMediaType"))).split(",")]
        return any(kind and not is_json(kind) and not media.is_text(kind) for kind in kinds)

    def file_schema(self, node: Node, depth: int = 0) -> Any:
        """What an argument that is a file, or a list of them, may be."""
        resolved = self.resolved(node)
        fields = resolved.fields
        schema: dict[str, Any] = dict(FILE_SCHEMA)
        choices = next((keyword for keyword in _CHOICES if keyword in fields and "type" not in fields), None)
        if is_list(resolved):
            bounds = {key: fields[key] for key in ("minItems", "maxItems") if key in fields}
            schema = {"type": "array", "items": self.file_schema(resolved.get("items"), depth + 1), **bounds}
        elif choices and depth <= _MOST_CHOICES_IN_ANOTHER:
            arms = list(resolved.get(choices).elements())
            written = [
                self.file_schema(arm, depth + 1) if self.is_file(arm) or len(arms) == 1 else arm.value for arm in arms
            ]
            schema = {"anyOf": written}
        types = fields.get("type")
        if fields.get("nullable") is True or (isinstance(types, list) and "null" in types):
            schema = {"anyOf": [schema, {"type": "null"}]}
        return argument_schema(schema, fields.get("description"))

    def resolved(self, node: Node) -> Node:
        """The schema that this is or refers to, also as the only part of an `allOf`; one of None if there is none."""
        try:
            node = self._documents.follow(node)
            arms = sequence(node.fields.get("allOf"))
            if len(arms) == 1 and "type" not in node.fields:
                return self._documents.follow(Node(arms[0], node.base))
        except OperationError:
            return Node(None, node.base)
        return node

    def _opened(self, node: Node, content_type: Callable[[str], str], files: dict[str, None], seen: set[int]) -> Any:
        try:
            target = self._documents.follow(node)
        except OperationError:
            return node.value
        if id(target.value) in seen or target.base != node.base or not isinstance(target.value, Mapping):
            return node.value
        seen.add(id(target.value))
        found: dict[str, None] = {}
        out = {key: value for key, value in target.fields.items() if key != "$ref"}
        for keyword in _COMPOSING:
            if keyword in out:
                arms = target.get(keyword).elements()
                out[keyword] = [self._opened(arm, content_type, found, seen) for arm in arms]
        if mapping(out.get("properties")):
            out["properties"] = dict(self._properties(target, content_type, found))
        additional = target.get("additionalProperties")
        are_files = isinstance(additional.value, Mapping) and self.is_file(additional)
        if are_files:
            out["additionalProperties"] = self.file_schema(additional)
        files |= found
        return out if found or are_files else node.value

    def _properties(
        self, schema: Node, content_type: Callable[[str], str], found: dict[str, None]
    ) -> Iterator[tuple[str, Any]]:
        for key, node in schema.get("properties").items():
            name = key_text(key)
            if self.is_file(node, content_type(name)) and not node.fields.get("readOnly"):
                found[name] = None
                yield name, self.file_schema(node)
            else:
                yield name, node.value


def is_list(node: Node) -> bool:
    """Whether a schema is a list's."""
    types = node.fields.get("type")
    return types == "array" or (isinstance(types, list) and set(map(str, types)) - {"null"} == {"array"})
