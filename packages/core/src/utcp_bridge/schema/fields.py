"""What a model's fields tell of their values, for whoever makes another model of them.

LangChain and others make models of their own from `model_fields`, whose untyped fields would lose all but their names.
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

from utcp_bridge.schema.inline import inlined

_KEPT_OF_A_REFERENCE = ("type", "description")


class FieldSchemas:
    """The schemas of arguments by name, with what they refer to in its place; written when somebody asks.

    Args:
        shown: The schema of all arguments.
    """

    def __init__(self, shown: dict[str, Any]) -> None:
        self._shown = shown

    @cached_property
    def by_name(self) -> dict[str, Any]:
        """The schemas; do not change them."""
        return {name: _readable(schema) for name, schema in inlined(self._shown)["properties"].items()}


class FieldSchema:
    """The schema of one argument, as Pydantic's metadata of its field; what `WithJsonSchema` is to a known schema.

    Args:
        schemas: Those of all arguments.
        name: The name of the argument.
    """

    def __init__(self, schemas: FieldSchemas, name: str) -> None:
        self._schemas = schemas
        self._name = name

    def __get_pydantic_json_schema__(self, _core_schema: Any, _handler: Any) -> dict[str, Any]:
        schema: dict[str, Any] = self._schemas.by_name.get(self._name, {})
        return copy.deepcopy(schema)

    def __repr__(self) -> str:
        return f"FieldSchema({self._name!r})"


def _readable(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {} if schema else {"not": {}}
    if not _holds_reference(schema):
        return schema
    # Data, or the name of a property, which Pydantic and LangChain would take for a reference.
    return {keyword: schema[keyword] for keyword in _KEPT_OF_A_REFERENCE if keyword in schema}


def _holds_reference(value: Any) -> bool:
    if isinstance(value, dict):
        return "$ref" in value or any(map(_holds_reference, value.values()))
    return isinstance(value, list) and any(map(_holds_reference, value))
