"""All tools of a UTCP source as LlamaIndex tools."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from llama_index.core.tools.types import DefaultToolFnSchema

from llama_index.tools.utcp.tool import UTCPTool
from utcp_bridge import BridgedTool, Options, Toolset
from utcp_bridge.closing import ToolsetHolder

if TYPE_CHECKING:
    from typing import Unpack

    from utcp_bridge.options import OptionsDict

Chosen: TypeAlias = Sequence[str | tuple[str, str]] | None
Replacements: TypeAlias = Mapping[str, ToolMetadata] | None


class UTCPToolSpec(BaseToolSpec, ToolsetHolder):
    """The tools of a UTCP source. It is opened on first use, and open until `close`.

    Without `close`, what the tools hold is released when the last of them goes.

    Args:
        source: What `Toolset.open` takes (a path, a dict, a `UtcpClientConfig`, a `UtcpClient`), or an open `Toolset`,
            which stays open when the spec is closed.
        **options: See `utcp_bridge.Options`; none beside an open toolset, which has its own.

    Raises:
        ConfigError: An option is unknown or has a wrong value. Whatever first opens the source raises it too, where
            the source cannot be read, and `DiscoveryError`, where a manual failed and `on_failure` is `"raise"`.

    Example:
        ```python
        tools = UTCPToolSpec("utcp.json", include=["weather.*"]).to_tool_list()

        async with UTCPToolSpec("utcp.json", timeout=10) as spec:
            agent = FunctionAgent(tools=await spec.to_tool_list_async(), llm=llm)
        ```
    """

    def __init__(self, source: Any, **options: Unpack[OptionsDict]) -> None:
        self._source = source
        self._options = options
        self._lock = threading.Lock()
        self._toolset = Toolset.of(source, **options) if isinstance(source, Toolset) else None
        Options.parse(options)  # a wrong one is told here rather than on first use

    def to_tool_list(
        self, spec_functions: Chosen = None, func_to_metadata_mapping: Replacements = None
    ) -> list[FunctionTool]:
        """The tools, sorted by name; after `toolset.refresh()` the new ones.

        Args:
            spec_functions: The names of the tools to give, in this order; default None, all. UTCP names are accepted.
            func_to_metadata_mapping: By a tool's name, what to show in place of the tool's own metadata. A name that
                is None and a `fn_schema` that is left at its default leave the tool's own.

        Returns:
            A `UTCPTool` each.

        Raises:
            ToolNotFoundError: `spec_functions` names a tool that is not there.
        """
        return _tools(self.toolset, spec_functions, func_to_metadata_mapping)

    async def to_tool_list_async(
        self, spec_functions: Chosen = None, func_to_metadata_mapping: Replacements = None
    ) -> list[FunctionTool]:
        """The same as `to_tool_list`, from async code."""
        return _tools(await self._aopened(), spec_functions, func_to_metadata_mapping)

    @property
    def toolset(self) -> Toolset:
        """The open connection: to refresh, to search, and to call without LlamaIndex."""
        if self._toolset is not None:
            return self._toolset
        opened = Toolset.open(self._source, **self._options)
        if (kept := self._kept(opened)) is not opened:
            opened.close()
        return kept

    async def _aopened(self) -> Toolset:
        if self._toolset is not None:
            return self._toolset
        opened = await Toolset.aopen(self._source, **self._options)
        if (kept := self._kept(opened)) is not opened:
            await opened.aclose()
        return kept

    def _kept(self, opened: Toolset) -> Toolset:
        # Where two callers open at the same time, the first one's is kept.
        with self._lock:
            self._toolset = self._toolset or opened
            return self._toolset

    def _opened_here(self) -> Toolset | None:
        return None if self._toolset is self._source else self._toolset

    def __enter__(self) -> Self:
        _ = self.toolset
        return self

    async def __aenter__(self) -> Self:
        await self._aopened()
        return self


def _tools(toolset: Toolset, names: Chosen, replacements: Replacements) -> list[FunctionTool]:
    chosen = [toolset.find(name if isinstance(name, str) else name[0]) for name in names or toolset.tools]
    return [_tool(bridged, replacements or {}) for bridged in chosen]


def _tool(bridged: BridgedTool, replacements: Mapping[str, ToolMetadata]) -> UTCPTool:
    shown = replacements.get(bridged.name) or replacements.get(bridged.utcp_name)
    if shown is None:
        return UTCPTool(bridged)
    fn_schema = None if shown.fn_schema is DefaultToolFnSchema else shown.fn_schema
    return UTCPTool(
        bridged, name=shown.name, description=shown.description, return_direct=shown.return_direct, fn_schema=fn_schema
    )
