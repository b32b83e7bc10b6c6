"""What is wrong with a text that should be JSON, with the mistakes that people make when they write it by hand."""

from __future__ import annotations

import html
import json
import re
from typing import Final

_COMMENT = re.compile(r"//|/\*|#")
_WORDS = {"None": "null", "True": "true", "False": "false", "undefined": "null", "nil": "null", "NULL": "null"}
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_HTML = re.compile(r"<!doctype html|<html|<head|<body|<title|<meta|<script|<div|<h1", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_BEGINNING: Final = 4_096  # characters of a page that are looked at
_LONGEST_TITLE: Final = 80
_CURLY_QUOTES = "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"


def json_fault(error: ValueError, text: str) -> str:
    """The fault and its place, and what to do where the mistake is a common one; never what the text holds.

    Args:
        error: What `json` raised.
        text: What it was to read.
    """
    if not isinstance(error, json.JSONDecodeError):
        return "it is not text in a Unicode encoding"
    place = f"{error.msg} at line {error.lineno}, column {error.colno}"
    advice = _advice(error, text)
    return f"{place}; {advice}" if advice else place


def markup_name(text: str) -> str | None:
    """What a text is that is written in HTML or XML, such as `an HTML page ('Log in')`; None for any other."""
    beginning = text[:_BEGINNING].lstrip("\ufeff \t\r\n")
    if not re.match(r"<[!?A-Za-z]", beginning):
        return None
    if _HTML.search(beginning) is None:
        return "an XML document"
    title = _TITLE.search(beginning)
    words = " ".join(html.unescape(title[1]).split())[:_LONGEST_TITLE] if title else ""
    return f"an HTML page ({words!r})" if words else "an HTML page"


def _advice(error: json.JSONDecodeError, text: str) -> str | None:
    rest, before = text[error.pos :].lstrip(), text[: error.pos].rstrip()
    if not text[error.pos :].strip() and not error.msg.startswith("Invalid"):
        return "it ends too early: a bracket or a quote is not closed"
    if error.msg.startswith("Unterminated"):
        return "the closing quote is missing"
    if error.msg.startswith("Invalid control character"):
        return "a text cannot go over several lines; write \\n for a line break"
    if error.msg.startswith("Invalid \\"):
        return "a backslash is written \\\\"
    if _COMMENT.match(rest):
        return "JSON has no comments; remove it"
    # Since Python 3.13 the place is that of the comma.
    if (before.endswith(",") and rest[:1] in {"}", "]"}) or error.msg.startswith("Illegal trailing comma"):
        return "remove the comma before the closing bracket"
    if error.msg == "Extra data":
        return "something follows after the end of the document"
    if rest[:1] == "'" or (rest[:1] in _CURLY_QUOTES and rest):
        return 'texts stand in straight double quotes (")'
    if (word := _WORD.match(rest)) is not None:
        if word[0] in _WORDS and "property name" not in error.msg:
            return f"write {_WORDS[word[0]]} for {word[0]}"
        if "delimiter" not in error.msg:
            return 'names and texts stand in double quotes (")'
    if error.msg.startswith("Expecting ','"):
        return 'a comma is missing before this place, or a quote within a text is not written as \\"'
    return None
