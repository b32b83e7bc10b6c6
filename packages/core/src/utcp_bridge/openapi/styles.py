"""Styles of the fields of a form: Encoding Objects of OpenAPI 3, `collectionFormat` of Swagger 2.0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from utcp_bridge.openapi.nodes import Node, text

_DELIMITED_STYLES = frozenset({"spaceDelimited", "pipeDelimited", "tabDelimited"})
_STYLING = frozenset({"style", "explode", "allowReserved"})
# Swagger 2.0, "collectionFormat" of the Parameter Object.
_DELIMITED: Mapping[str, str] = {"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}


@dataclass(slots=True)
class FieldStyles:
    """Fields that have a style, by name, each with it in the transport's terms.

    Attributes:
        escaped: Those whose values are percent-encoded.
        reserved: Those that keep reserved characters (`allowReserved`).
    """

    escaped: dict[str, str] = field(default_factory=dict)
    reserved: dict[str, str] = field(default_factory=dict)


def field_styles(encodings: Node) -> FieldStyles:
    """The styles that Encoding Objects give to fields; one that has a style has no content type of its own."""
    found = FieldStyles()
    for name, encoding in encodings.items():
        fields = encoding.fields
        if not _STYLING.isdisjoint(fields):
            styles = found.reserved if fields.get("allowReserved") is True else found.escaped
            styles[name] = form_style(text(fields.get("style")), fields.get("explode"))
    return found


def form_style(style: str, explode: Any) -> str:
    """The style of a form's field in the transport's terms, which have one name for style and explode together."""
    if style == "deepObject":
        return style
    if style in _DELIMITED_STYLES:
        return "form" if explode is True else style
    return "commaDelimited" if explode is False else "form"


def delimited(fields: Mapping[Any, Any]) -> tuple[str, bool]:
    """Style and explode that Swagger 2.0's `collectionFormat` stands for; it is `csv` by default."""
    format_name = fields.get("collectionFormat")
    if format_name == "multi":
        return "form", True
    return _DELIMITED.get(str(format_name), "form"), False
