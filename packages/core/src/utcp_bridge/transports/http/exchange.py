"""One request over a pool's connections to its final reply: redirects, proxies, and reading within limits."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDict
from utcp_http._security import is_loopback_url
from yarl import URL

from utcp_bridge.errors import ToolExecutionError, ToolTransportError
from utcp_bridge.transports.http.body import Body
from utcp_bridge.transports.http.failures import coding_error, connection_error
from utcp_bridge.transports.http.pool import Pools
from utcp_bridge.transports.http.reason import MAX_ERROR_BYTES, http_error
from utcp_bridge.transports.http.reply import BegunReply
from utcp_bridge.transports.http.request import HttpRequest
from utcp_bridge.transports.http.security import (
    MAX_REDIRECTS,
    REDIRECT_STATUSES,
    RefusedRequestError,
    UrlRules,
    is_secret_header,
    origin_of,
    same_origin,
)
from utcp_bridge.transports.http.url import parse_url_template

_MOST_CHECKED: Final = 10_000
_BIG_BODY: Final = 2**20  # aiohttp warns about larger ones given as bytes


class Sender:
    """Sends requests, and only to where they may go.

    Args:
        pools: Where the connections come from.
        rules: Which URLs may be asked.
        trust_env: Whether the environment's proxies are used.
    """

    def __init__(self, pools: Pools, rules: UrlRules, *, trust_env: bool) -> None:
        self._pools = pools
        self._rules = rules
        self._trust_env = trust_env
        self._checked: set[str] = set()

    def check(self, request: HttpRequest, context: str) -> None:
        """Refuse a request whose URL must not be asked; see `UrlRules.check`."""
        template = request.url_template
        if template in self._checked:
            return
        self._rules.check(str(request.url), template, context=context)
        if parse_url_template(template).has_fixed_origin:
            if len(self._checked) > _MOST_CHECKED:
                self._checked.clear()
            self._checked.add(template)

    async def send(
        self, request: HttpRequest, body: Body | None, context: str, *, follow: bool = True
    ) -> aiohttp.ClientResponse:
        """Send a request that was checked, and follow redirects, each checked before it is followed.

        Args:
            request: What to ask.
            body: The encoded body, or None.
            context: What the request is for, for messages.
            follow: Whether redirects are followed (default) or refused.

        Returns:
            The reply, of whatever status, its body not read yet; to be released by the caller.

        Raises:
            ToolTransportError: There is no reply, or a redirect must not be followed.
            ToolExecutionError: There were too many redirects.
        """
        pool = await self._pools.get()
        method, url, headers = request.method, request.url, request.headers
        for _ in range(MAX_REDIRECTS + 1):
            response: aiohttp.ClientResponse | None = None
            failure: ToolTransportError
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
                failure = connection_error(error, url)
            if response is None:
                raise failure  # out here, because aiohttp's own error can hold the URL
            location = response.headers.get("Location") if response.status in REDIRECT_STATUSES else None
            if not location:
                return response
            response.release()
            if not follow:
                raise RefusedRequestError(
                    f"{origin_of(str(url))} answered with a redirect (status {response.status}), which is not followed "
                    "for a stream; let the call template name the final URL."
                )
            target = _redirect_target(url, location)
            self._rules.check_redirect(str(url), str(target), context=context)
            headers = headers.copy()
            if response.status == 303 and method != "HEAD":
                method, body = "GET", None
            if not same_origin(str(url), str(target)):
                if body is not None:
                    raise RefusedRequestError(
                        f"{origin_of(str(url))} redirected to another server, {origin_of(str(target))}, which is not "
                        "sent the body of the request; let the call template name the final URL."
                    )
                headers = CIMultiDict(
                    (name, value)
                    for name, value in headers.items()
                    if not is_secret_header(name, request.secret_headers)
                )
            elif response.cookies:
                headers["Cookie"] = _with_cookies(headers.get("Cookie"), response)
            if body is None:
                headers.popall("Content-Type", None)
            url = target
        raise ToolExecutionError(f"{origin_of(str(request.url))} redirected more than {MAX_REDIRECTS} times.")

    def _proxy(self, url: URL) -> str | None:
        # Not aiohttp's `trust_env`: that also sends credentials of `~/.netrc`, and fails on our own `Authorization`.
        if not self._trust_env or is_loopback_url(str(url)) or proxy_bypass(f"{url.host}:{url.port}"):
            return None
        return getproxies().get(url.scheme)


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


def leads_nowhere(response: aiohttp.ClientResponse) -> bool:
    """Whether a reply is a redirect that does not say where to."""
    return response.status in REDIRECT_STATUSES and not response.headers.get("Location")


async def error_of(response: aiohttp.ClientResponse) -> ToolExecutionError:
    """The error that a reply stands for, of status 400 or above or a redirect; reads at most 64 KiB of it."""
    chunks: list[bytes] = []
    size = 0
    try:
        while size < MAX_ERROR_BYTES and (chunk := await response.content.readany()):
            chunks.append(chunk)
            size += len(chunk)
    except (aiohttp.ClientError, OSError):
        pass  # the status is known, and more useful than that the body broke off
    headers = response.headers
    return http_error(
        response.status,
        response.reason,
        b"".join(chunks)[:MAX_ERROR_BYTES],
        headers.get("Content-Type", ""),
        retry_after=headers.get("Retry-After"),
    )


async def read_body(
    response: aiohttp.ClientResponse, limit: int, begin: Callable[[], BegunReply] | None = None
) -> bytes:
    """The body, decompressed.

    Args:
        response: The reply.
        limit: Where reading stops with an error, in bytes.
        begin: Gives what takes each part of a body that does not come in one; default None.

    Raises:
        ToolExecutionError: It has more bytes than `limit`, where reading stops.
        ToolTransportError: The server broke off, or compressed it in a way that cannot be read.
    """
    stream = response.content
    unread = coding_error(response.headers.get("Content-Encoding", ""), response.url)
    if unread is not None and not stream.at_eof():
        raise unread
    declared = response.content_length or 0
    if declared > limit and response.method != "HEAD":
        raise _too_large(limit, f"{declared:,} bytes")
    try:
        content = await stream.readany()
        size = len(content)
        if stream.at_eof() and size <= limit:
            return content
        chunks = [content]
        begun = None if begin is None else begin()
        if begun is not None:
            begun.add(content)
        while size <= limit and (chunk := await stream.readany()):
            chunks.append(chunk)
            size += len(chunk)
            if begun is not None:
                begun.add(chunk)
    except (aiohttp.ClientError, OSError) as error:
        raise connection_error(error, response.url) from error
    if size > limit:
        raise _too_large(limit, "more than that")
    return b"".join(chunks)


class BodyReader:
    """Reads a body, decompressed, as it comes.

    Args:
        response: The reply.
        limit: Where reading stops with an error, in bytes.
    """

    def __init__(self, response: aiohttp.ClientResponse, limit: int) -> None:
        self._response = response
        self._limit = limit
        self._size = 0

    async def some(self, most: int = 64 * 1024) -> bytes:
        """What has come and was not read yet, at most `most` bytes of it, or what comes next; empty at the end.

        Raises:
            ToolExecutionError: The body has more bytes than the limit.
            ToolTransportError: The server broke off.
        """
        try:
            content = await self._response.content.read(most)
        except (aiohttp.ClientError, OSError) as error:
            raise connection_error(error, self._response.url) from error
        self._size += len(content)
        if self._size > self._limit:
            raise _too_large(self._limit, "more than that")
        return content


def _too_large(limit: int, size: str) -> ToolExecutionError:
    return ToolExecutionError(
        f"The reply is too large: the limit is {limit:,} bytes, the server sent {size}. Ask for less, such as fewer "
        "items or a smaller page.",
        raw=[{"type": "reply_too_large", "limit": limit}],
    )
