"""The toolbox as OPM finds it, with the configurations that personas have."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from ovos_plugin_manager.persona import find_toolbox_plugins
from ovos_plugin_manager.utils import PluginConfigTypes
from ovos_plugin_manager.utils.config import load_plugin_configs

from ovos_utcp_toolbox import UTCPToolBox
from tests.ovos.conftest import MakeToolBox
from tests.support.manuals import cli_tool
from tests.support.ovos import ManualServer, serving

HTTP_PERSONA = """
{"toolboxes": ["ovos-utcp-toolbox"],
 "ovos-utcp-toolbox": {
   "utcp_config": {
     "tool_providers": [
       {"name": "my-http-tools", "provider_type": "http", "url": "https://my-tool-server.example.com/tools"}
     ]
   },
   "timeout": 30
 }}
"""
TWO_PROVIDER_PERSONA = """
{"toolboxes": ["ovos-utcp-toolbox"],
 "ovos-utcp-toolbox": {
   "utcp_config": {
     "tool_providers": [
       {"name": "web-tools", "provider_type": "http", "url": "http://localhost:8000/tools"},
       {"name": "cli-tools", "provider_type": "cli", "command": "my-cli-tool"}
     ]
   },
   "timeout": 30
 }}
"""


@contextmanager
def _toolbox_of(persona: dict[str, Any]) -> Iterator[UTCPToolBox]:
    """The toolbox of a persona, loaded as OVOS hosts do."""
    [name] = persona["toolboxes"]
    kind: Any = find_toolbox_plugins()[name]
    toolbox = kind(config=persona.get(name, {}), bus=None)
    assert isinstance(toolbox, UTCPToolBox)
    with closing(toolbox):
        yield toolbox


def _cli_tool(directory: Path) -> Path:
    """A command that prints its manual, and runs the tool of that manual."""
    command = directory / "my-cli-tool"
    manual = {
        "manual_version": "1.0.0",
        "utcp_version": "1.0.1",
        "tools": [cli_tool("shout", f"{command} UTCP_ARG_text_UTCP_END", properties={"text": {"type": "string"}})],
    }
    command.write_text(
        f"#!{sys.executable}\nimport sys\nprint(sys.argv[1].upper() if sys.argv[1:] else {json.dumps(manual)!r})\n"
    )
    command.chmod(0o755)
    return command


def test_opm_finds_the_plugin_and_its_example_configuration() -> None:
    assert find_toolbox_plugins()["ovos-utcp-toolbox"] is UTCPToolBox
    examples = load_plugin_configs("ovos-utcp-toolbox", PluginConfigTypes.AGENT_TOOLBOX)
    assert isinstance(examples, list)
    assert all("utcp_config" in example for example in examples)


def test_a_persona_with_one_http_provider_loads_and_answers_calls() -> None:
    with serving(ManualServer("hello")) as manual:
        persona = json.loads(HTTP_PERSONA.replace("https://my-tool-server.example.com/tools", f"{manual.url}/utcp"))
        with _toolbox_of(persona) as toolbox:
            assert list(toolbox.tools) == ["my_http_tools_hello"]
            assert str(toolbox.call_tool("my_http_tools_hello", {})) == '{"called":"/hello"}'


@pytest.mark.skipif(sys.platform == "win32", reason="the command is an executable script")
def test_a_persona_with_an_http_and_a_cli_provider_loads_and_answers_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = _cli_tool(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with serving(ManualServer("hello")) as manual:
        persona = json.loads(TWO_PROVIDER_PERSONA.replace("http://localhost:8000/tools", f"{manual.url}/utcp"))
        assert persona["ovos-utcp-toolbox"]["utcp_config"]["tool_providers"][1]["command"] == command.name
        with _toolbox_of(persona) as toolbox:
            assert list(toolbox.tools) == ["cli_tools_shout", "web_tools_hello"]
            assert str(toolbox.call_tool("web_tools_hello", {})) == '{"called":"/hello"}'
            assert str(toolbox.call_tool("cli_tools_shout", {"text": "it's $HOME; really"})) == "IT'S $HOME; REALLY"


def test_the_example_configuration_loads(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("hello")) as manual:
        [example] = load_plugin_configs("ovos-utcp-toolbox", PluginConfigTypes.AGENT_TOOLBOX)
        given = json.loads(json.dumps(example).replace("http://localhost:8000", manual.url))
        assert list(toolbox(config=given).tools) == ["my_tools_hello"]
