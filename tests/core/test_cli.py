"""The `utcp-bridge` command, as a user starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.manuals import broken_manuals, config
from utcp_bridge.demo.server import tool_server

COMMAND = Path(sys.executable).with_name("utcp-bridge")


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def manual_url() -> Iterator[str]:
    with tool_server() as server:
        yield server.manual_url


@pytest.fixture
def source(manual_url: str, tmp_path: Path) -> str:
    manual = {"name": "home", "call_template_type": "http", "url": manual_url, "http_method": "GET"}
    return _written(config(manual), tmp_path)


def _written(document: dict[str, Any], folder: Path) -> str:
    path = folder / "utcp.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_the_demo_lets_an_agent_of_each_framework_call_tools_and_go_on_after_an_error() -> None:
    ran = _run("demo", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    loaded, *runs = [json.loads(line) for line in ran.stdout.splitlines()]
    assert loaded["tools"] == ["home_add_note", "home_get_weather", "shell_count_words"]
    assert [run["framework"] for run in runs] == ["LangChain", "LlamaIndex", "OVOS"]
    for run in runs:
        kinds = [step["kind"] for step in run["steps"]]
        assert kinds == ["tools", "call", "result", "call", "error", "call", "result", "call", "result", "answer"]
        answer = run["steps"][-1]["text"]
        assert '{"city":"Paris","sky":"sunny","celsius":21}' in answer
        assert "HTTP 404 Not Found: no city 'Atlantis'; try Paris or Oslo" in answer
        assert '{"words":3}' in answer


def test_the_demo_ends_with_how_to_go_on_and_draws_its_own_picture(tmp_path: Path) -> None:
    picture = tmp_path / "demo.svg"
    ran = _run("demo", "--svg", str(picture))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    drawn = picture.read_text(encoding="utf-8").replace("&#160;", " ")
    assert drawn.startswith("<svg")
    assert all(word in drawn for word in ("LangChain", "LlamaIndex", "OVOS", "utcp-bridge check my-utcp.json"))
    assert "@font-face" not in drawn


def test_list_shows_each_tool(source: str) -> None:
    ran = _run("list", source)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "home_get_weather" in ran.stdout
    assert "Keep a note for later." in ran.stdout


def test_list_takes_filters_and_the_url_of_a_manual(manual_url: str) -> None:
    ran = _run("list", manual_url, "--json", "--tag", "weather", "--read-only")
    assert (ran.returncode, ran.stderr) == (0, "")
    [tool] = json.loads(ran.stdout)
    assert tool["name"].endswith("_get_weather")
    assert (tool["read_only"], tool["tags"]) == (True, ["weather"])


def test_show_prints_a_tool_as_models_see_it(source: str) -> None:
    shown = json.loads(_run("show", source, "home.get_weather", "--json").stdout)
    assert shown["name"] == "home_get_weather"
    assert shown["input_schema"]["required"] == ["city"]
    assert '"required"' in _run("show", source, "home_get_weather").stdout


@pytest.mark.parametrize("arguments", [["city=Paris"], ['{"city": "Paris"}']])
def test_call_prints_what_the_tool_replied(source: str, arguments: list[str]) -> None:
    ran = _run("call", source, "home_get_weather", *arguments)
    assert (ran.returncode, ran.stdout) == (0, '{"city":"Paris","sky":"sunny","celsius":21}\n')


def test_a_value_is_read_as_its_schema_wants_it(source: str) -> None:
    ran = _run("call", source, "home_add_note", 'body={"text": "5"}', "--json")
    assert json.loads(ran.stdout)["data"] == {"kept": {"text": "5"}}


def test_a_failed_call_exits_with_one_and_its_reason(source: str) -> None:
    ran = _run("call", source, "home_get_weather", "city=Atlantis")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "no city 'Atlantis'" in ran.stderr


def test_an_unknown_tool_names_the_closest(source: str) -> None:
    ran = _run("show", source, "home_get_wether")
    assert ran.returncode != 0
    assert "home_get_weather" in ran.stderr


def test_check_exits_with_one_when_a_manual_failed(manual_url: str, tmp_path: Path) -> None:
    manual = {"name": "good", "call_template_type": "http", "url": manual_url, "http_method": "GET"}
    malformed = manual_url.replace("/utcp", "/tools/get_weather?city=Paris")
    ran = _run("check", _written(config(manual, *broken_manuals(malformed)), tmp_path), "--json")
    assert (ran.returncode, ran.stderr) == (1, "")
    outcomes = {manual["name"]: manual for manual in json.loads(ran.stdout)["manuals"]}
    assert {name for name, manual in outcomes.items() if manual["ok"]} == {"good"}
    assert "my__api_TOKEN" in outcomes["my_api"]["error"]
    assert _run("check", manual_url).returncode == 0


def test_a_wrong_source_is_said_in_one_line_without_a_traceback(tmp_path: Path) -> None:
    ran = _run("list", str(tmp_path / "nowhere.json"))
    assert ran.returncode == 2
    assert "nowhere.json" in ran.stderr
    assert "Traceback" not in ran.stderr
