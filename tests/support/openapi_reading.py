"""An independent reading of a description: what a request must look like, straight from the specification's tables.

It shares no code with the converter, and knows only the rule by which arguments are named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from tests.support.http_server import Received
from tests.support.openapi_reading_bodies import body_differences, deep_pairs, json_of, text_of

_NO_HEADERS = {"accept", "authorization", "content-type"}
_CONNECTION = {
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "expect",
    "upgrade",
    "te",
    "trailer",
    "keep-alive",
}
_SWAGGER_DELIMITERS = {"ssv": " ", "tsv": "\t", "pipes": "|"}


@dataclass(slots=True)
class Expected:
    """A request as the document prescribes it, decoded.

    Attributes:
        path: Encoded.
        query: Names and values, decoded.
        headers: Those of parameters, by lower-case name.
        cookies: By name.
        body: The value of the body, or None where none is sent.
        content_types: What it may be sent as.
        part_styles: The Encoding Objects that give a part of a multipart form a style, by name.
    """

    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    body: Any = None
    content_types: list[str] = field(default_factory=list)
    part_styles: Mapping[str, Any] = field(default_factory=dict)


def expected_request(document: Mapping[str, Any], method: str, path: str, arguments: Mapping[str, Any]) -> Expected:
    """What a call of an operation must send.

    Args:
        document: The description.
        method: In lower case.
        path: As the document writes it.
        arguments: The arguments of the tool.
    """
    item = _followed(document, document["paths"][path])
    operation = _followed(document, item[method])
    is_swagger = "swagger" in document
    merged: dict[tuple[str, str], Mapping[str, Any]] = {}
    for parameter in [*item.get("parameters", ()), *operation.get("parameters", ())]:
        found = _followed(document, parameter)
        name = found["name"].lower() if found["in"] == "header" else found["name"]
        merged[name, found["in"]] = found
    path, on_the_wire = _own_query(path, merged)
    parameters = [
        parameter
        for parameter in merged.values()
        if parameter["name"]
        and parameter["in"] not in ("body", "formData")
        and (parameter["in"] != "path" or f"{{{parameter['name']}}}" in path)
        and not (
            parameter["in"] == "header"
            and (
                parameter["name"].lower() in _CONNECTION
                or (not is_swagger and parameter["name"].lower() in _NO_HEADERS)
            )
        )
    ]
    has_body = "requestBody" in operation or any(place == "body" for _, place in merged)
    counts = Counter(parameter["name"] for parameter in parameters)
    expected = Expected(path)
    taken: set[str] = set()
    for parameter in parameters:
        name, place = parameter["name"], parameter["in"]
        argument = f"{place}_{name}" if counts[name] > 1 or (has_body and name == "body") else name
        taken.add(argument)
        if argument in arguments:
            if place == "query":
                parameter = {**parameter, "name": on_the_wire.get(name, name)}
            _place(expected, parameter, arguments[argument], is_swagger=is_swagger)
    for name in re.findall(r"\{([^{}]+)\}", expected.path):
        if name in arguments:  # a placeholder that no parameter declares
            expected.path = expected.path.replace(f"{{{name}}}", quote(text_of(arguments[name]), safe=""))
    fields = [parameter for parameter in merged.values() if parameter["in"] == "formData"]
    if fields:
        expected.body = {
            parameter["name"]: _collected(parameter, arguments[argument])
            for parameter in fields
            if (argument := f"body_{parameter['name']}" if parameter["name"] in taken else parameter["name"])
            in arguments
        } or None
        expected.content_types = ["application/x-www-form-urlencoded"]
    elif has_body and "body" in arguments:
        expected.body = arguments["body"]
        if is_swagger:
            expected.content_types = operation.get("consumes") or document.get("consumes") or ["application/json"]
        else:
            content = _followed(document, operation["requestBody"])["content"]
            expected.content_types = list(content)
            if not document["openapi"].startswith("3.0"):  # styles count in multipart forms since 3.1
                expected.part_styles = content.get("multipart/form-data", {}).get("encoding", {})
    return expected


def _own_query(path: str, merged: Mapping[tuple[str, str], Any]) -> tuple[str, dict[str, str]]:
    """The path without the query parameters that it writes though they are declared, and their names there."""
    path = path.replace("${", "{")
    head, mark, query = path.partition("?")
    kept: list[str] = []
    names: dict[str, str] = {}
    for pair in query.split("&"):
        key, _, value = pair.partition("=")
        name = value[1:-1] if value.startswith("{") else ""
        if (name, "query") in merged and (name, "path") not in merged:
            names[name] = key
        else:
            kept.append(pair)
    return head + mark + "&".join(kept), names


def _collected(parameter: Mapping[str, Any], value: Any) -> Any:
    collection = parameter.get("collectionFormat", "csv")
    if not isinstance(value, list) or collection == "multi":
        return value
    return _SWAGGER_DELIMITERS.get(collection, ",").join(map(text_of, value))


def differences(expected: Expected, received: Received, document: Mapping[str, Any], base: str) -> list[str]:
    """How a request differs from what the document prescribes."""
    found: list[str] = []
    raw_path, _, raw_query = received.target.partition("?")
    path = expected.path.partition("#")[0].partition("?")[0]
    if raw_path != base + quote(path, safe="%/:@!$&'()*+,;=~[]"):
        found.append(f"path {raw_path!r}, expected {base + expected.path!r}")
    query = [
        (unquote(name), unquote(value))
        for name, _, value in (pair.partition("=") for pair in raw_query.split("&") if pair)
    ]
    missing = Counter(expected.query) - Counter(query)
    if missing:
        found.append(f"query {query!r} lacks {list(missing)!r}")
    fixed = parse_qsl(expected.path.partition("#")[0].partition("?")[2], keep_blank_values=True)
    extra = Counter(query) - Counter(expected.query) - Counter(fixed)
    found += [f"query has {pair!r}" for pair in extra if not pair[1].startswith("s3cr3t-")]
    for name, text in expected.headers.items():
        if received.headers.get(name) != text.strip():
            found.append(f"header {name!r} is {received.headers.get(name)!r}, expected {text!r}")
    cookies = dict(pair.split("=", 1) for pair in received.headers.get("Cookie", "").split("; ") if "=" in pair)
    for name, text in expected.cookies.items():
        if unquote(cookies.get(name, "")) != text:
            found.append(f"cookie {name!r} is {cookies.get(name)!r}, expected {text!r}")
    found += body_differences(expected.body, expected.content_types, received, expected.part_styles)
    return found


# -- parameters


def _place(expected: Expected, parameter: Mapping[str, Any], value: Any, *, is_swagger: bool) -> None:
    name, place = parameter["name"], parameter["in"]
    if "content" in parameter:
        texts: list[tuple[str, str]] = [(name, json_of(value))]
        _put(expected, place, name, texts, lambda: quote(json_of(value), safe=""))
        return
    explode = parameter.get("explode")
    style = parameter.get("style", "form" if place in ("query", "cookie") else "simple")
    delimiter = ","
    if is_swagger:
        collection = parameter.get("collectionFormat", "csv")
        explode = collection == "multi"
        delimiter = _SWAGGER_DELIMITERS.get(collection, ",")
    elif explode is None:
        explode = style == "form"
    if style == "spaceDelimited":
        delimiter = " "
    elif style == "pipeDelimited":
        delimiter = "|"
    if style == "deepObject":
        texts = list(deep_pairs(name, value))
    elif place in ("query", "cookie"):
        texts = _form(name, value, delimiter, explode=explode and (place == "query" or isinstance(value, dict)))
    else:
        texts = [(name, _simple(value, explode=explode, delimiter=delimiter))]
    _put(expected, place, name, texts, lambda: _path(name, value, style, explode=explode, delimiter=delimiter))


def _put(expected: Expected, place: str, name: str, texts: list[tuple[str, str]], in_path: Any) -> None:
    if place == "path":
        expected.path = expected.path.replace(f"{{{name}}}", in_path())
    elif place == "query":
        expected.query += texts
    elif place == "header":
        expected.headers[name.lower()] = texts[0][1]
    else:
        expected.cookies |= dict(texts)


def _form(name: str, value: Any, delimiter: str, *, explode: bool) -> list[tuple[str, str]]:
    if isinstance(value, list):
        items = [text_of(item) for item in value]
        return [(name, item) for item in items] if explode else [(name, delimiter.join(items))] if items else []
    if isinstance(value, dict):
        if explode:
            return [
                (key, text_of(part))
                for key, item in value.items()
                for part in (item if isinstance(item, list) else [item])
            ]
        return [(name, delimiter.join(text for key, item in value.items() for text in (key, text_of(item))))]
    return [(name, text_of(value))]


def _simple(value: Any, *, explode: bool, delimiter: str = ",") -> str:
    if isinstance(value, list):
        return delimiter.join(map(text_of, value))
    if isinstance(value, dict):
        joint = "=" if explode else ","
        return ",".join(f"{key}{joint}{text_of(item)}" for key, item in value.items())
    return text_of(value)


def _path(name: str, value: Any, style: str, *, explode: bool, delimiter: str) -> str:
    def escaped(item: Any) -> str:
        return quote(text_of(item), safe="")

    separator, start, named = {"label": (".", ".", False), "matrix": (";", ";", True)}.get(style, (",", "", False))
    if isinstance(value, list):
        items = [escaped(item) for item in value]
        if named:
            return "".join(f";{name}={item}" for item in items) if explode else f";{name}={','.join(items)}"
        joint = separator if explode and style == "label" else quote(delimiter, safe=",")
        return start + joint.join(items)
    if isinstance(value, dict):
        if explode:
            return start + separator.join(f"{escaped(key)}={escaped(item)}" for key, item in value.items())
        members = ",".join(escaped(text) for pair in value.items() for text in pair)
        return f";{name}={members}" if named else start + members
    return f";{name}={escaped(value)}" if named else start + escaped(value)


# -- documents


def _followed(document: Mapping[str, Any], value: Any) -> Any:
    while isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
        target: Any = document
        for token in unquote(value["$ref"].removeprefix("#/")).split("/"):
            token = token.replace("~1", "/").replace("~0", "~")
            target = target[int(token)] if isinstance(target, list) else target[token]
        value = target
    return value
