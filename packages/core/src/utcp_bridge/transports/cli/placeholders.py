"""The placeholders of a bash command, and what each demands of its value: pure text work, no shell is started.

A placeholder, `UTCP_ARG_name_UTCP_END`, is replaced by a reference to a variable that holds the value, so the
shell never parses the value. Which reference keeps the value one literal word depends on what surrounds the
placeholder. utcp-cli 1.1.5 looks at the quotes alone, so `"$(ls UTCP_ARG_dir_UTCP_END)"` splits the value into
words and `$((UTCP_ARG_n_UTCP_END + 1))` evaluates it, command substitutions included. Here the whole nesting
counts, and what the shell's own commands do with a word. What a command hands to something that evaluates text by
itself (`eval`, `sh -c`, `ssh`, a program in awk or SQL) is out of sight: its author passes such a value as an argument,
`sh -c 'ls "$1"' _ UTCP_ARG_dir_UTCP_END`. So is a variable that holds a value and is calculated with later.

`scanner` walks the commands, and `expansions` the quotes and expansions in them; `words` keeps the words of each simple
command; `judging` says what such a command demands of them, and `builtins` what each of the shell's own commands does.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from utcp_bridge.transports.cli.builtins import BUILT_IN, Attributes
from utcp_bridge.transports.cli.judging import lasting
from utcp_bridge.transports.cli.places import PLACEHOLDER, Demand, Place, Placeholder
from utcp_bridge.transports.cli.scanner import Scanner

__all__ = ["PLACEHOLDER", "Demand", "Place", "Placeholder", "Scan", "find_placeholders", "scan"]

# What a command needs for its text to tell anything of a variable.
_DECLARES = re.compile(r"declare|typeset|local|readonly|export|unset|mapfile|read|=\(|\]\+?=")


@dataclass(frozen=True, slots=True)
class Scan:
    """What a command's text tells.

    Attributes:
        placeholders: Its placeholders, in order. Those in comments are left out: nothing reads them.
        attributes: What is known of variables after it, for the next command in the same shell.
    """

    placeholders: tuple[Placeholder, ...]
    attributes: Attributes


@functools.lru_cache(maxsize=1024)
def scan(command: str, known: Attributes = BUILT_IN) -> Scan:
    """Read a bash command.

    Args:
        command: The command.
        known: What is known of variables before it.
    """
    if "UTCP_ARG_" not in command and not _DECLARES.search(command):
        return Scan((), known)
    scanner = Scanner(command, known)
    scanner.commands(closing="")
    told = known | lasting(frozenset(), scanner.known)
    if told != known and scanner.found:
        # What stands in a loop or a function may come after what is declared below it.
        scanner = Scanner(command, told)
        scanner.commands(closing="")
    return Scan(tuple(scanner.found), scanner.known)


def find_placeholders(command: str) -> tuple[Placeholder, ...]:
    """The placeholders of a bash command, in order."""
    return scan(command).placeholders
