"""Request bodies by content type."""

from __future__ import annotations

import codecs
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.errors import ToolArgumentsError
from utcp_bridge.transports.http.files import BINARY, as_file, is_file
from utcp_bridge.transports.http.values import (
    QueryStyle,
    form_text,
    joined_members,
    json_text,
    plain_text,
)

_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})
_SEQUENCE = "application/json-seq"

_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BodyRules:
    """What a body needs to know beside its value and type.

    Attributes:
        upload_dir: The only folder that files are read from; None (default) allows none.
        file_fields: Fields of a multipart body that are files whatever their value looks like.
        part_types: The content type of single parts of a multipart body, or several to choose from, divided by
            commas; JSON for a field of a urlencoded one.
        form_styles: The OpenAPI `style` of single fields of a form.
    """

    upload_dir: Path | None = None
    file_fields: frozenset[str] = frozenset()
    part_types: Mapping[str, str] = field(default_factory=dict)
    form_styles: Mapping[str, QueryStyle] = field(default_factory=dict)


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
    return form_text(fields, rules.form_styles)


def _form_field(name: str, value: Any, rules: BodyRules) -> Any:
    is_text = is_json(media_type(rules.part_types.get(name, ""))) and value is not None
    return json_text(value) if is_text else value


def _multipart(value: Any, kind: str, rules: BodyRules) -> Body:
    if not isinstance(value, dict):
        raise ToolArgumentsError(
            "The body is a multipart form, so it must be an object whose properties are its parts."
        )
    boundary = f"utcp-bridge-{secrets.token_hex(16)}"
    chunks: list[bytes] = []
    for name, item in value.items():
        for headers, content in _parts(name, item, rules):
            chunks += [f"--{boundary}\r\n{headers}\r\n\r\n".encode(), content, b"\r\n"]
    chunks.append(f"--{boundary}--\r\n".encode())
    return Body(b"".join(chunks), f"{kind}; boundary={boundary}")


def _parts(name: str, value: Any, rules: BodyRules) -> Iterator[tuple[str, bytes]]:
    part_type = rules.part_types.get(name, "")
    style = rules.form_styles.get(name)
    if isinstance(value, list) and style not in (None, "form"):
        value = joined_members(value, style)
    items = value if isinstance(value, list) and not is_json(media_type(part_type)) else [value]
    for item in items:
        if item is None:
            continue
        disposition = f'Content-Disposition: form-data; name="{_quoted(name)}"'
        file = as_file(item, name, rules.upload_dir, declared=name in rules.file_fields)
        if file is not None:
            # Generators write the type of bytes for every file; it says nothing that the giver does not know better.
            kind = file.typed("" if media_type(part_type) == BINARY else part_type)
            yield f'{disposition}; filename="{_quoted(file.name)}"\r\nContent-Type: {_one_line(kind)}', file.content
        elif part_type or isinstance(item, (dict, list)):
            kind = part_type.partition(",")[0] or "application/json"
            text = json_text(item) if is_json(media_type(kind)) else plain_text(item)
            yield f"{disposition}\r\nContent-Type: {_one_line(kind)}", text.encode()
        else:
            yield disposition, plain_text(item).encode(errors="replace")


def _quoted(name: str) -> str:
    # https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
    return name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22").encode(errors="replace").decode()


def _one_line(content_type: str) -> str:
    if "\r" in content_type or "\n" in content_type:
        raise ToolArgumentsError("A content type must not hold CR/LF.")
    return content_type
