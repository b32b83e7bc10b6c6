"""What an import loads, seen in a fresh interpreter."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FRAMEWORKS = {"langchain", "langchain_core", "langgraph", "llama_index", "ovos_plugin_manager"}
UPSTREAM = {"utcp", "utcp_cli", "utcp_http"}


def _loaded_by(code: str) -> set[str]:
    program = f"{code}\nimport json, sys\nprint(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return set(json.loads(ran.stdout))


def test_importing_the_core_loads_neither_utcp_nor_a_framework() -> None:
    assert not _loaded_by("import utcp_bridge") & (FRAMEWORKS | UPSTREAM | {"aiohttp", "pydantic"})


@pytest.mark.parametrize("name", ["Toolset", "BridgedTool", "ToolResult", "DiscoveryReport", "normalise", "errors"])
def test_every_public_name_can_be_imported_first_without_a_framework(name: str) -> None:
    assert not _loaded_by(f"from utcp_bridge import {name}\nassert {name}.__name__.endswith('{name}')") & FRAMEWORKS


def test_the_public_names_stay_what_they_are_whatever_was_imported_before() -> None:
    _loaded_by("import utcp_bridge.toolset, utcp_bridge.results\nfrom utcp_bridge import normalise\nnormalise('x')")


def test_opening_a_toolset_leaves_the_root_logger_alone() -> None:
    code = """
import asyncio, logging
from utcp_bridge import Toolset
async def main():
    async with await Toolset.aopen({}):
        pass
asyncio.run(main())
assert not logging.root.handlers and logging.root.level == logging.WARNING
"""
    assert _loaded_by(code) >= UPSTREAM
