"""Subjects in interpreters of their own, so that none finds another's caches, and some with other packages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_MAX_SECONDS = 1800


class UnavailableError(Exception):
    """Something is missing that a subject needs, so it is not measured; the message says what."""


def run_module(module: str, *arguments: str, prefix: Sequence[str] = (sys.executable,)) -> list[Any]:
    """Run `python -m module arguments` and return the JSON values that it prints, one on each line.

    Args:
        module: The module.
        arguments: Its arguments.
        prefix: The command of the interpreter.

    Raises:
        UnavailableError: It failed; with the last line of what it said.
    """
    command = [*prefix, "-W", "ignore", "-m", module, *arguments]
    ran = subprocess.run(  # noqa: S603 - modules of this package
        command, cwd=ROOT, capture_output=True, text=True, timeout=_MAX_SECONDS, check=False
    )
    if ran.returncode:
        raise UnavailableError((ran.stderr.strip() or f"{module} ended with {ran.returncode}").splitlines()[-1])
    return [json.loads(line) for line in ran.stdout.splitlines()]


def environment_with(packages: Sequence[str], requirements: Sequence[str], *, prerelease: bool) -> list[str]:
    """The command of an interpreter in an environment made by uv.

    Args:
        packages: Folders of this workspace's packages.
        requirements: What else to install.
        prerelease: Whether pre-releases may be installed.

    Raises:
        UnavailableError: There is no uv.
    """
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        raise UnavailableError("there is no uv to make an environment with")
    command = [uv, "run", "--quiet", "--isolated", "--no-project", "--python", sys.executable]
    command += ["--prerelease", "allow"] if prerelease else []
    for package in packages:
        command += ["--with-editable", str(ROOT / "packages" / package)]
    for requirement in requirements:
        command += ["--with", requirement]
    return [*command, "python"]


@contextmanager
def trusting(certificate: Path) -> Iterator[None]:
    """Make OpenSSL's default contexts trust a certificate; aiohttp makes its own of them when it is imported."""
    if "aiohttp" in sys.modules:
        raise UnavailableError("aiohttp has been imported before its certificate could be trusted")
    before = os.environ.get("SSL_CERT_FILE")
    os.environ["SSL_CERT_FILE"] = str(certificate)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SSL_CERT_FILE"]
        else:
            os.environ["SSL_CERT_FILE"] = before
