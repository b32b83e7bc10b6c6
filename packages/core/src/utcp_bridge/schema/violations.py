"""What a validator says of an instance that does not fit, and how much work it may take to find out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

UNJUDGED: Final = "unjudged"
"""The keyword of a violation that says only that the work ended before the value could be judged."""


@dataclass(frozen=True, slots=True, eq=False)
class Violation:
    """One rule of the schema that an instance breaks.

    Violations share their branches, so that comparing them part by part might never end: each equals itself alone.

    Attributes:
        path: Where in the instance.
        keyword: The keyword of the rule; `"false"` for the boolean schema.
        schema: The schema that the keyword stands in.
        instance: The value at `path`.
        names: The properties that are missing (`required`), or not allowed (`additionalProperties`).
        branches: For `anyOf` and `oneOf`, the violations of each branch.
    """

    path: tuple[str | int, ...]
    keyword: str
    schema: Any
    instance: Any
    names: tuple[str, ...] = ()
    branches: tuple[tuple[Violation, ...], ...] = ()


@dataclass(slots=True)
class Budget:
    """The work that may be spent on one call's arguments.

    Attributes:
        steps: How many more schemas may be held against a value; a step takes some microseconds.
    """

    steps: float

    def spend(self, steps: float = 1) -> bool:
        """Take steps; False if there are none left."""
        self.steps -= steps
        return self.steps >= 0
