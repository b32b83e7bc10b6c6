"""Walks a bash command once and finds its placeholders, with what surrounds each.

Grammar: https://www.gnu.org/software/bash/manual/bash.html, "Shell Syntax" and "Shell Expansions".
"""

from __future__ import annotations

import re
from dataclasses import replace

from utcp_bridge.transports.cli.builtins import Attributes
from utcp_bridge.transports.cli.expansions import Expansions
from utcp_bridge.transports.cli.judging import action_of_trap, judge, lasting, of_test
from utcp_bridge.transports.cli.places import PLACEHOLDER, Demand, Place
from utcp_bridge.transports.cli.words import WordRecorder, optional_words

_WORD_ENDS = frozenset(" \t\n;&|()<>")
_COMMAND_ENDS = frozenset("\n;&|(")
_PLAIN_WORD = re.compile(r"[^\s;&|()<>\"'`$\\]+")
_BEFORE_COMMANDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "coproc"})
# `@((a)|b)` is a pattern, "Pattern Matching"; elsewhere `((` calculates, also right after a reserved word.
_BEFORE_PATTERNS = frozenset("@?*+")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_DELIMITER = re.compile(r"(-?)[ \t]*((?:\\.|'[^']*'|\"[^\"]*\"|[^\s;&|()<>'\"\\])+)")


class Scanner(Expansions):
    """Walks a command once; each method starts after the opening of its construct and ends after its closing."""

    def commands(self, closing: str) -> None:
        """Commands, up to an unquoted `closing`; with an empty one, up to the end."""
        demand, self._demand = self._demand, Demand.NOTHING
        words, self._words = self._words, WordRecorder(self.text)
        known, in_document, self._in_document = self.known, self._in_document, False
        self._commands(closing)
        if closing:
            self.known = lasting(known, self.known)
        self._demand, self._words, self._in_document = demand, words, in_document

    def _commands(self, closing: str) -> None:
        parentheses = cases = 0
        in_test = False
        groups: list[Attributes] = []
        documents: list[tuple[str, bool, bool]] = []
        at_word = at_command = True
        may_assign = True  # nothing but assignments stands before
        bodies = 0  # how many words after `function` or `coproc` may still begin a command: its name, and a body
        after_time = False
        while self.at < len(self.text):
            if self._follows("\\\n"):  # the line goes on in the next, as if there were nothing
                self.at += 2
                continue
            char = self.text[self.at]
            if char not in _WORD_ENDS and not (at_word and char == "#"):
                self._words.begin(self.at)
            if self._placeholder(Place.WORD):
                may_assign = may_assign and not at_word
                at_word = at_command = False
                continue
            if at_word and char == "#":
                newline = self.text.find("\n", self.at)
                self.at = len(self.text) if newline < 0 else newline
                continue
            if at_word and self._subscript(may_assign=may_assign):
                at_word = at_command = False
                continue
            if at_word and char not in _WORD_ENDS:
                may_assign = may_assign and _ASSIGNED.match(self.text, self.at) is not None
            if at_word and (word := _PLAIN_WORD.match(self.text, self.at)) and not PLACEHOLDER.search(word[0]):
                begins = at_command or bodies > 0
                if begins and word[0] == "case":
                    cases += 1
                elif begins and word[0] == "esac":
                    cases = max(0, cases - 1)
                elif begins and word[0] == "{":
                    groups.append(self.known)
                elif begins and word[0] == "}" and groups:
                    self._command_ended(in_test=False)
                    self.known = lasting(groups.pop(), self.known)
                elif begins and word[0] == "[[":
                    in_test = True
                elif in_test and word[0] == "]]":
                    self._command_ended(in_test=True)
                    in_test = False
                is_option_of_time = after_time and word[0] in {"-p", "--"}
                after_time = is_option_of_time or (at_command and word[0] == "time")
                at_command = is_option_of_time or (begins and word[0] in _BEFORE_COMMANDS)
                may_assign = may_assign or at_command
                bodies = 2 if word[0] in {"function", "coproc"} else max(0, bodies - 1)
                at_word = False
                self.at = word.end()
                continue
            # In `case x in pattern)` the parenthesis closes nothing.
            if char == closing and not (char == ")" and (parentheses or cases)):
                self._command_ended(in_test=in_test)
                self.at += 1
                return
            # After `)` there is a command in a case, and in a function that is declared as `name()`.
            at_command = char in _COMMAND_ENDS or char == ")" or (char in " \t" and at_command)
            may_assign = may_assign or at_command
            is_pattern = not at_word and self.text[self.at - 1 : self.at] in _BEFORE_PATTERNS
            if self._follows("((") and not is_pattern and self._is_arithmetic(2, "))"):
                at_word = False
                continue
            at_word = char in _WORD_ENDS
            if self._follows("<(") or self._follows(">("):
                self._words.begin(self.at)
            elif at_word and self._words.separated(self.at):
                self._command_ended(in_test=in_test)
            if char in "()":
                parentheses = max(0, parentheses + (1 if char == "(" else -1))
                if char == "(":
                    groups.append(self.known)
                elif groups:
                    self.known = lasting(groups.pop(), self.known)
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
        if in_test:
            for index, demand in of_test(words, self.found):
                self._require(index, demand)
            return
        demands, self.known = judge(words, self.known)
        for index, demand in demands:
            self._require(index, demand)
        for index, spans in optional_words(words):
            self.found[index] = replace(self.found[index], left_out=spans)
        if action := action_of_trap(words):
            # It is scanned once more as what it will be then: a command. A reference that stays one word there has
            # no single quotes, so it can stand in them.
            inside = Scanner(self.text[: action.end - 1], self.known, action.start + 1)
            inside.commands(closing="")
            later = {found.start: found for found in inside.found}
            for index, start, _ in action.holes:
                self.found[index] = later.get(start, self.found[index])

    def _require(self, index: int, demand: Demand) -> None:
        if self.found[index].demand is Demand.NOTHING:
            self.found[index] = replace(self.found[index], demand=demand)

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
