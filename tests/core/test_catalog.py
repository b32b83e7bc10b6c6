"""Finding tools by name, whatever is asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.manuals import config, text_manual
from utcp_bridge import Toolset
from utcp_bridge.errors import ToolNotFoundError

NAMES = ("get_weather", "Set-Thermostat", "list_notes", "delete_note")


def _tool(name: str) -> dict[str, Any]:
    return {"name": name, "inputs": {}, "tool_call_template": {"call_template_type": "text", "content": name}}


@pytest.fixture(scope="module")
def toolset() -> Iterator[Toolset]:
    with Toolset.open(config(text_manual("home", [_tool(name) for name in NAMES], "text"))) as opened:
        yield opened


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("HOME_GET_WEATHER", "home_get_weather"),
        ("home-get-weather", "home_get_weather"),
        ("Home/get weather", "home_get_weather"),
        ("get_weather", "home_get_weather"),
        ("home_get_wether", "home_get_weather"),
        ("home.set_thermostat", "home_Set-Thermostat"),
    ],
)
def test_the_closest_name_is_found_whatever_its_case_and_separators(toolset: Toolset, asked: str, meant: str) -> None:
    with pytest.raises(ToolNotFoundError, match=f"The closest are: {meant}[,.]"):
        toolset.find(asked)


@pytest.mark.parametrize("asked", [None, 5, 2.5, True, b"home_get_weather", ["home_get_weather"], {"a": 1}, "", "?"])
def test_what_no_name_can_be_is_not_found_either(toolset: Toolset, asked: Any) -> None:
    assert toolset.call(asked).is_error
    with pytest.raises(ToolNotFoundError, match="The tools are: home_Set-Thermostat"):
        toolset.find(asked)


def test_a_long_name_does_not_come_back_whole(toolset: Toolset) -> None:
    assert len(toolset.call("x" * 100_000).content) < 1_000


def test_of_many_tools_the_closest_is_found_too() -> None:
    verbs = ("get", "list", "create", "delete")
    names = [f"{verbs[n % 4]}_{n * 7919 % 100_003}" for n in range(2_000)]
    tools = [_tool(name) for name in [*names, "get_weather"]]
    with (
        Toolset.open(config(text_manual("m", tools, "text"))) as many,
        pytest.raises(ToolNotFoundError, match=r"The closest are: m_get_weather[,.]"),
    ):
        many.find("get_weathr")


def test_tools_can_be_kept_in_sets(toolset: Toolset) -> None:
    tools = list(toolset.tools.values())
    assert len({*tools, *tools}) == len(NAMES)


def test_a_tool_that_a_refresh_took_away_speaks_of_the_name_that_it_was_shown_by(tmp_path: Path) -> None:
    manual = tmp_path / "home.json"

    def offer(*names: str) -> None:
        manual.write_text(json.dumps({"tools": [_tool(name) for name in names]}), encoding="utf-8")

    offer("turn/on", "turn_off")
    with Toolset.open(manual) as toolset:
        kept, gone = toolset.tools["home_turn_on"], toolset.tools["home_turn_off"]
        offer("turn/on", "turn_on")  # now both names need a hash
        toolset.refresh()
        assert "home_turn_on" not in toolset.tools
        assert kept.call().content == "turn/on"
        missing = gone.call()
        assert missing.is_error
        assert missing.content.startswith("There is no tool 'home_turn_off'.")
        assert asyncio.run(gone.acall()) == missing
        offer("turn.off")  # another tool with the name that was free
        toolset.refresh()
        assert toolset.tools["home_turn_off"].call().content == "turn.off"
        assert gone.call().is_error
