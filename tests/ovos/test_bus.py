"""The toolbox as other processes see it: on the message bus."""

from __future__ import annotations

from typing import Any

import pytest
from ovos_plugin_manager.templates.agent_tools import ToolBox
from ovos_utils.fakebus import FakeBus

from ovos_utcp_toolbox import UTCPToolBox
from tests.ovos.conftest import MakeToolBox
from tests.support.manuals import config
from tests.support.ovos import Caller
from tests.support.recording import recording_template
from utcp_bridge.testing import ServedTool, ToolServer, ToolServerError

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
OWN_TOPIC = "ovos.persona.tools.ovos-utcp-toolbox.call"
STATIC_TOPIC = "ovos.persona.tools.call"
SPEAKS_THE_STATIC_TOPIC = hasattr(ToolBox, "unbind")  # both came with OPM 3.0.1

TOPICS = [
    pytest.param(OWN_TOPIC, {}, id="own"),
    pytest.param(
        STATIC_TOPIC,
        {"toolbox_id": "ovos-utcp-toolbox"},
        id="static",
        marks=pytest.mark.skipif(
            not SPEAKS_THE_STATIC_TOPIC, reason="this OPM answers on the toolbox's own topic alone"
        ),
    ),
]


def _configured() -> dict[str, Any]:
    return {"utcp_config": config(recording_template("m", {"echo": SCHEMA}))}


def test_discovery_gives_every_tool_with_its_schemas(toolbox: MakeToolBox, bus: FakeBus) -> None:
    toolbox(config=_configured(), bus=bus)
    [answer] = Caller(bus).ask("ovos.persona.tools.discover")
    assert answer["toolbox_id"] == "ovos-utcp-toolbox"
    [tool] = answer["tools"]
    assert tool["name"] == "m_echo"
    assert tool["argument_schema"] == SCHEMA
    assert tool["output_schema"] == {"type": "object"}  # the shortest: loops paste it into every prompt


@pytest.mark.parametrize(("topic", "address"), TOPICS)
def test_a_call_is_answered_with_its_result(
    toolbox: MakeToolBox, bus: FakeBus, topic: str, address: dict[str, str]
) -> None:
    toolbox(config=_configured(), bus=bus)
    [answer] = Caller(bus).ask(topic, **address, name="m_echo", kwargs={"n": 1, "self": {"é": [None, 1.0]}})
    assert answer == {
        "toolbox_id": "ovos-utcp-toolbox",
        "result": {
            "content": '{"received":{"n":1,"self":{"é":[null,1.0]}}}',
            "is_error": False,
            "raw": [{"received": {"n": 1, "self": {"é": [None, 1.0]}}}],
        },
    }


@pytest.mark.parametrize(("topic", "address"), TOPICS)
def test_a_failed_call_is_answered_with_its_reason(
    toolbox: MakeToolBox, bus: FakeBus, topic: str, address: dict[str, str]
) -> None:
    def refuse(_: dict[str, Any]) -> None:
        raise ToolServerError(403, {"error": "the plan does not include maps"})

    with ToolServer([ServedTool("fail", "Fails.", {}, refuse)]) as server:
        toolbox(config={"utcp_config": config(server.call_template("m"))}, bus=bus)
        [answer] = Caller(bus).ask(topic, **address, name="m_fail", kwargs={})
    assert answer["result"]["is_error"] is True
    assert "403" in answer["result"]["content"]
    assert "the plan does not include maps" in answer["result"]["content"]


def test_refused_arguments_are_answered_with_what_was_expected(toolbox: MakeToolBox, bus: FakeBus) -> None:
    toolbox(config=_configured(), bus=bus)
    [answer] = Caller(bus).ask(OWN_TOPIC, name="m_echo", kwargs={"n": "many"})
    assert answer["result"]["is_error"] is True
    assert all(word in answer["result"]["content"] for word in ("m_echo", "n", "integer"))


def test_a_raised_failure_is_answered_with_its_reason(toolbox: MakeToolBox, bus: FakeBus) -> None:
    toolbox(config={**_configured(), "on_tool_error": "raise"}, bus=bus)
    [answer] = Caller(bus).ask(OWN_TOPIC, name="m_echo", kwargs={"n": "many"})
    assert answer["error"].startswith("ToolArgumentsError: ")
    assert "integer" in answer["error"]


