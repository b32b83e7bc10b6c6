"""UTCP tools for any agent framework.

Importing this package loads neither `utcp` nor any framework: each name is imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utcp_bridge import errors
    from utcp_bridge.discovery import DiscoveryReport, ToolsetChanges
    from utcp_bridge.options import Options
    from utcp_bridge.results import ToolResult, normalise
    from utcp_bridge.tools import BridgedTool
    from utcp_bridge.toolset import Toolset

__all__ = [
    "BridgedTool",
    "DiscoveryReport",
    "Options",
    "ToolResult",
    "Toolset",
    "ToolsetChanges",
    "errors",
    "normalise",
]

_HOMES = {
    "BridgedTool": "utcp_bridge.tools",
    "DiscoveryReport": "utcp_bridge.discovery",
    "Options": "utcp_bridge.options",
    "ToolResult": "utcp_bridge.results",
    "Toolset": "utcp_bridge.toolset",
    "ToolsetChanges": "utcp_bridge.discovery",
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
