"""Streams of a protocol that is bound to one loop: made on the runner's, taken on the caller's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, Literal

import pytest
from utcp.data.call_template import CallTemplate, CallTemplateSerializer
from utcp.interfaces.communication_protocol import CommunicationProtocol
from utcp.interfaces.serializer import Serializer
from utcp.interfaces.tool_post_processor import ToolPostProcessor

from tests.support.manuals import config, text_manual
from utcp_bridge import ToolResult, Toolset
from utcp_bridge._relay import AHEAD
from utcp_bridge.errors import ToolTransportError

KIND = "feeding"


class FeedingTemplate(CallTemplate):
    call_template_type: Literal["feeding"] = "feeding"


class FeedingSerializer(Serializer[FeedingTemplate]):
    def to_dict(self, obj: FeedingTemplate) -> dict[str, Any]:
        return obj.model_dump()

    def validate_dict(self, obj: dict[str, Any]) -> FeedingTemplate:
        return FeedingTemplate.model_validate(obj)


class Feed(CommunicationProtocol):
    """Counts up to the argument `to`, and notes the tasks that it does so in, and how far it got.

    Attributes:
        tasks: The tasks that asked for the next number.
        threads: The threads in which it was asked for.
        made: The last number.
        ended: What each stream ended with.
    """

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[Any] | None] = set()
        self.threads: set[str] = set()
        self.made = 0
        self.ended: list[type[BaseException] | None] = []

    async def register_manual(self, caller: Any, manual_call_template: CallTemplate) -> Any:
        raise NotImplementedError("the tools come from a text manual")

    async def deregister_manual(self, caller: Any, manual_call_template: CallTemplate) -> None:
        return None

    async def call_tool(
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> Any:
        return list(range(1, int(tool_args["to"]) + 1))

    async def call_tool_streaming(  # type: ignore[override]  # utcp 1.2.0 declares it without the `yield`
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> AsyncGenerator[Any, None]:
        try:
            for number in range(1, tool_args.get("to", 10**9) + 1):
                self.tasks.add(asyncio.current_task())
                self.threads.add(threading.current_thread().name)
                await asyncio.sleep(tool_args.get("pause", 0))
                _break_at(tool_args.get("breaks_at"), number)
                self.made = number
                yield number
        except BaseException as error:
            self.ended.append(type(error))
            raise
        else:
            self.ended.append(None)


def _break_at(last: int | None, number: int) -> None:
    if number == last:
        raise ConnectionResetError("the feed broke")


@pytest.fixture
def feed() -> Iterator[Feed]:
    """A protocol of a plugin, as long as the test runs."""
    protocol = Feed()
    serializer: Any = FeedingSerializer()  # type: ignore[no-untyped-call]  # upstream's `__init__`
    CallTemplateSerializer.call_template_serializers[KIND] = serializer
    CommunicationProtocol.communication_protocols[KIND] = protocol
    yield protocol
    del CommunicationProtocol.communication_protocols[KIND]
    del CallTemplateSerializer.call_template_serializers[KIND]


def _source(**rest: Any) -> dict[str, Any]:
    tool = {"name": "count", "inputs": {"type": "object"}, "tool_call_template": {"call_template_type": KIND}}
    return config(text_manual("m", [tool], KIND), **rest)


@pytest.fixture
async def toolset(feed: Feed) -> AsyncIterator[Toolset]:
    async with await Toolset.aopen(_source()) as opened:
        yield opened


async def test_pieces_are_made_in_one_task_of_the_runner_and_taken_here(toolset: Toolset, feed: Feed) -> None:
    here = threading.current_thread().name
    pieces = []
    async for piece in toolset.stream("m.count", {"to": 100}):
        assert threading.current_thread().name == here
        pieces.append(piece)
    assert pieces == list(range(1, 101))
    assert feed.threads == {"utcp-bridge-runner"}
    assert len(feed.tasks) == 1
    assert feed.ended == [None]


async def test_the_maker_waits_for_the_taker(toolset: Toolset, feed: Feed) -> None:
    async with aclosing(toolset.stream("m.count")) as pieces:
        assert await anext(pieces) == 1
        await asyncio.sleep(0.05)
        assert feed.made <= AHEAD + 3
    assert feed.ended == [GeneratorExit]


@pytest.mark.parametrize("way", ["aclose", "cancel", "limit"])
async def test_whoever_stops_taking_stops_the_maker(toolset: Toolset, feed: Feed, way: str) -> None:
    if way == "aclose":
        async with aclosing(toolset.stream("m.count", {"pause": 0.01})) as pieces:
            await anext(pieces)
    elif way == "cancel":
        task = asyncio.create_task(toolset.acall("m.count", {"pause": 0.01}, on_chunk=lambda _: None))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        *_, last = [piece async for piece in toolset.stream("m.count", {"pause": 0.01}, timeout=0.05)]
        assert isinstance(last, ToolResult)
        assert "0.05 seconds" in last.content
    assert feed.ended == [asyncio.CancelledError]


async def test_what_goes_wrong_there_is_told_here_after_the_pieces_before_it(toolset: Toolset, feed: Feed) -> None:
    *before, last = [piece async for piece in toolset.stream("m.count", {"breaks_at": 4})]
    assert before == [1, 2, 3]
    assert isinstance(last, ToolResult)
    assert "m_count failed: " in last.content


@pytest.mark.usefixtures("feed")
async def test_what_goes_wrong_is_raised_when_asked_for() -> None:
    async with await Toolset.aopen(_source(), on_tool_error="raise") as toolset:
        with pytest.raises(ToolTransportError):
            _ = [piece async for piece in toolset.stream("m.count", {"breaks_at": 1})]


async def test_a_call_that_tells_its_pieces_has_the_result_of_one_that_does_not(toolset: Toolset) -> None:
    seen: list[int] = []
    told = await toolset.acall("m.count", {"to": 3}, on_chunk=seen.append)
    in_a_thread = await asyncio.to_thread(toolset.call, "m.count", {"to": 3}, on_chunk=seen.append)
    assert seen == [1, 2, 3, 1, 2, 3]
    assert told == in_a_thread == await toolset.acall("m.count", {"to": 3})


async def test_closing_the_toolset_ends_its_streams(toolset: Toolset, feed: Feed) -> None:
    async with aclosing(toolset.stream("m.count", {"pause": 0.01})) as pieces:
        await anext(pieces)
        await toolset.aclose()
        *_, last = [piece async for piece in pieces]
    assert isinstance(last, ToolResult)
    assert "closed while the call was running" in last.content
    assert feed.ended == [asyncio.CancelledError]


def test_a_stream_on_a_loop_that_ends_is_stopped(feed: Feed) -> None:
    with Toolset.open(_source()) as toolset:

        async def leave() -> int:
            pieces = toolset.stream("m.count", {"pause": 0.01})
            taken: int = await anext(pieces)
            return taken

        assert asyncio.run(leave()) == 1
        assert feed.ended == [asyncio.CancelledError]


async def test_streams_at_once_do_not_mix(toolset: Toolset) -> None:
    async def total(last: int) -> int:
        return sum([piece async for piece in toolset.stream("m.count", {"to": last})])

    async with await Toolset.aopen(_source()) as other:
        assert await asyncio.gather(*(total(1) for _ in range(3))) == [1, 1, 1]
        assert [piece async for piece in other.stream("m.count", {"to": 2})] == [1, 2]


async def test_a_protocol_without_streams_gives_one_piece(toolset: Toolset, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: Any) -> AsyncGenerator[Any, None]:
        for piece in list[Any]():
            yield piece
        raise NotImplementedError

    monkeypatch.setattr(Feed, "call_tool_streaming", refuse)
    assert [piece async for piece in toolset.stream("m.count", {"to": 2})] == [[1, 2]]


class Doubling(ToolPostProcessor):
    tool_post_processor_type: Literal["doubling"] = "doubling"
    seen: list[str] = []  # noqa: RUF012 - a field of a Pydantic model

    def post_process(self, caller: Any, tool: Any, manual_call_template: Any, result: Any) -> Any:
        self.seen.append(f"{tool.name} {manual_call_template.call_template_type} {type(caller).__name__}")
        return result * 2


@pytest.mark.usefixtures("feed")
async def test_post_processors_get_every_piece_with_its_tool() -> None:
    processor = Doubling()
    async with await Toolset.aopen(_source(post_processing=[processor])) as toolset:
        assert [piece async for piece in toolset.stream("m.count", {"to": 3})] == [2, 4, 6]
    assert processor.seen == ["m.count feeding BridgeUtcpClient"] * 3
