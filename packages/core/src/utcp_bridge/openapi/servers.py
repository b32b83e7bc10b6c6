"""Where an operation is: the URL of its server, in OpenAPI 3's terms or Swagger 2.0's."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from utcp_bridge.openapi.nodes import Node, OpenApiError, OperationError, key_text, mapping, sequence, text
from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.references import Documents, joined_address

NO_SERVER = "the OpenAPI document names no server; give its address as 'base_url' in the manual's call template"

_MOST_CHOICES = 10
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_USERS_PLACEHOLDER = re.compile(r"(?<!\$)\{([^{}]+)\}")  # `${name}` is a variable of UTCP
_OVER_HTTP = re.compile(r"https?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"(?!https?://)[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:[^/?#]*//[^/?#]*)?")
_USERS_AUTHORITY = re.compile(r"(?:[^/?#]*//)?[^/?#]*")  # a variable may hold the scheme
_DOLLAR = re.compile(r"\$(?=\{[^{}]+\})")
_DOLLAR_NAME = re.compile(r"\$(?=\w)")


@dataclass(frozen=True, slots=True)
class Server:
    """A server.

    Attributes:
        url: Its URL without a slash at the end; may hold placeholders.
        variables: What the document says of each placeholder that is left, by name.
        warnings: What is odd about the values that its variables were given, in whole sentences.
    """

    url: str
    variables: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Servers:
    """Finds the server of each operation.

    Args:
        documents: The documents; a relative URL starts from where the one came from that it stands in.
        base_url: Used in place of every server that the document names; default None.
        variables: Values of server variables in place of their defaults; default none.

    Raises:
        OpenApiError: `base_url` leaves a part of its address open.
    """

    def __init__(
        self,
        documents: Documents,
        *,
        base_url: str | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._documents = documents
        self._root = documents.root
        self._spec_url = documents.location if _OVER_HTTP.match(documents.location) else ""
        self._of_document: Server | None = None
        self._variables = variables or {}
        self._given = None if base_url is None else self._users(base_url)
        self._known: dict[str, None] = {}
        self._warnings: dict[str, None] = {}

    def warnings(self) -> tuple[str, ...]:
        """What is odd about the values that variables were given for the servers so far, in whole sentences."""
        unknown = [] if self._given else [name for name in self._variables if name not in self._known]
        known = f"its servers have {', '.join(map(repr, self._known))}" if self._known else "its servers have none"
        return (
            *self._warnings,
            *(f"'server_variables' gives {name!r}, which no server of the document has; {known}" for name in unknown),
        )

    def of(self, operation: Operation) -> Server:
        """The server of an operation: its own, else that of its path, else that of the document.

        Of several the first is taken that can be called from here: over HTTP, and not this machine where the
        document came from another one; and of one address the encrypted form.

        Raises:
            OperationError: There is none.
        """
        if self._given is not None:
            return self._given
        for owner in (operation.node, operation.path_item):
            if sequence(owner.fields.get("servers")):
                return self._declared(owner)
        if sequence(self._root.fields.get("servers")):
            if self._of_document is None:
                self._of_document = self._declared(self._root)
            return self._of_document
        if "swagger" in self._root.fields or any(key in self._root.fields for key in ("host", "basePath", "schemes")):
            return self._swagger(operation)
        return self._best([self._server({"url": "/"}, self._spec_url)])

    def _users(self, base_url: str) -> Server:
        def value(match: re.Match[str]) -> str:
            return _as_text(self._variables.get(match[1], match[0]))

        url = _USERS_PLACEHOLDER.sub(value, base_url.rstrip("/"))
        if open_names := _USERS_PLACEHOLDER.findall(_USERS_AUTHORITY.match(url)[0]):  # type: ignore[index]  # it fits any text
            raise OpenApiError(
                f"'base_url' leaves {open_names[0]!r} of its address open; give it in 'server_variables'"
            )
        return Server(url, {name: {} for name in _USERS_PLACEHOLDER.findall(url)})

    def _declared(self, owner: Node) -> Server:
        location = self._documents.location_of(owner.base)
        servers = (
            {"url": server} if isinstance(server, str) else mapping(server)
            for server in sequence(owner.fields.get("servers"))
        )
        return self._best(self._server(fields, location) for fields in servers)

    def _best(self, servers: Iterable[Server | str]) -> Server:
        found = list(servers)
        callable_ones = [server for server in found if isinstance(server, Server)]
        if not callable_ones:
            raise OperationError(next((server for server in found if isinstance(server, str)), NO_SERVER))
        best = next((server for server in callable_ones if self._is_allowed(server)), callable_ones[0])
        # Generators write `http` and `https` of one address as two servers.
        encrypted = [server for server in callable_ones if server.url == best.url.replace("http://", "https://", 1)]
        best = encrypted[0] if encrypted else best
        self._warnings |= dict.fromkeys(best.warnings)
        return best

    def _is_allowed(self, server: Server) -> bool:
        return not self._spec_url or is_loopback(self._spec_url) or not is_loopback(server.url)

    def _server(self, fields: Mapping[Any, Any], location: str) -> Server | str:
        url = _without_dollars(text(fields.get("url")) or "/")
        variables = {key_text(name): mapping(value) for name, value in mapping(fields.get("variables")).items()}
        warnings: list[str] = []

        def value(match: re.Match[str]) -> str:
            name = match[1]
            declared = variables.get(name, {})
            self._known[name] = None
            if name not in self._variables:
                default = declared.get("default")
                return match[0] if default is None else _without_dollars(_as_text(default))
            given = _as_text(self._variables[name])
            choices = [_as_text(choice) for choice in sequence(declared.get("enum"))]
            if choices and given not in choices:
                expected = ", ".join(map(repr, choices[:_MOST_CHOICES])) + (", ..." if choices[_MOST_CHOICES:] else "")
                warnings.append(
                    f"'server_variables' gives {name!r} the value {given!r}, which is used although the document "
                    f"expects {expected}"
                )
            return given

        url = _PLACEHOLDER.sub(value, url)
        if open_names := _PLACEHOLDER.findall(_AUTHORITY.match(url)[0]):  # type: ignore[index]  # it fits any text
            # A model must not choose who is given the credentials.
            return f"its server leaves {open_names[0]!r} of its address open; give it in 'server_variables'"
        if _OTHER_SCHEME.match(url):
            return f"its server {url.partition(':')[0]}:// is not reached over HTTP"
        if not _OVER_HTTP.match(url) and not _OVER_HTTP.match(location):
            return NO_SERVER
        if not joined_address(location, url):
            return f"its server {text(fields.get('url'))!r} is no URL"
        if not _OVER_HTTP.match(url):
            url = joined_address(location, url)
        left = {name: variables.get(name, {}) for name in _PLACEHOLDER.findall(url)}
        return Server(url.partition("#")[0].rstrip("/"), left, tuple(warnings))

    def _swagger(self, operation: Operation) -> Server:
        fields = self._root.fields
        here = urlsplit(self._spec_url)
        host = text(fields.get("host")) or here.netloc
        if not host:
            raise OperationError(NO_SERVER)
        declared = sequence(operation.node.fields.get("schemes")) or sequence(fields.get("schemes"))
        schemes = [scheme for value in declared if (scheme := text(value).lower()) in ("http", "https")]
        if declared and not schemes:
            raise OperationError(f"it is reached over {declared[0]}, not over HTTP")
        scheme = "https" if "https" in schemes else schemes[0] if schemes else here.scheme or "https"
        base_path = text(fields.get("basePath")).strip("/")
        # Some write the scheme or a path into `host`.
        host = host.partition("://")[2] if "://" in host else host
        url = f"{scheme}://{host.rstrip('/')}{'/' if base_path else ''}{base_path}"
        return self._best([self._server({"url": url}, self._spec_url)])


def joined(server: Server, path: str) -> str:
    """The URL of a path on a server: appended to it, never resolved against it (OpenAPI 3.0.3, section 4.7.8)."""
    base, _, query = server.url.partition("?")
    if query:
        path = path.partition("#")[0]
        path += ("&" if "?" in path else "?") + query
    return f"{base.rstrip('/')}{'' if path.startswith('/') else '/'}{_without_dollars(path)}"


def _without_dollars(url: str) -> str:
    # `/users/${id}` is JavaScript's spelling of a template; it and `$name` could be variables of the user's in UTCP.
    return _DOLLAR_NAME.sub("%24", _DOLLAR.sub("", url))


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine, as far as its text tells; who may go there is the transport's decision."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _as_text(value: Any) -> str:
    return ("false", "true")[value] if isinstance(value, bool) else str(value)
