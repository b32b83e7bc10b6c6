"""Requests with credentials over connections that are kept: what HTTP, SSE and streamable HTTP have in common."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import aiohttp
from multidict import CIMultiDict
from utcp.data.auth_implementations.oauth2_auth import OAuth2Auth
from yarl import URL

from utcp_bridge.errors import ToolCallError, ToolExecutionError
from utcp_bridge.transports.http.body import Body, BodyRules, encode_body
from utcp_bridge.transports.http.exchange import Sender, error_of, leads_nowhere, read_body
from utcp_bridge.transports.http.oauth import TokenStore, token_form, token_reply
from utcp_bridge.transports.http.pool import Pools
from utcp_bridge.transports.http.reason import MAX_ERROR_BYTES
from utcp_bridge.transports.http.request import NO_BODY, HttpRequest, basic_auth
from utcp_bridge.transports.http.security import RefusedRequestError, UrlRules, origin_of
from utcp_bridge.transports.http.template import MappedHttpCallTemplate

CALL: Final = "tool invocation"  # upstream's words, so that its tests and its users' log filters still match
DISCOVERY: Final = "manual discovery"
_TOKEN: Final = "OAuth2 token URL"  # noqa: S105 - a name, not a secret
_FORM: Final = "application/x-www-form-urlencoded"
_TOKEN_FIELDS: Final = ("access_token", "refresh_token", "id_token")


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """What requests may do.

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


class HttpCaller:
    """Sends requests, with the credentials that they need, and gives replies of a status below 400.

    Safe to use from any loop and thread; `close` ends the connections of all of them.

    Args:
        options: See `HttpOptions`.
        on_token: Is given every token that is fetched, so that it can be kept secret; default None.

    Attributes:
        options: What was given.
        tokens: Token replies by credential, where upstream keeps them.
    """

    def __init__(self, options: HttpOptions | None = None, on_token: Callable[[Any], object] | None = None) -> None:
        self.options = options or HttpOptions()
        self.tokens: dict[str, dict[str, Any]] = {}
        self._on_token = on_token
        self._upload_dir = None if self.options.upload_dir is None else Path(self.options.upload_dir)
        self._pools = Pools(self.options.ssl_context)
        rules = UrlRules(tuple(self.options.allow_http_hosts))
        self._sender = Sender(self._pools, rules, trust_env=self.options.trust_env)
        self._store = TokenStore(self.tokens, self._fetch_token)

    async def body(self, request: HttpRequest, template: Any) -> Body | None:
        """The body of a request, encoded; None where it has none.

        Raises:
            ToolArgumentsError: The argument cannot be said in the request's content type.
        """
        if request.content is NO_BODY:
            return None
        rules = BodyRules(self._upload_dir)
        if isinstance(template, MappedHttpCallTemplate):
            rules = BodyRules(
                self._upload_dir,
                file_fields=frozenset(template.file_fields),
                part_types=template.part_types,
                form_styles=template.form_styles,
                reserved_styles=template.reserved_styles,
                part_headers=request.part_headers,
            )
        encode = partial(encode_body, request.content, request.content_type, rules)
        may_read_files = rules.upload_dir is not None and isinstance(request.content, (dict, list))
        return await asyncio.to_thread(encode) if may_read_files else encode()

    async def answer(
        self, request: HttpRequest, body: Body | None, *, context: str, follow: bool = True
    ) -> aiohttp.ClientResponse:
        """The final reply of a request, of a status below 400, to be released by the caller.

        Args:
            request: What to ask; its headers are completed.
            body: The encoded body, or None.
            context: What the request is for, for messages.
            follow: Whether redirects are followed (default) or refused.

        Raises:
            ToolExecutionError: The server answered with a status of 400 or above, or redirected too often or nowhere.
            ToolTransportError: The server could not be reached, or must not be asked.
        """
        self._sender.check(request, context)
        if body is not None:
            request.headers["Content-Type"] = body.content_type
        token = await self._authorise(request)
        response = await self._sender.send(request, body, context, follow=follow)
        if response.status == 401 and token is not None and request.oauth2 is not None:
            response.release()
            self._store.refuse(request.oauth2, token)
            await self._authorise(request)
            response = await self._sender.send(request, body, context, follow=follow)
        if response.status < 400 and not leads_nowhere(response):
            return response
        async with response:
            raise await error_of(response)

    async def token(self, auth: OAuth2Auth) -> str:
        """A token of these credentials that has not expired."""
        return await self._store.token(auth)

    def discard(self) -> None:
        """The same as `close`, without waiting: for finalizers, from any thread."""
        self._pools.discard()

    async def close(self) -> None:
        """Close all connections, whichever loop they belong to; a second time does nothing."""
        await self._pools.close()

    async def _authorise(self, request: HttpRequest) -> str | None:
        if request.oauth2 is None:
            return None
        token = await self._store.token(request.oauth2)
        request.headers["Authorization"] = f"Bearer {token}"
        return token

    async def _fetch_token(self, auth: OAuth2Auth) -> dict[str, Any]:
        # Credentials in the body first, then as basic authentication, as upstream does: servers take one or the other.
        try:
            reply = await self._ask_for_token(auth, with_secret=True)
        except ToolExecutionError as refused:
            if status_of(refused) is None:
                raise
            reply = await self._ask_for_token(auth, with_secret=False)
        if self._on_token is not None:
            for name in _TOKEN_FIELDS:
                self._on_token(reply.get(name))
        return reply

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
            async with await self.answer(request, form, context=_TOKEN) as response:
                return token_reply(await read_body(response, MAX_ERROR_BYTES), server)
        except ToolExecutionError as refused:
            if status_of(refused) is None:
                raise
            message = f"The OAuth2 token endpoint at {server} gave no token: {refused}"
            raise ToolExecutionError(message, raw=refused.raw) from refused


def status_of(error: ToolCallError) -> int | None:
    """The HTTP status that a failure stands for, if it stands for one."""
    return next((block["status"] for block in error.raw if block.get("type") == "http_error"), None)
