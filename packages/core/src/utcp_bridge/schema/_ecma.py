"""ECMA-262 regular expressions, which JSON Schema means, in Python's spelling.

What Python's `re` cannot express (look-behind of variable width, Unicode scripts) raises `PatternError`.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Iterable

_Ranges = tuple[tuple[int, int], ...]

_DIGIT: _Ranges = ((0x30, 0x39),)
_WORD: _Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: _Ranges = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
_NEWLINE: _Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_LETTERED = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_CATEGORIES = {
    "letter": "L",
    "cased_letter": "LC",
    "uppercase_letter": "Lu",
    "lowercase_letter": "Ll",
    "titlecase_letter": "Lt",
    "modifier_letter": "Lm",
    "other_letter": "Lo",
    "mark": "M",
    "nonspacing_mark": "Mn",
    "spacing_mark": "Mc",
    "enclosing_mark": "Me",
    "number": "N",
    "decimal_number": "Nd",
    "digit": "Nd",
    "letter_number": "Nl",
    "other_number": "No",
    "punctuation": "P",
    "punct": "P",
    "symbol": "S",
    "math_symbol": "Sm",
    "currency_symbol": "Sc",
    "separator": "Z",
    "space_separator": "Zs",
    "other": "C",
    "control": "Cc",
}
_LAST = sys.maxunicode


class PatternError(ValueError):
    """A pattern cannot be used; the message says why."""


@functools.lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile an ECMA-262 pattern; raises `PatternError`."""
    return re.compile(to_python(pattern))


@functools.lru_cache(maxsize=4096)
def to_python(pattern: str) -> str:
    """Write an ECMA-262 pattern in Python's syntax; raises `PatternError`."""
    written = _Translation(pattern).whole()
    try:
        re.compile(written)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(str(error)) from None
    return written


class _Translation:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def whole(self) -> str:
        parts = []
        while self._at < len(self._text):
            parts.append(self._atom())
        return "".join(parts)

    def _take(self, count: int = 1) -> str:
        if self._at + count > len(self._text):
            raise PatternError("it ends too early")
        taken = self._text[self._at : self._at + count]
        self._at += count
        return taken

    def _follows(self, text: str) -> bool:
        return self._text.startswith(text, self._at)

    def _atom(self) -> str:
        char = self._take()
        if char == "\\":
            return self._escape()
        if char == "[":
            return self._set()
        if char == ".":
            return _set(_without(_NEWLINE))
        if char == "$":
            return r"\Z"
        if char == "(" and self._follows("?<") and not (self._follows("?<=") or self._follows("?<!")):
            self._take(2)
            return "(?P<"
        return char

    def _escape(self) -> str:
        if self._follows("b") or self._follows("B"):
            return f"(?a:\\{self._take()})"  # a word boundary between ASCII words
        if self._follows("k<"):
            self._take(2)
            return f"(?P={self._until('>')})"
        if self._text[self._at : self._at + 1] in tuple("123456789"):
            return f"\\{self._take()}"
        return _set(self._escaped())

    def _until(self, end: str) -> str:
        stop = self._text.find(end, self._at)
        if stop < 0:
            raise PatternError(f"a {end!r} is missing")
        taken = self._take(stop - self._at)
        self._take()
        return taken

    def _escaped(self) -> _Ranges:
        char = self._take()
        if char.lower() in _LETTERED:
            ranges = _LETTERED[char.lower()]
            return ranges if char.islower() else _without(ranges)
        if char in "pP":
            if self._take() != "{":
                raise PatternError(f"\\{char} needs a property in braces")
            ranges = _property(self._until("}"))
            return ranges if char == "p" else _without(ranges)
        if char in _CONTROLS:
            return _one(_CONTROLS[char])
        if char == "c":
            return _one(ord(self._take()) % 32)
        if char == "x":
            return _one(self._hex(self._take(2)))
        if char == "u":
            return _one(self._unicode())
        if char.isascii() and char.isalnum():
            raise PatternError(f"\\{char} means nothing")
        return _one(ord(char))

    def _unicode(self) -> int:
        if self._follows("{"):
            self._take()
            return self._hex(self._until("}"))
        code = self._hex(self._take(4))
        if 0xD800 <= code < 0xDC00 and self._follows("\\u"):
            self._take(2)
            return 0x10000 + ((code - 0xD800) << 10) + (self._hex(self._take(4)) - 0xDC00)
        return code

    def _hex(self, digits: str) -> int:
        try:
            code = int(digits, 16)
        except ValueError:
            raise PatternError(f"{digits!r} is not hexadecimal") from None
        if code > _LAST:
            raise PatternError(f"{digits!r} is no character")
        return code

    def _set(self) -> str:
        negated = self._follows("^")
        if negated:
            self._take()
        ranges: list[tuple[int, int]] = []
        while not self._follows("]"):
            low = self._member()
            if self._follows("-") and not self._follows("-]") and len(low) == 1 and low[0][0] == low[0][1]:
                self._take()
                high = self._member()
                if len(high) != 1 or high[0][0] != high[0][1] or high[0][0] < low[0][0]:
                    raise PatternError("a range in a set is wrong")
                low = ((low[0][0], high[0][0]),)
            ranges.extend(low)
        self._take()
        return _set(_without(ranges) if negated else tuple(ranges))

    def _member(self) -> _Ranges:
        char = self._take()
        if char != "\\":
            return _one(ord(char))
        if self._follows("b"):
            self._take()
            return _one(8)
        return self._escaped()


def _one(code: int) -> _Ranges:
    return ((code, code),)


def _set(ranges: _Ranges) -> str:
    if not ranges:
        return "(?!)"
    members = "".join(_char(low) if low == high else f"{_char(low)}-{_char(high)}" for low, high in ranges)
    return f"[{members}]"


def _char(code: int) -> str:
    return f"\\U{code:08x}"


def _without(ranges: Iterable[tuple[int, int]]) -> _Ranges:
    result, after = [], 0
    for low, high in sorted(ranges):
        if low > after:
            result.append((after, low - 1))
        after = max(after, high + 1)
    if after <= _LAST:
        result.append((after, _LAST))
    return tuple(result)


def _property(name: str) -> _Ranges:
    key, _, value = name.rpartition("=")
    if key not in ("", "gc", "General_Category"):
        raise PatternError(f"the Unicode property {name!r} is not supported here")
    if value == "Any":
        return ((0, _LAST),)
    if value == "ASCII":
        return ((0, 0x7F),)
    category = _CATEGORIES.get(value.lower(), value)
    wanted = ("Lu", "Ll", "Lt") if category == "LC" else (category,)
    found = tuple(pair for name, pairs in _by_category().items() if name.startswith(wanted) for pair in pairs)
    if not found:
        raise PatternError(f"the Unicode property {name!r} is not supported here")
    return found


@functools.cache
def _by_category() -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, unicodedata.category("\0")
    for code in range(1, _LAST + 2):
        category = unicodedata.category(chr(code)) if code <= _LAST else ""
        if category != current:
            found.setdefault(current, []).append((start, code - 1))
            start, current = code, category
    return found
