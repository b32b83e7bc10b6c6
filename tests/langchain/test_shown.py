"""What models are shown of a UTCP tool in LangChain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_function, convert_to_openai_tool
from pydantic import BaseModel, Field, ValidationError

from langchain_utcp_toolkit import UTCPTool

RICH: dict[str, Any] = {
    "type": "object",
    "description": "What to order.",
    "properties": {
        "_id": {"type": "string", "format": "uuid", "description": "Which one", "examples": ["a"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 1, "default": 3},
        "mode": {"type": ["string", "null"], "enum": ["fast", "slow", None]},
        "rows": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"when": {"type": "string", "format": "date-time"}},
                "required": ["when"],
                "additionalProperties": False,
            },
        },
        "either": {"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "integer", "exclusiveMinimum": 0}]},
    },
    "required": ["_id"],
    "additionalProperties": False,
    "anyOf": [{"required": ["count"]}, {"required": ["mode"]}],
}
RECURSIVE: dict[str, Any] = {
    "type": "object",
    "properties": {"tree": {"$ref": "#/$defs/Node"}, "size": {"$ref": "#/$defs/Size"}},
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
        },
        "Size": {"type": "integer", "minimum": 1},
    },
}


@pytest.mark.parametrize("schema", [RICH])
def test_the_schema_for_models_is_the_authors(echo: Callable[[Any], UTCPTool], schema: dict[str, Any]) -> None:
    tool = echo(schema)
    assert tool.tool_call_schema == schema
    assert tool.args == schema["properties"]
    assert tool.get_input_schema().model_json_schema() == schema
    assert tool.bridged.args_model.model_json_schema() == schema
    assert tool.args_schema is tool.bridged.args_model


def test_openai_gets_the_authors_schema(echo: Callable[[Any], UTCPTool]) -> None:
    """LangChain takes a description at the root for the tool's, which has its own."""
    tool = echo(RICH)
    function = convert_to_openai_tool(tool)["function"]
    assert function == {
        "name": "m_echo",
        "description": "Replies with its arguments (echo).",
        "parameters": {key: value for key, value in RICH.items() if key != "description"},
    }
    assert convert_to_openai_function(tool) == function
    assert json.dumps(function)


def test_an_argument_called_title_is_shown(echo: Callable[[Any], UTCPTool]) -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    assert convert_to_openai_tool(echo(schema))["function"]["parameters"] == schema


def test_a_recursive_schema_keeps_its_cycle_for_openai(echo: Callable[[Any], UTCPTool]) -> None:
    """Definitions are put in their places, as LangChain does, and a cycle leads to the first of them."""
    shown = {
        "type": "object",
        "properties": {
            "tree": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/properties/tree"}},
                },
            },
            "size": {"type": "integer", "minimum": 1},
        },
    }
    tool = echo(RECURSIVE)
    assert convert_to_openai_tool(tool)["function"]["parameters"] == tool.tool_call_schema == shown
    assert tool.get_input_schema().model_json_schema() == tool.bridged.input_schema == RECURSIVE


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_shows_an_empty_object(echo: Callable[[Any], UTCPTool], schema: Any) -> None:
    tool = echo(schema)
    assert convert_to_openai_tool(tool)["function"]["parameters"] == {"type": "object", "properties": {}}
    assert tool.args == {}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"$ref": {"type": "string"}, "a": {"type": "integer"}}},
        {"type": "object", "properties": {"a": {"type": "object", "properties": {"$ref": {"type": "string"}}}}},
        {"type": "object", "properties": {"a": {"const": {"$ref": "other.json"}}, "b": {"enum": [{"$ref": 1}]}}},
    ],
)
def test_a_ref_that_is_a_name_or_data_costs_no_agent_its_tools(
    echo: Callable[[Any], UTCPTool], schema: dict[str, Any]
) -> None:
    tool = echo(schema)
    assert tool.bridged.input_schema == schema
    assert tool.tool_call_schema == schema
    assert convert_to_openai_tool(tool)["function"]["parameters"] == schema


def test_what_a_caller_does_to_a_shown_schema_stays_with_the_caller(echo: Callable[[Any], UTCPTool]) -> None:
    tool = echo(RICH)
    convert_to_openai_tool(tool, strict=True)
    tool.args.clear()
    tool.get_input_schema().model_json_schema()["properties"].clear()
    if isinstance(tool.tool_call_schema, dict):
        tool.tool_call_schema.clear()
    assert tool.bridged.input_schema == RICH


def test_the_input_class_judges_as_the_schema_does_and_keeps_every_value(echo: Callable[[Any], UTCPTool]) -> None:
    arguments = {"self": 1, "model_config": {"a": 1}, "runtime": [None]}
    model = echo({"type": "object", "properties": {"self": {"type": "integer"}}}).get_input_schema()
    assert model(**arguments).model_dump() == arguments
    with pytest.raises(ValidationError):
        model(self="one")


def test_nothing_is_built_until_it_is_needed(echo: Callable[[Any], UTCPTool]) -> None:
    tool = echo(RICH)
    convert_to_openai_tool(tool)
    tool.invoke({"_id": "a", "mode": "fast"})
    assert "args_model" not in vars(tool.bridged)


def test_name_and_description_can_be_replaced(echo: Callable[[Any], UTCPTool]) -> None:
    copied = echo(RICH).model_copy(update={"name": "order", "description": "Orders things."})
    assert convert_to_openai_tool(copied)["function"]["name"] == "order"
    assert convert_to_openai_tool(copied)["function"]["description"] == "Orders things."
    assert copied.tool_call_schema == RICH


def test_an_args_schema_that_is_set_is_shown_and_the_tools_own_schema_still_judges(
    echo: Callable[[Any], UTCPTool],
) -> None:
    class City(BaseModel):
        city: str = Field(description="Which city")

    tool = echo({"type": "object", "properties": {"city": {"enum": ["Paris"]}}})
    tool.args_schema = City
    assert tool.args["city"]["description"] == "Which city"
    assert tool.get_input_schema() is City
    assert convert_to_openai_tool(tool)["function"]["parameters"]["required"] == ["city"]
    assert tool.invoke({"city": "Paris"}) == '{"received":{"city":"Paris"}}'
    assert "Paris" in tool.invoke({"city": "Oslo"})


def test_metadata_tells_what_the_manual_tells(echo: Callable[[Any], UTCPTool]) -> None:
    tool = echo({})
    assert tool.metadata == {"utcp_name": "m.echo", "manual": "m", "read_only": False, "destructive": False}
    assert tool.tags is None
    assert tool.bridged.utcp_name == "m.echo"
