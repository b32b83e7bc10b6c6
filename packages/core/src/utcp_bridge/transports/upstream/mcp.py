"""MCP through utcp-mcp, with what it gets wrong put right; imports neither it nor the MCP SDK.

utcp-mcp 1.2.0 refuses a whole server for one tool without a description or an output schema, which are optional in
MCP; it forgets `isError`, so that a failure looks like a success; it turns every text that Python can read as a number
into one, so that `007` becomes 7, and hands pictures among texts over as Python objects; it does not notice that a
server has ended; of two servers with a tool of the same name it always calls the first; it closes sessions in
another task than it opened them in; it does not start a program without `args`, which are optional in every client's
configuration; and of a server that cannot be reached it does not say which it is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from utcp_bridge.errors import ToolExecutionError
from utcp_bridge.transports.drafts import without_boolean_schemas
from utcp_bridge.transports.failures import LONGEST_REASON, reason
from utcp_bridge.transports.http.security import origin_of
from utcp_bridge.transports.upstream.mcp_sessions import GivenUpError, SessionKeeper

_URLS = ("url", "ws_url")
_WAYS = frozenset({"command", *_URLS})
_RESOURCE = "resource_"  # how the tool begins that utcp-mcp makes of a resource


class McpServerError(Exception):
    """A session with an MCP server was not opened; the message is the reason alone."""


def mended(factory: Callable[[], Any]) -> Callable[[], Any]:
    """The factory of utcp-mcp's protocol with its faults mended; any other factory as it is."""
    if isinstance(factory, type) and factory.__module__.partition(".")[0] == "utcp_mcp":
        return type("McpProtocol", (_Mended, factory), {})
    return factory


