"""Walks a bash command once and finds its placeholders, with what surrounds each.

Grammar: https://www.gnu.org/software/bash/manual/bash.html, "Shell Syntax" and "Shell Expansions".
"""

from __future__ import annotations

import re
from dataclasses import replace

from utcp_bridge.transports.cli.builtins import Attributes, action_of_trap, judge
from utcp_bridge.transports.cli.places import PLACEHOLDER, Demand, Place, Placeholder
from utcp_bridge.transports.cli.words import WordRecorder

_ESCAPABLE_IN_DOUBLE_QUOTES = frozenset('"\\$`\n')
_WORD_ENDS = frozenset(" \t\n;&|()<>")
_COMMAND_ENDS = frozenset("\n;&|(")
_PLAIN_WORD = re.compile(r"[^\s;&|()<>\"'`$\\]+")
_BEFORE_COMMANDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "coproc"})
# `@((a)|b)` is a pattern, "Pattern Matching"; elsewhere `((` calculates, also right after a reserved word.
_BEFORE_PATTERNS = frozenset("@?*+")
_DELIMITER = re.compile(r"(-?)[ \t]*((?:\\.|'[^']*'|\"[^\"]*\"|[^\s;&|()<>'\"\\])+)")
_PARAMETER_NAME = re.compile(r"[!#]?(?:\w+|[@*?$!#-])?")


