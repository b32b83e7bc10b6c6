"""Whatever a call raises becomes the right error, with the reason that helps and nothing that floods."""

from __future__ import annotations

import ssl
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from multidict import CIMultiDict, CIMultiDictProxy
from pydantic import BaseModel, ValidationError
from utcp.exceptions import UtcpSerializerValidationError, UtcpVariableNotFound
from yarl import URL

from utcp_bridge import errors
from utcp_bridge.transports.failures import call_error, reason

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
