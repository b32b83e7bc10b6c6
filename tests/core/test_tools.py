"""Bridged tools: their schemas, as the options of their toolset have them shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, get_args

import pytest

from tests.support.manuals import config
from tests.support.recording import recording_template
from utcp_bridge import BridgedTool, Toolset
from utcp_bridge.schema import provider_schema, size_of, wire_arguments
from utcp_bridge.schema.provider import Provider

AWKWARD: dict[str, Any] = {
    "type": "object",
    "properties": {"$top": {"type": "integer"}, "deep": {"type": "object", "properties": {"a b": {"type": "string"}}}},
    "required": ["$top"],
    "additionalProperties": False,
}
Echo = Callable[..., BridgedTool]


@pytest.fixture
def echo() -> Iterator[Echo]:
    """Gives a tool of this schema that replies with exactly the arguments that reached UTCP."""
    with ExitStack() as opened:

        def tool(schema: Any, **options: Any) -> BridgedTool:
            source = config(recording_template("m", {"echo": schema}))
            return opened.enter_context(Toolset.open(source, **options)).tools["m_echo"]

        yield tool


def _received(tool: BridgedTool, arguments: Any) -> Any:
    result = tool.call(arguments)
    assert not result.is_error, result.content
    return json.loads(result.content)["received"]


@pytest.mark.parametrize("provider", get_args(Provider))
def test_a_provider_is_shown_what_it_accepts_and_the_tool_gets_its_own_names(echo: Echo, provider: Provider) -> None:
    tool = echo(AWKWARD, provider=provider)
    assert tool.input_schema == provider_schema(AWKWARD, provider)
    top, deep = tool.input_schema["properties"]
    (inner,) = tool.input_schema["properties"][deep]["properties"]
    given = {top: 1, deep: {inner: "x"}}
    for arguments in (given, json.dumps(given), {"$top": 1, "deep": {"a b": "x"}}):
        assert _received(tool, arguments) == {"$top": 1, "deep": {"a b": "x"}}
    refused = tool.call({top: "x", deep: {inner: 1}})
    assert refused.is_error
    assert refused.content.startswith("m_echo: ")
    model = tool.args_model.model_validate(given)
    assert wire_arguments(model) == {"$top": 1, "deep": {"a b": "x"}}
    assert tool.args_model.model_json_schema() == tool.input_schema


def test_a_refusal_speaks_only_of_the_names_that_the_model_was_shown(echo: Echo) -> None:
    content = echo(AWKWARD, provider="anthropic").call({"_top": "x", "deep": {"a_b": 1}, "dep": 1}).content
    assert all(told in content for told in ("_top: must be an integer", "deep.a_b: must be a string", "_top, deep"))
    assert "$top" not in content
    assert "a b" not in content


def test_a_large_schema_is_shown_within_the_budget_and_judged_whole(echo: Echo) -> None:
    rows = {
        "type": "array",
        "items": {"type": "object", "properties": {f"p{n}": {"enum": ["x" * 90]} for n in range(99)}},
    }
    schema = {"type": "object", "properties": {"rows": rows}, "required": ["rows"]}
    tool = echo(schema, max_schema_bytes=1_000)
    assert size_of(tool.input_schema) <= 1_000
    assert tool.schema_problems == ("shown without everything below level 2, to keep to 1,000 bytes",)
    assert tool.call({"rows": [{"p1": "y"}]}).is_error
    assert _received(tool, {"rows": [{"p1": "x" * 90}]}) == {"rows": [{"p1": "x" * 90}]}
    whole = echo(schema, max_schema_bytes=None)
    assert whole.input_schema == schema
    assert whole.schema_problems == ()


def test_what_could_not_be_read_is_told(echo: Echo) -> None:
    tool = echo({"type": "object", "properties": {"a": {"pattern": "("}}})
    (problem,) = tool.schema_problems
    assert problem.startswith("/properties/a/pattern: pattern is no regular expression")
    assert _received(tool, {"a": 1}) == {"a": 1}


def test_the_standalone_schema_has_no_definitions(echo: Echo) -> None:
    node = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
    tool = echo({"type": "object", "properties": {"tree": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}})
    assert "$defs" in tool.input_schema
    assert tool.standalone_schema == {
        "type": "object",
        "properties": {
            "tree": {
                "type": "object",
                "properties": {"children": {"type": "array", "items": {"$ref": "#/properties/tree"}}},
            }
        },
    }
    plain = echo(AWKWARD)
    assert plain.standalone_schema == plain.input_schema == AWKWARD


@pytest.mark.parametrize(
    ("schema", "options", "added"),
    [
        ({"type": "object", "properties": {}}, {}, ""),
        ({"type": "object", "properties": {}, "description": "About all."}, {}, "About all."),
        ({"type": "object", "properties": {}, "description": "Replies with its arguments"}, {}, ""),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "description": "Of A."}}}, {}, "Of A."),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, ""),
        (
            {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"provider": "anthropic"},
            "At least one of these sets of arguments is needed: a; or b.",
        ),
        (True, {}, ""),
    ],
)
def test_the_whole_description_adds_what_the_schema_tells_of_the_arguments_together(
    echo: Echo, schema: Any, options: Any, added: str
) -> None:
    tool = echo(schema, **options)
    assert tool.description == "Replies with its arguments (echo)."
    assert tool.whole_description == (f"{tool.description}\n\n{added}" if added else tool.description)


def test_a_tool_whose_schema_tells_nothing_of_all_arguments_is_described_without_reading_it(echo: Echo) -> None:
    tool = echo(AWKWARD)
    assert tool.whole_description == tool.description
    assert "arguments" not in vars(tool)
