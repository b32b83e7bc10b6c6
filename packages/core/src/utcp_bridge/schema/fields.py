"""What a model's fields tell of their values, for whoever makes another model of them.

LangChain and others make models of their own from `model_fields`, whose untyped fields would lose all but their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import WithJsonSchema

from utcp_bridge.schema.inline import inlined

_KEPT_OF_A_REFERENCE = ("type", "description")


class ClassProperty(classmethod):  # type: ignore[type-arg]  # Pydantic takes any other descriptor for a field
    """A property of a class; subclasses see their own."""

    __func__: Callable[[Any], Any]

    def __init__(self, of: Callable[[Any], Any]) -> None:
        super().__init__(of)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self.__func__(type(instance) if owner is None else owner)


def field_schemas(shown: dict[str, Any], names: Iterable[str]) -> dict[str, WithJsonSchema]:
    """Give the schemas of arguments as Pydantic's metadata, with what they refer to in its place.

    Args:
        shown: The schema of all arguments.
        names: The names of the arguments.
    """
    properties = inlined(shown)["properties"]
    return {name: WithJsonSchema(_readable(properties.get(name, True))) for name in names}


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
