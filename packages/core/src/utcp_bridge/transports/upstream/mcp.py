"""MCP through utcp-mcp, with what it gets wrong put right; imports neither it nor the MCP SDK.

utcp-mcp 1.2.0 refuses a whole server for one tool without a description or an output schema, which are optional in MCP;
it forgets `isError`, so that a failure looks like a success; it turns every text that Python can read as a number into
one, so that `007` becomes 7; and it does not notice that a server has ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from utcp_bridge.errors import ToolExecutionError
from utcp_bridge.transports.drafts import without_boolean_schemas
from utcp_bridge.transports.failures import LONGEST_REASON


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

    async def _list_tools_with_session(self, server_name: str, manual_call_template: Any) -> list[Any]:
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

    def _process_tool_result(self, result: Any, tool_name: str) -> Any:
        if getattr(result, "isError", False) is not True:
            base: Any = super()
            return base._process_tool_result(result, tool_name)  # noqa: SLF001 - its own
        blocks = [_block(item) for item in getattr(result, "content", None) or ()]
        words = "\n".join(str(block["text"]) for block in blocks if block.get("text"))
        raise ToolExecutionError(words[:LONGEST_REASON] or "the MCP server gave no reason", raw=blocks)

    def _parse_text_content(self, text: str) -> Any:
        base: Any = super()
        value = base._parse_text_content(text)  # noqa: SLF001 - its own
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return text if is_number and json.dumps(value) != text else value


def _block(item: Any) -> dict[str, Any]:
    """A content block as JSON: the MCP SDK has Pydantic models for them."""
    if hasattr(item, "model_dump"):
        return dict(item.model_dump(mode="json", by_alias=True, exclude_none=True))
    return dict(item) if isinstance(item, dict) else {"type": "raw", "value": str(item)}
