"""Cookies of a request: what an argument may be there (RFC 6265, section 4.1.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from utcp_bridge.errors import ToolArgumentsError
from utcp_bridge.transports.http.template import HttpParameter
from utcp_bridge.transports.http.values import json_text, percent_encoded, plain_text, simple

_NOT_COOKIE = re.compile(r"[^\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]")
_ENDS_COOKIE = re.compile(r"[;\x00-\x1f\x7f]")
_IN_NAME = "!#$&'*+^`|"  # what a token may hold beside unreserved characters (RFC 9110, section 5.6.2)


def cookie_pairs(parameter: HttpParameter, value: Any) -> Iterator[str]:
    """The `name=value` texts of a cookie parameter.

    Raises:
        ToolArgumentsError: The style allows no escaping, and the value would end the cookie.
    """
    if parameter.style == "cookie":
        yield from _unescaped(parameter, value)
    elif isinstance(value, dict) and parameter.explode is not False and parameter.style is not None:
        for name, item in value.items():
            if item is not None:
                yield f"{percent_encoded(name, safe=_IN_NAME)}={cookie_value(plain_text(item))}"
    elif isinstance(value, dict) and parameter.style is None:
        yield f"{parameter.name}={cookie_value(json_text(value))}"
    else:
        yield f"{parameter.name}={simple(value, lambda item: cookie_value(plain_text(item)))}"


def cookie_value(text: str, *, keep_escapes: bool = False) -> str:
    """A text with what a cookie must not hold percent-encoded."""
    text = text if keep_escapes else text.replace("%", "%25")
    return _NOT_COOKIE.sub(lambda match: percent_encoded(match.group()), text)


def _unescaped(parameter: HttpParameter, value: Any) -> Iterator[str]:
    # OpenAPI 3.2, section 4.12.3: the values are sent as they are.
    explodes = parameter.explode is not False
    if isinstance(value, dict) and explodes:
        pairs = [(name, item) for name, item in value.items() if item is not None]
    elif isinstance(value, list) and explodes:
        pairs = [(parameter.name, item) for item in value if item is not None]
    else:
        pairs = [(parameter.name, simple(value, plain_text))]
    for name, item in pairs:
        text = plain_text(item)
        if _ENDS_COOKIE.search(name + text) or "=" in name:
            raise ToolArgumentsError(
                f"The argument {parameter.argument!r} is sent as a cookie and must not hold ';' or control characters."
            )
        yield f"{name}={text}"
