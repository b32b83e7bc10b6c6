"""The bash script that runs the commands of one CLI template: pure text work, no shell is started."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from utcp_bridge.config.legacy import ALL_ARGUMENTS, arguments_as_flags
from utcp_bridge.errors import ToolArgumentsError, ToolExecutionError
from utcp_bridge.transports.cli.builtins import BUILT_IN, Attributes
from utcp_bridge.transports.cli.judging import lasting
from utcp_bridge.transports.cli.placeholders import Demand, Place, Placeholder, find_placeholders, scan

# Linux takes at most 128 KiB for one variable of the environment (MAX_ARG_STRLEN in execve(2)), macOS 1 MiB for
# all; what is longer reaches the shell through a pipe.
_LONGEST_IN_ENVIRONMENT = 32 * 1024
_MOST_IN_ENVIRONMENT = 256 * 1024
_NUMBER = re.compile(r"[+-]?[0-9]*(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_PLAIN = re.compile(r"[\w./:@%+,=-]*")
# What may be a value where the shell does more with it than to hand it on, and how that is said.
_ALLOWED: dict[Demand, tuple[re.Pattern[str], str]] = {
    Demand.NUMBER: (_NUMBER, "must be a number"),
    Demand.NAME: (re.compile(r"[A-Za-z0-9_]*"), "may hold only letters, digits and _"),
    Demand.CODE: (_PLAIN, "may hold only letters, digits and any of _./:@%+,=-"),
    Demand.EXPANDED: (re.compile(r"[^$`<>\"'\\]*"), "may hold none of $`<>\"'\\"),
    Demand.NO_LIST: (re.compile(r"(?!\().*", re.DOTALL), "may not begin with ("),
    Demand.NO_OPTION: (re.compile(r"(?!-.).*", re.DOTALL), "may not begin with -"),
}
_IDENTIFIER = re.compile(r"[A-Za-z0-9_]+")
_REFERENCES = {
    Place.WORD: '"${variable}"',
    Place.DOUBLE: "${{{variable}}}",
    Place.SINGLE: "'\"${variable}\"'",
    Place.ANSI: "'\"${variable}\"$'",
}


@dataclass(frozen=True, slots=True)
class ShellScript:
    """The commands of one template, ready to run in one shell.

    Attributes:
        steps: The commands, with references to variables in the place of the placeholders.
        environment: Those variables that the environment can hold.
        long_values: Those variables that it cannot, in the order of their pipes.
    """

    steps: tuple[str, ...]
    environment: dict[str, str]
    long_values: dict[str, str]

    @property
    def pipes(self) -> int:
        """How many pipes into the shell the script reads: one a long value, one a step but the last."""
        return len(self.long_values) + len(self.steps) - 1

    def source(self, control: int, pipes: Sequence[int]) -> str:
        """The script.

        After each step but the last it writes one byte to `control` and then reads what the step wrote from the
        next of `pipes` up to its end, into `CMD_0_OUTPUT` and so on. A step that fails ends the script with its
        exit code.

        Args:
            control: The file descriptor that ends of steps are reported to; unused when there is one step.
            pipes: As many file descriptors as `self.pipes`.
        """
        lines = []
        for variable, pipe in zip(self.long_values, pipes, strict=False):
            # `$(<file)` drops newlines at the end, so the sender adds a mark.
            lines += [f"{variable}=$(</dev/fd/{pipe})", f"{variable}=${{{variable}%x}}", f"exec {pipe}<&-"]
        outputs = pipes[len(self.long_values) :]
        for index, (step, pipe) in enumerate(zip(self.steps, outputs, strict=False)):
            # `eval` keeps a step with an open quote or an unfinished `if` from swallowing the lines after it;
            # `eval ... || exit` would switch off the step's own `set -e`.
            lines += [
                f"eval {shlex.quote(step)}",
                f'CMD_{index}_OUTPUT=$?; [ "$CMD_{index}_OUTPUT" = 0 ] || exit "$CMD_{index}_OUTPUT"',
                f"printf . >&{control}",
                f"CMD_{index}_OUTPUT=$(</dev/fd/{pipe})",
                f"exec {pipe}<&-",
            ]
        return "\n".join([*lines, self.steps[-1]])


def argument_text(name: str, value: object) -> str | None:
    """An argument as the text that a command sees.

    Text stays; numbers, `true` and `false`, lists and objects are written as JSON writes them; null is as not given.

    Raises:
        ToolArgumentsError: The value cannot be one argument of a command: it holds a NUL character or half of a
            surrogate pair, or is no JSON value.
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value
    else:
        try:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ToolArgumentsError(f"argument {name!r} is not a JSON value: {error}") from error
    if "\0" in text:
        raise ToolArgumentsError(f"argument {name!r} holds a NUL character, which no command line can; remove it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise ToolArgumentsError(
            f"argument {name!r} holds U+{ord(half):04X}, half of a surrogate pair, which is no character; remove it"
        ) from error
    return text


