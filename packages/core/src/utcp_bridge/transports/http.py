"""Calls HTTP tools: upstream's protocol with connections that are kept, exact encodings and errors with reasons.

Only the client that utcp-bridge creates uses it, so that nothing changes for other users of UTCP in the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDict
from utcp.data.auth_implementations.basic_auth import BasicAuth
from utcp.data.auth_implementations.oauth2_auth import OAuth2Auth
from utcp_http._security import is_loopback_url
from utcp_http.http_call_template import HttpCallTemplate
from utcp_http.http_communication_protocol import HttpCommunicationProtocol
from yarl import URL

from utcp_bridge.errors import ToolCallError, ToolExecutionError
from utcp_bridge.transports._http_body import Body, BodyRules, encode_body
from utcp_bridge.transports._http_document import MAX_DOCUMENT_BYTES, DocumentError, parse_document
from utcp_bridge.transports._http_failures import connection_error
from utcp_bridge.transports._http_oauth import TokenStore, token_form, token_reply
from utcp_bridge.transports._http_pool import Pools
from utcp_bridge.transports._http_reason import MAX_ERROR_BYTES, http_error
from utcp_bridge.transports._http_reply import read_reply
from utcp_bridge.transports._http_request import NO_BODY, HttpRequest, basic_auth, build_request
from utcp_bridge.transports._http_security import (
    MAX_REDIRECTS,
    REDIRECT_STATUSES,
    RefusedRequestError,
    UrlRules,
    is_secret_header,
    origin_of,
    same_origin,
)
from utcp_bridge.transports._http_template import HttpParameter, MappedHttpCallTemplate
from utcp_bridge.transports._http_url import url_template
from utcp_bridge.transports._http_url import url_template as _parsed

if TYPE_CHECKING:
    from utcp.data.call_template import CallTemplate

__all__ = ["DocumentError", "HttpOptions", "HttpParameter", "HttpProtocol", "MappedHttpCallTemplate"]

_CALL: Final = "tool invocation"  # upstream's words, so that its tests and its users' log filters still match
_DISCOVERY: Final = "manual discovery"
_TOKEN: Final = "OAuth2 token URL"  # noqa: S105 - a name, not a secret
_FORM: Final = "application/x-www-form-urlencoded"
_NOT_REPEATABLE: Final = frozenset({"POST", "PATCH"})  # aiohttp repeats the others on a new connection
_MOST_CHECKED: Final = 10_000
_BIG_BODY: Final = 2**20  # aiohttp warns about larger ones given as bytes


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

    allow_http_hosts: tuple[str, ...] = ()
    trust_env: bool = False
    max_reply_bytes: int = 16 * 1024 * 1024
    upload_dir: Path | None = None
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
        self._rules = UrlRules(self._options.allow_http_hosts)
        self._pools = Pools(self._options.ssl_context)
        self._tokens = TokenStore(self._oauth_tokens, self._fetch_token)
        self._checked: set[str] = set()

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
        async with self._answered(request, body, context=_CALL) as response:
            content = await _read(response, self._options.max_reply_bytes)
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
            async with self._answered(request, None, context=_DISCOVERY) as response:
                content = await _read(response, MAX_DOCUMENT_BYTES)
                content_type, url = response.headers.get("Content-Type", ""), str(response.url)
        except ToolCallError as error:
            raise DocumentError(str(error), status=_status(error)) from error
        return await asyncio.to_thread(parse_document, content, content_type, url), url

    async def close(self) -> None:
        """Close all connections, whichever loop they belong to; a second time does nothing."""
        await self._pools.close()

    # Upstream's own `register_manual` goes through these two, so that its requests are right as well.

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
        origin, path, query, used = _parsed(url_template).expand(tool_args, {})
        for name in used:
            del tool_args[name]
        return f"{origin}{path}{'?' if query else ''}{'&'.join(query)}"

    async def _encoded_body(self, request: HttpRequest, template: Any) -> Body | None:
        if request.content is NO_BODY:
            return None
        rules = BodyRules(self._options.upload_dir)
        if isinstance(template, MappedHttpCallTemplate):
            rules = BodyRules(
                self._options.upload_dir,
                frozenset(template.file_fields),
                template.part_types,
                template.form_styles,
            )
        encode = partial(encode_body, request.content, request.content_type, rules)
        may_read_files = rules.upload_dir is not None and not isinstance(request.content, str)
        return await asyncio.to_thread(encode) if may_read_files else encode()

    @contextlib.asynccontextmanager
    async def _answered(
        self, request: HttpRequest, body: Body | None, *, context: str
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The final reply of a request, of a status below 400; everything that fails is an error of ours."""
        self._check(request, context)
        if body is not None:
            request.headers["Content-Type"] = body.content_type
        token = await self._authorise(request)
        response = await self._send(request, body, context)
        try:
            if response.status == 401 and token is not None and request.oauth2 is not None:
                response.release()
                self._tokens.refuse(request.oauth2, token)
                await self._authorise(request)
                response = await self._send(request, body, context)
            if response.status >= 400:
                raise await _http_error(response)
            yield response
        except (aiohttp.ClientError, OSError) as error:
            raise connection_error(error, response.url) from error
        finally:
            # Ends the connection if the reply has not been read to its end.
            response.release()

    def _check(self, request: HttpRequest, context: str) -> None:
        template = request.url_template
        if template in self._checked:
            return
        self._rules.check(str(request.url), template, context=context)
        if url_template(template).has_fixed_origin:
            if len(self._checked) > _MOST_CHECKED:
                self._checked.clear()
            self._checked.add(template)

    async def _authorise(self, request: HttpRequest) -> str | None:
        if request.oauth2 is None:
            return None
        token = await self._tokens.token(request.oauth2)
        request.headers["Authorization"] = f"Bearer {token}"
        return token

    async def _send(self, request: HttpRequest, body: Body | None, context: str) -> aiohttp.ClientResponse:
        """Send a request and follow redirects, each checked before it is followed."""
        pool = await self._pools.get()
        if request.method in _NOT_REPEATABLE:
            await pool.settle()
        method, url, headers = request.method, request.url, request.headers
        for _ in range(MAX_REDIRECTS + 1):
            try:
                response = await pool.session.request(
                    method,
                    url,
                    headers=headers,
                    data=None if body is None else _payload(body.content),
                    allow_redirects=False,
                    proxy=self._proxy(url),
                )
            except (aiohttp.ClientError, OSError) as error:
                raise connection_error(error, url) from error
            location = response.headers.get("Location") if response.status in REDIRECT_STATUSES else None
            if not location:
                return response
            response.release()
            target = _redirect_target(url, location)
            self._rules.check_redirect(str(url), str(target), context=context)
            headers = headers.copy()
            if not same_origin(str(url), str(target)):
                body = None
                headers = CIMultiDict(
                    (name, value)
                    for name, value in headers.items()
                    if not is_secret_header(name, request.secret_headers)
                )
            elif response.cookies:
                headers["Cookie"] = _with_cookies(headers.get("Cookie"), response)
            if response.status == 303 and method != "HEAD":
                method, body = "GET", None
            if body is None:
                headers.popall("Content-Type", None)
            url = target
        raise ToolExecutionError(f"{origin_of(str(request.url))} redirected more than {MAX_REDIRECTS} times.")

    def _proxy(self, url: URL) -> str | None:
        # Not aiohttp's `trust_env`: that also sends credentials of `~/.netrc`, and fails on our own `Authorization`.
        if not self._options.trust_env or is_loopback_url(str(url)) or proxy_bypass(f"{url.host}:{url.port}"):
            return None
        return getproxies().get(url.scheme)

    async def _fetch_token(self, auth: OAuth2Auth) -> dict[str, Any]:
        # Credentials in the body first, then as basic authentication, as upstream does: servers take one or the other.
        error: ToolExecutionError | None = None
        for with_secret in (True, False):
            request = HttpRequest(
                "POST",
                URL(auth.token_url),
                auth.token_url,
                CIMultiDict({"Accept": "application/json"}),
                NO_BODY,
                _FORM,
                frozenset({"authorization"}),
                None,
            )
            if not with_secret:
                request.headers["Authorization"] = basic_auth(auth.client_id, auth.client_secret)
            server = origin_of(auth.token_url)
            try:
                form = Body(token_form(auth, with_secret=with_secret), _FORM)
                async with self._answered(request, form, context=_TOKEN) as response:
                    return token_reply(await _read(response, MAX_ERROR_BYTES), server)
            except ToolExecutionError as refused:
                if _status(refused) is None:
                    raise
                error = ToolExecutionError(
                    f"The OAuth2 token endpoint at {server} gave no token: {refused}", raw=refused.raw
                )
        assert error is not None  # noqa: S101
        raise error


