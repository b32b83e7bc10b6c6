"""Forks in different situations; `test_runner_process.py` runs it with the name of one, and how to call."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from utcp_bridge.runner import Lease, acquire

RUN: Callable[..., Any] = getattr(Lease, sys.argv[2])


async def add(a: int, b: int) -> int:
    await asyncio.sleep(0.001)
    return a + b


async def process_id() -> int:
    await asyncio.sleep(0.001)
    return os.getpid()


def in_child(function: Callable[[], object]) -> int:
    """Fork, run the function in the child, end the child as scripts end, and return its exit code."""
    child = os.fork()
    if child == 0:
        function()
        sys.exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def works_here(lease: Lease) -> None:
    assert RUN(lease, process_id) == os.getpid()
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("utcp-bridge-runner") == (sys.argv[2] == "run"), names


def lease_from_before() -> None:
    lease = acquire()
    works_here(lease)

    def child() -> None:
        works_here(lease)
        lease.release()
        assert threading.active_count() == 1
        works_here(acquire())

    assert in_child(child) == 0
    works_here(lease)


def grandchild() -> None:
    lease = acquire()
    works_here(lease)

    def child() -> None:
        works_here(lease)
        assert in_child(lambda: works_here(lease)) == 0
        works_here(lease)

    assert in_child(child) == 0
    works_here(lease)


def call_in_flight() -> None:
    lease = acquire()
    started = threading.Event()
    replies: list[str] = []

    async def slow() -> str:
        started.set()
        try:
            await asyncio.sleep(0.3)
        finally:
            sys.stdout.write(f"{os.getpid()} cleaned up\n")
            sys.stdout.flush()
        return "reply"

    caller = threading.Thread(target=lambda: replies.append(RUN(lease, slow)))
    caller.start()
    started.wait()
    assert in_child(lambda: works_here(lease)) == 0
    caller.join()
    assert replies == ["reply"]
    works_here(lease)
    sys.stdout.write(f"{os.getpid()} is the parent\n")


def while_others_start_and_stop_it() -> None:
    ended = threading.Event()
    kept = acquire()

    def start_and_stop() -> None:
        while not ended.is_set():
            lease = acquire()
            RUN(lease, lambda: add(1, 1))
            lease.release()

    threads = [threading.Thread(target=start_and_stop) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(30):
            if turn == 15:
                kept.release()  # from here on, the others start and stop the thread itself
                kept = acquire() if turn % 2 else kept
            lease = kept if turn < 15 else acquire()
            assert in_child(lambda lease=lease: works_here(lease)) == 0  # type: ignore[misc]
            RUN(lease, process_id)
            if turn >= 15:
                lease.release()
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def from_the_work() -> None:
    lease = acquire()

    async def forks() -> int:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                assert RUN(lease, process_id) == os.getpid()
                code = 0
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode((await asyncio.to_thread(os.waitpid, child, 0))[1])

    assert RUN(lease, forks) == 0
    works_here(lease)


def child_returns_from_the_work() -> None:
    """The child shares the selector of the loop on which it was forked, so it must not go on with that loop."""
    lease = acquire()

    async def forks() -> tuple[int, asyncio.AbstractEventLoop]:
        loop = asyncio.get_running_loop()  # a child is told of none
        return os.fork(), loop

    async def current() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    child, loop = RUN(lease, forks)
    if child == 0:
        code = 1
        try:
            assert RUN(lease, current) is not loop
            works_here(lease)
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert RUN(lease, current) is loop


def multiprocessing_fork() -> None:
    lease = acquire()
    works_here(lease)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pids = [pool.apply(child_call, (lease,)) for _ in range(4)]
    assert os.getpid() not in pids
    works_here(lease)


def child_call(lease: Lease | None) -> int:
    pid: int = RUN(lease or acquire(), process_id)
    return pid


def child_exits_in_flight() -> None:
    lease = acquire()
    works_here(lease)
    started = threading.Event()

    async def long_call() -> None:
        started.set()
        await asyncio.sleep(60)

    def child() -> None:
        threading.Thread(target=lambda: RUN(lease, long_call), daemon=True).start()
        started.wait()

    threading.excepthook = lambda _: None
    assert in_child(child) == 0


if __name__ == "__main__":
    globals()[sys.argv[1]]()
