"""Work that a lease runs: where calls come from, what crosses over, and how it ends.

Whatever holds for both ways of a blocking call is tested in both: on the background thread (`run`), and in the calling
thread (`run_here`).
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.support.long_call import LongCall
from utcp_bridge.errors import RunnerError, RunnerStoppedError, WorkCancelledError
from utcp_bridge.runner import Lease, acquire, standing_loop

THREAD = "utcp-bridge-runner"
REQUEST: contextvars.ContextVar[str] = contextvars.ContextVar("REQUEST", default="none")

Blocking: TypeAlias = Callable[[Lease, Callable[[], Any]], Any]


def loop_factories() -> list[Any]:
    factories = [pytest.param(asyncio.SelectorEventLoop, id="asyncio")]
    try:
        import uvloop
    except ImportError:
        return [*factories, pytest.param(None, id="uvloop", marks=pytest.mark.skip(reason="uvloop is not installed"))]
    return [*factories, pytest.param(uvloop.new_event_loop, id="uvloop")]


@pytest.fixture(params=loop_factories())
def run_loop(request: pytest.FixtureRequest) -> Callable[[Callable[[], Awaitable[None]]], None]:
    """Runs a coroutine function in a new loop of this thread, as a host of the library would."""

    def run(main: Callable[[], Awaitable[None]]) -> None:
        async def entry() -> None:
            await main()

        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(entry())

    return run


@pytest.fixture
def lease() -> Iterator[Lease]:
    lease = acquire()
    yield lease
    lease.release()
    assert runner_threads() == []


@pytest.fixture(params=["run", "run_here"])
def blocking(request: pytest.FixtureRequest) -> Blocking:
    """Both ways of a blocking call."""
    way: Blocking = getattr(Lease, request.param)
    return way


def thread_of(blocking: Blocking) -> str:
    """The name of the thread that does the work of a blocking call from here."""
    return THREAD if blocking is Lease.run else threading.current_thread().name


def runner_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(THREAD)]


async def thread_name() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


async def long_call() -> None:
    await asyncio.sleep(60)


async def tasks_of_the_loop() -> int:
    """Besides the one that counts."""
    await asyncio.sleep(0)
    return len(asyncio.all_tasks()) - 1


def caught(function: Callable[[], object]) -> BaseException | None:
    try:
        function()
    except BaseException as error:  # noqa: BLE001 - the test looks at it
        return error
    return None


# Where calls come from


def test_plain_code_gets_the_reply(lease: Lease, blocking: Blocking) -> None:
    assert blocking(lease, thread_name) == thread_of(blocking)


def test_plain_code_gets_the_error_as_it_was_raised(lease: Lease, blocking: Blocking) -> None:
    error = LookupError("no such place")

    async def work() -> None:
        raise error

    with pytest.raises(LookupError, match="no such place") as raised:
        blocking(lease, work)
    assert raised.value is error
    assert "work" in [entry.name for entry in raised.traceback]


def test_a_mistake_before_the_coroutine_exists_reaches_the_caller(lease: Lease, blocking: Blocking) -> None:
    def work() -> Any:
        raise LookupError("not even a coroutine")

    with pytest.raises(LookupError, match="not even"):
        blocking(lease, work)


def test_a_blocking_call_works_inside_a_running_loop(
    lease: Lease, blocking: Blocking, run_loop: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    async def cell() -> None:
        assert blocking(lease, thread_name) == THREAD
        assert await asyncio.to_thread(lease.run, thread_name) == THREAD
        assert blocking(lease, thread_name) == THREAD

    run_loop(cell)


def test_async_code_awaits_the_reply_and_its_loop_goes_on(
    lease: Lease, run_loop: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    async def main() -> None:
        goes_on = threading.Event()

        async def work() -> str:
            assert await asyncio.to_thread(goes_on.wait, 30)
            return threading.current_thread().name

        asyncio.get_running_loop().call_later(0.01, goes_on.set)
        assert await lease.arun(work) == THREAD
        with pytest.raises(ZeroDivisionError):
            await lease.arun(divide)

    async def divide() -> float:
        return 1 / 0

    run_loop(main)


def test_one_lease_serves_one_loop_after_another(
    lease: Lease, run_loop: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    async def main() -> None:
        assert await lease.arun(thread_name) == THREAD

    run_loop(main)
    run_loop(main)


def test_on_the_runners_own_loop_async_calls_are_awaited_in_place(lease: Lease) -> None:
    async def outer() -> bool:
        current = asyncio.current_task()

        async def inner() -> bool:
            return asyncio.current_task() is current

        return await lease.arun(inner)

    assert lease.run(outer)


def test_many_threads_call_at_once(lease: Lease, blocking: Blocking) -> None:
    async def echo(value: int) -> int:
        await asyncio.sleep(0.001)
        return value

    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda value: blocking(lease, lambda: echo(value)), range(400)))
    assert replies == list(range(400))
    assert len([thread for thread in runner_threads() if thread.name == THREAD]) == 1


def test_a_blocking_call_on_the_runners_own_thread_is_refused_with_advice(lease: Lease) -> None:
    async def work() -> None:
        lease.run(thread_name)

    with pytest.raises(RunnerError, match=r"Await the async form .*acall.*to_thread"):
        lease.run(work)


def test_work_may_call_again_from_a_worker_thread(lease: Lease, blocking: Blocking) -> None:
    async def work() -> str:
        return await asyncio.to_thread(lease.run, thread_name)

    assert blocking(lease, work) == THREAD


# What crosses over


def test_context_variables_cross_from_blocking_and_async_callers(lease: Lease, blocking: Blocking) -> None:
    async def work() -> tuple[str, str]:
        seen = REQUEST.get()
        REQUEST.set("changed by the work")
        return seen, await asyncio.create_task(child())

    async def child() -> str:
        return REQUEST.get()

    async def main() -> None:
        REQUEST.set("async caller")
        assert await lease.arun(work) == ("async caller", "changed by the work")
        assert REQUEST.get() == "async caller"

    token = REQUEST.set("caller")
    assert blocking(lease, work) == ("caller", "changed by the work")
    assert REQUEST.get() == "caller"
    REQUEST.reset(token)
    asyncio.run(main())
    assert blocking(lease, child) == "none"


def test_work_knows_the_loop_that_stands_still_for_it(
    lease: Lease, run_loop: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    async def seen() -> asyncio.AbstractEventLoop | None:
        return standing_loop()

    async def main() -> None:
        assert lease.run(seen) is asyncio.get_running_loop()
        assert await lease.arun(seen) is None
        assert await asyncio.to_thread(lease.run, seen) is None
        assert standing_loop() is None

    run_loop(main)
    assert lease.run(seen) is None


def test_an_async_call_from_another_framework_is_refused_with_advice(lease: Lease) -> None:
    call = lease.arun(LongCall())
    with pytest.raises(RunnerError, match=r"asyncio.*worker thread"):
        call.send(None)  # as Trio would begin it


def test_a_slow_call_does_not_delay_others(lease: Lease, blocking: Blocking) -> None:
    release = threading.Event()

    async def slow() -> str:
        await asyncio.to_thread(release.wait)
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(blocking, lease, slow)
        for _ in range(20):
            blocking(lease, thread_name)
        assert not waiting.done()
        release.set()
        assert waiting.result() == "slow"


def test_hanging_worker_threads_do_not_delay_others(lease: Lease, blocking: Blocking) -> None:
    """Look-ups of host names run in worker threads, and asyncio's own pool has six of them on a small machine."""
    release = threading.Event()
    with ThreadPoolExecutor(40) as pool:
        hanging = [pool.submit(blocking, lease, lambda: asyncio.to_thread(release.wait)) for _ in range(40)]
        try:
            assert blocking(lease, lambda: asyncio.wait_for(asyncio.to_thread(lambda: "reply"), 30)) == "reply"
        finally:
            release.set()
        assert all(call.result() for call in hanging)


