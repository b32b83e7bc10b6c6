"""When a toolbox looks at its manuals, and what becomes of it."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from ovos_utils.fakebus import FakeBus

from ovos_utcp_toolbox import UTCPToolBox
from tests.ovos.conftest import OVOS_LOGGER, MakeToolBox
from tests.support.manuals import broken_manuals, config, text_manual
from tests.support.ovos import Caller, ManualServer, serving


class EagerToolBox(UTCPToolBox):
    rediscovery_interval: ClassVar[float] = 0.0


class HastyToolBox(EagerToolBox):
    rediscovery_patience: ClassVar[float] = 0.01


def test_unknown_names_and_the_bus_do_not_cause_another_discovery_within_the_interval(
    toolbox: MakeToolBox, bus: FakeBus
) -> None:
    with serving(ManualServer("hello")) as manual:
        made = toolbox(config={"utcp_config": config(manual.template("m"))}, bus=bus)
        for _ in range(10):
            assert made.get_tool("nope") is None
            assert len(Caller(bus).ask("ovos.persona.tools.discover")) == 1
            with pytest.raises(ValueError, match="nope"):
                made.call_tool("nope", {})
            made.refresh_tools()
        assert manual.fetches == 1
        assert made.rediscovery_interval == 30.0


def test_a_new_tool_is_found_by_its_name_once_the_interval_is_over(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("hello")) as manual:
        made = toolbox(kind=EagerToolBox, config={"utcp_config": config(manual.template("m"))})
        assert list(made.tools) == ["m_hello"]
        manual.tools = ["hello", "later"]
        assert str(made.call_tool("m_later", {})) == '{"called":"/later"}'
        assert list(made.tools) == ["m_hello", "m_later"]


def test_the_bus_is_told_what_the_manuals_say_now(toolbox: MakeToolBox, bus: FakeBus) -> None:
    with serving(ManualServer("hello")) as manual:
        toolbox(kind=EagerToolBox, config={"utcp_config": config(manual.template("m"))}, bus=bus)
        Caller(bus).ask("ovos.persona.tools.discover")
        manual.tools = ["other"]
        [answer] = Caller(bus).ask("ovos.persona.tools.discover")
    assert [tool["name"] for tool in answer["tools"]] == ["m_other"]


def test_known_tools_are_called_and_listed_without_a_look_at_the_manuals(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("hello")) as manual:
        made = toolbox(kind=EagerToolBox, config={"utcp_config": config(manual.template("m"))})
        for _ in range(3):
            made.call_tool("m_hello", {})
            made.call_tool("m.hello", {})
            assert len(made.openai_tools) == 1
        assert manual.fetches == 1


def test_a_server_that_comes_up_late_is_noticed_by_listing_the_tools(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture
) -> None:
    with serving(ManualServer("hello")) as manual:
        manual.failing = True
        made = toolbox(kind=EagerToolBox, config={"utcp_config": config(manual.template("m"))})
        assert made.tools == {}
        _settled()
        assert made.tools == {}
        manual.failing = False
        _settled()
        _ = made.tools
        _settled()
        assert list(made.tools) == ["m_hello"]
    [warning] = _warnings(ovos_log)
    assert "'m'" in warning
    assert "503" in warning


def test_a_server_that_hangs_costs_no_more_than_the_patience(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("hello")) as manual:
        made = toolbox(kind=HastyToolBox, config={"utcp_config": config(manual.template("m"))})
        _settled()
        assert list(made.tools) == ["m_hello"]
        manual.gate.clear()
        manual.tools = ["hello", "later"]
        assert made.get_tool("m_later") is None
        assert str(made.call_tool("m_hello", {})) == '{"called":"/hello"}'
        manual.gate.set()
        _settled()
        assert "m_later" in made.tools
        assert manual.fetches == 2


def test_healthy_tools_are_there_beside_broken_manuals_which_the_log_explains(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture
) -> None:
    with serving(ManualServer("hello")) as manual:
        given = config(manual.template("good"), *broken_manuals(f"{manual.url}/other"))
        made = toolbox(config={"utcp_config": given})
        assert list(made.tools) == ["good_hello"]
        assert [report.name for report in made.toolset.report.failed] == ["dead", "my_api", "malformed"]
        with pytest.raises(ValueError, match=r"good_hello.*'dead'.*'my_api'.*'malformed'") as caught:
            made.call_tool("good_hallo", {})
    [line] = _warnings(ovos_log)
    for expected in ("'dead'", "'my_api'", "my__api_TOKEN", "'malformed'"):
        assert expected in line
        assert expected in str(caught.value)


def test_a_manual_that_hangs_from_the_start_delays_nobody_longer_than_the_patience(
    toolbox: MakeToolBox, bus: FakeBus
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, serving(ManualServer("hello")) as manual:
        asleep = {**manual.template("asleep"), "url": f"http://127.0.0.1:{silent.getsockname()[1]}/utcp"}
        _ = toolbox(config={"utcp_config": config(text_manual("t", []))}).tools  # so that all is imported
        made = toolbox(config={"utcp_config": config(asleep, manual.template("m"))}, bus=bus)
        answers, took = _timed(lambda: Caller(bus).ask("ovos.persona.tools.discover"))
        assert [tool["name"] for tool in answers[0]["tools"]] == ["m_hello"]
        assert took < 2.9  # who asks on the bus waits 3 seconds
        output, took = _timed(lambda: made.call_tool("m_hello", {}))
        assert str(output) == '{"called":"/hello"}'
        assert took < 1
        assert [report.name for report in made.toolset.report.loading] == ["asleep"]
        with pytest.raises(ValueError, match="'asleep' is still loading"):
            made.call_tool("asleep_x", {})


def test_a_loaded_tool_is_called_at_once_while_another_manual_loads(toolbox: MakeToolBox) -> None:
    with serving(ManualServer("late")) as slow, serving(ManualServer("hello")) as fast:
        slow.gate.clear()
        made = toolbox(config={"utcp_config": config(slow.template("s"), fast.template("f"))})
        _until(lambda: fast.fetches == 1)
        time.sleep(0.8)  # less than the patience
        output, took = _timed(lambda: made.call_tool("f_hello", {}))
        assert str(output) == '{"called":"/hello"}'
        assert took < 0.6
        slow.gate.set()
        _settled()
        assert list(made.tools) == ["f_hello", "s_late"]
        assert str(made.call_tool("s_late", {})) == '{"called":"/late"}'


def test_what_is_odd_about_a_manual_is_in_the_ovos_log(
    toolbox: MakeToolBox, ovos_log: pytest.LogCaptureFixture
) -> None:
    with serving(ManualServer("hello")) as manual:
        old = {"name": "old", "provider_type": "http", "url": f"{manual.url}/utcp"}
        odd = {**manual.template("odd"), "htp_method": "GET", "allowed_communication_protocols": ["cli"]}
        made = toolbox(config={"utcp_config": config(odd, tool_providers=[old])})
        assert list(made.tools) == ["old_hello"]
        _settled()
    lines = _warnings(ovos_log)
    for words in (("'htp_method'", "'http_method'"), ("odd.hello", "skipped"), ("tool_providers", "older form")):
        assert len([line for line in lines if all(word in line for word in words)]) == 1, lines


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.monotonic()
    return work(), time.monotonic() - began


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _warnings(log: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage()
        for record in log.records
        if record.name == OVOS_LOGGER and record.levelno >= logging.WARNING
    ]


def _settled() -> None:
    """Wait for the looks at the manuals that are under way."""
    for thread in threading.enumerate():
        if thread.name.endswith("-loading"):
            thread.join()