class Scanner:
    """Walks a command once; each method starts after the opening of its construct and ends after its closing."""

    def __init__(self, text: str, known: Attributes, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.found: list[Placeholder] = []
        self.tests: list[tuple[int, int]] = []
        self.known = known
        self._evaluated = False
        self._in_document = False
        self._words = WordRecorder(text)

    def commands(self, closing: str) -> None:
        """Commands, up to an unquoted `closing`; with an empty one, up to the end."""
        evaluated, self._evaluated = self._evaluated, False
        words, self._words = self._words, WordRecorder(self.text)
        self._commands(closing)
        self._evaluated, self._words = evaluated, words

    def _commands(self, closing: str) -> None:
        parentheses = cases = 0
        test_start: int | None = None
        documents: list[tuple[str, bool, bool]] = []
        at_word = at_command = True
        at_body = False  # between `function` and the `{` after its name
        after_time = False
        while self.at < len(self.text):
            if self._follows("\\\n"):  # the line goes on in the next, as if there were nothing
                self.at += 2
                continue
            char = self.text[self.at]
            if char not in _WORD_ENDS and not (at_word and char == "#"):
                self._words.begin(self.at)
            if self._placeholder(Place.WORD):
                at_word = at_command = False
                continue
            if at_word and char == "#":
                newline = self.text.find("\n", self.at)
                self.at = len(self.text) if newline < 0 else newline
                continue
            if at_word and (word := _PLAIN_WORD.match(self.text, self.at)) and not PLACEHOLDER.search(word[0]):
                if at_command and word[0] == "case":
                    cases += 1
                elif at_command and word[0] == "esac":
                    cases = max(0, cases - 1)
                elif at_command and word[0] == "[[":
                    test_start = word.end()
                elif word[0] == "]]" and test_start is not None:
                    self.tests.append((test_start, self.at))
                    test_start = None
                is_option_of_time = after_time and word[0] in {"-p", "--"}
                after_time = is_option_of_time or (at_command and word[0] == "time")
                at_command = is_option_of_time or ((at_command or at_body) and word[0] in _BEFORE_COMMANDS)
                at_body = word[0] == "function" or (at_body and word[0] != "{")
                at_word = False
                self.at = word.end()
                continue
            # In `case x in pattern)` the parenthesis closes nothing.
            if char == closing and not (char == ")" and (parentheses or cases)):
                self._command_ended(in_test=test_start is not None)
                self.at += 1
                return
            # After `)` there is a command in a case, and in a function that is declared as `name()`.
            at_command = char in _COMMAND_ENDS or char == ")" or (char in " \t" and at_command)
            is_pattern = not at_word and self.text[self.at - 1 : self.at] in _BEFORE_PATTERNS
            if self._follows("((") and not is_pattern and self._is_arithmetic(2, "))"):
                at_word = False
                continue
            at_word = char in _WORD_ENDS
            if self._follows("<(") or self._follows(">("):
                self._words.begin(self.at)
            elif at_word and self._words.separated(self.at):
                self._command_ended(in_test=test_start is not None)
            if char in "()":
                parentheses = max(0, parentheses + (1 if char == "(" else -1))
                self.at += 1
            elif self._follows("<(") or self._follows(">("):
                self.at += 2
                self.commands(closing=")")
            elif self._follows("<<<"):
                self._words.separated(self.at + 1)
                self._words.separated(self.at + 2)
                self.at += 3
            elif self._follows("<<") and (delimiter := _DELIMITER.match(self.text, self.at + 2)):
                quoting = re.compile(r"[\\'\"]")
                quoted = quoting.search(delimiter[2]) is not None
                documents.append((quoting.sub("", delimiter[2]), quoted, delimiter[1] == "-"))
                self._words.document()
                self.at = delimiter.end()
            elif not self._quoted_or_expanded(char, single_quotes=True):
                self.at += 1
            if char == "\n" and documents:
                for document in documents:
                    self._here_document(*document)
                documents.clear()
        self._command_ended(in_test=False)

    def _command_ended(self, *, in_test: bool) -> None:
        words = self._words.take(self.at)
        if in_test or not words:
            return
        demands, self.known = judge(words, self.known)
        for index, demand in demands:
            if self.found[index].demand is Demand.NOTHING:
                self.found[index] = replace(self.found[index], demand=demand)
        if action := action_of_trap(words):
            # It is scanned once more as what it will be then: a command. A reference that stays one word there has
            # no single quotes, so it can stand in them.
            inside = Scanner(self.text[: action.end - 1], self.known, action.start + 1)
            inside.commands(closing="")
            self.tests += inside.tests
            later = {found.start: found for found in inside.found}
            for index, start, _ in action.holes:
                self.found[index] = later.get(start, self.found[index])

    def _quoted_or_expanded(self, char: str, *, single_quotes: bool) -> bool:
        """Pass a quoted string, an escaped character or an expansion, if one starts here."""
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
            self.commands(closing="`")
        elif char == "$":
            self._dollar(ansi_quotes=single_quotes)
        else:
            return False
        return True

    def _dollar(self, *, ansi_quotes: bool) -> None:
        if self._follows("$((") and self._is_arithmetic(3, "))"):
            return
        following = self.text[self.at + 1 : self.at + 2]
        if following == "[" and self._is_arithmetic(2, "]"):
            return
        self.at += 2
        if following == "(":
            self.commands(closing=")")
        elif following == "{":
            self._parameter(quoted=not ansi_quotes)
        elif following == "'" and ansi_quotes:
            self._literal(Place.ANSI, "'", escapes=True)
        else:
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
            self.commands(closing="`")
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
        is_evaluated = True
        if not self._placeholder(Place.VARIABLE_NAME) and (name := _PARAMETER_NAME.match(self.text, self.at)):
            if inside := PLACEHOLDER.search(name[0]):
                start = self.at + inside.start()
                self._add(start, self.at + inside.end(), inside[1], Place.VARIABLE_NAME)
            self.at = name.end()
            is_evaluated = (name[0].lstrip("!#"), "A") not in self.known
        if self.text.startswith("[", self.at):
            self._is_arithmetic(1, "]", is_evaluated=is_evaluated)
        operator = self.text[self.at : self.at + 2]
        evaluated = self._evaluated
        if operator[:1] == ":" and operator[1:] not in {"-", "=", "?", "+"}:
            self._evaluated = True  # ${name:offset:length}
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
        self._evaluated = evaluated

    def _is_arithmetic(self, skip: int, closing: str, *, is_evaluated: bool = True) -> bool:
        """Pass an arithmetic expression; if this is none (`$((a); b)` is two subshells), go back and say so."""
        start, count, evaluated = self.at, len(self.found), self._evaluated
        self.at += skip
        self._evaluated = is_evaluated or evaluated
        ended = self._arithmetic(closing)
        self._evaluated = evaluated
        if not ended:
            self.at = start
            del self.found[count:]
            self._words.forget(count)
        return ended

    def _arithmetic(self, closing: str) -> bool:
        depth = 0
        opening = "(" if closing == "))" else "["
        while self.at < len(self.text):
            if self._placeholder(Place.DOUBLE):
                continue
            char = self.text[self.at]
            if char == closing[0] and depth == 0:
                self.at += len(closing)
                return self.text.startswith(closing, self.at - len(closing))
            depth += (char == opening) - (char == closing[0])
            if not self._quoted_or_expanded(char, single_quotes=True):
                self.at += 1
        return False

    def _here_document(self, delimiter: str, quoted: bool, strip_tabs: bool) -> None:
        start = end = following = self.at
        while following < len(self.text):
            end = following
            newline = self.text.find("\n", end)
            following = len(self.text) if newline < 0 else newline + 1
            line = self.text[end:following].rstrip("\n")
            if (line.lstrip("\t") if strip_tabs else line) == delimiter:
                break
        else:
            end = following
        whole, self.text, self.at = self.text, self.text[:end], start
        if quoted:
            self._literal(Place.QUOTED_DOCUMENT, closing="")
        else:
            self._in_document = True
            while self.at < end:
                if not self._placeholder(Place.DOUBLE):
                    self._inside_double_quotes(self.text[self.at])
            self._in_document = False
        self.text, self.at = whole, following

    def _placeholder(self, place: Place) -> bool:
        match = PLACEHOLDER.match(self.text, self.at)
        if match:
            self._add(match.start(), match.end(), match[1], place)
            self.at = match.end()
        return match is not None

    def _add(self, start: int, end: int, name: str, place: Place) -> None:
        self._words.holes.append((len(self.found), start, end))
        demand = Demand.NUMBER if self._evaluated else Demand.NOTHING
        self.found.append(Placeholder(start, end, name, place, demand))

    def _follows(self, text: str) -> bool:
        return self.text.startswith(text, self.at)
