"""Manuals and OpenAPI documents as they come over HTTP: JSON or YAML, from servers that do not always say which."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import urlsplit

from utcp_bridge.config.json_faults import json_fault, markup_name
from utcp_bridge.content_types import decode_text, is_json, media_type
from utcp_bridge.errors import BridgeError
from utcp_bridge.transports.documents.yaml import YamlError, load_yaml

_JSON_STARTS: Final = frozenset((b"{", b"["))
_LOOKED_AT: Final = 1_024  # bytes
_MAGIC: Final = {
    b"\x1f\x8b": "compressed with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"BZh": "compressed with bzip2",
    b"PK\x03\x04": "a ZIP archive",
    b"%PDF-": "a PDF file",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
}
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
        content_type: Its `Content-Type`, or an empty string; YAML is read under any.
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
    fault: ValueError | None = None
    is_yaml = "yaml" in kind or (suffix in {"yaml", "yml"} and not is_json(kind))
    if not is_yaml or content.lstrip()[:1] in _JSON_STARTS:
        try:
            return json.loads(content)
        except RecursionError as error:
            raise DocumentError("the document is nested too deeply") from error
        except ValueError as error:
            fault = error
    if (binary := _binary_name(content)) is not None:
        raise DocumentError(f"the document{_of(kind)} is {binary}, expected JSON or YAML")
    text = decode_text(content, content_type)
    page = markup_name(text)
    says_otherwise = "html" in kind or is_json(kind) or suffix == "json"
    if page is None and says_otherwise and _json_text(content).lstrip("\ufeff \t\r\n")[:1] not in {"{", "["}:
        # Servers send YAML under types of which they know more.
        found = _meant_yaml(text, is_named=suffix in {"yaml", "yml"})
        if found is not None:
            return found
    if page is None and "html" in kind:
        page = "an HTML page"
    if page is not None:
        raise DocumentError(f"{_sender(url)} {page}, not a JSON or YAML document{_advice(url, page)}")
    if fault is not None and (is_json(kind) or suffix == "json"):
        raise DocumentError(f"the document is not JSON: {json_fault(fault, _json_text(content))}") from fault
    try:
        return _parse_yaml(text, kind)
    except DocumentError:
        if fault is not None and content.lstrip()[:1] in _JSON_STARTS:
            # What begins like JSON was meant to be JSON.
            words = f"the document{_of(kind)} is neither JSON nor YAML: {json_fault(fault, _json_text(content))}"
            raise DocumentError(words) from fault
        raise


def _meant_yaml(text: str, *, is_named: bool) -> Any:
    """Read YAML that is not called so; None for a text that is hardly meant as a document, such as `Error: none`."""
    try:
        document = load_yaml(text)
    except YamlError:
        return None
    parts = document.values() if isinstance(document, dict) else ()
    is_meant = is_named or any(isinstance(part, (dict, list)) for part in parts)
    return document if is_meant and isinstance(document, (dict, list)) else None


def _parse_yaml(text: str, kind: str) -> Any:
    try:
        document = load_yaml(text)
    except YamlError as error:
        raise DocumentError(f"the document{_of(kind)} is neither JSON nor YAML: {error}") from error
    if document is None:
        raise DocumentError("the document is empty")
    if not isinstance(document, (dict, list)):
        raise DocumentError(f"the document{_of(kind)} is neither JSON nor YAML")
    return document


def _of(kind: str) -> str:
    return f" ({kind})" if kind else ""


def _json_text(content: bytes) -> str:
    return content.decode(json.detect_encoding(content), "replace")


def _binary_name(content: bytes) -> str | None:
    """What a document is that is no text, as far as its first bytes tell (none of them can begin JSON or YAML)."""
    name = next((name for magic, name in _MAGIC.items() if content.startswith(magic)), None)
    if name is not None or b"\0" not in content[:_LOOKED_AT]:
        return name
    try:
        content.decode(json.detect_encoding(content))
    except UnicodeDecodeError:
        return "binary data"
    return None


def _sender(url: str) -> str:
    """Who sent a page, for the address may be another one than was asked: servers redirect to where one logs in."""
    if not url.startswith(("http://", "https://")):
        return "the document is"
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path} sent"


def _advice(url: str, page: str) -> str:
    is_page = page.startswith("an HTML") and url.startswith(("http://", "https://"))
    return "; check the URL, and whether it asks for a login" if is_page else ""
