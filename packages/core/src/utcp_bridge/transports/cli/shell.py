"""Runs a script in a shell, step by step, and reads what it writes."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from utcp_bridge.transports.cli.leash import Leash
from utcp_bridge.transports.cli.process_group import ProcessGroup
from utcp_bridge.transports.cli.script import ShellScript

_CHUNK = 256 * 1024
# The most that a pipe holds, /proc/sys/fs/pipe-max-size.
_PIPE_CAPACITY = 1024 * 1024
# Away from the numbers that scripts use themselves, such as 9 and 200 for flock(1).
_FIRST_PIPE = 100

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a script came to.

    Attributes:
        exit_code: Its exit code; 128 + n if signal n ended it, as shells count.
        outputs: What each step that was begun wrote to standard output.
        stderr: What all of them wrote to standard error.
    """

    exit_code: int
    outputs: tuple[bytes, ...]
    stderr: bytes


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a script had come to when it was cancelled.

    Attributes:
        exit_code: Its exit code, if the shell had ended and something else held its output; else None.
        outputs: What each step that was begun had written to standard output.
        stderr: What all of them had written to standard error.
        latest: When the last of that was read, by `time.monotonic`.
    """

    exit_code: int | None
    outputs: tuple[bytes, ...]
    stderr: bytes
    latest: float


class OutputTooLargeError(Exception):
    """A script wrote more than it may and was ended; holds what it wrote up to there."""

    def __init__(self, outputs: tuple[bytes, ...], stderr: bytes) -> None:
        super().__init__("too much output")
        self.outputs = outputs
        self.stderr = stderr


async def run_shell(
    script: ShellScript,
    *,
    shell: str,
    environment: Mapping[bytes, bytes],
    working_dir: str | None,
    max_output: int,
    tell: Callable[[Unfinished], object],
) -> Finished:
    """Run a script in a process group of its own: without a terminal, and with an empty standard input.

    It is over when the shell has ended and all that it started has closed standard output and error, as with `$(...)`:
    a process that shall outlive the call must redirect both. If this is cancelled, or too much is written, the whole
    process group is ended before this returns; a second cancellation ends it without grace. A process that has left
    the group, as by setsid(1), is not found.

    Args:
        script: The script.
        shell: Path of bash.
        environment: The whole environment.
        working_dir: Where to start; None for the current directory.
        max_output: The most bytes of standard output and error together.
        tell: Is told what there is when this is cancelled, before anything is ended: nothing is returned then.

    Raises:
        OutputTooLargeError: It wrote more than `max_output`.
        OSError: It could not be started.
    """
    run = _Run(max_output)
    try:
        group = run.start(script, shell, environment, working_dir)
        try:
            await run.finished(group)
        except (asyncio.CancelledError, OutputTooLargeError) as error:
            if isinstance(error, asyncio.CancelledError):
                tell(run.unfinished(group))
            await group.end()
            raise
        finally:
            if not run.is_finished:
                group.kill()
    finally:
        run.close()
    return Finished(group.exit_code, run.outputs, run.stderr)


class _Run:
    """The pipes to and from one shell."""

    def __init__(self, max_output: int) -> None:
        self.is_finished = False
        self._loop = asyncio.get_running_loop()
        self._silent = asyncio.Event()  # both outputs are closed, or too much was written
        self._steps = [bytearray()]
        self._errors = bytearray()
        self._latest = time.monotonic()
        self._room = max_output
        self._too_large = False
        self._stdout = self._stderr = self._control = -1
        self._feeds: list[int] = []
        self._leash: Leash | None = None
        self._open: set[int] = set()  # our ends of pipes
        self._watched: dict[int, Callable[[int], object]] = {}  # those that the loop watches, and how it stops

    @property
    def outputs(self) -> tuple[bytes, ...]:
        return tuple(map(bytes, self._steps))

    @property
    def stderr(self) -> bytes:
        return bytes(self._errors)

    def start(
        self, script: ShellScript, shell: str, environment: Mapping[bytes, bytes], working_dir: str | None
    ) -> ProcessGroup:
        theirs: list[int] = []
        try:
            self._stdout, stdout = self._output_pipe(theirs)
            self._stderr, stderr = self._output_pipe(theirs)
            passed: list[int] = []
            control = -1
            if len(script.steps) > 1:
                self._control, low = self._output_pipe(theirs)
                control = _moved_up(low, theirs)
                passed.append(control)
            feeds = [self._input_pipe(theirs) for _ in range(script.pipes)]
            has_terminal = _has_terminal()
            # Popen and not an event loop's own: see `process_group`.
            leader = subprocess.Popen(  # noqa: S603 - to run what the template says is the purpose
                ["bash", "-c", "--", script.source(control, feeds)],  # noqa: S607 - `executable` has the path
                executable=shell,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=environment,
                cwd=working_dir,
                pass_fds=[*passed, *feeds],
                # A new session takes the terminal away, but Linux schedules each session as a group of its own
                # (sched(7), autogroup): on a busy machine that nearly doubles the time of a short command.
                start_new_session=has_terminal,
                process_group=None if has_terminal else 0,
            )
        finally:
            for fd in theirs:
                os.close(fd)
        group = ProcessGroup(leader)
        self._leash = Leash(leader.pid)
        self._watch(self._stdout, lambda: self._read(self._stdout, self._steps[-1]))
        self._watch(self._stderr, lambda: self._read(self._stderr, self._errors))
        if self._control >= 0:
            self._watch(self._control, self._end_step)
        for text in script.long_values.values():
            self._feed(text.encode() + b"x")
        return group

    async def finished(self, group: ProcessGroup) -> None:
        await self._silent.wait()
        if self._too_large:
            raise OutputTooLargeError(self.outputs, self.stderr)
        await group.wait()
        self.is_finished = True

    def unfinished(self, group: ProcessGroup) -> Unfinished:
        exit_code = None
        if not self._silent.is_set() and group.has_exited():
            exit_code = group.exit_code
            _logger.warning(
                "A command was stopped although its shell had ended, with exit code %d: a process that it had left in "
                "the background still held its output. Redirect that (`>/dev/null 2>&1 &`) to let it run on.",
                exit_code,
            )
        return Unfinished(exit_code, self.outputs, self.stderr, self._latest)

    def close(self) -> None:
        if self._leash is not None:
            self._leash.release()
        for fd in tuple(self._open):
            self._shut(fd)

    def _output_pipe(self, theirs: list[int]) -> tuple[int, int]:
        reader, writer = os.pipe()
        theirs.append(writer)
        self._open.add(reader)
        os.set_blocking(reader, False)
        return reader, writer

    def _input_pipe(self, theirs: list[int]) -> int:
        reader, writer = os.pipe()
        theirs.append(reader)
        self._open.add(writer)
        self._feeds.append(writer)
        os.set_blocking(writer, False)
        return _moved_up(reader, theirs)

    def _watch(self, fd: int, callback: Callable[[], object]) -> None:
        self._loop.add_reader(fd, callback)
        self._watched[fd] = self._loop.remove_reader

    def _read(self, fd: int, buffer: bytearray) -> int:
        """Read a chunk of what is there, and say how long it was."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return 0
        if not data:
            self._shut(fd)
            if self._open.isdisjoint({self._stdout, self._stderr}):
                self._silent.set()
            return 0
        self._latest = time.monotonic()
        buffer += data[: self._room]
        self._room -= len(data)
        if self._room < 0:
            # Reading goes on, so that what is told to end is not held up by a full pipe.
            self._room = 0
            self._too_large = True
            self._silent.set()
        return len(data)

    def _end_step(self) -> None:
        """A step has ended: all that it wrote is in the pipe, and the shell waits until it is fed with it."""
        if not os.read(self._control, 1):
            self._shut(self._control)
            return
        step, drained = self._steps[-1], 0
        while self._stdout in self._open and drained < _PIPE_CAPACITY:
            length = self._read(self._stdout, step)
            drained += length
            if not length:
                break
        self._feed(bytes(step).replace(b"\0", b""))  # variables of bash hold no NUL
        self._steps.append(bytearray())

    def _feed(self, data: bytes) -> None:
        self._write(self._feeds.pop(0), memoryview(data))

    def _write(self, fd: int, data: memoryview) -> None:
        try:
            while data:
                data = data[os.write(fd, data) :]
        except BlockingIOError:
            self._loop.add_writer(fd, self._write, fd, data)
            self._watched[fd] = self._loop.remove_writer
        except BrokenPipeError:
            self._shut(fd)  # the shell ended without reading it
        else:
            self._shut(fd)

    def _shut(self, fd: int) -> None:
        stop_watching = self._watched.pop(fd, None)
        if stop_watching is not None and not self._loop.is_closed():
            stop_watching(fd)
        self._open.discard(fd)
        os.close(fd)


def _has_terminal() -> bool:
    """Whether this process has a terminal on which a command could ask its user something, and wait for ever."""
    try:
        os.close(os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _moved_up(fd: int, theirs: list[int]) -> int:
    """The same pipe under a number that no script uses."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_PIPE)
    theirs.append(high)
    return high
