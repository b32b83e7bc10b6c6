"""A toolset that loads in the background: what hosts wait for, what they are handed out, and what their log tells."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.manuals import cli_tool, config, http_tool, text_manual
from utcp_bridge import Toolset
from utcp_bridge.errors import BridgeError, ToolNotFoundError
from utcp_bridge.loading import LoadingToolset
from utcp_bridge.naming import may_be_shown_as, shown_names
from utcp_bridge.testing import ServedTool, ToolServer

HOST_LOG = "host"
PATIENCE = 1.0
ECHO = ServedTool("echo", "Sends back what it got.", {"text": {"type": "string"}}, dict)


@pytest.fixture
def hanging() -> Iterator[str]:
    """The address of a server that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/utcp"


@pytest.fixture
def host_log(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The lines of the host's log, from `INFO` on."""
    caplog.set_level(logging.INFO, HOST_LOG)
    return lambda: [record.getMessage() for record in caplog.records if record.name == HOST_LOG]


Load = Callable[..., LoadingToolset]


@pytest.fixture
def load() -> Iterator[Load]:
    """Loads a source in the background, until the test ends."""
    made: list[LoadingToolset] = []

    def begin(source: Any, *, interval: float = 30, patience: float = PATIENCE, **options: Any) -> LoadingToolset:
        log = logging.getLogger(HOST_LOG)
        made.append(LoadingToolset(source, options, label="box", interval=interval, patience=patience, log=log))
        return made[-1]

    yield begin
    for one in made:
        one.close()


def _http(name: str, url: str) -> dict[str, Any]:
    return {"name": name, "call_template_type": "http", "url": url, "http_method": "GET"}


def _elapsed(work: Callable[[], Any]) -> float:
    before = time.monotonic()
    work()
    return time.monotonic() - before


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


# -- who waits for what


def test_a_manual_that_hangs_holds_back_its_own_tools_alone(load: Load, hanging: str) -> None:
    with ToolServer([ECHO]) as server:
        loading = load(config(_http("asleep", hanging), server.call_template("awake")), discovery_timeout=60)
        assert _elapsed(loading.toolset) < PATIENCE + 5
        toolset = loading.toolset()
        assert list(toolset.tools) == ["awake_echo"]
        assert [str(manual) for manual in toolset.report.manuals] == [
            "'asleep' (http): still loading",
            "'awake' (http): 1 tool",
        ]
        assert not toolset.report.ok
        assert toolset.report.failed == ()
        assert [manual.name for manual in toolset.report.loading] == ["asleep"]
        assert toolset.report.to_dict()["manuals"][0]["loading"] is True
        assert not toolset.call("awake_echo", {"text": "x"}).is_error


def test_before_the_first_tool_has_arrived_it_is_waited_for_beyond_the_patience(load: Load, hanging: str) -> None:
    def slow(_: dict[str, Any]) -> Any:
        time.sleep(PATIENCE + 0.5)
        return {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": [http_tool("late", f"{server.base_url}")]}

    with ToolServer([ServedTool("slow", "A manual.", {}, slow)]) as server:
        source = config(_http("asleep", hanging), _http("m", f"{server.base_url}/tools/slow"))
        assert list(load(source, discovery_timeout=60).toolset().tools) == ["m_late"]
    nothing = load(config(_http("asleep", hanging)), discovery_timeout=PATIENCE + 1)
    assert nothing.toolset().report.failed


def test_once_the_patience_is_over_nobody_waits_any_more(load: Load, hanging: str) -> None:
    with ToolServer([ECHO]) as server:
        source = config(_http("asleep", hanging), server.call_template("awake"))
        loading = load(source, discovery_timeout=60, interval=0)
        loading.toolset()
        for ask in (loading.toolset, loading.look_again, lambda: loading.toolset(wait=False)):
            assert min(_elapsed(ask) for _ in range(3)) < PATIENCE / 2


def test_who_does_not_want_to_wait_does_not(load: Load, hanging: str) -> None:
    loading = load(config(_http("asleep", hanging)), discovery_timeout=60, patience=60)
    _until(lambda: not _fails(lambda: loading.toolset(wait=False)))
    assert loading.toolset(wait=False).report.loading


def _fails(work: Callable[[], object]) -> bool:
    try:
        work()
    except BridgeError:
        return True
    return False


def test_the_tools_of_a_slow_manual_come_when_it_answers(load: Load) -> None:
    answer = threading.Event()

    def slow(_: dict[str, Any]) -> Any:
        answer.wait()
        return {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": [http_tool("late", f"{server.base_url}")]}

    with ToolServer([ECHO, ServedTool("slow", "A manual.", {}, slow)]) as server:
        source = config(_http("asleep", f"{server.base_url}/tools/slow"), server.call_template("awake"))
        loading = load(source, discovery_timeout=60)
        try:
            before = loading.toolset()
            catalog = before.tools
            echo = catalog["awake_echo"]
            assert list(catalog) == ["awake_echo", "awake_slow"]
        finally:
            answer.set()
        _until(lambda: loading.toolset().report.ok)
        toolset = loading.toolset()
        assert toolset is before
        assert list(toolset.tools) == ["asleep_late", "awake_echo", "awake_slow"]
        assert list(catalog) == ["awake_echo", "awake_slow"]  # a snapshot stays what it was
        assert not echo.call({"text": "x"}).is_error


def test_a_manual_that_hangs_for_good_is_a_failure_in_the_end(
    load: Load, hanging: str, host_log: Callable[[], list[str]]
) -> None:
    loading = load(
        config(_http("asleep", hanging), text_manual("t", [cli_tool("a", "true")], "cli")), discovery_timeout=1
    )
    assert loading.toolset().report.loading
    _until(lambda: bool(loading.toolset().report.failed))
    _until(lambda: bool(host_log()))
    assert "no answer within 1 second (discovery_timeout)" in host_log()[0]
    assert list(loading.toolset().tools) == ["t_a"]


def test_where_one_failure_fails_all_nothing_is_handed_out_before_all_have_loaded(load: Load, hanging: str) -> None:
    source = config(_http("asleep", hanging), text_manual("t", [cli_tool("a", "true")], "cli"))
    loading = load(source, discovery_timeout=1, on_failure="raise")
    assert _error(loading, wait=False) == "The tools of box are still loading."
    assert "'asleep' (http): failed: no answer within 1 second" in _error(loading)


def _error(loading: LoadingToolset, *, wait: bool = True) -> str:
    with pytest.raises(BridgeError) as caught:
        loading.toolset(wait=wait)
    return str(caught.value)


def test_closing_does_not_wait_for_a_manual_that_hangs_and_is_no_failure(
    load: Load, hanging: str, host_log: Callable[[], list[str]]
) -> None:
    loading = load(config(_http("asleep", hanging)), discovery_timeout=60)
    _until(lambda: not _fails(lambda: loading.toolset(wait=False)))
    toolset = loading.toolset(wait=False)
    assert _elapsed(loading.close) < 5
    assert toolset.closed
    _until(lambda: not any(thread.name == "box-loading" for thread in threading.enumerate()))
    assert host_log() == []


def test_an_open_toolset_is_handed_out_as_it_is(load: Load) -> None:
    with Toolset.open(config(text_manual("t", [cli_tool("a", "true")], "cli"))) as toolset:
        loading = load(toolset)
        assert loading.toolset() is toolset
        loading.close()
        assert not toolset.closed


# -- the end of the program, and forks


@pytest.mark.parametrize("how", ["at once", "closed", "under way"])
def test_a_program_may_end_while_manuals_are_being_loaded(hanging: str, how: str) -> None:
    script = Path(__file__).with_name("loading_exit.py")
    for _ in range(1 if how == "under way" else 4):
        ran = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "always", script, hanging, how],
            capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
        told = [line for line in ran.stderr.splitlines() if "socket.socket" not in line and "tracemalloc" not in line]
        assert (ran.returncode, ran.stdout, told) == (0, "", [])


def _in_child(work: Callable[[], str]) -> str:
    """What some work gives in a forked child, which is ended if it hangs."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads at fork
        child = os.fork()
    if child == 0:
        try:
            signal.alarm(20)
            os.write(writing, work().encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    said = os.read(reading, 10_000).decode()
    os.close(reading)
    return said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("is_early", [True, False])
def test_a_forked_child_loads_for_itself_what_was_being_loaded(load: Load, hanging: str, is_early: bool) -> None:
    with ToolServer([ECHO]) as server:
        loading = load(config(_http("asleep", hanging), server.call_template("awake")), discovery_timeout=60)
        if not is_early:
            loading.toolset()

        def work() -> str:
            content = loading.toolset().call("awake_echo", {"text": "x"}).content
            loading.look_again()
            return f"{content} {[manual.name for manual in loading.toolset().report.loading]}"

        expected = "x ['asleep']"
        assert _in_child(work) == expected
        assert work() == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_refreshes_though_its_parent_was_about_it(hanging: str) -> None:
    with (
        ToolServer([ECHO]) as server,
        Toolset.unloaded(
            config(_http("asleep", hanging), server.call_template("awake")), discovery_timeout=2
        ) as toolset,
    ):
        refreshing = threading.Thread(target=lambda: toolset.refresh(piecemeal=True))
        refreshing.start()
        _until(lambda: bool(toolset.tools))
        assert _in_child(lambda: f"{toolset.refresh()} {toolset.report.failed[0].name}").endswith(" asleep")
        refreshing.join()


# -- names


def test_no_name_changes_because_a_manual_arrives_later(load: Load) -> None:
    answer = threading.Event()

    def slow(_: dict[str, Any]) -> Any:
        answer.wait()
        return {
            "utcp_version": "1.0.1",
            "manual_version": "1.0.0",
            "tools": [http_tool("b", "http://127.0.0.1:9/"), http_tool("x", "http://127.0.0.1:9/")],
        }

    with ToolServer([ServedTool("slow", "A manual.", {}, slow)]) as server:
        source = config(
            _http("home_a", f"{server.base_url}/tools/slow"),
            # `home.a_b` and `home_a.b` would both be `home_a_b`, and so end in a hash.
            text_manual("home", [cli_tool(name, "true") for name in ("a_b", "a_c", "lamp")], "cli"),
        )
        loading = load(source, discovery_timeout=60)
        try:
            early = loading.toolset().tools
            assert list(early) == ["home_lamp"]
            with pytest.raises(ToolNotFoundError):
                loading.toolset().find("home.a_b")
        finally:
            answer.set()
        _until(lambda: loading.toolset().report.ok)
        late = loading.toolset().tools
    assert {name: tool.utcp_name for name, tool in late.items()}.items() >= {
        name: tool.utcp_name for name, tool in early.items()
    }.items()
    names = {tool.utcp_name: name for name, tool in late.items()}
    assert names == shown_names(["home.a_b", "home.a_c", "home.lamp", "home_a.b", "home_a.x"])


_PIECES = st.text(st.sampled_from("ab_-.é工 1"), min_size=1, max_size=40)


@given(_PIECES, _PIECES, _PIECES, _PIECES, st.integers(16, 64))
def test_a_name_that_another_manual_changes_was_said_to_be_in_its_reach(
    manual: str, tool: str, other: str, later: str, limit: int
) -> None:
    mine, its = f"{manual}.{tool}", f"{other}.{later}"
    before, after = shown_names([mine], limit)[mine], shown_names([mine, its], limit)[mine]
    assert before == after or mine == its or may_be_shown_as(before, other, limit)
    assert may_be_shown_as(shown_names([its], limit)[its], other, limit)


@pytest.mark.parametrize("manual", ["weather", "a", "lamp", "homeassistant"])
def test_manuals_with_names_of_their_own_hold_back_nothing_of_another(manual: str) -> None:
    assert not may_be_shown_as("home_lamp_on", manual)


# -- later looks


def test_while_manuals_are_looked_at_again_their_tools_and_what_was_reported_stay(load: Load) -> None:
    gate = threading.Event()
    gate.set()

    def slow(_: dict[str, Any]) -> Any:
        gate.wait()
        return {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": [http_tool("late", "http://127.0.0.1:9/")]}

    with ToolServer([ServedTool("slow", "A manual.", {}, slow)]) as server:
        failing = _http("late_dead", "http://127.0.0.1:9/utcp")
        source = config(_http("late", f"{server.base_url}/tools/slow"), failing, text_manual("t", [], "http"))
        loading = load(source, discovery_timeout=60, interval=0)
        _until(lambda: bool(loading.toolset().tools) and bool(loading.toolset().report.failed))
        before = str(loading.toolset().report)
        gate.clear()
        try:
            loading.look_again()
            assert list(loading.toolset().tools) == ["late_late"]
            assert str(loading.toolset().report) == before
        finally:
            gate.set()


# -- what the host's log tells


def _odd_source(server: ToolServer) -> dict[str, Any]:
    refused = cli_tool("run", "true")
    undefined = http_tool("op", f"{server.base_url}/x", headers={"X-Key": "${TOKEN}"})
    return config(
        {**text_manual("odd", [http_tool("fine", server.base_url), refused, undefined], "http"), "contnet": "x"},
        tool_providers=[{"name": "old", "provider_type": "http", "url": server.manual_url, "http_method": "GET"}],
    )


def test_what_is_odd_is_told_in_the_hosts_log_one_line_each_and_once(
    load: Load, host_log: Callable[[], list[str]]
) -> None:
    with ToolServer([ECHO]) as server:
        loading = load(_odd_source(server), interval=0)
        loading.toolset()
        _until(lambda: bool(host_log()) and "2 manuals" in host_log()[-1])
        told = host_log()
        loading.look_again()
        loading.look_again()
    for words in (
        ("'contnet'", "'content'"),
        ("odd.run", "skipped", "'cli'"),
        ("odd_TOKEN", "is not defined", "odd.op"),
        ("tool_providers", "call_template_type", "older form"),
    ):
        [line] = [line for line in told if all(word in line for word in words)]
        assert "\n" not in line
        assert len(line) < 2_200
    assert len(told) == 5  # with how many tools there are
    assert host_log() == told


def test_very_many_remarks_are_cut(load: Load, host_log: Callable[[], list[str]]) -> None:
    refused = [cli_tool(f"run{number}", "true") for number in range(200)]
    many = [http_tool(f"t{number}", f"http://127.0.0.1:9/?k=${{K{number}}}") for number in range(200)]
    load(config(text_manual("m", [*refused, *many], "http"))).toolset()
    _until(lambda: bool(host_log()) and "1 manual" in host_log()[-1])
    assert len(host_log()) < 30
    assert any("more, which its report lists" in line for line in host_log())


def test_a_failure_is_told_again_when_it_comes_again(load: Load, host_log: Callable[[], list[str]]) -> None:
    replies = iter([{"no": "manual"}, {"no": "manual"}, {"tools": []}, {"no": "manual"}])
    with ToolServer([ServedTool("m", "A manual.", {}, lambda _: next(replies))]) as server:
        loading = load(config(_http("m", f"{server.base_url}/tools/m")), interval=0, patience=30)
        for failures in (1, 1, 1, 2):
            loading.look_again()
            loading.toolset()
            assert len([line for line in host_log() if "manual 'm' failed" in line]) == failures


def test_the_core_warns_in_the_hosts_log_only_as_long_as_the_toolset_is_open(
    load: Load, host_log: Callable[[], list[str]]
) -> None:
    with closing(load(config())), closing(load(config())) as second:
        second.close()
        logging.getLogger("utcp_bridge.somewhere").warning("It is %s.", "odd\n  indeed")
    logging.getLogger("utcp_bridge.somewhere").warning("It is over.")
    assert [line for line in host_log() if "It is" in line] == ["utcp_bridge.somewhere: It is odd indeed."]


# -- options that a host can only give as text


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("timeout", "3", 3),
        ("timeout", " 0.5 ", 0.5),
        ("discovery_timeout", "1e1", 10),
        ("timeouts", {"m.*": "3"}, {"m.*": 3}),
        ("max_chars", "100", 100),
        ("max_chars", {"m": "100", "n": None}, {"m": 100, "n": None}),
        ("max_name_length", "32", 32),
        ("max_reply_bytes", "1000", 1000),
        ("read_only", "true", True),
        ("repair", "false", False),
    ],
)
def test_a_number_may_be_text(load: Load, key: str, text: Any, value: Any) -> None:
    toolset = load(config(), **{key: text}).toolset()
    assert getattr(toolset._options, key) == value  # noqa: SLF001 - nothing shows all of them


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("timeout", "soon"),
        ("timeout", "-1"),
        ("timeout", "true"),
        ("timeout", "NaN"),
        ("timeouts", {"m": "soon"}),
        ("max_chars", "1.5"),
        ("max_name_length", "9" * 5_000),
        ("read_only", "yes"),
        ("read_only", "1"),
        ("tags", 3),
        ("on_failure", "true"),
        ("include", [""]),
    ],
)
def test_text_that_is_no_such_value_stays_an_error_with_what_was_written(load: Load, key: str, text: Any) -> None:
    error = _error(load(config(), **{key: text}))
    assert error.startswith(key)
    assert "got " in error


@pytest.mark.parametrize("key", ["include", "exclude", "tags"])
def test_a_filter_that_looks_like_a_number_stays_text(load: Load, key: str) -> None:
    toolset = load(config(), **{key: "3"}).toolset()
    assert getattr(toolset._options, key) == ("3",)  # noqa: SLF001 - as above
