"""Failures as agents see them, in every framework."""

from __future__ import annotations

import shlex
import sys
import time
from typing import Any

import pytest

from tests.contract.offers import Adapter
from tests.support.manuals import cli_tool, config, http_tool, text_manual
from utcp_bridge.testing import ServedTool, ToolServer, ToolServerError


def _failing(status: int, body: Any) -> ToolServer:
    def fail(_: dict[str, Any]) -> Any:
        raise ToolServerError(status, body)

    return ToolServer([ServedTool("fail", "Fails.", {}, fail)])


@pytest.mark.behaviour("error.http")
@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (403, {"error": "the plan does not include maps"}, "the plan does not include maps"),
        (422, {"detail": [{"loc": ["query", "q"], "msg": "field required"}]}, "field required"),
        (500, "out of cheese", "out of cheese"),
    ],
)
def test_an_http_error_has_the_status_and_the_servers_reason(
    adapter: Adapter, status: int, body: Any, reason: str
) -> None:
    with _failing(status, body) as server, adapter.offer(config(server.call_template("m"))) as offer:
        outcome = offer.call("m_fail", {})
    assert outcome.is_error
    assert str(status) in outcome.content
    assert reason in outcome.content


@pytest.mark.behaviour("error.unreachable")
def test_a_server_that_is_gone_is_said_to_be_unreachable(adapter: Adapter) -> None:
    source = config(text_manual("m", [http_tool("gone", "http://127.0.0.1:9/x")], "http"))
    with adapter.offer(source) as offer:
        outcome = offer.call("m_gone", {})
    assert outcome.is_error
    assert "127.0.0.1:9" in outcome.content


@pytest.mark.behaviour("error.timeout")
def test_a_call_over_its_limit_names_the_limit(adapter: Adapter) -> None:
    slow = ServedTool("slow", "Sleeps.", {}, lambda _: time.sleep(0.6))
    with ToolServer([slow]) as server:
        source = config(server.call_template("m"))
        with adapter.offer(source, timeout=0.2) as offer:
            by_default = offer.call("m_slow", {})
        with adapter.offer(source, timeouts={"m.slow": 0.2}) as offer:
            by_tool = offer.call("m_slow", {})
        with adapter.offer(source, timeout=0.2, timeouts={"m.slow": 10}) as offer:
            longer = offer.call("m_slow", {})
    assert by_default.is_error
    assert "0.2 seconds (timeout)" in by_default.content
    assert by_tool.is_error
    assert "m.slow" in by_tool.content
    assert not longer.is_error


@pytest.mark.behaviour("error.exit-code")
@pytest.mark.skipif(sys.platform == "win32", reason="the command is written for a POSIX shell")
def test_a_command_that_fails_has_its_exit_code_and_output(adapter: Adapter) -> None:
    tools = [
        cli_tool("fails", "echo partial; echo boom >&2; exit 3"),
        cli_tool("warns", f"{shlex.quote(sys.executable)} -c 'import sys; sys.stderr.write(\"careful\"); print(42)'"),
    ]
    with adapter.offer(config(text_manual("m", tools, "cli"))) as offer:
        failed = offer.call("m_fails", {})
        warned = offer.call("m_warns", {})
    assert failed.is_error
    assert all(word in failed.content for word in ("3", "partial", "boom"))
    assert (warned.content, warned.is_error) == ("42", False)


@pytest.mark.behaviour("error.raised")
def test_a_failed_call_raises_when_it_is_asked_to(adapter: Adapter) -> None:
    with _failing(403, {"error": "the plan does not include maps"}) as server:
        source = config(server.call_template("m"))
        with (
            adapter.offer(source, on_tool_error="raise") as offer,
            pytest.raises(Exception, match="the plan does not include maps"),
        ):
            offer.call("m_fail", {})


@pytest.mark.behaviour("error.secrets")
def test_a_key_is_in_no_error(adapter: Adapter) -> None:
    key = "sk-3f9a77c2d1"
    with _failing(401, {"error": f"the key {key} has expired"}) as server:
        tools = [
            http_tool("query", f"{server.base_url}/tools/fail?key=${{KEY}}"),
            http_tool("header", f"{server.base_url}/tools/fail", headers={"X-Key": "${KEY}"}),
            http_tool("gone", "http://127.0.0.1:9/x?key=${KEY}"),
        ]
        source = config(text_manual("m", tools, "http"), variables={"m_KEY": key})
        with adapter.offer(source) as offer:
            outcomes = [offer.call(name, {}) for name in offer.descriptions()]
    assert len(outcomes) == len(tools)
    for outcome in outcomes:
        assert outcome.is_error
        assert key not in outcome.content
