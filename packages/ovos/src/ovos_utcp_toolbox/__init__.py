"""UTCP tools for OVOS personas, as a toolbox plugin of `ovos-plugin-manager`."""

from __future__ import annotations

from ovos_utcp_toolbox.toolbox import TOOLBOX_CONFIGS, UTCPToolBox
from ovos_utcp_toolbox.tools import AdapterToolOutput, UTCPTool

__all__ = ["TOOLBOX_CONFIGS", "AdapterToolOutput", "UTCPTool", "UTCPToolBox"]
