"""Calls from hosts that change asyncio for the whole process; `test_runner.py` runs it with the name of one."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
import threading
import time

from utcp_bridge.runner import acquire


async def echo() -> str:
    process = await asyncio.create_subprocess_exec("echo", "hello", stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    return output.decode().strip()


def uvloop_policy() -> None:
    """`uvloop.install()` as many hosts call it: child processes must still work."""
    uvloop = importlib.import_module("uvloop")
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())

    async def main() -> None:
        assert type(asyncio.get_running_loop()).__module__.startswith("uvloop")
        lease = acquire()
        assert lease.run(echo) == "hello"
        assert await lease.arun(echo) == "hello"
        lease.release()

    asyncio.run(main())


def main_thread_only_policy() -> None:
    """A policy as GUI toolkits have it, whose loops exist in the main thread only."""

    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            assert threading.current_thread() is threading.main_thread()
            raise NotImplementedError

    asyncio.set_event_loop_policy(Policy())
    lease = acquire()
    assert lease.run(echo) == "hello"
    lease.release()


def nest_asyncio() -> None:
    """A notebook whose user was told to patch the loop."""
    importlib.import_module("nest_asyncio").apply()

    async def cell() -> None:
        lease = acquire()
        assert lease.run(echo) == "hello"
        assert await lease.arun(echo) == "hello"
        lease.release()

    asyncio.run(cell())


def keyboard_interrupt() -> None:
    """Ctrl-C while the main thread waits."""
    lease = acquire()
    ended: list[str] = []

    async def work() -> None:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    try:
        lease.run(work)
    except KeyboardInterrupt:
        ended.append("interrupted")
    assert ended == ["cancelled", "interrupted"], ended
    assert lease.run(echo) == "hello"


def signal_handler_that_calls() -> None:
    """A signal handler that closes things while the main thread waits for a call, or is about to."""
    lease = acquire()
    replies: list[str] = []

    async def quick() -> str:
        await asyncio.sleep(0)
        return "reply"

    def handle(*_: object) -> None:
        replies.append(lease.run(quick))
        signal.setitimer(signal.ITIMER_REAL, 0.0007)  # only now: on a busy machine a call takes longer than this

    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        assert lease.run(quick) == "reply"
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(replies) > 10


if __name__ == "__main__":
    globals()[sys.argv[1]]()
