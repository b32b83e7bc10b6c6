"""Run tests in environments of their own.

The lowest versions of the frameworks; `utcp-mcp` with a real MCP server; upstream's own tests on our protocols.

`python .ci/lanes.py` runs them all, two at a time, `python .ci/lanes.py mcp` one of them; the output of each is shown
when it has ended. A lane whose packages the registry does not give now is not run, which is said at the end, and is no
failure; versions that do not go together are one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = os.environ.get("UV", "uv")  # `uv run` tells where uv itself lies
TOOLS = ("pytest", "pytest-asyncio", "hypothesis")
FIXTURES = ("-o", "asyncio_default_fixture_loop_scope=function")
UPSTREAM = ("utcp-http==1.1.15", "utcp-cli==1.1.5")


@dataclass(frozen=True, slots=True)
class Lane:
    """An environment, and the tests that run in it.

    Attributes:
        packages: Packages of this workspace, by folder.
        requirements: What is installed beside them.
        tests: Arguments for pytest.
        prerelease: Whether versions before a release may be installed.
        sources: Requirements whose source distributions hold more tests, which run in one go with `tests`.
    """

    packages: tuple[str, ...]
    requirements: tuple[str, ...]
    tests: tuple[str, ...]
    prerelease: bool = False
    sources: tuple[str, ...] = ()


# The slowest come first, so that none is left to run alone.
LANES = {
    "mcp": Lane(
        packages=("core",),
        requirements=("utcp-mcp>=1.2,<2",),
        tests=("tests/core/test_mcp.py",),
    ),
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
    "upstream": Lane(
        packages=("core",),
        requirements=(*UPSTREAM, "pytest-aiohttp"),
        # The plugin puts our classes in the place of theirs, and knows where ours differ.
        tests=("-p", "tests.upstream.substitution", "--disable-warnings", "-o", "asyncio_mode=auto", *FIXTURES),
        sources=UPSTREAM,
    ),
}


class Outcome(StrEnum):
    """How a lane ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not run, because its packages could not be had"


class NotPossibleError(Exception):
    """A lane's packages cannot be installed.

    Attributes:
        outcome: `NOT_RUN`, or `FAILED` where the versions that the lane needs do not go together.
        output: What uv or pip said.
    """

    def __init__(self, outcome: Outcome, output: str) -> None:
        super().__init__(output)
        self.outcome = outcome
        self.output = output


def run(name: str) -> tuple[Outcome, str]:
    """Run one lane; returns how it ended, and its output."""
    try:
        passed, output = _run_tests(LANES[name])
    except NotPossibleError as error:
        return error.outcome, error.output
    return Outcome.PASSED if passed else Outcome.FAILED, output


def _run_tests(lane: Lane) -> tuple[bool, str]:
    python = [UV, "run", "--quiet", "--isolated", "--no-project", "--python", sys.executable]
    python += ["--prerelease", "allow"] if lane.prerelease else []
    for package in lane.packages:
        python += ["--with-editable", str(ROOT / "packages" / package)]
    for requirement in (*lane.requirements, *TOOLS):
        python += ["--with", requirement]
    python += ["python"]
    _get([*python, "-c", "pass"])
    tests = [*python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *lane.tests]
    if not lane.sources:
        return _outcome_of(tests, ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        tests += ["--import-mode=importlib", "--rootdir", scratch, *map(str, tests_of(lane.sources, Path(scratch)))]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return _outcome_of(tests, Path(scratch), environment)


def _outcome_of(tests: list[str], folder: Path, environment: dict[str, str] | None = None) -> tuple[bool, str]:
    ran = subprocess.run(
        tests, cwd=folder, env=environment, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return ran.returncode == 0, ran.stdout


def tests_of(sources: tuple[str, ...], scratch: Path) -> list[Path]:
    """Download source distributions and unpack them; returns their folders of tests."""
    download = [UV, "run", "--quiet", "--isolated", "--no-project", "--python", sys.executable, "--with", "pip"]
    download += ["python", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    _get([*download, "--no-binary", ":all:", "--dest", str(scratch), *sources])
    folders = []
    for archive in sorted(scratch.glob("*.tar.gz")):
        with tarfile.open(archive) as opened:
            opened.extractall(scratch, filter="data")
        folders.append(scratch / archive.name.removesuffix(".tar.gz") / "tests")
    return folders


def _get(command: list[str]) -> None:
    got = subprocess.run(command, cwd=ROOT, check=False, stderr=subprocess.PIPE, text=True)
    if got.returncode:
        # Without a solution, the ranges of our own packages, or the versions that a lane names, contradict each other.
        is_conflict = "No solution found" in got.stderr
        raise NotPossibleError(Outcome.FAILED if is_conflict else Outcome.NOT_RUN, got.stderr)


def main(names: list[str]) -> None:
    """Run these lanes, or all; exits with a message if tests failed."""
    if unknown := [name for name in names if name not in LANES]:
        sys.exit(f"there is no lane {', '.join(unknown)}; there are {', '.join(LANES)}")
    chosen = names or list(LANES)
    ended: dict[Outcome, list[str]] = {outcome: [] for outcome in Outcome}
    with ThreadPoolExecutor(max_workers=2) as lanes:
        for name, (outcome, output) in zip(chosen, lanes.map(run, chosen), strict=True):
            sys.stdout.write(f"-- {name}: {', '.join(LANES[name].requirements)}\n{output}-- {name}: {outcome}\n")
            sys.stdout.flush()
            ended[outcome].append(name)
    if not_run := ended[Outcome.NOT_RUN]:
        sys.stdout.write(f"{Outcome.NOT_RUN}: {', '.join(not_run)}\n")
    if failed := ended[Outcome.FAILED]:
        sys.exit(f"{Outcome.FAILED}: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
