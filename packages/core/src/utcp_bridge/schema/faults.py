"""What is wrong with arguments, told to the model that gave them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_MAX_SHOWN_FAULTS = 25


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """One thing that is wrong with the arguments.

    Attributes:
        path: Which argument, such as `filter.names[2]`; empty for the arguments as a whole.
        message: What is wrong with it and what was expected.
        location: The path step by step.
    """

    path: str
    message: str
    location: tuple[str | int, ...] = ()

    @classmethod
    def at(cls, location: Sequence[str | int], message: str) -> ArgumentFault:
        """Make a fault of the value at a location."""
        return cls(path_text(location), message, tuple(location))

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.location else f"the arguments: {self.message}"


class InvalidArguments(ValueError):  # noqa: N818 - it is about the model's arguments, not an error of the program
    """The arguments do not fit the tool's schema.

    Attributes:
        faults: What is wrong with them.
        more: How much more is wrong at least; not 0 only where there is more than anyone would read.
    """

    def __init__(self, faults: Iterable[ArgumentFault], more: int = 0) -> None:
        self.faults = tuple(faults)
        self.more = more
        super().__init__(self.faults)

    def __str__(self) -> str:
        lines = [str(fault) for fault in self.faults[:_MAX_SHOWN_FAULTS]]
        if more := len(self.faults) - len(lines) + self.more:
            lines.append(f"and {more} more")
        return "; ".join(lines)


def value_fault(message: str) -> ArgumentFault:
    """Make a fault of the arguments as a whole."""
    return ArgumentFault("", message)


def path_text(location: Sequence[str | int]) -> str:
    """Write a location as models do: `filter.names[2]`, `["odd name"]`."""
    text = ""
    for step in location:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("-", "_").replace("$", "_").isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text
