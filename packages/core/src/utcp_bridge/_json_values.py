"""Any Python value as JSON can say it."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Set
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

_NON_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_SURROGATES = re.compile("[\ud800-\udfff]")


def json_value(value: object) -> Any:
    """The value as JSON can say it (RFC 8259): no NaN, no lone surrogates, no Python objects."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _NON_FINITE.get(str(value), str(value))
    if isinstance(value, (dict, Mapping)):  # the first is known at once, the second takes a while
        return {
            encodable(key if isinstance(key, str) else _key_text(key)): json_value(item) for key, item in value.items()
        }
    if isinstance(value, (list, tuple, Set)):
        return [json_value(item) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    try:
        plain = to_jsonable_python(value, bytes_mode="base64")
    except (PydanticSerializationError, ValueError):  # bytes that are no text, half a surrogate pair, a cycle
        if isinstance(value, BaseModel):
            return json_value(value.model_dump())
        return f"[{type(value).__qualname__}]"
    return json_value(plain)


def _key_text(key: object) -> str:
    return json.dumps(key) if key is None or isinstance(key, (bool, int, float)) else str(key)


def encodable(text: str) -> str:
    """The text without lone surrogates, which JSON can spell as escapes, and which break whoever encodes it later."""
    return text if text.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
