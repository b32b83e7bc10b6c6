"""Media types: which of several is the best to send, and what kind of body each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from utcp_bridge.content_types import is_json, media_type

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
BINARY: Final = "application/octet-stream"

_LINES = frozenset(
    {
        *("application/json-seq", "application/jsonl", "application/ndjson", "application/x-jsonlines"),
        "application/x-ndjson",
    }
)
_ANYTHING = frozenset({"*", "*/*", "application/*"})
_TEXT = frozenset({"application/graphql", "application/sql", "application/javascript"})


def is_json_lines(kind: str) -> bool:
    """Whether a media type is one JSON value after the other, most often on a line each."""
    return kind in _LINES


def is_xml(kind: str) -> bool:
    """Whether a media type is XML (RFC 7303)."""
    return kind.endswith(("/xml", "+xml"))


def is_text(kind: str) -> bool:
    """Whether a body of this type is a text, and not a file."""
    return kind.startswith("text/") or is_xml(kind) or kind.endswith("yaml") or kind in _TEXT


def best(content_types: Sequence[str], preferred: Sequence[str] = ()) -> str:
    """The content type to use: the first one that a preference matches, else the one that says values best.

    Args:
        content_types: As the document writes them, at least one.
        preferred: Globs of media types, the most wanted first; default none.
    """
    for glob in preferred:
        for content_type in content_types:
            if fnmatchcase(media_type(content_type), glob.lower()) or content_type.lower() == glob.lower():
                return content_type
    return min(content_types, key=_rank)


def concrete(content_type: str, *, is_string: bool) -> str:
    """A content type that can be sent, for one that may be a range such as `*/*`, or no media type at all.

    A range of files, such as `image/*`, stays: the file tells what it is.
    """
    kind = media_type(content_type)
    if "/" not in kind and kind != "*":
        words = {"form-data": MULTIPART, "multipart": MULTIPART, "x-www-form-urlencoded": FORM}
        return words.get(kind, BINARY if is_string else JSON)
    if "*" not in kind:
        return content_type.strip()
    if kind in _ANYTHING:
        return "*/*" if is_string else JSON
    suffixes = {"+json": JSON, "+xml": "application/xml"}
    ranges = {"text/*": "text/plain", "multipart/*": MULTIPART}
    return ranges.get(kind) or next((sent for suffix, sent in suffixes.items() if kind.endswith(suffix)), kind)


def _rank(content_type: str) -> int:
    kind = media_type(content_type)
    if kind == JSON:
        return 0
    if is_json(kind):
        # A list of patch operations (RFC 6902) is harder to write than the members that change (RFC 7396).
        return 4 if kind == "application/json-patch+json" else 2 if kind == "application/merge-patch+json" else 3
    if kind == FORM:
        return 5
    if kind.startswith("multipart/"):
        return 6 if kind == MULTIPART else 7
    if kind in _LINES or kind == "text/plain":
        return 8
    if kind in _ANYTHING or "/" not in kind:  # what is named is sure to be taken
        return 9
    if is_xml(kind):
        return 11
    if is_text(kind):
        return 10
    return 14 if "*" in kind else 12 if kind == BINARY else 13
