"""The README says what is true: its quick starts run as they stand, on a real server."""

from __future__ import annotations

import ast
import asyncio
import gc
import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from utcp_bridge import Toolset
from utcp_bridge.demo import demos
from utcp_bridge.demo.server import tool_server

ROOT = Path(__file__).parents[2]
ADDRESS = "http://localhost:8000/utcp"
CALL = {"name": "home_get_weather", "arguments": {"city": "Paris"}}
PARIS = '{"city":"Paris","sky":"sunny","celsius":21}'


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def _quick_start(part: str) -> str:
    [code] = [block for block in _blocks("python") if part in block]
    assert len(code.strip().splitlines()) <= 10
    return code


@pytest.fixture
def _utcp_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The README's `utcp.json` in the current directory, its address leading to a real server."""
    source, _ = _blocks("json")
    assert ADDRESS in source
    with tool_server() as server:
        (tmp_path / "utcp.json").write_text(source.replace(ADDRESS, server.manual_url), encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        yield
        for left in [each for each in gc.get_objects() if isinstance(each, Toolset)]:
            left.close()  # a quick start closes nothing


def test_the_readme_has_two_commands_one_for_the_demo_and_one_for_the_tests() -> None:
    demo, tests = _blocks("sh")
    assert demo.endswith("python3 -m uv run utcp-bridge demo\n")
    assert tests.endswith("python3 -m uv run pytest -n 2 --dist loadfile\n")


@pytest.mark.usefixtures("_utcp_json")
def test_the_quick_start_of_langchain_runs(capsys: pytest.CaptureFixture[str]) -> None:
    from tests.support.langchain_agents import ScriptedModel, tool_call

    model = ScriptedModel(turns=[[tool_call("home_get_weather", {"city": "Paris"})]])
    exec(_quick_start("langchain"), {"model": model})  # noqa: S102 - the README's own code
    assert capsys.readouterr().out == PARIS + "\n"


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # LlamaIndex's own
@pytest.mark.filterwarnings("ignore:ServiceManager is deprecated:DeprecationWarning")
@pytest.mark.usefixtures("_utcp_json")
def test_the_quick_start_of_llamaindex_runs(capsys: pytest.CaptureFixture[str]) -> None:
    from tests.support.llamaindex_agents import ScriptedModel, tool_call

    names: dict[str, Any] = {"llm": ScriptedModel(turns=[[tool_call("home_get_weather", {"city": "Paris"})]])}
    code = compile(_quick_start("llama_index"), "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    asyncio.run(FunctionType(code, names)())  # as a notebook runs a cell that awaits
    assert capsys.readouterr().out == PARIS + "\n"


@pytest.mark.usefixtures("_utcp_json")
def test_the_quick_start_of_ovos_is_a_persona_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support.ovos import BRAINS  # first, because importing OPM warns

    monkeypatch.syspath_prepend(str(BRAINS))
    importlib.invalidate_caches()
    from ovos_bus_client.session import Session
    from ovos_persona import Persona
    from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

    _, block = _blocks("json")
    assert len(block.strip().splitlines()) <= 10
    settings = json.loads(block)
    [loop] = settings["handlers"]
    settings[loop] |= {"brain": "utcp-test-native-brain", "utcp-test-native-brain": {"calls": [CALL]}}
    persona = Persona(settings["name"], {**settings, "memory_module": None})
    [engine] = persona.solvers.loaded_modules.values()
    [toolbox] = engine.toolboxes
    try:
        assert persona.chat([AgentMessage(MessageRole.USER, "What is the weather?")], Session("test")) == PARIS
    finally:
        toolbox.unbind()


def test_the_picture_shows_an_agent_of_each_framework() -> None:
    drawn = (ROOT / "docs" / "demo.svg").read_text(encoding="utf-8")
    assert all(f">{entry.name}<" in drawn for entry in demos())


@pytest.mark.usefixtures("_utcp_json")
def test_the_quick_start_without_a_framework_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(_quick_start("Toolset.open"), {})  # noqa: S102 - the README's own code
    assert capsys.readouterr().out.splitlines() == ["'home' (http): 2 tools", PARIS]


def test_links_lead_to_files() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


READMES = [
    path for path in (ROOT / "README.md", *ROOT.glob("packages/*/README.md")) if "pip install" in path.read_text()
]


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_what_a_readme_says_to_install_exists_with_its_extras(readme: Path) -> None:
    ours: dict[str, set[str]] = {}
    for project in (ROOT / "packages").glob("*/pyproject.toml"):
        table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        ours[table["name"]] = set(table.get("optional-dependencies", {}))
    text = readme.read_text(encoding="utf-8")
    installs = " ".join(re.findall(r"pip install ([^`\n]+)", text))
    named = re.findall(r"([\w-]*utcp[\w-]*)(?:\[([\w,-]+)\])?", installs)
    of_upstream = {"utcp-mcp", "utcp-gql", "utcp-websocket"}
    for name, extras in named:
        assert name in ours or name in of_upstream
        assert {extra for extra in extras.split(",") if extra} <= ours.get(name, set())
    assert ours.keys() & {name for name, _ in named}
