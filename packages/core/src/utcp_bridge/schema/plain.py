"""Plain JSON values: what may stand in a schema that is shown, and in arguments that are sent."""

from __future__ import annotations

import datetime
import enum
import math
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 128
"""The most levels of nesting: far more than real schemas and arguments have, and safe for every JSON library."""

MAX_VALUES = 500_000
"""The most values that a schema or one of its parts may hold; the largest real schemas have a tenth of that."""


MAX_BITS = 14_000
"""The most bits of an integer: with more, Python may refuse to write its digits (`sys.set_int_max_str_digits`)."""

_TOO_LONG = "is an integer of more than 4,000 digits"


class NotJsonError(ValueError):
    """A value has no JSON form; `path` says where in the value, the message why."""

    def __init__(self, reason: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(reason)
        self.path = path


def is_bounded(value: Any) -> bool:
    """Tell whether a value has at most `MAX_VALUES` parts, each counted as often as it is reached."""
    # Objects that are shared (YAML aliases) or contain themselves may have any number of them.
    count, stack = 0, [value]
    while stack:
        part = stack.pop()
        if isinstance(part, Mapping):
            stack.extend(part.values())
        elif isinstance(part, list | tuple):
            stack.extend(part)
        else:
            continue
        count += len(part) + 1
        if count > MAX_VALUES:
            return False
    return True


def plain(value: Any) -> Any:
    """Copy a value of a schema into plain dicts, lists, strings, numbers, booleans and None.

    YAML brings dates and keys that are no strings; both become their text.

    Raises:
        NotJsonError: A part has no JSON form: an infinite number, a set, a cycle.
    """
    if isinstance(value, dict | list) and not is_bounded(value):
        raise NotJsonError(f"it has more than {MAX_VALUES} parts")
    return _plain(value, ())


def _plain(value: Any, path: tuple[str | int, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value, path)
    if isinstance(value, str):
        return whole_text(str(value))
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise NotJsonError(_TOO_LONG, path)
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJsonError(f"{value} is not a JSON number", path)
        return float(value)
    if isinstance(value, Mapping | list | tuple):
        if len(path) >= MAX_DEPTH:
            raise NotJsonError(f"it is nested deeper than {MAX_DEPTH} levels", path)
        if isinstance(value, Mapping):
            return {key_text(key): _plain(item, (*path, key_text(key))) for key, item in value.items()}
        return [_plain(item, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    raise NotJsonError(f"a {type(value).__name__} is not a JSON value", path)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of the members of a JSON object, for `json.loads`.

    Raises:
        NotJsonError: A key comes twice, so that one of its values would be lost (RFC 8259, section 4).
    """
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise NotJsonError(f"the JSON text has the key {twice!r} twice in one object")
    return result


def key_text(key: Any) -> str:
    """Give an object key as text: YAML reads `on:` as True and `200:` as a number."""
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str):
        return whole_text(str(key))
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)


def whole_text(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 text can hold, by the replacement character."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def check_arguments(arguments: dict[str, Any]) -> bool:
    """Check that arguments are JSON values all the way down.

    Returns:
        Whether every container is a plain dict or list, so that nothing has to be copied.

    Raises:
        NotJsonError: A part has no JSON form; `path` says which.
    """
    # A stack of its own, because arguments may be nested deeper than Python can recurse.
    as_is = type(arguments) is dict
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(arguments, ())]
    while stack:
        value, path = stack.pop()
        if isinstance(value, (dict, Mapping)):
            if len(path) >= MAX_DEPTH:
                raise NotJsonError(f"is nested deeper than {MAX_DEPTH} levels", path[:1])
            as_is = as_is and type(value) is dict
            for key, item in value.items():
                if not isinstance(key, str):
                    raise NotJsonError(f"has the key {key!r}; keys must be strings", path)
                if not key.isascii():
                    _check_text(key, path)
                # Most are one of these, and the stack would cost more than all else that is done for a call here.
                kind = item.__class__
                if (kind is str and item.isascii()) or (kind is int and item.bit_length() <= MAX_BITS) or kind is bool:
                    continue
                stack.append((item, (*path, key)))
        elif isinstance(value, list | tuple):
            if len(path) >= MAX_DEPTH:
                raise NotJsonError(f"is nested deeper than {MAX_DEPTH} levels", path[:1])
            as_is = as_is and type(value) is list
            stack.extend((item, (*path, index)) for index, item in enumerate(value))
        elif isinstance(value, str):
            as_is = as_is and type(value) is str
            _check_text(value, path)
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise NotJsonError(f"is {value}, which is not a JSON number", path)
        elif isinstance(value, int):
            if value.bit_length() > MAX_BITS:
                raise NotJsonError(_TOO_LONG, path)
        elif value is not None:
            raise NotJsonError(f"is a Python {type(value).__name__}, which has no JSON form", path)
    return as_is


def _check_text(text: str, path: tuple[str | int, ...]) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJsonError("holds half a surrogate pair, which is not valid Unicode text", path) from None
