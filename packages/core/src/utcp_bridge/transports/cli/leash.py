"""What ends a command with this program, even where the program dies without a chance to end it.

A command has a process group of its own, so that neither the signal that ends the program reaches it nor the hang-up
of the program's terminal. PR_SET_PDEATHSIG is of no use: the child would have to set it, it is sent when the thread
ends that started the child, and it reaches the shell alone. Instead the kernel watches a pipe that is asked for
signals, F_SETOWN in fcntl(2): all files of a process that dies are closed, and for the reader of a pipe it is an event
that the last writer has gone. The reader must still be there then, which depends on the order in which Linux closes
the files of the dead: since 4.4, those with higher numbers first.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys

_held: set[Leash] = set()


class Leash:
    """Ends a process group by SIGKILL when this program dies, until it is released. Does nothing but on Linux.

    Args:
        group: The process group, which must exist.
    """

    def __init__(self, group: int) -> None:
        self._pipe: tuple[int, ...] = ()
        if sys.platform != "linux":
            return
        reader, writer = os.pipe()
        if writer < reader:  # another thread has closed a file just then
            low, writer = writer, fcntl.fcntl(writer, fcntl.F_DUPFD_CLOEXEC, reader)
            os.close(low)
        self._pipe = (reader, writer)
        _held.add(self)
        with contextlib.suppress(OSError):  # a sandbox may forbid it
            fcntl.fcntl(reader, fcntl.F_SETOWN, -group)
            fcntl.fcntl(reader, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)

    def release(self) -> None:
        """Let the group live on; a second time does nothing."""
        if self._pipe:
            # Not by closing alone: a forked child may have the same pipe for a moment.
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._pipe[0], fcntl.F_SETFL, 0)
            self.close()

    def close(self) -> None:
        """Close the pipe, and let it tell of that if nobody else has it."""
        _held.discard(self)
        pipe, self._pipe = self._pipe, ()
        for fd in reversed(pipe):  # the writer first
            os.close(fd)


def _close_in_child() -> None:
    # While a forked child has the writer, its parent's death is not noticed; it may have died already.
    for leash in tuple(_held):
        leash.close()


os.register_at_fork(after_in_child=_close_in_child)
