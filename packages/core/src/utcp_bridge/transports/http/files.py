"""Files in bodies: how an argument gives one, and what type it has."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from mimetypes import MimeTypes
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from utcp_bridge.content_types import media_type
from utcp_bridge.errors import ToolArgumentsError

BINARY: Final = "application/octet-stream"

_FILE_KEYS = frozenset({"path", "base64", "filename", "content_type"})
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,(.*)", re.DOTALL | re.ASCII)
_BASE64_SPACE = re.compile(r"\s+")
_GUESSES = MimeTypes()  # of its own: the module's functions read files that differ between machines


@dataclass(frozen=True, slots=True)
class File:
    """A file that is part of a body, or the whole of it.

    Attributes:
        content: The bytes.
        name: Its name.
        content_type: What its giver says it is; empty (default) where nothing is said.
    """

    content: bytes
    name: str
    content_type: str = ""

    def typed(self, declared: str) -> str:
        """What to send it as.

        Args:
            declared: Media types and ranges that the document allows, divided by commas; may be empty.
        """
        allowed = [text.strip() for text in declared.split(",") if text.strip()]
        if len(allowed) == 1 and "*" not in allowed[0]:
            return allowed[0]
        concrete = next((text for text in allowed if "*" not in text), BINARY)
        # The name is asked only where the document leaves a choice.
        own = self.content_type or (allowed and _GUESSES.guess_type(self.name)[0]) or ""
        return own if own and (not allowed or _is_among(media_type(own), allowed)) else concrete


def is_file(value: Any) -> bool:
    """Whether a value has the form in which a file is given: `{"path": ...}` or `{"base64": ...}`, and its name."""
    return (
        isinstance(value, dict)
        and value.keys() <= _FILE_KEYS
        and ("path" in value) != ("base64" in value)
        and all(isinstance(text, str) for text in value.values())
    )


def as_file(value: Any, name: str, folder: Path | None, *, declared: bool) -> File | None:
    """The file that a value stands for, or None.

    Args:
        value: The argument.
        name: What it is the argument for.
        folder: The only folder that files are read from; None allows none.
        declared: Whether any text here is a file's content.

    Raises:
        ToolArgumentsError: It is no base64, or a file that must not be read.
    """
    if isinstance(value, str):
        if not declared:
            return None
        return _from_data_uri(value, name) or File(value.encode(errors="replace"), name)
    if not is_file(value):
        return None
    if "base64" in value:
        return _file(_decoded(value["base64"], name), value.get("filename", name), value)
    path = _allowed_path(value["path"], name, folder)
    return _file(_read(path, name), value.get("filename", path.name), value)


def _file(content: bytes, name: str, given: dict[str, Any]) -> File:
    return File(content, name, given.get("content_type", ""))


def _is_among(kind: str, allowed: Sequence[str]) -> bool:
    return any(fnmatchcase(kind, media_type(text)) for text in allowed)


def _from_data_uri(text: str, name: str) -> File | None:
    match = _DATA_URI.fullmatch(text) if text.startswith("data:") else None
    if match is None:
        return None
    kind, parameters, is_base64, payload = match.groups()
    raw = unquote_to_bytes(payload)
    content = _decoded(raw.decode("latin-1"), name) if is_base64 else raw
    return File(content, name, (kind or "text/plain") + (parameters or ""))


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
