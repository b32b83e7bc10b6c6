"""Request bodies by content type."""

from __future__ import annotations

import codecs
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.errors import ToolArgumentsError
from utcp_bridge.transports.http.files import BINARY, as_file, is_file
from utcp_bridge.transports.http.values import (
    QueryStyle,
    form_fields,
    form_text,
    json_text,
    plain_text,
)

_Part: TypeAlias = tuple[dict[str, str], bytes]
"""The headers of a part, and its content."""

_FORM_DATA = "multipart/form-data"
_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})
_SEQUENCE = "application/json-seq"

_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BodyRules:
    """What a body needs to know beside its value and type.

    Attributes:
        upload_dir: The only folder that files are read from; None (default) allows none.
        file_fields: Fields of a form that are files, in a multipart one whatever their value looks like.
        part_types: The content type of single parts of a multipart body, or several to choose from, divided by
            commas; JSON for a field of a urlencoded one. Parts of a list are named by their index, `*` for the rest.
        form_styles: The OpenAPI `style` of single fields of a form.
        reserved_styles: Likewise, of fields of a urlencoded form that keep reserved characters.
        part_headers: Headers of single parts of a multipart body.
    """

    upload_dir: Path | None = None
    file_fields: frozenset[str] = frozenset()
    part_types: Mapping[str, str] = field(default_factory=dict)
    form_styles: Mapping[str, QueryStyle] = field(default_factory=dict)
    reserved_styles: Mapping[str, QueryStyle] = field(default_factory=dict)
    part_headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """A body ready to be sent.

    Attributes:
        content: The bytes.
        content_type: The `Content-Type` to send it with.
    """

    content: bytes
    content_type: str


def encode_body(value: Any, content_type: str, rules: BodyRules) -> Body | None:
    """The body for a value in a content type.

    Files are given as `{"path": ...}`, within `rules.upload_dir`, or as `{"base64": ...}`, both optionally with
    `filename` and `content_type`, or as a `data:` URI (RFC 2397). Reads those files, so call it in a worker thread
    where `rules.upload_dir` is set.

    Args:
        value: The argument; null gives no body except in JSON.
        content_type: What it is sent as, with its parameters; a range such as `image/*` leaves it to the file.
        rules: What else there is to know.

    Returns:
        The body, or None for no body at all.

    Raises:
        ToolArgumentsError: The value cannot be said in this type, or names a file that must not be read.
    """
    kind = media_type(content_type)
    if is_json(kind):
        return Body(json_text(value).encode(), content_type)
    if value is None:
        return None
    if kind == "application/x-www-form-urlencoded":
        if isinstance(value, dict) and any(_holds_file(value.get(name)) for name in rules.file_fields):
            # It has no room for a file's name and type; servers that take a file take it as multipart.
            return _multipart(value, _FORM_DATA, rules)
        return Body(_urlencoded(value, rules).encode(), content_type)
    if kind.startswith("multipart/"):
        return _multipart(value, kind, rules)
    if (kind in _LINES or kind == _SEQUENCE) and isinstance(value, (list, dict)) and not is_file(value):
        start = "\x1e" if kind == _SEQUENCE else ""  # RFC 7464, section 2.2
        items = value if isinstance(value, list) else [value]
        return Body("".join(f"{start}{json_text(item)}\n" for item in items).encode(), content_type)
    file = as_file(value, "body", rules.upload_dir, declared=not _is_text(kind))
    if file is not None:
        return Body(file.content, file.typed(content_type))
    if isinstance(value, (dict, list)) and not (kind.startswith("text/") or "yaml" in kind):
        raise ToolArgumentsError(
            f"The body is sent as {kind}, so it must be a text or a file such as "
            f'{{"base64": "..."}}, not {"an object" if isinstance(value, dict) else "a list"}.'
        )
    return Body(_encoded(plain_text(value), content_type), content_type)


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind.endswith(("+xml", "/xml", "yaml")) or kind in {"application/graphql"}


