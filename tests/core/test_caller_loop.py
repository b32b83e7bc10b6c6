"""What only work in the calling thread does: whose loop it runs on, and what it leaves behind."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any

import pytest

from utcp_bridge.errors import RunnerError
from utcp_bridge.runner import Lease, acquire

THREAD = "utcp-bridge-runner"


@pytest.fixture
def lease() -> Iterator[Lease]:
    lease = acquire()
    yield lease
    lease.release()
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith(THREAD)] == []


async def thread_name() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


async def loop_id() -> int:
    await asyncio.sleep(0)
    return id(asyncio.get_running_loop())


# Where it runs


def test_it_runs_in_the_calling_thread(lease: Lease) -> None:
    assert lease.run_here(thread_name) == threading.current_thread().name
    with ThreadPoolExecutor(1, thread_name_prefix="mine") as pool:
        assert pool.submit(lease.run_here, thread_name).result().startswith("mine")


def test_one_call_after_the_other_finds_the_same_loop_whichever_thread_calls(lease: Lease) -> None:
    found = {lease.run_here(loop_id)}
    for _ in range(5):
        thread = threading.Thread(target=lambda: found.add(lease.run_here(loop_id)))
        thread.start()
        thread.join()
    assert len(found) == 1


def test_a_call_within_a_call_of_the_same_thread_does_not_wait_for_itself(lease: Lease) -> None:
    async def outer() -> str:
        return lease.run_here(thread_name)

    assert lease.run_here(outer) == THREAD
    with pytest.raises(RunnerError, match="Await the async form"):
        lease.run(outer)


def test_all_but_one_of_the_calls_at_once_go_to_the_background_thread(lease: Lease) -> None:
    all_there = threading.Barrier(5)

    async def work() -> str:
        await asyncio.to_thread(all_there.wait, 30)
        return threading.current_thread().name

    with ThreadPoolExecutor(5, thread_name_prefix="mine") as pool:
        names = list(pool.map(lambda _: lease.run_here(work), range(5)))
    assert sum(name == THREAD for name in names) == 4


def test_threads_that_work_begins_do_not_hold_up_the_end_of_the_program(lease: Lease) -> None:
    async def work() -> bool:
        return await asyncio.to_thread(lambda: threading.current_thread().daemon)

    assert lease.run_here(work)


class SoftTimeLimitError(Exception):
    """What a host's signal handler raises."""


@pytest.mark.parametrize("error", [SoftTimeLimitError, KeyboardInterrupt])
def test_what_a_signal_handler_raises_reaches_the_caller(lease: Lease, error: type[BaseException]) -> None:
    """asyncio would take it for a fault of the callback that it interrupts, and the call would go on without end."""

    def handle(*_: object) -> None:
        raise error

    async def busy() -> None:
        for _ in range(10**7):
            await asyncio.sleep(0)

    previous = signal.signal(signal.SIGALRM, handle)
    try:
        for turn in range(40):
            signal.setitimer(signal.ITIMER_REAL, 0.002 + turn * 0.0001)
            with pytest.raises(error):
                lease.run_here(busy)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert lease.run_here(thread_name) == threading.current_thread().name


# What stays


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux shows them")
def test_the_last_release_leaves_no_files_and_no_threads() -> None:
    gc.collect()
    before = open_files(), threading.active_count()
    lease = acquire()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: lease.run_here(lambda: asyncio.sleep(0.01)), range(32)))
    assert open_files() > before[0]
    lease.release()
    assert (open_files(), threading.active_count()) == before


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux shows them")
def test_a_loop_that_nobody_uses_ends_after_a_while(lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utcp_bridge.runner.caller_loop.IDLE_SECONDS", 0.1)
    before = open_files()
    lease.run_here(thread_name)
    assert open_files() > before
    deadline = time.monotonic() + 30
    while open_files() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert open_files() == before
    assert lease.run_here(thread_name) == threading.current_thread().name


@pytest.mark.parametrize("way", [Lease.run, Lease.run_here])
def test_a_loop_keeps_nothing_of_the_context_that_it_was_made_in(lease: Lease, way: Any) -> None:
    class Held:
        pass

    variable: ContextVar[Held] = ContextVar("variable")

    def call_with(held: Held) -> weakref.ref[Held]:
        variable.set(held)
        way(lease, thread_name)
        return weakref.ref(held)

    held = copy_context().run(call_with, Held())
    gc.collect()
    assert held() is None
