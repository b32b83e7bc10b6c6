"""Hosts make toolboxes in many ways; none of them may fail or wait."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ovos_plugin_manager.templates.agent_tools import ToolBox
from ovos_utils.fakebus import FakeBus

from ovos_utcp_toolbox import UTCPToolBox
from tests.ovos.conftest import OVOS_LOGGER, MakeToolBox
from tests.support.manuals import config
from tests.support.ovos import Caller, ManualServer, serving
from utcp_bridge import Toolset
from utcp_bridge.errors import BridgeError, ConfigError


def _logged(log: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [record.getMessage() for record in log.records if record.name == OVOS_LOGGER and record.levelno >= level]


@pytest.mark.parametrize(
    "construct",
    [
        lambda cls, given, bus: cls(),
        lambda cls, given, bus: cls(config={}),
        lambda cls, given, bus: cls(config=None, bus=bus),
        lambda cls, given, bus: cls({}, bus),
        lambda cls, given, bus: cls(toolbox_id="other", bus=bus),
        lambda cls, given, bus: cls({"enabled": True}),
    ],
)
def test_without_a_configuration_there_are_no_tools_and_one_line_says_why(
    construct: Callable[..., UTCPToolBox], bus: FakeBus, ovos_log: pytest.LogCaptureFixture
) -> None:
    toolbox = construct(UTCPToolBox, {}, bus)
    assert toolbox.tools == {}
    assert toolbox.discover_tools() == []
    assert toolbox.get_tool("x") is None
    assert toolbox.tool_json_list == []
    [line] = _logged(ovos_log, logging.INFO)
    assert line.startswith(f"{toolbox.toolbox_id}: no tools")
    assert "utcp_config" in line
    with pytest.raises(ConfigError, match="utcp_config"):
        _ = toolbox.toolset


@pytest.mark.parametrize(
    "construct",
    [
        lambda cls, given, bus: cls(given),
        lambda cls, given, bus: cls(config=given),
        lambda cls, given, bus: cls(config=given, bus=None),
        lambda cls, given, bus: cls(config=given, bus=bus),
        lambda cls, given, bus: cls(given, bus, "ovos-utcp-toolbox"),
        lambda cls, given, bus: cls(config=given, bus=bus, toolbox_id="ovos-utcp-toolbox"),
    ],
)
def test_every_hosts_way_of_making_a_toolbox_gives_its_tools(
    construct: Callable[..., UTCPToolBox], bus: FakeBus, ovos_log: pytest.LogCaptureFixture
) -> None:
    with serving(ManualServer("hello")) as manual:
        toolbox = construct(UTCPToolBox, {"utcp_config": config(manual.template("m")), "timeout": 30}, bus)
        assert isinstance(toolbox, ToolBox)
        assert list(toolbox.tools) == ["m_hello"]
        assert str(toolbox.call_tool("m_hello", {})) == '{"called":"/hello"}'
        toolbox.unbind()
    assert _logged(ovos_log, logging.INFO) == ["ovos-utcp-toolbox: 1 tool of 1 manual"]


def test_an_argument_that_only_some_host_knows_is_a_warning(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture
) -> None:
    toolbox(config={}, lang="en-us")
    assert any("'lang'" in line for line in _logged(ovos_log, logging.WARNING))


def test_an_unknown_option_is_a_warning_with_the_nearest_known_one(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture
) -> None:
    with serving(ManualServer("hello")) as manual:
        given = {"utcp_config": config(manual.template("m")), "timout": 5, "colour": "red", "enabled": True}
        assert list(toolbox(config=given).tools) == ["m_hello"]
    warnings = _logged(ovos_log, logging.WARNING)
    assert any("'timout'" in line and "'timeout'" in line for line in warnings)
    assert any("'colour'" in line for line in warnings)
    assert len(warnings) == 2


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"utcp_config": "no/such/file.json"}, "no/such/file.json"),
        ({"utcp_config": {"manual_call_templates": "not a list"}}, "manual_call_templates"),
        ({"utcp_config": 5}, "number"),
        ({"utcp_config": config(), "timeout": "soon"}, "timeout"),
        ({"utcp_config": config(), "on_failure": "explode"}, "on_failure"),
        (
            {
                "utcp_config": config(
                    {"name": "dead", "call_template_type": "http", "url": "http://127.0.0.1:9/", "http_method": "GET"}
                ),
                "on_failure": "raise",
            },
            "'dead'",
        ),
    ],
)
def test_a_configuration_that_is_wrong_is_an_error_in_the_log_and_never_raises(
    toolbox: MakeToolBox, bus: FakeBus, ovos_log: pytest.LogCaptureFixture, given: dict[str, Any], reason: str
) -> None:
    made = toolbox(config=given, bus=bus)
    assert made.tools == {}
    assert made.tool_json_list == []
    [line] = _logged(ovos_log, logging.WARNING)
    assert reason in line
    assert ovos_log.records[-1].levelno == logging.ERROR
    with pytest.raises(BridgeError, match=reason):
        _ = made.toolset
    with pytest.raises(ValueError, match=reason):
        made.call_tool("x", {})


def test_a_configuration_of_another_type_is_an_error_in_the_log(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture
) -> None:
    assert toolbox(config=["utcp.json"]).tools == {}
    [line] = _logged(ovos_log, logging.ERROR)
    assert "list" in line


def test_the_configuration_may_be_the_path_of_a_file(toolbox: MakeToolBox, tmp_path: Path) -> None:
    path = tmp_path / "utcp.json"
    with serving(ManualServer("hello")) as manual:
        path.write_text(
            f'{{"manual_call_templates": [{{"name": "m", "call_template_type": "http", "url": "{manual.url}/utcp"}}]}}'
        )
        assert list(toolbox(config={"utcp_config": str(path)}).tools) == ["m_hello"]


def test_an_open_toolset_is_used_as_it_is_and_stays_open(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("hello")) as manual, Toolset.open(config(manual.template("m"))) as toolset:
        made = toolbox(config={"utcp_config": toolset})
        assert made.toolset is toolset
        assert list(made.tools) == ["m_hello"]
        made.close()
        assert not toolset.closed


def test_making_a_toolbox_does_not_wait_for_its_server(toolbox: MakeToolBox, bus: FakeBus) -> None:
    with serving(ManualServer("hello")) as manual:
        manual.gate.clear()
        made = toolbox(config={"utcp_config": config(manual.template("m"))}, bus=bus)
        manual.gate.set()
        [answer] = Caller(bus).ask("ovos.persona.tools.discover")
        assert [tool["name"] for tool in answer["tools"]] == ["m_hello"]
        assert list(made.tools) == ["m_hello"]
        assert manual.fetches == 1


def test_closing_does_not_wait_for_a_server_that_does_not_answer(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("hello")) as manual:
        manual.gate.clear()
        made = toolbox(config={"utcp_config": config(manual.template("m"))})
        made.close()
        manual.gate.set()
        assert list(made.tools) == ["m_hello"]


def test_a_bus_that_is_none_is_an_error_line_and_no_failure(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture
) -> None:
    made = toolbox(config={}, bus={"not": "a bus"})
    assert made.bus is None
    assert any("no bus: dict" in line for line in _logged(ovos_log, logging.ERROR))


def test_a_host_may_leave_the_name_to_the_toolbox(toolbox: MakeToolBox, bus: FakeBus) -> None:
    assert toolbox(config={}, toolbox_id=None, bus=bus).toolbox_id == "ovos-utcp-toolbox"


@pytest.mark.parametrize("empty", [None, "", {}, []])
def test_an_empty_utcp_config_is_called_empty(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture, empty: object
) -> None:
    toolbox(config={"utcp_config": empty})
    assert _logged(ovos_log, logging.INFO) == ["ovos-utcp-toolbox: no tools, because its 'utcp_config' is empty"]


def test_null_options_of_a_persona_are_left_out(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("hello")) as manual:
        made = toolbox(config={"utcp_config": config(manual.template("m")), "timeout": None, "include": None})
        assert list(made.tools) == ["m_hello"]


def test_a_number_that_is_text_counts_as_the_number(toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture) -> None:
    with serving(ManualServer("hello")) as manual:
        made = toolbox(config={"utcp_config": config(manual.template("m")), "timeout": "3", "max_chars": "20"})
        assert list(made.tools) == ["m_hello"]
        assert made.toolset._options.timeout == 3  # noqa: SLF001 - nothing shows the limit but waiting for it
    assert _logged(ovos_log, logging.WARNING) == []


@pytest.mark.parametrize(
    "wrong", [{"include": 3}, {"exclude": [""]}, {"tags": {"a": 1}}, {"read_only": "yes"}, {"read_only": "0"}]
)
def test_a_filter_that_is_wrong_is_never_left_out(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture, wrong: dict[str, Any]
) -> None:
    with serving(ManualServer("hello")) as manual:
        assert toolbox(config={"utcp_config": config(manual.template("m")), **wrong}).tools == {}
    [line] = _logged(ovos_log, logging.ERROR)
    assert next(iter(wrong)) in line


def test_where_nothing_is_said_a_call_has_twenty_seconds_and_a_manual_ten() -> None:
    with closing(UTCPToolBox(config={"utcp_config": {"manual_call_templates": []}})) as toolbox:
        options = toolbox.toolset._options  # noqa: SLF001 - nothing shows the limits but waiting for them
        assert (options.timeout, options.discovery_timeout) == (20, 10)
    with closing(UTCPToolBox(config={"utcp_config": {"manual_call_templates": []}, "timeout": 45})) as toolbox:
        assert toolbox.toolset._options.timeout == 45  # noqa: SLF001
