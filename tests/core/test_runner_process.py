"""The runner in processes of its own: hosts that change asyncio, forks, and the end of the program."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run_script(script: str, *arguments: str) -> tuple[str, str, int]:
    # Python 3.12 warns of any fork of a process with threads; these scripts are about just that.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("host", ["nest_asyncio", "uvloop_policy", "main_thread_only_policy"])
def test_hosts_that_change_asyncio_can_call_and_start_processes(host: str) -> None:
    pytest.importorskip({"nest_asyncio": "nest_asyncio", "uvloop_policy": "uvloop"}.get(host, "asyncio"))
    assert run_script("runner_hosts.py", host) == ("", "", 0)


both_ways = pytest.mark.parametrize("how", ["run", "run_here"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@both_ways
@pytest.mark.parametrize(
    "situation",
    [
        "lease_from_before",
        "grandchild",
        "while_others_start_and_stop_it",
        "from_the_work",
        "multiprocessing_fork",
        "child_exits_in_flight",
    ],
)
def test_a_forked_child_gets_a_loop_of_its_own(situation: str, how: str) -> None:
    assert run_script("runner_fork.py", situation, how) == ("", "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@both_ways
def test_a_fork_with_a_call_in_flight_leaves_the_call_to_the_parent(how: str) -> None:
    output, errors, code = run_script("runner_fork.py", "call_in_flight", how)
    assert (errors, code) == ("", 0)
    cleaned_up, parent = output.splitlines()
    assert cleaned_up.split()[0] == parent.split()[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_that_goes_on_after_the_work_it_was_forked_in_leaves_the_parents_loop_alone() -> None:
    assert run_script("runner_fork.py", "child_returns_from_the_work", "run_here") == ("", "", 0)


@both_ways
@pytest.mark.parametrize(
    ("situation", "expected", "expected_code"),
    [
        ("idle", [], 0),
        ("daemon_thread", [], 0),
        ("thread", ["stopped"], 0),
        ("pool_worker", ["stopped"], 0),
        ("queue_of_a_pool", ["stopped"] * 20, 0),
        ("loop_in_a_thread", ["stopped"], 0),
        ("thread_that_calls_again", ["stopped"] * 3, 0),
        ("atexit_hook", ["stopped"], 0),
        ("atexit_hook_alone", ["stopped"], 0),
        ("daemon_thread_joined_by_atexit", ["stopped"], 0),
        ("swallows_cancellation", ["stopped"], 0),
        ("blocks_the_loop", ["stopped"], 0),
        ("hanging_worker", ["stopped"], 0),
        ("hanging_worker_of_a_released_runner", [], 0),
        ("child_process", ["stopped"], 0),
        ("left_open", ["generator closed"], 0),
        ("background_task_that_fails", [], 0),
        ("generator_that_fails", [], 0),
        ("exit_code", [], 3),
        ("exit_from_work", [], 4),
    ],
)
def test_exit_is_quick_and_silent(situation: str, expected: list[str], expected_code: int, how: str) -> None:
    """The calls would take a minute; the limit is far above the half second that stubborn work is given."""
    if (situation, how) == ("blocks_the_loop", "run_here"):
        pytest.skip("what blocks the caller's own thread, without a loop in between, only that thread can end")
    output, errors, code = run_script("runner_exit.py", situation, how)
    ended = time.monotonic()
    assert (errors, code) == ("", expected_code)
    lines = output.splitlines()
    [exit_began] = [float(line.split()[1]) for line in lines if line.startswith("exit ")]
    assert sorted(line for line in lines if not line.startswith("exit ")) == expected
    assert ended - exit_began < 20
