"""Opening, sharing, forgetting and ending a toolset, from every kind of caller."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.manuals import config, text_manual
from tests.support.recording import recording_template
from utcp_bridge import Toolset, errors
from utcp_bridge.testing import ServedTool, ToolServer

ECHO = ServedTool("echo", "Echoes.", {"n": {"type": "integer"}}, lambda arguments: arguments)
SLEEP = ServedTool("sleep", "Takes its time.", {}, lambda _: time.sleep(3))


@pytest.fixture(scope="module")
def server() -> Iterator[ToolServer]:
    with ToolServer([ECHO, SLEEP]) as running:
        yield running


@pytest.fixture
def source(server: ToolServer) -> dict[str, Any]:
    return config(server.call_template("m"), recording_template("r", {"echo": {"type": "object"}}))


def _called(toolset: Toolset, name: str = "m_echo") -> str:
    return toolset.call(name, {"n": 1}).content


CALLERS: dict[str, Callable[[Toolset], str]] = {
    "plain code": _called,
    "inside a running loop": lambda toolset: asyncio.run(_inside(toolset)),
    "another thread": lambda toolset: asyncio.run(asyncio.to_thread(_called, toolset)),
    "async": lambda toolset: asyncio.run(_awaited(toolset, "m_echo")),
    "a protocol that is bound to a loop": lambda toolset: asyncio.run(_awaited(toolset, "r_echo")),
}


async def _inside(toolset: Toolset) -> str:
    return _called(toolset)


async def _awaited(toolset: Toolset, name: str) -> str:
    return (await toolset.acall(name, {"n": 1})).content


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("opened", ["sync", "async"])
def test_a_toolset_serves_every_caller_however_it_was_opened(source: dict[str, Any], opened: str, caller: str) -> None:
    toolset = Toolset.open(source) if opened == "sync" else asyncio.run(Toolset.aopen(source))
    with toolset:
        first, second = CALLERS[caller](toolset), CALLERS[caller](toolset)
    assert first == second
    assert first in {'{"n":"1"}', '{"received":{"n":1}}'}


def test_sync_and_async_calls_have_equal_results(source: dict[str, Any]) -> None:
    calls: list[tuple[str, Any]] = [
        ("m_echo", {"n": 1}), ("m.echo", {"n": "1"}), ("m_echo", {"n": "x"}), ("m_echo", None), ("m_nothing", {}),
        ("r_echo", {"any": [1.0, None]}), ("m_echo", '{"n": 3}'), ("m_echo", ""), ("m_echo", "no json"),
    ]  # fmt: skip
    with Toolset.open(source) as toolset:
        for name, arguments in calls:
            assert toolset.call(name, arguments) == asyncio.run(toolset.acall(name, arguments))


def test_tools_call_themselves_sync_and_async(source: dict[str, Any]) -> None:
    with Toolset.open(source) as toolset:
        tool = toolset.tools["m_echo"]
        assert tool.call({"n": 2}).content == asyncio.run(tool.acall({"n": 2})).content == '{"n":"2"}'
        assert tool.call({"n": 2}, timeout=5).content == '{"n":"2"}'


def test_a_limit_of_one_call_is_named(source: dict[str, Any]) -> None:
    with Toolset.open(source) as toolset:
        result = toolset.call("m_sleep", timeout=0.1)
    assert result.is_error
    assert "0.1 seconds (timeout of this call)" in result.content


def test_a_toolset_is_taken_as_it_is_and_a_source_is_opened(source: dict[str, Any]) -> None:
    with Toolset.of(source, include=["m.echo"]) as toolset:
        assert list(toolset.tools) == ["m_echo"]
        assert Toolset.of(toolset) is toolset
        assert asyncio.run(Toolset.aof(toolset)) is toolset
        with pytest.raises(errors.ConfigError, match="'timeout'"):
            Toolset.of(toolset, timeout=3)


def test_an_unknown_option_is_refused_before_anything_is_opened() -> None:
    with pytest.raises(errors.ConfigError, match="timeout"):
        Toolset.open({"manual_call_templates": []}, timout=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("opened", ["sync", "async"])
def test_a_closed_toolset_refuses_everything_and_closes_again(source: dict[str, Any], opened: str) -> None:
    toolset = Toolset.open(source)
    if opened == "sync":
        toolset.close()
    else:
        asyncio.run(toolset.aclose())
    toolset.close()
    asyncio.run(toolset.aclose())
    assert toolset.closed
    for use in (lambda: toolset.call("m_echo"), toolset.refresh, lambda: toolset.search("echo")):
        with pytest.raises(errors.RunnerError, match="closed"):
            use()


def test_a_forgotten_toolset_leaves_nothing_behind(source: dict[str, Any]) -> None:
    before = _sockets()

    async def forgotten_in_a_loop() -> None:
        toolset = await Toolset.aopen(source)
        await toolset.acall("m_echo")
        del toolset
        gc.collect()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        toolset = Toolset.open(source)
        _called(toolset)
        asyncio.run(_awaited(toolset, "m_echo"))
        del toolset
        gc.collect()
        asyncio.run(forgotten_in_a_loop())
        gc.collect()
    _until(lambda: _sockets() <= before and "utcp-bridge-runner" not in _threads())


def test_the_collector_may_free_a_toolset_wherever_it_runs() -> None:
    script = """
