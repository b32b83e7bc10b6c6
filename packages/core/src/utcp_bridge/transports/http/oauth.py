"""OAuth2 client credentials (RFC 6749, section 4.4): tokens that expire, are shared, and are fetched once."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import urlencode

from utcp.data.auth_implementations.oauth2_auth import OAuth2Auth

from utcp_bridge.errors import ToolExecutionError
from utcp_bridge.transports.http.cross_loop_lock import CrossLoopLock

_EXPIRES_AT = "utcp_bridge_expires_at"
_TOKEN = re.compile(r"[\x20-\x7e]+")  # RFC 6749, appendix A.12


class TokenStore:
    """Tokens by the full credential, and at most one request for each at any time, whichever loops ask.

    Args:
        tokens: Where token replies are kept; upstream's `_oauth_tokens`, keyed by `OAuth2Auth.cache_key()`.
        fetch: Gets the token endpoint's reply for a credential.
    """

    def __init__(
        self, tokens: dict[str, dict[str, Any]], fetch: Callable[[OAuth2Auth], Awaitable[dict[str, Any]]]
    ) -> None:
        self._tokens = tokens
        self._fetch = fetch
        self._flights: dict[tuple[asyncio.AbstractEventLoop, str], _Flight] = {}
        self._turns: dict[str, CrossLoopLock] = {}

    async def token(self, auth: OAuth2Auth) -> str:
        """A token that has not expired."""
        key = auth.cache_key()
        known = self._known(key)
        return await self._shared(key, auth) if known is None else known

    def refuse(self, auth: OAuth2Auth, token: str) -> None:
        """Forget a token that a server did not accept, unless it has been replaced already."""
        key = auth.cache_key()
        known = self._tokens.get(key)
        if known is not None and known["access_token"] == token:
            del self._tokens[key]

    async def _shared(self, key: str, auth: OAuth2Auth) -> str:
        place = (asyncio.get_running_loop(), key)
        flight = self._flights.get(place)
        if flight is None:
            flight = self._flights[place] = _Flight(asyncio.ensure_future(self._refresh(key, auth)))
        flight.waiting += 1
        try:
            # One caller's cancellation must not take the token from the others.
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.task.done() or not flight.waiting:
                if self._flights.get(place) is flight:
                    del self._flights[place]
                if not flight.task.done():
                    flight.task.cancel()
                    with suppress(asyncio.CancelledError):
                        await flight.task

    async def _refresh(self, key: str, auth: OAuth2Auth) -> str:
        async with self._turns.setdefault(key, CrossLoopLock()):
            known = self._known(key)  # another loop may have fetched it meanwhile
            return await self._fetched(key, auth) if known is None else known

    async def _fetched(self, key: str, auth: OAuth2Auth) -> str:
        asked = monotonic()
        reply = await self._fetch(auth)
        lifetime = _seconds(reply.get("expires_in"))
        if lifetime is not None:
            # A tenth early, at most half a minute, so that it does not expire on its way.
            reply = {**reply, _EXPIRES_AT: asked + lifetime - min(30.0, lifetime / 10)}
        self._tokens[key] = reply
        return str(reply["access_token"])

    def _known(self, key: str) -> str | None:
        known = self._tokens.get(key)
        if known is None or monotonic() >= known.get(_EXPIRES_AT, float("inf")):
            return None
        return str(known["access_token"])


@dataclass(slots=True)
class _Flight:
    task: asyncio.Future[str]
    waiting: int = 0


def token_form(auth: OAuth2Auth, *, with_secret: bool) -> bytes:
    """The body of a token request, with the client's secret in it or (for basic authentication) without."""
    form = {"grant_type": "client_credentials"}
    if with_secret:
        form |= {"client_id": auth.client_id, "client_secret": auth.client_secret}
    if auth.scope:
        form["scope"] = auth.scope
    return urlencode(form).encode()


def token_reply(content: bytes, server: str) -> dict[str, Any]:
    """The token endpoint's reply.

    Raises:
        ToolExecutionError: It holds no token.
    """
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError):
        reply = None
    token = reply.get("access_token") if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise ToolExecutionError(f"The OAuth2 token endpoint at {server} answered without an access_token.")
    return reply


def _seconds(value: Any) -> float | None:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return None
