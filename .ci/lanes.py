"""Run tests in environments of their own: the lowest versions of the frameworks, and `utcp-mcp` with a real MCP server.

`python .ci/lanes.py` runs them all, `python .ci/lanes.py mcp` one of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = os.environ.get("UV", "uv")  # `uv run` tells where uv itself lies
TOOLS = ("pytest", "pytest-asyncio", "hypothesis")


@dataclass(frozen=True, slots=True)
class Lane:
    """An environment, and the tests that run in it."""

    packages: tuple[str, ...]
    requirements: tuple[str, ...]
    tests: tuple[str, ...]
    prerelease: bool = False


LANES = {
    "langchain-lowest": Lane(
        packages=("core", "langchain"),
        requirements=("langchain-core==0.3.78", "langchain-tests<1", "langgraph<1"),
        tests=("tests/langchain", "tests/contract", "-k", "langchain", "-W", "ignore:The default value of"),
    ),
    "llamaindex-lowest": Lane(
        packages=("core", "llamaindex"),
        requirements=("llama-index-core==0.12.50",),
        tests=(
            "tests/llamaindex",
            "tests/contract",
            "-k",
            "llama",
            "-W",
            "ignore::pydantic.warnings.UnsupportedFieldAttributeWarning",
        ),
    ),
    "ovos-lowest": Lane(
        packages=("core", "ovos"),
        requirements=(
            "ovos-plugin-manager>=2.12.0a1,<3",
            "ovos-agentic-loop>=0.2.4a1,<1",
            "ovos-persona>=0.9.0a20,<1",
        ),
        tests=("tests/ovos", "tests/contract", "-k", "ovos"),
        prerelease=True,
    ),
    "mcp": Lane(
        packages=("core",),
        requirements=("utcp-mcp>=1.2,<2",),
        tests=("tests/core/test_mcp.py",),
    ),
}


def run(name: str) -> bool:
    """Run one lane; returns whether its tests passed."""
    lane = LANES[name]
    command = [UV, "run", "--quiet", "--isolated", "--no-project", "--python", sys.executable]
    command += ["--prerelease", "allow"] if lane.prerelease else []
    for package in lane.packages:
        command += ["--with-editable", f"packages/{package}"]
    for requirement in (*lane.requirements, *TOOLS):
        command += ["--with", requirement]
    command += ["python", "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *lane.tests]
    sys.stdout.write(f"-- {name}: {', '.join(lane.requirements)}\n")
    sys.stdout.flush()
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    failed = [name for name in sys.argv[1:] or LANES if not run(name)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
