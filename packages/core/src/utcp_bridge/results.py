"""Whatever a tool replies, as a `ToolResult`: text for the model, and the reply itself, whole."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from utcp_bridge.options import DEFAULT_MAX_CHARS

NO_CONTENT = "(no content)"

# Keys that only wrap a text; a dict that has others beside `content` is data, and is shown whole.
_ENVELOPE_KEYS = frozenset({"content", "isError", "is_error", "type", "meta", "_meta", "role", "structuredContent"})
# How the HTTP transport hands over what is neither JSON nor text.
_BLOB_KEYS = frozenset({"type", "mimeType", "size", "blob", "filename"})
_NON_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_SURROGATES = re.compile("[\ud800-\udfff]")
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# Content blocks of MCP, https://modelcontextprotocol.io/specification/2025-06-18/server/tools
_BLOCK_TYPES = frozenset({"text", "image", "audio", "resource", "resource_link"})


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to.

    Attributes:
        content: The text for the model; never empty.
        is_error: Whether the call failed; `content` then holds the reason.
        raw: The original reply as a list of blocks, uncut.
        data: The reply as a JSON value, or None when it is text, bytes or empty.
    """

    content: str
    is_error: bool = False
    raw: list[dict[str, Any]] = field(default_factory=list)
    data: Any = None


def normalise(reply: object, *, max_chars: int | None = DEFAULT_MAX_CHARS) -> ToolResult:
    """Turn the reply of a successful call into a `ToolResult`.

    Args:
        reply: What the tool returned: text, bytes, a JSON value, an MCP result, or any Python object.
        max_chars: The most characters of `content`; a longer one is cut, with a notice of its full size
            that counts towards the limit. None never cuts. Default 40,000.

    Returns:
        The result. `is_error` is True only where the reply is an MCP-style result that says so.
    """
    result = _result(reply)
    content = cut(result.content or NO_CONTENT, max_chars)
    return result if content is result.content else ToolResult(content, result.is_error, result.raw, result.data)


def _result(reply: object) -> ToolResult:
    if reply is None:
        return ToolResult(NO_CONTENT)
    if isinstance(reply, str):
        text = _encodable(reply)
        return ToolResult(text, raw=[{"type": "text", "text": text}])
    if isinstance(reply, (bytes, bytearray, memoryview)):
        return _bytes_result(bytes(reply))
    try:
        return _value_result(_json_value(reply))
    except RecursionError:
        # A structure that holds itself, or one nested deeper than Python counts.
        text = f"[{type(reply).__name__}: nested too deeply to be shown]"
        return ToolResult(text, raw=[{"type": "text", "text": text}])


def _value_result(value: Any) -> ToolResult:
    if _are_blocks(value):
        return ToolResult(_joined_text(value), raw=list(value), data=value)
    if isinstance(value, dict):
        return _dict_result(value)
    return ToolResult(_json_text(value), raw=[{"type": "raw", "value": value}], data=value)


def _dict_result(reply: dict[str, Any]) -> ToolResult:
    if reply.get("type") == "blob" and isinstance(reply.get("blob"), str) and reply.keys() <= _BLOB_KEYS:
        return ToolResult(_described(reply), raw=[reply])
    is_error = reply.get("isError") is True or reply.get("is_error") is True
    content = reply.get("content")
    if isinstance(content, list) and (_are_blocks(content) or not content) and reply.keys() <= _ENVELOPE_KEYS:
        structured = reply.get("structuredContent")
        text = _joined_text(content) or ("" if structured is None else _json_text(structured))
        return ToolResult(text, is_error, content or [reply], reply)
    if isinstance(reply.get("text"), str) and (reply["text"] or reply.keys() <= {"text", *_ENVELOPE_KEYS}):
        return ToolResult(reply["text"], is_error, [reply], reply)
    if isinstance(content, str) and content and reply.keys() <= _ENVELOPE_KEYS:
        return ToolResult(content, is_error, [reply], reply)
    return ToolResult(_json_text(reply), raw=[reply], data=reply)


def _bytes_result(reply: bytes) -> ToolResult:
    block = {
        "type": "blob",
        "mimeType": "application/octet-stream",
        "size": len(reply),
        "blob": base64.b64encode(reply).decode("ascii"),
    }
    return ToolResult(_described(block), raw=[block])


def _are_blocks(value: object) -> bool:
    """Whether a value that `_json_value` gave is a list of content blocks."""
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(block, dict) and block.get("type") in _BLOCK_TYPES for block in value)
    )


def _joined_text(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(text for text in map(_block_text, blocks) if text)


def _block_text(block: Mapping[str, Any]) -> str:
    if block["type"] == "text":
        return _plain_text(block.get("text"))
    if block["type"] == "resource" and isinstance(block.get("resource"), Mapping):
        resource = block["resource"]
        return _plain_text(resource["text"]) if "text" in resource else _described({"type": "resource", **resource})
    if block["type"] == "resource_link":
        return f"[resource: {block.get('uri')}]"
    return _described(block)


def _plain_text(text: object) -> str:
    return text if isinstance(text, str) else "" if text is None else _json_text(text)


def _described(block: Mapping[str, Any]) -> str:
    media_type = block.get("mimeType") or "unknown type"
    size = block.get("size")
    if size is None:
        encoded = str(block.get("data") or block.get("blob") or "")
        size = len(encoded.rstrip("=")) * 3 // 4
    named = f" {block['filename']!r}" if block.get("filename") else ""
    return f"[{block['type']}{named}: {media_type}, {size:,} bytes]"


def _json_text(value: object) -> str:
    return _encoder.encode(value)


def _json_value(value: object) -> Any:
    """The value as JSON can say it (RFC 8259): no NaN, no lone surrogates, no Python objects."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _NON_FINITE.get(str(value), str(value))
    if isinstance(value, (dict, Mapping)):  # the first is known at once, the second takes a while
        return {
            _encodable(key if isinstance(key, str) else _key_text(key)): _json_value(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple, Set)):
        return [_json_value(item) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    try:
        plain = to_jsonable_python(value, bytes_mode="base64")
    except (PydanticSerializationError, ValueError):  # bytes that are no text, half a surrogate pair, a cycle
        if isinstance(value, BaseModel):
            return _json_value(value.model_dump())
        return f"[{type(value).__qualname__}]"
    return _json_value(plain)


def _key_text(key: object) -> str:
    return json.dumps(key) if key is None or isinstance(key, (bool, int, float)) else str(key)


def _encodable(text: str) -> str:
    # A lone surrogate, which JSON can spell as an escape, would break whoever encodes the text later.
    return text if text.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def cut(text: str, max_chars: int | None, *, what: str = "text") -> str:
    """The text, or its beginning with a notice of its full length, which counts towards the limit.

    Args:
        text: Any text.
        max_chars: The most characters; None never cuts.
        what: What the notice calls the text; default "text".
    """
    if max_chars is None or len(text) <= max_chars:
        return text
    notice = f"\n[cut: the full {what} has {len(text):,} characters]"
    return (text[: max(0, max_chars - len(notice))] + notice)[:max_chars]
