"""What bash's own commands do with the words that they are given: some calculate with one, or take it for a name.

Arithmetic evaluates the subscripts of variables, and a name may have a subscript, so that `let x[$(id)]`,
`read 'x[$(id)]'` and `test -v 'x[$(id)]'` all run `id`. Only what a command's text tells is judged here: whether a
variable that an argument was assigned to is calculated with later, nobody can tell without running it.
Source: https://www.gnu.org/software/bash/manual/bash.html, "Shell Builtin Commands" and "Shell Arithmetic"; tried out
with bash 5.2.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from utcp_bridge.transports.cli.places import Demand
from utcp_bridge.transports.cli.words import Word

Attributes: TypeAlias = frozenset[tuple[str, str]]
"""What is known of variables: name, and the letter of the option of `declare` that gives the attribute."""
Demands: TypeAlias = Iterator[tuple[int, Demand]]
"""The index of a placeholder, and what its value must be like."""

BUILT_IN: Attributes = frozenset((name, "i") for name in ("RANDOM", "SRANDOM", "OPTIND"))
"""Integers of the shell's own."""

_BEFORE_COMMANDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "coproc"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=")
# The shell expands these before it prints or reads: PS4 with `set -x`, the others when a shell starts.
_EXPANDED = frozenset({"PS4", "BASH_ENV", "ENV"})


def judge(words: Sequence[Word], known: Attributes) -> tuple[list[tuple[int, Demand]], Attributes]:
    """Judge the placeholders of a simple command.

    Args:
        words: Its words, with redirections and the elements of arrays.
        known: The attributes of variables that earlier commands have set.

    Returns:
        The demands that are made, the strictest of a placeholder first; and the attributes that are known after it.
    """
    assignments, command = _divided([word for word in words if not word.redirection and not word.element_of])
    name = command[0].literal if command else ""
    known |= _arrays(words)
    if name in _DECLARING:
        known |= _declared(command[1:])
    demands = [*_of_assignments(assignments, known), *_of_elements(words, known)]
    if name in _BUILTINS:
        demands += _BUILTINS[name](command[1:], known)
    for word in words:
        if word.redirection == ">&":
            demands += _all((word,), Demand.EXPANDED)
        elif word.redirection == "<<<" and name == "read" and _names_an_integer(command[1:], known):
            demands += _all((word,), Demand.NUMBER)
    return demands, known


def action_of_trap(words: Sequence[Word]) -> Word | None:
    """The word that a `trap` runs later, if it is one text in single quotes, which nothing in it is expanded in now."""
    _, command = _divided([word for word in words if not word.redirection])
    if not command or command[0].literal != "trap":
        return None
    _, operands, _ = _options(command[1:], "")
    action = operands[0] if operands else None
    return action if action is not None and re.fullmatch(r"'[^']*'", action.raw) else None


def of_name(word: Word, hole: tuple[int, int, int], *, is_set: bool) -> Demand:
    """What the name of a variable demands of a placeholder in it.

    Args:
        word: The word that holds the name.
        hole: The placeholder.
        is_set: Whether the variable is set; if only the value says which, that may be `PATH`.
    """
    before = word.before(hole)
    if "[" in before:
        return Demand.NUMBER
    return Demand.NEVER if is_set and not before else Demand.NAME


