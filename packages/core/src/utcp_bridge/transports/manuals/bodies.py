"""The body that a call template writes out: as JSON, as the text of JSON or of a form, or as a text of another kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.transports.http.marks import mark
from utcp_bridge.transports.manuals.placeholders import Placeholders

_FORM = "application/x-www-form-urlencoded"
_TEXT = "text/plain; charset=utf-8"


def written_body(
    value: Any, fields: dict[str, Any], places: Placeholders, marked: Callable[[Any], Any]
) -> dict[str, Any]:
    """The parts of a `WrittenRequest` that a body becomes.

    Args:
        value: The body as it is written.
        fields: The call template; gets a content type where the body is a text and nothing says of what kind.
        places: The tool's placeholders.
        marked: Puts marks into a JSON value.
    """
    if not isinstance(value, str):
        return {"body": marked(value)}
    declared = _declared_type(fields)
    kind = media_type(declared or "")
    if kind == _FORM:
        return {"body": _form(value, marked)}
    if not declared or is_json(kind):
        document = _json_of(value, places)
        if document is not None:
            return {"body": marked(document)}
        if declared:
            return {"body": places.replaced(value, mark)}
        fields["content_type"] = _TEXT
    return {"document": places.replaced(value, mark)}


def _declared_type(fields: Mapping[str, Any]) -> str | None:
    headers = fields.get("headers")
    named = headers.items() if isinstance(headers, Mapping) else ()
    header = next((text for name, text in named if str(name).lower() == "content-type"), None)
    declared = header or fields.get("content_type")
    return declared if isinstance(declared, str) else None


def _form(text: str, marked: Callable[[Any], Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        fields.setdefault(name, []).append(value)
    marked_fields: dict[str, Any] = marked(
        {name: items if len(items) > 1 else items[0] for name, items in fields.items()}
    )
    return marked_fields


def _json_of(text: str, places: Placeholders) -> Any:
    """An object or a list that is written as JSON text, in which placeholders may stand without quotes; else None."""
    parts, at, quoted = [], 0, False
    for match in places.spelled(text):
        before = text[at : match.start()]
        quoted ^= before.replace("\\\\", "").replace('\\"', "").count('"') % 2 == 1
        parts += [before, match[0] if quoted else f'"{match[0]}"']
        at = match.end()
    try:
        document = json.loads("".join([*parts, text[at:]]))
    except ValueError:
        return None
    return document if isinstance(document, (dict, list)) else None
