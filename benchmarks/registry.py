"""The subjects, in the order of the table, and the environments that some of them need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Environment:
    """What is installed beside packages of this workspace.

    Attributes:
        packages: Folders of this workspace's packages.
        requirements: What else is installed.
        prerelease: Whether pre-releases may be.
    """

    packages: tuple[str, ...]
    requirements: tuple[str, ...]
    prerelease: bool = False


SUBJECTS: Mapping[str, Environment | None] = {
    "calls": None,
    "tls": None,
    "http_protocol": None,
    "commands": None,
    "loading": None,
    "openapi": None,
    "memory": None,
    "importing": None,
    "schemas": None,
    "peer_langchain": Environment(("core", "langchain"), ("langchain-utcp-adapters==0.1.0",)),
    "peer_ovos": Environment(("core", "ovos"), ("ovos-tool-adapters[utcp]==0.1.2",), prerelease=True),
}
"""Modules of `benchmarks.subjects`; None where the project's own environment is what they need."""
