"""One call of one tool: the coroutine that both `call` and `acall` enter, and the same call in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, TypeAlias

from utcp_bridge.errors import (
    RunnerStoppedError,
    ToolCallError,
    ToolExecutionError,
    ToolTimeoutError,
    ToolTransportError,
    WorkCancelledError,
)
from utcp_bridge.options import Limit, seconds_text
from utcp_bridge.tools import BridgedTool
from utcp_bridge.transports.client.client import Client
from utcp_bridge.transports.failures import call_error
from utcp_bridge.transports.secrets.scrubber import SecretScrubber
from utcp_bridge.transports.streaming.pieces import collected

OnChunk: TypeAlias = Callable[[Any], object]
"""Is given each piece of a reply as it comes."""

_END = object()


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
        clock = asyncio.timeout(self.limit.seconds)
        try:
            async with clock:
                return await self.client.call_tool(self.tool.utcp_name, self.arguments)
        except Exception as error:  # a plugin may raise anything, and the model must learn of it either way
            raise self._failure(error, clock) from error

    async def pieces(self) -> AsyncGenerator[Any, None]:
        """Call the tool and yield its raw reply in the pieces in which it comes.

        The limit counts the time for which the tool is waited for, without the time that the caller takes between two
        pieces; so a tool has the same limit here as in `run`.

        Raises:
            ToolCallError: Whatever went wrong, in words fit for a model.
        """
        loop = asyncio.get_running_loop()
        left = self.limit.seconds
        async with aclosing(self.client.stream_tool(self.tool.utcp_name, self.arguments)) as coming:
            while True:
                asked = loop.time()
                clock = asyncio.timeout(left)
                try:
                    async with clock:
                        piece = await anext(coming, _END)
                except Exception as error:  # as in `run`
                    raise self._failure(error, clock) from error
                left -= loop.time() - asked
                if piece is _END:
                    return
                yield piece

    def _failure(self, error: Exception, clock: asyncio.Timeout) -> ToolCallError:
        tool = self.tool
        if isinstance(error, TimeoutError) and clock.expired():
            return ToolTimeoutError(
                f"{tool.name} gave no answer within {seconds_text(self.limit.seconds)} ({self.limit.origin}) "
                "and was cancelled.",
                tool=tool.name,
                manual=tool.manual,
            )
        return call_error(error, tool=tool.name, manual=tool.manual)


def in_a_thread(on_chunk: OnChunk) -> OnChunk:
    """The same function, called in a worker thread and awaited."""
    return lambda piece: asyncio.to_thread(on_chunk, piece)


async def put_together(pieces: AsyncGenerator[Any, None], on_chunk: OnChunk, secrets: SecretScrubber) -> Any:
    """The whole reply of pieces, each of which is told as it comes."""
    with collected() as reply:
        async with aclosing(pieces):
            async for piece in pieces:
                reply.pieces.append(piece)
                told = on_chunk(piece)
                if isawaitable(told):
                    await told
    # Once more: of what was scattered over pieces of several kinds.
    return secrets.scrub_value(reply.whole())


@contextmanager
def told_to_the_model(tool: BridgedTool) -> Iterator[None]:
    """Make the end of the runner, or of the work, the outcome of the call: it is nobody's mistake."""
    try:
        yield
    except RunnerStoppedError as error:
        raise ToolTransportError(f"{tool.name}: {error}", tool=tool.name, manual=tool.manual) from error
    except WorkCancelledError as error:
        raise ToolExecutionError(f"{tool.name}: {error}", tool=tool.name, manual=tool.manual) from error
