"""What a placeholder of a bash command is: where it stands, and what its value must be like there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

# Any property name of a schema may be written between the marks, not only [a-zA-Z0-9_]+ as in utcp-cli 1.1.5.
PLACEHOLDER = re.compile(r"UTCP_ARG_((?:(?!UTCP_ARG_).)+?)_UTCP_END")


class Place(Enum):
    """What surrounds a placeholder."""

    WORD = "outside quotes"
    DOUBLE = "inside double quotes or a here-document"
    SINGLE = "inside single quotes"
    ANSI = "inside $'...'"
    QUOTED_DOCUMENT = "inside a here-document with a quoted delimiter"
    VARIABLE_NAME = "as the name of a variable"


class Demand(Enum):
    """What the shell does with a value besides handing it on, which limits what the value may be."""

    NOTHING = "hands it on"
    NUMBER = "calculates with it"
    NAME = "uses it in the name of a variable"
    CODE = "lets the shell run it as a command"
    EXPANDED = "lets the shell expand it a second time"
    NO_LIST = "assigns it to an array"
    NO_OPTION = "would take it for an option"
    NEVER = "where its value could choose an option of the shell's own command, or any variable to be set"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One placeholder in a command.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        name: The argument that it stands for.
        place: What surrounds it.
        demand: What its value must be like.
        left_out: Where the words begin and end that are left out if the argument is not given: its own, and the flag
            that it is the value of; none where it stands for itself.
    """

    start: int
    end: int
    name: str
    place: Place
    demand: Demand
    left_out: tuple[tuple[int, int], ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return self.start, self.end