# Cancellation


def test_cancelling_an_async_caller_cancels_the_work_and_waits_for_its_end(
    lease: Lease, run_loop: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    async def main() -> None:
        work = LongCall()
        task = asyncio.create_task(lease.arun(work))
        await asyncio.to_thread(work.started.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert work.events == ["cleaned up"]

    run_loop(main)


def test_a_time_out_around_an_async_call_cancels_the_work(
    lease: Lease, run_loop: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    async def main() -> None:
        work = LongCall()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await lease.arun(work)
        assert work.events == ["cleaned up"]

    run_loop(main)


def test_an_async_call_cancelled_before_it_starts_does_nothing(lease: Lease) -> None:
    async def main() -> None:
        work = LongCall()
        task = asyncio.create_task(lease.arun(work))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not work.started.is_set()

    asyncio.run(main())


def test_cancelling_again_while_the_work_cleans_up_still_waits_for_its_end(lease: Lease) -> None:
    cancelled: list[str] = []
    started = threading.Event()

    async def work() -> None:
        started.set()
        for turn in ("first", "second"):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(turn)
        await asyncio.sleep(0.02)
        cancelled.append("ended")

    async def main() -> None:
        task = asyncio.create_task(lease.arun(work))
        await asyncio.to_thread(started.wait)
        while len(cancelled) < 2:
            task.cancel()
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert cancelled == ["first", "second", "ended"]

    asyncio.run(main())


def test_an_error_while_cancelled_work_cleans_up_reaches_the_caller(lease: Lease) -> None:
    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            raise ConnectionError("could not say goodbye")

    async def main() -> None:
        task = asyncio.create_task(lease.arun(work))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(ConnectionError, match="goodbye"):
            await task

    asyncio.run(main())


def test_a_time_out_inside_the_work_is_the_callers_error(lease: Lease, blocking: Blocking) -> None:
    work = LongCall()

    async def limited() -> None:
        async with asyncio.timeout(0.02):
            await work()

    with pytest.raises(TimeoutError):
        blocking(lease, limited)
    assert work.events == ["cleaned up"]


def test_work_that_cancels_itself_is_a_clear_error(
    lease: Lease, blocking: Blocking, run_loop: Callable[[Callable[[], Awaitable[None]]], None]
) -> None:
    async def raises() -> None:
        raise asyncio.CancelledError

    async def cancels_its_task() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(60)

    for work in (raises, cancels_its_task):
        with pytest.raises(WorkCancelledError, match="from inside") as raised:
            blocking(lease, work)
        assert isinstance(raised.value, RunnerError)
        assert isinstance(raised.value.__cause__, asyncio.CancelledError)

    async def main() -> None:
        for work in (raises, cancels_its_task):
            with pytest.raises(WorkCancelledError, match="from inside"):
                await lease.arun(work)

    run_loop(main)
    assert blocking(lease, thread_name) == thread_of(blocking)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), BaseException("odd")])