import gc
from utcp_bridge import Toolset
gc.set_threshold(5)
for _ in range(100):
    toolset = Toolset.open({"manual_call_templates": []})
    toolset.itself = toolset
"""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_exit_with_a_call_in_flight_is_fast_and_silent(server: ToolServer) -> None:
    script = Path(__file__).with_name("toolset_exit.py")
    for how in ("daemon", "plain", "pool"):
        ran = subprocess.run(
            [sys.executable, "-W", "error", script, server.manual_url, how],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        ended = time.time()
        assert (ran.returncode, ran.stderr) == (0, ""), how
        began = float(ran.stdout.split("end ")[1].splitlines()[0])
        assert ended - began < 1.5, how  # a second of ours; the rest is the machine's


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_goes_on_with_the_toolset_and_the_parent_too(source: dict[str, Any]) -> None:
    with Toolset.open(source) as toolset:
        _called(toolset)
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of threads at fork
            child = os.fork()
        if child == 0:
            try:
                os.write(writing, _called(toolset).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            assert pipe.read() == '{"n":"1"}'
        os.waitpid(child, 0)
        assert _called(toolset) == '{"n":"1"}'


def test_a_blocking_call_on_the_runners_own_thread_is_refused_with_advice(source: dict[str, Any]) -> None:
    with Toolset.open(source) as toolset:
        lease = toolset._leased()  # noqa: SLF001 - how a plugin would come to run there

        async def on_the_runner() -> None:
            _called(toolset)

        with pytest.raises(errors.RunnerError, match="acall"):
            lease.run(on_the_runner)


def test_search_finds_tools_by_words(source: dict[str, Any]) -> None:
    with Toolset.open(source) as toolset:
        assert toolset.search("takes its time", limit=1) == [toolset.tools["m_sleep"]]
        assert asyncio.run(toolset.asearch("echoes", limit=2))[0].name in {"m_echo", "r_echo"}


def test_refresh_tells_what_changed_and_keeps_filters(tmp_path: Path) -> None:
    path = tmp_path / "manual.json"

    def write(*names: str, description: str = "d") -> None:
        tools = [
            {"name": name, "description": description, "inputs": {"type": "object"},
             "tool_call_template": {"call_template_type": "http", "url": "https://example.com/"}}
            for name in names
        ]  # fmt: skip
        path.write_text(text_manual("m", tools, "http")["content"], encoding="utf-8")

    write("a", "b", "hidden")
    manual = {"name": "m", "call_template_type": "file", "file_path": str(path)}
    source = config({**manual, "allowed_communication_protocols": ["http"]})
    with Toolset.open(source, exclude=["*.hidden"]) as toolset:
        before = toolset.tools
        assert not toolset.refresh()
        write("b", "c", "hidden", description="new")
        changes = toolset.refresh()
        assert (changes.added, changes.removed, changes.changed) == (("m_c",), ("m_a",), ("m_b",))
        assert list(before) == ["m_a", "m_b"]
        assert list(toolset.tools) == ["m_b", "m_c"]
        path.write_text("no manual", encoding="utf-8")
        assert not asyncio.run(toolset.arefresh())
        assert list(toolset.tools) == ["m_b", "m_c"]
        assert toolset.report.failed[0].name == "m"
    with Toolset.open(source, on_failure="skip") as toolset:
        assert not toolset.tools


def test_many_threads_and_loops_call_at_the_same_time(source: dict[str, Any]) -> None:
    replies: list[str] = []
    with Toolset.open(source) as toolset:
        threads = [
            threading.Thread(
                target=lambda ask=ask, index=index: replies.append(CALLERS[ask](toolset) + str(index)), daemon=True
            )
            for index, ask in enumerate(list(CALLERS) * 4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert len(replies) == len(threads)


def _threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def _sockets() -> int:
    folder = Path("/proc/self/fd")
    if not folder.exists():
        return 0
    return sum(os.path.exists(entry) and os.readlink(entry).startswith("socket:") for entry in folder.iterdir())  # noqa: PTH110, PTH115


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
