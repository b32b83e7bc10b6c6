"""An independent reading of bodies: what stands in them, whatever the form they are sent in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

from tests.support.http_server import Received


def body_differences(
    body: Any, content_types: list[str], received: Received, part_styles: Mapping[str, Any] | None = None
) -> list[str]:
    """How the body of a request differs from what is prescribed.

    Args:
        body: The value; None where none must be sent.
        content_types: What it may be sent as.
        received: What the server received.
        part_styles: Encoding Objects of the parts of a multipart form; default none.
    """
    if body is None:
        return [f"a body of {len(received.body)} bytes, expected none"] if received.body else []
    content_type = received.headers.get("Content-Type", "")
    kind = content_type.partition(";")[0].strip().lower()
    declared = [name.partition(";")[0].strip().lower() for name in content_types if "/" in name]
    if declared and kind not in declared and not any("*" in name for name in declared) and "multipart" not in kind:
        return [f"content type {kind!r}, expected one of {declared!r}"]
    if any(name.endswith("json") for name in declared) and not kind.endswith("json"):
        return [f"content type {kind!r}, but JSON is among {declared!r}"]
    if kind.endswith("json") and kind != "application/x-ndjson":
        return [] if json.loads(received.body) == body else [f"body {received.body[:200]!r}"]
    if kind == "application/x-www-form-urlencoded" and isinstance(body, dict):
        return _form_differences(body, parse_qsl(received.body.decode(), keep_blank_values=True))
    if kind.startswith("multipart/"):
        return _part_differences(body, received, part_styles or {})
    if kind in ("application/x-ndjson", "application/jsonl") and isinstance(body, list):
        lines = [json.loads(line) for line in received.body.decode().splitlines()]
        return [] if lines == body else [f"lines {lines!r}"]
    text = body if isinstance(body, str) else json_of(body)
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
        return leaves in ([text_of(item) for item in value], [",".join(map(text_of, value))]) or sorted(
            leaves
        ) == sorted(text for item in value for _, text in deep_pairs("", item))
    if isinstance(value, dict):
        return (
            leaves == [json_of(value)]
            or sorted(leaves) == sorted(text for _, text in deep_pairs("", value))
            or all((key, text_of(item)) in pairs for key, item in value.items())
        )
    return leaves == [text_of(value)]


def _owns(field_name: str, name: str, body: Mapping[str, Any]) -> bool:
    value = body[field_name]
    return name == field_name or name.startswith(f"{field_name}[") or (isinstance(value, dict) and name in value)


def _part_differences(body: Mapping[str, Any], received: Received, styles: Mapping[str, Any]) -> list[str]:
    head = f"Content-Type: {received.headers['Content-Type']}\r\n\r\n".encode()
    parts: list[tuple[str, bytes]] = []
    for part in BytesParser(policy=HTTP).parsebytes(head + received.body).iter_parts():
        assert isinstance(part, EmailMessage)
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        parts.append((str(part.get_param("name", header="content-disposition")), content))
    wanted = [
        (key, text.encode())
        for name, value in body.items()
        for key, text in _of_part(name, value, styles.get(name, {}))
    ]
    return [] if parts == wanted else [f"parts {parts!r}, expected {wanted!r}"]


def _of_part(name: str, value: Any, encoding: Mapping[str, Any]) -> list[tuple[str, str]]:
    style = encoding.get("style", "form")
    if "style" not in encoding or not isinstance(value, (list, dict)):
        return [(name, text_of(item)) for item in (value if isinstance(value, list) else [value])]
    if style == "deepObject":
        return deep_pairs(name, value)
    if encoding.get("explode", style == "form"):
        return (
            [(name, text_of(item)) for item in value]
            if isinstance(value, list)
            else [(key, text_of(item)) for key, item in value.items()]
        )
    delimiter = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(style, ",")
    members = value if isinstance(value, list) else [part for pair in value.items() for part in pair]
    return [(name, delimiter.join(map(text_of, members)))]


# -- texts


def deep_pairs(name: str, value: Any) -> list[tuple[str, str]]:
    """The pairs of `deepObject`."""
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in deep_pairs(f"{name}[{key}]", item)]
    if isinstance(value, list):
        return [pair for index, item in enumerate(value) for pair in deep_pairs(f"{name}[{index}]", item)]
    return [(name, text_of(value))]


def text_of(value: Any) -> str:
    """A value outside of JSON."""
    return value if isinstance(value, str) else json_of(value)


def json_of(value: Any) -> str:
    """A value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
