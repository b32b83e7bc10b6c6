"""Whatever a tool replies, as a `ToolResult`: text for the model, and the reply itself, whole."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from utcp_bridge._json_values import encodable, json_value
from utcp_bridge.options import DEFAULT_MAX_CHARS

NO_CONTENT = "(no content)"

# Keys that only wrap a text. A dict that has others is data, and is shown whole: what stands beside a text, such as the
# time stamp of a chat message, is what the next call needs.
_MARKERS = frozenset({"isError", "is_error", "type", "meta", "_meta", "annotations", "role"})
_TEXT_KEYS = _MARKERS | {"text"}
_CONTENT_KEYS = _MARKERS | {"content", "structuredContent"}
# Content blocks of MCP, https://modelcontextprotocol.io/specification/2025-06-18/server/tools: all of their keys, so
# that blocks of other APIs, which have the same types, are left as they are.
_BLOCK_KEYS = {
    "text": frozenset({"text"}),
    "image": frozenset({"data", "mimeType"}),
    "audio": frozenset({"data", "mimeType"}),
    "resource": frozenset({"resource"}),
    "resource_link": frozenset({"uri", "name", "title", "description", "mimeType", "size", "icons"}),
}
_ANY_BLOCK_KEYS = frozenset({"type", "annotations", "_meta", "meta"})
_BASE64 = re.compile(r"(?:data:[^,]*+,)?[A-Za-z0-9+/_\-\s]*+={0,2}\s*")
# How the HTTP transport hands over what is neither JSON nor text.
_BLOB_KEYS = frozenset({"type", "mimeType", "size", "blob", "filename"})
_LEAST_INTEGER, _MOST_INTEGER = -(2**63), 2**64 - 1  # those that MessagePack knows
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


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
        text = encodable(reply)
        return ToolResult(text, raw=[{"type": "text", "text": text}])
    if isinstance(reply, (bytes, bytearray, memoryview)):
        return _bytes_result(bytes(reply))
    try:
        return _value_result(json_value(reply))
    except RecursionError:
        # A structure that holds itself, or one nested deeper than Python counts.
        text = f"[{type(reply).__name__}: nested too deeply to be shown]"
        return ToolResult(text, raw=[{"type": "text", "text": text}])


def _value_result(value: Any) -> ToolResult:
    if _is_content_list(value):
        return ToolResult(_joined_text(value), raw=_raw_blocks(value), data=value)
    if isinstance(value, dict):
        return _dict_result(value)
    return ToolResult(_json_text(value), raw=[{"type": "raw", "value": value}], data=value)


def _dict_result(reply: dict[str, Any]) -> ToolResult:
    if reply.get("type") == "blob" and isinstance(reply.get("blob"), str) and reply.keys() <= _BLOB_KEYS:
        return ToolResult(_described(reply), raw=[reply])
    if _is_media_block(reply):
        return ToolResult(_joined_text([reply]), raw=[reply], data=reply)
    is_error = reply.get("isError") is True or reply.get("is_error") is True
    text, content = reply.get("text"), reply.get("content")
    if isinstance(text, str) and reply.keys() <= _TEXT_KEYS:
        return ToolResult(text, is_error, [reply], reply)
    if isinstance(content, str) and content and reply.keys() <= _CONTENT_KEYS:
        return ToolResult(content, is_error, [reply], reply)
    if isinstance(content, list) and reply.keys() <= _CONTENT_KEYS and (not content or _are_contents(content, reply)):
        return ToolResult(_contents_text(content, reply.get("structuredContent")), is_error, content or [reply], reply)
    contents = reply.get("contents")
    if (
        isinstance(contents, list)
        and reply.keys() <= _MARKERS | {"contents"}
        and contents
        and all(map(_is_resource, contents))
    ):
        return ToolResult("\n".join(filter(None, map(_resource_text, contents))), raw=contents, data=reply)
    # What says of itself that it is a failed result is one, whatever else it says.
    is_result = isinstance(text, str) or isinstance(content, (str, list))
    return ToolResult(_json_text(reply), is_error and is_result, [reply], reply)


def _are_contents(content: list[Any], reply: Mapping[str, Any]) -> bool:
    is_result = isinstance(reply.get("isError"), bool) and all(isinstance(block, dict) for block in content)
    return is_result or _is_content_list(content)


def _contents_text(content: list[Any], structured: Any) -> str:
    text = _joined_text(content)
    if structured is None or any(_is_text_block(block) and block.get("text") for block in content):
        return text
    # A server should say what is structured as text too, and need not.
    return "\n".join(filter(None, (_json_text(structured), text)))


def _raw_blocks(blocks: list[Any]) -> list[dict[str, Any]]:
    return [
        block
        if isinstance(block, dict)
        else {"type": "text", "text": block}
        if isinstance(block, str)
        else {"type": "raw", "value": block}
        for block in blocks
    ]


def _bytes_result(reply: bytes) -> ToolResult:
    block = {
        "type": "blob",
        "mimeType": "application/octet-stream",
        "size": len(reply),
        "blob": base64.b64encode(reply).decode("ascii"),
    }
    return ToolResult(_described(block), raw=[block])


def _is_content_list(value: object) -> bool:
    """Whether a value is a list of content blocks, among which plain values stand for texts.

    utcp-mcp 1.2.0 hands text blocks over so, as the JSON value that is written in them; a list of nothing else is data.
    """
    if not isinstance(value, list) or not value:
        return False
    return any(map(_is_media_block, value)) or all(map(_is_text_block, value))


def _is_text_block(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") == "text" and "text" in value and _has_no_other_keys(value)


def _is_media_block(value: object) -> bool:
    if not isinstance(value, dict) or not _has_no_other_keys(value):
        return False
    kind = value["type"]
    if kind == "resource":
        return _is_resource(value.get("resource"))
    if kind == "resource_link":
        return isinstance(value.get("uri"), str)
    data = value.get("data")
    return kind in {"image", "audio"} and isinstance(data, str) and _BASE64.fullmatch(data) is not None


def _is_resource(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("uri"), str)
        and (value.get("text") is not None or isinstance(value.get("blob"), str))
    )


def _has_no_other_keys(block: Mapping[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in _BLOCK_KEYS and block.keys() <= _BLOCK_KEYS[kind] | _ANY_BLOCK_KEYS


def _joined_text(blocks: Sequence[Any]) -> str:
    return "\n".join(text for text in map(_block_text, blocks) if text)


def _block_text(block: Any) -> str:
    if _is_text_block(block):
        return _plain_text(block["text"])
    if not _is_media_block(block):
        return _plain_text(block)
    if block["type"] == "resource":
        return _resource_text(block["resource"])
    if block["type"] == "resource_link":
        about = [str(block[key]) for key in ("name", "mimeType", "description") if block.get(key)]
        return f"[resource: {block['uri']}{' (' if about else ''}{', '.join(about)}{')' if about else ''}]"
    return _described(block)


def _resource_text(resource: Mapping[str, Any]) -> str:
    text = resource.get("text")
    return _described({"type": "resource", **resource}) if text is None else _plain_text(text)


def _plain_text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else _json_text(value)


def _described(block: Mapping[str, Any]) -> str:
    media_type = block.get("mimeType") or "unknown type"
    size = block.get("size")
    if size is None:
        encoded = str(block.get("data") or block.get("blob") or "").rpartition(",")[2]
        size = len("".join(encoded.split()).rstrip("=")) * 3 // 4
    name = block.get("filename") or block.get("uri")
    return f"[{block['type']}{f' {name!r}' if name else ''}: {media_type}, {size:,} bytes]"


def within_64_bits(value: Any) -> Any:
    """A JSON value for formats whose integers have 64 bits, as MessagePack's: larger ones become their JSON text.

    Args:
        value: A JSON value of plain dicts and lists, such as `ToolResult.raw` and `data`; it is not changed.

    Returns:
        The value itself where no integer is larger, else a copy.
    """
    return _with_larger_as_text(value) if _holds_larger(value) else value


def _holds_larger(value: Any) -> bool:
    # Without recursion, and what is held twice looked at once: of nearly all replies this is all that is done.
    waiting: list[Any] = [[value]]
    seen = set()
    for container in waiting:
        for item in container.values() if container.__class__ is dict else container:
            kind = item.__class__
            if kind is int:
                if not _LEAST_INTEGER <= item <= _MOST_INTEGER:
                    return True
            elif (kind is dict or kind is list) and id(item) not in seen:
                seen.add(id(item))
                waiting.append(item)
    return False


def _with_larger_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_larger_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_larger_as_text(item) for item in value]
    return str(value) if isinstance(value, int) and not _LEAST_INTEGER <= value <= _MOST_INTEGER else value


def _json_text(value: object) -> str:
    return _encoder.encode(value)


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
