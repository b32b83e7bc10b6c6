"""Calls tools over SSE and streamable HTTP, whose replies come in pieces.

Upstream's protocols with the requests, credentials, limits and errors of our HTTP protocol, which shares its
connections with them. As upstream, they follow no redirects, and only an SSE call without a body is made again when its
connection breaks. They keep no state that is bound to a loop. Time limits are the caller's; beside them, a `timeout`
that the author of a streamable HTTP template wrote down holds too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from utcp_http.http_call_template import HttpCallTemplate
from utcp_http.sse_call_template import SseCallTemplate
from utcp_http.sse_communication_protocol import SseCommunicationProtocol
from utcp_http.streamable_http_call_template import StreamableHttpCallTemplate
from utcp_http.streamable_http_communication_protocol import StreamableHttpCommunicationProtocol

from utcp_bridge.content_types import media_type
from utcp_bridge.errors import ToolExecutionError, ToolTimeoutError, ToolTransportError
from utcp_bridge.options import seconds_text
from utcp_bridge.transports.begun import note_begun
from utcp_bridge.transports.http.caller import CALL
from utcp_bridge.transports.http.exchange import BodyReader, read_body
from utcp_bridge.transports.http.files import is_file
from utcp_bridge.transports.http.protocol import OverHttp
from utcp_bridge.transports.http.reason import MAX_ERROR_BYTES, body_value, reason_of
from utcp_bridge.transports.http.reply import read_reply
from utcp_bridge.transports.http.request import HttpRequest, build_request
from utcp_bridge.transports.http.security import origin_of
from utcp_bridge.transports.http.template import MappedSseCallTemplate, request_template
from utcp_bridge.transports.streaming.event_stream import EventParser, EventStreamError
from utcp_bridge.transports.streaming.parsers import parser_of
from utcp_bridge.transports.streaming.pieces import EVENT_STREAM, collected, is_one_value, note_type

if TYPE_CHECKING:
    from utcp.data.call_template import CallTemplate

logger = logging.getLogger(__name__)

_JSON: Final = "application/json"
_BYTES: Final = "application/octet-stream"  # the default of upstream's template
_CHUNK: Final = 8192  # bytes; upstream's
_RECONNECT_DELAY: Final = 3000  # milliseconds, as browsers; upstream's 30 seconds are all that a call has by default


class _Streams(OverHttp):
    """What both protocols have in common besides `OverHttp`; goes before upstream's class."""

    _template: type[CallTemplate]  # what the protocol can be used with

    async def call_tool(
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> Any:
        """Call a tool and return its reply when all of it has come; see `Reply.whole` and `HttpProtocol.call_tool`."""
        with collected() as reply:
            note_begun(reply, caller)
            pieces = self.call_tool_streaming(caller, tool_name, tool_args, tool_call_template)
            async with aclosing(pieces):
                async for piece in pieces:
                    reply.add(piece)
        return reply.whole()

    def call_tool_streaming(
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> AsyncGenerator[Any, None]:
        """Call a tool and yield its reply as it comes; see the protocol for its pieces.

        Raises:
            ToolCallError: As `HttpProtocol.call_tool`.
        """
        if not isinstance(tool_call_template, self._template):
            needed = self._template.__name__
            raise ValueError(f"{type(self).__name__} can only be used with {needed}.")  # noqa: TRY004 - as upstream
        return self._pieces(tool_call_template, tool_args)

    def _pieces(self, template: Any, arguments: dict[str, Any]) -> AsyncGenerator[Any, None]:
        raise NotImplementedError


class SseProtocol(_Streams, SseCommunicationProtocol):  # type: ignore[misc]  # utcp 1.2.0 declares no generator
    """UTCP's SSE protocol; see `OverHttp`.

    The pieces are the data of each event: a JSON value where it is one, else text. It is an `EventStreamError` if the
    server sends something else, or an event without an end.
    """

    _template = SseCallTemplate

    async def _pieces(self, template: SseCallTemplate, arguments: dict[str, Any]) -> AsyncGenerator[Any, None]:
        request = build_request(_of_sse(template, arguments), arguments)
        request.headers["Accept"] = EVENT_STREAM
        body = await self._caller.body(request, template)
        # A request with a body may not be safe to repeat.
        chances = self.MAX_RECONNECT_ATTEMPTS if template.reconnect and body is None else 0
        wait = template.retry_timeout if "retry_timeout" in template.model_fields_set else _RECONNECT_DELAY
        broken: ToolExecutionError | ToolTransportError | None = None
        while True:
            try:
                response = await self._caller.answer(request, body, context=CALL, follow=False)
            except (ToolExecutionError, ToolTransportError) as error:
                if broken is None:
                    raise  # a definite answer, not a connection that broke
                broken = error
            else:
                try:
                    if not await _is_event_stream(response):
                        return
                    parser = EventParser(self.MAX_EVENT_BUFFER_CHARS)
                    reader = BodyReader(response, self._caller.options.max_reply_bytes)
                    content = b" "
                    while content:
                        content = await reader.some()
                        for event in parser.feed(content):
                            wait = wait if event.retry is None else event.retry
                            _remember(request, event.id)
                            if event.data is not None and template.event_type in {None, "", event.kind}:
                                yield event.value
                except ToolTransportError as error:
                    broken = error
                else:
                    return
                finally:
                    response.close()
            if not chances:
                raise broken
            chances -= 1
            wait = min(wait, self.MAX_RECONNECT_DELAY_MS)
            logger.info("The event stream of %s broke; connecting again in %d ms.", origin_of(str(request.url)), wait)
            await asyncio.sleep(wait / 1000)


class StreamableHttpProtocol(_Streams, StreamableHttpCommunicationProtocol):  # type: ignore[misc]  # as above
    """UTCP's streamable HTTP protocol; see `OverHttp`.

    The pieces depend on the content type: text, of at most `chunk_size` bytes a piece; each value of JSON lines, or of
    an event stream; one JSON value as a whole; anything else as bytes, of at most `chunk_size` a piece. It is a
    `ToolTimeoutError` if it takes longer than the template's own `timeout`.
    """

    _template = StreamableHttpCallTemplate

    async def _pieces(
        self, template: StreamableHttpCallTemplate, arguments: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        request = build_request(_of_streamable(template), arguments)
        if request.content_type == _BYTES and not isinstance(request.content, str) and not is_file(request.content):
            request.content_type = _JSON
        body = await self._caller.body(request, template)
        async with aclosing(self._read(request, body, template.chunk_size or _CHUNK)) as pieces:
            if "timeout" not in template.model_fields_set or not template.timeout:
                async for piece in pieces:
                    yield piece
                return
            deadline = asyncio.get_running_loop().time() + template.timeout / 1000
            while (piece := await _before(deadline, pieces, template.timeout / 1000)) is not _END:
                yield piece

    async def _read(self, request: HttpRequest, body: Any, chunk_size: int) -> AsyncGenerator[Any, None]:
        limit = self._caller.options.max_reply_bytes
        response = await self._caller.answer(request, body, context=CALL, follow=False)
        try:
            content_type = response.headers.get("Content-Type", "")
            note_type(content_type, response.headers.get("Content-Disposition", ""))
            if is_one_value(content_type):
                if content := await read_body(response, limit):
                    yield read_reply(content, content_type)
                return
            parser = parser_of(content_type, longest_event=limit)
            reader = BodyReader(response, limit)
            content = b" "
            while content:
                content = await reader.some(chunk_size)
                for piece in parser.feed(content):
                    yield piece
        finally:
            response.close()


_END: Final = object()


async def _before(deadline: float, pieces: AsyncGenerator[Any, None], seconds: float) -> Any:
    try:
        async with asyncio.timeout_at(deadline):
            return await anext(pieces, _END)
    except TimeoutError as error:
        raise ToolTimeoutError(f"it took longer than its call template allows ({seconds_text(seconds)})") from error


def _of_sse(template: SseCallTemplate, arguments: dict[str, Any]) -> HttpCallTemplate:
    # As upstream: a request with a body is a POST.
    written = template.written if isinstance(template, MappedSseCallTemplate) else None
    has_body = template.body_field in arguments if template.body_field else written is not None and written.has_body
    return request_template(template, http_method="POST" if has_body else "GET", content_type=_JSON)


def _of_streamable(template: StreamableHttpCallTemplate) -> HttpCallTemplate:
    return request_template(template, http_method=template.http_method, content_type=template.content_type)


async def _is_event_stream(response: aiohttp.ClientResponse) -> bool:
    """Whether there are events to come; False for a reply that says nothing, such as one of status 204.

    Status 204 ends a stream for good (HTML, section 9.2.2).

    Raises:
        EventStreamError: It says something else. Read as no event at all, a call that was refused would look like one
            with an empty reply.
    """
    content_type = response.headers.get("Content-Type", "")
    note_type(content_type)
    if media_type(content_type) == EVENT_STREAM and response.status != 204:
        return True
    content = await read_body(response, MAX_ERROR_BYTES)
    if not content:
        return False
    words = reason_of(body_value(content, content_type), content_type)
    kind = media_type(content_type) or "no content type"
    raise EventStreamError(f"the server sent no event stream, but {kind}" + (f": {words}" if words else ""))


def _remember(request: HttpRequest, event_id: str | None) -> None:
    if event_id is not None:
        request.headers.popall("Last-Event-ID", None)
        if event_id and event_id.isprintable():
            request.headers["Last-Event-ID"] = event_id
