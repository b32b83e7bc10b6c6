"""What is secret in a call template: by the names of fields, and within URLs and command lines."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

_SECRET_NAME = re.compile(
    r"(?i:(^|[^a-z])(key|auth|authorization|cookie|credentials?|pass|pwd|sig|signature|jwt)([^a-z]|$)"
    r"|api_?key|token(?!s)|secret|passw)|[a-z]Key"
)
# The URL of a token endpoint and the name of an environment variable are no secrets.
_NO_SECRET_NAME = re.compile(r".*(_url|_type|var_name|_fields?)")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.I)
_SCHEMES = re.compile(r"^(bearer|basic|token|apikey|digest|key|negotiate)\s+", re.I)


def is_secret_name(name: str) -> bool:
    """Whether a header, a query parameter or an environment variable of this name holds a secret."""
    return bool(_SECRET_NAME.search(name)) and not _NO_SECRET_NAME.fullmatch(name)


def secrets_of(template: Any) -> Iterator[str]:
    """The values of a call template, its variables filled in, that are secret."""
    yield from _secrets_of(template, secret=False)


def _secrets_of(value: Any, *, secret: bool) -> Iterator[str]:
    if isinstance(value, str):
        if secret:
            yield from _with_parts(value)
        for url in _urls(value):
            yield from _url_secrets(url)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secrets_of(item, secret=isinstance(item, str) and is_secret_name(str(key)))
        for name in value.get("inherit_env_vars") or ():
            if isinstance(name, str) and is_secret_name(name):
                yield os.environ.get(name, "")
    elif isinstance(value, (list, tuple)):
        named = False
        for item in value:
            yield from _secrets_of(item, secret=named)
            flag, _, given = item.partition("=") if isinstance(item, str) else ("", "", "")
            named = flag.startswith("-") and is_secret_name(flag.lstrip("-"))
            if named and given:
                yield given
                named = False


def _with_parts(value: str) -> Iterator[str]:
    """A secret field as a whole, and what stands after the name of an authentication scheme."""
    credentials = _SCHEMES.sub("", value, count=1)
    yield credentials
    if credentials == value:
        return
    try:
        _, _, password = base64.b64decode(credentials, validate=True).decode().partition(":")
    except ValueError:
        return
    yield password


def _urls(text: str) -> Iterator[str]:
    if _URL.match(text):
        yield text  # a password in it may hold what ends a URL in a text
    for match in _URL.finditer(text):
        if match[0] != text:
            yield match[0]


def _url_secrets(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        password = parts.password
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)
    for name, value in parse_qsl(parts.query):
        if is_secret_name(name) and "{" not in value:
            yield value


def basic_credentials(value: Any) -> Iterator[tuple[str, str]]:
    """The user names and passwords of a call template that may be sent as HTTP Basic authentication (RFC 7617).

    Those of `auth`, those within URLs, and the credentials of OAuth2 clients (RFC 6749, section 2.3.1).
    """
    if isinstance(value, str):
        for url in _urls(value):
            yield from _userinfo(url)
    elif isinstance(value, Mapping):
        for user, password in (("username", "password"), ("client_id", "client_secret")):
            if isinstance(value.get(password), str):
                yield str(value.get(user) or ""), value[password]
        for item in value.values():
            yield from basic_credentials(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from basic_credentials(item)


def _userinfo(url: str) -> Iterator[tuple[str, str]]:
    try:
        parts = urlsplit(url)
        user, password = parts.username, parts.password
    except ValueError:
        return
    if user or password:
        yield unquote(user or ""), unquote(password or "")
