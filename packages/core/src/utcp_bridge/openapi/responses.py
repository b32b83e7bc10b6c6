"""Replies: the schema of what a successful call gives, and which form of it to ask for."""

from __future__ import annotations

from collections.abc import Sequence

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.openapi import media
from utcp_bridge.openapi.nodes import Node, OperationError
from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.references import Documents
from utcp_bridge.openapi.schemas import Schema, SchemaReader

_FIRST = ("200", "201", "202", "203", "206", "2XX", "2xx")


class ResponseReader:
    """Reads what successful calls give.

    Args:
        documents: The documents.
        reader: Converts schemas of outputs.
    """

    def __init__(self, documents: Documents, reader: SchemaReader) -> None:
        self._documents = documents
        self._reader = reader

    def read(self, operation: Operation, produces: Sequence[str]) -> tuple[Schema | None, str | None]:
        """The schema of the reply, or None, and the `Accept` that asks for it, or None where that says nothing.

        Args:
            operation: The operation.
            produces: Swagger 2.0's media types for it.
        """
        response = self._success(operation)
        if response is None:
            return None, None
        content = {kind: described for kind, described in response.get("content").items() if not kind.startswith("x-")}
        if not content and "schema" in response.fields:  # Swagger 2.0
            return self._reader.read(response.get("schema")), _accept(produces)
        if not content:
            return None, _accept(produces)
        best = media.best(list(content))
        try:
            schema = self._documents.follow(content[best]).get("schema")
        except OperationError:
            schema = Node(None, "")
        converted = None if schema.value is None else self._reader.read(schema)
        return converted, _accept(list(content))

    def _success(self, operation: Operation) -> Node | None:
        responses = dict(operation.node.get("responses").items())
        others = sorted(code for code in responses if code.startswith("2") and code not in _FIRST)
        for code in (*_FIRST, *others, "default"):
            if code in responses:
                try:
                    return self._documents.follow(responses[code])
                except OperationError:
                    continue  # it only describes
        return None


def _accept(content_types: Sequence[str]) -> str | None:
    """`Accept` for a server that has JSON among other forms, which it would perhaps send first (RFC 9110, 12.5.1)."""
    kinds = [media_type(content_type) for content_type in content_types]
    json = [kind for kind in kinds if is_json(kind) and "$" not in kind]
    if not json or len(json) == len(kinds):
        return None
    return f"{min(json, key=len)}, */*;q=0.5"