def _encoded(text: str, content_type: str) -> bytes:
    match = _CHARSET.search(content_type)
    charset = match.group(1) if match else "utf-8"
    try:
        codec = codecs.lookup(charset)
        return text.encode(codec.name)
    except LookupError:
        raise ToolArgumentsError(f"The charset {charset!r} of the tool's content type is not known.") from None
    except UnicodeEncodeError as error:
        raise ToolArgumentsError(
            f"The body holds {text[error.start]!r}, which the tool's charset {charset!r} cannot write."
        ) from error


def _urlencoded(value: Any, rules: BodyRules) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        raise ToolArgumentsError("The body is a form, so it must be an object whose properties are its fields.")
    fields = {name: _form_field(name, item, rules) for name, item in value.items()}
    return form_text(fields, rules.form_styles, rules.reserved_styles)


def _form_field(name: str, value: Any, rules: BodyRules) -> Any:
    is_text = is_json(media_type(rules.part_types.get(name, ""))) and value is not None
    return json_text(value) if is_text else value


def _holds_file(value: Any) -> bool:
    return any(map(is_file, value)) if isinstance(value, list) else is_file(value)


def _multipart(value: Any, kind: str, rules: BodyRules) -> Body:
    if isinstance(value, dict):
        parts = [part for name, item in value.items() for part in _named_parts(name, item, rules)]
    elif isinstance(value, list) and kind != _FORM_DATA:
        parts = [_listed_part(index, item, rules) for index, item in enumerate(value)]
    else:
        raise ToolArgumentsError(
            "The body is a multipart form, so it must be an object whose properties are its parts."
        )
    boundary = f"utcp-bridge-{secrets.token_hex(16)}"
    chunks: list[bytes] = []
    for headers, content in parts:
        written = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
        chunks += [f"--{boundary}\r\n{written}\r\n".encode(), content, b"\r\n"]
    chunks.append(f"--{boundary}--\r\n".encode())
    return Body(b"".join(chunks), f"{kind}; boundary={boundary}")


def _named_parts(name: str, value: Any, rules: BodyRules) -> Iterator[_Part]:
    more = rules.part_headers.get(name, {})
    style = rules.form_styles.get(name)
    if style is not None and not _holds_file(value):
        for key, text in form_fields(name, value, style):
            yield {**_disposition(key), **more}, text.encode(errors="replace")
        return
    is_one = not isinstance(value, list) or is_json(media_type(rules.part_types.get(name, "")))
    for item in [value] if is_one else value:
        if item is not None:
            headers, content, file_name = _part(name, name, item, rules)
            yield {**_disposition(name, file_name), **headers, **more}, content


def _listed_part(index: int, item: Any, rules: BodyRules) -> _Part:
    known = str(index) in rules.part_types or str(index) in rules.file_fields
    headers, content, _ = _part(str(index) if known else "*", f"number {index + 1}", item, rules)
    return headers, content


def _part(key: str, name: str, item: Any, rules: BodyRules) -> tuple[dict[str, str], bytes, str | None]:
    part_type = rules.part_types.get(key, "")
    file = as_file(item, name, rules.upload_dir, declared=key in rules.file_fields)
    if file is not None:
        # Generators write the type of bytes for every file; it says nothing that the giver does not know better.
        kind = file.typed("" if media_type(part_type) == BINARY else part_type)
        return {"Content-Type": _one_line(kind)}, file.content, file.name
    if part_type or isinstance(item, (dict, list)):
        kind = part_type.partition(",")[0] or "application/json"
        text = json_text(item) if is_json(media_type(kind)) else plain_text(item)
        return {"Content-Type": _one_line(kind)}, text.encode(), None
    return {}, plain_text(item).encode(errors="replace"), None


def _disposition(name: str, file_name: str | None = None) -> dict[str, str]:
    filename = "" if file_name is None else f'; filename="{_quoted(file_name)}"'
    return {"Content-Disposition": f'form-data; name="{_quoted(name)}"{filename}'}


def _quoted(name: str) -> str:
    # https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22").encode(errors="replace").decode()


def _one_line(content_type: str) -> str:
    if "\r" in content_type or "\n" in content_type:
        raise ToolArgumentsError("A content type must not hold CR/LF.")
    return content_type
