"""What LangChain and LangGraph are given to read of a tool's arguments."""

from __future__ import annotations

import operator
from copy import deepcopy
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, create_model, model_validator

from utcp_bridge import BridgedTool


class _Arguments(BaseModel):
    """The arguments of a tool, kept as they are, without fields.

    LangGraph's `ToolNode` asks every tool for its class and fills a field called `runtime` with its own runtime
    (langgraph-prebuilt 1.1.3). Without fields it finds none, and a class costs a tenth.
    """

    model_config = ConfigDict(extra="allow", defer_build=True)
    bridged: ClassVar[BridgedTool]

    @model_validator(mode="before")
    @classmethod
    def _judged(cls, given: Any) -> Any:
        cls.bridged.args_model.model_validate(given)
        return given

    @classmethod
    def model_json_schema(cls, *_args: Any, **_options: Any) -> dict[str, Any]:
        """The JSON Schema that the tool's author wrote."""
        return deepcopy(cls.bridged.input_schema)


def input_model(bridged: BridgedTool) -> type[BaseModel]:
    """A class of this tool's arguments, named after the tool."""
    model = create_model(bridged.name, __base__=_Arguments)
    model.bridged = bridged
    return model


class _NoReference(dict[str, Any]):
    """A dict whose `$ref` LangChain leaves alone: a reference to keep, the name of a property, or data."""

    def __contains__(self, key: object) -> bool:
        return key != "$ref" and super().__contains__(key)


def readable(tool: BridgedTool) -> dict[str, Any]:
    """The schema of a tool, safe from `convert_to_openai_tool`.

    langchain-core 1.8.3 drops the definitions and every key called `title`, which `standalone_schema` has none of. It
    puts what a `$ref` names in its place, and where one comes up inside of itself it opens the schema, so references
    are kept from it. It also raises at a `$ref` that is none, which would cost an agent all its tools.
    """
    shown: dict[str, Any] = _protected(tool.standalone_schema)
    return shown


def _protected(schema: Any) -> Any:
    if isinstance(schema, list):
        items = [_protected(item) for item in schema]
        return items if any(map(operator.is_not, items, schema)) else schema
    if not isinstance(schema, dict):
        return schema
    values = [_protected(value) for value in schema.values()]
    changed = dict(zip(schema, values, strict=True)) if any(map(operator.is_not, values, schema.values())) else schema
    return _NoReference(changed) if "$ref" in schema else changed
