"""JSON Schema of tools' arguments: read, shown, judged, carried by a Pydantic model, and fitted to providers."""

from __future__ import annotations

from utcp_bridge.schema.arguments import ArgumentsSchema, arguments_schema
from utcp_bridge.schema.budget import TrimmedSchema, trimmed
from utcp_bridge.schema.bundle import SchemaProblem
from utcp_bridge.schema.bundled import without_properties
from utcp_bridge.schema.faults import ArgumentFault, InvalidArguments
from utcp_bridge.schema.folded import folded, standalone
from utcp_bridge.schema.model import model_from_schema, model_of_shown, wire_arguments
from utcp_bridge.schema.provider import (
    Provider,
    ProviderSchema,
    export_schema,
    provider_description,
    provider_schema,
)
from utcp_bridge.schema.showing import ShownArguments
from utcp_bridge.schema.steps import size_of

__all__ = [
    "ArgumentFault",
    "ArgumentsSchema",
    "InvalidArguments",
    "Provider",
    "ProviderSchema",
    "SchemaProblem",
    "ShownArguments",
    "TrimmedSchema",
    "arguments_schema",
    "export_schema",
    "folded",
    "model_from_schema",
    "model_of_shown",
    "provider_description",
    "provider_schema",
    "size_of",
    "standalone",
    "trimmed",
    "wire_arguments",
    "without_properties",
]