def test_an_unknown_tool_is_answered_with_the_closest_names(toolbox: MakeToolBox, bus: FakeBus) -> None:
    toolbox(config=_configured(), bus=bus)
    [answer] = Caller(bus).ask(OWN_TOPIC, name="m_ecko", kwargs={})
    assert "result" not in answer
    assert "m_ecko" in answer["error"]
    assert "m_echo" in answer["error"]


@pytest.mark.parametrize("missing", [{}, {"kwargs": None}])
def test_a_call_without_arguments_is_a_call_with_none(
    toolbox: MakeToolBox, bus: FakeBus, missing: dict[str, Any]
) -> None:
    toolbox(config={"utcp_config": config(recording_template("m", {"echo": {"type": "object"}}))}, bus=bus)
    [answer] = Caller(bus).ask(OWN_TOPIC, name="m_echo", **missing)
    assert answer["result"]["content"] == '{"received":{}}'


@pytest.mark.skipif(not SPEAKS_THE_STATIC_TOPIC, reason="this OPM answers on the toolbox's own topic alone")
@pytest.mark.parametrize("address", [{}, {"toolbox_id": "another"}])
def test_a_call_for_another_toolbox_gets_no_answer(toolbox: MakeToolBox, bus: FakeBus, address: dict[str, str]) -> None:
    toolbox(config=_configured(), bus=bus)
    assert Caller(bus).ask(STATIC_TOPIC, **address, name="m_echo", kwargs={"n": 1}) == []


def test_several_toolboxes_answer_each_for_itself(toolbox: MakeToolBox, bus: FakeBus) -> None:
    toolbox(config=_configured(), bus=bus)
    toolbox(config={"utcp_config": config(recording_template("k", {"echo": SCHEMA}))}, bus=bus, toolbox_id="second")
    found = {answer["toolbox_id"]: answer["tools"] for answer in Caller(bus).ask("ovos.persona.tools.discover")}
    assert [tool["name"] for tool in found["second"]] == ["k_echo"]
    [answer] = Caller(bus).ask("ovos.persona.tools.second.call", name="k_echo", kwargs={"n": 1})
    assert answer["result"]["content"] == '{"received":{"n":1}}'


def test_an_unbound_toolbox_is_silent_and_closed_and_can_be_bound_again(toolbox: MakeToolBox, bus: FakeBus) -> None:
    made = toolbox(config=_configured(), bus=bus)
    toolset = made.toolset
    made.unbind()
    made.unbind()
    assert toolset.closed
    assert made.bus is None
    assert Caller(bus).ask("ovos.persona.tools.discover") == []
    assert Caller(bus).ask(OWN_TOPIC, name="m_echo", kwargs={"n": 1}) == []
    other = FakeBus()
    made.bind(other)
    [answer] = Caller(other).ask(OWN_TOPIC, name="m_echo", kwargs={"n": 1})
    assert answer["result"]["is_error"] is False


@pytest.mark.parametrize("again", ["the same bus", "another bus"])
def test_binding_again_never_answers_twice(toolbox: MakeToolBox, bus: FakeBus, again: str) -> None:
    made: UTCPToolBox = toolbox(config=_configured(), bus=bus)
    toolset = made.toolset
    new = bus if again == "the same bus" else FakeBus()
    made.bind(new)
    assert made.toolset is toolset
    assert len(Caller(new).ask(OWN_TOPIC, name="m_echo", kwargs={"n": 1})) == 1
    if new is not bus:
        assert Caller(bus).ask(OWN_TOPIC, name="m_echo", kwargs={"n": 1}) == []


def test_shutting_down_closes_the_toolset(toolbox: MakeToolBox, bus: FakeBus) -> None:
    made = toolbox(config=_configured(), bus=bus)
    toolset = made.toolset
    made.shutdown()
    assert toolset.closed
    assert Caller(bus).ask("ovos.persona.tools.discover") == []


@pytest.mark.parametrize(("topic", "address"), TOPICS)
@pytest.mark.parametrize("name", [None, 5, ["m_echo"], {"name": "m_echo"}, ""])
def test_a_name_that_is_none_is_answered_as_an_unknown_tool(
    toolbox: MakeToolBox, bus: FakeBus, topic: str, address: dict[str, str], name: Any
) -> None:
    toolbox(config=_configured(), bus=bus)
    [answer] = Caller(bus).ask(topic, name=name, kwargs={"n": 1}, **address)
    assert "Unknown tool" in answer["error"]
    assert "The tools are: m_echo" in answer["error"]
