"""What the credentials of a security scheme are, in words for whoever gives their variables a value."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from utcp_bridge.openapi.describing import plain, shortened
from utcp_bridge.openapi.nodes import mapping, text

_MOST_SCOPES = 5
_MOST_CHARACTERS = 200
_MOST_WRITTEN = 800  # names, scopes and URLs are the document's, and may be of any length
_PLACES = {"header": "header", "query": "query parameter", "cookie": "cookie"}
# A flow, the URL in it that a token comes by, and how; the names of Swagger 2.0 beside those of OpenAPI 3.
_WAYS_TO_A_TOKEN = (
    ("authorizationCode", "authorizationUrl", "which a person gets at {}"),
    ("accessCode", "authorizationUrl", "which a person gets at {}"),
    ("implicit", "authorizationUrl", "which a person gets at {}"),
    ("deviceAuthorization", "deviceAuthorizationUrl", "which a person allows by way of {}"),
    ("password", "tokenUrl", "which {} gives for a user name and a password"),
)
_SENT_AS_IT_IS = "it is sent as it is, so a new one is needed when it expires"


def credential_descriptions(
    scheme: Mapping[Any, Any], auth: Mapping[str, Any], scopes: Collection[str], absolute: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Describe the credentials of one security scheme.

    Args:
        scheme: The fields of the Security Scheme Object.
        auth: UTCP's form of it.
        scopes: The scopes that operations ask for with it.
        absolute: Makes an absolute URL of one that the scheme gives.

    Yields:
        The fields of `auth` that hold a secret, and what each takes: where a key goes, where a token comes from, and
        what the author says about it.
    """
    author = shortened(" ".join(plain(scheme.get("description")).split()), _MOST_CHARACTERS)
    for field, what in _fields(scheme, auth, _with(scopes), absolute):
        told = shortened(" ".join(what.split()), _MOST_WRITTEN)
        yield field, f"{told}. The document says: {author}" if author else told


def _fields(
    scheme: Mapping[Any, Any], auth: Mapping[str, Any], with_scopes: str, absolute: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    kind = text(scheme.get("type")).lower()
    if auth["auth_type"] == "basic":
        yield "username", "the user name of HTTP Basic authentication"
        yield "password", "the password of HTTP Basic authentication"
    elif auth["auth_type"] == "oauth2":
        tokens = f"OAuth 2.0 tokens{with_scopes} from {auth['token_url']}"
        yield "client_id", f"the client ID for {tokens}"
        yield "client_secret", f"the client secret for {tokens}"
    elif kind == "apikey":
        location = text(scheme.get("in"))
        yield "api_key", f"an API key, sent in the {_PLACES[location]} {text(scheme.get('name'))!r}"
    elif kind == "openidconnect":
        url = text(scheme.get("openIdConnectUrl"))
        source = f" from the provider that {absolute(url)} describes" if url else ""
        yield "api_key", f"an OpenID Connect access token{with_scopes}{source}; {_SENT_AS_IT_IS}"
    elif kind == "oauth2":
        yield "api_key", f"an OAuth 2.0 access token{with_scopes}{_way_to_token(scheme, absolute)}; {_SENT_AS_IT_IS}"
    elif text(scheme.get("scheme")).lower() in ("bearer", ""):
        written = shortened(text(scheme.get("bearerFormat")), _MOST_CHARACTERS)
        yield "api_key", f"a bearer token ({written})" if written else "a bearer token"
    else:
        yield "api_key", f"what follows {text(scheme.get('scheme'))!r} in the header 'Authorization'"


def _way_to_token(scheme: Mapping[Any, Any], absolute: Callable[[str], str]) -> str:
    flow = text(scheme.get("flow"))
    flows = {flow: scheme} if flow else mapping(scheme.get("flows"))  # Swagger 2.0 has one
    for name, field, way in _WAYS_TO_A_TOKEN:
        if url := text(mapping(flows.get(name)).get(field)):
            return f", {way.format(absolute(url))}"
    return ""


def _with(scopes: Collection[str]) -> str:
    if not scopes:
        return ""
    told = ", ".join(map(repr, list(scopes)[:_MOST_SCOPES]))
    more = f" and {len(scopes) - _MOST_SCOPES} more" if len(scopes) > _MOST_SCOPES else ""
    return f" with the scope{'' if len(scopes) == 1 else 's'} {told}{more}"
