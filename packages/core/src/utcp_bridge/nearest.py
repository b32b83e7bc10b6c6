"""The known name that a misspelt one was most likely meant to be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[\W_]+")
_LONGEST = 200  # characters that are compared; whoever writes a longer name did not misspell it
_SHORTEST_PART = 3


def nearest(given: object, known: Iterable[str]) -> str | None:
    """The known name that is most like a given one, or None where none is.

    Case and separators do not count (`apiKey`, `API-KEY`), neither does what is left out at an end (`loc` for
    `location`); for the rest letters are compared.

    Args:
        given: What was written; anything but a text is like nothing.
        known: The names that are right, in the order in which equals are preferred.
    """
    if not isinstance(given, str):
        return None
    asked = _plain(given)
    plain: dict[str, str] = {}
    for name in known:
        plain.setdefault(_plain(name), name)
    if not asked:
        return None
    if asked in plain:
        return plain[asked]
    if close := difflib.get_close_matches(asked, plain, n=1):
        return plain[close[0]]
    parts = [name for name in plain if _is_part(asked, name)]
    return plain[min(parts, key=lambda name: abs(len(name) - len(asked)))] if parts else None


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name[:_LONGEST].casefold())


def _is_part(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= _SHORTEST_PART and (long.startswith(short) or long.endswith(short))
