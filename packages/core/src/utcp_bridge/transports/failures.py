"""What went wrong, in words: any exception of any protocol as one reason, and as the right `ToolCallError`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import aiohttp
from pydantic import ValidationError
from yarl import URL

from utcp_bridge.errors import (
    ToolArgumentsError,
    ToolCallError,
    ToolExecutionError,
    ToolTimeoutError,
    ToolTransportError,
)
from utcp_bridge.transports.http.failures import connection_error
from utcp_bridge.transports.http.reason import http_error
from utcp_bridge.transports.secrets.leaks import without_queries

LONGEST_REASON = 2_000
"""Characters; what is longer is cut, with a notice of its size."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]+")
# The words of utcp-http 1.1.15, which raises nothing but ValueError for both.
_MISSING_ARGUMENT = re.compile(r"missing required (path )?(parameter|argument)", re.I)
_REFUSED = re.compile(r"Security error|Refusing to ")
_SENTENCES: dict[type[ToolCallError], str] = {
    ToolTransportError: "{} could not be reached: {}",
    ToolTimeoutError: "{} gave no answer in time: {}",
    ToolArgumentsError: "{} cannot be called like this: {}",
}


class ManualRefusedError(Exception):
    """A manual cannot be used; the message is the reason alone."""


def call_error(error: Exception, *, tool: str, manual: str) -> ToolCallError:
    """The error that a model and a developer are shown for a call that failed.

    Args:
        error: What the call raised, whichever protocol made it.
        tool: The tool's name as models are shown it.
        manual: The manual that the tool comes from.

    Returns:
        The subclass of `ToolCallError` that fits, with the server's own reason, no query of a URL, and at most a few
        thousand characters.
    """
    own = _as_call_error(_first_leaf(error))
    if own.tool == tool:
        return own
    sentence = next((text for kind, text in _SENTENCES.items() if isinstance(own, kind)), "{} failed: {}")
    return type(own)(sentence.format(tool, own), tool=tool, manual=manual, raw=own.raw)


def reason(error: BaseException) -> str:
    """Why something failed, on its own: the status and the server's words, the host, the field that is wrong."""
    error = _first_leaf(error)
    if isinstance(error, ToolCallError):
        return str(error)
    if isinstance(error, (aiohttp.ClientError, TimeoutError, OSError)):
        return str(_as_call_error(error))
    validation = next((link for link in _chain(error) if isinstance(link, ValidationError)), None)
    if validation is not None:
        return _bounded(_validation_reason(validation))
    text = _mcp_message(error) or str(error)
    if isinstance(error, KeyError) and len(error.args) == 1:
        text = f"the key {error.args[0]!r} is missing"
    elif "Traceback (most recent call last)" in text:
        text = last_line(text)
    return _bounded(without_queries(text)) or type(error).__name__


def last_line(text: str) -> str:
    """The last line that is not empty; of a traceback, what was raised."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _as_call_error(error: BaseException) -> ToolCallError:
    if isinstance(error, ToolCallError):
        return error
    if isinstance(error, aiohttp.ClientResponseError) and error.status >= 400:
        return _status_error(error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return connection_error(error, URL.build(scheme="http", host=error.host or "", port=error.port))
    if isinstance(error, TimeoutError):
        return ToolTimeoutError(_bounded(without_queries(str(error))) or "the protocol's own limit was reached")
    if isinstance(error, aiohttp.ClientError):
        return ToolTransportError(_client_reason(error))
    if isinstance(error, OSError):
        return _os_error(error)
    if hasattr(error, "variable_name"):  # utcp 1.2.0's UtcpVariableNotFound, and our UndefinedVariableError
        return ToolTransportError(reason(error))
    if isinstance(error, ValueError) and _MISSING_ARGUMENT.search(str(error)):
        return ToolArgumentsError(reason(error))
    if isinstance(error, ValueError) and _REFUSED.match(str(error)):
        return ToolTransportError(reason(error))
    return ToolExecutionError(reason(error))


def _status_error(error: aiohttp.ClientResponseError) -> ToolExecutionError:
    # utcp-http 1.1.15 writes "<phrase>: <reason>" into `message`, and the body itself into `body`.
    phrase, _, words = error.message.partition(": ")
    body = getattr(error, "body", "") or words
    content_type = error.headers.get("Content-Type", "") if error.headers else ""
    return http_error(error.status, phrase, str(body).encode(), content_type)


def _client_reason(error: aiohttp.ClientError) -> str:
    if isinstance(error, aiohttp.TooManyRedirects):
        return "the server redirected too many times"
    if isinstance(error, aiohttp.ClientResponseError):
        return f"the server's answer cannot be read: {_bounded(without_queries(error.message))}"
    if isinstance(error, aiohttp.InvalidURL):
        return f"this is not a URL that can be asked over HTTP: {without_queries(str(error.url))}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the server closed the connection without an answer; whether it acted on the request is not known"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the server broke off its answer before the end"
    return _bounded(without_queries(str(error))) or type(error).__name__


def _os_error(error: OSError) -> ToolCallError:
    if error.filename is not None:
        # The tool was there, and a file that it needs was not.
        words = "there is no file" if isinstance(error, FileNotFoundError) else error.strerror or type(error).__name__
        return ToolExecutionError(f"{words} {str(error.filename)!r}")
    return ToolTransportError(_bounded(error.strerror or str(error) or type(error).__name__))


def _validation_reason(error: ValidationError) -> str:
    # Without the value that was given: it may be a secret.
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    words = [
        f"{'.'.join(map(str, fault['loc'])) or 'it'}: {last_line(fault['msg']).removeprefix('Value error, ')}"
        for fault in faults[:5]
    ]
    return "; ".join(words) + (f"; and {len(faults) - 5} more" if len(faults) > 5 else "")


def _mcp_message(error: BaseException) -> str:
    # `McpError` of the MCP SDK, told by its shape, because that package need not be installed.
    details: Any = getattr(error, "error", None)
    message = getattr(details, "message", None)
    return message if isinstance(message, str) and hasattr(details, "code") else ""


def _first_leaf(error: BaseException) -> BaseException:
    """The first exception inside of nested groups, which task groups put around what really happened."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _bounded(text: str) -> str:
    text = _CONTROL.sub(" ", text).strip()
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON].rstrip()} ... ({len(text):,} characters)"
