"""What judging has found out so far: of a value in the instance, and of a value under one schema."""

from __future__ import annotations

from typing import Any

from utcp_bridge.schema.violations import UNJUDGED, Violation


class Spot:
    """A value in the instance, and what is known of it so far."""

    __slots__ = ("_parts", "known", "path", "value")

    def __init__(self, value: Any, path: tuple[str | int, ...]) -> None:
        self.value = value
        self.path = path
        self.known: dict[int, Outcome] = {}
        self._parts: dict[str | int, Spot] = {}

    def part(self, step: str | int) -> Spot:
        """Go to a part of the value."""
        if step not in self._parts:
            self._parts[step] = Spot(self.value[step], (*self.path, step))
        return self._parts[step]


class Outcome:
    """What a schema says of a value.

    Attributes:
        violations: The rules that the value breaks, each once.
        evaluated: The properties or items that the schema has something to say about (core, section 11).
        untaken: Of those that only branches have something to say about which do not fit, what the closest one says.
        integers: Whole floats for which the schema takes integers and no other numbers, if sought.
    """

    __slots__ = ("evaluated", "integers", "untaken", "violations")

    def __init__(self, *violations: Violation) -> None:
        self.violations = dict.fromkeys(violations)
        self.evaluated: set[str | int] = set()
        self.untaken: dict[str | int, Outcome] = {}
        self.integers: set[Spot] = set()

    @property
    def fits(self) -> bool | None:
        """Whether the value fits; None if the budget ended before that was known."""
        if not self.violations:
            return True
        return None if all(violation.keyword == UNJUDGED for violation in self.violations) else False

    def add(self, violation: Violation) -> None:
        """Add a violation."""
        self.violations[violation] = None

    def take(self, found: Outcome) -> None:
        """Take over what is said of a part of the value, or of the value itself, that must fit as well."""
        self.violations |= found.violations
        self.integers |= found.integers

    def leave(self, found: Outcome) -> None:
        """Remember what a branch says that does not fit, for the properties or items that no other may speak of."""
        for step in [*found.evaluated, *found.untaken]:
            closest = self.untaken.get(step, found)
            self.untaken[step] = min(closest, found, key=lambda each: len(each.violations))
