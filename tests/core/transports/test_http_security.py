"""Which URLs are asked and which are not: upstream's rules on every hop, and the hosts that the user named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from utcp.data.auth_implementations.api_key_auth import ApiKeyAuth
from utcp_http.http_call_template import HttpCallTemplate

from tests.support.http_server import HttpServer, http_server, replying
from utcp_bridge.errors import ToolExecutionError, ToolTransportError
from utcp_bridge.transports.http.protocol import HttpOptions, HttpProtocol
from utcp_bridge.transports.http.security import RefusedRequestError, UrlRules


@pytest.fixture
async def protocol() -> AsyncIterator[HttpProtocol]:
    opened = HttpProtocol()
    yield opened
    await opened.close()


async def call(protocol: HttpProtocol, url: str, arguments: dict[str, Any] | None = None, **template: Any) -> Any:
    return await protocol.call_tool(None, "m.x", arguments or {}, HttpCallTemplate(name="m", url=url, **template))


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/x?api_key=sk-secret",
        "http://169.254.169.254/latest/meta-data",
        "http://192.168.1.5:8123/api",
        "http://localhost.evil.example/",
        "http://127.0.0.1.evil.example/",
        "ftp://localhost/x",
        "file:///etc/passwd",
        "//localhost/x",
        "/relative",
        "not a url",
        "http://",
        "http://[::1/",
    ],
)
async def test_a_url_that_is_not_safe_is_refused_and_not_shown_in_full(protocol: HttpProtocol, url: str) -> None:
    with pytest.raises(ToolTransportError) as caught:
        await call(protocol, url)
    assert isinstance(caught.value, ValueError)  # which is what upstream raises
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "0.0.0.0", "127.1", "2130706433", "0x7f000001", "[::1]", "localhost."],  # noqa: S104
)
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_arguments_cannot_lead_to_this_machine(protocol: HttpProtocol, host: str, scheme: str) -> None:
    async with http_server() as server:
        with pytest.raises(ToolTransportError):
            await call(protocol, f"{scheme}://{{host}}:{server.port}/admin", {"host": host})
        assert server.received == []


@pytest.mark.parametrize("host", ["\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "\u24dbocalhost"])
async def test_another_spelling_of_loopback_is_still_loopback(protocol: HttpProtocol, host: str) -> None:
    with pytest.raises(ToolTransportError, match="Security error"):
        await call(protocol, f"https://{host}/admin")


@pytest.mark.parametrize("host", ["a/b", "evil.example/?", "a@b", "a:80", "a#b", "a\\b"])
async def test_an_argument_cannot_leave_the_host(protocol: HttpProtocol, host: str) -> None:
    async with http_server() as server:
        with pytest.raises(ToolTransportError):
            await call(protocol, f"http://{{host}}@127.0.0.1.evil.example:{server.port}/", {"host": host})
        with pytest.raises(ToolTransportError):
            await call(protocol, f"http://{{host}}:{server.port}/", {"host": host})


# -- hosts that the user named


@pytest.mark.parametrize(
    ("globs", "url", "allowed"),
    [
        (("homeassistant.local",), "http://homeassistant.local:8123/api", True),
        (("homeassistant.local",), "http://HomeAssistant.local./api", True),
        (("HOMEASSISTANT.local",), "http://homeassistant.local/", True),
        (("homeassistant.local:8123",), "http://homeassistant.local:8123/", True),
        (("homeassistant.local:8123",), "http://homeassistant.local/", False),
        (("192.168.1.*",), "http://192.168.1.20/", True),
        (("192.168.1.*",), "http://192.168.2.20/", False),
        (("*.lan", "printer"), "http://printer/", True),
        (("*.lan",), "http://evil.example/x.lan", False),
        (("*.lan",), "http://user:x.lan@evil.example/", False),
        (("homeassistant.local",), "http://homeassistant.local.evil.example/", False),
        ((), "http://homeassistant.local/", False),
        ((), "https://homeassistant.local/", True),
    ],
)
def test_plain_http_goes_only_to_named_hosts(globs: tuple[str, ...], url: str, allowed: bool) -> None:
    rules = UrlRules(globs)
    if allowed:
        rules.check(url, url, context="test")
    else:
        with pytest.raises(RefusedRequestError, match="allow_http_hosts"):
            rules.check(url, url, context="test")


def test_naming_a_host_allows_no_other_scheme() -> None:
    with pytest.raises(RefusedRequestError, match="the scheme 'ftp'"):
        UrlRules(("homeassistant.local",)).check(
            "ftp://homeassistant.local/", "ftp://homeassistant.local/", context="t"
        )


def test_an_argument_cannot_choose_among_the_named_hosts() -> None:
    with pytest.raises(RefusedRequestError, match="allow_http_hosts"):
        UrlRules(("*.local",)).check("http://a.local/", "http://{host}/", context="test")


@pytest.mark.parametrize(
    ("current", "target", "allowed"),
    [
        ("http://ha.local/a", "http://ha.local/b", True),
        ("http://ha.local/a", "http://ha.local:8123/b", True),
        ("http://ha.local/a", "https://example.com/", True),
        ("http://ha.local/a", "http://other.local/b", False),
        ("https://example.com/", "http://ha.local/", False),
        ("http://127.0.0.1/", "http://ha.local/", False),
        ("http://ha.local/", "http://127.0.0.1/", False),
    ],
)
def test_a_redirect_over_plain_http_stays_on_its_host(current: str, target: str, allowed: bool) -> None:
    rules = UrlRules(("*.local",))
    if allowed:
        rules.check_redirect(current, target, context="test")
    else:
        with pytest.raises(RefusedRequestError, match="redirect target"):
            rules.check_redirect(current, target, context="test")


# -- redirects


def redirecting(location: str, status: int = 302, **headers: str) -> Any:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/landed":
            return web.json_response({"landed": True})
        return await replying("", status=status, Location=location, **headers)(request)

    return answer


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_on_the_same_server_are_followed_with_everything(protocol: HttpProtocol, status: int) -> None:
    async with http_server(redirecting("/landed?x=%2C", status)) as server:
        auth = ApiKeyAuth(api_key="key", var_name="X-Key", location="header")
        template = {"http_method": "POST", "auth": auth}
        assert await call(protocol, f"{server.url}/start?q=1", {"body": {"a": 1}}, **template) == {"landed": True}
        assert server.last.target == "/landed?x=%2C"
        assert server.last.headers["X-Key"] == "key"
        kept = ("GET", b"", None) if status == 303 else ("POST", b'{"a":1}', "application/json")
        assert (server.last.method, server.last.body, server.last.headers.get("Content-Type")) == kept


@pytest.mark.parametrize(
    ("status", "given"), [*((status, {}) for status in (301, 302, 307, 308)), (303, {"body": {"a": 1}})]
)
async def test_a_redirect_to_another_origin_gets_no_secret(
    protocol: HttpProtocol, status: int, given: dict[str, Any]
) -> None:
    async with http_server() as other, http_server(redirecting(f"{other.url}/landed", status)) as server:
        await call(
            protocol,
            server.url,
            given,
            http_method="POST",
            headers={"X-Auth-Token": "t", "Cookie": "s=1", "Authorization": "Bearer b", "X-Plain": "kept"},
            auth=ApiKeyAuth(api_key="key", var_name="X-MyApp", location="header"),
        )
    received = other.last
    assert (received.method, received.body) == ("GET" if status == 303 else "POST", b"")
    assert received.headers.keys().isdisjoint({"X-Auth-Token", "Cookie", "Authorization", "X-MyApp", "Content-Type"})
    assert received.headers["X-Plain"] == "kept"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_body_is_not_sent_to_another_origin_nor_left_out(
    protocol: HttpProtocol, status: int, method: str
) -> None:
    async with http_server() as other, http_server(redirecting(f"{other.url}/landed?k=sk-secret", status)) as server:
        with pytest.raises(RefusedRequestError, match="let the call template name the final URL") as caught:
            await call(protocol, server.url, {"body": {"a": 1}}, http_method=method)
    assert str(other.port) in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert not other.received


async def test_a_query_key_does_not_follow_a_redirect(protocol: HttpProtocol) -> None:
    async with http_server() as other, http_server(redirecting(f"{other.url}/landed")) as server:
        await call(protocol, server.url, auth=ApiKeyAuth(api_key="key", var_name="k", location="query"))
    assert server.last.query == [("k", "key")]
    assert other.last.query == []


async def test_cookies_set_on_the_way_go_along(protocol: HttpProtocol) -> None:
    async with http_server(redirecting("/landed", Set_Cookie="step=1; Path=/")) as server:
        await call(protocol, server.url, headers={"Cookie": "mine=2"})
        assert server.last.headers["Cookie"] == "mine=2; step=1"


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data?token=sk-secret",
        "http://example.com/",
        "ftp://127.0.0.1/",
        "http://[bad",
    ],
)
async def test_a_redirect_to_an_unsafe_address_is_refused(protocol: HttpProtocol, location: str) -> None:
    async with http_server(redirecting(location)) as server:
        with pytest.raises(ToolTransportError, match=r"redirect") as caught:
            await call(protocol, server.url)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1/", "https://localhost./x", "https://127.1/", "https://2130706433/", "http://[::1]/"]
)
def test_a_redirect_never_enters_loopback(target: str) -> None:
    with pytest.raises(RefusedRequestError, match="never followed into loopback"):
        UrlRules(("*",)).check_redirect("https://remote.example/", target, context="test")


async def test_endless_redirects_end(protocol: HttpProtocol) -> None:
    async with http_server(redirecting("/again?key=sk-secret")) as server:
        with pytest.raises(ToolExecutionError, match="redirected more than 5 times") as caught:
            await call(protocol, server.url)
        assert len(server.received) == 6
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(("body", "told"), [("", r" \(a redirect"), ("it moved", r": it moved \(a redirect")])
async def test_a_redirect_without_a_target_is_a_failure(
    protocol: HttpProtocol, status: int, body: str, told: str
) -> None:
    async with http_server(replying(body, status=status, Content_Type="text/plain")) as server:
        with pytest.raises(ToolExecutionError, match=rf"HTTP {status} [\w ]+{told} that does not say where to\)"):
            await call(protocol, server.url)


async def test_named_hosts_can_be_called(protocol: HttpProtocol, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way, with a name that is not loopback by its spelling."""
    import socket

    real = socket.getaddrinfo

    def resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        return real("127.0.0.1" if host == "homeassistant.local" else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    server: HttpServer
    async with http_server() as server:
        knowing = HttpProtocol(HttpOptions(allow_http_hosts=("homeassistant.local",)))
        url = f"http://homeassistant.local:{server.port}/api"
        assert await call(knowing, url) == {}
        with pytest.raises(ToolTransportError, match="allow_http_hosts"):
            await call(protocol, url)
        await knowing.close()
