"""Whatever a call raises becomes the right error, with the reason that helps and nothing that floods."""

from __future__ import annotations

import json
import ssl
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from multidict import CIMultiDict, CIMultiDictProxy
from pydantic import BaseModel, ValidationError
from utcp.exceptions import UtcpSerializerValidationError, UtcpVariableNotFound
from yarl import URL

from tests.support.documents import serving
from utcp_bridge import Toolset, errors
from utcp_bridge.transports.failures import call_error, reason, reason_in

URL_WITH_KEY = URL("https://api.example.com/v1/x?api_key=sk-LIVE")
REQUEST = aiohttp.RequestInfo(URL_WITH_KEY, "GET", CIMultiDictProxy(CIMultiDict()), URL_WITH_KEY)


def _status(status: int, message: str, body: str = "") -> aiohttp.ClientResponseError:
    error = aiohttp.ClientResponseError(REQUEST, (), status=status, message=message)
    if body:
        error.body = body  # type: ignore[attr-defined]
    return error


def _validation_error() -> ValidationError:
    class Template(BaseModel):
        url: str

    try:
        Template.model_validate({"url": ["s3cret"]})
    except ValidationError as error:
        return error
    raise AssertionError


def _serializer_error() -> Exception:
    error = UtcpSerializerValidationError("Invalid CallTemplate: Traceback (most recent call last)\n  much text")
    error.__cause__ = _validation_error()
    return error


class McpError(Exception):
    """Shaped like the MCP SDK's error."""

    def __init__(self, message: str) -> None:
        super().__init__("Error")
        self.error = SimpleNamespace(code=-32602, message=message, data=None)


CASES: list[tuple[Exception, type[errors.ToolCallError], str]] = [
    (
        _status(404, "Not Found: no city", '{"error": "no city"}'),
        errors.ToolExecutionError,
        "HTTP 404 Not Found: no city",
    ),
    (_status(500, "Internal Server Error"), errors.ToolExecutionError, "HTTP 500 Internal Server Error"),
    (_status(403, "Forbidden: nope"), errors.ToolExecutionError, "HTTP 403 Forbidden: nope"),
    (
        _status(502, "Bad Gateway: <html>", "<html><head><title>Bad gateway</title></head><body>x</body></html>"),
        errors.ToolExecutionError,
        "HTTP 502 Bad Gateway",
    ),
    (
        _status(422, "x", '{"detail": [{"loc": ["query", "q"], "msg": "field required"}]}'),
        errors.ToolExecutionError,
        "field required",
    ),
    (aiohttp.ServerDisconnectedError(), errors.ToolTransportError, "closed the connection"),
    (aiohttp.ClientPayloadError("x"), errors.ToolTransportError, "before the end"),
    (aiohttp.TooManyRedirects(REQUEST, ()), errors.ToolTransportError, "too many times"),
    (aiohttp.InvalidURL(URL_WITH_KEY), errors.ToolTransportError, "not a URL"),
    (aiohttp.ServerTimeoutError("x"), errors.ToolTimeoutError, "no answer in time"),
    (TimeoutError(), errors.ToolTimeoutError, "no answer in time"),
    (ConnectionRefusedError(111, "Connection refused"), errors.ToolTransportError, "Connection refused"),
    (OSError(101, "Network is unreachable"), errors.ToolTransportError, "Network is unreachable"),
    (FileNotFoundError(2, "No such file", "data.txt"), errors.ToolExecutionError, "there is no file 'data.txt'"),
    (
        PermissionError(13, "Permission denied", "data.txt"),
        errors.ToolExecutionError,
        "the file 'data.txt' may not be read",
    ),
    (IsADirectoryError(21, "Is a directory", "data"), errors.ToolExecutionError, "'data' is a folder, expected a file"),
    (UtcpVariableNotFound("m_TOKEN"), errors.ToolConfigError, "m_TOKEN"),
    (ValueError("Missing required path parameter: id"), errors.ToolArgumentsError, "id"),
    (ValueError("Security error during tool invocation: URL must use HTTPS"), errors.ToolTransportError, "HTTPS"),
    (_serializer_error(), errors.ToolExecutionError, "url: expected text, got a list"),
    (KeyError("city"), errors.ToolExecutionError, "the key 'city' is missing"),
    (RuntimeError(""), errors.ToolExecutionError, "RuntimeError"),
    (McpError("unknown city"), errors.ToolExecutionError, "unknown city"),
    (ExceptionGroup("tasks", [ExceptionGroup("g", [McpError("deep down")])]), errors.ToolExecutionError, "deep down"),
    (errors.ToolExecutionError("exited with code 3"), errors.ToolExecutionError, "exited with code 3"),
    (errors.ToolTransportError("no connection"), errors.ToolTransportError, "no connection"),
    (errors.ToolArgumentsError("too many"), errors.ToolArgumentsError, "too many"),
]