def _http_template(template: Any) -> HttpCallTemplate:
    if not isinstance(template, HttpCallTemplate):
        raise ValueError("HttpProtocol can only be used with an HttpCallTemplate.")  # noqa: TRY004 - as upstream
    return template


def _payload(content: bytes) -> bytes | io.BytesIO:
    return content if len(content) <= _BIG_BODY else io.BytesIO(content)


def _redirect_target(url: URL, location: str) -> URL:
    try:
        joined = urljoin(str(url), location)
        target = URL(joined, encoded=joined.isascii() and " " not in joined)
        return target.with_user(None) if target.user is not None else target
    except ValueError as error:
        raise RefusedRequestError(f"{origin_of(str(url))} redirected to an address that cannot be read.") from error


def _with_cookies(known: str | None, response: aiohttp.ClientResponse) -> str:
    fresh = [f"{name}={morsel.coded_value}" for name, morsel in response.cookies.items()]
    return "; ".join(([known] if known else []) + fresh)


async def _http_error(response: aiohttp.ClientResponse) -> ToolExecutionError:
    chunks: list[bytes] = []
    size = 0
    try:
        while size < MAX_ERROR_BYTES and (chunk := await response.content.readany()):
            chunks.append(chunk)
            size += len(chunk)
    except aiohttp.ClientError:
        pass  # the status is known, and more useful than that the body broke off
    headers = response.headers
    return http_error(
        response.status,
        response.reason,
        b"".join(chunks)[:MAX_ERROR_BYTES],
        headers.get("Content-Type", ""),
        retry_after=headers.get("Retry-After"),
    )


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """The body, decompressed; stops reading where it passes the limit."""
    stream = response.content
    declared = response.content_length or 0
    if declared > limit and response.method != "HEAD":
        raise _too_large(limit, f"{declared:,} bytes")
    content = await stream.readany()
    size = len(content)
    if stream.at_eof() and size <= limit:
        return content
    chunks = [content]
    while size <= limit and (chunk := await stream.readany()):
        chunks.append(chunk)
        size += len(chunk)
    if size > limit:
        raise _too_large(limit, "more than that")
    return b"".join(chunks)


def _too_large(limit: int, size: str) -> ToolExecutionError:
    return ToolExecutionError(
        f"The reply is too large: the limit is {limit:,} bytes, the server sent {size}. Ask for less, such as fewer "
        "items or a smaller page.",
        raw=[{"type": "reply_too_large", "limit": limit}],
    )


def _status(error: ToolCallError) -> int | None:
    return next((block["status"] for block in error.raw if block.get("type") == "http_error"), None)
