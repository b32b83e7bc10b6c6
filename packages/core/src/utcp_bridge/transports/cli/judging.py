"""What a simple command demands of the placeholders in its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from utcp_bridge.transports.cli.builtins import (
    BUILT_IN,
    BUILTINS,
    DECLARING,
    READING,
    Attributes,
    Demands,
    all_of,
    declared,
    of_value,
    of_values,
    options,
    tested_names,
)
from utcp_bridge.transports.cli.places import Demand, Placeholder
from utcp_bridge.transports.cli.words import Word

BEFORE_COMMANDS = frozenset(
    {"if", "then", "else", "elif", "while", "until", "do", "{", "!", "time", "-p", "--", "coproc"}
)
"""The words that a simple command may stand right after; two of them are the options of `time`."""
_COMPOUND = frozenset({"{", "[[", "if", "while", "until", "for", "select", "case"})
_BODY = frozenset({"do", "{"})  # how the body of a loop over all arguments begins
_SUBSCRIPT = re.compile(r"\]\+?=")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[.*?\])?\+?=", re.DOTALL)
_READS_LIST = re.compile(r"-[a-z]*a")
_COMPARISONS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def lasting(before: Attributes, inside: Attributes) -> Attributes:
    """What is known after a group of commands that may have a shell of its own, or may not run at all.

    Where it is not sure, a variable is an integer, and is no associative array: that asks more of a value.
    """
    return frozenset(attribute for attribute in inside if attribute[1] != "A" or attribute in before)


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
    known |= _arrays(words, name, command[1:])
    if name in DECLARING:
        known |= declared(command[1:])
    elif name == "unset":
        known -= {(word.literal, "A") for word in command[1:]}
    demands = [*_of_assignments(assignments, known), *_of_elements(words, known)]
    if name in BUILTINS:
        demands += BUILTINS[name](command[1:], known)
    for word in words:
        if word.redirection == "{}":
            demands += all_of((word,), Demand.NUMBER)
        elif word.redirection == ">&":
            demands += all_of((word,), Demand.EXPANDED)
        elif word.redirection == "<<<" and name in READING:
            demands += of_values((word,), command[1:], known)
    return demands, known


def of_test(words: Sequence[Word], found: Sequence[Placeholder]) -> Demands:
    """Judge the placeholders in a part of `[[ ... ]]`, which evaluates both sides of a comparison of numbers.

    Args:
        words: Its words.
        found: The placeholders; those in commands inside of a side count too.
    """
    yield from tested_names(words, BUILT_IN)
    for left, operator, right in zip(words, words[1:], words[2:], strict=False):
        for side in (left, right) if operator.raw.replace("\\\n", "") in _COMPARISONS else ():
            for index, placeholder in enumerate(found):
                if side.start <= placeholder.start < side.end:
                    yield index, Demand.NUMBER


def action_of_trap(words: Sequence[Word]) -> Word | None:
    """The word that a `trap` runs later, if it is one text in single quotes, in which nothing is expanded now."""
    _, command = _divided([word for word in words if not word.redirection])
    if not command or command[0].literal != "trap":
        return None
    _, operands, _ = options(command[1:], "")
    action = operands[0] if operands else None
    return action if action is not None and re.fullmatch(r"'[^']*'", action.raw) else None


def _divided(words: Sequence[Word]) -> tuple[list[Word], list[Word]]:
    """The assignments before a command, and the command with its arguments."""
    assignments, at = [], 0
    literals = [*(word.literal for word in words), "", ""]  # so that two words ahead can be looked at
    while at < len(words):
        literal = literals[at]
        if _ASSIGNMENT.match(words[at].raw):
            assignments.append(words[at])
        elif literal == "function" or (literal == "coproc" and literals[at + 2] in _COMPOUND):
            at += 1  # and its name
        elif literal in {"for", "select"} and (body := [each for each in (at + 1, at + 2) if literals[each] in _BODY]):
            at = body[0]
        elif literal in {"command", "builtin"}:
            while re.fullmatch(r"-p+|--", literals[at + 1]):
                at += 1
        elif literal not in BEFORE_COMMANDS:
            break
        at += 1
    return assignments, list(words[at:])


def _arrays(words: Sequence[Word], name: str, arguments: Sequence[Word]) -> Attributes:
    lists = (_ASSIGNMENT.match(word.raw) for word in words if word.text.startswith("(", word.end) or "[" in word.raw)
    names = {array[1] for array in lists if array}
    if name in READING and (name != "read" or any(_READS_LIST.match(word.literal) for word in arguments)):
        names |= {word.literal for word in arguments}  # more than the arrays, which does no harm
    return frozenset((name, "a") for name in names)


def _of_assignments(words: Sequence[Word], known: Attributes) -> Demands:
    for word in words:
        assigned = _ASSIGNMENT.match(word.raw)
        name = assigned[1] if assigned else ""
        yield from all_of((word,), of_value(name, known))


def _of_elements(words: Sequence[Word], known: Attributes) -> Demands:
    for word in words:
        for hole in word.holes if word.element_of else ():
            is_subscript = (
                word.raw.startswith("[") and "]" in word.after(hole) and not _SUBSCRIPT.search(word.before(hole))
            )
            if is_subscript and (word.element_of, "A") not in known:
                yield hole[0], Demand.NUMBER
            elif (demand := of_value(word.element_of, known)) is not Demand.NOTHING:
                yield hole[0], demand
