"""Security schemes as UTCP's credentials: one variable for each scheme, under the name that its author gave it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urljoin, urlsplit

from utcp_bridge.openapi.nodes import Node, OperationError, key_text, mapping, sequence, text
from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.references import Documents

Auth: TypeAlias = dict[str, Any]
"""UTCP's form of credentials, as a dict."""

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9]+")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_LOCATIONS = frozenset({"header", "query", "cookie"})


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request needs to be allowed.

    Attributes:
        auths: All of them are sent.
        variables: The names of the variables in them.
    """

    auths: tuple[Auth, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that hold the secrets."""
        return tuple(name for auth in self.auths for value in auth.values() for name in _VARIABLE.findall(str(value)))

    @property
    def places(self) -> frozenset[tuple[str, str]]:
        """Location and lower-case name of what they fill."""
        return frozenset(place for place in map(_place, self.auths) if place is not None)


class Security:
    """Finds the credentials of each operation.

    Args:
        documents: The documents.
        spec_url: What a relative token URL starts from, or an empty string.
        auth_tools: UTCP's `auth_tools`: used for each operation that asks for such credentials; default None.
        defined: Tells whether a variable has a value, which decides between alternatives; default none has.
    """

    def __init__(
        self,
        documents: Documents,
        spec_url: str = "",
        *,
        auth_tools: Auth | None = None,
        defined: Callable[[str], bool] | None = None,
    ) -> None:
        self._documents = documents
        self._spec_url = spec_url
        self._auth_tools = auth_tools
        self._defined = defined or (lambda _name: False)
        root = documents.root
        schemes = root.get("components").get("securitySchemes") if "components" in root.fields else Node(None, "")
        self._schemes = dict((schemes if schemes.fields else root.get("securityDefinitions")).items())
        self._variables = _variable_names(list(self._schemes))

    def of(self, operation: Operation, server_url: str) -> Credentials:
        """The credentials of an operation.

        Of alternatives the first is taken that `auth_tools` fits, else the first whose variables all have values,
        else none where none is among them, else the first.

        Raises:
            OperationError: It asks only for schemes that cannot be used.
        """
        owner = operation.node if "security" in operation.node.fields else self._documents.root
        alternatives = [mapping(item) for item in sequence(owner.fields.get("security"))]
        if not alternatives:
            return Credentials()
        usable: list[tuple[Credentials, bool]] = []
        reasons: list[str] = []
        for alternative in alternatives:
            try:
                usable.append(self._credentials(alternative, server_url))
            except OperationError as error:
                reasons.append(str(error))
        if not usable:
            raise OperationError("; ".join(dict.fromkeys(reasons)))
        fitting = [credentials for credentials, fits in usable if fits]
        ready = [found for found, _ in usable if found.auths and all(map(self._defined, found.variables))]
        open_to_all = [found for found, _ in usable if not found.auths]
        return [*fitting, *ready, *open_to_all, usable[0][0]][0]

    def _credentials(self, alternative: Mapping[Any, Any], server_url: str) -> tuple[Credentials, bool]:
        auths: list[Auth] = []
        fits = False
        for key, scopes in alternative.items():
            name = key_text(key)
            for auth in self._auths(name, [scope for scope in sequence(scopes) if isinstance(scope, str)], server_url):
                if self._auth_tools is not None and _fits(auth, self._auth_tools, self._kind(name)):
                    auth, fits = self._auth_tools, True
                if auth not in auths:
                    auths.append(auth)
        return Credentials(tuple(auths)), fits

    def _auths(self, name: str, scopes: Sequence[str], server_url: str) -> Iterator[Auth]:
        if name not in self._schemes:
            raise OperationError(f"it asks for the security scheme {name!r}, which the document does not describe")
        scheme = self._documents.follow(self._schemes[name]).fields
        variable = self._variables[name]
        kind = text(scheme.get("type")).lower()
        if kind == "apikey":
            location = text(scheme.get("in"))
            key_name = text(scheme.get("name"))
            if location not in _LOCATIONS or not key_name:
                raise OperationError(f"the security scheme {name!r} does not say where its key goes")
            yield _api_key(f"${{{variable}}}", key_name, location)
        elif kind == "basic" or (kind == "http" and text(scheme.get("scheme")).lower() == "basic"):
            yield {
                "auth_type": "basic",
                "username": f"${{{variable}_USERNAME}}",
                "password": f"${{{variable}_PASSWORD}}",
            }
        elif kind == "http":
            word = text(scheme.get("scheme"))
            word = "Bearer" if word.lower() in ("bearer", "") else word
            yield _api_key(f"{word} ${{{variable}}}")
        elif kind == "oauth2":
            yield self._oauth2(scheme, variable, scopes, server_url)
        elif kind == "openidconnect":
            yield _api_key(f"Bearer ${{{variable}}}")  # how a token is got is for its user to know
        elif kind != "mutualtls":  # a certificate is the connection's
            raise OperationError(f"the security scheme {name!r} is of the type {kind!r}, which is not known")

    def _oauth2(self, scheme: Mapping[Any, Any], variable: str, scopes: Sequence[str], server_url: str) -> Auth:
        flow = mapping(mapping(scheme.get("flows")).get("clientCredentials"))
        if not flow and scheme.get("flow") == "application":  # Swagger 2.0
            flow = scheme
        token_url = text(flow.get("tokenUrl"))
        if not token_url:
            # The other flows need a person in a browser; the token that comes of them is as good as any.
            return _api_key(f"Bearer ${{{variable}}}")
        if not urlsplit(token_url).scheme:
            token_url = urljoin(self._spec_url or server_url, token_url)
        return {
            "auth_type": "oauth2",
            "token_url": token_url,
            "client_id": f"${{{variable}_CLIENT_ID}}",
            "client_secret": f"${{{variable}_CLIENT_SECRET}}",
            "scope": " ".join(scopes) or None,
        }

    def _kind(self, name: str) -> str:
        return text(self._documents.follow(self._schemes[name]).fields.get("type")).lower()


def _api_key(value: str, name: str = "Authorization", location: str = "header") -> Auth:
    return {"auth_type": "api_key", "api_key": value, "var_name": name, "location": location}


def _fits(auth: Auth, auth_tools: Auth, kind: str) -> bool:
    """Whether `auth_tools` may stand for a scheme: of the same type, and for a key in the same place (upstream)."""
    if kind in ("oauth2", "openidconnect") and auth_tools.get("auth_type") == "oauth2":
        return True
    if auth["auth_type"] != auth_tools.get("auth_type"):
        return False
    if auth["auth_type"] != "api_key":
        return True
    return _place(auth) == _place(auth_tools)


def _place(auth: Auth) -> tuple[str, str] | None:
    """Location and lower-case name of a key, with UTCP's defaults; None for other credentials."""
    if auth.get("auth_type") != "api_key":
        return None
    return str(auth.get("location", "header")), str(auth.get("var_name", "X-Api-Key")).lower()


def _variable_names(schemes: Sequence[str]) -> dict[str, str]:
    """`API_KEY` for `api_key` and for `ApiKey`; all different."""
    names: dict[str, str] = {}
    for scheme in sorted(schemes):
        words = _WORD_BOUNDARY.sub("_", scheme.replace("OAuth", "Oauth"))
        words = _NOT_A_NAME.sub("_", words).strip("_").upper()
        name = words if words and not words[0].isdigit() else f"AUTH_{words}".rstrip("_")
        while name in names.values():
            name += "_"
        names[scheme] = name
    return names
