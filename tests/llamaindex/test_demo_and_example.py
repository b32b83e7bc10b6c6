"""The demo and the example do what they say."""

from __future__ import annotations

from typing import Any

import pytest

from examples.llamaindex_agent import conversation
from llama_index.tools.utcp.demo import demo
from tests.support.llamaindex_agents import ScriptedModel, tool_call
from utcp_bridge import Toolset
from utcp_bridge.demo import Script, Step

# See test_agents.py.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:ServiceManager is deprecated:DeprecationWarning"),
]

PARIS = '{"city":"Paris","sky":"sunny","celsius":21}'


def test_the_demo_tells_every_step(home: dict[str, Any]) -> None:
    script = Script("Weather?", (("home_get_weather", {"city": "Paris"}), ("home_get_weather", {"city": "Atlantis"})))
    with Toolset.open(home) as toolset:
        steps = list(demo(toolset, script))
    assert steps[:3] == [
        Step("tools", "home_add_note, home_get_weather"),
        Step("call", 'home_get_weather {"city": "Paris"}'),
        Step("result", PARIS),
    ]
    assert [step.kind for step in steps[3:]] == ["call", "error", "answer"]
    assert "try Paris or Oslo" in steps[4].text
    assert steps[5].text == f"\n    home_get_weather: {PARIS}\n    home_get_weather: {steps[4].text}"


async def test_the_example_agent_shows_its_way_to_the_answer(home: dict[str, Any]) -> None:
    turns = [[tool_call("home_get_weather", {"city": city}, city)] for city in ("Atlantis", "Paris")]
    lines = [line async for line in conversation(home, ScriptedModel(turns=turns), "Weather?")]
    calls, failed, calls_again, got, answer = lines
    assert calls == "calls home_get_weather {'city': 'Atlantis'}"
    assert failed.startswith("failed: ")
    assert calls_again == "calls home_get_weather {'city': 'Paris'}"
    assert got == f"got: {PARIS}"
    assert answer.endswith(PARIS)
