"""Where an operation is: the URL of its server, in OpenAPI 3's terms or Swagger 2.0's."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

from utcp_bridge.openapi.nodes import Node, OperationError, key_text, mapping, sequence, text
from utcp_bridge.openapi.operations import Operation

NO_SERVER = "the OpenAPI document names no server; give its address as 'base_url' in the manual's call template"

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_OTHER_SCHEME = re.compile(r"(?!https?://)[A-Za-z][A-Za-z0-9+.-]*://")


@dataclass(frozen=True, slots=True)
class Server:
    """A server.

    Attributes:
        url: Its URL without a slash at the end; may hold placeholders.
        variables: What the document says of each placeholder that is left, by name.
    """

    url: str
    variables: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)


class Servers:
    """Finds the server of each operation.

    Args:
        root: The main document.
        spec_url: The URL that the document came from, or an empty string.
        base_url: Used in place of every server that the document names; default None.
        variables: Values of server variables in place of their defaults; default none.
    """

    def __init__(
        self,
        root: Node,
        spec_url: str,
        *,
        base_url: str | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._root = root
        self._spec_url = spec_url if spec_url.startswith(("http://", "https://")) else ""
        self._base_url = base_url
        self._variables = variables or {}

    def of(self, operation: Operation) -> Server:
        """The server of an operation: its own, else that of its path, else that of the document.

        Of several the first is taken that can be called from here: over HTTP, and not this machine where the
        document came from another one.

        Raises:
            OperationError: There is none.
        """
        if self._base_url:
            return Server(self._base_url.rstrip("/"))
        for owner in (operation.node, operation.path_item, self._root):
            if declared := sequence(owner.fields.get("servers")):
                return self._best(self._server(mapping(server)) for server in declared)
        if "swagger" in self._root.fields or any(key in self._root.fields for key in ("host", "basePath", "schemes")):
            return self._swagger(operation)
        return self._best([self._server({"url": "/"})])

    def _best(self, servers: Iterable[Server | str]) -> Server:
        found = list(servers)
        callable_ones = [server for server in found if isinstance(server, Server)]
        if not callable_ones:
            raise OperationError(next((server for server in found if isinstance(server, str)), NO_SERVER))
        return next((server for server in callable_ones if self._is_allowed(server)), callable_ones[0])

    def _is_allowed(self, server: Server) -> bool:
        return not self._spec_url or is_loopback(self._spec_url) or not is_loopback(server.url)

    def _server(self, fields: Mapping[Any, Any]) -> Server | str:
        url = text(fields.get("url")) or "/"
        variables = {key_text(name): mapping(value) for name, value in mapping(fields.get("variables")).items()}

        def value(match: re.Match[str]) -> str:
            name = match[1]
            given = self._variables.get(name, variables.get(name, {}).get("default"))
            return match[0] if given is None else _as_text(given)

        url = _PLACEHOLDER.sub(value, url)
        if _OTHER_SCHEME.match(url):
            return f"its server {url.partition(':')[0]}:// is not reached over HTTP"
        if not url.startswith(("http://", "https://")) and not url.startswith("{"):
            if not self._spec_url:
                return NO_SERVER
            url = urljoin(self._spec_url, url)
        return Server(
            url.partition("#")[0].rstrip("/"), {name: variables.get(name, {}) for name in _PLACEHOLDER.findall(url)}
        )

    def _swagger(self, operation: Operation) -> Server:
        fields = self._root.fields
        here = urlsplit(self._spec_url)
        host = text(fields.get("host")) or here.netloc
        if not host:
            raise OperationError(NO_SERVER)
        declared = sequence(operation.node.fields.get("schemes")) or sequence(fields.get("schemes"))
        schemes = [scheme for scheme in map(text, declared) if scheme in ("http", "https")]
        if declared and not schemes:
            raise OperationError(f"it is reached over {declared[0]}, not over HTTP")
        scheme = "https" if "https" in schemes else schemes[0] if schemes else here.scheme or "https"
        base_path = text(fields.get("basePath")).strip("/")
        # Some write the scheme or a path into `host`.
        host = host.partition("://")[2] if "://" in host else host
        return Server(f"{scheme}://{host.rstrip('/')}{'/' if base_path else ''}{base_path}")


def joined(server: Server, path: str) -> str:
    """The URL of a path on a server."""
    return f"{server.url}/{path.lstrip('/')}"


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine, as far as its text tells; who may go there is the transport's decision."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").lower()
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _as_text(value: Any) -> str:
    return ("false", "true")[value] if isinstance(value, bool) else str(value)
