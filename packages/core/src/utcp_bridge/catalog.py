"""An immutable snapshot of the discovered tools, and what one snapshot changed against another."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from utcp_bridge.errors import ToolNotFoundError
from utcp_bridge.tools import BridgedTool


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tools of a toolset at one moment.

    Attributes:
        tools: The tools by the name that models are shown, sorted by name.
        by_utcp_name: The same tools by their UTCP names.
    """

    tools: Mapping[str, BridgedTool]
    by_utcp_name: Mapping[str, BridgedTool]

    @classmethod
    def of(cls, tools: Iterable[BridgedTool]) -> Catalog:
        """A snapshot of these tools."""
        in_order = sorted(tools, key=lambda tool: tool.name)
        return cls(
            MappingProxyType({tool.name: tool for tool in in_order}),
            MappingProxyType({tool.utcp_name: tool for tool in in_order}),
        )

    def find(self, name: str) -> BridgedTool:
        """The tool of this shown name or UTCP name.

        Raises:
            ToolNotFoundError: There is none; the message lists the closest names that models are shown.
        """
        tool = self.tools.get(name) or self.by_utcp_name.get(name)
        if tool is None:
            raise ToolNotFoundError(f"There is no tool {name!r}. {self._advice(name)}")
        return tool

    def _advice(self, name: str) -> str:
        if not self.tools:
            return "There are no tools."
        closest = difflib.get_close_matches(name, self.tools, n=3, cutoff=0.4)
        if closest:
            return f"The closest are: {', '.join(closest)}."
        few = list(self.tools)[:10]
        return f"The tools are: {', '.join(few)}{', ...' if len(self.tools) > len(few) else ''}."
