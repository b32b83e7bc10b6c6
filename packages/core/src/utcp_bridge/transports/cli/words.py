"""The words of the simple command that is being scanned, as far as it takes to tell what each is to the command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from utcp_bridge.transports.cli.places import PLACEHOLDER

_ASSIGNED_ARRAY = re.compile(r"([A-Za-z_]\w*)\+?=")
_DESCRIPTOR = re.compile(r"[0-9]+|\{\w+(?:\[.*\])?\}", re.DOTALL)
_FLAG = re.compile(r"--?([A-Za-z][\w-]*)")
_FLAG_BEFORE_VALUE = re.compile(r"--?[A-Za-z][\w-]*=")
_NO_LETTERS = re.compile(r"[\W_]+")
_QUOTING = re.compile(r"\\(.)|[\"']|\$(?=[\"'])", re.DOTALL)


@dataclass(slots=True)
class Word:
    """One word of a simple command.

    Attributes:
        text: The whole command line.
        start: Index of its first character.
        redirection: The operator that it is the operand of, such as `>&`; `{}` for `{name[subscript]}` before one;
            empty for all other words.
        element_of: The array whose list it is an element of, as in `name=(word)`; empty for all other words.
        end: Index after its last character.
        holes: Where its placeholders are: index among those found, start and end. Without those in commands inside.
    """

    text: str
    start: int
    redirection: str = ""
    element_of: str = ""
    end: int = -1
    holes: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def raw(self) -> str:
        """It as it is written."""
        return self.text[self.start : self.end]

    @property
    def literal(self) -> str:
        """It without its quotes; expansions stay as they are written."""
        return _unquoted(self.raw)

    def before(self, hole: tuple[int, int, int]) -> str:
        """What stands before a placeholder in it, without quotes."""
        return _unquoted(self.text[self.start : hole[1]])

    def after(self, hole: tuple[int, int, int]) -> str:
        """What stands after a placeholder in it, without quotes."""
        return _unquoted(self.text[hole[2] : self.end])


class WordRecorder:
    """Is told of each character between the words of a command, and hands over the words of each simple command.

    Args:
        text: The whole command line.

    Attributes:
        array: The array whose list is open; empty if none is.
    """

    def __init__(self, text: str) -> None:
        self.array = ""
        self._text = text
        self._words: list[Word] = []
        self._open: Word | None = None
        self._redirection = ""
        self._depth = 0

    @property
    def holes(self) -> list[tuple[int, int, int]]:
        """The list that placeholders found now go to; nobody reads that of placeholders that are in no word."""
        return self._open.holes if self._open is not None else []

    def begin(self, at: int) -> None:
        """There is a character of a word here; it begins one if none has begun."""
        if self._open is None:
            self._open = Word(self._text, at, self._redirection, self.array)
            self._redirection = ""

    def separated(self, at: int) -> bool:
        """There is a character here that ends words; say whether it ends the simple command too."""
        char, before, after = self._text[at], self._text[at - 1 : at], self._text[at + 1 : at + 2]
        if char == "(" and self._open is not None and not self.array:
            opens = _ASSIGNED_ARRAY.fullmatch(self._text, self._open.start, at)
            if opens:
                self._end(at)
                self.array, self._depth = opens[1], 1
                return False
        if self.array:
            self._end(at)
            self._depth += (char == "(") - (char == ")")
            if not self._depth:
                self.array = ""
            return False
        if char in "<>":
            self._redirected(at)
            return False
        if (char == "&" and (before in {"<", ">"} or after == ">")) or (char == "|" and before == ">"):
            self._end(at)
            self._redirection += char
            return False
        self._end(at)
        return char not in " \t"

    def forget(self, count: int) -> None:
        """Of the placeholders found, only so many are kept."""
        self.holes[:] = [hole for hole in self.holes if hole[0] < count]

    def document(self) -> None:
        """The operator just seen was that of a here-document, whose delimiter is no word."""
        self._redirection = ""

    def _end(self, at: int) -> None:
        if self._open is not None:
            self._open.end = at
            self._words.append(self._open)
            self._open = None

    def take(self, at: int) -> list[Word]:
        """The words of the simple command that ends here; the next one begins."""
        self._end(at)
        words, self._words = self._words, []
        self._redirection = ""
        return words

    def _redirected(self, at: int) -> None:
        self._redirection += self._text[at]
        if self._open is None:
            return
        if _DESCRIPTOR.fullmatch(self._text, self._open.start, at):
            self._redirection = self._text[self._open.start : at] + self._redirection
            if "[" in self._redirection:
                self._open.end, self._open.redirection = at, "{}"
                self._words.append(self._open)
            self._open = None
        else:
            self._end(at)


def optional_words(words: Sequence[Word]) -> Iterator[tuple[int, tuple[tuple[int, int], ...]]]:
    """Placeholders that are the value of a flag, and what to leave out with them: the flag too.

    That is `--name=value` in one word, or in two words a flag that is called as the argument: before another argument
    may stand a flag that takes none, as in `--verbose UTCP_ARG_file_UTCP_END`.
    """
    for at, word in enumerate(words):
        if len(word.holes) != 1 or word.redirection or word.after(word.holes[0]):
            continue
        hole, before = word.holes[0], word.before(word.holes[0])
        flag = words[at - 1] if at and not before else None
        if _FLAG_BEFORE_VALUE.fullmatch(before):
            yield hole[0], ((word.start, word.end),)
        elif flag is not None and _is_called(flag, word.text[hole[1] : hole[2]]) and not flag.redirection:
            yield hole[0], ((flag.start, flag.end), (word.start, word.end))


def _is_called(flag: Word, placeholder: str) -> bool:
    name, argument = _FLAG.fullmatch(flag.literal), PLACEHOLDER.fullmatch(placeholder)
    if flag.holes or name is None or argument is None:
        return False
    return _NO_LETTERS.sub("", name[1]).lower() == _NO_LETTERS.sub("", argument[1]).lower()


def _unquoted(text: str) -> str:
    return _QUOTING.sub(lambda match: (match[1] or "").removeprefix("\n"), text)
