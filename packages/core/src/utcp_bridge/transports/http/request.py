"""From a call template and arguments to an HTTP request; nothing here touches the network."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from multidict import CIMultiDict
from utcp.data.auth import Auth
from utcp.data.auth_implementations.api_key_auth import ApiKeyAuth
from utcp.data.auth_implementations.basic_auth import BasicAuth
from utcp.data.auth_implementations.oauth2_auth import OAuth2Auth
from utcp_http.http_call_template import HttpCallTemplate
from yarl import URL

from utcp_bridge.errors import ToolArgumentsError
from utcp_bridge.transports.http.cookies import cookie_pairs, cookie_value
from utcp_bridge.transports.http.marks import NOT_GIVEN
from utcp_bridge.transports.http.security import RefusedRequestError
from utcp_bridge.transports.http.template import HttpParameter, MappedHttpCallTemplate
from utcp_bridge.transports.http.url import parse_url_template
from utcp_bridge.transports.http.url_fault import url_fault
from utcp_bridge.transports.http.values import (
    form_text,
    json_text,
    percent_encoded,
    plain_text,
    query_pairs,
    reserved_kept,
    simple,
)

NO_BODY: Final = object()

# They frame the message or name its receiver. On a connection that other calls use too, a wrong one would let an
# argument write the next request (RFC 9112, section 11.2).
_CONNECTION_HEADERS = frozenset(
    (
        "connection",
        "content-length",
        "expect",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2


@dataclass(slots=True, repr=False)
class HttpRequest:
    """A request that has yet to be sent; its representation tells no secret.

    Attributes:
        method: Upper case.
        url: Complete, encoded.
        url_template: The URL as the call template writes it.
        headers: All headers but `Content-Type` of a body that has yet to be encoded, and `Authorization` of OAuth2,
            which needs a token first.
        content: The argument that becomes the body, or `NO_BODY`.
        content_type: What the body is sent as.
        secret_headers: Lower-case names of headers that hold credentials.
        oauth2: The credentials to get a token with, if any.
        part_headers: Headers of single parts of a multipart body, by the part's name.
    """

    method: str
    url: URL
    url_template: str
    headers: CIMultiDict[str]
    content: Any
    content_type: str
    secret_headers: frozenset[str]
    oauth2: OAuth2Auth | None
    part_headers: dict[str, CIMultiDict[str]] = field(default_factory=dict)


def build_request(template: HttpCallTemplate, arguments: Mapping[str, Any]) -> HttpRequest:
    """The request of a call.

    Arguments go where the template says: placeholders of the URL, `header_fields`, `body_field`, and for a
    `MappedHttpCallTemplate` its `parameters` and what it has `written`. What is left becomes the query, as with
    upstream: whether a tool's schema is closed was decided before, when the arguments were accepted.

    Args:
        template: The call template, its variables filled in.
        arguments: The arguments that the call was accepted with.

    Raises:
        ToolArgumentsError: An argument is missing or cannot be written at its place.
        RefusedRequestError: The template itself cannot be written as a request.
    """
    mapped = template if isinstance(template, MappedHttpCallTemplate) else None
    parameters = mapped.parameters if mapped else []
    parsed = parse_url_template(template.url, dollars=mapped is not None)
    path_parameters = {parameter.name: parameter for parameter in parameters if parameter.location == "path"}
    origin, path, query, used = parsed.expand(arguments, path_parameters)

    headers: CIMultiDict[str] = CIMultiDict(template.headers or {})
    cookies: list[str] = []
    part_headers: dict[str, CIMultiDict[str]] = {}
    for name in template.header_fields or ():
        if name in arguments and name not in used:
            used.add(name)
            _set_header(headers, name, arguments[name])
    for parameter in parameters:
        if parameter.argument in arguments and parameter.location != "path":
            used.add(parameter.argument)
            filled = part_headers.setdefault(parameter.part, CIMultiDict()) if parameter.location == "part" else headers
            _place(parameter, arguments[parameter.argument], filled, query, cookies)

    written = mapped.written if mapped else None
    if written is not None:
        used |= written.arguments
        for name, value in written.header_values(arguments):
            _set_header(headers, name, value)
        for name, value in written.query_values(arguments):
            query.extend(query_pairs(name, value))
    content = _body_argument(template, mapped, arguments, used)
    if content is NO_BODY and written is not None and written.has_body:
        content = written.content(arguments, headers.get("Content-Type") or template.content_type)
        content = NO_BODY if content is NOT_GIVEN else content
    left = [name for name in arguments if name not in used]
    if left and mapped and mapped.undeclared == "refuse":
        raise ToolArgumentsError(f"The tool has no place for {', '.join(map(repr, left))}.")
    for name in left:
        query.extend(query_pairs(name, arguments[name]))

    credentials = [template.auth] if template.auth else []
    secret_names, oauth2 = apply_auth(credentials + (mapped.more_auth if mapped else []), headers, query, cookies)
    if cookies:
        existing = headers.pop("Cookie", None)
        headers["Cookie"] = "; ".join(([existing] if existing else []) + cookies)
    _check_headers(headers)
    url = _url(origin, path, query)
    if url.user is not None:
        headers.setdefault("Authorization", basic_auth(url.user, url.password or ""))
        secret_names |= {"authorization"}
        url = url.with_user(None)
    return HttpRequest(
        template.http_method.upper(),
        url,
        template.url,
        headers,
        content,
        headers.get("Content-Type") or template.content_type,
        secret_names,
        oauth2,
        part_headers,
    )


def apply_auth(
    credentials: Iterable[Auth], headers: CIMultiDict[str], query: list[str], cookies: list[str]
) -> tuple[frozenset[str], OAuth2Auth | None]:
    """Put credentials where they belong.

    Returns:
        The lower-case names of the headers that now hold a secret, and the OAuth2 credentials, if there are any.
    """
    secret_names: set[str] = set()
    oauth2: OAuth2Auth | None = None
    for auth in credentials:
        if isinstance(auth, ApiKeyAuth):
            secret_names |= _apply_api_key(auth, headers, query, cookies)
        elif isinstance(auth, BasicAuth):
            headers["Authorization"] = basic_auth(auth.username, auth.password)
            secret_names.add("authorization")
        elif isinstance(auth, OAuth2Auth):
            oauth2 = auth
            secret_names.add("authorization")
    return frozenset(secret_names), oauth2


def basic_auth(username: str, password: str) -> str:
    """The value of `Authorization` for basic authentication, in UTF-8 (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode("ascii")


def _apply_api_key(auth: ApiKeyAuth, headers: CIMultiDict[str], query: list[str], cookies: list[str]) -> set[str]:
    if not auth.api_key:
        raise RefusedRequestError("The call template's API key is empty; set the variable that it comes from.")
    if "\r" in auth.var_name or "\n" in auth.var_name:
        raise RefusedRequestError("ApiKeyAuth.var_name contains CR/LF, which would forge a header.")
    if auth.location == "header":
        headers[auth.var_name] = auth.api_key
        return {auth.var_name.lower()}
    if auth.location == "query":
        query.extend(query_pairs(auth.var_name, auth.api_key))
    else:
        cookies.append(f"{auth.var_name}={cookie_value(auth.api_key, keep_escapes=True)}")
    return set()


def _body_argument(
    template: HttpCallTemplate, mapped: MappedHttpCallTemplate | None, arguments: Mapping[str, Any], used: set[str]
) -> Any:
    name = template.body_field
    if name and name in arguments and name not in used:
        used.add(name)
        return arguments[name]
    if mapped is None or not mapped.body_arguments:
        return NO_BODY
    given = {wire: arguments[argument] for argument, wire in mapped.body_arguments.items() if argument in arguments}
    used.update(argument for argument in mapped.body_arguments if argument in arguments)
    return given if given or mapped.body_required else NO_BODY


def _place(
    parameter: HttpParameter, value: Any, headers: CIMultiDict[str], query: list[str], cookies: list[str]
) -> None:
    if value is None:
        return
    if parameter.json_content:
        value = json_text(value)
    elif parameter.form_content:
        value = form_text(value)
    if parameter.location in ("header", "part"):
        _set_header(headers, parameter.name, value, explode=bool(parameter.explode), style=parameter.style)
    elif parameter.location == "cookie":
        cookies.extend(cookie_pairs(parameter, value))
    elif (parameter.field_styles or parameter.reserved_styles) and isinstance(value, dict):
        for name, item in value.items():
            encode = reserved_kept if name in parameter.reserved_styles else percent_encoded
            field_style = parameter.reserved_styles.get(name) or parameter.field_styles.get(name, "form")
            query.extend(query_pairs(name, item, style=field_style, encode=encode))
    elif parameter.whole_query:
        query.append(value if parameter.form_content else percent_encoded(value))
    else:
        encode = reserved_kept if parameter.allow_reserved else percent_encoded
        style: Any = parameter.style
        query.extend(query_pairs(parameter.name, value, style=style, explode=parameter.explode, encode=encode))


def _set_header(
    headers: CIMultiDict[str], name: str, value: Any, *, explode: bool = False, style: str | None = None
) -> None:
    if value is None:
        return
    if name.lower() in _CONNECTION_HEADERS or name.lower() == "host":
        raise RefusedRequestError(f"The header {name!r} belongs to the connection and cannot be an argument.")
    text = simple(value, plain_text, explode=explode, style=style)
    if _CONTROL.search(text):
        raise ToolArgumentsError(
            f"The header {name!r}, which the arguments fill in, must not hold CR/LF or control characters."
        )
    headers[name] = text


def _check_headers(headers: CIMultiDict[str]) -> None:
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise RefusedRequestError(f"{name!r} is not the name of a header.")
        if name.lower() in _CONNECTION_HEADERS:
            raise RefusedRequestError(
                f"The call template sets the header {name!r}, which belongs to the connection; remove it."
            )
        if _CONTROL.search(value):
            raise RefusedRequestError(
                f"The value of the header {name!r} contains CR/LF or another control character; a variable may end in "
                "a line break."
            )


def _url(origin: str, path: str, query: list[str]) -> URL:
    try:
        return URL(f"{_readable(origin)}{path}{'?' if query else ''}{'&'.join(query)}", encoded=True)
    except ValueError as error:
        fault = url_fault(f"{origin}{path}") or f"The tool's URL cannot be read: {type(error).__name__}."
        raise RefusedRequestError(fault) from error


@lru_cache(maxsize=1024)
def _readable(origin: str) -> str:
    # Only this is left to yarl, for international names; it would decode and requote the rest.
    url = URL(origin)
    return f"{url.scheme}://{url.raw_authority}"
