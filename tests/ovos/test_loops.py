"""Every loop of ovos-agentic-loop that calls tools shows its model the result of a call, or the whole reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tests.support.ovos  # noqa: F401 - first, because importing OPM warns

pytest.importorskip("ovos_agentic_loop")

from ovos_agentic_loop.base import AgenticLoopEngine
from ovos_agentic_loop.critic import CRITICEngine
from ovos_agentic_loop.native_toolcall import NativeToolCallEngine
from ovos_agentic_loop.plan_execute import PlanAndExecuteEngine
from ovos_agentic_loop.react import ReActLoopEngine
from ovos_agentic_loop.self_ask import SelfAskEngine
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole, ToolCall
from ovos_utils.fakebus import FakeBus

from tests.ovos.conftest import MakeToolBox
from tests.support.manuals import config
from tests.support.ovos import Caller
from tests.support.recording import recording_template
from utcp_bridge.testing import ServedTool, ToolServer, ToolServerError


class Brain(ChatEngine):
    """A model that says its turns one after the other, and keeps what it is shown."""

    def __init__(self, turns: list[AgentMessage | str]) -> None:
        super().__init__()
        self.supports_tools = any(isinstance(turn, AgentMessage) for turn in turns)
        self.shown = ""
        self._turns = iter(turns)

    def continue_chat(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: Any = None,
    ) -> AgentMessage:
        self.shown += "".join(message.content for message in messages)
        turn = next(self._turns)
        return turn if isinstance(turn, AgentMessage) else AgentMessage(MessageRole.ASSISTANT, turn)


QUERY = {"query": "paris"}


def _turns(loop: type[AgenticLoopEngine], tool: str) -> list[AgentMessage | str]:
    """What a model says that calls a tool with the text `paris`, in the form that a loop asks for."""
    action = f"Thought: x\nAction: {tool}\nAction Input: {json.dumps(QUERY)}"
    call = AgentMessage(MessageRole.ASSISTANT, "", tool_calls=[ToolCall("1", tool, QUERY)])
    turns: dict[type[AgenticLoopEngine], list[AgentMessage | str]] = {
        NativeToolCallEngine: [call, "done"],
        ReActLoopEngine: [action, "FINAL_ANSWER: done"],
        PlanAndExecuteEngine: ["1. look", action, "STEP_RESULT: seen", "done"],
        CRITICEngine: ["a draft", f"CLAIM: it is so\nTOOL: {tool}\nTOOL INPUT: paris", "done", "VERIFIED: all"],
        SelfAskEngine: [f"Follow up: x\nTool: {tool}\nTool Input: paris", "So the final answer is: done"],
    }
    return turns[loop]


KNOW_SCHEMAS = [NativeToolCallEngine, ReActLoopEngine, PlanAndExecuteEngine]
GUESS_NAMES = [CRITICEngine, SelfAskEngine]


def _shown(loop: type[AgenticLoopEngine], toolbox: Any, tool: str) -> str:
    brain = Brain(_turns(loop, tool))
    engine: Any = loop()
    engine.load_toolboxes([toolbox])
    engine.set_brain(brain)
    assert engine.continue_chat([AgentMessage(MessageRole.USER, "?")]).content == "done"
    return brain.shown


def _schema(name: str, **schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string", **schema}}, "required": [name]}


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("name", ["query", "q", "text"])
@pytest.mark.parametrize("loop", GUESS_NAMES)
def test_a_loop_that_guesses_the_arguments_name_finds_it(
    toolbox: MakeToolBox, loop: type[AgenticLoopEngine], name: str, closed: bool
) -> None:
    schema = {**_schema(name), "additionalProperties": not closed}
    made = toolbox(config={"utcp_config": config(recording_template("m", {"find": schema}))})
    assert f'{{"received":{{"{name}":"paris"}}}}' in _shown(loop, made, "m_find")


@pytest.mark.parametrize("name", ["q", "text", "city"])
@pytest.mark.parametrize("loop", KNOW_SCHEMAS)
def test_a_loop_that_knows_the_schema_shows_why_arguments_do_not_fit(
    toolbox: MakeToolBox, loop: type[AgenticLoopEngine], name: str
) -> None:
    made = toolbox(config={"utcp_config": config(recording_template("m", {"find": _schema(name)}))})
    assert f"m_find: {name}: is missing; it must be a string" in _shown(loop, made, "m_find")


@pytest.mark.parametrize("loop", [*KNOW_SCHEMAS, *GUESS_NAMES])
@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (_schema("city"), "m_find: city: is missing; it must be a string"),
        (_schema("query", type="integer"), "m_find: query: must be an integer"),
        (_schema("text", type="integer"), "m_find: text: is missing; it must be an integer"),
        (_schema("q", maxLength=2), "m_find: q: is missing"),
    ],
)
def test_where_no_guess_fits_every_loop_shows_why(
    toolbox: MakeToolBox, loop: type[AgenticLoopEngine], schema: dict[str, Any], reason: str
) -> None:
    made = toolbox(config={"utcp_config": config(recording_template("m", {"find": schema}))})
    assert reason in _shown(loop, made, "m_find")


@pytest.mark.parametrize("loop", GUESS_NAMES)
def test_a_call_that_fails_is_made_once_and_shows_the_servers_reason(
    toolbox: MakeToolBox, loop: type[AgenticLoopEngine]
) -> None:
    calls: list[dict[str, Any]] = []

    def fail(arguments: dict[str, Any]) -> None:
        calls.append(arguments)
        raise ToolServerError(503, {"error": "closed for today"})

    find = ServedTool("find", "Finds.", {"q": {"type": "string"}}, fail, required=["q"])
    with ToolServer([find]) as server:
        shown = _shown(loop, toolbox(config={"utcp_config": config(server.call_template("m"))}), "m_find")
    assert "closed for today" in shown
    assert calls == [{"q": "paris"}]


def test_a_wrong_guess_is_answered_with_its_reason_on_the_bus(toolbox: MakeToolBox, bus: FakeBus) -> None:
    toolbox(config={"utcp_config": config(recording_template("m", {"find": _schema("q")}))}, bus=bus)
    [answer] = Caller(bus).ask("ovos.persona.tools.ovos-utcp-toolbox.call", name="m_find", kwargs=QUERY)
    assert answer["error"] == "ToolArgumentsError: m_find: q: is missing; it must be a string"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"q": {"type": "string"}}},
        {"type": "object", "properties": {"query": {}, "q": {}, "text": {}}},
    ],
)
def test_arguments_that_fit_are_never_taken_for_a_wrong_guess(toolbox: MakeToolBox, schema: dict[str, Any]) -> None:
    made = toolbox(config={"utcp_config": config(recording_template("m", {"find": schema}))})
    assert str(made.call_tool("m_find", QUERY)) == '{"received":{"query":"paris"}}'


@pytest.mark.parametrize("arguments", [{}, {"q": 1}, {"city": "paris"}, {"query": "paris", "text": "x"}, [], "[1]"])
def test_only_a_guess_that_another_one_mends_raises(toolbox: MakeToolBox, arguments: Any) -> None:
    made = toolbox(config={"utcp_config": config(recording_template("m", {"find": _schema("q")}))})
    assert made.call_tool("m_find", arguments).is_error