def with_flags(commands: Sequence[str], arguments: Mapping[str, object]) -> tuple[list[str], dict[str, str]]:
    """Put all arguments as flags where a command of UTCP 0.x has `ALL_ARGUMENTS`.

    Returns:
        The commands, with a placeholder for each word of the flags, and the texts of those placeholders.
    """
    if not any(ALL_ARGUMENTS in command for command in commands):
        return list(commands), {}
    given = {name: value for name, value in arguments.items() if value is not None}
    words = arguments_as_flags(given, lambda value: argument_text("", value) or "")
    # No property is likely to have such a name; if one has, the tool has no placeholder for it.
    texts = {f"word {index} of all arguments": argument_text("", word) or "" for index, word in enumerate(words)}
    flags = " ".join(f"UTCP_ARG_{name}_UTCP_END" for name in texts)
    return [command.replace(ALL_ARGUMENTS, flags) for command in commands], texts


def argument_names(commands: Iterable[str]) -> tuple[str, ...]:
    """The arguments that the commands have placeholders for, each once, in order."""
    return tuple(dict.fromkeys(found.name for command in commands for found in find_placeholders(command)))


def build_script(commands: Sequence[str], texts: Mapping[str, str | None], nonce: str) -> ShellScript:
    """Put references to variables in the place of the placeholders.

    Args:
        commands: The commands of the template; at least one.
        texts: The text of every argument that has a placeholder; None for one that is not given.
        nonce: Part of the variables' names; new for each call, so that no command can hold such a name already.

    Raises:
        ToolArgumentsError: A value stands where the shell does more with it than to hand it on, and is not of the kind
            that is safe there, such as a number where it is calculated with.
        ToolExecutionError: A placeholder stands where the shell would take it literally, or where no value is safe.
    """
    known = BUILT_IN
    for command in commands:  # a later one may run a function of an earlier one
        known |= lasting(frozenset(), scan(command, known).attributes)
    steps, variables = [], {}
    for command in commands:
        step, added = substitute(command, texts.__getitem__, nonce, known)
        steps.append(step)
        variables.update(added)
        known = scan(command, known).attributes  # the steps share one shell
    environment, long_values, room = {}, {}, _MOST_IN_ENVIRONMENT
    for variable, text in variables.items():
        size = len(text.encode())
        if size <= min(_LONGEST_IN_ENVIRONMENT, room):
            environment[variable] = text
            room -= size
        else:
            long_values[variable] = text
    return ShellScript(tuple(steps), environment, long_values)


def substitute(
    command: str, text_of: Callable[[str], str | None], nonce: str, known: Attributes = BUILT_IN
) -> tuple[str, dict[str, str]]:
    """One command with references in the place of its placeholders, and the variables that they refer to.

    An argument that is not given, of which `text_of` says None, is left out with its flag; elsewhere it is empty text.
    """
    parts, variables, at = [], {}, 0
    for found in scan(command, known).placeholders:
        text = text_of(found.name)
        if text is None and found.left_out:
            for start, end in found.left_out:
                parts.append(command[at:start])
                at = end
            continue
        text = text or ""
        _refuse_unsafe(found, text)
        variable = _variable(found.name, nonce)
        variables[variable] = text
        parts += [command[at : found.start], _REFERENCES[found.place].format(variable=variable)]
        at = found.end
    return "".join([*parts, command[at:]]), variables


def _refuse_unsafe(found: Placeholder, text: str) -> None:
    if found.place not in _REFERENCES:
        raise ToolExecutionError(
            f"this tool's command has UTCP_ARG_{found.name}_UTCP_END {found.place.value}, where no shell fills it in; "
            "its author must move it"
        )
    if found.demand is Demand.NEVER:
        raise ToolExecutionError(
            f"this tool's command has UTCP_ARG_{found.name}_UTCP_END {found.demand.value}; its author must move it"
        )
    if found.demand in _ALLOWED:
        allowed, words = _ALLOWED[found.demand]
        if not allowed.fullmatch(text):
            raise ToolArgumentsError(
                f"argument {found.name!r} {words}, because this tool's command {found.demand.value}"
            )


def _variable(name: str, nonce: str) -> str:
    if _IDENTIFIER.fullmatch(name):
        return f"__UTCP_ARG_{nonce}_{name}"
    return f"__UTCP_ARGX_{nonce}_{name.encode().hex()}"
