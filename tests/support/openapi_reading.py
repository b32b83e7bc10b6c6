"""An independent reading of a description: what a request must look like, straight from the specification's tables.

It shares no code with the converter, and knows only the rule by which arguments are named.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from tests.support.http_server import Received

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
    """

    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    body: Any = None
    content_types: list[str] = field(default_factory=list)


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
        merged[found["name"], found["in"]] = found
    parameters = [
        parameter
        for parameter in merged.values()
        if parameter["in"] not in ("body", "formData")
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
            _place(expected, parameter, arguments[argument], is_swagger=is_swagger)
    fields = [parameter for parameter in merged.values() if parameter["in"] == "formData"]
    if fields:
        expected.body = {
            parameter["name"]: arguments[argument]
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
            expected.content_types = list(_followed(document, operation["requestBody"])["content"])
    return expected


def differences(expected: Expected, received: Received, document: Mapping[str, Any], base: str) -> list[str]:
    """How a request differs from what the document prescribes."""
    found: list[str] = []
    raw_path, _, raw_query = received.target.partition("?")
    if raw_path != base + expected.path.partition("#")[0].partition("?")[0]:
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
    cookies = dict(pair.split("=", 1) for pair in received.headers.get("Cookie", "").split("; ") if pair)
    for name, text in expected.cookies.items():
        if unquote(cookies.get(name, "")) != text:
            found.append(f"cookie {name!r} is {cookies.get(name)!r}, expected {text!r}")
    found += _body_differences(expected, received)
    return found


# -- parameters


def _place(expected: Expected, parameter: Mapping[str, Any], value: Any, *, is_swagger: bool) -> None:
    name, place = parameter["name"], parameter["in"]
    if "content" in parameter:
        texts: list[tuple[str, str]] = [(name, _json(value))]
        _put(expected, place, name, texts, lambda: quote(_json(value), safe=""))
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
        texts = list(_deep(name, value))
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
        items = [_text(item) for item in value]
        return [(name, item) for item in items] if explode else [(name, delimiter.join(items))] if items else []
    if isinstance(value, dict):
        if explode:
            return [(key, _text(item)) for key, item in value.items()]
        return [(name, delimiter.join(text for key, item in value.items() for text in (key, _text(item))))]
    return [(name, _text(value))]


def _simple(value: Any, *, explode: bool, delimiter: str = ",") -> str:
    if isinstance(value, list):
        return delimiter.join(map(_text, value))
    if isinstance(value, dict):
        joint = "=" if explode else ","
        return ",".join(f"{key}{joint}{_text(item)}" for key, item in value.items())
    return _text(value)


def _path(name: str, value: Any, style: str, *, explode: bool, delimiter: str) -> str:
    def escaped(item: Any) -> str:
        return quote(_text(item), safe="")

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


def _deep(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in _deep(f"{name}[{key}]", item)]
    if isinstance(value, list):
        return [pair for index, item in enumerate(value) for pair in _deep(f"{name}[{index}]", item)]
    return [(name, _text(value))]


# -- bodies


def _body_differences(expected: Expected, received: Received) -> list[str]:
    if expected.body is None:
        return [f"a body of {len(received.body)} bytes, expected none"] if received.body else []
    content_type = received.headers.get("Content-Type", "")
    kind = content_type.partition(";")[0].strip().lower()
    declared = [name.partition(";")[0].strip().lower() for name in expected.content_types]
    if declared and kind not in declared and not any("*" in name for name in declared) and "multipart" not in kind:
        return [f"content type {kind!r}, expected one of {declared!r}"]
    if any(name.endswith("json") for name in declared) and not kind.endswith("json"):
        return [f"content type {kind!r}, but JSON is among {declared!r}"]
    if kind.endswith("json"):
        return [] if json.loads(received.body) == expected.body else [f"body {received.body[:200]!r}"]
    if kind == "application/x-www-form-urlencoded":
        return _form_differences(expected.body, parse_qsl(received.body.decode(), keep_blank_values=True))
    if kind.startswith("multipart/"):
        return _part_differences(expected.body, received)
    text = expected.body if isinstance(expected.body, str) else _json(expected.body)
    return [] if received.body == text.encode() else [f"body {received.body[:200]!r}"]


def _form_differences(body: Mapping[str, Any], pairs: list[tuple[str, str]]) -> list[str]:
    """Every leaf must arrive under its field's name, whatever the style makes of the name's rest."""
    found = [
        f"form lacks {name!r}" for name, value in body.items() if value not in ([], {}) and not _has(pairs, name, value)
    ]
    return found + [f"form has {name!r}" for name, _ in pairs if not any(_owns(field, name, body) for field in body)]


def _has(pairs: list[tuple[str, str]], name: str, value: Any) -> bool:
    leaves = [text for key, text in pairs if key == name or key.startswith(f"{name}[")]
    if isinstance(value, list):
        return leaves in ([_text(item) for item in value], [",".join(map(_text, value))]) or sorted(leaves) == sorted(
            text for item in value for _, text in _deep("", item)
        )
    if isinstance(value, dict):
        return (
            leaves == [_json(value)]
            or sorted(leaves) == sorted(text for _, text in _deep("", value))
            or all((key, _text(item)) in pairs for key, item in value.items())
        )
    return leaves == [_text(value)]


def _owns(field_name: str, name: str, body: Mapping[str, Any]) -> bool:
    value = body[field_name]
    return name == field_name or name.startswith(f"{field_name}[") or (isinstance(value, dict) and name in value)


def _part_differences(body: Mapping[str, Any], received: Received) -> list[str]:
    head = f"Content-Type: {received.headers['Content-Type']}\r\n\r\n".encode()
    parts: list[tuple[str, bytes]] = []
    for part in BytesParser(policy=HTTP).parsebytes(head + received.body).iter_parts():
        assert isinstance(part, EmailMessage)
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        parts.append((str(part.get_param("name", header="content-disposition")), content))
    wanted = [
        (name, _text(item).encode())
        for name, value in body.items()
        for item in (value if isinstance(value, list) else [value])
    ]
    return [] if parts == wanted else [f"parts {parts!r}, expected {wanted!r}"]


# -- documents


def _followed(document: Mapping[str, Any], value: Any) -> Any:
    while isinstance(value, Mapping) and isinstance(value.get("$ref"), str):
        target: Any = document
        for token in unquote(value["$ref"].removeprefix("#/")).split("/"):
            token = token.replace("~1", "/").replace("~0", "~")
            target = target[int(token)] if isinstance(target, list) else target[token]
        value = target
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
