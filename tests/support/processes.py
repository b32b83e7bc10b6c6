"""What the system says of processes."""

from __future__ import annotations

import shutil
import subprocess

PS = shutil.which("ps") or "ps"


def is_running(pid: int) -> bool:
    """Whether a process is there and is more than a zombie that process 1 has not waited for yet."""
    state = subprocess.run([PS, "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")