def _divided(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The assignments before a command, and the command with its arguments."""
    assignments, at = [], 0
    while at < len(words):
        word = words[at]
        if _ASSIGNMENT.match(word.raw):
            assignments.append(word)
        elif word.literal == "function" or (
            word.literal == "coproc" and [w.literal for w in words[at + 2 : at + 3]] == ["{"]
        ):
            at += 1  # and its name
        elif word.literal in {"command", "builtin"}:
            while at + 1 < len(words) and re.fullmatch(r"-p|--", words[at + 1].literal):
                at += 1
        elif word.literal not in _BEFORE_COMMANDS and not _is_option_of_time(words, at):
            break
        at += 1
    return assignments, list(words[at:])


def _is_option_of_time(words: Sequence[Word], at: int) -> bool:
    before = next((word.raw for word in reversed(words[:at]) if word.raw not in {"-p", "--"}), "")
    return words[at].raw in {"-p", "--"} and before == "time"


def _arrays(words: Sequence[Word]) -> Attributes:
    assigned = (_ASSIGNMENT.fullmatch(word.raw) for word in words if word.text.startswith("(", word.end))
    return frozenset((array[1], "a") for array in assigned if array)


def _all(words: Iterable[Word], demand: Demand) -> Demands:
    for word in words:
        for hole in word.holes:
            yield hole[0], demand


def _names(words: Iterable[Word], *, is_set: bool) -> Demands:
    for word in words:
        for hole in word.holes:
            yield hole[0], of_name(word, hole, is_set=is_set)


def _of_assignments(words: Sequence[Word], known: Attributes) -> Demands:
    for word in words:
        assigned = _ASSIGNMENT.match(word.raw)
        name = assigned[1] if assigned else ""
        for hole in word.holes:
            if (demand := _of_value(name, known)) is not Demand.NOTHING:
                yield hole[0], demand


def _of_elements(words: Sequence[Word], known: Attributes) -> Demands:
    for word in words:
        for hole in word.holes if word.element_of else ():
            is_subscript = word.raw.startswith("[") and "]=" not in word.before(hole) and "]" in word.after(hole)
            if (is_subscript and (word.element_of, "A") not in known) or (word.element_of, "i") in known:
                yield hole[0], Demand.NUMBER


def _of_value(name: str, known: Attributes) -> Demand:
    if (name, "i") in known:
        return Demand.NUMBER
    if (name, "n") in known:
        return Demand.NAME
    return Demand.EXPANDED if name in _EXPANDED else Demand.NOTHING


def _options(words: Sequence[Word], with_value: str) -> tuple[list[tuple[str, Word, int]], list[Word], Demands]:
    """Read options as getopts does.

    Returns:
        Those with a value: the letter, the word that holds the value, and the index of its first placeholder there;
        the operands; and the demands of placeholders that might be options themselves.
    """
    values: list[tuple[str, Word, int]] = []
    demands: list[tuple[int, Demand]] = []
    at = 0
    while at < len(words):
        word = words[at]
        fixed = word.before(word.holes[0]) if word.holes else word.literal
        if word.literal == "--":
            at += 1
            break
        if word.holes and not fixed:
            demands.append((word.holes[0][0], Demand.NO_OPTION))
            break
        if not fixed.startswith("-") or word.literal == "-":
            break
        letter = next((letter for letter in fixed[1:] if letter in with_value), "")
        at += 1
        if not letter:
            demands += _all((word,), Demand.NEVER)
        elif word.literal.partition(letter)[2]:
            values.append((letter, word, len(fixed)))
        elif at < len(words):
            values.append((letter, words[at], 0))
            at += 1
    return values, list(words[at:]), iter(demands)


def _of_names_in_values(values: Iterable[tuple[str, Word, int]], letter: str) -> Demands:
    for its_letter, word, skipped in values:
        for hole in word.holes if its_letter == letter else ():
            demand = of_name(word, hole, is_set=True)
            # In `-vARG` nothing but the option stands before the name.
            yield hole[0], Demand.NEVER if demand is Demand.NAME and len(word.before(hole)) == skipped == 2 else demand


def _let(words: Sequence[Word], known: Attributes) -> Demands:
    return _all(words, Demand.NUMBER)


def _printf(words: Sequence[Word], known: Attributes) -> Demands:
    values, operands, demands = _options(words, "v")
    yield from demands
    yield from _of_names_in_values(values, "v")
    if any((word.literal, "i") in known for _, word, _ in values):
        yield from _all(operands[1:], Demand.NUMBER)


def _read(words: Sequence[Word], known: Attributes) -> Demands:
    values, operands, demands = _options(words, "adinNptu")
    yield from _of_names_in_values(values, "a")
    yield from _names(operands, is_set=True)
    yield from demands


def _mapfile(words: Sequence[Word], known: Attributes) -> Demands:
    values, operands, demands = _options(words, "CcdnOsu")
    yield from _all((word for letter, word, _ in values if letter == "C"), Demand.CODE)
    yield from _names(operands, is_set=True)
    yield from demands


def _getopts(words: Sequence[Word], known: Attributes) -> Demands:
    return _names(words[1:2], is_set=True)


def _wait(words: Sequence[Word], known: Attributes) -> Demands:
    values, _, demands = _options(words, "p")
    yield from demands
    yield from _of_names_in_values(values, "p")


def _compgen(words: Sequence[Word], known: Attributes) -> Demands:
    values, _, demands = _options(words, "oAGWFCXPS")
    yield from demands
    yield from _all((word for letter, word, _ in values if letter == "W"), Demand.EXPANDED)
    yield from _all((word for letter, word, _ in values if letter == "C"), Demand.CODE)


def _trap(words: Sequence[Word], known: Attributes) -> Demands:
    _, operands, _ = _options(words, "")
    return _all(operands[:1], Demand.CODE)


def _unset(words: Sequence[Word], known: Attributes) -> Demands:
    return _names(words, is_set=False)


def _test(words: Sequence[Word], known: Attributes) -> Demands:
    for operator, word in itertools.pairwise(words):
        if operator.literal in {"-v", "-R"}:
            yield from _names((word,), is_set=False)


def _for(words: Sequence[Word], known: Attributes) -> Demands:
    if words and (words[0].literal, "i") in known:
        yield from _all(words[2:], Demand.NUMBER)


def _declare(words: Sequence[Word], known: Attributes) -> Demands:
    flags = _flags(words)
    for word in words:
        literal = word.literal
        for hole in word.holes:
            before = word.before(hole)
            name, is_value, value = before.partition("=")
            if not is_value:
                if before.startswith(("-", "+")):
                    yield hole[0], Demand.NEVER
                elif not flags & {"f", "F"}:
                    yield hole[0], of_name(word, hole, is_set="=" in literal)
                continue
            name = name.rstrip("+").partition("[")[0]
            demand = _of_value(name, known)
            if demand is Demand.NOTHING and flags & {"a", "A"} | {(name, "a"), (name, "A")} & known:
                # Declaring reads a value in parentheses once more, as a list.
                demand = Demand.CODE if value.startswith("(") else Demand.NOTHING if value else Demand.NO_LIST
            if demand is not Demand.NOTHING:
                yield hole[0], demand


def _flags(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(
        letter for word in words if not word.holes and word.literal.startswith("-") for letter in word.literal[1:]
    )


def _declared(words: Sequence[Word]) -> Attributes:
    flags = _flags(words) & {"i", "n", "a", "A"}
    named = (re.match(r"[A-Za-z_]\w*", word.literal) for word in words)
    return frozenset((name[0], flag) for name in named if name for flag in flags)


def _names_an_integer(words: Sequence[Word], known: Attributes) -> bool:
    return any((word.literal, "i") in known for word in words)


_DECLARING = frozenset({"declare", "typeset", "local", "readonly", "export"})
_BUILTINS: dict[str, Callable[[Sequence[Word], Attributes], Demands]] = {
    **dict.fromkeys(_DECLARING, _declare),
    "let": _let,
    "printf": _printf,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "getopts": _getopts,
    "wait": _wait,
    "compgen": _compgen,
    "trap": _trap,
    "unset": _unset,
    "test": _test,
    "[": _test,
    "for": _for,
    "select": _for,
}
