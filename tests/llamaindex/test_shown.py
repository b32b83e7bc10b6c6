"""What models are shown of a UTCP tool in LlamaIndex."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.react.formatter import get_react_tool_descriptions
from llama_index.core.objects import SimpleToolNodeMapping
from pydantic import BaseModel, Field, ValidationError

from llama_index.tools.utcp import UTCPTool

RICH: dict[str, Any] = {
    "type": "object",
    "title": "Order",
    "description": "What to order.",
    "properties": {
        "_id": {"type": "string", "format": "uuid", "description": "Which one", "examples": ["a"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 1, "default": 3},
        "mode": {"type": ["string", "null"], "enum": ["fast", "slow", None]},
        "tree": {"$ref": "#/$defs/Node"},
        "either": {"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "integer", "exclusiveMinimum": 0}]},
    },
    "required": ["_id"],
    "additionalProperties": False,
    "anyOf": [{"required": ["count"]}, {"required": ["mode"]}],
    "$defs": {"Node": {"type": "object", "properties": {"children": {"items": {"$ref": "#/$defs/Node"}}}}},
}


def _parameters(tool: UTCPTool) -> Any:
    return tool.metadata.to_openai_tool()["function"]["parameters"]


def test_the_schema_for_models_is_the_authors_whole(echo: Callable[..., UTCPTool]) -> None:
    """LlamaIndex itself keeps `type`, `properties`, `required` and definitions, and drops the rest of the root."""
    tool = echo(RICH)
    assert _parameters(tool) == RICH == tool.bridged.input_schema
    assert tool.metadata.get_parameters_dict() == RICH
    assert json.loads(tool.metadata.fn_schema_str) == RICH
    assert tool.metadata.fn_schema.model_json_schema() == RICH
    assert list(_parameters(tool)["properties"]) == list(RICH["properties"])


def test_name_and_description_are_those_of_the_bridge(echo: Callable[..., UTCPTool]) -> None:
    tool = echo({})
    assert tool.metadata.get_name() == tool.metadata.name == "m_echo"
    assert tool.metadata.to_openai_tool()["function"]["description"] == "Replies with its arguments (echo)."
    assert not tool.metadata.return_direct
    assert tool.bridged.utcp_name == "m.echo"


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_shows_an_empty_object(echo: Callable[..., UTCPTool], schema: Any) -> None:
    assert _parameters(echo(schema)) == {"type": "object", "properties": {}}


def test_a_react_agent_is_shown_the_same(echo: Callable[..., UTCPTool]) -> None:
    (text,) = get_react_tool_descriptions([echo(RICH)])
    assert json.dumps(RICH, ensure_ascii=False) in text
    assert "m_echo" in text


def test_a_tool_index_keeps_name_description_and_schema(echo: Callable[..., UTCPTool]) -> None:
    node: Any = SimpleToolNodeMapping().to_node(echo(RICH))
    assert all(word in node.get_content() for word in ("m_echo", "Replies with its arguments", "exclusiveMinimum"))


@pytest.mark.parametrize("length", [1_024, 1_025, 5_000])
def test_a_description_that_is_too_long_for_openai_is_cut_with_a_notice(
    echo: Callable[..., UTCPTool], length: int
) -> None:
    """LlamaIndex itself raises, and the tool is of no use."""
    description = "d" * length
    metadata = echo({}, description=description).metadata
    shown = metadata.to_openai_tool()["function"]["description"]
    assert len(shown) == 1_024
    assert shown.startswith("d" * 900)
    assert (f"{length:,} characters" in shown) == (length > 1_024)
    assert metadata.description == description
    assert metadata.to_openai_tool(skip_length_check=True)["function"]["description"] == description


def test_what_a_caller_does_to_a_shown_schema_stays_with_the_caller(echo: Callable[..., UTCPTool]) -> None:
    """OpenAI's integration writes `additionalProperties` into it for strict mode."""
    tool = echo(RICH)
    _parameters(tool)["properties"]["_id"].clear()
    tool.metadata.get_parameters_dict()["additionalProperties"] = True
    tool.metadata.fn_schema.model_json_schema()["properties"].clear()
    assert _parameters(tool) == RICH


def test_the_class_of_the_arguments_judges_as_the_schema_does(echo: Callable[..., UTCPTool]) -> None:
    model = echo({"type": "object", "properties": {"self": {"type": "integer", "minimum": 1}}}).metadata.fn_schema
    model.model_validate({"self": 1})
    with pytest.raises(ValidationError):
        model.model_validate({"self": 0})


