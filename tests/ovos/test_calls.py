"""What OVOS shows of a tool, what it sends, and what it gets."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox, ToolOutput
from pydantic import ValidationError

from ovos_utcp_toolbox import AdapterToolOutput, UTCPToolBox
from tests.ovos.conftest import MakeToolBox
from tests.support.manuals import config
from tests.support.ovos import ManualServer, serving
from tests.support.recording import recording_template
from utcp_bridge.errors import ToolArgumentsError, ToolExecutionError
from utcp_bridge.testing import ServedTool, ToolServer, ToolServerError

NODE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "_id": {"type": "string", "description": "Which one", "examples": ["a"]},
        "count": {"type": "integer", "minimum": 1, "default": 3},
        "mode": {"type": ["string", "null"], "enum": ["fast", "slow", None]},
        "tree": {"$ref": "#/$defs/Node"},
    },
    "required": ["_id"],
    "additionalProperties": False,
    "$defs": {
        "Node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
    },
}

AWKWARD_ARGUMENTS: dict[str, Any] = {
    name: {"kept": [index, 1.0, None, "5", True]}
    for index, name in enumerate(
        ["_id", "class", "$filter", "filter[name]", "a.b", "", "Serial Number", "été", "工具", "model_config",
         "model_dump", "model_fields", "schema", "json", "copy", "dict", "validate", "self", "cls", "config",
         "run_manager", "callbacks", "args", "kwargs", "ctx", "input", "name", "tool_kwargs", "arguments",
         "toolbox_id", "x" * 90]
    )
}  # fmt: skip


def _call_tool(toolbox: UTCPToolBox, name: str, arguments: dict[str, Any]) -> ToolOutput:
    return toolbox.call_tool(name, arguments)


def _call_with_json_text(toolbox: UTCPToolBox, name: str, arguments: dict[str, Any]) -> ToolOutput:
    return toolbox.call_tool(name, json.dumps(arguments))


def _call_with_the_argument_model(toolbox: UTCPToolBox, name: str, arguments: dict[str, Any]) -> ToolOutput:
    return toolbox.call_tool(name, _tool(toolbox, name).argument_schema(**arguments))


def _call_as_opm_does(toolbox: UTCPToolBox, name: str, arguments: dict[str, Any]) -> ToolOutput:
    return ToolBox.call_tool(toolbox, name, arguments)


def _call_the_tool_itself(toolbox: UTCPToolBox, name: str, arguments: dict[str, Any]) -> ToolOutput:
    tool = _tool(toolbox, name)
    output = tool.tool_call(toolbox.validate_input(tool, arguments))
    assert isinstance(output, ToolOutput)
    return output


CALLS = [_call_tool, _call_with_json_text, _call_with_the_argument_model, _call_as_opm_does, _call_the_tool_itself]


def _tool(toolbox: UTCPToolBox, name: str) -> AgentTool:
    tool = toolbox.get_tool(name)
    assert tool is not None
    return tool


def _echoing(schema: Mapping[str, Any] | bool) -> dict[str, Any]:
    return {"utcp_config": config(recording_template("m", {"echo": schema}))}


@pytest.mark.parametrize("call", CALLS)
def test_every_property_name_and_value_arrives(
    toolbox: MakeToolBox, call: Callable[[UTCPToolBox, str, dict[str, Any]], ToolOutput]
) -> None:
    declared = {"type": "object", "properties": {name: {} for name in AWKWARD_ARGUMENTS}, "additionalProperties": False}
    for schema in (declared, {"type": "object"}):
        output = call(toolbox(config=_echoing(schema)), "m_echo", AWKWARD_ARGUMENTS)
        assert json.dumps(json.loads(str(output))) == json.dumps({"received": AWKWARD_ARGUMENTS})


@pytest.mark.parametrize("call", CALLS)
def test_what_was_not_given_is_not_sent(
    toolbox: MakeToolBox, call: Callable[[UTCPToolBox, str, dict[str, Any]], ToolOutput]
) -> None:
    assert str(call(toolbox(config=_echoing(NODE_SCHEMA)), "m_echo", {"_id": "a"})) == '{"received":{"_id":"a"}}'


def test_models_are_shown_the_authors_schema(toolbox: MakeToolBox) -> None:
    made = toolbox(config=_echoing(NODE_SCHEMA))
    [listed] = made.tool_json_list
    [openai] = made.openai_tools
    assert listed["argument_schema"] == NODE_SCHEMA
    assert openai["function"]["parameters"] == NODE_SCHEMA
    assert ToolBox.normalize_tools([made]) == [openai]
    assert openai["function"]["name"] == listed["name"] == "m_echo"
    assert openai["function"]["description"] == listed["description"]
    assert _tool(made, "m_echo").argument_schema.model_json_schema() == NODE_SCHEMA
    assert json.loads(json.dumps(made.tool_json_list)) == made.tool_json_list


def test_a_host_may_change_what_it_was_shown(toolbox: MakeToolBox) -> None:
    made = toolbox(config=_echoing(NODE_SCHEMA))
    made.tool_json_list[0]["argument_schema"]["properties"].clear()
    assert made.tool_json_list[0]["argument_schema"] == NODE_SCHEMA


def test_a_tool_without_arguments_shows_an_empty_object(toolbox: MakeToolBox) -> None:
    made = toolbox(config=_echoing({}))
    assert made.tool_json_list[0]["argument_schema"] == {"type": "object", "properties": {}}
    assert str(made.call_tool("m_echo", {})) == '{"received":{}}'


def test_the_argument_model_is_one_of_opms_and_judges_as_the_schema_does(toolbox: MakeToolBox) -> None:
    model: Any = _tool(toolbox(config=_echoing(NODE_SCHEMA)), "m_echo").argument_schema
    assert issubclass(model, ToolArguments)
    assert isinstance(model(_id="a", tree={"children": [{}]}), ToolArguments)
    for wrong in ({}, {"_id": "a", "count": 0}, {"_id": "a", "tree": {"children": [1]}}, {"_id": "a", "extra": 1}):
        with pytest.raises(ValidationError):
            model(**wrong)


def test_the_argument_model_of_another_tool_is_judged_by_this_ones_schema(toolbox: MakeToolBox) -> None:
    made = toolbox(
        config={
            "utcp_config": config(
                recording_template("m", {"a": {"type": "object"}, "b": {"type": "object", "required": ["n"]}})
            )
        }
    )
    output = made.call_tool("m_b", _tool(made, "m_a").argument_schema.model_validate({"x": 1}))
    assert output.is_error
    assert "n" in output.content


def test_what_models_get_wrong_without_loss_is_repaired(toolbox: MakeToolBox) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "labels": {"type": "array"}}}
    made = toolbox(config=_echoing(schema))
    assert str(made.call_tool("m_echo", {"n": "5", "labels": '["x"]'})) == '{"received":{"n":5,"labels":["x"]}}'


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"_id": "a", "count": "many"}, ["count", "integer"]),
        ({}, ["_id", "missing"]),
        ({"_id": "a", "colour": 1}, ["colour", "count", "mode"]),
        ([1], ["object"]),
        ("[1]", ["object"]),
        ("{not json", ["JSON"]),
    ],
)
def test_refused_arguments_are_a_result_that_says_what_was_expected(
    toolbox: MakeToolBox, arguments: Any, words: list[str]
) -> None:
    output = toolbox(config=_echoing(NODE_SCHEMA)).call_tool("m_echo", arguments)
    assert output.is_error
    assert all(word in output.content for word in ["m_echo", *words]), output.content


def test_a_model_is_shown_the_content_once_and_a_program_everything(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("hello")) as manual:
        output = toolbox(config={"utcp_config": config(manual.template("m"))}).call_tool("m_hello", {})
    assert isinstance(output, AdapterToolOutput)
    assert isinstance(output, ToolOutput)
    assert str(output) == f"{output}" == output.content == '{"called":"/hello"}'
    assert output.model_dump(mode="json") == {
        "content": '{"called":"/hello"}',
        "is_error": False,
        "raw": [{"called": "/hello"}],
    }


def test_speech_is_described_to_the_model_and_kept_for_the_program(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("speak")) as manual:
        output = toolbox(config={"utcp_config": config(manual.template("tts"))}).call_tool("tts_speak", {})
    assert not output.is_error
    assert "audio/wav" in output.content
    assert "100 bytes" in output.content
    assert base64.b64encode(manual.speech).decode() in json.dumps(output.model_dump(mode="json")["raw"])


def test_an_http_error_is_a_result_with_the_servers_reason(toolbox: MakeToolBox) -> None:
    def refuse(_: dict[str, Any]) -> None:
        raise ToolServerError(429, {"error": "ask again in a minute"})

    with ToolServer([ServedTool("fail", "Fails.", {}, refuse)]) as server:
        given = {"utcp_config": config(server.call_template("m"))}
        output = toolbox(config=given).call_tool("m_fail", {})
        with pytest.raises(ToolExecutionError, match=r"429.*ask again in a minute"):
            toolbox(config={**given, "on_tool_error": "raise"}).call_tool("m_fail", {})
    assert output.is_error
    assert "429" in str(output)
    assert "ask again in a minute" in str(output)


def test_a_call_over_its_limit_ends_with_words_that_can_be_spoken(toolbox: MakeToolBox) -> None:
    release = threading.Event()
    with ToolServer([ServedTool("slow", "Waits.", {}, lambda _: release.wait())]) as server:
        made = toolbox(config={"utcp_config": config(server.call_template("m")), "timeout": 0.1})
        output = made.call_tool("m_slow", {})
        release.set()
    assert output.is_error
    assert "0.1 seconds" in output.content


def test_a_failure_raises_with_its_reason_when_that_is_asked_for(toolbox: MakeToolBox) -> None:
    made = toolbox(config={**_echoing(NODE_SCHEMA), "on_tool_error": "raise"})
    with pytest.raises(ToolArgumentsError, match="count"):
        made.call_tool("m_echo", {"_id": "a", "count": "many"})


def test_an_unknown_tool_is_a_value_error_that_lists_the_closest_names(toolbox: MakeToolBox) -> None:
    made = toolbox(config=_echoing({}))
    with pytest.raises(ValueError, match=r"'m_ecko'.*m_echo"):
        made.call_tool("m_ecko", {})


def test_the_utcp_name_is_accepted_too(toolbox: MakeToolBox) -> None:
    made = toolbox(config=_echoing({}))
    assert _tool(made, "m.echo").name == "m_echo"
    assert not made.call_tool("m.echo", {}).is_error


def test_calls_work_inside_a_running_loop_and_from_many_threads(toolbox: MakeToolBox) -> None:
    made = toolbox(config=_echoing({}))

    async def inside() -> str:
        return str(made.call_tool("m_echo", {"n": 0}))

    assert asyncio.run(inside()) == '{"received":{"n":0}}'
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda n: str(made.call_tool("m_echo", {"n": n})), range(16)))
    assert outputs == [f'{{"received":{{"n":{n}}}}}' for n in range(16)]
