"""What every distribution of the workspace has in common."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "core": "utcp_bridge",
    "ovos": "ovos_utcp_toolbox",
    "langchain": "langchain_utcp_toolkit",
    "llamaindex": "llama_index/tools/utcp",
}


def _project(package: str) -> dict[str, Any]:
    project = tomllib.loads((ROOT / "packages" / package / "pyproject.toml").read_text())["project"]
    assert isinstance(project, dict)
    return project


def test_the_workspace_has_these_packages() -> None:
    assert {path.name for path in (ROOT / "packages").iterdir()} == PACKAGES.keys()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_typed_licensed_and_released_in_lockstep(package: str) -> None:
    project, core_version = _project(package), _project("core")["version"]
    assert project["version"] == core_version
    assert (ROOT / "packages" / package / "src" / PACKAGES[package] / "py.typed").exists()
    assert (ROOT / "packages" / package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    if package != "core":
        assert f"utcp-bridge=={core_version}" in project["dependencies"]


def test_the_llama_index_namespace_has_no_init() -> None:
    namespace = ROOT / "packages" / "llamaindex" / "src" / "llama_index"
    assert {path.relative_to(namespace) for path in namespace.rglob("__init__.py")} == {Path("tools/utcp/__init__.py")}


@pytest.mark.parametrize("package", [package for package in PACKAGES if package != "core"])
def test_an_adapter_stays_small(package: str) -> None:
    """What is left to an adapter is the mapping; its part in the demo is not counted."""
    source = ROOT / "packages" / package / "src"
    modules = [path for path in source.rglob("*.py") if path.name != "demo.py"]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in modules) < 400


@pytest.mark.parametrize("package", PACKAGES)
def test_every_dependency_has_its_reason(package: str) -> None:
    reasons = (ROOT / "ARCHITECTURE.md").read_text()
    for requirement in _project(package)["dependencies"]:
        name = requirement.split(">")[0].split("=")[0]
        assert name == "utcp-bridge" or f"| `{name}` |" in reasons
