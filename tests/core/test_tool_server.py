"""The tool server for users' own tests, where it differs from a plain server."""

from __future__ import annotations

import subprocess
import sys

LEFT_RUNNING = """
from utcp_bridge.testing import ServedTool, ToolServer

def served():
    with ToolServer([ServedTool("t", "T", {}, lambda arguments: arguments)]) as server:
        yield server

kept = served()
assert next(kept).base_url
"""


def test_a_server_that_nobody_stopped_does_not_hold_up_the_end_of_the_program() -> None:
    ran = subprocess.run([sys.executable, "-c", LEFT_RUNNING], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
