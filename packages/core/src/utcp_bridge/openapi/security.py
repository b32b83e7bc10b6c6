"""Security schemes as UTCP's credentials: one variable for each scheme, under the name that its author gave it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from utcp_bridge.openapi.credential_descriptions import credential_descriptions
from utcp_bridge.openapi.nodes import Node, OperationError, key_text, mapping, sequence, text
from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.references import DanglingReferenceError, Documents, joined_address

Auth: TypeAlias = dict[str, Any]
"""UTCP's form of credentials, as a dict."""

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9]+")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_DOLLAR_NAME = re.compile(r"\$\{?\w")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_AUTHORIZATION = ("header", "authorization")
_LOCATIONS = frozenset({"header", "query", "cookie"})


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request needs to be allowed.

    Attributes:
        auths: All of them are sent.
        schemes: The security schemes that they are for, each with the scopes that are asked for.
        alternatives: Variables of other credentials that would do as well, where nothing decides for these.
    """

    auths: tuple[Auth, ...] = ()
    schemes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    alternatives: tuple[str, ...] = ()

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
        auth_tools: UTCP's `auth_tools`: used for each operation that asks for such credentials; default None.
        defined: Tells whether a variable has a value, which decides between alternatives; default none has.
    """

    def __init__(
        self,
        documents: Documents,
        *,
        auth_tools: Auth | None = None,
        defined: Callable[[str], bool] | None = None,
    ) -> None:
        self._documents = documents
        self._auth_tools = auth_tools
        self._defined = defined or (lambda _name: False)
        self._schemes = _schemes(documents)
        self._variables = _variable_names(list(self._schemes))
        self._uses: dict[str, _Use] = {}

    def of(self, operation: Operation, server_url: str, *, asks_for_header: bool = False) -> Credentials:
        """The credentials of an operation.

        Args:
            operation: The operation.
            server_url: What a relative token URL starts from.
            asks_for_header: Whether it has the header `Authorization` as a parameter, which is no argument; where
                the document says nothing else about security, `auth_tools` or the variable `AUTHORIZATION` fills it.

        Of alternatives the first is taken that `auth_tools` fits, else the first whose variables all have values,
        else none where none is among them, else the first; those that want a client certificate come last.

        Raises:
            OperationError: It asks only for schemes that cannot be used.
        """
        owner = operation.node if isinstance(operation.node.fields.get("security"), list) else self._documents.root
        alternatives = [mapping(item) for item in sequence(owner.fields.get("security"))]
        if not alternatives:
            is_silent = not isinstance(owner.fields.get("security"), list)
            return self._in_header() if asks_for_header and is_silent else Credentials()
        usable = self._usable(alternatives, server_url)
        fitting = [found for found, fits in usable if fits]
        found = [each for each, _ in usable]
        ready = [each for each in found if each.auths and all(map(self._defined, each.variables))]
        if decided := [*fitting, *ready]:
            self._note(decided[0], server_url, is_taken=True)
            return decided[0]
        open_to_all = [each for each in found if not each.auths and not self._wants_certificate(each)]
        taken = [*open_to_all, found[0]][0]
        others = [each for each in found if each is not taken and each.auths]
        self._note(taken, server_url, is_taken=True)
        for other in others:
            self._note(other, server_url)
        names = dict.fromkeys(name for other in others for name in other.variables if name not in taken.variables)
        return replace(taken, alternatives=tuple(names))

    def _usable(self, alternatives: Sequence[Mapping[Any, Any]], server_url: str) -> list[tuple[Credentials, bool]]:
        usable: list[tuple[Credentials, bool]] = []
        reasons: list[str] = []
        for alternative in alternatives:
            try:
                usable.append(self._credentials(alternative, server_url))
            except OperationError as error:
                reasons.append(str(error))
        if not usable:
            raise OperationError("; ".join(dict.fromkeys(reasons)))
        return sorted(usable, key=lambda each: self._wants_certificate(each[0]))

    def _note(self, found: Credentials, server_url: str, *, is_taken: bool = False) -> None:
        for name, scopes in found.schemes:
            use = self._uses.setdefault(name, _Use(server_url))
            use.count += is_taken
            use.scopes |= dict.fromkeys(scopes)

    def variable_descriptions(self) -> dict[str, str]:
        """What the variables take that the operations so far use or could use, by name."""
        found: dict[str, str] = {}
        for name, use in self._uses.items():
            absolute = partial(_absolute, server_url=use.server_url)
            for auth in self._auths(name, tuple(use.scopes), use.server_url):
                for field_name, words in credential_descriptions(self._scheme(name), auth, use.scopes, absolute):
                    found |= dict.fromkeys(_VARIABLE.findall(str(auth[field_name])), words)
        return found

    def warnings(self) -> tuple[str, ...]:
        """What the operations asked for so far and cannot be given, in whole sentences."""
        return tuple(
            f"the security scheme {name!r} asks for a client certificate (mutual TLS), and none is sent; it stands at "
            f"{use.count} of its operations"
            for name, use in self._uses.items()
            if use.count and self._kind(name) == "mutualtls"
        )

    def _credentials(self, alternative: Mapping[Any, Any], server_url: str) -> tuple[Credentials, bool]:
        auths: list[Auth] = []
        schemes: list[tuple[str, tuple[str, ...]]] = []
        fits = False
        for key, asked in alternative.items():
            name = key_text(key)
            scopes = tuple(scope for scope in sequence(asked) if isinstance(scope, str))
            schemes.append((name, scopes))
            for auth in self._auths(name, scopes, server_url):
                if self._auth_tools is not None and _fits(auth, self._auth_tools, self._kind(name)):
                    auth, fits = self._auth_tools, True
                if auth not in auths:
                    auths.append(auth)
        return Credentials(tuple(self._one_for_each_place(auths)), tuple(schemes)), fits

    def _wants_certificate(self, credentials: Credentials) -> bool:
        return any(self._kind(name) == "mutualtls" for name, _ in credentials.schemes)

    def _one_for_each_place(self, auths: Sequence[Auth]) -> Iterator[Auth]:
        # A place holds one of them. Authors who ask for two mean either, so one with a value comes first.
        by_place: dict[tuple[str, str], list[Auth]] = {}
        for auth in auths:
            by_place.setdefault(_place(auth) or _AUTHORIZATION, []).append(auth)
        for found in by_place.values():
            yield next((auth for auth in found if all(map(self._defined, Credentials((auth,)).variables))), found[0])

    def _in_header(self) -> Credentials:
        if self._auth_tools is not None and (_place(self._auth_tools) or _AUTHORIZATION) == _AUTHORIZATION:
            return Credentials((self._auth_tools,))
        if self._defined("AUTHORIZATION"):
            return Credentials((_api_key("${AUTHORIZATION}"),))
        return Credentials()

    def _auths(self, name: str, scopes: Sequence[str], server_url: str) -> Iterator[Auth]:
        if name not in self._schemes:
            raise OperationError(f"it asks for the security scheme {name!r}, which the document does not describe")
        scheme = self._scheme(name)
        variable = self._variables[name]
        kind = self._kind(name)
        if kind == "apikey":
            location = text(scheme.get("in"))
            key_name = text(scheme.get("name"))
            if location not in _LOCATIONS or not key_name:
                raise OperationError(f"the security scheme {name!r} does not say where its key goes")
            if location == "header" and not _TOKEN.fullmatch(key_name):
                raise OperationError(f"the security scheme {name!r} names the header {key_name!r}, which none can have")
            yield _api_key(f"${{{variable}}}", _literal(key_name, name), location)
        elif kind == "basic" or (kind == "http" and text(scheme.get("scheme")).lower() == "basic"):
            yield {
                "auth_type": "basic",
                "username": f"${{{variable}_USERNAME}}",
                "password": f"${{{variable}_PASSWORD}}",
            }
        elif kind == "http":
            word = text(scheme.get("scheme"))
            word = "Bearer" if word.lower() in ("bearer", "") else word
            yield _api_key(f"{_literal(word, name)} ${{{variable}}}")
        elif kind == "oauth2":
            yield self._oauth2(scheme, variable, scopes, server_url)
        elif kind == "openidconnect":
            # Getting a token takes a person; `variable_descriptions` says where.
            yield _api_key(f"Bearer ${{{variable}}}")
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
        return {
            "auth_type": "oauth2",
            "token_url": _literal(_absolute(token_url, server_url=server_url), "of its token URL"),
            "client_id": f"${{{variable}_CLIENT_ID}}",
            "client_secret": f"${{{variable}_CLIENT_SECRET}}",
            "scope": _literal(" ".join(scopes), "of its scopes") or None,
        }

    def _scheme(self, name: str) -> Mapping[Any, Any]:
        return self._documents.follow(self._schemes[name]).fields

    def _kind(self, name: str) -> str:
        return text(self._scheme(name).get("type")).lower()


@dataclass(slots=True)
class _Use:
    """How a security scheme is used.

    Attributes:
        server_url: The server of the first operation that asks for it.
        count: How many operations use it.
        scopes: Those that are asked for, as the keys.
    """

    server_url: str
    count: int = 0
    scopes: dict[str, None] = field(default_factory=dict)


def _absolute(url: str, *, server_url: str) -> str:
    # URLs of the API start from the server's (OpenAPI 3.0.3, section 4.5; 3.2, section 4.5.2).
    return url if _ABSOLUTE.match(url) else joined_address(f"{server_url}/", url)


def _schemes(documents: Documents) -> dict[str, Node]:
    root = documents.root
    try:
        found = documents.follow(documents.follow(root.get("components")).get("securitySchemes"))
        return dict((found if found.fields else documents.follow(root.get("securityDefinitions"))).items())
    except DanglingReferenceError:
        return {}  # operations that ask for one say so


def _literal(written: str, scheme: str) -> str:
    """A text of the document that goes among credentials, where UTCP reads every `$` as a variable of the user's."""
    if _DOLLAR_NAME.search(written):
        raise OperationError(
            f"the security scheme {scheme!r} has a variable in {written!r}, which is for users to write"
        )
    return written


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
    endings: dict[str, str] = {}
    for scheme in sorted(schemes):
        words = _WORD_BOUNDARY.sub("_", scheme.replace("OAuth", "Oauth"))
        words = _NOT_A_NAME.sub("_", words).strip("_").upper()
        name = words if words and not words[0].isdigit() else f"AUTH_{words}".rstrip("_")
        endings[name] = f"{endings[name]}_" if name in endings else ""
        names[scheme] = name + endings[name]
    return names
