"""The demo from beginning to end, as events that a terminal or a program can show."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

from utcp_bridge.demo import Demo, Script, Step, demos
from utcp_bridge.demo.commands import call_template
from utcp_bridge.demo.server import tool_server
from utcp_bridge.discovery import DiscoveryReport
from utcp_bridge.tools import BridgedTool
from utcp_bridge.toolset import Toolset

SCRIPT = Script(
    question="What is the weather in Paris and in Atlantis? Keep a note of it, and count the words of the note.",
    calls=(
        ("home_get_weather", {"city": "Paris"}),
        ("home_get_weather", {"city": "Atlantis"}),
        ("home_add_note", {"body": {"text": "Paris is sunny", "tags": ["weather"]}}),
        ("shell_count_words", {"text": "Paris is sunny"}),
    ),
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The tools are there."""

    url: str
    report: DiscoveryReport
    tools: tuple[BridgedTool, ...]


@dataclass(frozen=True, slots=True)
class FrameworkRun:
    """An agent of one framework answered, or could not: `problem` says why, and `failed` that it should have."""

    framework: str
    steps: tuple[Step, ...] = ()
    problem: str | None = None
    failed: bool = False


def tell(script: Script = SCRIPT) -> Generator[Loaded | FrameworkRun]:
    """Start the tools, load them, and let an agent of every installed framework answer the same question."""
    with tool_server() as server:
        config: dict[str, Any] = {"manual_call_templates": [server.call_template("home"), call_template("shell")]}
        with closing(Toolset.open(config, on_failure="raise")) as toolset:
            yield Loaded(server.manual_url, toolset.report, tuple(toolset.tools.values()))
            for entry in demos():
                yield _run(entry, toolset, script)


def _run(entry: EntryPoint, toolset: Toolset, script: Script) -> FrameworkRun:
    framework = entry.name
    try:
        demo: Demo = entry.load()
    except ImportError as error:
        missing = error.name or str(error)
        return FrameworkRun(framework, problem=f"not run: {missing} is not installed; {_remedy(entry, missing)}")
    try:
        return FrameworkRun(framework, tuple(demo(toolset, script)))
    except Exception as error:  # noqa: BLE001 - whatever one framework does, the others are shown
        return FrameworkRun(framework, problem=f"{type(error).__name__}: {error}", failed=True)


def _remedy(entry: EntryPoint, missing: str) -> str:
    # An adapter that needs more for an agent than for its tools has an extra for that.
    if entry.dist is not None and "agents" in (entry.dist.metadata.get_all("Provides-Extra") or ()):
        return f"pip install '{entry.dist.name}[agents]'"
    return f"pip install '{missing.partition('.')[0].replace('_', '-')}'"
