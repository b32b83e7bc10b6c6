"""A Pydantic model of a tool's arguments: JSON Schema judges, Pydantic carries.

Typed fields under the validator would only add faults of their own (`int` refuses `5.0`, `datetime` rewrites text),
so the fields are untyped, with their schemas beside them for readers. Names that a Python attribute or Pydantic cannot
have are carried as extras.
"""

from __future__ import annotations

import copy
import keyword
import threading
from collections.abc import Mapping
from typing import Any, ClassVar, Self
from weakref import WeakValueDictionary

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, create_model, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from utcp_bridge.schema.arguments import ArgumentsSchema, arguments_schema
from utcp_bridge.schema.faults import InvalidArguments
from utcp_bridge.schema.fields import FieldSchema, FieldSchemas
from utcp_bridge.schema.inline import inlined
from utcp_bridge.schema.showing import ShownArguments


class _Arguments(BaseModel):
    """The arguments of one call."""

    # Built at once: Pydantic before 2.13 builds a model in front of other threads, which then find it unfinished.
    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=(), hide_input_in_errors=True)

    _judge_of: ClassVar[ArgumentsSchema | ShownArguments]
    _shown: ClassVar[dict[str, Any]]
    _repairs: ClassVar[bool]
    _order: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _judge(cls, value: Any, handler: Any) -> Self:
        if isinstance(value, cls):
            return value
        try:
            accepted = cls._judge_of.accept(value, repair=cls._repairs)
        except InvalidArguments as error:
            raise ValidationError.from_exception_data(cls.__name__, [_line(fault) for fault in error.faults]) from None
        model: Self = handler(accepted)
        model._order = tuple(accepted)
        return model

    @classmethod
    def model_json_schema(cls, *_args: Any, **_options: Any) -> dict[str, Any]:
        """Give the author's schema, self-contained; Pydantic's options change nothing about it."""
        return copy.deepcopy(cls._shown)

    @classmethod
    def __get_pydantic_json_schema__(cls, _core_schema: Any, _handler: Any) -> dict[str, Any]:
        # Inside another model's schema, where Pydantic takes every reference for one of its own.
        return copy.deepcopy(inlined(cls._shown))


_MODELS: WeakValueDictionary[tuple[str, int, bool], type[_Arguments]] = WeakValueDictionary()
_MODELS_LOCK = threading.Lock()


def model_from_schema(
    name: str, schema: Mapping[str, Any] | bool, *, repair: bool = True, assert_formats: bool = False
) -> type[BaseModel]:
    """Make a Pydantic model whose verdict is JSON Schema's.

    It takes what the schema takes, keeps every value as it was given, and shows the author's schema, self-contained.

    Args:
        name: The model's name.
        schema: JSON Schema of any draft from 4 to 2020-12, or OpenAPI 3.0's form of it.
        repair: Whether slips of models that lose nothing are mended before they are refused; default True.
        assert_formats: Whether `format` refuses values; by default it only describes them.

    Returns:
        The model's class.
    """
    arguments = arguments_schema(schema, assert_formats=assert_formats)
    with _MODELS_LOCK:
        # The model keeps its schema alive, so that the schema's identity stays its own as long as the entry lives.
        key = name, id(arguments), repair
        model = _MODELS.get(key)
        if model is None:
            model = _MODELS[key] = _model(name, arguments, arguments.shown, arguments, repair=repair)
        return model


def model_of_shown(name: str, shown: ShownArguments, *, repair: bool = True) -> type[BaseModel]:
    """Make a model as `model_from_schema` does, of arguments in the form that a model is shown them.

    It takes them under the names that were shown, carries what goes on the wire, and its JSON Schema is the one shown.
    """
    return _model(name, shown.own, shown.schema, shown, repair=repair)


def wire_arguments(model: BaseModel) -> dict[str, Any]:
    """Give exactly what goes on the wire: what was given, in its order, and nothing else.

    Raises:
        TypeError: The model was not made by `model_from_schema`.
    """
    if not isinstance(model, _Arguments):
        raise TypeError(f"{type(model).__name__} was not made by model_from_schema.")
    given = {name: value for name, value in model.__dict__.items() if name in model.model_fields_set}
    given |= model.__pydantic_extra__ or {}
    ordered = {name: given[name] for name in model._order if name in given}  # noqa: SLF001 - our own model
    return ordered | given


def _model(
    name: str,
    own: ArgumentsSchema,
    shown: dict[str, Any],
    judge: ArgumentsSchema | ShownArguments,
    *,
    repair: bool,
) -> type[_Arguments]:
    required = set(own.shown.get("required", ()))
    fields: dict[str, Any] = {
        field: (Any, Field(description=_description(schema)) if field in required else _optional(schema))
        for field, schema in own.shown["properties"].items()
        if _can_be_field(field)
    }
    model = create_model(name, __base__=_Arguments, __module__=__name__, __doc__=_description(shown), **fields)
    model._judge_of = judge  # noqa: SLF001 - our own model
    model._shown = shown  # noqa: SLF001
    model._repairs = repair  # noqa: SLF001
    schemas = FieldSchemas(shown)
    for field, about in model.__pydantic_fields__.items():
        about.metadata = [FieldSchema(schemas, field)]  # for others: while a model is built, it takes Pydantic time
    return model


def _can_be_field(name: str) -> bool:
    return (
        name.isidentifier()
        and name.isascii()
        and not name.startswith("_")
        and not keyword.iskeyword(name)
        and not hasattr(_Arguments, name)
    )


def _optional(schema: Any) -> Any:
    default = schema.get("default") if isinstance(schema, dict) else None
    return Field(default=default, description=_description(schema))


def _description(schema: Any) -> str | None:
    return schema.get("description") if isinstance(schema, dict) else None


def _line(fault: Any) -> InitErrorDetails:
    about = PydanticCustomError("json_schema", "{message}", {"message": fault.message})
    return InitErrorDetails(type=about, loc=fault.location, input=None)
