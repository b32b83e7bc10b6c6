"""Calls HTTP tools: upstream's protocol with connections that are kept, exact encodings and errors with reasons.

Only the client that utcp-bridge creates uses it, so that nothing changes for other users of UTCP in the process.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from utcp.data.auth_implementations.basic_auth import BasicAuth
from utcp.data.auth_implementations.oauth2_auth import OAuth2Auth
from utcp_http.http_call_template import HttpCallTemplate
from utcp_http.http_communication_protocol import HttpCommunicationProtocol

from utcp_bridge.errors import ToolCallError
from utcp_bridge.transports.begun import note_begun
from utcp_bridge.transports.documents.parsing import MAX_DOCUMENT_BYTES, DocumentError, parse_document
from utcp_bridge.transports.http.caller import CALL, DISCOVERY, HttpCaller, HttpOptions, status_of
from utcp_bridge.transports.http.exchange import read_body
from utcp_bridge.transports.http.reply import BegunReply, reply_of
from utcp_bridge.transports.http.request import basic_auth, build_request
from utcp_bridge.transports.http.template import HttpParameter, MappedHttpCallTemplate
from utcp_bridge.transports.http.url import parse_url_template

if TYPE_CHECKING:
    from utcp.data.call_template import CallTemplate

__all__ = ["DocumentError", "HttpOptions", "HttpParameter", "HttpProtocol", "MappedHttpCallTemplate", "OverHttp"]


class OverHttp:
    """What our protocols over HTTP have in common; goes before upstream's class.

    Sets no time limits: the caller cancels, and a cancelled call closes its connection. Safe to use from any loop and
    thread; `close` ends the connections of all of them.

    Args:
        options: See `HttpOptions`.
        caller: What sends the requests, where it is shared with other protocols; default None, one of these options.
    """

    def __init__(self, options: HttpOptions | None = None, *, caller: HttpCaller | None = None) -> None:
        super().__init__()
        self._caller = caller or HttpCaller(options)
        self._oauth_tokens = self._caller.tokens

    def discard(self) -> None:
        """The same as `close`, without waiting: for finalizers, from any thread."""
        self._caller.discard()

    async def close(self) -> None:
        """Close all connections, whichever loop they belong to; a second time does nothing."""
        await self._caller.close()

    async def _handle_oauth2(self, auth_details: OAuth2Auth) -> str:
        return await self._caller.token(auth_details)


class HttpProtocol(OverHttp, HttpCommunicationProtocol):
    """UTCP's HTTP protocol, replacing what utcp-http 1.1.15 does wrong on the wire; see `OverHttp`."""

    async def call_tool(
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> Any:
        """Call a tool.

        Args:
            caller: The client; see `note_begun`.
            tool_name: Not used; the toolset puts the tool's name into errors.
            tool_args: The arguments.
            tool_call_template: The tool's call template, its variables filled in.

        Returns:
            The reply: data, text, None where there is none, or a block that describes binary content.

        Raises:
            ToolArgumentsError: An argument cannot be written where it belongs.
            ToolExecutionError: The server answered with a status of 400 or above, or with too large a reply.
            ToolTransportError: The server could not be reached, or must not be asked.
            RunnerError: The protocol is closed.
        """
        request = build_request(_http_template(tool_call_template), tool_args)
        body = await self._caller.body(request, tool_call_template)
        async with await self._caller.answer(request, body, context=CALL) as response:
            content_type = response.headers.get("Content-Type", "")

            def begin() -> BegunReply:
                begun = BegunReply(content_type)
                if begun.tells_something:
                    note_begun(begun, caller)
                return begun

            content = await read_body(response, self._caller.options.max_reply_bytes, begin)
            return reply_of(content, response.headers)

    async def fetch_document(self, template: CallTemplate) -> tuple[Any, str]:
        """Fetch the document that a manual call template points to, a UTCP manual or an OpenAPI document.

        Args:
            template: The manual call template, its variables filled in; its headers and `auth` are used.

        Returns:
            The document as a JSON value, whether it came as JSON or YAML, and the URL that it finally came from,
            which decides what the document may refer to (`reject_remote_loopback_tool_urls`).

        Raises:
            DocumentError: There is no such document, or it cannot be read; the message is the reason alone.
        """
        try:
            request = build_request(_http_template(template), {})
            async with await self._caller.answer(request, None, context=DISCOVERY) as response:
                content = await read_body(response, MAX_DOCUMENT_BYTES)
                content_type, url = response.headers.get("Content-Type", ""), str(response.url)
        except ToolCallError as error:
            raise DocumentError(str(error), status=status_of(error)) from error
        return await asyncio.to_thread(parse_document, content, content_type, url), url

    # Upstream's own `register_manual` goes through these, so that its requests are right as well.

    def _apply_auth(
        self, provider: HttpCallTemplate, headers: dict[str, str], query_params: dict[str, Any]
    ) -> tuple[None, dict[str, str], list[str]]:
        # aiohttp 3.14 deprecates the `auth=` that utcp-http 1.1.15 uses for basic authentication.
        if isinstance(provider.auth, BasicAuth):
            headers["Authorization"] = basic_auth(provider.auth.username, provider.auth.password)
            return None, {}, ["Authorization"]
        _, cookies, names = super()._apply_auth(provider, headers, query_params)
        return None, cookies, names

    def _build_url_with_path_params(self, url_template: str, tool_args: dict[str, Any]) -> str:
        origin, path, query, used = parse_url_template(url_template).expand(tool_args, {})
        for name in used:
            del tool_args[name]
        return f"{origin}{path}{'?' if query else ''}{'&'.join(query)}"


def _http_template(template: Any) -> HttpCallTemplate:
    if not isinstance(template, HttpCallTemplate):
        raise ValueError("HttpProtocol can only be used with an HttpCallTemplate.")  # noqa: TRY004 - as upstream
    return template
