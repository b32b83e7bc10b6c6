"""What the system says of processes."""

from __future__ import annotations

import shutil
import subprocess
import time

PS = shutil.which("ps") or "ps"


def is_running(pid: int) -> bool:
    """Whether a process is there and is more than a zombie that process 1 has not waited for yet."""
    state = subprocess.run([PS, "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


def is_gone(pid: int, *, within: float = 5) -> bool:
    """Whether a process that was killed is gone; a busy kernel takes its time (seconds; default 5)."""
    deadline = time.monotonic() + within
    while is_running(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
