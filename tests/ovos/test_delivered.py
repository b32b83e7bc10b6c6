"""Any arguments of any schema, by every way into a toolbox: they arrive exactly, or are refused before UTCP."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from ovos_utils.fakebus import FakeBus

from ovos_utcp_toolbox import UTCPToolBox
from tests.support.json_schemas import ARGUMENTS, ROOTS
from tests.support.manuals import config
from tests.support.ovos import Caller
from tests.support.recording import recording_template
from utcp_bridge.schema import ArgumentsSchema, InvalidArguments

Way = Callable[[UTCPToolBox, FakeBus, Any], str]


def _over_the_bus(_toolbox: UTCPToolBox, bus: FakeBus, arguments: Any) -> str:
    [answer] = Caller(bus).ask("ovos.persona.tools.ovos-utcp-toolbox.call", name="m_echo", kwargs=arguments)
    return str(answer["result"]["content"])


WAYS: dict[str, Way] = {
    "call_tool": lambda toolbox, _bus, arguments: str(toolbox.call_tool("m_echo", arguments)),
    "call_tool-text": lambda toolbox, _bus, arguments: str(toolbox.call_tool("m_echo", json.dumps(arguments))),
    "bus": _over_the_bus,
}


@pytest.mark.parametrize("way", WAYS)
def test_any_arguments_arrive_exactly_or_are_refused(way: str) -> None:
    @settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(ROOTS, ARGUMENTS)
    def check(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
        bus = FakeBus()
        settings = {"utcp_config": config(recording_template("m", {"echo": schema})), "repair": False}
        with closing(UTCPToolBox(config=settings, bus=bus)) as toolbox:
            _ = toolbox.toolset  # wait for it
            content = WAYS[way](toolbox, bus, arguments)
        try:
            ArgumentsSchema(schema).accept(arguments, repair=False)
        except InvalidArguments as refusal:
            assert content == f"m_echo: {refusal}"  # noqa: PT017 - either outcome is right
        else:
            assert json.dumps(json.loads(content)["received"]) == json.dumps(arguments)

    check()


def test_an_instance_of_the_argument_schema_is_sent_exactly() -> None:
    @settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(ROOTS, ARGUMENTS)
    def check(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
        settings = {"utcp_config": config(recording_template("m", {"echo": schema})), "repair": False}
        with closing(UTCPToolBox(config=settings)) as toolbox:
            tool = toolbox.get_tool("m_echo")
            assert tool is not None
            try:
                instance = tool.argument_schema.model_validate(arguments)
            except ValueError:
                with pytest.raises(InvalidArguments):
                    ArgumentsSchema(schema).accept(arguments, repair=False)
                return
            content = str(toolbox.call_tool("m_echo", instance))
        assert json.dumps(json.loads(content)["received"]) == json.dumps(arguments)

    check()