def test_exceptions_that_end_programs_reach_the_caller_and_leave_the_loop_alive(
    lease: Lease, blocking: Blocking, error: BaseException
) -> None:
    async def work() -> None:
        raise error

    assert caught(lambda: blocking(lease, work)) is error
    assert blocking(lease, thread_name) == thread_of(blocking)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_a_background_task_cannot_end_the_loop(
    lease: Lease, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    async def ends() -> None:
        raise error

    async def starts() -> None:
        task = asyncio.create_task(ends())
        await asyncio.wait([task])
        assert isinstance(task.exception(), error)

    lease.run(starts)
    assert lease.run(thread_name) == THREAD
    assert "tried to end the interpreter" in caplog.text


def test_work_that_stops_the_loop_or_cancels_all_tasks_hurts_only_calls_in_flight(
    lease: Lease, blocking: Blocking
) -> None:
    async def stops() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.01)
        return "done"

    async def cancels_all() -> None:
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(0)

    assert blocking(lease, stops) == "done"
    with pytest.raises(WorkCancelledError):
        blocking(lease, cancels_all)
    assert blocking(lease, thread_name) == thread_of(blocking)


def test_tasks_that_stop_the_loop_while_they_end_do_not_cut_short_the_release(blocking: Blocking) -> None:
    lease = acquire()
    ended: list[str] = []

    async def background() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            asyncio.get_running_loop().stop()
            await asyncio.sleep(0.01)
            ended.append("cleaned up")

    async def work() -> asyncio.Task[None]:
        task = asyncio.create_task(background())
        await asyncio.sleep(0)
        return task

    task = blocking(lease, work)
    lease.release()
    assert ended == ["cleaned up"]
    assert task.cancelled()
    assert runner_threads() == []


def test_ctrl_c_cancels_the_work_before_the_caller_goes_on(lease: Lease, blocking: Blocking) -> None:
    ended: list[str] = []

    async def work() -> None:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    try:
        blocking(lease, work)
    except KeyboardInterrupt:
        ended.append("interrupted")
    assert ended == ["cancelled", "interrupted"]
    assert blocking(lease, thread_name) == thread_of(blocking)


