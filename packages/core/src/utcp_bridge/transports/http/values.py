"""Argument values as text for a URL, a header or a form: percent-encoding, JSON spelling, OpenAPI styles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal
from urllib.parse import quote, unquote

from utcp_bridge.errors import ToolArgumentsError

PathStyle = Literal["simple", "label", "matrix"]
QueryStyle = Literal["form", "spaceDelimited", "pipeDelimited", "deepObject", "commaDelimited", "tabDelimited"]
"""Styles of OpenAPI 3, `form` without explode by itself, and the one of Swagger 2.0 that OpenAPI 3 dropped."""

CookieStyle = Literal["cookie"]
"""The style that OpenAPI 3.2 has for cookies beside `form`."""

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_UNRESERVED = re.compile(r"[A-Za-z0-9_.~-]*")  # RFC 3986, section 2.3
_ESCAPE = re.compile("(%[0-9A-Fa-f]{2})")
# Reserved characters (RFC 3986, section 2.2) that neither end a query nor divide its parameters.
_RESERVED_IN_QUERY = ":/?@!$'()*,;"
_RESERVED_IN_PATH = ":@!$&'()*+,;="
_RESERVED_IN_FORM = _RESERVED_IN_QUERY + "#[]"
_DELIMITERS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_NAME_SAFE = "$@:!*'()/?,"  # so that `$top` reads as its documentation writes it


def json_text(value: Any) -> str:
    """The value as compact JSON with real characters.

    Raises:
        ToolArgumentsError: JSON cannot say the value (NaN, infinity, or something that is not JSON at all).
    """
    try:
        text = _dumps(value)
        # A lone surrogate is legal JSON only as an escape (RFC 8259, section 8.2).
        return text if text.isascii() or _is_unicode(text) else json.dumps(value, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolArgumentsError(f"A value cannot be written as JSON: {error}") from error


def plain_text(value: Any) -> str:
    """A text as it is; anything else as JSON writes it (`true`, `1.5`, `{"a":1}`)."""
    if isinstance(value, str):
        return value
    if value is True:
        return "true"
    if value is False:
        return "false"
    return json_text(value)


def percent_encoded(value: Any, *, safe: str = "") -> str:
    """`plain_text(value)` with everything but unreserved characters (RFC 3986, section 2.3) and `safe` escaped."""
    text = plain_text(value)
    if _UNRESERVED.fullmatch(text):
        return text
    try:
        return quote(text, safe=safe)
    except UnicodeEncodeError as error:
        raise ToolArgumentsError("A value holds half of a surrogate pair, which a URL cannot carry.") from error


def reserved_kept(value: Any) -> str:
    """Percent-encoded, with reserved characters and ready escapes kept (OpenAPI `allowReserved`)."""
    return _escapes_kept(value, _RESERVED_IN_QUERY)


def reserved_kept_in_path(value: Any) -> str:
    """Likewise, without what ends a segment or the path."""
    return _escapes_kept(value, _RESERVED_IN_PATH)


def reserved_kept_in_form(value: Any) -> str:
    """Likewise, without what divides the fields of a form or stands for a space."""
    return _escapes_kept(value, _RESERVED_IN_FORM)


def _escapes_kept(value: Any, safe: str) -> str:
    parts = _ESCAPE.split(plain_text(value))
    return "".join(part if index % 2 else percent_encoded(part, safe=safe) for index, part in enumerate(parts))


def simple(value: Any, encode: Callable[[Any], str], *, explode: bool = False, style: str | None = None) -> str:
    """RFC 6570 simple form (section 3.2.2): `a,b` for a list, `k,v` or exploded `k=v` for an object; nulls left out.

    A delimited style puts its delimiter, not encoded, in the comma's place.
    """
    return _DELIMITERS.get(style or "", ",").join(_members(value, encode, explode=explode))


def form_fields(name: str, value: Any, style: QueryStyle) -> Iterator[tuple[str, str]]:
    """The names and values that one value makes in a style, not encoded: the parts of a multipart form."""
    for pair in query_pairs(name, value, style=style):
        key, _, text = pair.partition("=")
        yield unquote(key), unquote(text)


def path_text(
    value: Any,
    *,
    style: PathStyle | QueryStyle = "simple",
    explode: bool = False,
    name: str = "",
    encode: Callable[[Any], str] = percent_encoded,
) -> str:
    """A path parameter in one of the styles of OpenAPI, which are RFC 6570's (sections 3.2.2, 3.2.5, 3.2.7).

    Swagger 2.0 has the delimited styles here, too.
    """
    if style in _DELIMITERS:
        return percent_encoded(_DELIMITERS[style]).join(_members(value, encode))
    if style == "simple":
        return simple(value, encode, explode=explode)
    members = _members(value, encode, explode=explode)
    if style == "label":
        return "." + ("." if explode else ",").join(members)
    key = percent_encoded(name)
    if explode and isinstance(value, dict):
        return "".join(f";{member.removesuffix('=')}" for member in members)
    # Without a value it is the name alone (RFC 6570, section 3.2.7).
    written = members if explode else [",".join(members)]
    return "".join(f";{key}={text}" if text else f";{key}" for text in written)


def query_pairs(
    name: str,
    value: Any,
    *,
    style: QueryStyle | None = None,
    explode: bool | None = None,
    encode: Callable[[Any], str] = percent_encoded,
) -> Iterator[str]:
    """The `name=value` texts of one query parameter or form field, encoded.

    Args:
        name: The parameter's name on the wire, not yet encoded.
        value: Its value; null gives nothing, and nulls within a list are left out.
        style: A style of OpenAPI 3. None (default) repeats the name for each item of a list and writes an
            object as JSON text.
        explode: As in OpenAPI 3; None (default) is true for `form` and false for the others.
        encode: What escapes a value.

    Yields:
        The encoded pairs, to be joined by `&`.
    """
    if value is None:
        return
    key = percent_encoded(name, safe=_NAME_SAFE)
    if style == "deepObject" and isinstance(value, (dict, list)):
        yield from _deep(key, value, encode)
    elif isinstance(value, list):
        items = [encode(item) for item in value if item is not None]
        if (style in {None, "form"}) if explode is None else explode:
            yield from (f"{key}={item}" for item in items)
        elif items:
            yield f"{key}={_delimiter(style).join(items)}"
    elif isinstance(value, dict) and style is not None:
        if style == "form" if explode is None else explode:
            yield from (pair for item in value for pair in _exploded(item, value[item], encode))
        else:
            members = _members(value, encode)
            yield f"{key}={_delimiter(style).join(members)}"
    else:
        yield f"{key}={encode(value)}"


def form_text(
    value: Any,
    styles: Mapping[str, QueryStyle] | None = None,
    reserved_styles: Mapping[str, QueryStyle] | None = None,
) -> str:
    """An object as the text of a form (https://url.spec.whatwg.org/#urlencoded-serializing); a text is one already.

    Args:
        value: The object.
        styles: The style of single fields; default none.
        reserved_styles: Likewise, of fields that keep reserved characters; default none.
    """
    if not isinstance(value, dict):
        return plain_text(value)
    styles, reserved_styles = styles or {}, reserved_styles or {}
    pairs = (
        query_pairs(name, item, style=reserved_styles[name], encode=reserved_kept_in_form)
        if name in reserved_styles
        else query_pairs(name, item, style=styles.get(name), encode=_form_value)
        for name, item in value.items()
    )
    return "&".join(pair for found in pairs for pair in found)


def _form_value(value: Any) -> str:
    return percent_encoded(value).replace("%20", "+")


def _exploded(name: str, value: Any, encode: Callable[[Any], str]) -> Iterator[str]:
    # OpenAPI leaves lists within an object open; repeating the name is what servers read.
    for item in value if isinstance(value, list) else [value]:
        if item is not None:
            yield f"{percent_encoded(name, safe=_NAME_SAFE)}={encode(item)}"


def _deep(key: str, value: Any, encode: Callable[[Any], str]) -> Iterator[str]:
    # OpenAPI leaves nested values open; indices and nested brackets are what the `qs` libraries, PHP and Rails read.
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _deep(f"{key}[{percent_encoded(name)}]", item, encode)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _deep(f"{key}[{index}]", item, encode)
    elif value is not None:
        yield f"{key.replace('[', '%5B').replace(']', '%5D')}={encode(value)}"


def _members(value: Any, encode: Callable[[Any], str], *, explode: bool = False) -> list[str]:
    if isinstance(value, list):
        return [encode(item) for item in value if item is not None]
    if not isinstance(value, dict):
        return [encode(value)]
    given = {name: item for name, item in value.items() if item is not None}
    if explode:
        return [f"{encode(name)}={encode(item)}" for name, item in given.items()]
    return [encode(part) for pair in given.items() for part in pair]


def _delimiter(style: QueryStyle | None) -> str:
    return percent_encoded(_DELIMITERS[style]) if style in _DELIMITERS else ","


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