@pytest.mark.parametrize(("error", "kind", "words"), CASES, ids=lambda value: type(value).__name__)
def test_every_exception_becomes_the_right_error(
    error: Exception, kind: type[errors.ToolCallError], words: str
) -> None:
    shown = call_error(error, tool="weather_get", manual="weather")
    assert type(shown) is kind
    assert (shown.tool, shown.manual) == ("weather_get", "weather")
    assert str(shown).startswith("weather_get ")
    assert words in str(shown)
    assert "sk-LIVE" not in str(shown)
    assert "s3cret" not in str(shown)
    assert "Traceback" not in str(shown)
    assert "<" not in str(shown)


@pytest.mark.parametrize(("error", "kind", "words"), CASES, ids=lambda value: type(value).__name__)
def test_the_reason_alone_names_no_tool(error: Exception, kind: type[errors.ToolCallError], words: str) -> None:
    del kind, words
    assert reason(error)
    assert "weather_get" not in reason(error)


def test_a_status_keeps_its_body_as_raw() -> None:
    shown = call_error(_status(409, "Conflict", '{"error": "taken", "by": 7}'), tool="t", manual="m")
    assert shown.raw == ({"type": "http_error", "status": 409, "body": {"error": "taken", "by": 7}},)


def test_the_blocks_of_an_error_of_ours_are_kept() -> None:
    error = errors.ToolExecutionError("exited", raw=[{"type": "cli_error", "exit_code": 3}])
    assert call_error(error, tool="t", manual="m").raw == ({"type": "cli_error", "exit_code": 3},)


def test_an_error_that_names_its_tool_is_not_wrapped_again() -> None:
    error = errors.ToolExecutionError("t failed: x", tool="t", manual="m")
    assert call_error(error, tool="t", manual="m") is error


@pytest.mark.parametrize("error", [RuntimeError("x" * 100_000), _status(500, "y", "<p>" + "z" * 100_000)])
def test_a_reason_is_bounded(error: Exception) -> None:
    assert len(str(call_error(error, tool="t", manual="m"))) < 3_000


def test_control_characters_do_not_get_through() -> None:
    assert reason(RuntimeError("a\x1b[31mb\x00c")) == "a [31mb c"


@pytest.mark.parametrize(
    ("make_error", "words"),
    [
        (lambda key: aiohttp.ClientConnectorError(key, ConnectionRefusedError(111, "Connect call failed")), "refused"),
        (lambda key: aiohttp.ClientConnectorDNSError(key, OSError("Name or service not known")), "not found"),
        (
            lambda key: aiohttp.ClientConnectorCertificateError(key, ssl.SSLCertVerificationError(1, "self-signed")),
            "certificate",
        ),
    ],
)
def test_a_connection_that_fails_names_the_host(make_error: Any, words: str) -> None:
    key = SimpleNamespace(host="api.example.com", port=443, ssl=True, is_ssl=True)
    text = reason(make_error(key))
    assert "api.example.com" in text
    assert words in text


@pytest.mark.parametrize(
    "raised",
    [
        ValueError("no such city"),
        ValueError("no such city\nFor more information check: https://developer.mozilla.org/x"),
        ValueError("no such city\n  field required [type=missing]\n    and more"),
        ExceptionGroup("of tasks", [ValueError("no such city")]),
        ExceptionGroup("of tasks", [ExceptionGroup("of tasks", [ValueError("no such city\nand more")])]),
    ],
    ids=repr,
)
def test_the_reason_in_a_traceback_is_what_was_raised(raised: Exception) -> None:
    with pytest.raises(type(raised)) as caught:
        _raise(raised)
    caught.value.__context__ = KeyError("first")
    text = "".join(traceback.format_exception(caught.value))
    assert reason_in(text) == reason(RuntimeError(f"it failed: {text}")) == "ValueError: no such city"


def test_links_of_packages_are_left_out_and_those_of_servers_are_not() -> None:
    link = "For more information check: https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/500"
    assert reason(RuntimeError(f"Server error '500' for url 'https://h/x?key=s'\n{link}")) == (
        "Server error '500' for url 'https://h/x'"
    )
    for own in ("refused\nFor more information visit https://h/docs", f"refused. {link}"):
        assert reason(McpError(own)) == own


def _raise(error: Exception) -> None:
    raise error


