"""The time of an import, in fresh interpreters."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.figures import Figure, amount
from benchmarks.measuring import Effort, Work, in_turns

_UPSTREAM = "import utcp.utcp_client"
_IMPORTS = {
    "import utcp_bridge": 50.0,
    "from utcp_bridge import Toolset": None,
    "from langchain_utcp_toolkit import load_tools": None,
    "from llama_index.tools.utcp import UTCPToolSpec": None,
    "from ovos_utcp_toolbox import UTCPToolBox": None,
    "from langchain_core.tools import StructuredTool": None,
    "from llama_index.core.tools import FunctionTool": None,
    "from ovos_plugin_manager.templates.agent_tools import ToolBox": None,
}


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure our packages, and what they are made for beside them."""
    ours = dict(itertools.islice(_IMPORTS.items(), effort.imports))
    sides = {statement: _seconds_of(statement) for statement in (_UPSTREAM, *ours)}
    rounds = in_turns(sides, rounds=max(1, effort.rounds // 5), calls=1)
    for statement, most in ours.items():
        yield amount("Imports", f"`{statement}`", rounds, statement, _UPSTREAM, unit="ms", at_most=most)


def _seconds_of(statement: str) -> Work:
    program = f"import time; start = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"
    if statement == "import utcp_bridge":
        program += "\nimport sys; assert 'utcp' not in sys.modules"
    command = [sys.executable, "-W", "ignore", "-c", program]

    def work(calls: int) -> float:
        ran = [
            subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - the imports above
            for _ in range(calls)
        ]
        return sum(float(run.stdout.splitlines()[-1]) for run in ran)

    return work
