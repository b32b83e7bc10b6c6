"""The demo and the example do what they say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain.agents", reason="create_agent came with langchain 1.0")
pytest.importorskip("langchain.agents.factory", reason="create_agent came with langchain 1.0")

from examples.langchain_agent import conversation, in_words
from langchain_utcp_toolkit.demo import demo
from tests.support.langchain_agents import ScriptedModel, tool_call
from utcp_bridge import Toolset
from utcp_bridge.demo import Script, Step


def test_the_demo_tells_every_step(home: dict[str, Any]) -> None:
    script = Script("Weather?", (("home_get_weather", {"city": "Paris"}), ("home_get_weather", {"city": "Atlantis"})))
    with Toolset.open(home) as toolset:
        steps = list(demo(toolset, script))
    paris = '{"city":"Paris","sky":"sunny","celsius":21}'
    assert steps[:3] == [
        Step("tools", "home_add_note, home_get_weather"),
        Step("call", 'home_get_weather {"city": "Paris"}'),
        Step("result", paris),
    ]
    assert [step.kind for step in steps[3:]] == ["call", "error", "answer"]
    assert "try Paris or Oslo" in steps[4].text
    assert steps[5].text == f"\n    home_get_weather: {paris}\n    home_get_weather: {steps[4].text}"


def test_the_example_agent_shows_its_way_to_the_answer(home: dict[str, Any]) -> None:
    model = ScriptedModel(
        turns=[
            [tool_call("home_get_weather", {"city": "Atlantis"}, "1")],
            [tool_call("home_get_weather", {"city": "Paris"}, "2")],
        ]
    )

    async def lines() -> list[str]:
        return [in_words(message) async for message in conversation(home, model, "Weather?")]

    calls, failed, calls_again, got, answer = asyncio.run(lines())
    assert calls == "calls home_get_weather {'city': 'Atlantis'}"
    assert failed.startswith("failed: ")
    assert calls_again == "calls home_get_weather {'city': 'Paris'}"
    assert got == 'got: {"city":"Paris","sky":"sunny","celsius":21}'
    assert answer.endswith('{"city":"Paris","sky":"sunny","celsius":21}')
