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

BUILT_IN: Attributes = frozenset(
    (name, letter)
    for letter, names in {
        "i": ("RANDOM", "SRANDOM", "OPTIND", "HISTCMD"),
        "a": ("DIRSTACK", "BASH_REMATCH", "MAPFILE", "COPROC"),
        "A": ("BASH_ALIASES", "BASH_CMDS"),
    }.items()
    for name in names
)
"""Integers and arrays of the shell's own."""

# The shell expands PS4 before it prints it with `set -x`, and the next two when a shell starts.
_OF_VALUES = {**dict.fromkeys(("PS4", "BASH_ENV", "ENV"), Demand.EXPANDED), "BASH_ALIASES": Demand.CODE}


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


def all_of(words: Iterable[Word], demand: Demand) -> Demands:
    """The same demand of all placeholders in words."""
    for word in words if demand is not Demand.NOTHING else ():
        for hole in word.holes:
            yield hole[0], demand


def _names(words: Iterable[Word], *, is_set: bool) -> Demands:
    for word in words:
        for hole in word.holes:
            yield hole[0], of_name(word, hole, is_set=is_set)


def of_values(values: Iterable[Word], names: Iterable[Word], known: Attributes) -> Demands:
    """What it demands of values that they may be assigned to any of these variables."""
    for name in names:
        yield from all_of(values, of_value(name.literal, known))


def of_value(name: str, known: Attributes) -> Demand:
    """What it demands of a value that it is assigned to a variable."""
    if (name, "i") in known:
        return Demand.NUMBER
    if (name, "n") in known:
        return Demand.NAME
    return _OF_VALUES.get(name, Demand.NOTHING)


def options(words: Sequence[Word], with_value: str) -> tuple[list[tuple[str, Word, int]], list[Word], Demands]:
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
            demands += all_of((word,), Demand.NEVER)
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
    return all_of(words, Demand.NUMBER)


def _printf(words: Sequence[Word], known: Attributes) -> Demands:
    values, operands, demands = options(words, "v")
    yield from demands
    yield from _of_names_in_values(values, "v")
    yield from of_values(operands[1:], [word for _, word, _ in values], known)


def _read(words: Sequence[Word], known: Attributes) -> Demands:
    values, operands, demands = options(words, "adinNptu")
    yield from _of_names_in_values(values, "a")
    yield from _names(operands, is_set=True)
    yield from demands


def _mapfile(words: Sequence[Word], known: Attributes) -> Demands:
    values, operands, demands = options(words, "CcdnOsu")
    yield from all_of((word for letter, word, _ in values if letter == "C"), Demand.CODE)
    yield from _names(operands, is_set=True)
    yield from demands


def _getopts(words: Sequence[Word], known: Attributes) -> Demands:
    return _names(words[1:2], is_set=True)


def _wait(words: Sequence[Word], known: Attributes) -> Demands:
    values, _, demands = options(words, "p")
    yield from demands
    yield from _of_names_in_values(values, "p")


def _compgen(words: Sequence[Word], known: Attributes) -> Demands:
    values, _, demands = options(words, "oAGWFCXPS")
    yield from demands
    yield from all_of((word for letter, word, _ in values if letter == "W"), Demand.EXPANDED)
    yield from all_of((word for letter, word, _ in values if letter == "C"), Demand.CODE)


def _trap(words: Sequence[Word], known: Attributes) -> Demands:
    _, operands, _ = options(words, "")
    return all_of(operands[:1], Demand.CODE)


def _unset(words: Sequence[Word], known: Attributes) -> Demands:
    return _names(words, is_set=False)


def tested_names(words: Sequence[Word], known: Attributes) -> Demands:
    """What `test`, `[` and `[[` demand of names of variables."""
    for operator, word in itertools.pairwise(words):
        if operator.literal in {"-v", "-R"}:
            yield from _names((word,), is_set=False)


def _for(words: Sequence[Word], known: Attributes) -> Demands:
    return of_values(words[2:], words[:1], known)


def _alias(words: Sequence[Word], known: Attributes) -> Demands:
    return all_of(words, Demand.CODE)


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
            demand = of_value(name, known)
            if demand is Demand.NOTHING and flags & {"a", "A"} | {(name, "a"), (name, "A")} & known:
                # Declaring reads a value in parentheses once more, as a list.
                demand = Demand.CODE if value.startswith("(") else Demand.NOTHING if value else Demand.NO_LIST
            if demand is not Demand.NOTHING:
                yield hole[0], demand


def _flags(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(
        letter for word in words if not word.holes and word.literal.startswith("-") for letter in word.literal[1:]
    )


def declared(words: Sequence[Word]) -> Attributes:
    """The attributes that a command which declares gives by its options."""
    flags = _flags(words) & {"i", "n", "a", "A"}
    named = (re.match(r"[A-Za-z_]\w*", word.literal) for word in words)
    return frozenset((name[0], flag) for name in named if name for flag in flags)


DECLARING = frozenset({"declare", "typeset", "local", "readonly", "export"})
READING = frozenset({"read", "mapfile", "readarray"})
BUILTINS: dict[str, Callable[[Sequence[Word], Attributes], Demands]] = {
    **dict.fromkeys(DECLARING, _declare),
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
    "test": tested_names,
    "[": tested_names,
    "for": _for,
    "select": _for,
    "alias": _alias,
}
