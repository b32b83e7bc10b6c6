"""Run tests in environments of their own.

The lowest versions of the frameworks; `utcp-mcp` with a real MCP server; upstream's own tests on our protocols.

`python .ci/lanes.py` runs them all, `python .ci/lanes.py mcp` one of them. A lane whose packages the registry does not
give now was not run, which is said at the end. Versions that do not go together are a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
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
    "upstream": Lane(
        packages=("core",),
        requirements=(*UPSTREAM, "pytest-aiohttp"),
        # The plugin puts our classes in the place of theirs, and knows where ours differ.
        tests=("-p", "tests.upstream.substitution", "--disable-warnings", "-o", "asyncio_mode=auto", *FIXTURES),
        sources=UPSTREAM,
    ),
}


class NotRunError(Exception):
    """The registry did not give a lane's packages."""


class VersionConflictError(Exception):
    """The versions that a lane needs do not go together."""


def run(name: str) -> bool:
    """Run one lane; returns whether its tests passed.

    Raises:
        NotRunError: Its packages could not be had.
        VersionConflictError: Its packages do not go together.
    """
    lane = LANES[name]
    python = [UV, "run", "--quiet", "--isolated", "--no-project", "--python", sys.executable]
    python += ["--prerelease", "allow"] if lane.prerelease else []
    for package in lane.packages:
        python += ["--with-editable", str(ROOT / "packages" / package)]
    for requirement in (*lane.requirements, *TOOLS):
        python += ["--with", requirement]
    python += ["python"]
    sys.stdout.write(f"-- {name}: {', '.join(lane.requirements)}\n")
    sys.stdout.flush()
    _get([*python, "-c", "pass"])
    tests = [*python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", *lane.tests]
    if not lane.sources:
        return subprocess.run(tests, cwd=ROOT, check=False).returncode == 0
    with tempfile.TemporaryDirectory() as scratch:
        tests += ["--import-mode=importlib", "--rootdir", scratch, *map(str, tests_of(lane.sources, Path(scratch)))]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(tests, cwd=scratch, env=environment, check=False).returncode == 0


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
        sys.stderr.write(got.stderr)
        # Then the ranges of our own packages, or the versions that a lane names, contradict each other.
        if "No solution found" in got.stderr:
            raise VersionConflictError
        raise NotRunError


def main(names: list[str]) -> None:
    """Run these lanes, or all; exits with a message if tests failed."""
    failed, not_run = [], []
    for name in names or LANES:
        try:
            if not run(name):
                failed.append(name)
        except VersionConflictError:
            failed.append(name)
        except NotRunError:
            not_run.append(name)
    if not_run:
        sys.stdout.write(f"NOT RUN, because their packages could not be had: {', '.join(not_run)}\n")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