async def _error_of(template: dict[str, Any]) -> str:
    async with await Toolset.aopen({"manual_call_templates": [template]}) as toolset:
        return str(toolset.report.manuals[0].error)


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("mcp", "install 'utcp-mcp', which requires langchain<0.4: beside a newer one, in an environment of its own"),
        ("graphql", "install 'utcp-gql'"),
    ],
)
async def test_a_plugin_that_is_not_installed_is_named_with_what_it_goes_together_with(kind: str, advice: str) -> None:
    error = await _error_of({"call_template_type": kind, "config": {"mcpServers": {}}})
    assert error.endswith(advice)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("path", "fields", "advice"),
    [
        ("/u", {}, "; its call template gives neither 'auth' nor 'headers'"),
        ("/u", {"auth": None, "headers": {}}, "; its call template gives neither 'auth' nor 'headers'"),
        (
            "/u?a=1&b=2&sk-LIVE",
            {},
            "; its call template gives neither 'auth' nor 'headers', only 'a' and 'b' in the query of its",
        ),
        ("/u?a=1&api_key=sk-LIVE", {}, "; check 'api_key' in the query of its 'url'"),
        ("/u?k=${K_2}", {}, "; check what stands in the variable 'my__m_K_2'"),
        ("/u?k=${K_2}&l=$L", {}, "; check what stands in the variables 'my__m_K_2' and 'my__m_L'"),
        ("/bot${K_2}/u", {}, "; check what stands in the variable 'my__m_K_2'"),
        ("/u", {"headers": {"X-Key": "${K_2}"}}, "; check what stands in the variable 'my__m_K_2'"),
        ("/u?k=1", {"headers": {"X-Key": "sk-LIVE"}}, ""),
        ("/u", {"auth": {"auth_type": "api_key", "api_key": "sk-LIVE", "var_name": "X-Key"}}, ""),
    ],
)
async def test_a_refused_manual_tells_which_credentials_it_was_sent(
    path: str, fields: dict[str, Any], advice: str, status: int
) -> None:
    async with serving(u={"error": "no"}) as server:
        server.pages["/botsk-LIVE/u"] = {"error": "no"}
        server.statuses |= dict.fromkeys(("/u", "/botsk-LIVE/u"), status)
        variables = {"my__m_K_2": "sk-LIVE", "my__m_L": "sk-LIVE"}
        template = server.template("my_m", path, **fields)
        source = {"variables": variables, "manual_call_templates": [template]}
        async with await Toolset.aopen(source) as toolset:
            error = str(toolset.report.manuals[0].error)
    assert "sk-LIVE" not in error
    start, _, end = error.partition(": no")
    assert start.startswith(f"HTTP {status}")
    assert end.startswith(advice)
    assert bool(end) == bool(advice)


async def test_of_a_host_that_is_a_variable_no_credentials_are_told() -> None:
    async with serving(u={"error": "no"}) as server:
        server.statuses["/u"] = 401
        for url in ("${HOST}/u", "${HOST}/u?a=1"):
            template = {"name": "m", "call_template_type": "http", "url": url}
            source = {"variables": {"m_HOST": server.base_url}, "manual_call_templates": [template]}
            async with await Toolset.aopen(source) as toolset:
                assert "neither 'auth' nor 'headers'" in str(toolset.report)


async def test_the_user_in_a_url_that_is_refused_is_told() -> None:
    async with serving(u={"error": "no"}) as server:
        server.statuses["/u"] = 403
        template = server.template("m", "/u")
        template["url"] = template["url"].replace("://", "://me:sk-LIVE@")
        error = await _error_of(template)
    assert error == "HTTP 403 Forbidden: no; check the user and the password in its 'url'"


OPENAPI: dict[str, dict[str, Any]] = {
    "no server": {"openapi": "3.1.0"},
    "relative server": {"openapi": "3.0.0", "servers": [{"url": "/v1"}]},
    "no host": {"swagger": "2.0", "basePath": "/v1"},
}


@pytest.mark.parametrize("document", OPENAPI.values(), ids=OPENAPI)
async def test_a_document_without_a_server_tells_the_configuration_that_names_one(
    document: dict[str, Any], tmp_path: Path
) -> None:
    document = {"info": {"title": "x", "version": "1"}, "paths": {"/a": {"get": {"responses": {}}}}, **document}
    path = tmp_path / "my \u00e9.json"
    path.write_text(json.dumps(document))
    sources: list[Any] = [path, document]
    for source in (
        *sources,
        {"manual_call_templates": [{"name": "m", "call_template_type": "text", "content": document}]},
    ):
        async with await Toolset.aopen(source) as toolset:
            error = str(toolset.report.manuals[0].error)
        told = json.loads(error[error.index(": {") + 2 :])
        assert told["manual_call_templates"][0]["base_url"] == "https://..."
        told["manual_call_templates"][0]["base_url"] = "https://h/v2"
        if "content" in told["manual_call_templates"][0]:
            told["manual_call_templates"][0]["content"] = document
        async with await Toolset.aopen(told) as toolset:
            assert toolset.report.ok
            assert toolset.report.tool_count == 1
