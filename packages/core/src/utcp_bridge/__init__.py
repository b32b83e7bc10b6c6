"""UTCP tools for any agent framework.

Importing this package loads neither `utcp` nor any framework: each name is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utcp_bridge import errors
    from utcp_bridge.discovery import DiscoveryReport
    from utcp_bridge.results import ToolResult, normalise
    from utcp_bridge.toolset import BridgedTool, Toolset

__all__ = ["BridgedTool", "DiscoveryReport", "ToolResult", "Toolset", "errors", "normalise"]

_HOMES = {
    "BridgedTool": "utcp_bridge.toolset",
    "DiscoveryReport": "utcp_bridge.discovery",
    "ToolResult": "utcp_bridge.results",
    "Toolset": "utcp_bridge.toolset",
    "normalise": "utcp_bridge.results",
}


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("utcp_bridge.errors")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
