"""OAuth2 client credentials: fetched once, kept until they expire, replaced when refused."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from utcp.data.auth_implementations.oauth2_auth import OAuth2Auth
from utcp_http.http_call_template import HttpCallTemplate

from tests.support.http_server import HttpServer, http_server
from utcp_bridge.errors import ToolExecutionError, ToolTransportError
from utcp_bridge.transports.http.protocol import HttpProtocol


@dataclass
class Issuer:
    """A token endpoint at `/token`, and a tool everywhere else that accepts the tokens it has not revoked."""

    server: HttpServer = field(default_factory=HttpServer)
    lifetime: Any = None
    basic_only: bool = False
    reply: Callable[[], web.Response] | None = None
    revoked: set[str] = field(default_factory=set)
    issued: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path != "/token":
            token = request.headers.get("Authorization", "").removeprefix("Bearer ")
            if not token.startswith("t") or token in self.revoked:
                return web.json_response({"error": "invalid_token"}, status=401)
            return web.json_response({"token": token})
        self.asked.set()
        await self.release.wait()
        if self.reply is not None:
            return self.reply()
        if self.basic_only and "Authorization" not in request.headers:
            return web.json_response({"error": "invalid_client", "error_description": "use basic"}, status=401)
        self.issued += 1
        body = {"access_token": f"t{self.issued}", "token_type": "Bearer"}
        return web.json_response(body if self.lifetime is None else body | {"expires_in": self.lifetime})

    def template(self, **auth: Any) -> HttpCallTemplate:
        credential = {
            "client_id": "id",
            "client_secret": "se cret",
            "token_url": f"{self.server.url}/token",
            "scope": "read write",
        }
        return HttpCallTemplate(name="m", url=f"{self.server.url}/tool", auth=OAuth2Auth(**(credential | auth)))

    @property
    def token_requests(self) -> list[dict[str, list[str]]]:
        return [parse_qs(one.body.decode()) for one in self.server.received if one.target == "/token"]


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    made = Issuer()
    made.release.set()
    async with http_server(made.answer) as server:
        made.server = server
        yield made


@pytest.fixture
async def protocol() -> AsyncIterator[HttpProtocol]:
    opened = HttpProtocol()
    yield opened
    await opened.close()


async def token_of(protocol: HttpProtocol, template: HttpCallTemplate) -> str:
    reply = await protocol.call_tool(None, "m.tool", {}, template)
    return str(reply["token"])


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the token store's clock forward."""
    now = 1000.0

    def advance(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr("utcp_bridge.transports.http.oauth.monotonic", lambda: now)
    return advance


async def test_a_token_is_fetched_once_and_sent(issuer: Issuer, protocol: HttpProtocol) -> None:
    assert [await token_of(protocol, issuer.template()) for _ in range(3)] == ["t1"] * 3
    assert issuer.token_requests == [
        {
            "grant_type": ["client_credentials"],
            "client_id": ["id"],
            "client_secret": ["se cret"],
            "scope": ["read write"],
        }
    ]


async def test_no_scope_is_sent_where_none_is_set(issuer: Issuer, protocol: HttpProtocol) -> None:
    await token_of(protocol, issuer.template(scope=None))
    assert "scope" not in issuer.token_requests[0]


async def test_basic_authentication_is_tried_when_the_body_is_refused(issuer: Issuer, protocol: HttpProtocol) -> None:
    issuer.basic_only = True
    assert await token_of(protocol, issuer.template()) == "t1"
    second = issuer.server.received[1]
    assert base64.b64decode(second.headers["Authorization"].removeprefix("Basic ")) == b"id:se cret"
    assert "client_secret" not in issuer.token_requests[1]


@pytest.mark.parametrize("lifetime", [100, "100", 100.0])
async def test_a_token_is_replaced_before_it_expires(
    issuer: Issuer, protocol: HttpProtocol, clock: Callable[[float], None], lifetime: Any
) -> None:
    issuer.lifetime = lifetime
    assert await token_of(protocol, issuer.template()) == "t1"
    clock(80)
    assert await token_of(protocol, issuer.template()) == "t1"
    clock(11)
    assert await token_of(protocol, issuer.template()) == "t2"


@pytest.mark.parametrize("lifetime", [None, "soon", {}])
async def test_a_token_without_a_lifetime_is_kept(
    issuer: Issuer, protocol: HttpProtocol, clock: Callable[[float], None], lifetime: Any
) -> None:
    issuer.lifetime = lifetime
    await token_of(protocol, issuer.template())
    clock(1e9)
    assert await token_of(protocol, issuer.template()) == "t1"


async def test_a_refused_token_is_replaced_once(issuer: Issuer, protocol: HttpProtocol) -> None:
    await token_of(protocol, issuer.template())
    issuer.revoked = {"t1"}
    assert await asyncio.gather(*(token_of(protocol, issuer.template()) for _ in range(5))) == ["t2"] * 5
    assert issuer.issued == 2
    issuer.revoked = {f"t{number}" for number in range(9)}
    with pytest.raises(ToolExecutionError, match="HTTP 401 Unauthorized: invalid_token"):
        await token_of(protocol, issuer.template())
    assert issuer.issued == 3


async def test_calls_at_once_share_one_request_for_a_token(issuer: Issuer, protocol: HttpProtocol) -> None:
    assert set(await asyncio.gather(*(token_of(protocol, issuer.template()) for _ in range(10)))) == {"t1"}


async def test_a_cancelled_call_leaves_the_token_to_the_others(issuer: Issuer, protocol: HttpProtocol) -> None:
    issuer.release.clear()
    first, second = (asyncio.ensure_future(token_of(protocol, issuer.template())) for _ in range(2))
    await issuer.asked.wait()
    first.cancel()
    issuer.release.set()
    assert await second == "t1"
    assert issuer.issued == 1


async def test_when_all_calls_are_cancelled_the_request_for_their_token_is_too(
    issuer: Issuer, protocol: HttpProtocol
) -> None:
    issuer.release.clear()
    calls = [asyncio.ensure_future(token_of(protocol, issuer.template())) for _ in range(2)]
    await issuer.asked.wait()
    before = asyncio.all_tasks()
    for waiting in calls:
        waiting.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    ended = before - asyncio.all_tasks()
    assert len(ended) == 3, "two calls and the request for their token"
    issuer.release.set()


@pytest.mark.parametrize("difference", [{"client_id": "b"}, {"client_secret": "b"}, {"scope": "b"}])
async def test_another_credential_gets_another_token(
    issuer: Issuer, protocol: HttpProtocol, difference: dict[str, str]
) -> None:
    assert await token_of(protocol, issuer.template()) == "t1"
    assert await token_of(protocol, issuer.template(**difference)) == "t2"
    assert await token_of(protocol, issuer.template()) == "t1"


async def test_another_issuer_gets_another_token(issuer: Issuer, protocol: HttpProtocol) -> None:
    other = Issuer()
    other.release.set()
    other.issued = 50
    async with http_server(other.answer) as other.server:
        assert await token_of(protocol, issuer.template()) == "t1"
        assert await token_of(protocol, other.template()) == "t51"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (
            lambda: web.json_response({"error": "invalid_client", "error_description": "unknown"}, status=401),
            "gave no token: HTTP 401 Unauthorized: invalid_client: unknown",
        ),
        (lambda: web.json_response({"token": "x"}), "without an access_token"),
        (lambda: web.Response(text="<html>"), "without an access_token"),
        (lambda: web.json_response({"access_token": "a\r\nX-Evil: 1"}), "without an access_token"),
        (lambda: web.json_response({"access_token": 5}), "without an access_token"),
    ],
)
async def test_a_token_endpoint_that_gives_no_token_is_named(
    issuer: Issuer, protocol: HttpProtocol, reply: Callable[[], web.Response], reason: str
) -> None:
    issuer.reply = reply
    with pytest.raises(ToolExecutionError, match=reason) as caught:
        await token_of(protocol, issuer.template())
    assert f"127.0.0.1:{issuer.server.port}" in str(caught.value)
    assert "se cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/token", "http://attacker.example/token?k=sk-secret", "https://[bad/"]
)
async def test_credentials_are_not_sent_over_plain_http(issuer: Issuer, protocol: HttpProtocol, url: str) -> None:
    with pytest.raises(ToolTransportError, match="OAuth2 token URL") as caught:
        await token_of(protocol, issuer.template(token_url=url))
    assert "sk-secret" not in str(caught.value)


async def test_credentials_do_not_follow_a_redirect_to_another_origin(issuer: Issuer, protocol: HttpProtocol) -> None:
    async with http_server() as other:
        issuer.reply = lambda: web.Response(status=307, headers={"Location": f"{other.url}/steal"})
        with pytest.raises(ToolTransportError, match="name the final URL"):
            await token_of(protocol, issuer.template())
    assert not other.received


def test_tokens_are_shared_by_loops_and_survive_them() -> None:
    async def main(issuer: Issuer, protocol: HttpProtocol) -> str:
        async with http_server(issuer.answer) as server:
            address, server.url = server.url, issuer.server.url or server.url
            issuer.server = server
            template = issuer.template().model_copy(update={"url": f"{address}/tool"})
            return await token_of(protocol, template)

    issuer, protocol = Issuer(), HttpProtocol()
    issuer.release.set()
    assert [asyncio.run(main(issuer, protocol)) for _ in range(2)] == ["t1", "t1"]
    asyncio.run(protocol.close())
