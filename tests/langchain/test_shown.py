"""What models are shown of a UTCP tool in LangChain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langchain_core.utils.function_calling import convert_to_openai_function, convert_to_openai_tool
from pydantic import BaseModel, Field, ValidationError

from langchain_utcp_toolkit import UTCPTool
from tests.support.schema_graphs import GRAPHS
from utcp_bridge.schema import size_of
from utcp_bridge.schema.validator import compile_validator

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
    """LangChain drops a description at the root, so it is told with the tool's own."""
    tool = echo(RICH)
    function = convert_to_openai_tool(tool)["function"]
    assert function == {
        "name": "m_echo",
        "description": "Replies with its arguments (echo).\n\nWhat to order.",
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


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"title": True, "a": {"const": {"title": "x"}}}, "additionalProperties": False},
        {"dependentRequired": {"title": ["a"]}, "properties": {"title": {"type": "string", "title": "Title"}}},
        {"patternProperties": {"title": {"type": "integer"}}, "additionalProperties": False},
        RECURSIVE,
        RICH,
    ],
)
def test_openai_gets_a_schema_of_the_same_verdict(echo: Callable[[Any], UTCPTool], schema: dict[str, Any]) -> None:
    """LangChain drops every key called `title`, also where it is a name or data."""
    tool = echo(schema)
    shown = compile_validator(convert_to_openai_tool(tool)["function"]["parameters"])
    own = compile_validator(tool.bridged.input_schema)
    values: list[Any] = [1, "x", {"title": "x"}, {"title": 1}, {}, [], [{"when": "x"}], {"children": [{"name": 1}]}]
    for name in (*schema.get("properties", {}), "title", "subtitle", "a", "_id"):
        for value in values:
            for rest in ({}, {"title": "t"}, {"_id": "x", "count": 2}):
                arguments = {**rest, name: value}
                assert shown.is_valid(arguments) == own.is_valid(arguments), arguments


def test_one_definition_in_many_places_is_shown_once_where_that_would_be_large(echo: Callable[..., UTCPTool]) -> None:
    tool = echo(GRAPHS["layers-12"])
    parameters = convert_to_openai_tool(tool)["function"]["parameters"]
    assert size_of(parameters) <= 16_000
    assert parameters["properties"]["x"]["properties"]["p1"] == {"$ref": "#/properties/x/properties/p0"}
    assert not tool.bridged.schema_problems


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


def _approved(wrapped: UTCPTool) -> BaseTool:
    """A tool around another, as LangGraph's documentation makes one to ask a person first."""

    @tool(wrapped.name, description=wrapped.description, args_schema=wrapped.args_schema)
    def approved(config: RunnableConfig, **arguments: Any) -> Any:
        return wrapped.invoke(arguments, config)

    return approved


@pytest.mark.parametrize("schema", [RICH, RECURSIVE])
def test_a_tool_that_is_made_around_another_shows_its_schemas(
    echo: Callable[[Any], UTCPTool], schema: dict[str, Any]
) -> None:
    wrapped = echo(schema)
    around = _approved(wrapped)
    shown = convert_to_openai_tool(around)["function"]["parameters"]["properties"]
    own = convert_to_openai_tool(wrapped)["function"]["parameters"]["properties"]
    for name, field in shown.items():
        assert field.items() >= {key: part for key, part in own[name].items() if name != "tree"}.items()
    assert shown.keys() == {name for name in own if not name.startswith("_")}
    if schema is RECURSIVE:
        assert shown["tree"]["properties"]["children"]["items"]["properties"]["name"] == {"type": "string"}
        assert json.loads(around.invoke({"size": 2}))["received"]["size"] == 2


def test_a_tool_as_a_tool_is_the_same_under_another_name(echo: Callable[[Any], UTCPTool]) -> None:
    original = echo({"type": "object", "properties": {"config": {}, "n": {"type": "integer"}}, "required": ["n"]})
    original.return_direct = True
    renamed = original.as_tool(name="other", description="Does the same.")
    function = convert_to_openai_tool(renamed)["function"]
    assert (function["name"], function["description"]) == ("other", "Does the same.")
    assert function["parameters"] == convert_to_openai_tool(original)["function"]["parameters"]
    assert json.loads(renamed.invoke({"n": 1, "config": [None]}))["received"] == {"n": 1, "config": [None]}
    assert renamed.return_direct
    assert original.as_tool().name == original.name == "m_echo"


def test_a_tool_as_a_tool_takes_a_class_and_types_as_any_runnable_does(echo: Callable[[Any], UTCPTool]) -> None:
    class Given(BaseModel):
        """What is given."""

        n: int

    original = echo({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    for made in (original.as_tool(Given, name="a"), original.as_tool(name="a", arg_types={"n": int})):
        assert convert_to_openai_tool(made)["function"]["parameters"]["properties"] == {"n": {"type": "integer"}}
        assert json.loads(made.invoke({"n": 1}))["received"] == {"n": 1}


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


# -- for a provider

AWKWARD: dict[str, Any] = {
    "type": "object",
    "properties": {"$top": {"type": "integer"}, "a b": {"type": "string"}},
    "required": ["$top"],
    "additionalProperties": False,
}


def test_a_providers_names_are_shown_judged_and_given_back(echo: Callable[..., UTCPTool]) -> None:
    tool = echo(AWKWARD, provider="anthropic")
    assert list(convert_to_openai_tool(tool)["function"]["parameters"]["properties"]) == ["_top", "a_b"]
    assert list(tool.args) == ["_top", "a_b"]
    assert tool.invoke({"_top": 1, "a_b": "x"}) == '{"received":{"$top":1,"a b":"x"}}'
    assert "_top: must be an integer" in tool.invoke({"_top": "x"})
    model = tool.get_input_schema()
    assert model.model_validate({"_top": 1})
    with pytest.raises(ValidationError, match="_top"):
        model.model_validate({"_top": "x"})
    with pytest.raises(ValidationError, match="a_b"):
        tool.args_schema(_top=1, a_b=2)  # type: ignore[operator]


def test_arguments_in_a_providers_names_pass_langchains_own_validation(echo: Callable[..., UTCPTool]) -> None:
    tool = echo(AWKWARD, provider="anthropic")
    tool.handle_validation_error = True
    assert tool.invoke({"_top": 1, "a_b": "x"}) == '{"received":{"$top":1,"a b":"x"}}'


def test_what_all_arguments_together_need_is_told_where_langchain_does_not_drop_it(
    echo: Callable[..., UTCPTool],
) -> None:
    schema = {"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    function = convert_to_openai_tool(echo(schema, provider="anthropic"))["function"]
    assert function["description"].endswith("At least one of these sets of arguments is needed: a; or b.")
