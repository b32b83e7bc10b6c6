"""Security schemes as UTCP's credentials: one variable for each scheme, under the name that its author gave it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

from utcp_bridge.openapi.nodes import Node, OperationError, mapping, text
from utcp_bridge.openapi.references import DanglingReferenceError, Documents, joined_address

Auth: TypeAlias = dict[str, Any]
"""UTCP's form of credentials, as a dict."""

_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9]+")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_DOLLAR_NAME = re.compile(r"\$\{?\w")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_URI_LIKE = re.compile(r"[#/]")
_LOCATIONS = frozenset({"header", "query", "cookie"})


class UndescribedSchemeError(OperationError):
    """A document does not say what is to be sent for a security scheme; the message names it."""


class SecuritySchemes:
    """The Security Scheme Objects of a description.

    Args:
        documents: The documents.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._schemes = _declared(documents)
        self._variables: dict[str, str] = {}
        self._name_variables(sorted(self._schemes))

    def name(self, written: str, base: str) -> str:
        """The name of the scheme that a requirement asks for; since OpenAPI 3.2 that may write its URI instead.

        Args:
            written: What the requirement writes.
            base: The URL of the document that the requirement stands in.

        Raises:
            UndescribedSchemeError: There is no such scheme.
        """
        if written in self._schemes:
            return written
        undescribed = f"the document does not describe the security scheme {written!r}"
        if not _URI_LIKE.search(written):
            raise UndescribedSchemeError(undescribed)
        try:
            found = self._documents.resolve(written, base)
        except DanglingReferenceError as error:
            raise UndescribedSchemeError(undescribed) from error
        name = next((name for name, node in self._schemes.items() if node.value is found.value), "")
        if not name:
            name = found.name if found.name not in self._schemes else written
            self._schemes[name] = found
            self._name_variables([name])
        return name

    def fields(self, name: str) -> Mapping[Any, Any]:
        """The fields of a scheme."""
        return self._documents.follow(self._schemes[name]).fields

    def kind(self, name: str) -> str:
        """The type of a scheme, in lower case."""
        return text(self.fields(name).get("type")).lower()

    def auth(self, name: str, scopes: Collection[str], server_url: str) -> Auth | None:
        """UTCP's form of a scheme; None for a certificate, which is the connection's.

        Args:
            name: The scheme's name.
            scopes: The scopes that are asked for.
            server_url: What a relative token URL starts from.

        Raises:
            UndescribedSchemeError: The document does not say what is to be sent.
            OperationError: It cannot be used.
        """
        scheme, variable, kind = self.fields(name), self._variables[name], self.kind(name)
        if kind == "apikey":
            location, key_name = text(scheme.get("in")), text(scheme.get("name"))
            if location not in _LOCATIONS or not key_name:
                raise UndescribedSchemeError(f"the security scheme {name!r} does not say where its key goes")
            if location == "header" and not _TOKEN.fullmatch(key_name):
                raise OperationError(f"the security scheme {name!r} names the header {key_name!r}, which none can have")
            return api_key(f"${{{variable}}}", _literal(key_name, name), location)
        word = text(scheme.get("scheme"))
        if kind == "basic" or (kind == "http" and word.lower() == "basic"):
            return {
                "auth_type": "basic",
                "username": f"${{{variable}_USERNAME}}",
                "password": f"${{{variable}_PASSWORD}}",
            }
        if kind == "http":
            word = "Bearer" if word.lower() in ("bearer", "") else word
            return api_key(f"{_literal(word, name)} ${{{variable}}}")
        if kind == "oauth2":
            return _oauth2(scheme, variable, scopes, server_url)
        if kind == "openidconnect":  # getting a token takes a person
            return api_key(f"Bearer ${{{variable}}}")
        if kind == "mutualtls":
            return None
        raise UndescribedSchemeError(f"the security scheme {name!r} is of the type {kind!r}, which is not known")

    def _name_variables(self, names: Iterable[str]) -> None:
        taken = set(self._variables.values())
        for name in names:
            variable = _variable_name(name)
            while variable in taken:
                variable += "_"
            self._variables[name] = variable
            taken.add(variable)


def api_key(value: str, name: str = "Authorization", location: str = "header") -> Auth:
    """UTCP's form of a key, or of anything else that goes to one place as it is."""
    return {"auth_type": "api_key", "api_key": value, "var_name": name, "location": location}


def absolute_url(url: str, server_url: str) -> str:
    """A URL of a scheme, which starts from the server's (OpenAPI 3.0.3, section 4.5; 3.2, section 4.5.2)."""
    return url if _ABSOLUTE.match(url) else joined_address(f"{server_url}/", url) or url


def _declared(documents: Documents) -> dict[str, Node]:
    root = documents.root
    try:
        found = documents.follow(documents.follow(root.get("components")).get("securitySchemes"))
        return dict((found if found.fields else documents.follow(root.get("securityDefinitions"))).items())
    except DanglingReferenceError:
        return {}  # operations that ask for one say so


def _oauth2(scheme: Mapping[Any, Any], variable: str, scopes: Collection[str], server_url: str) -> Auth:
    flow = mapping(mapping(scheme.get("flows")).get("clientCredentials"))
    if not flow and scheme.get("flow") == "application":  # Swagger 2.0
        flow = scheme
    token_url = text(flow.get("tokenUrl"))
    if not token_url:
        # The other flows need a person in a browser; the token that comes of them is as good as any.
        return api_key(f"Bearer ${{{variable}}}")
    return {
        "auth_type": "oauth2",
        "token_url": _literal(absolute_url(token_url, server_url), "of its token URL"),
        "client_id": f"${{{variable}_CLIENT_ID}}",
        "client_secret": f"${{{variable}_CLIENT_SECRET}}",
        "scope": _literal(" ".join(scopes), "of its scopes") or None,
    }


def _literal(written: str, scheme: str) -> str:
    """A text of the document that goes among credentials, where UTCP reads every `$` as a variable of the user's."""
    if _DOLLAR_NAME.search(written):
        raise OperationError(
            f"the security scheme {scheme!r} has a variable in {written!r}, which is for users to write"
        )
    return written


def _variable_name(scheme: str) -> str:
    """`API_KEY` for `api_key` and for `ApiKey`."""
    words = _WORD_BOUNDARY.sub("_", scheme.replace("OAuth", "Oauth"))
    words = _NOT_A_NAME.sub("_", words).strip("_").upper()
    return words if words and not words[0].isdigit() else f"AUTH_{words}".rstrip("_")
