"""Calls HTTP tools: upstream's protocol with connections that are kept, exact encodings and errors with reasons.

Only the client that utcp-bridge creates uses it, so that nothing changes for other users of UTCP in the process.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from multidict import CIMultiDict
from utcp.data.auth_implementations.basic_auth import BasicAuth
from utcp.data.auth_implementations.oauth2_auth import OAuth2Auth
from utcp_http.http_call_template import HttpCallTemplate
from utcp_http.http_communication_protocol import HttpCommunicationProtocol
from yarl import URL

from utcp_bridge.errors import ToolCallError, ToolExecutionError
from utcp_bridge.transports._http_body import Body, BodyRules, encode_body
from utcp_bridge.transports._http_document import MAX_DOCUMENT_BYTES, DocumentError, parse_document
from utcp_bridge.transports._http_exchange import Sender, error_of, read_body
from utcp_bridge.transports._http_oauth import TokenStore, token_form, token_reply
from utcp_bridge.transports._http_pool import Pools
from utcp_bridge.transports._http_reason import MAX_ERROR_BYTES
from utcp_bridge.transports._http_reply import read_reply
from utcp_bridge.transports._http_request import NO_BODY, HttpRequest, basic_auth, build_request
from utcp_bridge.transports._http_security import RefusedRequestError, UrlRules, origin_of
from utcp_bridge.transports._http_template import HttpParameter, MappedHttpCallTemplate
from utcp_bridge.transports._http_url import parse_url_template

if TYPE_CHECKING:
    from utcp.data.call_template import CallTemplate

__all__ = ["DocumentError", "HttpOptions", "HttpParameter", "HttpProtocol", "MappedHttpCallTemplate"]

_CALL: Final = "tool invocation"  # upstream's words, so that its tests and its users' log filters still match
_DISCOVERY: Final = "manual discovery"
_TOKEN: Final = "OAuth2 token URL"  # noqa: S105 - a name, not a secret
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """What an `HttpProtocol` may do.

    Attributes:
        allow_http_hosts: Globs of hosts, or `host:port`, that may be spoken to over plain HTTP besides loopback, such
            as `"homeassistant.local"` or `"192.168.1.*"`; default none.
        trust_env: Whether `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are followed; default False. Loopback never
            goes through a proxy.
        max_reply_bytes: Where reading a reply stops with an error, in bytes after decompression; default 16 MiB.
        upload_dir: The only folder that files of a multipart or binary body are read from; default None, no files.
        ssl_context: Which certificates are trusted; default None, the system's.
    """

    allow_http_hosts: Sequence[str] = ()
    trust_env: bool = False
    max_reply_bytes: int = 16 * 1024 * 1024
    upload_dir: Path | str | None = None
    ssl_context: ssl.SSLContext | None = None


class HttpProtocol(HttpCommunicationProtocol):
    """UTCP's HTTP protocol, replacing what utcp-http 1.1.15 does wrong on the wire.

    Sets no time limits: the caller cancels, and a cancelled call closes its connection. Safe to use from any loop and
    thread; `close` ends the connections of all of them.

    Args:
        options: See `HttpOptions`.
    """

    def __init__(self, options: HttpOptions | None = None) -> None:
        super().__init__()
        self._options = options or HttpOptions()
        self._upload_dir = None if self._options.upload_dir is None else Path(self._options.upload_dir)
        self._pools = Pools(self._options.ssl_context)
        rules = UrlRules(tuple(self._options.allow_http_hosts))
        self._sender = Sender(self._pools, rules, trust_env=self._options.trust_env)
        self._tokens = TokenStore(self._oauth_tokens, self._fetch_token)

    async def call_tool(
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> Any:
        """Call a tool.

        Args:
            caller: Not used.
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
        body = await self._encoded_body(request, tool_call_template)
        async with await self._answer(request, body, context=_CALL) as response:
            content = await read_body(response, self._options.max_reply_bytes)
            headers = response.headers
            return read_reply(content, headers.get("Content-Type", ""), headers.get("Content-Disposition", ""))

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
            async with await self._answer(request, None, context=_DISCOVERY) as response:
                content = await read_body(response, MAX_DOCUMENT_BYTES)
                content_type, url = response.headers.get("Content-Type", ""), str(response.url)
        except ToolCallError as error:
            raise DocumentError(str(error), status=_status(error)) from error
        return await asyncio.to_thread(parse_document, content, content_type, url), url

    def discard(self) -> None:
        """The same as `close`, without waiting: for finalizers, from any thread."""
        self._pools.discard()

    async def close(self) -> None:
        """Close all connections, whichever loop they belong to; a second time does nothing."""
        await self._pools.close()

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

    async def _handle_oauth2(self, auth_details: OAuth2Auth) -> str:
        return await self._tokens.token(auth_details)

    def _build_url_with_path_params(self, url_template: str, tool_args: dict[str, Any]) -> str:
        origin, path, query, used = parse_url_template(url_template).expand(tool_args, {})
        for name in used:
            del tool_args[name]
        return f"{origin}{path}{'?' if query else ''}{'&'.join(query)}"

    async def _encoded_body(self, request: HttpRequest, template: Any) -> Body | None:
        if request.content is NO_BODY:
            return None
        rules = BodyRules(self._upload_dir)
        if isinstance(template, MappedHttpCallTemplate):
            rules = BodyRules(
                self._upload_dir,
                frozenset(template.file_fields),
                template.part_types,
                template.form_styles,
            )
        encode = partial(encode_body, request.content, request.content_type, rules)
        may_read_files = rules.upload_dir is not None and isinstance(request.content, dict)
        return await asyncio.to_thread(encode) if may_read_files else encode()

    async def _answer(self, request: HttpRequest, body: Body | None, *, context: str) -> aiohttp.ClientResponse:
        """The final reply of a request, of a status below 400, to be released; everything else is an error of ours."""
        self._sender.check(request, context)
        if body is not None:
            request.headers["Content-Type"] = body.content_type
        token = await self._authorise(request)
        response = await self._sender.send(request, body, context)
        if response.status == 401 and token is not None and request.oauth2 is not None:
            response.release()
            self._tokens.refuse(request.oauth2, token)
            await self._authorise(request)
            response = await self._sender.send(request, body, context)
        if response.status < 400:
            return response
        async with response:
            raise await error_of(response)

    async def _authorise(self, request: HttpRequest) -> str | None:
        if request.oauth2 is None:
            return None
        token = await self._tokens.token(request.oauth2)
        request.headers["Authorization"] = f"Bearer {token}"
        return token

    async def _fetch_token(self, auth: OAuth2Auth) -> dict[str, Any]:
        # Credentials in the body first, then as basic authentication, as upstream does: servers take one or the other.
        try:
            return await self._ask_for_token(auth, with_secret=True)
        except ToolExecutionError as refused:
            if _status(refused) is None:
                raise
        return await self._ask_for_token(auth, with_secret=False)

    async def _ask_for_token(self, auth: OAuth2Auth, *, with_secret: bool) -> dict[str, Any]:
        server = origin_of(auth.token_url)
        headers = CIMultiDict({"Accept": "application/json"})
        if not with_secret:
            headers["Authorization"] = basic_auth(auth.client_id, auth.client_secret)
        try:
            url = URL(auth.token_url)
        except ValueError:
            raise RefusedRequestError("The OAuth2 token URL of the call template cannot be read.") from None
        secret_headers = frozenset({"authorization"})
        request = HttpRequest("POST", url, auth.token_url, headers, NO_BODY, _FORM, secret_headers, None)
        form = Body(token_form(auth, with_secret=with_secret), _FORM)
        try:
            async with await self._answer(request, form, context=_TOKEN) as response:
                return token_reply(await read_body(response, MAX_ERROR_BYTES), server)
        except ToolExecutionError as refused:
            if _status(refused) is None:
                raise
            message = f"The OAuth2 token endpoint at {server} gave no token: {refused}"
            raise ToolExecutionError(message, raw=refused.raw) from refused


def _http_template(template: Any) -> HttpCallTemplate:
    if not isinstance(template, HttpCallTemplate):
        raise ValueError("HttpProtocol can only be used with an HttpCallTemplate.")  # noqa: TRY004 - as upstream
    return template


def _status(error: ToolCallError) -> int | None:
    return next((block["status"] for block in error.raw if block.get("type") == "http_error"), None)
