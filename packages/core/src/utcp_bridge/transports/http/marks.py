"""Places of arguments within the texts of a call template, and how arguments fill them; nothing here is sent.

A mark is made when a manual is read, before its variables have values. So neither the value of a variable nor that of
an argument can hold one: text of theirs that looks like a placeholder stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from utcp_bridge.transports.http.values import plain_text

NOT_GIVEN: Final = object()
"""What `filled` returns for a text whose argument was not given, which leaves its header, pair or member out."""

# NUL can stand in no URL, header or environment variable. Hexadecimal, so that no `$` of a name begins a variable.
_MARK: Final = re.compile("\0([0-9a-f]*)\0")


def mark(argument: str) -> str:
    """The mark for an argument."""
    return f"\0{argument.encode('utf-8', 'surrogatepass').hex()}\0"


def marked_arguments(value: Any) -> frozenset[str]:
    """The arguments that have a place in a JSON value."""
    if isinstance(value, str):
        return frozenset(map(_name, _MARK.findall(value)))
    if isinstance(value, Mapping):
        return frozenset[str]().union(*map(marked_arguments, value.values()))
    if isinstance(value, (list, tuple)):
        return frozenset[str]().union(*map(marked_arguments, value))
    return frozenset()


def filled(value: Any, arguments: Mapping[str, Any]) -> Any:
    """A JSON value with arguments in the place of their marks.

    A text that is nothing but a mark becomes the argument itself, of whatever type; within a text the argument is
    written as JSON writes it, a text as it is.

    Args:
        value: The value.
        arguments: The arguments of the call.

    Returns:
        A new value. A text one of whose arguments was not given (or is null, within a text) leaves out its list item or
        its member, and so does an object that has lost all its members; for `value` itself it is `NOT_GIVEN`.
    """
    if isinstance(value, str):
        return _filled_text(value, arguments)
    if isinstance(value, Mapping):
        members = {key: filled(item, arguments) for key, item in value.items()}
        given = {key: item for key, item in members.items() if item is not NOT_GIVEN}
        return given if given or not members else NOT_GIVEN
    if isinstance(value, (list, tuple)):
        items = [filled(item, arguments) for item in value]
        given_items = [item for item in items if item is not NOT_GIVEN]
        return given_items if given_items or not items else NOT_GIVEN
    return value


def filled_document(text: str, arguments: Mapping[str, Any], encode: Callable[[Any], str]) -> str:
    """A whole document, such as XML, with the arguments in it; what was not given is empty there.

    Args:
        text: The document.
        arguments: The arguments of the call.
        encode: Writes one value.
    """

    def written(match: re.Match[str]) -> str:
        value = arguments.get(_name(match[1]))
        return "" if value is None else encode(value)

    return _MARK.sub(written, text)


def is_one_mark(text: str) -> bool:
    """Whether a text is a mark and nothing else."""
    return _MARK.fullmatch(text) is not None


def _filled_text(text: str, arguments: Mapping[str, Any]) -> Any:
    if "\0" not in text:
        return text
    if (whole := _MARK.fullmatch(text)) is not None:
        return arguments.get(_name(whole[1]), NOT_GIVEN)
    if any(arguments.get(_name(found)) is None for found in _MARK.findall(text)):
        return NOT_GIVEN
    return _MARK.sub(lambda match: plain_text(arguments[_name(match[1])]), text)


def _name(written: str) -> str:
    return bytes.fromhex(written).decode("utf-8", "surrogatepass")