class _Mended:
    """Goes before utcp-mcp's class, whose methods it takes the place of."""

    def __init__(self) -> None:
        super().__init__()
        self._had_tools: set[tuple[str, str]] = set()
        self._keepers: set[SessionKeeper] = set()
        self._has_ended = False
        self._listings: dict[tuple[str, str], asyncio.Future[list[Any]]] = {}

    async def _create_session(self, server_name: str, client: Any, manual_call_template: Any) -> Any:
        if self._has_ended:
            raise GivenUpError("its client has ended")
        base: Any = super()
        server = manual_call_template.config.mcpServers.get(server_name)

        async def open_session() -> Any:
            if server is not None and server.keys().isdisjoint(_WAYS):
                raise McpServerError("its configuration has neither 'command' nor 'url'")
            try:
                return await base._create_session(server_name, client, manual_call_template)  # noqa: SLF001 - its own
            except Exception as error:
                raise _told(error, server or {}) from error

        async def give_up() -> None:
            session = client.sessions.pop(server_name, None)
            if session is not None:
                await session.disconnect()

        keeper = SessionKeeper(open_session, give_up)
        self._keepers.add(keeper)
        keeper.when_ended(self._keepers.discard)
        this: Any = asyncio.current_task()
        this.add_done_callback(_seen)
        return await keeper.session()

    async def _build_connection_servers(self, manual_call_template: Any) -> dict[str, Any]:
        base: Any = super()
        servers: dict[str, Any] = await base._build_connection_servers(manual_call_template)  # noqa: SLF001 - its own
        for server in servers.values():
            if isinstance(server, dict) and "command" in server and server.get("args") is None:
                server["args"] = []
        return servers

    async def _cleanup_all_sessions(self) -> None:
        self._has_ended = True
        # All at once: a server may take two seconds to end, and two more if it has to be killed.
        await asyncio.gather(*(keeper.close() for keeper in self._keepers), return_exceptions=True)
        base: Any = super()
        await base._cleanup_all_sessions()  # noqa: SLF001 - its own

    async def _list_tools_with_session(self, server_name: str, manual_call_template: Any) -> list[Any]:
        # Once for all who ask at the same time, of whom one may find that the server has ended.
        base: Any = super()
        key = base._config_key(manual_call_template), server_name  # noqa: SLF001 - its own
        listing = self._listings.get(key)
        if listing is None:
            listing = asyncio.ensure_future(self._listed(server_name, manual_call_template))
            self._listings[key] = listing
            listing.add_done_callback(lambda _: self._listings.pop(key, None))
            listing.add_done_callback(_seen)
        return [tool.model_copy() for tool in await asyncio.shield(listing)]  # utcp-mcp renames them

    async def _listed(self, server_name: str, manual_call_template: Any) -> list[Any]:
        base: Any = super()
        tools = list(await base._list_tools_with_session(server_name, manual_call_template))  # noqa: SLF001 - its own
        key = (manual_call_template.name, server_name)
        if not tools and key in self._had_tools:
            # So mcp-use answers for a server that has ended; listing again is safe, and starts it anew.
            await base._cleanup_session(server_name, manual_call_template)  # noqa: SLF001 - its own
            tools = list(await base._list_tools_with_session(server_name, manual_call_template))  # noqa: SLF001
        if tools:
            self._had_tools.add(key)
        return [
            tool.model_copy(
                update={
                    "description": tool.description or "",
                    "inputSchema": without_boolean_schemas(tool.inputSchema or {}),
                    "outputSchema": without_boolean_schemas(tool.outputSchema or {}),
                }
            )
            for tool in tools
        ]

    async def _parse_tool_name(self, tool_name: str, tool_call_template: Any) -> Any:
        base: Any = super()
        _, _, path = tool_name.partition(".")
        servers = [name for name in tool_call_template.config.mcpServers if path.startswith(f"{name}.")]
        if not servers:
            return await base._parse_tool_name(tool_name, tool_call_template)  # noqa: SLF001 - its own
        server = max(servers, key=len)
        name = path.removeprefix(f"{server}.")
        # Asking for the list also notices a server that has ended.
        listed = {tool.name for tool in await self._list_tools_with_session(server, tool_call_template)}
        if name not in listed and path in listed:
            name = path  # the server's own name for it begins with the server's
        parsed: Any = self
        if name.startswith(_RESOURCE) and name not in listed and tool_call_template.register_resources_as_tools:
            resource = name.removeprefix(_RESOURCE)
            resources = await parsed._list_resources_with_session(server, tool_call_template)  # noqa: SLF001 - its own
            for each in resources:
                if each.name == resource:
                    return parsed._ParseToolResult(None, server, resource, True, each)  # noqa: SLF001 - its own
        return parsed._ParseToolResult(None, server, name, False, None)  # noqa: SLF001 - its own

    def _process_tool_result(self, result: Any, tool_name: str) -> Any:
        blocks = [_block(item) for item in getattr(result, "content", None) or ()]
        if getattr(result, "isError", False) is True:
            words = "\n".join(str(block["text"]) for block in blocks if block.get("text"))
            raise ToolExecutionError(words[:LONGEST_REASON] or "the MCP server gave no reason", raw=blocks)
        structured = getattr(result, "structuredContent", None)
        if any(block.get("type") != "text" for block in blocks):
            return blocks if structured is None else {"content": blocks, "structuredContent": structured}
        if structured is None and len(blocks) > 1:
            return blocks
        base: Any = super()
        return base._process_tool_result(result, tool_name)  # noqa: SLF001 - its own

    def _parse_text_content(self, text: str) -> Any:
        base: Any = super()
        value = base._parse_text_content(text)  # noqa: SLF001 - its own
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return text if is_number and json.dumps(value) != text else value


def _told(error: Exception, server: Mapping[str, Any]) -> Exception:
    """An error in one line, with the address of a server over HTTP; the error itself where it says all that already."""
    url = next((server[key] for key in _URLS if isinstance(server.get(key), str)), None)
    words = reason(error)
    if url is not None and origin_of(url) not in words:
        words = f"{words} ({origin_of(url)})"
    elif "\n" not in str(error):
        return error
    return McpServerError(words)


def _seen(task: asyncio.Future[Any]) -> None:
    # Else asyncio complains of what nobody waits for any more.
    if not task.cancelled():
        task.exception()


def _block(item: Any) -> dict[str, Any]:
    """A content block as JSON: the MCP SDK has Pydantic models for them."""
    if hasattr(item, "model_dump"):
        return dict(item.model_dump(mode="json", by_alias=True, exclude_none=True))
    return dict(item) if isinstance(item, dict) else {"type": "raw", "value": str(item)}
