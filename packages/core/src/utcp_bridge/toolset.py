"""The facade: an open connection to all manuals of one source."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, TracebackType
from typing import Any, Literal, Self

import aiohttp

from utcp_bridge.config import Source, load_config
from utcp_bridge.discovery import DiscoveryReport, discover, raise_if_failed
from utcp_bridge.errors import (
    RunnerError,
    ToolCallError,
    ToolExecutionError,
    ToolNotFoundError,
    ToolTimeoutError,
    ToolTransportError,
)
from utcp_bridge.naming import DEFAULT_MAX_LENGTH, shown_names
from utcp_bridge.results import DEFAULT_MAX_CHARS, ToolResult, normalise
from utcp_bridge.transports.client import Client, DiscoveredTool

DEFAULT_TIMEOUT = 30.0
_SAFE_HTTP_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})  # RFC 9110, section 9.2.1


@dataclass(frozen=True, slots=True)
class BridgedTool:
    """One tool, framework-neutral.

    Attributes:
        name: The name that models are shown.
        utcp_name: The name that UTCP knows, `manual.tool`.
        manual: The manual that the tool comes from.
        description: What the tool does; never empty.
        tags: Its tags.
        input_schema: JSON Schema of its arguments, an object schema with `properties`.
        output_schema: JSON Schema of its reply, empty if the manual gives none.
        read_only: Whether a call changes nothing, as far as the manual tells.
        destructive: Whether a call deletes something, as far as the manual tells.
    """

    name: str
    utcp_name: str
    manual: str
    description: str
    tags: tuple[str, ...]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    read_only: bool
    destructive: bool
    _toolset: Toolset = field(repr=False, compare=False)

    async def acall(self, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call the tool; see `Toolset.acall`."""
        return await self._toolset.acall(self.utcp_name, arguments)


class Toolset:
    """The tools of one source, ready to be called. Make it with `aopen`, and close it."""

    def __init__(
        self,
        client: Client,
        discovered: tuple[DiscoveredTool, ...],
        report: DiscoveryReport,
        *,
        timeout: float,
        on_tool_error: Literal["return", "raise"],
        max_chars: int | None,
        max_name_length: int,
    ) -> None:
        names = shown_names((tool.utcp_name for tool in discovered), max_name_length)
        tools = sorted((self._bridged(tool, names[tool.utcp_name]) for tool in discovered), key=lambda tool: tool.name)
        self.report = report
        self.tools: Mapping[str, BridgedTool] = MappingProxyType({tool.name: tool for tool in tools})
        self._by_utcp_name = {tool.utcp_name: tool for tool in tools}
        self._client = client
        self._timeout = timeout
        self._on_tool_error = on_tool_error
        self._max_chars = max_chars
        self._closed = False

    @classmethod
    async def aopen(
        cls,
        source: Source,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        discovery_timeout: float = DEFAULT_TIMEOUT,
        on_failure: Literal["skip", "raise"] = "skip",
        on_tool_error: Literal["return", "raise"] = "return",
        max_chars: int | None = DEFAULT_MAX_CHARS,
        max_name_length: int = DEFAULT_MAX_LENGTH,
    ) -> Self:
        """Load all manuals of a source.

        Args:
            source: The path of a UTCP client configuration (JSON), or the configuration itself.
            timeout: The limit of a call, in seconds; default 30.
            discovery_timeout: The limit for each manual, in seconds; default 30.
            on_failure: `"skip"` (default) leaves out manuals that fail, and says so in `report`;
                `"raise"` raises one error for all of them.
            on_tool_error: `"return"` (default) makes a failed call a result with `is_error`;
                `"raise"` raises a `ToolCallError`.
            max_chars: The most characters of a result's `content`; default 40,000; None never cuts.
            max_name_length: The most characters of a tool's name; default 64.

        Returns:
            The open toolset.

        Raises:
            ConfigError: The source cannot be read or has a wrong shape.
            DiscoveryError: A manual failed and `on_failure` is `"raise"`.
        """
        config = load_config(source)
        client = await Client.create(config)
        try:
            found = await discover(client, config["manual_call_templates"], timeout=discovery_timeout)
            if on_failure == "raise":
                raise_if_failed(found.report)
            return cls(
                client,
                found.tools,
                found.report,
                timeout=timeout,
                on_tool_error=on_tool_error,
                max_chars=max_chars,
                max_name_length=max_name_length,
            )
        except BaseException:
            await client.close()
            raise

    async def acall(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call a tool.

        Args:
            name: The name that models are shown, or the UTCP name.
            arguments: The arguments by name; None for none.

        Returns:
            The result; one with `is_error` if the call failed and `on_tool_error` is `"return"`.

        Raises:
            RunnerError: The toolset is closed.
            ToolCallError: The call failed and `on_tool_error` is `"raise"`.
        """
        if self._closed:
            raise RunnerError(f"The toolset is closed; open a new one to call {name!r}.")
        try:
            return await self._call(self._find(name), dict(arguments or {}))
        except ToolCallError as error:
            if self._on_tool_error == "raise":
                raise
            return ToolResult(str(error), is_error=True, raw=[{"type": "text", "text": str(error)}])

    async def aclose(self) -> None:
        """Release everything that the toolset holds; a second time does nothing."""
        if not self._closed:
            self._closed = True
            await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<Toolset {state}: {len(self.tools)} tools of {len(self.report.manuals)} manuals>"

    def _bridged(self, tool: DiscoveredTool, name: str) -> BridgedTool:
        method = (tool.http_method or "").upper()
        return BridgedTool(
            name=name,
            utcp_name=tool.utcp_name,
            manual=tool.utcp_name.partition(".")[0],
            description=tool.description.strip() or f"Calls {name}.",
            tags=tool.tags,
            input_schema={"type": "object", "properties": {}, **tool.inputs},
            output_schema=tool.outputs,
            read_only=method in _SAFE_HTTP_METHODS,
            destructive=method == "DELETE",
            _toolset=self,
        )

    def _find(self, name: str) -> BridgedTool:
        tool = self.tools.get(name) or self._by_utcp_name.get(name)
        if tool is None:
            closest = difflib.get_close_matches(name, self.tools, n=3, cutoff=0.4)
            advice = f"The closest are: {', '.join(closest)}." if closest else f"There are {len(self.tools)} tools."
            raise ToolNotFoundError(f"There is no tool {name!r}. {advice}")
        return tool

    async def _call(self, tool: BridgedTool, arguments: dict[str, Any]) -> ToolResult:
        about: dict[str, str] = {"tool": tool.name, "manual": tool.manual}
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._client.call_tool(tool.utcp_name, arguments)
        except TimeoutError as error:
            raise ToolTimeoutError(f"{tool.name} gave no answer within {self._timeout:g} seconds.", **about) from error
        except aiohttp.ClientResponseError as error:
            # Not str(error): that holds the URL, and with it a key in the query.
            raise ToolExecutionError(f"{tool.name} failed: HTTP {error.status} {error.message}", **about) from error
        except OSError as error:
            raise ToolTransportError(f"{tool.name} could not be reached: {error}", **about) from error
        except Exception as error:  # a plugin may raise anything, and the model must learn of it either way
            reason = str(error) or type(error).__name__
            raise ToolExecutionError(f"{tool.name} failed: {reason}", **about) from error
        return normalise(reply, max_chars=self._max_chars)
