"""One call of one tool: the coroutine that both `call` and `acall` enter."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from utcp_bridge.errors import ToolTimeoutError
from utcp_bridge.options import Limit
from utcp_bridge.tools import BridgedTool
from utcp_bridge.transports.client import Client
from utcp_bridge.transports.failures import call_error


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A call whose arguments have been judged, ready to go on the wire."""

    client: Client
    tool: BridgedTool
    arguments: dict[str, Any]
    limit: Limit

    async def run(self) -> Any:
        """Call the tool and return its raw reply; at its limit the call is cancelled.

        Raises:
            ToolCallError: Whatever went wrong, in words fit for a model.
        """
        tool = self.tool
        clock = asyncio.timeout(self.limit.seconds)
        try:
            async with clock:
                return await self.client.call_tool(tool.utcp_name, self.arguments)
        except Exception as error:  # a plugin may raise anything, and the model must learn of it either way
            if isinstance(error, TimeoutError) and clock.expired():
                raise ToolTimeoutError(
                    f"{tool.name} gave no answer within {self.limit.seconds:g} seconds ({self.limit.origin}) "
                    "and was cancelled.",
                    tool=tool.name,
                    manual=tool.manual,
                ) from error
            raise call_error(error, tool=tool.name, manual=tool.manual) from error
