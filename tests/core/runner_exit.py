"""Ends the interpreter in different ways; `test_runner_process.py` runs it with the name of one, and how to call."""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from utcp_bridge.errors import RunnerStoppedError
from utcp_bridge.runner import Lease, acquire

RUN: Callable[..., Any] = getattr(Lease, sys.argv[2])
LONG = 60.0
started = threading.Event()
kept: list[Any] = []  # what is left open until the interpreter clears this module


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def long_call() -> None:
    started.set()
    await asyncio.sleep(LONG)


def call_until_stopped(lease: Lease) -> None:
    try:
        RUN(lease, long_call)
    except RunnerStoppedError:
        say("stopped")


def in_flight(work: Any = long_call, *, daemon: bool = True) -> Lease:
    """Start a call in another thread, and return once its work runs."""
    lease = acquire()

    def call() -> None:
        try:
            RUN(lease, work)
        except RunnerStoppedError:
            if not daemon:
                say("stopped")

    threading.Thread(target=call, daemon=daemon).start()
    started.wait()
    return lease


def idle() -> None:
    RUN(acquire(), lambda: asyncio.sleep(0))


def daemon_thread() -> None:
    in_flight()


def thread() -> None:
    in_flight(daemon=False)


def pool_worker() -> None:
    lease = acquire()
    ThreadPoolExecutor(1).submit(call_until_stopped, lease)
    started.wait()


def queue_of_a_pool() -> None:
    lease = acquire()
    pool = ThreadPoolExecutor(2)
    for _ in range(20):
        pool.submit(call_until_stopped, lease)
    started.wait()


def loop_in_a_thread() -> None:
    lease = acquire()

    async def caller() -> None:
        try:
            await lease.arun(long_call)
        except RunnerStoppedError:
            say("stopped")

    threading.Thread(target=lambda: asyncio.run(caller())).start()
    started.wait()


def thread_that_calls_again() -> None:
    lease = acquire()

    def call() -> None:
        for _ in range(3):
            call_until_stopped(lease)

    threading.Thread(target=call).start()
    started.wait()


def atexit_hook() -> None:
    lease = in_flight()
    atexit.register(lease.release)
    atexit.register(call_until_stopped, lease)


def atexit_hook_alone() -> None:
    atexit.register(call_until_stopped, acquire())


def daemon_thread_joined_by_atexit() -> None:
    lease = acquire()
    waiting = threading.Thread(target=call_until_stopped, args=(lease,), daemon=True)
    waiting.start()
    started.wait()
    atexit.register(waiting.join)


def swallows_cancellation() -> None:
    async def work() -> None:
        started.set()
        while True:
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                continue

    in_flight(work, daemon=False)


def blocks_the_loop() -> None:
    async def work() -> None:
        started.set()
        time.sleep(LONG)  # noqa: ASYNC251 - that is the fault shown here

    in_flight(work, daemon=False)


def hang() -> None:
    started.set()
    time.sleep(LONG)


def hanging_worker() -> None:
    async def work() -> None:
        await asyncio.to_thread(hang)

    in_flight(work, daemon=False)


def hanging_worker_of_a_released_runner() -> None:
    async def work() -> None:
        await asyncio.to_thread(hang)

    in_flight(work).release()


def child_process() -> None:
    async def work() -> None:
        process = await asyncio.create_subprocess_exec("sleep", "60", stdout=asyncio.subprocess.PIPE)
        try:
            started.set()
            await process.wait()
        finally:
            process.kill()

    in_flight(work, daemon=False)


def left_open() -> None:
    """A background task, an async generator and a client session that nobody closes."""
    import aiohttp  # here, because the other situations start faster without it

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            say("generator closed")

    async def work() -> None:
        generator = numbers()
        await anext(generator)
        kept.extend([generator, asyncio.create_task(asyncio.sleep(LONG)), aiohttp.ClientSession()])

    RUN(acquire(), work)


def background_task_that_fails() -> None:
    async def fails() -> None:
        try:
            await asyncio.sleep(LONG)
        finally:
            raise ValueError

    async def work() -> None:
        kept.append(asyncio.create_task(fails()))
        await asyncio.sleep(0)

    RUN(acquire(), work)


def generator_that_fails() -> None:
    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            raise ValueError

    async def work() -> None:
        generator = numbers()
        await anext(generator)
        kept.append(generator)

    RUN(acquire(), work)


def exit_code() -> None:
    in_flight()
    sys.exit(3)


def exit_from_work() -> None:
    async def work() -> None:
        sys.exit(4)

    RUN(acquire(), work)


if __name__ == "__main__":
    try:
        globals()[sys.argv[1]]()
    finally:
        say(f"exit {time.monotonic()}")
