"""What went wrong, in words: any exception of any protocol as one reason, and as the right `ToolCallError`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import aiohttp
from pydantic import ValidationError
from yarl import URL

from utcp_bridge.errors import (
    ToolArgumentsError,
    ToolCallError,
    ToolConfigError,
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
_TRACEBACK = "Traceback (most recent call last)"
_RULES_OF_GROUPS = re.compile(r"^ *(?:\| ?|\+.*)", re.M)  # what Python draws around the exceptions of a group
_FRAME = re.compile(r'^\s*File ".*", line \d+', re.M)
# Source lines are indented; the line of a group says less than those of the exceptions in it.
_RAISED = re.compile(r"^(?!.*\(\d+ sub-exceptions?\)$)\S.*", re.M)
# What httpx and Pydantic add to their own words.
_LINK = re.compile(
    r"\s*\n\s*For (?:more|further) information (?:check: https://developer\.mozilla\.org|visit https://errors\.pydantic)\S+"
)
_SENTENCES: dict[type[ToolCallError], str] = {
    ToolTimeoutError: "{} gave no answer in time: {}",
    ToolConfigError: "{} cannot be called until its configuration is put right: {}",
    ToolArgumentsError: "{} cannot be called like this: {}",
}
# Pydantic's types of errors whose own words speak of Python: https://docs.pydantic.dev/latest/errors/validation_errors/
_EXPECTED = {
    "string_type": "text",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "list_type": "a list",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
}
_FILE_FAULTS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no file {}",
    IsADirectoryError: "{} is a folder, expected a file",
    NotADirectoryError: "there is no file {}, for a part of its path is a file itself",
    PermissionError: "the file {} may not be read; check its permissions",
}
_KINDS: dict[type | tuple[type, ...], str] = {
    bool: "true or false",
    str: "text",
    (int, float): "a number",
    (list, tuple): "a list",
    Mapping: "an object",
    type(None): "null",
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


def reason(error: BaseException, *, within: str = "") -> str:
    """Why something failed, on its own: the status and the server's words, the host, the field that is wrong.

    Args:
        error: What was raised.
        within: The field that holds what is wrong, if its own fields are to be told with it.
    """
    error = _first_leaf(error)
    if isinstance(error, ToolCallError):
        return str(error)
    if isinstance(error, ManualRefusedError):
        return _bounded(str(error))  # its cause is in it already
    if isinstance(error, (aiohttp.ClientError, TimeoutError, OSError)):
        return str(_as_call_error(error))
    validation = next((link for link in _chain(error) if isinstance(link, ValidationError)), None)
    if validation is not None:
        return _bounded(_validation_reason(validation, within))
    text = _mcp_message(error) or str(error)
    if isinstance(error, KeyError) and len(error.args) == 1:
        text = f"the key {error.args[0]!r} is missing"
    text = reason_in(text) or type(error).__name__
    return f"{within}: {text}" if within else text


def reason_in(text: str) -> str:
    """The reason in a text that a package wrote of a failure: of a traceback, the first line of what was raised."""
    text = _LINK.sub("", text)
    if _TRACEBACK in text:
        text = _RULES_OF_GROUPS.sub("", text)
        frames = [frame.end() for frame in _FRAME.finditer(text)]
        raised = _RAISED.search(text, frames[-1]) if frames else None
        text = _last_line(text) if raised is None else raised[0]
    return _bounded(without_queries(text))


def _last_line(text: str) -> str:
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
        return ToolConfigError(reason(error))
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
        name = repr(str(error.filename))
        words = next((text for kind, text in _FILE_FAULTS.items() if isinstance(error, kind)), "")
        return ToolExecutionError(words.format(name) or f"{error.strerror or type(error).__name__} {name}")
    return ToolTransportError(_bounded(error.strerror or str(error) or type(error).__name__))


def _validation_reason(error: ValidationError, within: str) -> str:
    # Without the value that was given, which may be a secret: its kind is told.
    faults = error.errors(include_url=False, include_context=False)
    words = [f"{_place((*within.split(), *fault['loc']))}: {_complaint(fault)}" for fault in faults[:5]]
    return "; ".join(words) + (f"; and {len(faults) - 5} more" if len(faults) > 5 else "")


def _place(location: tuple[int | str, ...]) -> str:
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return place.removeprefix(".") or "it"


def _complaint(fault: Any) -> str:
    kind, message = fault["type"], _last_line(fault["msg"]).removeprefix("Value error, ")
    if kind == "missing":
        return "is missing"
    if kind == "none_required":
        return "cannot be given here"
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}, got {_kind_of(fault['input'])}"
    return message.replace("Input should be ", "expected ", 1)


def _kind_of(value: Any) -> str:
    return next((words for kind, words in _KINDS.items() if isinstance(value, kind)), f"a {type(value).__name__}")


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
