"""What models are told of an operation or an argument."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from utcp_bridge.openapi.nodes import mapping, text
from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.spellings import short_examples

MAX_DESCRIPTION: Final = 1_000
"""The most characters of a tool's description; OpenAI refuses a function of more than 1,024."""

_SHORT = 80
_TAG = re.compile(
    r"</?(?:a|b|br|code|div|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|table|tbody|td|th|thead|tr|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"[ \t]*\n[ \t]*(?:\n[ \t]*)+")
_SPACES = re.compile(r"[ \t]{2,}")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


def tool_description(operation: Operation) -> str:
    """Summary and description, without HTML, and whether the operation is deprecated; at most `MAX_DESCRIPTION`."""
    fields = operation.node.fields
    summary = plain(fields.get("summary") or operation.path_item.fields.get("summary"))
    description = plain(fields.get("description") or operation.path_item.fields.get("description"))
    if summary and description.casefold().startswith(summary.casefold().rstrip(".")):
        summary = ""
    parts = ["Deprecated."] if fields.get("deprecated") is True else []
    parts += [part for part in (summary, description) if part] or [f"{operation.method} {operation.path}"]
    return shortened(_joined(parts), MAX_DESCRIPTION)


def argument_schema(schema: Any, description: Any, *, deprecated: bool = False, examples: Sequence[Any] = ()) -> Any:
    """A converted schema with what is said about its place: beside the schema, or instead of what that says."""
    about: dict[str, Any] = {}
    if isinstance(description, str) and description.strip():
        about["description"] = plain(description)
    if deprecated:
        about["deprecated"] = True
    if examples and "examples" not in mapping(schema):
        about["examples"] = list(examples)
    if not about:
        return schema
    return {**schema, **about} if isinstance(schema, dict) else ({**about, "not": {}} if schema is False else about)


def examples_of(fields: Mapping[Any, Any]) -> list[Any]:
    """What a Parameter Object or a Media Type Object gives as examples, without what would be long to read."""
    found = [fields[key] for key in ("example", "x-example") if key in fields]
    for example in mapping(fields.get("examples")).values():
        found += [mapping(example)[key] for key in ("value", "dataValue") if key in mapping(example)]
    return short_examples("examples", found)


def plain(value: Any) -> str:
    """A text without HTML tags and superfluous white space; Markdown stays."""
    written = text(value)
    if "<" in written:
        written = _TAG.sub(" ", written)
    if "&" in written:
        written = html.unescape(written)
    # Spaces first: a long run of them is what the other pattern would take its square of time for.
    return _BLANK_LINES.sub("\n\n", _SPACES.sub(" ", written)).strip()


def shortened(written: str, limit: int) -> str:
    """A text of at most `limit` characters, cut at the end of a sentence or a word."""
    if len(written) <= limit:
        return written
    cut = written[: limit - 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(cut)]
    if ends and ends[-1] > limit // 2:
        return cut[: ends[-1]].rstrip() + "…"
    return cut.rsplit(maxsplit=1)[0].rstrip(",;:") + "…" if " " in cut else cut + "…"


def _joined(parts: list[str]) -> str:
    joined = parts[0]
    for part in parts[1:]:
        ended = joined if joined.endswith((".", "!", "?", ":", "…")) else f"{joined}."
        is_short = "\n" not in part and len(ended) < _SHORT
        joined = ended + (" " if is_short else "\n\n") + part
    return joined
