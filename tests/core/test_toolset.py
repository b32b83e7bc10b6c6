"""From a configuration to a called tool, on real servers on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from utcp_bridge import Toolset, errors
from utcp_bridge.testing import ServedTool, ToolServer, ToolServerError


def _refuse(_arguments: dict[str, Any]) -> Any:
    raise ToolServerError(403, {"error": "the quota is used up"})


def _sleep(arguments: dict[str, Any]) -> Any:
    time.sleep(0.4)
    return arguments


SERVED = [
    ServedTool(
        "echo", "Sends back what it got.", {"text": {"type": "string", "minLength": 1}}, dict, required=["text"]
    ),
    ServedTool(
        "keep", "Keeps a body.", {"body": {"type": "object"}}, lambda arguments: arguments["body"], method="POST"
    ),
    ServedTool("refuse", "Always refuses.", {}, _refuse),
    ServedTool("sleep", "Takes its time.", {}, _sleep),
]


@pytest.fixture(scope="module")
def server() -> Iterator[ToolServer]:
    with ToolServer(SERVED) as running:
        yield running


@pytest.fixture
def config(server: ToolServer) -> dict[str, Any]:
    return {"manual_call_templates": [server.call_template("demo")]}


def _dead_template(name: str) -> dict[str, Any]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return {"name": name, "call_template_type": "http", "url": f"http://127.0.0.1:{port}/utcp", "http_method": "GET"}


async def test_a_configuration_becomes_tools_sorted_by_name(config: dict[str, Any]) -> None:
    async with await Toolset.aopen(config) as toolset:
        assert list(toolset.tools) == ["demo_echo", "demo_keep", "demo_refuse", "demo_sleep"]
        echo = toolset.tools["demo_echo"]
        assert (echo.utcp_name, echo.manual, echo.read_only, echo.destructive) == ("demo.echo", "demo", True, False)
        assert echo.input_schema == {
            "type": "object",
            "properties": {"text": {"type": "string", "minLength": 1}},
            "required": ["text"],
        }


async def test_a_configuration_is_read_from_a_file(config: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "utcp_config.json"
    path.write_text(json.dumps(config))
    async with await Toolset.aopen(path) as toolset:
        assert len(toolset.tools) == len(SERVED)


@pytest.mark.parametrize(
    ("text", "reason"), [("{", "not JSON"), ("3", "a number"), ('{"manual_call_templates": {}}', "a list")]
)
async def test_an_unreadable_configuration_says_what_is_wrong(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "utcp_config.json"
    path.write_text(text)
    with pytest.raises(errors.ConfigError, match=reason):
        await Toolset.aopen(path)


@pytest.mark.parametrize("name", ["demo_keep", "demo.keep"])
async def test_a_body_arrives_and_the_reply_comes_back_under_both_names(config: dict[str, Any], name: str) -> None:
    body = {"n": 1, "nested": {"list": [1, 2.5, None, True, "é"]}}
    async with await Toolset.aopen(config) as toolset:
        result = await toolset.acall(name, {"body": body})
    assert (result.is_error, result.data, result.raw) == (False, body, [body])


async def test_a_failing_tool_gives_the_servers_reason(config: dict[str, Any]) -> None:
    async with await Toolset.aopen(config) as toolset:
        result = await toolset.tools["demo_refuse"].acall()
    assert result.is_error
    assert "403" in result.content
    assert "the quota is used up" in result.content


async def test_an_unknown_tool_names_the_closest_ones(config: dict[str, Any]) -> None:
    async with await Toolset.aopen(config) as toolset:
        result = await toolset.acall("demo_ecko", {})
    assert result.is_error
    assert "demo_echo" in result.content


async def test_a_slow_tool_ends_at_the_limit(config: dict[str, Any]) -> None:
    async with await Toolset.aopen(config, timeout=0.1) as toolset:
        result = await toolset.acall("demo_sleep")
    assert result.is_error
    assert "0.1 seconds" in result.content


async def test_failures_raise_on_request(config: dict[str, Any]) -> None:
    async with await Toolset.aopen(config, on_tool_error="raise", timeout=0.1) as toolset:
        with pytest.raises(errors.ToolExecutionError, match="quota") as caught:
            await toolset.acall("demo_refuse")
        assert (caught.value.tool, caught.value.manual) == ("demo_refuse", "demo")
        with pytest.raises(errors.ToolTimeoutError):
            await toolset.acall("demo_sleep")
        with pytest.raises(errors.ToolNotFoundError):
            await toolset.acall("nothing")


async def test_a_dead_and_a_misconfigured_manual_cost_only_themselves(
    config: dict[str, Any], server: ToolServer
) -> None:
    secret = {**server.call_template("secret"), "headers": {"X-Key": "${NOWHERE_DEFINED}"}}
    templates = [_dead_template("dead"), secret, *config["manual_call_templates"]]
    async with await Toolset.aopen({"manual_call_templates": templates}) as toolset:
        assert len(toolset.tools) == len(SERVED)
        dead, undefined, healthy = toolset.report.manuals
    assert (dead.name, dead.ok) == ("dead", False)
    assert "127.0.0.1" in str(dead.error)
    assert "refused" in str(dead.error)
    assert (undefined.name, undefined.ok) == ("secret", False)
    assert "secret_NOWHERE_DEFINED" in str(undefined.error)
    assert (healthy.ok, healthy.tool_count) == (True, len(SERVED))


async def test_raise_mode_lists_every_manual_that_failed(config: dict[str, Any]) -> None:
    templates = [_dead_template("dead"), _dead_template("gone"), *config["manual_call_templates"]]
    with pytest.raises(errors.DiscoveryError, match=r"'dead'(.|\n)*'gone'"):
        await Toolset.aopen({"manual_call_templates": templates}, on_failure="raise")


async def test_nothing_loaded_is_a_single_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with await Toolset.aopen({"manual_call_templates": [_dead_template("dead")]}) as toolset:
        assert not toolset.tools
    warnings = [
        record
        for record in caplog.records
        if record.name.startswith("utcp_bridge") and record.levelno == logging.WARNING
    ]
    assert len(warnings) == 1
    assert "'dead'" in warnings[0].getMessage()


async def test_a_closed_toolset_refuses_calls_and_closes_twice(config: dict[str, Any]) -> None:
    toolset = await Toolset.aopen(config)
    await toolset.aclose()
    await toolset.aclose()
    with pytest.raises(errors.RunnerError, match="closed"):
        await toolset.acall("demo_echo", {"text": "x"})


async def test_an_unloaded_toolset_has_no_tools_before_it_is_refreshed(config: dict[str, Any]) -> None:
    with Toolset.unloaded(config, include="demo.echo") as toolset:
        assert not toolset.tools
        assert toolset.report.manuals == ()
        assert toolset.refresh().added == ("demo_echo",)
        assert not toolset.call("demo_echo", {"text": "x"}).is_error
    with pytest.raises(errors.ConfigError, match="no/such/file"):
        Toolset.unloaded("no/such/file.json")


@pytest.mark.parametrize("piecemeal", [False, True])
async def test_a_refresh_changes_the_tools_together_or_as_manuals_arrive(
    config: dict[str, Any], piecemeal: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asleep = {**_dead_template("asleep"), "url": f"http://127.0.0.1:{silent.getsockname()[1]}/utcp"}
        templates = [asleep, *config["manual_call_templates"]]
        with Toolset.unloaded({"manual_call_templates": templates}, discovery_timeout=1) as toolset:
            refresh = asyncio.create_task(toolset.arefresh(piecemeal=piecemeal))
            await asyncio.sleep(0.5)
            assert bool(toolset.tools) is piecemeal
            assert [report.name for report in toolset.report.loading] == (["asleep"] if piecemeal else [])
            assert len((await refresh).added) == len(SERVED)
            assert [report.name for report in toolset.report.failed] == ["asleep"]


async def test_filters_that_fit_nothing_are_warned_of_once_by_every_way_of_loading(
    config: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with Toolset.unloaded(config, exclude="demo.ecko") as toolset:
        for piecemeal in (True, False, True):
            toolset.refresh(piecemeal=piecemeal)
    assert len([record for record in caplog.records if "demo.ecko" in record.getMessage()]) == 1
