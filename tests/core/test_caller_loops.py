"""Work that runs in the calling thread: where and how it ends, what crosses over, and what it leaves behind."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.long_call import LongCall
from utcp_bridge.errors import RunnerError, RunnerStoppedError, WorkCancelledError
from utcp_bridge.runner import Lease, acquire
from utcp_bridge.runner.caller_loops import MOST

THREAD = "utcp-bridge-runner"
REQUEST: contextvars.ContextVar[str] = contextvars.ContextVar("REQUEST", default="none")


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


def test_inside_a_running_loop_it_runs_on_the_background_thread(lease: Lease) -> None:
    async def cell() -> str:
        return lease.run_here(thread_name)

    assert asyncio.run(cell()) == THREAD


def test_a_call_within_a_call_of_the_same_thread_does_not_wait_for_itself(lease: Lease) -> None:
    async def outer() -> str:
        return lease.run_here(thread_name)

    assert lease.run_here(outer) == THREAD
    with pytest.raises(RunnerError, match="Await the async form"):
        lease.run(outer)


def test_more_calls_at_once_than_loops_go_to_the_background_thread(lease: Lease) -> None:
    callers = MOST + 4
    all_there = threading.Barrier(callers)

    async def work() -> str:
        await asyncio.to_thread(all_there.wait, 30)
        return threading.current_thread().name

    with ThreadPoolExecutor(callers, thread_name_prefix="mine") as pool:
        names = list(pool.map(lambda _: lease.run_here(work), range(callers)))
    assert sum(name == THREAD for name in names) == 4
    assert len({name for name in names if name != THREAD}) == MOST


def test_many_threads_call_at_once(lease: Lease) -> None:
    async def echo(value: int) -> int:
        await asyncio.sleep(0.001)
        return value

    with ThreadPoolExecutor(24) as pool:
        assert list(pool.map(lambda value: lease.run_here(lambda: echo(value)), range(600))) == list(range(600))


def test_a_slow_call_does_not_delay_others(lease: Lease) -> None:
    release = threading.Event()

    async def slow() -> bool:
        return await asyncio.to_thread(release.wait, 30)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lease.run_here, slow)
        for _ in range(20):
            lease.run_here(thread_name)
        assert not waiting.done()
        release.set()
        assert waiting.result()


# What crosses over


def test_errors_arrive_as_they_were_raised(lease: Lease) -> None:
    error = LookupError("no such place")

    async def work() -> None:
        raise error

    with pytest.raises(LookupError, match="no such place") as raised:
        lease.run_here(work)
    assert raised.value is error


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), BaseException("odd")])
def test_exceptions_that_end_programs_reach_the_caller_and_leave_a_loop_that_works(
    lease: Lease, error: BaseException
) -> None:
    async def work() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        lease.run_here(work)
    assert raised.value is error
    assert lease.run_here(thread_name) == threading.current_thread().name


def test_work_that_cancels_itself_is_a_clear_error(lease: Lease) -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(WorkCancelledError, match="from inside"):
        lease.run_here(work)


def test_work_that_stops_the_loop_is_done_all_the_same(lease: Lease) -> None:
    async def stops() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.01)
        return "done"

    assert lease.run_here(stops) == "done"


def test_context_variables_cross_but_do_not_come_back(lease: Lease) -> None:
    async def work() -> str:
        seen = REQUEST.get()
        REQUEST.set("changed by the work")
        return seen

    token = REQUEST.set("caller")
    assert lease.run_here(work) == "caller"
    assert REQUEST.get() == "caller"
    REQUEST.reset(token)
    assert lease.run_here(work) == "none"


def test_threads_that_work_begins_do_not_hold_up_the_end_of_the_program(lease: Lease) -> None:
    async def work() -> bool:
        return await asyncio.to_thread(lambda: threading.current_thread().daemon)

    assert lease.run_here(work)


# How it ends


def in_flight(lease: Lease, work: Callable[[], Any], pool: ThreadPoolExecutor) -> Any:
    waiting = pool.submit(lease.run_here, work)
    started = getattr(work, "started", None)
    if started is not None:
        assert started.wait(30)
    return waiting


@pytest.mark.parametrize("others", [0, 1])
def test_releasing_cancels_the_calls_of_this_lease_only(others: int) -> None:
    kept = [acquire() for _ in range(others)]
    released = acquire()
    work, foreign = LongCall(), LongCall()
    with ThreadPoolExecutor(2) as pool:
        waiting = in_flight(released, work, pool)
        foreigners = [in_flight(lease, foreign, pool) for lease in kept]
        released.release()
        with pytest.raises(RunnerStoppedError, match="closed while the call was running"):
            waiting.result()
        assert work.events == ["cleaned up"]
        assert foreign.events == []
        for lease in kept:
            lease.release()
        assert [type(call.exception()) for call in foreigners] == [RunnerStoppedError] * others


def test_a_released_lease_is_refused_at_once() -> None:
    released = acquire()
    released.run_here(thread_name)
    released.release()
    with pytest.raises(RunnerError, match="closed"):
        released.run_here(thread_name)


def test_work_that_swallows_its_cancellation_is_dropped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    lease = acquire()
    started = threading.Event()

    async def stubborn() -> None:
        started.set()
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lease.run_here, stubborn)
        assert started.wait(30)
        lease.release()
        assert isinstance(waiting.exception(), RunnerStoppedError)
    del waiting
    gc.collect()
    assert "1 task(s) did not end within 0.5 s" in caplog.text


def test_work_may_release_its_own_lease_and_end_in_peace() -> None:
    lease = acquire()

    async def closes() -> str:
        lease.release()
        await asyncio.sleep(0.02)
        return "closed"

    assert lease.run_here(closes) == "closed"


def test_ctrl_c_cancels_the_work_before_the_caller_goes_on(lease: Lease) -> None:
    ended: list[str] = []

    async def work() -> None:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    try:
        lease.run_here(work)
    except KeyboardInterrupt:
        ended.append("interrupted")
    assert ended == ["cancelled", "interrupted"]
    assert lease.run_here(thread_name) == threading.current_thread().name


def test_signal_handlers_may_call_while_their_thread_calls(lease: Lease) -> None:
    replies: list[str] = []

    async def quick() -> str:
        await asyncio.sleep(0)
        return "reply"

    def handle(*_: object) -> None:
        replies.append(lease.run_here(quick))
        signal.setitimer(signal.ITIMER_REAL, 0.001)  # only now: on a busy machine a call takes longer than this

    previous = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    try:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            assert lease.run_here(quick) == "reply"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert len(replies) > 5


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


def test_opening_calling_and_releasing_from_many_threads_is_race_free() -> None:
    def open_call_close() -> None:
        for _ in range(60):
            lease = acquire()
            lease.run_here(thread_name)
            lease.release()

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(open_call_close) for _ in range(8)]:
            done.result()


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
def test_loops_that_nobody_uses_end_after_a_while(lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("utcp_bridge.runner.caller_loops.IDLE_SECONDS", 0.1)
    before = open_files()
    lease.run_here(thread_name)
    assert open_files() > before
    deadline = time.monotonic() + 30
    while open_files() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert open_files() == before
    assert lease.run_here(thread_name) == threading.current_thread().name