def test_signal_handlers_may_call_while_their_thread_calls(lease: Lease, blocking: Blocking) -> None:
    """As one does that closes things, while the main thread waits for a call or is about to."""
    replies: list[str] = []

    async def quick() -> str:
        await asyncio.sleep(0)
        return "reply"

    def handle(*_: object) -> None:
        replies.append(blocking(lease, quick))
        signal.setitimer(signal.ITIMER_REAL, 0.0007)  # only now: on a busy machine a call takes longer than this

    previous = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    try:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            assert blocking(lease, quick) == "reply"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert len(replies) > 5


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux shows them")
def test_cancelled_calls_leave_no_threads_tasks_or_sockets(lease: Lease) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def listen() -> asyncio.Server:
        return await asyncio.start_server(silent, "127.0.0.1", 0)

    async def call() -> None:
        async with asyncio.timeout(0.01):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                await reader.read()
            finally:
                writer.close()

    async def callers() -> None:
        tasks = [asyncio.create_task(lease.arun(call)) for _ in range(25)]
        await asyncio.sleep(0.005)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    def counts() -> tuple[int, int, int]:
        for _ in range(1000):
            if lease.run(tasks_of_the_loop) == 0:  # the server has seen the end of the last connections
                break
            time.sleep(0.005)
        gc.collect()
        return threading.active_count(), lease.run(tasks_of_the_loop), len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    def fifty_calls() -> None:
        for _ in range(25):
            with pytest.raises(TimeoutError):
                lease.run(call)
        asyncio.run(callers())

    server = lease.run(listen)
    port = server.sockets[0].getsockname()[1]
    fifty_calls()  # the first round pays for what is made once
    before = counts()
    fifty_calls()
    assert counts() == before

    async def close() -> None:
        server.close()

    lease.run(close)


def test_a_caller_whose_loop_is_gone_leaves_no_work_behind(lease: Lease) -> None:
    work = LongCall()
    loop = asyncio.SelectorEventLoop()
    task = loop.create_task(lease.arun(work))
    loop.run_until_complete(asyncio.sleep(0.02))
    coroutine = task.get_coro()
    assert coroutine is not None
    coroutine.close()
    loop.set_exception_handler(lambda *_: None)  # asyncio rightly says that the task was destroyed
    loop.close()
    del task, coroutine
    for _ in range(1000):
        if work.events:
            break
        time.sleep(0.005)
    assert work.events == ["cleaned up"]
    assert lease.run(tasks_of_the_loop) == 0


# Start and end


def test_the_thread_starts_with_the_first_call_and_ends_with_the_last_release() -> None:
    first, second = acquire(), acquire()
    assert runner_threads() == []
    first.run(thread_name)
    [thread] = runner_threads()
    assert thread.daemon
    first.release()
    first.release()
    assert second.run(thread_name) == THREAD
    assert runner_threads() == [thread]
    second.release()
    assert runner_threads() == []


def test_a_lease_that_was_never_used_starts_nothing() -> None:
    acquire().release()
    assert runner_threads() == []


@pytest.mark.parametrize("others", [0, 1])
def test_a_released_lease_is_refused_at_once(blocking: Blocking, others: int) -> None:
    kept = [acquire() for _ in range(others)]
    released = acquire()
    blocking(released, thread_name)
    released.release()
    with pytest.raises(RunnerError, match="closed"):
        blocking(released, thread_name)

    async def main() -> None:
        with pytest.raises(RunnerError, match="closed"):
            blocking(released, thread_name)
        with pytest.raises(RunnerError, match="closed"):
            await released.arun(thread_name)

    asyncio.run(main())
    for lease in kept:
        with pytest.raises(RunnerError, match="closed"):
            lease.run(lambda: released.arun(thread_name))
        lease.release()


@pytest.mark.parametrize("others", [0, 1])
def test_releasing_cancels_the_calls_of_this_lease_only(blocking: Blocking, others: int) -> None:
    kept = [acquire() for _ in range(others)]
    released = acquire()
    work, foreign = LongCall(), LongCall()
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(blocking, released, work)
        work.started.wait()
        foreigners = [pool.submit(blocking, lease, foreign) for lease in kept]
        if kept:
            foreign.started.wait()
        released.release()
        with pytest.raises(RunnerStoppedError, match="closed while the call was running"):
            waiting.result()
        assert work.events == ["cleaned up"]
        assert foreign.events == []
        for lease in kept:
            lease.release()
        assert [type(call.exception()) for call in foreigners] == [RunnerStoppedError] * others
    assert runner_threads() == []


