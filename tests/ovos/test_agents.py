"""OVOS agents, loaded from a persona, use the tools: real loops, plugins and servers, and a scripted model."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ovos_agentic_loop")
pytest.importorskip("ovos_persona")

from ovos_bus_client.session import Session
from ovos_persona import Persona
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole
from ovos_utils.fakebus import FakeBus

from examples.ovos_agent import ask
from ovos_utcp_toolbox import UTCPToolBox
from tests.support.manuals import config
from tests.support.ovos import BRAINS, Caller
from utcp_bridge.demo.server import tool_server

EXAMPLE = Path(__file__).parents[2] / "examples" / "ovos_persona.json"

CALLS: list[dict[str, Any]] = [
    {"name": "home_get_weather", "arguments": {"city": "Paris"}},
    {"name": "home_get_weather", "arguments": {"city": "Atlantis"}},
    {"name": "home_get_weather", "arguments": {}},
    {"name": "home_nothing", "arguments": {}},
    {"name": "home_add_note", "arguments": {"body": {"text": "Paris is sunny", "tags": ["weather"]}}},
]
LOOPS = [
    pytest.param("ovos-native-toolcall-loop", "utcp-test-native-brain", id="native"),
    pytest.param("ovos-native-toolcall-loop", "utcp-test-text-brain", id="native falls back to text"),
    pytest.param("ovos-react-loop", "utcp-test-text-brain", id="react"),
]


@pytest.fixture(autouse=True)
def _brains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BRAINS))
    importlib.invalidate_caches()


@contextmanager
def _persona(config: dict[str, Any]) -> Iterator[tuple[Persona, Any]]:
    """A persona and the agent loop that it has loaded."""
    persona = Persona("helper", {**config, "memory_module": None})
    [engine] = persona.solvers.loaded_modules.values()
    try:
        yield persona, engine
    finally:
        for toolbox in engine.toolboxes:
            if isinstance(toolbox, UTCPToolBox):
                toolbox.unbind()


def _asked(persona: Persona, question: str) -> str:
    answer = persona.chat([AgentMessage(MessageRole.USER, question)], Session("test"))
    assert isinstance(answer, str)
    return answer


@pytest.mark.parametrize(("loop", "brain"), LOOPS)
def test_an_agent_sees_the_tools_calls_them_meets_errors_and_goes_on(loop: str, brain: str) -> None:
    with tool_server() as server:
        settings = {
            "brain": brain,
            brain: {"calls": CALLS},
            "toolboxes": ["ovos-clock-tools", "ovos-utcp-toolbox"],
            "ovos-utcp-toolbox": {"utcp_config": config(server.call_template("home"))},
        }
        with _persona({"handlers": [loop], loop: settings}) as (persona, engine):
            answer = _asked(persona, "What is the weather?")
            offered = json.dumps(engine.brain.offered)
    paris, atlantis, refused, unknown, note = answer.split(" | ")
    assert paris == '{"city":"Paris","sky":"sunny","celsius":21}'
    assert "404" in atlantis
    assert "try Paris or Oslo" in atlantis
    assert "city" in refused
    assert "missing" in refused
    assert "home_nothing" in unknown
    assert note == '{"kept":{"text":"Paris is sunny","tags":["weather"]}}'
    assert all(name in offered for name in ("home_get_weather", "home_add_note", "get_current_datetime"))
    assert '"description": "Name of the city"' in offered


def test_an_agents_toolbox_answers_on_the_bus_as_well() -> None:
    bus = FakeBus()
    with tool_server() as server:
        settings = {
            "toolboxes": ["ovos-utcp-toolbox"],
            "ovos-utcp-toolbox": {"utcp_config": config(server.call_template("home"))},
        }
        with _persona({"handlers": ["ovos-react-loop"], "ovos-react-loop": settings}) as (_, engine):
            [toolbox] = engine.toolboxes
            toolbox.bind(bus)
            [found] = Caller(bus).ask("ovos.persona.tools.discover")
            assert [tool["name"] for tool in found["tools"]] == ["home_add_note", "home_get_weather"]
            [answer] = Caller(bus).ask(
                "ovos.persona.tools.ovos-utcp-toolbox.call", name="home_get_weather", kwargs={"city": "Oslo"}
            )
    assert answer["result"]["content"] == '{"city":"Oslo","sky":"snow","celsius":-3}'


def test_the_example_persona_answers_with_another_model_and_address() -> None:
    with tool_server() as server:
        text = EXAMPLE.read_text(encoding="utf-8").replace("http://localhost:8000/utcp", server.manual_url)
        persona = json.loads(text.replace("ovos-chat-openai-plugin", "utcp-test-native-brain"))
        [loop] = persona["handlers"]
        persona[loop]["utcp-test-native-brain"]["calls"] = CALLS[:1]
        assert ask(persona, "What is the weather?") == '{"city":"Paris","sky":"sunny","celsius":21}'
