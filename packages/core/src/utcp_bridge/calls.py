"""One call of one tool: the coroutine that both `call` and `acall` enter, and the same call in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from inspect import isawaitable
from time import monotonic
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
from utcp_bridge.results import normalise
from utcp_bridge.tools import BridgedTool
from utcp_bridge.transports.begun import Begun, noticing
from utcp_bridge.transports.client.client import Client
from utcp_bridge.transports.failures import call_error
from utcp_bridge.transports.secrets.scrubber import SecretScrubber
from utcp_bridge.transports.streaming.pieces import collected

OnChunk: TypeAlias = Callable[[Any], object]
"""Is given each piece of a reply as it comes."""

_END = object()
_SILENCE = 0.1  # seconds after which a pause is told
_MOST_THAT_CAME = 4_000  # characters of an unfinished reply in the message of an error


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
        with noticing() as begun:
            try:
                async with clock:
                    return await self.client.call_tool(self.tool.utcp_name, self.arguments)
            except Exception as error:  # a plugin may raise anything, and the model must learn of it either way
                replies = [reply for reply in begun if reply.pieces]
                failure = self._failure(error, clock, begun=bool(replies))
                raise _with_what_came(failure, replies, self.client.secrets) from error

    async def pieces(self) -> AsyncGenerator[Any, None]:
        """Call the tool and yield its raw reply in the pieces in which it comes.

        The limit counts the time for which the tool is waited for, without the time that the caller takes between two
        pieces; so a tool has the same limit here as in `run`.

        Raises:
            ToolCallError: Whatever went wrong, in words fit for a model.
        """
        loop = asyncio.get_running_loop()
        left = self.limit.seconds
        begun = False
        async with aclosing(self.client.stream_tool(self.tool.utcp_name, self.arguments)) as coming:
            while True:
                asked = loop.time()
                clock = asyncio.timeout(left)
                try:
                    async with clock:
                        piece = await anext(coming, _END)
                except Exception as error:  # as in `run`
                    raise self._failure(error, clock, begun=begun) from error
                left -= loop.time() - asked
                if piece is _END:
                    return
                begun = True
                yield piece

    def _failure(self, error: Exception, clock: asyncio.Timeout, *, begun: bool) -> ToolCallError:
        tool = self.tool
        if isinstance(error, TimeoutError) and clock.expired():
            done = "did not end its answer" if begun else "gave no answer"
            return ToolTimeoutError(
                f"{tool.name} {done} within {seconds_text(self.limit.seconds)} ({self.limit.origin}) "
                "and was cancelled.",
                tool=tool.name,
                manual=tool.manual,
            )
        return call_error(error, tool=tool.name, manual=tool.manual)


def _with_what_came(error: ToolCallError, replies: Sequence[Begun], secrets: SecretScrubber) -> ToolCallError:
    """The same error, with as much of the reply that was begun last as fits into a message.

    It may be all that there is to know, and of an endless feed there is never more.
    """
    if not replies or not isinstance(error, (ToolTimeoutError, ToolTransportError)):
        return error
    reply = replies[-1]
    silence = monotonic() - reply.latest
    came = normalise(secrets.scrub_value(reply.whole()), max_chars=_MOST_THAT_CAME)
    count = f", in {len(reply.pieces)} pieces" if len(reply.pieces) > 1 else ""
    silent = f", and then nothing for {seconds_text(round(silence, 1))}" if silence > _SILENCE else ""
    words = f"{error} A part of the answer had come{count}{silent}:\n{came.content}"
    return type(error)(words, tool=error.tool, manual=error.manual, raw=(*error.raw, *came.raw))


def in_a_thread(on_chunk: OnChunk) -> OnChunk:
    """The same function, called in a worker thread and awaited."""
    return lambda piece: asyncio.to_thread(on_chunk, piece)


async def put_together(pieces: AsyncGenerator[Any, None], on_chunk: OnChunk, secrets: SecretScrubber) -> Any:
    """The whole reply of pieces, each of which is told as it comes."""
    with collected() as reply:
        async with aclosing(pieces):
            try:
                async for piece in pieces:
                    reply.add(piece)
                    told = on_chunk(piece)
                    if isawaitable(told):
                        await told
            except (ToolTimeoutError, ToolTransportError) as error:
                raise _with_what_came(error, [reply] if reply.pieces else [], secrets) from error
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