def test_nothing_is_built_until_it_is_needed(echo: Callable[..., UTCPTool]) -> None:
    tool = echo(RICH)
    assert not {"args_model", "arguments"} & vars(tool.bridged).keys()
    tool.metadata.to_openai_tool()
    tool(_id="a", mode="fast")
    assert "args_model" not in vars(tool.bridged)


# -- replaced


def test_name_description_and_return_direct_can_be_replaced(echo: Callable[..., UTCPTool]) -> None:
    tool = echo(RICH, name="order", description="Orders things.", return_direct=True)
    function = tool.metadata.to_openai_tool()["function"]
    assert function == {"name": "order", "description": "Orders things.", "parameters": RICH}
    assert tool.metadata.return_direct
    assert tool(_id="a", mode="fast").tool_name == "order"
    tool.metadata.name, tool.metadata.description = "buy", "Buys things."
    assert tool.metadata.to_openai_tool()["function"] == {
        "name": "buy",
        "description": "Buys things.",
        "parameters": RICH,
    }


def test_a_class_that_is_set_is_shown_and_the_tools_own_schema_still_judges(echo: Callable[..., UTCPTool]) -> None:
    class City(BaseModel):
        city: str = Field(description="Which city")

    schema = {"type": "object", "properties": {"city": {"enum": ["Paris"]}}}
    assigned = echo(schema)
    assigned.metadata.fn_schema = City
    for tool in (assigned, echo(schema, fn_schema=City)):
        assert tool.metadata.fn_schema is City
        assert _parameters(tool)["properties"]["city"]["description"] == "Which city"
        assert _parameters(tool)["required"] == ["city"]
        assert not tool(city="Paris").is_error
        assert tool(city="Oslo").is_error
    assigned.metadata.fn_schema = None
    assert _parameters(assigned) == assigned.bridged.input_schema


def test_partial_params_are_not_shown(echo: Callable[..., UTCPTool]) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    }
    tool = echo(schema, partial_params={"unit": "C"})
    shown = {**schema, "properties": {"city": {"type": "string"}}, "required": ["city"]}
    assert _parameters(tool) == shown
    assert tool.metadata.fn_schema.model_json_schema() == shown
    assert tool.bridged.input_schema == schema
    del schema["required"]
    assert "required" not in _parameters(echo(schema, partial_params={"unit": "C", "other": 1}))


def test_partial_params_are_not_asked_for_in_any_branch(echo: Callable[..., UTCPTool]) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {}, "place": {}, "key": {}},
        "anyOf": [{"required": ["city", "key"]}, {"required": ["place", "key"], "properties": {"key": {}}}],
        "dependentRequired": {"city": ["key", "place"], "key": ["city"]},
    }
    assert _parameters(echo(schema, partial_params={"key": 1})) == {
        "type": "object",
        "properties": {"city": {}, "place": {}},
        "anyOf": [{"required": ["city"]}, {"required": ["place"], "properties": {}}],
        "dependentRequired": {"city": ["place"]},
    }


# -- for a provider

AWKWARD: dict[str, Any] = {
    "type": "object",
    "properties": {"$top": {"type": "integer"}, "a b": {"type": "string"}},
    "required": ["$top"],
    "additionalProperties": False,
}


def test_a_providers_names_are_shown_judged_and_given_back(echo: Callable[..., UTCPTool]) -> None:
    tool = echo(AWKWARD, options={"provider": "anthropic"})
    assert list(_parameters(tool)["properties"]) == ["_top", "a_b"]
    assert tool.metadata.fn_schema.model_json_schema() == _parameters(tool)
    assert tool(_top=1, a_b="x").content == '{"received":{"$top":1,"a b":"x"}}'
    refused = tool(_top="x")
    assert refused.is_error
    assert "_top: must be an integer" in refused.content


def test_partial_params_have_the_tools_own_names(echo: Callable[..., UTCPTool]) -> None:
    tool = echo(AWKWARD, options={"provider": "anthropic"}, partial_params={"a b": "x"})
    assert list(_parameters(tool)["properties"]) == ["_top"]
    assert tool(_top=1).content in ('{"received":{"a b":"x","$top":1}}', '{"received":{"$top":1,"a b":"x"}}')


def test_a_react_agent_is_shown_what_the_provider_and_the_budget_allow(echo: Callable[..., UTCPTool]) -> None:
    schema = {"type": "object", "properties": {"a b": {"type": "string", "description": "d" * 5_000}}}
    tool = echo(schema, options={"provider": "anthropic", "max_schema_bytes": 500})
    (text,) = get_react_tool_descriptions([tool])
    assert "a_b" in text
    assert len(text) < 1_000
    node: Any = SimpleToolNodeMapping().to_node(tool)
    assert len(node.get_content()) < 1_000
