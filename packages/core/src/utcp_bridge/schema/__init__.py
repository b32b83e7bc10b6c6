"""JSON Schema of tools' arguments: read, shown, judged, and carried by a Pydantic model."""

from __future__ import annotations

from utcp_bridge.schema.arguments import ArgumentsSchema, arguments_schema
from utcp_bridge.schema.bundle import SchemaProblem
from utcp_bridge.schema.model import model_from_schema, wire_arguments
from utcp_bridge.schema.refusal import ArgumentFault, InvalidArguments

__all__ = [
    "ArgumentFault",
    "ArgumentsSchema",
    "InvalidArguments",
    "SchemaProblem",
    "arguments_schema",
    "model_from_schema",
    "wire_arguments",
]
