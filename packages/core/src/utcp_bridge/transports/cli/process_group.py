"""A process group: the shell that leads it and what that started, waited for and ended together.

Not asyncio's own subprocesses: there, the exit of a child is watched by a child watcher that depends on the version of
Python, the loop and the thread, and a cancelled wait leaves the child running. This works on every loop that has
`add_reader`, in any thread.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""

_POLL = 0.005
_LONGEST_POLL = 0.05
_DYING = 0.2

_logger = logging.getLogger(__name__)
_unfinished: set[ProcessGroup] = set()


class ProcessGroup:
    """The group that a process leads which was started in a new session or with `process_group=0`.

    Until the leader is reaped its id cannot be given to another process; it is reaped only where somebody waits.
    """

    def __init__(self, leader: subprocess.Popen[bytes]) -> None:
        self._leader = leader
        self._is_over = self._is_killed = False
        _unfinished.add(self)

    @property
    def exit_code(self) -> int:
        """The leader's exit code once it has been waited for; 128 + n if signal n ended it, as shells count."""
        code = self._leader.returncode
        return 128 - code if code < 0 else code

    def has_exited(self) -> bool:
        """Whether the leader has ended; it is reaped then."""
        if self._leader.returncode is None:
            try:
                pid, status = os.waitpid(self._leader.pid, os.WNOHANG)
            except ChildProcessError:
                # Another part of the program waited for it, or has SIGCHLD ignored. 255 is asyncio's choice too.
                if not self._is_killed:
                    _logger.warning("The exit code of a command was lost to another part of this program.")
                self._leader.returncode = 255
            else:
                if pid:
                    self._leader.returncode = os.waitstatus_to_exitcode(status)
        if self._leader.returncode is None:
            return False
        _unfinished.discard(self)
        return True

    async def wait(self) -> None:
        """Wait until the leader has ended."""
        await self._exit()
        if self._is_killed:
            # Only at the end of the program: nobody is left who could be told.
            await asyncio.get_running_loop().create_future()

    async def _exit(self) -> None:
        if self.has_exited():
            return
        try:
            pidfd = os.pidfd_open(self._leader.pid)
        except (AttributeError, OSError):  # not Linux, before 5.3, or forbidden in a sandbox
            delay = _POLL / 10
            while not self.has_exited():
                await asyncio.sleep(delay)
                delay = min(delay * 2, _LONGEST_POLL)
            return
        loop = asyncio.get_running_loop()
        exited = asyncio.Event()
        try:
            loop.add_reader(pidfd, exited.set)
            await exited.wait()
        finally:
            if not loop.is_closed():
                loop.remove_reader(pidfd)
            os.close(pidfd)
        self.has_exited()

    async def end(self) -> None:
        """End all of it: SIGTERM, and SIGKILL after `GRACE` seconds.

        Cancelling this leaves processes that may still run; `kill` ends them.
        """
        for number, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, _DYING)):
            self._send(number)
            self._send(signal.SIGCONT)  # a stopped process ends only when it goes on
            deadline = time.monotonic() + patience
            while time.monotonic() < deadline:
                if self._is_gone():
                    self._is_over = True
                    return
                await asyncio.sleep(_POLL)

    def kill(self) -> None:
        """End all of it at once, and reap the leader; nothing if `end` has done so."""
        if self._is_over:
            return
        self._is_killed = True
        self._send(signal.SIGKILL)
        if not self.has_exited():
            try:
                self._leader.wait(timeout=_DYING)
            except subprocess.TimeoutExpired:  # in the middle of a system call that cannot be interrupted
                threading.Thread(target=self._leader.wait, daemon=True).start()
            _unfinished.discard(self)
        self._reap_adopted()

    def _send(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader.pid, number)

    def _is_gone(self) -> bool:
        if not self.has_exited():
            return False
        self._reap_adopted()
        try:
            os.killpg(self._leader.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return not _is_any_alive(self._leader.pid)

    def _reap_adopted(self) -> None:
        # Orphans are adopted by process 1, which in a container may be this program.
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-self._leader.pid, os.WNOHANG)[0]:
                pass


def _is_any_alive(group: int) -> bool:
    """Whether the group has more than zombies, which stay until process 1 waits for them; in doubt, yes."""
    stats = list(Path("/proc").glob("[0-9]*/stat"))
    for stat in stats:
        with contextlib.suppress(OSError):
            # proc_pid_stat(5): pid (name) state ppid pgrp, and a name may hold anything.
            state, _, its_group = stat.read_bytes().rpartition(b")")[2].split()[:3]
            if int(its_group) == group and state not in {b"Z", b"X"}:
                return True
    return not stats


def _kill_unfinished() -> None:
    for group in tuple(_unfinished):
        group.kill()


# A loop in a daemon thread gets no chance to end what it started; a forked child must not end its parent's commands.
atexit.register(_kill_unfinished)
os.register_at_fork(after_in_child=_unfinished.clear)
