"""Processes of CLI tools: whatever ends a call ends all of them, and nothing of them stays."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import pytest
from utcp_cli.cli_call_template import CliCallTemplate, CommandStep

from tests.support.processes import PS, is_gone, is_running
from utcp_bridge.errors import ToolExecutionError
from utcp_bridge.transports.cli import process_group
from utcp_bridge.transports.cli.protocol import CliProtocol


def call(*commands: str, protocol: CliProtocol | None = None, **fields: Any) -> Coroutine[Any, Any, Any]:
    template = CliCallTemplate(name="m", commands=[CommandStep(command=command) for command in commands], **fields)
    return (protocol or CliProtocol()).call_tool(None, "m.t", {}, template)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.005)


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def pids_in(folder: Path, count: int) -> list[int]:
    """The process ids that a command leaves as names of files, once there are so many."""
    await until(lambda: len(files_in(folder)) >= count)
    return [int(name) for name in files_in(folder)]


def count_children() -> int:
    listed = subprocess.run([PS, "-A", "-o", "ppid="], capture_output=True, text=True, check=True).stdout
    return listed.split().count(str(os.getpid()))


def open_files() -> int:
    return len(files_in(Path("/dev/fd")))


async def cancelled(running: Coroutine[Any, Any, Any], folder: Path, count: int) -> list[int]:
    """Start a call, cancel it when so many processes have written their ids, and return those."""
    task = asyncio.create_task(running)
    pids = await pids_in(folder, count)
    assert all(map(is_running, pids))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return pids


TREES = {
    "the shell itself": (["touch $$; sleep 60; true"], 1),
    "what the shell has become": (["touch $$; exec sleep 60"], 1),
    "a pipeline": (["touch $$; (touch $BASHPID; exec sleep 60) | (touch $BASHPID; exec cat)"], 3),
    "grandchildren": (["touch $$; bash -c 'touch $$; bash -c \"touch \\$\\$; sleep 60; true\"; true'; true"], 3),
    "a background process": (["touch $$; (touch $BASHPID; exec sleep 60) & wait"], 2),
    "a silent background process": (["touch $$; (touch $BASHPID; exec sleep 60) >/dev/null 2>&1 & sleep 60"], 2),
    "a later step": (["touch $$; (touch $BASHPID; exec sleep 60) &", "true", "sleep 60"], 2),
    "processes that ignore SIGTERM": (["trap '' TERM; touch $$; bash -c 'touch $$; sleep 60; true'; sleep 60"], 2),
    "stopped processes": (["touch $$; (touch $BASHPID; kill -STOP $BASHPID; sleep 60)"], 2),
    "a shell that has closed its output": (["exec >&- 2>&-; touch $$; sleep 60; true"], 1),
}


@pytest.mark.parametrize(("commands", "count"), TREES.values(), ids=TREES.keys())
async def test_cancelling_ends_the_whole_process_group(commands: list[str], count: int, tmp_path: Path) -> None:
    pids = await cancelled(call(*commands, working_dir=str(tmp_path)), tmp_path, count)
    assert not any(map(is_running, pids))


@pytest.mark.parametrize(
    "left", ["(touch $BASHPID; exec sleep 60) & touch $$", "touch $$; exec 3>&1; (touch $BASHPID; sleep 60)&"]
)
async def test_a_background_process_that_holds_the_output_is_ended_with_advice(
    left: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task = asyncio.create_task(call(left, working_dir=str(tmp_path)))
    pids = await pids_in(tmp_path, 2)
    shell = next(pid for pid in pids if os.getpgid(pid) == pid)
    await until(lambda: not is_running(shell))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any(map(is_running, pids))
    assert "its shell had ended, with exit code 0" in caplog.text
    assert ">/dev/null 2>&1 &" in caplog.text


async def test_a_background_process_that_lets_go_of_the_output_outlives_the_call(tmp_path: Path) -> None:
    steps = [
        "(touch $BASHPID; exec sleep 60) >/dev/null 2>&1 &",
        "(touch $BASHPID; sleep 60) >/dev/null 2>&1 & echo started",
    ]
    assert await call(*steps, working_dir=str(tmp_path)) == "started"
    pids = await pids_in(tmp_path, 2)
    assert all(map(is_running, pids))
    os.killpg(os.getpgid(pids[0]), signal.SIGKILL)


async def test_what_a_background_process_writes_before_it_ends_belongs_to_the_output() -> None:
    assert await call("(sleep 0.1; echo late) & echo early") == "early\nlate"
    assert await call("echo a > >(sleep 0.1; tr a b)") == "b"


async def test_a_command_gets_time_to_end_in_its_own_way(tmp_path: Path) -> None:
    program = "trap 'sleep 0.1; touch cleaned; exit' TERM; touch $$; while :; do sleep 0.01; done"
    (tmp_path / "program").write_text(program)
    (tmp_path / "pids").mkdir()
    command = "bash ../program >/dev/null 2>&1; true"
    await cancelled(call(command, working_dir=str(tmp_path / "pids")), tmp_path / "pids", 1)
    assert "cleaned" in files_in(tmp_path / "pids")


async def test_a_second_cancellation_takes_that_time_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_group, "GRACE", 3600)
    task = asyncio.create_task(call("trap '' TERM; touch $$; while :; do sleep 0.01; done", working_dir=str(tmp_path)))
    pids = await pids_in(tmp_path, 1)
    task.cancel()
    for _ in range(5):
        await asyncio.sleep(0.01)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not any(map(is_running, pids))


async def test_a_time_limit_of_the_caller_ends_the_call(tmp_path: Path) -> None:
    async def expire(limit: asyncio.Timeout) -> None:
        await pids_in(tmp_path, 1)
        limit.reschedule(asyncio.get_running_loop().time())

    async def limited() -> None:
        async with asyncio.timeout(10) as limit, asyncio.TaskGroup() as group:
            group.create_task(expire(limit))
            await call("touch $$; sleep 60; touch late", working_dir=str(tmp_path))

    with pytest.raises(TimeoutError):
        await limited()
    (pid,) = files_in(tmp_path)
    assert is_gone(int(pid))


async def test_discovery_can_be_cancelled_as_well(tmp_path: Path) -> None:
    step = CommandStep(command="touch $$; sleep 60; true")
    template = CliCallTemplate(name="m", commands=[step], working_dir=str(tmp_path))
    (pid,) = await cancelled(CliProtocol().fetch_document(template), tmp_path, 1)
    assert not is_running(pid)


async def test_a_call_that_is_dropped_leaves_nothing(tmp_path: Path) -> None:
    running = call("touch $$; sleep 60; true", working_dir=str(tmp_path))
    running.send(None)
    (pid,) = await pids_in(tmp_path, 1)
    running.close()
    assert not is_running(pid)


# Output


@pytest.mark.parametrize(
    "commands",
    [
        ["yes"],
        ["yes >&2"],
        ["yes & yes >&2"],
        ["head -c 60000 /dev/zero", "head -c 60000 /dev/zero"],
        ["trap '' TERM PIPE; while :; do echo y; done 2>/dev/null"],
        ["yes &", "sleep 60"],
    ],
)
async def test_too_much_output_ends_the_call(commands: list[str], tmp_path: Path) -> None:
    commands = [f"touch $$; {commands[0]}", *commands[1:]]
    with pytest.raises(ToolExecutionError, match="wrote more than 100,000 bytes and was stopped") as caught:
        await call(*commands, protocol=CliProtocol(max_output=100_000), working_dir=str(tmp_path))
    block = caught.value.raw[0]
    assert block["exit_code"] is None
    assert len(block["stdout"]) + len(block["stderr"]) <= 100_000
    assert len(str(caught.value)) < 10_000
    assert not is_running(int(files_in(tmp_path)[0]))


async def test_output_up_to_the_limit_is_taken() -> None:
    assert len(await call("head -c 100000 /dev/zero | tr '\\0' a", protocol=CliProtocol(max_output=100_000))) == 100_000


async def test_megabytes_on_both_outputs_arrive_whole() -> None:
    size = 3_000_000
    output = await call(f"head -c {size} /dev/zero | tr '\\0' e >&2 & head -c {size} /dev/zero | tr '\\0' o; wait")
    assert output == "o" * size


# Standard input and the terminal


async def test_standard_input_is_empty() -> None:
    assert await call("cat; read line || echo end", "cat; echo end") == "end"


async def test_there_is_no_terminal_to_ask_a_password_on() -> None:
    assert await call("(: </dev/tty) 2>/dev/null && echo terminal || echo none") == "none"


def test_a_command_of_a_program_on_a_terminal_has_none_either(tmp_path: Path) -> None:
    """It would wait for an answer that nobody gives."""
    program = (
        "import asyncio, os, sys\n"
        "from utcp_cli.cli_call_template import CliCallTemplate, CommandStep\n"
        "from utcp_bridge.transports.cli.protocol import CliProtocol\n"
        "os.close(os.open('/dev/tty', os.O_RDWR))\n"
        "command = '(: </dev/tty) 2>/dev/null && echo terminal || echo none'\n"
        "template = CliCallTemplate(name='m', commands=[CommandStep(command=command)])\n"
        "said = asyncio.run(CliProtocol().call_tool(None, 'm.t', {}, template))\n"
        "open(sys.argv[1], 'w').write(said)\n"
    )
    said = tmp_path / "said"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-W", "ignore", "-c", program, str(said)])  # noqa: S606
    try:
        with contextlib.suppress(OSError):  # the terminal is gone with its program
            while os.read(terminal, 1024):
                pass
    finally:
        os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert said.read_text() == "none"


# Loops, threads, forks, and the end of the program


async def main_of_a_loop(folder: Path) -> None:
    assert await asyncio.gather(*(call(f"echo {index}") for index in range(20))) == list(range(20))
    assert await call("echo a", 'echo "$CMD_0_OUTPUT b"') == "a b"
    with pytest.raises(ToolExecutionError):
        await call("exit 3")
    await cancelled(call("touch $$; sleep 60; true", working_dir=str(folder)), folder, 1)


def loop_factories() -> list[Any]:
    factories: list[Any] = [pytest.param(asyncio.new_event_loop, id="asyncio")]
    if sys.platform != "win32":
        import uvloop

        factories.append(pytest.param(uvloop.new_event_loop, id="uvloop"))
    return factories


@pytest.mark.parametrize("factory", loop_factories())
@pytest.mark.parametrize("in_main_thread", [True, False])
def test_it_works_on_any_loop_in_any_thread(factory: Any, in_main_thread: bool, tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with asyncio.Runner(loop_factory=factory) as runner:
                runner.run(main_of_a_loop(tmp_path))
        except BaseException as error:  # noqa: BLE001 - it is raised in the test's own thread
            failures.append(error)

    if in_main_thread:
        work()
    else:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    if failures:
        raise failures[0]


async def test_it_works_where_the_system_has_no_pidfd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    await main_of_a_loop(tmp_path)
    assert await call("echo first; exec >&- 2>&-; sleep 0.1") == "first"


async def test_a_shell_that_goes_on_after_it_has_closed_its_output_is_waited_for(tmp_path: Path) -> None:
    assert await call("echo first; exec >&- 2>&-; sleep 0.1; touch done", working_dir=str(tmp_path)) == "first"
    assert files_in(tmp_path) == ["done"]


def test_one_protocol_serves_loops_of_several_threads() -> None:
    protocol, results = CliProtocol(), []

    def work(number: int) -> None:
        results.append(asyncio.run(call(f"sleep 0.02; echo {number}", protocol=protocol)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(8))


async def test_nothing_of_finished_calls_stays(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(5)]
    counts = []
    for folder in folders:
        await call(f"mkdir {folder}")
        await call("echo a", "echo b")
        with pytest.raises(ToolExecutionError):
            await call("echo a", "exit 1", "echo c")
        with pytest.raises(ToolExecutionError):
            await call("yes", protocol=CliProtocol(max_output=1000))
        await cancelled(call("echo a", "touch $$; sleep 60; true", working_dir=str(folder)), folder, 1)
        gc.collect()
        counts.append((open_files(), threading.active_count(), len(asyncio.all_tasks()), count_children()))
    assert counts == [counts[0]] * len(folders)


async def test_an_exit_code_that_something_else_took_is_a_failure_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    previous = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel waits for all children then
    try:
        with pytest.raises(ToolExecutionError, match="exited with code 255"):
            await call("echo done")
    finally:
        signal.signal(signal.SIGCHLD, previous)
    assert "was lost" in caplog.text


PROGRAM = """
import asyncio, os, sys, threading, time, warnings
from utcp_cli.cli_call_template import CliCallTemplate, CommandStep
from utcp_bridge.transports.cli.protocol import CliProtocol

