"""Walks a bash command once and finds its placeholders, with what surrounds each.

Grammar: https://www.gnu.org/software/bash/manual/bash.html, "Shell Syntax" and "Shell Expansions".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from utcp_bridge.transports.cli.builtins import Attributes
from utcp_bridge.transports.cli.expansions import Expansions
from utcp_bridge.transports.cli.judging import BEFORE_COMMANDS, action_of_trap, judge, lasting, of_test
from utcp_bridge.transports.cli.places import PLACEHOLDER, Demand, Place
from utcp_bridge.transports.cli.words import WordRecorder, optional_words

_WORD_ENDS = frozenset(" \t\n;&|()<>")
# After `)` there is a command in a case, and in a function that is declared as `name()`.
_COMMAND_ENDS = frozenset("\n;&|()")
_PLAIN_WORD = re.compile(r"[^\s;&|()<>\"'`$\\]+")
# `@((a)|b)` is a pattern, "Pattern Matching"; elsewhere `((` calculates, also right after a reserved word.
_BEFORE_PATTERNS = frozenset("@?*+")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_DELIMITER = re.compile(r"(-?)[ \t]*((?:\\.|'[^']*'|\"[^\"]*\"|[^\s;&|()<>'\"\\])+)")
_QUOTING = re.compile(r"[\\'\"]")


@dataclass(slots=True)
class _Document:
    delimiter: str
    quoted: bool
    strip_tabs: bool


@dataclass(slots=True)
class _Commands:
    """Where the walk is in one list of commands: the whole text, or a substitution in it.

    Attributes:
        at_word: A word may begin here.
        at_command: A simple command or a reserved word may begin here.
        may_assign: Nothing but assignments stands before in the simple command.
        bodies: How many words after `function` or `coproc` may still begin a command: its name, and a body.
        in_test: It is between `[[` and `]]`.
        cases: How many `case` are open; the parenthesis after a pattern of theirs closes nothing.
        parentheses: How many parentheses are open.
        groups: What was known of variables before each group of commands that is open.
        documents: The here-documents that begin with the next line.
    """

    at_word: bool = True
    at_command: bool = True
    may_assign: bool = True
    bodies: int = 0
    in_test: bool = False
    cases: int = 0
    parentheses: int = 0
    groups: list[Attributes] = field(default_factory=list)
    documents: list[_Document] = field(default_factory=list)


class Scanner(Expansions):
    """Walks a command once."""

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
        here = _Commands()
        while self.at < len(self.text):
            if self._follows("\\\n"):  # the line goes on in the next, as if there were nothing
                self.at += 2
                continue
            char = self.text[self.at]
            if here.at_word and char == "#":
                self.at = self._line_end(self.at)
                continue
            if char not in _WORD_ENDS:
                self._words.begin(self.at)
            if self._placeholder(Place.WORD):
                here.may_assign = here.may_assign and not here.at_word
                here.at_word = here.at_command = False
                continue
            if here.at_word and self._subscript(may_assign=here.may_assign):
                here.at_word = here.at_command = False
                continue
            if here.at_word and char not in _WORD_ENDS:
                here.may_assign = here.may_assign and _ASSIGNED.match(self.text, self.at) is not None
            plain = _PLAIN_WORD.match(self.text, self.at) if here.at_word else None
            if plain and not PLACEHOLDER.search(plain[0]):
                self._plain_word(plain[0], here)
            elif char == closing and not (char == ")" and (here.parentheses or here.cases)):
                self._command_ended(in_test=here.in_test)
                self.at += 1
                return
            else:
                self._other(char, here)
        self._command_ended(in_test=False)

    def _plain_word(self, word: str, here: _Commands) -> None:
        """A word without quotes and expansions, which may be a reserved one."""
        begins = here.at_command or here.bodies > 0
        if begins and word == "case":
            here.cases += 1
        elif begins and word == "esac":
            here.cases = max(0, here.cases - 1)
        elif begins and word == "{":
            here.groups.append(self.known)
        elif begins and word == "}" and here.groups:
            self._command_ended(in_test=False)
            self._group_ended(here)
        elif begins and word == "[[":
            here.in_test = True
        elif here.in_test and word == "]]":
            self._command_ended(in_test=True)
            here.in_test = False
        here.at_word = False
        here.at_command = begins and word in BEFORE_COMMANDS
        here.may_assign = here.may_assign or here.at_command
        here.bodies = 2 if word in {"function", "coproc"} else max(0, here.bodies - 1)
        self.at += len(word)

    def _other(self, char: str, here: _Commands) -> None:
        """An operator, a blank, or a part of a word that is not plain."""
        here.at_command = char in _COMMAND_ENDS or (char in " \t" and here.at_command)
        here.may_assign = here.may_assign or here.at_command
        is_pattern = not here.at_word and self.text[self.at - 1 : self.at] in _BEFORE_PATTERNS
        if self._follows("((") and not is_pattern and self._arithmetic(2, "))"):
            here.at_word = False
            return
        here.at_word = char in _WORD_ENDS
        if self._follows("<(") or self._follows(">("):
            self._words.begin(self.at)
            self.at += 2
            self.commands(closing=")")
            return
        if here.at_word and self._words.separated(self.at):
            self._command_ended(in_test=here.in_test)
        if char == "(":
            here.parentheses += 1
            here.groups.append(self.known)
            self.at += 1
        elif char == ")":
            here.parentheses = max(0, here.parentheses - 1)
            self._group_ended(here)
            self.at += 1
        elif char == "\n":
            self.at += 1
            for document in here.documents:
                self._here_document(document)
            here.documents.clear()
        elif self._follows("<<<"):
            self._words.separated(self.at + 1)
            self._words.separated(self.at + 2)
            self.at += 3
        elif self._follows("<<") and (delimiter := _DELIMITER.match(self.text, self.at + 2)):
            quoted = _QUOTING.search(delimiter[2]) is not None
            here.documents.append(_Document(_QUOTING.sub("", delimiter[2]), quoted, delimiter[1] == "-"))
            self._words.document()
            self.at = delimiter.end()
        elif not self._quoted_or_expanded(char, single_quotes=True):
            self.at += 1

    def _group_ended(self, here: _Commands) -> None:
        if here.groups:
            self.known = lasting(here.groups.pop(), self.known)

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

    def _here_document(self, document: _Document) -> None:
        start = end = following = self.at
        while following < len(self.text):
            end, following = following, min(self._line_end(following) + 1, len(self.text))
            line = self.text[end:following].rstrip("\n")
            if (line.lstrip("\t") if document.strip_tabs else line) == document.delimiter:
                break
        else:
            end = following
        whole, self.text, self.at = self.text, self.text[:end], start
        if document.quoted:
            self._literal(Place.QUOTED_DOCUMENT, closing="")
        else:
            self._in_document = True
            while self.at < end:
                if not self._placeholder(Place.DOUBLE):
                    self._inside_double_quotes(self.text[self.at])
            self._in_document = False
        self.text, self.at = whole, following

    def _line_end(self, at: int) -> int:
        newline = self.text.find("\n", at)
        return len(self.text) if newline < 0 else newline
