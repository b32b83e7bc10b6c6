"""All tools of a UTCP source as LangChain tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from langchain_core.tools import BaseTool, BaseToolkit
from pydantic import PrivateAttr

from langchain_utcp_toolkit.tool import UTCPTool
from utcp_bridge import Toolset
from utcp_bridge.closing import ToolsetHolder

if TYPE_CHECKING:
    from typing import Unpack

    from utcp_bridge.options import OptionsDict


def load_tools(source: Any, **options: Unpack[OptionsDict]) -> list[UTCPTool]:
    """Load all tools of a source, from any thread, also inside a running loop.

    What the tools hold is released when the last of them goes; use `UTCPToolkit` to say when.

    Args:
        source: What `Toolset.open` takes (a path, a dict, a `UtcpClientConfig`, a `UtcpClient`), or an open `Toolset`.
        **options: See `utcp_bridge.Options`; none beside an open toolset, which has its own.

    Returns:
        The tools, sorted by name.

    Raises:
        ConfigError: The source cannot be read, or an option is unknown or has a wrong value.
        DiscoveryError: A manual failed and `on_failure` is `"raise"`.

    Example:
        ```python
        tools = load_tools("utcp.json", include=["weather.*"])
        ```
    """
    return _tools(Toolset.of(source, **options))


async def aload_tools(source: Any, **options: Unpack[OptionsDict]) -> list[UTCPTool]:
    """The same as `load_tools`, from async code."""
    return _tools(await Toolset.aof(source, **options))


def _tools(toolset: Toolset) -> list[UTCPTool]:
    return [UTCPTool(bridged) for bridged in toolset.tools.values()]


class UTCPToolkit(BaseToolkit, ToolsetHolder):
    """The tools of a UTCP source, open until `close`; takes and raises what `load_tools` does.

    An open `Toolset` that was handed in stays open when the toolkit is closed.

    Example:
        ```python
        with UTCPToolkit("utcp.json", timeout=10) as toolkit:
            agent = create_agent("openai:gpt-4o-mini", toolkit.get_tools())

        async with await UTCPToolkit.aopen("utcp.json") as toolkit:
            ...
        ```
    """

    _toolset: Toolset = PrivateAttr()
    _owns_it: bool = PrivateAttr()

    def __init__(self, source: Any, **options: Unpack[OptionsDict]) -> None:
        super().__init__()
        self._owns_it = not isinstance(source, Toolset)
        self._toolset = Toolset.of(source, **options)

    @classmethod
    async def aopen(cls, source: Any, **options: Unpack[OptionsDict]) -> Self:
        """Open a toolkit from async code; see the class."""
        toolkit = cls(await Toolset.aof(source, **options))
        toolkit._owns_it = not isinstance(source, Toolset)
        return toolkit

    def get_tools(self) -> list[BaseTool]:
        """The tools, sorted by name; after `toolset.refresh()` the new ones."""
        return [*_tools(self._toolset)]

    @property
    def toolset(self) -> Toolset:
        """The open connection: to refresh, to search, and to call without LangChain."""
        return self._toolset

    def _opened_here(self) -> Toolset | None:
        return self._toolset if self._owns_it else None
