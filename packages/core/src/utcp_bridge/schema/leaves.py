"""Keywords without subschemas: each judged by itself, so that a refusal can name it.

What Python and JSON agree on is judged here; what needs JSON Schema's own idea of equality, of numbers, of a regular
expression or of a format is left to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (isinstance(value, int) and not isinstance(value, bool)) or is_whole(value),
}

_LENGTHS: Final[Mapping[str, tuple[type, bool]]] = {
    "minLength": (str, True),
    "maxLength": (str, False),
    "minItems": (list, True),
    "maxItems": (list, False),
    "minProperties": (dict, True),
    "maxProperties": (dict, False),
}

_OF_ENGINE: Final[Mapping[str, Callable[[Any], bool]]] = {
    "enum": lambda _: True,
    "const": lambda _: True,
    "minimum": _KINDS["number"],
    "maximum": _KINDS["number"],
    "exclusiveMinimum": _KINDS["number"],
    "exclusiveMaximum": _KINDS["number"],
    "multipleOf": _KINDS["number"],
    "pattern": _KINDS["string"],
    "format": _KINDS["string"],
    "uniqueItems": _KINDS["array"],
}
"""The keywords that the engine judges, each with the kinds of values that it says something about."""


def broken(keyword: str, limit: Any, value: Any, is_valid: Callable[[str], bool]) -> Iterator[tuple[str, ...]]:
    """Tell whether a value breaks a keyword: nothing if it does not, else the names that each violation is about.

    Args:
        keyword: Any keyword; those with subschemas are never broken here.
        limit: What the schema says under it.
        value: The value.
        is_valid: Asks the engine whether the value fits the keyword alone.
    """
    if keyword in _OF_ENGINE:
        if _OF_ENGINE[keyword](value) and not is_valid(keyword):
            yield ()
    elif keyword == "type":
        if not any(_KINDS[name](value) for name in ((limit,) if isinstance(limit, str) else limit)):
            yield ()
    elif keyword in _LENGTHS:
        kind, is_least = _LENGTHS[keyword]
        if isinstance(value, kind) and (len(value) < limit if is_least else len(value) > limit):  # type: ignore[arg-type]
            yield ()
    elif isinstance(value, dict):
        if keyword == "required":
            yield from ((name,) for name in limit if name not in value)
        elif keyword == "dependentRequired":
            wanted = [name for key, names in limit.items() if key in value for name in names if name not in value]
            if wanted:
                yield tuple(dict.fromkeys(wanted))


def is_whole(value: Any) -> bool:
    """Tell whether a value is a float without a fraction, which JSON Schema calls an integer too."""
    return isinstance(value, float) and value.is_integer()


def takes_only_integers(types: str | list[str]) -> bool:
    """Tell whether a `type` takes integers and no other numbers."""
    names = (types,) if isinstance(types, str) else types
    return "integer" in names and "number" not in names
