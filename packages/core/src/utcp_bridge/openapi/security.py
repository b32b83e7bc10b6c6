"""The credentials of each operation: which of its security requirements is met, and with what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from utcp_bridge.openapi.credential_descriptions import credential_descriptions
from utcp_bridge.openapi.nodes import Node, OperationError, key_text, mapping, sequence
from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.references import Documents
from utcp_bridge.openapi.security_schemes import (
    Auth,
    SecuritySchemes,
    UndescribedSchemeError,
    absolute_url,
    api_key,
)

HEADER_VARIABLE: Final = "AUTHORIZATION"
"""The variable of a header `Authorization` that a document describes as a parameter, not as security."""

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_AUTHORIZATION = ("header", "authorization")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request needs to be allowed.

    Attributes:
        auths: All of them are sent.
        schemes: The security schemes that they are for, each with the scopes that are asked for.
        alternatives: Variables of other credentials that would do as well, where nothing decides for these.
        undescribed: Why nothing is sent for other schemes that are asked for at the same time.
    """

    auths: tuple[Auth, ...] = ()
    schemes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    alternatives: tuple[str, ...] = ()
    undescribed: tuple[str, ...] = ()

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
        self._root = documents.root
        self._auth_tools = auth_tools
        self._defined = defined or (lambda _name: False)
        self._schemes = SecuritySchemes(documents)
        self._known: dict[tuple[str, str, str], list[tuple[Credentials, bool]]] = {}
        self._uses: dict[str, _Use] = {}
        self._undescribed: Counter[str] = Counter()
        self._uses_header = False

    def of(self, operation: Operation, server_url: str, *, asks_for_header: bool = False) -> Credentials:
        """The credentials of an operation.

        Of alternatives the first is taken that `auth_tools` fits, else the first whose variables all have values,
        else none where none is among them, else the first; those that want a client certificate come last, and before
        them those of which the document does not say what is to be sent.

        Args:
            operation: The operation.
            server_url: What a relative token URL starts from.
            asks_for_header: Whether it has the header `Authorization` as a parameter, which is no argument; where
                the document says nothing else about security, `auth_tools` or `HEADER_VARIABLE` fills it.

        Raises:
            OperationError: It asks only for schemes that must not be used.
        """
        owner = next((node for node in (operation.node, self._root) if _says_something(node)), None)
        if owner is None:
            return self._in_header() if asks_for_header else Credentials()
        usable = self._usable(owner, server_url)
        if not usable:
            return Credentials()
        found = [each for each, _ in usable]
        fitting = [each for each, fits in usable if fits]
        ready = [each for each in found if each.auths and all(map(self._defined, each.variables))]
        if decided := [*fitting, *ready]:
            self._note(decided[0], server_url, is_taken=True)
            return decided[0]
        open_to_all = [each for each in found if not (each.auths or each.undescribed or self._wants_certificate(each))]
        taken = [*open_to_all, found[0]][0]
        others = [each for each in found if each is not taken and each.auths]
        self._note(taken, server_url, is_taken=True)
        for other in others:
            self._note(other, server_url)
        names = dict.fromkeys(name for other in others for name in other.variables if name not in taken.variables)
        return replace(taken, alternatives=tuple(names))

    def variable_descriptions(self) -> dict[str, str]:
        """What the variables take that the operations so far use or could use, by name."""
        found: dict[str, str] = {}
        if self._uses_header:
            found[HEADER_VARIABLE] = "the whole value of the header 'Authorization', such as 'Bearer ...'"
        for name, use in self._uses.items():
            auth = self._schemes.auth(name, use.scopes, use.server_url)
            if auth is not None:
                absolute = partial(absolute_url, server_url=use.server_url)
                for field_name, words in credential_descriptions(
                    self._schemes.fields(name), auth, use.scopes, absolute
                ):
                    found |= dict.fromkeys(_VARIABLE.findall(str(auth[field_name])), words)
        return found

    def warnings(self) -> tuple[str, ...]:
        """What the operations asked for so far and cannot be given, in whole sentences."""
        certificates = (
            f"the security scheme {name!r} asks for a client certificate (mutual TLS), and none is sent; it stands at "
            f"{use.count} of its operations"
            for name, use in self._uses.items()
            if use.count and self._schemes.kind(name) == "mutualtls"
        )
        undescribed = (
            f"{reason}, so nothing is sent for it unless 'auth_tools' in the manual's call template gives its "
            f"credentials; it stands at {count} of its operations"
            for reason, count in self._undescribed.items()
        )
        return *certificates, *undescribed

    def _usable(self, owner: Node, server_url: str) -> list[tuple[Credentials, bool]]:
        """What meets each requirement that can be met, and whether `auth_tools` is among it."""
        key = repr(owner.fields.get("security")), owner.base, server_url  # most operations ask for the same
        if key in self._known:
            return self._known[key]
        usable: list[tuple[Credentials, bool]] = []
        reasons: dict[str, None] = {}
        for requirement in _requirements(owner):
            try:
                usable.append(self._credentials(requirement, owner.base, server_url))
            except OperationError as error:
                reasons[str(error)] = None
        if reasons and not usable:
            raise OperationError("; ".join(reasons))
        self._known[key] = sorted(
            usable, key=lambda each: (self._wants_certificate(each[0]), bool(each[0].undescribed))
        )
        return self._known[key]

    def _credentials(self, requirement: Mapping[Any, Any], base: str, server_url: str) -> tuple[Credentials, bool]:
        auths: list[Auth] = []
        schemes: list[tuple[str, tuple[str, ...]]] = []
        undescribed: list[str] = []
        fits = False
        for key, asked in requirement.items():
            scopes = tuple(scope for scope in sequence(asked) if isinstance(scope, str))
            try:
                name = self._schemes.name(key_text(key), base)
                auth = self._schemes.auth(name, scopes, server_url)
            except UndescribedSchemeError as error:
                if self._auth_tools is None:
                    undescribed.append(str(error))
                else:
                    fits = True
                    auths.append(self._auth_tools)
                continue
            schemes.append((name, scopes))
            if auth is None:
                continue
            if self._auth_tools is not None and _fits(auth, self._auth_tools, self._schemes.kind(name)):
                auth, fits = self._auth_tools, True
            if auth not in auths:
                auths.append(auth)
        one_each = tuple(self._one_for_each_place(auths))
        return Credentials(one_each, tuple(schemes), undescribed=tuple(undescribed)), fits

    def _one_for_each_place(self, auths: Sequence[Auth]) -> Iterator[Auth]:
        # A place holds one of them. Authors who ask for two mean either, so one with a value comes first.
        by_place: dict[tuple[str, str], list[Auth]] = {}
        for auth in auths:
            by_place.setdefault(_place(auth) or _AUTHORIZATION, []).append(auth)
        for found in by_place.values():
            yield next((auth for auth in found if all(map(self._defined, Credentials((auth,)).variables))), found[0])

    def _wants_certificate(self, credentials: Credentials) -> bool:
        return any(self._schemes.kind(name) == "mutualtls" for name, _ in credentials.schemes)

    def _in_header(self) -> Credentials:
        if self._auth_tools is not None and (_place(self._auth_tools) or _AUTHORIZATION) == _AUTHORIZATION:
            return Credentials((self._auth_tools,))
        self._uses_header = True
        if self._defined(HEADER_VARIABLE):
            return Credentials((api_key(f"${{{HEADER_VARIABLE}}}"),))
        return Credentials(alternatives=(HEADER_VARIABLE,))

    def _note(self, found: Credentials, server_url: str, *, is_taken: bool = False) -> None:
        for name, scopes in found.schemes:
            use = self._uses.setdefault(name, _Use(server_url))
            use.count += is_taken
            use.scopes |= dict.fromkeys(scopes)
        if is_taken:
            self._undescribed.update(found.undescribed)


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


def _says_something(owner: Node) -> bool:
    return isinstance(owner.fields.get("security"), (list, Mapping))


def _requirements(owner: Node) -> list[Mapping[Any, Any]]:
    """The Security Requirement Objects; some authors leave out the list, or write the name alone."""
    written = owner.fields.get("security")
    items = [written] if isinstance(written, Mapping) else sequence(written)
    return [{item: []} if isinstance(item, str) else mapping(item) for item in items]


def _fits(auth: Auth, auth_tools: Auth, kind: str) -> bool:
    """Whether `auth_tools` may stand for a scheme: of the same type, and for a key in the same place (upstream)."""
    if kind in ("oauth2", "openidconnect") and (
        auth_tools.get("auth_type") == "oauth2" or _place(auth_tools) == _AUTHORIZATION  # a token that the user has
    ):
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
