"""What is wrong with a URL that cannot be asked over HTTP: what was given, what was expected, and what to write."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+-]*):(?!\d)(/{0,2})")
_AUTHORITY = re.compile(r"[^/?#]*")
_BEFORE_USER = re.compile(r"^((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)?.*@", re.DOTALL)
_NEAR = re.compile(  # hosts that hardly ever have a certificate
    r"(?:localhost|\d+(?:\.\d+){3}|\[[0-9a-f:]+\]|[\w-]+(?:\.(?:local|lan|home|internal))?)(?=:|$)", re.IGNORECASE
)
_IN_NO_HOST = re.compile(r"[\x00-\x20\x7f\\\"<>^`|{}]")
_FILE = re.compile(r"[.~]|[A-Za-z]:[\\/]|[^/?#]*\.(?:json|ya?ml)$")
_LONGEST: Final = 120
_LARGEST_PORT: Final = 65_535
_EXPECTED: Final = "expected one such as 'https://example.com/utcp'"
_EXPECTED_FILE: Final = 'a file is reached by {"call_template_type": "file", "file_path": "..."}'


def url_fault(template: str, *, what: str = "URL") -> str | None:
    """Why a URL cannot be asked over HTTP, or None if it can; whether it may be asked is another question.

    Args:
        template: The URL, or a template with placeholders such as `{id}`.
        what: What it is, for the sentence, such as `OAuth2 token URL`; default `URL`.

    Returns:
        One sentence that holds neither the query nor the user and password of the URL.
    """
    text = template.strip()
    if not text:
        return f"The {what} is empty; {_EXPECTED}."
    fault = _fault(text)
    return None if fault is None else f"The {what} {_shown(text)!r} {fault}."


def _fault(text: str) -> str | None:
    scheme = None if "@" in text.partition("//")[0] else _SCHEME.match(text)
    if scheme is None:
        return f"has no scheme; {_with_scheme(text)}"
    if scheme[1].lower() not in {"http", "https"}:
        is_file = scheme[1].lower() == "file" or len(scheme[1]) == 1
        return f"has the scheme {scheme[1]!r}, expected 'http' or 'https'{f'; {_EXPECTED_FILE}' if is_file else ''}"
    if len(scheme[2]) < len("//"):
        return f"has no '//' after its scheme; {_EXPECTED}"
    try:
        urlsplit(_PLACEHOLDER.sub("1", text))
    except ValueError:
        return "has a host that cannot be read; an IPv6 address stands in brackets, such as 'http://[::1]:8000/utcp'"
    host, port = _host_and_port(_PLACEHOLDER.sub("1", text)[scheme.end() :])
    if not host:
        return f"has no host; {_EXPECTED}"
    if _IN_NO_HOST.search(host):
        return f"has a character in its host that no host can have; {_EXPECTED}"
    if any(not 0 < len(label) < 64 or label.lower() == "xn--" for label in host.removesuffix(".").split(".")):
        return f"has an empty or too long part in its host; {_EXPECTED}"  # RFC 1035, section 2.3.4
    if port and not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) <= _LARGEST_PORT):
        written = "a port" if "@" in text else f"the port {port[:20]!r}"  # which may be a part of a password
        return f"has {written}, expected a number from 1 to {_LARGEST_PORT}"
    return None


def _host_and_port(rest: str) -> tuple[str, str]:
    authority = _AUTHORITY.match(rest)
    place = (authority[0] if authority else "").rpartition("@")[2]
    if place.startswith("["):
        address, _, after = place[1:].partition("]")
        return address, after.removeprefix(":")
    host, _, port = place.partition(":")
    return host, port


def _with_scheme(text: str) -> str:
    rest = re.sub(r"^(?:https?)?:?/{2,}", "", _shown(text), flags=re.IGNORECASE)
    if rest.startswith("{"):
        return "it has to stand in the call template, no argument can bring it"
    if rest.startswith("/"):
        return f"it is a path only, expected a whole URL such as 'https://example.com{rest}'"
    if _FILE.match(rest):
        return f"{_EXPECTED}; {_EXPECTED_FILE}"
    if not rest or _IN_NO_HOST.search(host := rest.partition("/")[0]):
        return _EXPECTED
    return f"expected one such as '{'http' if _NEAR.match(host) else 'https'}://{rest}'"


def _shown(text: str) -> str:
    """The URL without what may be secret, and no more of it than can be read."""
    text = _BEFORE_USER.sub(r"\1", re.split(r"[?#]", text, maxsplit=1)[0])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