template = CliCallTemplate(name="m", commands=[CommandStep(command="touch $$; sleep 60; true")])

def work():
    asyncio.run(CliProtocol().call_tool(None, "m.t", {}, template))

def started():
    while not os.listdir():
        time.sleep(0.005)

%s
"""

DYING_PROGRAM = """
import asyncio, os, signal, sys, threading, time, warnings
from utcp_cli.cli_call_template import CliCallTemplate, CommandStep
from utcp_bridge.transports.cli.protocol import CliProtocol

template = CliCallTemplate(name="m", commands=[CommandStep(command=sys.argv[1])])

def work():
    asyncio.run(CliProtocol().call_tool(None, "m.t", {}, template))

def started(count):
    while len(os.listdir()) < count:
        time.sleep(0.005)

"""

ENDINGS = {
    "in a daemon thread": "threading.Thread(target=work, daemon=True).start()\nstarted()",
    "by an exception": (
        "async def main():\n"
        "    task = asyncio.create_task(CliProtocol().call_tool(None, 'm.t', {}, template))\n"
        "    await asyncio.to_thread(started)\n"
        "asyncio.run(main())"
    ),
    "while a forked child ends first": (
        "threading.Thread(target=work, daemon=True).start()\n"
        "started()\n"
        "warnings.simplefilter('ignore')\n"
        "if os.fork() == 0:\n"
        "    sys.exit()\n"
        "os.wait()\n"
        "os.kill(int(os.listdir()[0]), 0)"
    ),
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
def test_a_program_that_ends_in_the_middle_of_a_call_leaves_nothing(ending: str, tmp_path: Path) -> None:
    program = [sys.executable, "-W", "error::ResourceWarning", "-c", PROGRAM % ending]
    ended = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    (pid,) = files_in(tmp_path)
    assert is_gone(int(pid))


DEATHS = {
    "by SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "by SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "by the hang-up of a terminal": "os.kill(os.getpid(), signal.SIGHUP)",
    "by a crash": "os.kill(os.getpid(), signal.SIGSEGV)",
    "at once": "os._exit(3)",
    "by becoming another program": "os.execv('/bin/true', ['true'])",
    "while a forked child lives on": (
        "warnings.simplefilter('ignore')\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os.closerange(0, 3)\n"
        "    time.sleep(5)\n"
        "    os._exit(0)\n"
        "os.kill(os.getpid(), signal.SIGTERM)"
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such signal")
@pytest.mark.parametrize("thread", ["main", "another"])
@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS.keys())
def test_a_program_that_dies_in_the_middle_of_a_call_leaves_nothing(death: str, thread: str, tmp_path: Path) -> None:
    dying = "def die():\n    started(2)\n    " + death.replace("\n", "\n    ") + "\n"
    running = {
        "main": "threading.Thread(target=die, daemon=True).start()\nwork()",
        "another": "threading.Thread(target=work, daemon=True).start()\ndie()",
    }
    command = "touch $$; bash -c 'touch $$; sleep 60; true'; sleep 60; true"
    program = [sys.executable, "-c", DYING_PROGRAM + dying + running[thread], command]
    subprocess.run(program, cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL, timeout=30, check=False)
    pids = [int(name) for name in files_in(tmp_path)]
    assert len(pids) == 2
    deadline = time.monotonic() + 4  # a forked child lives longer
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not any(map(is_running, pids))


def test_what_outlives_its_call_outlives_the_program_too(tmp_path: Path) -> None:
    code = DYING_PROGRAM + "work()\nstarted(1)\nos.kill(os.getpid(), signal.SIGKILL)"
    program = [sys.executable, "-c", code, "(touch $BASHPID; exec sleep 60) >/dev/null 2>&1 &"]
    subprocess.run(program, cwd=tmp_path, capture_output=True, timeout=30, check=False)
    (pid,) = files_in(tmp_path)
    time.sleep(0.1)
    assert is_running(int(pid))
    os.killpg(os.getpgid(int(pid)), signal.SIGKILL)
