"""Request bodies by content type."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote_to_bytes

from utcp_bridge.content_types import is_json, media_type
from utcp_bridge.errors import ToolArgumentsError
from utcp_bridge.transports.http.values import QueryStyle, json_text, percent_encoded, plain_text, query_pairs

_FILE_KEYS = frozenset({"path", "base64", "filename", "content_type"})
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,(.*)", re.DOTALL | re.ASCII)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE)
_BASE64_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class BodyRules:
    """What a body needs to know beside its value and type.

    Attributes:
        upload_dir: The only folder that files are read from; None (default) allows none.
        file_fields: Fields of a multipart body that are files whatever their value looks like.
        part_types: The content type of single parts of a multipart body; JSON for a field of a urlencoded one.
        form_styles: The OpenAPI `style` of single fields of a urlencoded body.
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


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    name: str
    content_type: str


def is_file(value: Any) -> bool:
    """Whether a value has the form in which a file is given: `{"path": ...}` or `{"base64": ...}`, and its name."""
    return (
        isinstance(value, dict)
        and value.keys() <= _FILE_KEYS
        and ("path" in value) != ("base64" in value)
        and all(isinstance(text, str) for text in value.values())
    )


def encode_body(value: Any, content_type: str, rules: BodyRules) -> Body | None:
    """The body for a value in a content type.

    Files are given as `{"path": ...}`, within `rules.upload_dir`, or as `{"base64": ...}`, both optionally with
    `filename` and `content_type`, or as a `data:` URI (RFC 2397). Reads those files, so call it in a worker thread
    where `rules.upload_dir` is set.

    Args:
        value: The argument; null gives no body except in JSON.
        content_type: What it is sent as, with its parameters.
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
    if kind in {"application/x-ndjson", "application/ndjson", "application/jsonl"} and isinstance(value, list):
        return Body("".join(f"{json_text(item)}\n" for item in value).encode(), content_type)
    file = _as_file(value, "body", rules, declared=not _is_text(kind))
    if file is not None:
        return Body(file.content, content_type)
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
    return "&".join(
        pair
        for name, item in value.items()
        for pair in query_pairs(
            name, _form_field(name, item, rules), style=rules.form_styles.get(name), encode=_form_value
        )
    )


def _form_field(name: str, value: Any, rules: BodyRules) -> Any:
    is_text = is_json(media_type(rules.part_types.get(name, ""))) and value is not None
    return json_text(value) if is_text else value


def _form_value(value: Any) -> str:
    return percent_encoded(value).replace("%20", "+")


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
    items = value if isinstance(value, list) and not is_json(media_type(part_type)) else [value]
    for item in items:
        if item is None:
            continue
        disposition = f'Content-Disposition: form-data; name="{_quoted(name)}"'
        file = _as_file(item, name, rules, declared=name in rules.file_fields)
        if file is not None:
            kind = part_type or file.content_type
            yield f'{disposition}; filename="{_quoted(file.name)}"\r\nContent-Type: {_one_line(kind)}', file.content
        elif part_type or isinstance(item, (dict, list)):
            kind = part_type or "application/json"
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


def _as_file(value: Any, name: str, rules: BodyRules, *, declared: bool) -> _File | None:
    """The file that a value stands for, or None; `declared` is for places where any text is a file's content."""
    if isinstance(value, str):
        if not declared:
            return None
        return _from_data_uri(value, name) or _File(value.encode(errors="replace"), name, "application/octet-stream")
    if not is_file(value):
        return None
    content_type = value.get("content_type", "application/octet-stream")
    if "base64" in value:
        return _File(_decoded(value["base64"], name), value.get("filename", name), content_type)
    path = _allowed_path(value["path"], name, rules.upload_dir)
    return _File(_read(path, name), value.get("filename", path.name), content_type)


def _from_data_uri(text: str, name: str) -> _File | None:
    match = _DATA_URI.fullmatch(text) if text.startswith("data:") else None
    if match is None:
        return None
    kind, parameters, is_base64, payload = match.groups()
    raw = unquote_to_bytes(payload)
    content = _decoded(raw.decode("latin-1"), name) if is_base64 else raw
    return _File(content, name, (kind or "text/plain") + (parameters or ""))


def _decoded(text: str, name: str) -> bytes:
    compact = _BASE64_SPACE.sub("", text).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolArgumentsError(f"The file for {name!r} is not valid base64: {error}.") from error


def _allowed_path(text: str, name: str, folder: Path | None) -> Path:
    if folder is None:
        raise ToolArgumentsError(
            f"The file for {name!r} cannot be read from a path, because no upload folder is allowed; give its content "
            'as {"base64": "...", "filename": "..."}.'
        )
    root = folder.resolve()
    try:
        # Relative paths are meant within the folder; resolving follows every symbolic link.
        path = (root / text).resolve(strict=True)
        is_inside = path.is_relative_to(root)
        is_file = is_inside and path.is_file()
    except (OSError, ValueError, RuntimeError):
        is_inside, is_file = not _leaves(text), False
    if not is_inside:
        raise ToolArgumentsError(f"The file for {name!r} is outside the folder that uploads are allowed from.")
    if not is_file:
        raise ToolArgumentsError(f"There is no file {PurePath(text).name!r} for {name!r} in the upload folder.")
    return path


def _leaves(text: str) -> bool:
    path = PurePath(text)
    return path.is_absolute() or ".." in path.parts


def _read(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ToolArgumentsError(f"The file for {name!r} cannot be read: {error.strerror}.") from error
