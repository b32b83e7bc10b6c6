"""Build every wheel, look into it, and import each one's public names where it is installed alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "utcp_bridge": "utcp_bridge",
    "ovos_utcp_toolbox": "ovos_utcp_toolbox",
    "langchain_utcp_toolkit": "langchain_utcp_toolkit",
    "llama_index_tools_utcp": "llama_index.tools.utcp",
}
# Modules of the standard library that OPM imports though they are deprecated.
OPM_IMPORTS = ("aifc", "audioop", "chunk")


def main() -> None:
    """Check them all; exits with the first fault."""
    with tempfile.TemporaryDirectory() as scratch:
        wheels = Path(scratch, "wheels")
        _uv("build", "--all-packages", "--quiet", "--out-dir", str(wheels))
        for distribution, module in PACKAGES.items():
            [wheel] = wheels.glob(f"{distribution}-*.whl")
            _check_content(wheel, module)
            _check_import(wheel, module, wheels, Path(scratch, distribution))
            sys.stdout.write(f"{wheel.name}: {module} can be imported alone\n")


def _check_content(wheel: Path, module: str) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    package = module.replace(".", "/")
    _require(f"{package}/py.typed" in names, f"{wheel.name} has no py.typed")
    _require(any(name.endswith("licenses/LICENSE") for name in names), f"{wheel.name} has no LICENSE")
    strays = [name for name in names if not name.startswith((f"{package}/", wheel.name.split("-")[0]))]
    _require(not strays, f"{wheel.name} holds what is not its own: {strays}")


def _check_import(wheel: Path, module: str, wheels: Path, environment: Path) -> None:
    _uv("venv", "--quiet", str(environment))
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    _uv("pip", "install", "--quiet", "--python", str(python), "--find-links", str(wheels), str(wheel))
    warnings = ["-W", "error", *(part for name in OPM_IMPORTS for part in ("-W", f"ignore:'{name}' is deprecated"))]
    subprocess.run([python, *warnings, "-c", f"from {module} import *"], check=True, cwd=environment)


def _uv(*arguments: str) -> None:
    # `uv run` tells where uv itself lies; it need not be on PATH.
    subprocess.run([os.environ["UV"], *arguments], check=True, cwd=ROOT)


def _require(condition: bool, failure: str) -> None:
    if not condition:
        sys.exit(failure)


if __name__ == "__main__":
    main()
