"""Where the placeholders of a bash command stand: pure text work, no shell is started.

A placeholder, `UTCP_ARG_name_UTCP_END`, is replaced by a reference to a variable that holds the value, so the
shell never parses the value. Which reference keeps the value one literal word depends on what surrounds the
placeholder. utcp-cli 1.1.5 looks at the quotes alone, so `"$(ls UTCP_ARG_dir_UTCP_END)"` splits the value into
words and `$((UTCP_ARG_n_UTCP_END + 1))` evaluates it, command substitutions included. Here the whole nesting
counts. What a command hands to something that evaluates text by itself (`eval`, `let`, `sh -c`, `ssh`, a program in
awk or SQL) is out of sight: its author passes such a value as an argument, `sh -c 'ls "$1"' _ UTCP_ARG_dir_UTCP_END`.
Grammar: https://www.gnu.org/software/bash/manual/bash.html, "Shell Syntax" and "Shell Expansions".
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from enum import Enum

# Any property name of a schema may be written between the marks, not only [a-zA-Z0-9_]+ as in utcp-cli 1.1.5.
PLACEHOLDER = re.compile(r"UTCP_ARG_((?:(?!UTCP_ARG_).)+?)_UTCP_END")

_ESCAPABLE_IN_DOUBLE_QUOTES = frozenset('"\\$`\n')
_WORD_ENDS = frozenset(" \t\n;&|()<>")
_COMMAND_ENDS = frozenset("\n;&|(")
_PLAIN_WORD = re.compile(r"[^\s;&|()<>\"'`$\\]+")
_BEFORE_COMMANDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time"})
_DELIMITER = re.compile(r"(-?)[ \t]*((?:\\.|'[^']*'|\"[^\"]*\"|[^\s;&|()<>'\"\\])+)")
_PARAMETER_NAME = re.compile(r"[!#]?(?:\w+|[@*?$!#-])?")
# Operators of `[[` that evaluate their operands, which can run commands: `a[$(id)]`.
_EVALUATING_TEST = re.compile(r"(?:^|\s)-(?:eq|ne|lt|le|gt|ge|v|R)(?:\s|$)")
_TEST_SEPARATOR = re.compile(r"&&|\|\|")


class Place(Enum):
    """What surrounds a placeholder."""

    WORD = "outside quotes"
    DOUBLE = "inside double quotes or a here-document"
    SINGLE = "inside single quotes"
    ANSI = "inside $'...'"
    QUOTED_DOCUMENT = "inside a here-document with a quoted delimiter"
    VARIABLE_NAME = "as the name of a variable"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One placeholder in a command.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        name: The argument that it stands for.
        place: What surrounds it.
        evaluated: Whether the shell evaluates the text there as arithmetic, so that only a number is safe.
    """

    start: int
    end: int
    name: str
    place: Place
    evaluated: bool


@functools.lru_cache(maxsize=1024)
def find_placeholders(command: str) -> tuple[Placeholder, ...]:
    """The placeholders of a bash command, in order. Those in comments are left out: nothing reads them."""
    if "UTCP_ARG_" not in command:
        return ()
    scanner = _Scanner(command)
    scanner.commands(closing="")
    return tuple(
        replace(found, evaluated=True) if _is_evaluated(command, found, scanner.tests) else found
        for found in scanner.found
    )


def _is_evaluated(command: str, found: Placeholder, tests: list[tuple[int, int]]) -> bool:
    before, after = command[: found.start], command[found.end :]
    if re.search(r"(?:^|[\s;&|(])[A-Za-z_]\w*\[[^\]\s]*$", before) and re.match(r"[^\]\s]*\]\+?=", after):
        return True  # a[UTCP_ARG_i_UTCP_END]=x
    for start, end in tests:
        if start <= found.start < end:
            left = _TEST_SEPARATOR.split(command[start : found.start])[-1]
            right = _TEST_SEPARATOR.split(command[found.end : end])[0]
            return bool(_EVALUATING_TEST.search(f"{left}x{right}"))
    return False


class _Scanner:
    """Walks a command once; each method starts after the opening of its construct and ends after its closing."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.found: list[Placeholder] = []
        self.tests: list[tuple[int, int]] = []
        self._evaluated = False
        self._in_document = False

    def commands(self, closing: str) -> None:
        """Commands, up to an unquoted `closing`; with an empty one, up to the end."""
        evaluated, self._evaluated = self._evaluated, False
        self._commands(closing)
        self._evaluated = evaluated

    def _commands(self, closing: str) -> None:
        parentheses = cases = 0
        test_start: int | None = None
        documents: list[tuple[str, bool, bool]] = []
        at_word = at_command = True
        while self.at < len(self.text):
            if self._placeholder(Place.WORD):
                at_word = at_command = False
                continue
            char = self.text[self.at]
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
                at_command = at_command and word[0] in _BEFORE_COMMANDS
                at_word = False
                self.at = word.end()
                continue
            # In `case x in pattern)` the parenthesis closes nothing.
            if char == closing and not (char == ")" and (parentheses or cases)):
                self.at += 1
                return
            at_command = char in _COMMAND_ENDS or (char in " \t" and at_command) or (char == ")" and cases > 0)
            if char == "(" and at_word and self._follows("((") and self._is_arithmetic(2, "))"):
                at_word = False
                continue
            at_word = char in _WORD_ENDS
            if char in "()":
                parentheses = max(0, parentheses + (1 if char == "(" else -1))
                self.at += 1
            elif self._follows("<(") or self._follows(">("):
                self.at += 2
                self.commands(closing=")")
            elif self._follows("<<<"):
                self.at += 3
            elif self._follows("<<") and (delimiter := _DELIMITER.match(self.text, self.at + 2)):
                quoting = re.compile(r"[\\'\"]")
                quoted = quoting.search(delimiter[2]) is not None
                documents.append((quoting.sub("", delimiter[2]), quoted, delimiter[1] == "-"))
                self.at = delimiter.end()
            elif not self._quoted_or_expanded(char, single_quotes=True):
                self.at += 1
            if char == "\n" and documents:
                for document in documents:
                    self._here_document(*document)
                documents.clear()

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
        if not self._placeholder(Place.VARIABLE_NAME) and (name := _PARAMETER_NAME.match(self.text, self.at)):
            if inside := PLACEHOLDER.search(name[0]):
                start = self.at + inside.start()
                self._add(start, self.at + inside.end(), inside[1], Place.VARIABLE_NAME)
            self.at = name.end()
        if self.text.startswith("[", self.at):
            self._is_arithmetic(1, "]")
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

    def _is_arithmetic(self, skip: int, closing: str) -> bool:
        """Pass an arithmetic expression; if this is none (`$((a); b)` is two subshells), go back and say so."""
        start, count, evaluated = self.at, len(self.found), self._evaluated
        self.at += skip
        self._evaluated = True
        ended = self._arithmetic(closing)
        self._evaluated = evaluated
        if not ended:
            self.at = start
            del self.found[count:]
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
        self.found.append(Placeholder(start, end, name, place, self._evaluated))

    def _follows(self, text: str) -> bool:
        return self.text.startswith(text, self.at)
