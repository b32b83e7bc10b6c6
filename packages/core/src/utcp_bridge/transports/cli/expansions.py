"""Quotes and expansions of a bash command, and the placeholders in them.

Grammar: https://www.gnu.org/software/bash/manual/bash.html, "Quoting" and "Shell Expansions".
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace

from utcp_bridge.transports.cli.builtins import Attributes, of_value
from utcp_bridge.transports.cli.judging import lasting
from utcp_bridge.transports.cli.places import PLACEHOLDER, Demand, Place, Placeholder
from utcp_bridge.transports.cli.words import WordRecorder

_ESCAPABLE_IN_DOUBLE_QUOTES = frozenset('"\\$`\n')
_SUBSCRIPTED = re.compile(r"[A-Za-z_]\w*(?=\[)")
_ESCAPED_IN_BACKTICKS = re.compile(r"\\([$`\\])")
_ESCAPED_IN_QUOTED_BACKTICKS = re.compile(r"\\([$`\\\"])")
_SPECIAL_PARAMETERS = frozenset("$?!@*#-0123456789")
_PARAMETER_NAME = re.compile(r"[!#]?(?:\w+|[@*?$!#-])?")


class Expansions(ABC):
    """Walks them.

    A method that returns a bool passes its construct if one starts where the walk is, and says whether it did. All
    others start after the opening of theirs. Both end after its closing.

    Args:
        text: The command.
        known: What is known of variables before it.
        at: Where to start; default 0.

    Attributes:
        text: The command.
        at: Where the walk has come to.
        found: The placeholders up to there.
        known: What is known of variables there.
    """

    def __init__(self, text: str, known: Attributes, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.found: list[Placeholder] = []
        self.known = known
        self._demand = Demand.NOTHING
        self._in_document = False
        self._no_arithmetic: set[tuple[int, str, int]] = set()  # where one was tried, which takes 2^n when nested
        self._words = WordRecorder(text)

    @abstractmethod
    def commands(self, closing: str) -> None:
        """Commands, up to an unquoted `closing`; with an empty one, up to the end."""

    def _subscript(self, *, may_assign: bool) -> bool:
        """Pass `name[subscript]` of an assignment, or `[subscript]` of an element of an array."""
        start, is_evaluated = self.at, False
        if may_assign and (name := _SUBSCRIPTED.match(self.text, start)):
            self.at, is_evaluated = name.end(), (name[0], "A") not in self.known
        elif not self._words.array:
            return False
        count = len(self.found)
        is_passed = self._follows("[") and self._arithmetic(1, "]", is_evaluated=is_evaluated, place=Place.WORD)
        if is_passed and (self._follows("=") or self._follows("+=")):
            return True
        del self.found[count:]
        self._words.forget(count)
        self.at = start
        return False

    def _backticks(self, *, in_double_quotes: bool) -> None:
        """Commands in backticks, in which some backslashes are taken away before they are read."""
        start = self.at
        while self.at < len(self.text) and not self._follows("`"):
            self.at += 2 if self._follows("\\") else 1
        whole = self.text[start : self.at]
        self.at += 1
        escaped = _ESCAPED_IN_QUOTED_BACKTICKS if in_double_quotes else _ESCAPED_IN_BACKTICKS
        taken_away = {match.start() for match in escaped.finditer(whole)}
        # The last entry is what stands before the first character.
        places = [start + index for index in range(len(whole)) if index not in taken_away] + [start - 1]
        inside = type(self)("".join(self.text[place] for place in places[:-1]), self.known)
        inside.commands(closing="")
        self.known = lasting(self.known, inside.known)
        for found in inside.found:
            # What is taken away before a character belongs to it.
            (begin, end), *left_out = [(places[a - 1] + 1, places[b - 1] + 1) for a, b in (found.span, *found.left_out)]
            self.found.append(replace(found, start=begin, end=end, left_out=tuple(left_out)))

    def _quoted_or_expanded(self, char: str, *, single_quotes: bool) -> bool:
        """Pass a quoted string, an escaped character or an expansion."""
        if char == "\\":
            self.at += 2
        elif char == '"':
            self.at += 1
            self._double_quoted()
        elif char == "'" and single_quotes:
            self.at += 1
            self._literal(Place.SINGLE, "'")
        elif char == "`":
            self.at += 1
            self._backticks(in_double_quotes=not single_quotes and not self._in_document)
        elif char == "$":
            self._dollar(ansi_quotes=single_quotes)
        else:
            return False
        return True

    def _dollar(self, *, ansi_quotes: bool) -> None:
        if self._follows("$((") and self._arithmetic(3, "))"):
            return
        following = self.text[self.at + 1 : self.at + 2]
        if following == "[" and self._arithmetic(2, "]"):
            return
        self.at += 2
        if following == "(":
            self.commands(closing=")")
        elif following == "{":
            self._parameter(quoted=not ansi_quotes)
        elif following == "'" and ansi_quotes:
            self._literal(Place.ANSI, "'", escapes=True)
        elif following not in _SPECIAL_PARAMETERS:
            self.at -= 1

    def _double_quoted(self) -> None:
        while self.at < len(self.text):
            if self._placeholder(Place.DOUBLE):
                continue
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return
            self._inside_double_quotes(char)

    def _inside_double_quotes(self, char: str) -> None:
        if char == "\\" and self.text[self.at + 1 : self.at + 2] in _ESCAPABLE_IN_DOUBLE_QUOTES:
            self.at += 2
        elif char == "`":
            self.at += 1
            self._backticks(in_double_quotes=not self._in_document)
        elif char == "$":
            self._dollar(ansi_quotes=False)
        else:
            self.at += 1

    def _literal(self, place: Place, closing: str, *, escapes: bool = False) -> None:
        while self.at < len(self.text):
            if self._placeholder(place):
                continue
            char = self.text[self.at]
            self.at += 2 if escapes and char == "\\" else 1
            if char == closing:
                return

    def _parameter(self, *, quoted: bool) -> None:
        """`${name[subscript]operator word}`."""
        variable = ""
        if not self._placeholder(Place.VARIABLE_NAME) and (name := _PARAMETER_NAME.match(self.text, self.at)):
            if inside := PLACEHOLDER.search(name[0]):
                start = self.at + inside.start()
                self._add(start, self.at + inside.end(), inside[1], Place.VARIABLE_NAME)
            self.at = name.end()
            variable = name[0].lstrip("!#")
        if self.text.startswith("[", self.at):
            self._arithmetic(1, "]", is_evaluated=(variable, "A") not in self.known)
        operator = self.text[self.at : self.at + 2]
        demand = self._demand
        if operator == ":=" or operator[:1] == "=":
            self._demand = of_value(variable, self.known)
        elif operator[:1] == ":" and operator[1:] not in {"-", "?", "+"}:
            self._demand = Demand.NUMBER  # ${name:offset:length}
        single_quotes = not quoted or operator[:1] in {"#", "%", "/", "^", ","}
        while self.at < len(self.text):
            if self._placeholder(Place.DOUBLE if self._in_document else Place.WORD):
                continue
            char = self.text[self.at]
            if char == "}":
                self.at += 1
                break
            if not self._quoted_or_expanded(char, single_quotes=single_quotes):
                self.at += 1
        self._demand = demand

    def _arithmetic(self, skip: int, closing: str, *, is_evaluated: bool = True, place: Place = Place.DOUBLE) -> bool:
        """Pass an arithmetic expression, `skip` characters into which the expression itself begins.

        What looks like one may be none: `$((a); b)` is two subshells.
        """
        start, count, demand = self.at, len(self.found), self._demand
        attempt = (start, closing, len(self.text))
        if attempt in self._no_arithmetic:
            return False
        self.at += skip
        self._demand = Demand.NUMBER if is_evaluated else demand
        ended = self._expression(closing, place)
        self._demand = demand
        if not ended:
            self._no_arithmetic.add(attempt)
            self.at = start
            del self.found[count:]
            self._words.forget(count)
        return ended

    def _expression(self, closing: str, place: Place) -> bool:
        depth = 0
        opening = "(" if closing == "))" else "["
        while self.at < len(self.text):
            if self._placeholder(place):
                continue
            char = self.text[self.at]
            if char == closing[0] and depth == 0:
                self.at += len(closing)
                return self.text.startswith(closing, self.at - len(closing))
            depth += (char == opening) - (char == closing[0])
            if not self._quoted_or_expanded(char, single_quotes=True):
                self.at += 1
        return False

    def _placeholder(self, place: Place) -> bool:
        match = PLACEHOLDER.match(self.text, self.at)
        if match:
            self._add(match.start(), match.end(), match[1], place)
            self.at = match.end()
        return match is not None

    def _add(self, start: int, end: int, name: str, place: Place) -> None:
        self._words.holes.append((len(self.found), start, end))
        self.found.append(Placeholder(start, end, name, place, self._demand))

    def _follows(self, text: str) -> bool:
        return self.text.startswith(text, self.at)