def test_async_callers_learn_of_a_release_too() -> None:
    async def main() -> None:
        lease = acquire()
        work = LongCall()
        task = asyncio.create_task(lease.arun(work))
        await asyncio.to_thread(work.started.wait)
        await asyncio.to_thread(lease.release)
        with pytest.raises(RunnerStoppedError, match="closed while"):
            await task
        assert work.events == ["cleaned up"]

    asyncio.run(main())


def test_the_last_release_ends_tasks_generators_and_worker_threads() -> None:
    lease = acquire()
    ended: list[str] = []
    kept: list[Any] = []

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            ended.append("generator")

    async def background() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            kept.append(asyncio.create_task(late()))
            ended.append("task")

    async def late() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("task of the task")

    async def work() -> None:
        kept.extend([numbers(), asyncio.create_task(background())])
        await anext(kept[0])
        await asyncio.to_thread(lambda: None)

    lease.run(work)
    assert len(runner_threads()) == 2
    lease.release()
    assert sorted(ended) == ["generator", "task", "task of the task"]
    assert runner_threads() == []


@pytest.mark.parametrize("others", [0, 1])
def test_work_may_release_its_own_lease_and_end_in_peace(blocking: Blocking, others: int) -> None:
    kept = [acquire() for _ in range(others)]
    lease = acquire()
    other = LongCall()

    async def closes() -> str:
        lease.release()
        await asyncio.sleep(0.02)
        return "closed"

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lease.run, other)
        other.started.wait()
        assert blocking(lease, closes) == "closed"
        assert isinstance(waiting.exception(), RunnerStoppedError)
    for lease in kept:
        lease.release()
    for thread in runner_threads():
        thread.join()


def test_the_last_release_does_not_cut_short_the_clean_up_of_a_cancelled_call() -> None:
    async def main() -> None:
        lease = acquire()
        work = LongCall()
        task = asyncio.create_task(lease.arun(work))
        await asyncio.to_thread(work.started.wait)
        task.cancel()
        await asyncio.sleep(0)
        lease.release()
        assert work.events == ["cleaned up"]
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_work_that_swallows_one_cancellation_is_cancelled_again(caplog: pytest.LogCaptureFixture) -> None:
    lease = acquire()
    work = LongCall()

    async def swallows_one() -> None:
        try:
            await work()
        except asyncio.CancelledError:
            await work()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lease.run, swallows_one)
        work.started.wait()
        lease.release()
        assert isinstance(waiting.exception(), RunnerStoppedError)
    assert work.events == ["cleaned up", "cleaned up"]
    assert caplog.records == []


def test_work_that_swallows_its_cancellation_is_dropped_with_a_warning(
    blocking: Blocking, caplog: pytest.LogCaptureFixture
) -> None:
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
        waiting = pool.submit(blocking, lease, stubborn)
        started.wait()
        lease.release()
        assert isinstance(waiting.exception(), RunnerStoppedError)
    assert runner_threads() == []
    del waiting  # the last that knows the task
    gc.collect()
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "1 task(s) did not end within 0.5 s" in record.message


def test_work_that_blocks_the_loop_holds_up_the_release_only_for_a_moment(caplog: pytest.LogCaptureFixture) -> None:
    lease = acquire()
    started, unblock = threading.Event(), threading.Event()

    async def blocks() -> None:
        started.set()
        unblock.wait()

    with ThreadPoolExecutor(1) as pool:
        try:
            waiting = pool.submit(lease.run, blocks)
            started.wait()
            [left_behind] = runner_threads()
            lease.release()
            assert isinstance(waiting.exception(), RunnerStoppedError)
            assert "blocks its loop" in caplog.text
            lease = acquire()
            assert lease.run(thread_name) == THREAD  # others go on meanwhile
            lease.release()
        finally:
            unblock.set()
    left_behind.join()


def test_starting_and_stopping_from_many_threads_is_race_free(blocking: Blocking) -> None:
    failures: list[BaseException] = []

    def open_call_close() -> None:
        for _ in range(60):
            lease = acquire()
            try:
                assert blocking(lease, thread_name) in {THREAD, threading.current_thread().name}
            except BaseException as error:  # noqa: BLE001 - reported below
                failures.append(error)
            finally:
                lease.release()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=open_call_close) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
    assert runner_threads() == []
