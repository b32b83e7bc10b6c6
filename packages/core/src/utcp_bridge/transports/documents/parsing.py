"""Manuals and OpenAPI documents as they come over HTTP: JSON or YAML, from servers that do not always say which."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import urlsplit

from utcp_bridge.content_types import decode_text, is_json, media_type
from utcp_bridge.errors import BridgeError
from utcp_bridge.transports.documents.yaml import YamlError, load_yaml

MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024  # the largest public OpenAPI documents have about 40 MB


class DocumentError(BridgeError):
    """A document could not be fetched or read; the message is the reason alone.

    Args:
        message: The reason.
        status: The HTTP status, where the server answered with 400 or above.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def parse_document(content: bytes, content_type: str, url: str) -> Any:
    """Read a document; takes its time for a large one, so call it in a worker thread.

    Args:
        content: The body.
        content_type: Its `Content-Type`, or an empty string.
        url: Where it came from; its suffix tells JSON from YAML where the type does not.

    Returns:
        The JSON value.

    Raises:
        DocumentError: It is neither JSON nor YAML, with the line, or too deep or too large to be read.
    """
    if not content.strip():
        raise DocumentError("the document is empty")
    kind = media_type(content_type)
    suffix = urlsplit(url).path.lower().rpartition(".")[2]
    is_yaml = "yaml" in kind or (suffix in {"yaml", "yml"} and not is_json(kind))
    if not is_yaml or content.lstrip()[:1] in (b"{", b"["):
        try:
            return json.loads(content)
        except RecursionError as error:
            raise DocumentError("the document is nested too deeply") from error
        except ValueError as error:
            if is_json(kind) or suffix == "json":
                raise DocumentError(f"the document is not JSON: {_json_place(error)}") from error
    text = decode_text(content, content_type)
    if "html" in kind or text.lstrip()[:14].lower().startswith(("<!doctype html", "<html")):
        raise DocumentError(
            "the server sent an HTML page, not a JSON or YAML document; check the URL, and whether it asks for a login"
        )
    return _parse_yaml(text, kind)


def _parse_yaml(text: str, kind: str) -> Any:
    try:
        document = load_yaml(text)
    except YamlError as error:
        raise DocumentError(f"the document{_of(kind)} is neither JSON nor YAML: {error}") from error
    if not isinstance(document, (dict, list)):
        raise DocumentError(f"the document{_of(kind)} is neither JSON nor YAML")
    return document


def _of(kind: str) -> str:
    return f" ({kind})" if kind else ""


def _json_place(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return "it is not text in a Unicode encoding"
