"""Calls from hosts that change asyncio for the whole process; `test_runner_process.py` runs it with the name of one."""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading

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


if __name__ == "__main__":
    globals()[sys.argv[1]]()
