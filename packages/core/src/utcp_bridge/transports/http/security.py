"""Which URLs may be asked: upstream's rules, on every hop, and the hosts that the user named himself.

The verdicts are those of `utcp_http._security` (utcp-http 1.1.15): HTTPS anywhere, plain HTTP to loopback only,
loopback only where the call template names it, never into loopback by a redirect. The sentences are ours, because
upstream's hold the whole URL and with it whatever key stands in the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import urlsplit

from utcp_http._security import (
    _REDIRECT_STATUSES,
    _header_is_auth_sensitive,
    _same_origin,
    is_loopback_url,
    is_secure_url,
    url_template_host_is_loopback,
    url_template_literal_host,
)

from utcp_bridge.errors import ToolTransportError
from utcp_bridge.transports.http.url_fault import url_fault

MAX_REDIRECTS: Final = 5  # as upstream
REDIRECT_STATUSES: Final[frozenset[int]] = _REDIRECT_STATUSES


class RefusedRequestError(ToolTransportError, ValueError):
    """A request that is not made, because it would be unsafe or cannot be written as HTTP."""


@dataclass(frozen=True, slots=True)
class UrlRules:
    """Decides about URLs.

    Attributes:
        allow_http_hosts: Globs of hosts, or `host:port`, that may be spoken to over plain HTTP besides loopback.
    """

    allow_http_hosts: tuple[str, ...] = ()

    def check(self, url: str, template: str, *, context: str) -> None:
        """Refuse a URL that must not be asked.

        Args:
            url: The URL with all arguments filled in.
            template: The URL as the call template writes it, with its placeholders.
            context: What the request is for, for the message.

        Raises:
            RefusedRequestError: It is no URL of HTTP; it is neither HTTPS, nor loopback, nor a host that the user
                allowed; or the arguments moved it to a host that needs to be named in the template.
        """
        if (fault := url_fault(template, what="URL" if "URL" not in context else context)) is not None:
            raise RefusedRequestError(fault)
        if not is_secure_url(url) and not (self._is_allowed(url) and url_template_literal_host(template)):
            raise RefusedRequestError(
                f"Security error during {context}: the URL must use HTTPS or a loopback host (localhost, 127.0.0.1, "
                f"::1), not {origin_of(url)!r}. To allow plain HTTP to a host of your own network, name it in the "
                f"option allow_http_hosts{_example(url)}."
            )
        if is_loopback_url(url) and not url_template_host_is_loopback(template):
            raise RefusedRequestError(
                f"Security error during {context}: the URL leads to this machine ({origin_of(url)}), but the call "
                "template does not name a loopback host literally. Arguments may choose the path, never the host."
            )

    def check_redirect(self, current: str, target: str, *, context: str) -> None:
        """Refuse to follow a redirect from `current` to `target`, for the same reasons; see `check`.

        Plain HTTP to an allowed host is followed only from that host itself: allowing it says that the user may
        ask it, not that any server may send him there.
        """
        same_host = _host(current) == _host(target)
        if not is_secure_url(target) and not (same_host and self._is_allowed(target)):
            raise RefusedRequestError(
                f"Security error during {context} (redirect target): {origin_of(current)} redirected to "
                f"{origin_of(target)!r}, which is neither HTTPS nor a loopback host."
            )
        if is_loopback_url(target) and not is_loopback_url(current):
            raise RefusedRequestError(
                f"Security error during {context} (redirect target): {origin_of(current)} redirected to this machine "
                f"({origin_of(target)}). A redirect is never followed into loopback from another host."
            )

    def _is_allowed(self, url: str) -> bool:
        if not self.allow_http_hosts:
            return False
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").rstrip("."), parts.port or 80
        except ValueError:
            return False
        if parts.scheme.lower() != "http" or not host:
            return False
        return any(
            fnmatchcase(host, glob) or fnmatchcase(f"{host}:{port}", glob)
            for glob in map(str.lower, self.allow_http_hosts)
        )


def same_origin(one: str, other: str) -> bool:
    """Whether two URLs have the same scheme, host and port (RFC 6454); False where one cannot be read."""
    return bool(_same_origin(one, other))


def is_secret_header(name: str, declared: frozenset[str]) -> bool:
    """Whether a header may carry a secret, so that it must not follow a redirect to another origin.

    Args:
        name: The header's name.
        declared: Lower-case names of the headers that the call template's `auth` filled.
    """
    return name.lower() in declared or bool(_header_is_auth_sensitive(name))


def origin_of(url: str) -> str:
    """`scheme://host:port` of a URL, which is all of it that belongs in a message."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "a URL that cannot be read"
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{port}" if parts.scheme and host else "a URL without a host"


def _example(url: str) -> str:
    host = _host(url)
    return f", such as [{host!r}]" if host else ""


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
