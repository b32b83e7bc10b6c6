"""The reason of an HTTP error in words: the server's own, from whatever body it sent, and never a page of HTML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from http import HTTPStatus
from typing import Any, Final

from utcp_bridge.content_types import UNTYPED, decode_text, is_json, is_text, media_type, plain_text
from utcp_bridge.errors import ToolExecutionError

MAX_ERROR_BYTES: Final = 64 * 1024  # how much of an error's body is read
MAX_REASON: Final = 2000  # characters of it in a message
_MAX_HTML: Final = 500
_MAX_FAULTS: Final = 25

# Control characters would let a server forge log lines and terminal sequences.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_SPACE = re.compile(r"\s+")

# In the order of what tells most; of problem+json (RFC 9457), OAuth2 (RFC 6749), JSON:API, FastAPI, Spring and others.
_LISTS = (
    "detail",
    "errors",
    "error",
    "details",
    "issues",
    "violations",
    "invalid-params",
    "invalidParams",
    "non_field_errors",
)
_HEADS = (
    "title",
    "error",
    "message",
    "msg",
    "error_description",
    "errorMessage",
    "detail",
    "description",
    "reason",
    "Message",
)
_PLACES = ("loc", "pointer", "path", "field", "name", "param", "parameter", "property", "propertyPath", "source", "key")
_CODES = ("code", "type", "status")
_BOILERPLATE = frozenset(
    {
        "status",
        "statusCode",
        "status_code",
        "type",
        "instance",
        "timestamp",
        "trace",
        "traceId",
        "path",
        "success",
        "ok",
    }
)


def http_error(
    status: int, phrase: str | None, content: bytes, content_type: str, *, retry_after: str | None = None
) -> ToolExecutionError:
    """The error for a reply of status 400 or above, or for a redirect that does not say where to.

    Args:
        status: The HTTP status.
        phrase: The reason phrase that the server sent, if any.
        content: The body, or its first `MAX_ERROR_BYTES`.
        content_type: Its `Content-Type`.
        retry_after: Its `Retry-After`, if any.

    Returns:
        `HTTP 404 Not Found: <reason>`, with `{"type": "http_error", "status": ..., "body": ...}` as its raw block.
    """
    body = body_value(content, content_type)
    phrase = _clean(phrase or "") or _phrase(status)
    reason = reason_of(body, content_type)
    if reason.casefold() == phrase.casefold():
        reason = ""
    message = f"HTTP {status} {phrase}".rstrip() + (f": {reason}" if reason else "")
    if status < 400:
        message += " (a redirect that does not say where to)"
    block: dict[str, Any] = {"type": "http_error", "status": status, "body": body}
    if retry_after and len(retry_after) <= 64:
        wait = _clean(retry_after)
        block["retry_after"] = wait
        message += f" (retry after {wait}{' seconds' if wait.isdigit() else _from_now(wait)})"
    return ToolExecutionError(message, raw=[block])


def reason_of(body: Any, content_type: str = "") -> str:
    """The reason that a body gives, in one line of at most `MAX_REASON` characters; empty if it gives none."""
    if isinstance(body, str):
        kind = media_type(content_type)
        if "html" in kind or (not is_json(kind) and body.lstrip()[:9].lower().startswith(("<!doctype", "<html"))):
            return _bounded(_html_text(body), _MAX_HTML)
        return _bounded(_clean(body), MAX_REASON)
    if body is None or body in ([], {}):
        return ""
    return _bounded(_clean(_sentence(body) or json.dumps(body, ensure_ascii=False)), MAX_REASON)


def body_value(content: bytes, content_type: str) -> Any:
    """The body of a failure: data where it is JSON, else text, else its type and size; None where it is empty."""
    if not content.strip():
        return None
    kind = media_type(content_type)
    if is_json(kind) or content.lstrip()[:1] in (b"{", b"["):
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return decode_text(content, content_type)
    if not is_text(kind) and not is_json(kind):
        text = plain_text(content) if kind in UNTYPED else None
        return f"[{kind or 'unknown type'}, {len(content):,} bytes]" if text is None else text
    return decode_text(content, content_type)


def _sentence(body: Any) -> str:
    """The known shapes of error bodies as a sentence; empty for a shape that is not known, which is shown as JSON."""
    if isinstance(body, str):
        return body.strip()
    if isinstance(body, list):
        return "; ".join(filter(None, (_fault(item) for item in body[:_MAX_FAULTS])))
    if not isinstance(body, Mapping):
        return ""
    heads = [text for key in _HEADS if (text := _text(body.get(key)))]
    faults = [text for key in _LISTS if not isinstance(body.get(key), str) for text in _faults(body.get(key))]
    heads = [head for index, head in enumerate(heads) if head not in heads[:index]]
    if not faults and not heads:
        # Messages by field are all there is with Django: {"email": ["is taken"]}.
        by_field = body and all(isinstance(value, list) and all(map(_text, value)) for value in body.values())
        return "; ".join(_faults(body)) if by_field else ""
    unknown = body.keys() - {*_HEADS, *_LISTS, *_BOILERPLATE, *_CODES}
    if not faults and any(isinstance(body[key], (dict, list)) and body[key] for key in unknown):
        # Whatever stands there in a shape of its own may be the very reason.
        return (
            f"{': '.join(heads)} {json.dumps({key: body[key] for key in body if key in unknown}, ensure_ascii=False)}"
        )
    return ": ".join(filter(None, [": ".join(heads), "; ".join(faults[:_MAX_FAULTS])]))


def _faults(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        yield from filter(None, map(_fault, value[: _MAX_FAULTS + 1]))
    elif isinstance(value, Mapping):
        # An error as an object, or messages by field: {"email": ["is taken"]}.
        if any(_text(value.get(key)) for key in _HEADS):
            yield _fault(value)
        else:
            for field, messages in value.items():
                texts = messages if isinstance(messages, list) else [messages]
                shown = ", ".join(text for text in map(_fault, texts) if text)
                yield f"{field}: {shown}" if shown else str(field)


def _fault(item: Any) -> str:
    if isinstance(item, str):
        return item.strip()
    if not isinstance(item, Mapping):
        return json.dumps(item, ensure_ascii=False)
    texts = [text for key in _HEADS if (text := _text(item.get(key)))]
    nested = [text for key in _LISTS if not isinstance(item.get(key), str) for text in _faults(item.get(key))]
    place = next((place for key in _PLACES if (place := _place(item.get(key)))), "")
    codes = [text for key in _CODES if (text := _text(item.get(key)))]
    if not texts and not nested and not (place and codes):
        return json.dumps(item, ensure_ascii=False)
    code = next((code for code in codes if code.isupper() or not texts), "")
    said = ": ".join(dict.fromkeys(filter(None, [code, *texts])))
    return ": ".join(filter(None, [place, said, "; ".join(nested)]))


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _place(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):  # FastAPI: ["body", "items", 0, "name"]
        return ".".join(str(part) for part in value)
    if isinstance(value, Mapping):  # JSON:API: {"pointer": "/data/attributes/name"}
        return _text(value.get("pointer")) or _text(value.get("parameter")) or _text(value.get("header"))
    return ""


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _from_now(date: str) -> str:
    """How long it is until a date of HTTP (RFC 9110, section 5.6.7), or nothing for what is none."""
    try:
        then = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return ""
    # Of the three forms one names no zone; all are in UTC.
    seconds = math.ceil(((then if then.tzinfo else then.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())
    return f", {seconds:,} seconds from now" if seconds > 0 else ", which is now"


def _clean(text: str) -> str:
    return _SPACE.sub(" ", _CONTROL.sub(" ", text)).strip()


def _bounded(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


class _VisibleText(HTMLParser):
    """Collects the title and the text that a browser would show."""

    _HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "head"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._HIDDEN or tag == "title":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            del self._open[self._open.index(tag) :]

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "title":
            self.title.append(data)
        elif not self._open:
            self.text.append(data)


def _html_text(page: str) -> str:
    parser = _VisibleText()
    parser.feed(page)
    title, text = _clean(" ".join(parser.title)), _clean(" ".join(parser.text))
    return text if not title or text.startswith(title) else f"{title}: {text}" if text else title
