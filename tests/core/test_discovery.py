"""Manuals to tools: each by itself, at the same time, with its own limit, and all of it in the report."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
from utcp.implementations.in_mem_tool_repository import InMemToolRepository

from tests.support.documents import Documents, manual, serving, tool
from utcp_bridge.config import BridgeConfig, ManualTemplate
from utcp_bridge.discovery import (
    Discovery,
    DiscoveryReport,
    ManualReport,
    ManualVariable,
    SkippedTool,
    ToolsetChanges,
    changes_between,
    discover,
    raise_if_failed,
)
from utcp_bridge.errors import DiscoveryError
from utcp_bridge.transports.client.client import Client, open_client
from utcp_bridge.transports.client.loaded import FetchedManual

DEAD = "http://127.0.0.1:9/utcp"  # the discard service, which nobody runs: the connection is refused at once

# Its sessions belong to one loop; that the plugin is not installed is found out there.
BOUND_TO_A_LOOP = {"name": "bound", "call_template_type": "mcp", "config": {"mcpServers": {}}}


@pytest.fixture
async def documents() -> AsyncIterator[Documents]:
    async with serving(echo={"said": "hello"}) as running:
        running.pages["/utcp"] = manual(tool("echo", f"{running.base_url}/echo"))
        yield running


async def _discovered(source: dict[str, Any], **options: Any) -> tuple[Discovery, Client]:
    client = await open_client(source)
    try:
        return await discover(client, timeout=options.pop("timeout", 5), **options), client
    finally:
        await client.close()


def _names(found: Discovery) -> list[str]:
    return [each.utcp_name for each in found.tools]


FAILURES: list[tuple[str, Callable[[Documents], Any], str]] = [
    ("dead", lambda server: {**server.template("x", "/utcp"), "url": DEAD}, "127.0.0.1:9"),
    ("undefined variable", lambda server: server.template("x", "/utcp", headers={"A": "${TOKEN}"}), "x_TOKEN"),
    ("nothing there", lambda server: server.template("x", "/gone"), "HTTP 404 Not Found: nothing at /gone"),
    ("slow", lambda server: server.template("x", "/slow"), "no answer within 0.3 seconds (discovery_timeout)"),
    ("no manual", lambda server: server.template("x", "/echo"), "neither a UTCP manual"),
    ("a page", lambda server: server.template("x", "/page"), "HTML"),
    ("broken JSON", lambda server: server.template("x", "/broken"), "neither JSON nor YAML"),
    ("refused", lambda server: server.template("x", "/refused"), "HTTP 403 Forbidden: no key"),
    ("all tools unusable", lambda server: server.template("x", "/unusable"), "none of its tools can be used"),
    ("unknown type", lambda _: {"name": "x", "call_template_type": "grpc", "url": "h"}, "'grpc'"),
    (
        "wrong field",
        lambda _: {"name": "x", "call_template_type": "http"},
        "the http call template is wrong: url: is missing",
    ),
    ("no type", lambda _: {"name": "x", "url": "https://h"}, "call_template_type"),
    ("no object", lambda _: "https://h", "expected an object"),
    (
        "unwilling host",
        lambda _: {"name": "x", "call_template_type": "http", "url": "http://api.example.com/utcp"},
        "HTTPS",
    ),
    (
        "no such file",
        lambda _: {"name": "x", "call_template_type": "file", "file_path": "/nowhere/manual.json"},
        "there is no file '/nowhere/manual.json'",
    ),
    (
        "failing command",
        lambda _: {"name": "x", "call_template_type": "cli", "commands": [{"command": "echo no >&2; exit 3"}]},
        "exit",
    ),
]


@pytest.mark.parametrize(("template", "reason"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
async def test_a_manual_that_fails_costs_only_itself(
    documents: Documents, template: Callable[[Documents], Any], reason: str
) -> None:
    documents.pages |= {"/slow": {}, "/page": "<html><title>Log in</title></html>", "/broken": '{"tools": [}'}
    documents.pages |= {"/refused": {"error": "no key"}, "/unusable": manual({"name": "t"})}
    documents.statuses["/refused"] = 403
    documents.delays["/slow"] = 5
    good = documents.template("good", "/utcp")
    source = {"manual_call_templates": [template(documents), good]}
    found, client = await _discovered(source, timeout=0.3 if "0.3" in reason else 5)
    failed, loaded = found.report.manuals
    assert (failed.ok, failed.tool_count) == (False, 0)
    assert reason in str(failed.error)
    assert "Traceback" not in str(failed.error)
    assert (loaded.name, loaded.ok, loaded.tool_count, loaded.error) == ("good", True, 1, None)
    assert _names(found) == ["good.echo"]
    assert client.kept_manual("x") is None


async def test_manuals_are_fetched_at_the_same_time_and_reported_in_order(documents: Documents) -> None:
    documents.gates["/utcp"] = asyncio.Barrier(5)  # answers nobody before all have asked
    templates = [documents.template(f"m{index}", "/utcp") for index in range(5)]
    found, _ = await _discovered({"manual_call_templates": templates})
    assert [report.name for report in found.report.manuals] == [f"m{index}" for index in range(5)]
    assert found.report.ok


async def test_raise_mode_lists_every_failure_and_stores_nothing(documents: Documents) -> None:
    repository = InMemToolRepository()
    dead = {**documents.template("dead", "/utcp"), "url": DEAD}
    gone = documents.template("gone", "/gone")
    good = documents.template("good", "/utcp")
    source = {"tool_repository": repository, "manual_call_templates": [dead, good, gone]}
    with pytest.raises(DiscoveryError, match=r"'dead' \(http\): failed: (.|\n)*'gone' \(http\): failed: ") as caught:
        await _discovered(source, on_failure="raise")
    assert "good" not in str(caught.value)
    assert await repository.get_manuals() == []
    found, _ = await _discovered({**source, "manual_call_templates": [good]}, on_failure="raise")
    assert _names(found) == ["good.echo"]


async def test_nothing_loaded_is_one_warning(caplog: pytest.LogCaptureFixture, documents: Documents) -> None:
    dead = [{**documents.template(name, "/utcp"), "url": DEAD} for name in ("a", "b")]
    await _discovered({"manual_call_templates": dead})
    (warning,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "No UTCP tool could be loaded" in warning.getMessage()
    assert "'a' (http): failed" in warning.getMessage()
    assert "'b' (http): failed" in warning.getMessage()


async def test_the_same_failure_is_warned_of_once_until_it_is_over(
    caplog: pytest.LogCaptureFixture, documents: Documents
) -> None:
    documents.pages["/utcp"] = "<html>"
    client = await open_client({"manual_call_templates": [documents.template("a", "/utcp")]})
    for page, told in (("<html>", 1), ("<html>", 1), ({"no": "manual"}, 2), ({"tools": []}, 2), ({"no": "manual"}, 3)):
        documents.pages["/utcp"] = page
        await discover(client, timeout=5)
        assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == told
    await client.close()


async def test_something_loaded_is_no_warning(caplog: pytest.LogCaptureFixture, documents: Documents) -> None:
    dead = {**documents.template("dead", "/utcp"), "url": DEAD}
    await _discovered({"manual_call_templates": [dead, documents.template("good", "/utcp")]})
    await _discovered({"manual_call_templates": []})
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_no_secret_is_in_the_report(documents: Documents, caplog: pytest.LogCaptureFixture) -> None:
    documents.pages["/refused"] = {"error": "the key sk-LIVE-1 is refused"}
    documents.statuses["/refused"] = 401
    auth = {"auth_type": "api_key", "api_key": "${KEY}", "var_name": "api_key", "location": "query"}
    url = f"{documents.base_url}/refused?token=sk-LIVE-2"
    templates = [
        documents.template("q", "/refused", auth=auth),
        {**documents.template("u", "/"), "url": url},
        {**documents.template("d", "/"), "url": f"{DEAD}?token=sk-LIVE-2", "auth": auth},
    ]
    variables = {f"{name}_KEY": "sk-LIVE-1" for name in "qud"}
    found, _ = await _discovered({"variables": variables, "manual_call_templates": templates})
    assert "HTTP 401 Unauthorized: the key *** is refused" in str(found.report)
    for text in (str(found.report), repr(found), json.dumps(found.report.to_dict()), caplog.text):
        assert "sk-LIVE" not in text


# -- refreshing


async def test_a_refresh_takes_the_new_tools(documents: Documents) -> None:
    client = await open_client({"manual_call_templates": [documents.template("m", "/utcp")]})
    before = await discover(client, timeout=5)
    documents.pages["/utcp"] = manual(
        tool("new", f"{documents.base_url}/echo"),
        {**tool("echo", f"{documents.base_url}/echo"), "description": "Now says more."},
    )
    after = await discover(client, timeout=5)
    changes = changes_between(_by_name(before), _by_name(after))
    assert changes == ToolsetChanges(added=("m.new",), changed=("m.echo",))
    assert await client.call_tool("m.new", {}) == {"said": "hello"}
    await client.close()


async def test_a_manual_that_fails_later_keeps_its_tools(documents: Documents) -> None:
    templates = [documents.template("m", "/utcp"), documents.template("n", "/other")]
    documents.pages["/other"] = manual(tool("other", f"{documents.base_url}/echo"))
    client = await open_client({"manual_call_templates": templates})
    before = await discover(client, timeout=5)
    documents.statuses["/utcp"] = 500
    documents.pages["/other"] = manual()
    after = await discover(client, timeout=5)
    failed, emptied = after.report.manuals
    assert (failed.ok, failed.tool_count) == (False, 1)
    assert "its 1 tool of the last load stay" in str(failed)
    assert (emptied.ok, emptied.tool_count) == (True, 0)
    assert _names(after) == ["m.echo"]
    assert changes_between(_by_name(before), _by_name(after)) == ToolsetChanges(removed=("n.other",))
    assert await client.call_tool("m.echo", {}) == {"said": "hello"}
    await client.close()


async def test_a_refresh_that_raises_changes_nothing(documents: Documents) -> None:
    templates = [documents.template("m", "/utcp"), documents.template("n", "/other")]
    documents.pages["/other"] = manual(tool("other", f"{documents.base_url}/echo"))
    client = await open_client({"manual_call_templates": templates})
    await discover(client, timeout=5)
    documents.statuses["/utcp"] = 500
    documents.pages["/other"] = manual()
    with pytest.raises(DiscoveryError, match="'m'"):
        await discover(client, timeout=5, on_failure="raise")
    assert await client.call_tool("n.other", {}) == {"said": "hello"}
    await client.close()


def _by_name(found: Discovery) -> dict[str, Any]:
    return {each.utcp_name: each for each in found.tools}


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({}, {}, ToolsetChanges()),
        ({"a": 1}, {"a": 1}, ToolsetChanges()),
        ({}, {"b": 1, "a": 1}, ToolsetChanges(added=("a", "b"))),
        ({"b": 1, "a": 1}, {}, ToolsetChanges(removed=("a", "b"))),
        ({"a": 1, "b": 1, "c": 1}, {"b": 2, "c": 1, "d": 1}, ToolsetChanges(("d",), ("a",), ("b",))),
    ],
)
def test_changes_are_told_by_name(before: dict[str, int], after: dict[str, int], changes: ToolsetChanges) -> None:
    assert changes_between(before, after) == changes
    assert bool(changes) is (before != after)


# -- as manuals arrive


async def test_each_manual_is_handed_out_as_it_arrives(documents: Documents, caplog: pytest.LogCaptureFixture) -> None:
    documents.pages |= {"/slow": manual(tool("slow", "http://127.0.0.1:9/")), "/slower": {}}
    documents.delays |= {"/slow": 0.4, "/slower": 0.8}
    dead = {**documents.template("dead", "/utcp"), "url": DEAD}
    templates = [documents.template("b", "/slow"), documents.template("c", "/slower"), documents.template("a", "/utcp")]
    arrivals: list[Discovery] = []
    source = {"manual_call_templates": [dead, *templates]}
    found, client = await _discovered(source, on_arrival=arrivals.append)
    missing = [[manual.name for manual in arrived.report.loading] for arrived in arrivals]
    tools = [_names(arrived) for arrived in arrivals]
    assert (missing[0], tools[0]) == (["dead", "b", "c", "a"], [])
    assert (["b", "c"], ["a.echo"]) in zip(missing, tools, strict=True)
    assert (missing[-1], tools[-1]) == (["c"], ["b.slow", "a.echo"])
    assert _names(found) == ["b.slow", "a.echo"]
    assert [report.ok for report in found.report.manuals] == [False, True, False, True]
    assert client.kept_manual("a") is not None
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_manuals_that_arrive_together_are_handed_out_together(documents: Documents) -> None:
    documents.gates["/utcp"] = asyncio.Barrier(20)
    documents.pages["/slow"] = {}
    documents.delays["/slow"] = 0.5
    templates = [documents.template(f"m{index}", "/utcp") for index in range(20)]
    arrivals: list[Discovery] = []
    source = {"manual_call_templates": [*templates, documents.template("slow", "/slow")]}
    await _discovered(source, on_arrival=arrivals.append)
    assert len(arrivals) < 10


async def test_until_it_arrives_again_a_manual_is_as_it_was(documents: Documents) -> None:
    templates = [documents.template(*each) for each in (("m", "/utcp"), ("n", "/other"), ("dead", "/gone"))]
    documents.pages["/other"] = manual(tool("other", f"{documents.base_url}/echo"))
    client = await open_client({"manual_call_templates": templates})
    before = await discover(client, timeout=5)
    documents.delays |= {"/utcp": 0.4, "/gone": 0.4}
    documents.pages["/utcp"] = documents.pages["/other"] = manual()
    arrivals: list[Discovery] = []
    after = await discover(client, timeout=5, on_arrival=arrivals.append, before=before.report)
    arrived = arrivals[0]
    assert _names(arrived) == ["m.echo"]
    assert [str(report) for report in arrived.report.manuals] == [
        str(before.report.manuals[0]),
        "'n' (http): 0 tools",
        str(before.report.manuals[2]),
    ]
    assert _names(after) == []
    await client.close()


async def test_raise_mode_hands_out_nothing_before_all_have_arrived(documents: Documents) -> None:
    documents.pages["/slow"] = manual()
    documents.delays["/slow"] = 0.3
    source = {"manual_call_templates": [documents.template("a", "/utcp"), documents.template("b", "/slow")]}
    arrivals: list[Discovery] = []
    found, _ = await _discovered(source, on_arrival=arrivals.append, on_failure="raise")
    assert arrivals == []
    assert _names(found) == ["a.echo"]


# -- where things run


async def test_only_what_is_bound_to_a_loop_runs_on_the_runner(documents: Documents) -> None:
    ran: list[str] = []

    def on_runner(work: Callable[[], Coroutine[Any, Any, FetchedManual]]) -> Coroutine[Any, Any, FetchedManual]:
        ran.append("runner")
        return work()

    free = [
        documents.template(kind, "/utcp", call_template_type=kind, allowed_communication_protocols=["http"])
        for kind in ("http", "sse", "streamable_http")
    ]
    found, _ = await _discovered({"manual_call_templates": [BOUND_TO_A_LOOP, *free]}, on_runner=on_runner)
    assert ran == ["runner"]
    assert _names(found) == ["http.echo", "sse.echo", "streamable_http.echo"]


async def test_a_limit_ends_what_runs_on_the_runner() -> None:
    ended = asyncio.Event()

    async def never(_work: object) -> FetchedManual:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    found, _ = await _discovered({"manual_call_templates": [BOUND_TO_A_LOOP]}, on_runner=never, timeout=0.05)
    assert ended.is_set()
    assert "no answer within 0.05 seconds" in str(found.report)


@pytest.mark.parametrize("on_arrival", [None, lambda _: None], ids=["together", "as they come"])
async def test_a_cancelled_discovery_ends_its_fetches(
    documents: Documents, on_arrival: Callable[[Discovery], None] | None
) -> None:
    documents.pages["/slow"] = {}
    documents.delays["/slow"] = 30
    client = await open_client({"manual_call_templates": [documents.template("m", "/slow")]})
    tasks = asyncio.all_tasks()
    task = asyncio.create_task(discover(client, timeout=60, on_arrival=on_arrival))
    while not documents.requests:  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await client.close()
    # The server's own tasks for the connection may last a little longer.
    left = [each for each in asyncio.all_tasks() - tasks if "_fetch" in repr(each.get_coro())]
    assert left == []


class FullRepository(InMemToolRepository):
    """Takes nothing."""

    async def save_manual(self, manual_call_template: Any, manual: Any) -> None:
        raise OSError(28, "No space left on device")


async def test_a_repository_that_refuses_a_manual_is_reported(documents: Documents) -> None:
    client = await Client.create(
        BridgeConfig(
            (ManualTemplate("m", documents.template("m", "/utcp")),),
            {"tool_repository": FullRepository()},  # type: ignore[call-arg]
        )
    )
    found = await discover(client, timeout=5)
    assert "the tool repository did not take it: No space left on device" in str(found.report)
    assert found.tools == ()
    await client.close()


# -- the report


REPORT = DiscoveryReport(
    (
        ManualReport(
            "weather",
            2,
            skipped=(SkippedTool("weather.run", "it uses the protocol 'cli'"),),
            protocol="http",
            variables=(
                ManualVariable("weather_KEY", defined=False, tools=("weather.a", "weather.b")),
                ManualVariable("weather_TOKEN", False, (), ("weather.a",), "a bearer token"),
            ),
        ),
        ManualReport("dead", error="connection refused", protocol="http"),
        ManualReport("odd[1]", error="expected an object"),
        ManualReport("asleep", protocol="http", loading=True),
    )
)


def test_the_report_reads_as_one_line_for_each_manual_and_its_skipped_tools() -> None:
    assert str(REPORT).splitlines() == [
        "'weather' (http): 2 tools",
        "    weather.run: skipped: it uses the protocol 'cli'",
        "    the variable 'weather_KEY' is not defined; weather.a and 1 more tool cannot be called without it",
        "    the variable 'weather_TOKEN' would do as well for weather.a; it takes a bearer token",
        "'dead' (http): failed: connection refused",
        "'odd[1]': failed: expected an object",
        "'asleep' (http): still loading",
    ]
    assert [manual.name for manual in REPORT.loading] == ["asleep"]
    assert [manual.name for manual in REPORT.failed] == ["dead", "odd[1]"]
    assert str(DiscoveryReport()) == "no manuals are configured"


async def test_a_server_that_asks_for_credentials_is_told_apart_from_one_that_refuses_them(
    documents: Documents,
) -> None:
    documents.pages["/refused"], documents.statuses["/refused"] = {"error": "no key"}, 401
    auth = {"auth_type": "api_key", "api_key": "sk-LIVE-3f9a77"}
    bare, keyed = documents.template("bare", "/refused"), documents.template("keyed", "/refused", auth=auth)
    found, client = await _discovered({"manual_call_templates": [bare, keyed]}, timeout=5)
    errors = [manual.error for manual in found.report.manuals]
    assert errors == [
        "HTTP 401 Unauthorized: no key; its call template gives neither 'auth' nor 'headers'",
        "HTTP 401 Unauthorized: no key",
    ]
    await client.close()


def test_a_long_report_is_cut_and_its_json_is_whole() -> None:
    skipped = tuple(SkippedTool(f"t{index}", "no") for index in range(100))
    report = DiscoveryReport((ManualReport("m", 1, skipped=skipped),))
    assert str(report).splitlines()[-1].strip() == "and 80 more were skipped"
    assert len(report.to_dict()["manuals"][0]["skipped"]) == 100


def test_the_report_is_json_as_well() -> None:
    data = json.loads(json.dumps(REPORT.to_dict()))
    assert (data["ok"], data["tool_count"]) == (False, 2)
    assert data["manuals"][0] == {
        "name": "weather",
        "protocol": "http",
        "ok": True,
        "loading": False,
        "tool_count": 2,
        "error": None,
        "skipped": [{"name": "weather.run", "reason": "it uses the protocol 'cli'"}],
        "missing_variables": [{"key": "weather_KEY", "tools": ["weather.a", "weather.b"]}],
        "variables": [
            {
                "key": "weather_KEY",
                "defined": False,
                "description": "",
                "tools": ["weather.a", "weather.b"],
                "optional_tools": [],
            },
            {
                "key": "weather_TOKEN",
                "defined": False,
                "description": "a bearer token",
                "tools": [],
                "optional_tools": ["weather.a"],
            },
        ],
        "warnings": [],
    }


def test_raising_lists_only_what_failed() -> None:
    with pytest.raises(DiscoveryError) as caught:
        raise_if_failed(REPORT)
    assert str(caught.value) == "'dead' (http): failed: connection refused\n'odd[1]': failed: expected an object"
    raise_if_failed(DiscoveryReport(REPORT.manuals[:1]))
