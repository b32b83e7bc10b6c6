"""An immutable snapshot of the discovered tools, and the way to find one by any of its names."""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from utcp_bridge.errors import ToolNotFoundError
from utcp_bridge.tools import BridgedTool

_LONGEST_NAME = 200
_MOST_COMPARED = 500  # comparing two names takes tens of microseconds, and a catalogue may hold thousands
_SEPARATORS = re.compile(r"[\W_]+")


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

    def find(self, name: object) -> BridgedTool:
        """The tool of this shown name or UTCP name.

        Raises:
            ToolNotFoundError: There is none; the message lists the closest names that models are shown.
        """
        # Anything may come over a bus or from a model, also what no name can be.
        tool = (self.tools.get(name) or self.by_utcp_name.get(name)) if isinstance(name, str) else None
        if tool is None:
            raise ToolNotFoundError(f"There is no tool {_written(name)}. {self._advice(name)}")
        return tool

    def _advice(self, name: object) -> str:
        if not self.tools:
            return "There are no tools."
        closest = self._closest(name) if isinstance(name, str) else []
        if closest:
            return f"The closest are: {', '.join(closest)}."
        few = list(self.tools)[:10]
        return f"The tools are: {', '.join(few)}{', ...' if len(self.tools) > len(few) else ''}."

    def _closest(self, name: str) -> list[str]:
        """The names most like this one, whatever its case and its separators; of very many, only some are compared."""
        asked = _SEPARATORS.sub("_", name[:_LONGEST_NAME].casefold()).strip("_")
        by_key = {shown.casefold().replace("-", "_"): shown for shown in self.tools}
        near = by_key
        if len(by_key) > _MOST_COMPARED:
            parts = {asked[start : start + 3] for start in range(len(asked) - 2)}
            shared = {key: sum(part in key for part in parts) for key in by_key}
            near_keys = heapq.nlargest(_MOST_COMPARED, by_key, key=shared.__getitem__)
            near = {key: by_key[key] for key in near_keys}
        return [near[key] for key in difflib.get_close_matches(asked, near, n=3, cutoff=0.4)]


def _written(name: object) -> str:
    text = repr(name)
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."
