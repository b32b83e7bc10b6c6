"""Whole numbers that models write as floats, sent as the integers that the schema asks for.

JSON Schema takes 3.0 for an integer, so that nothing is refused; servers often do not: `/status/404.0` is no status,
and typed languages read no integer from `3.0`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from utcp_bridge.schema.leaves import is_whole
from utcp_bridge.schema.validator import STEPS, Validator
from utcp_bridge.schema.violations import Budget

_STEPS_PER_FLOAT: Final = 16
"""Beside `STEPS` and one for each value, so that long lists do not use them up."""

_MOST_STEPS: Final = 100_000
"""For arguments of any size: about a second. What would take longer is sent as it was given, which fits too."""


def with_integers(validator: Validator, arguments: dict[str, Any]) -> dict[str, Any]:
    """Write whole floats as integers where the schema takes integers and no other numbers.

    Args:
        validator: The validator.
        arguments: Arguments that fit; they are not changed.

    Returns:
        The arguments, or a copy in which the containers of such floats are copies too.
    """
    floats, size = _counted(arguments)
    if not floats:
        return arguments
    steps = min(STEPS + _STEPS_PER_FLOAT * floats + size, _MOST_STEPS)
    places = validator.integers(arguments, Budget(steps))
    changed: dict[str, Any] = dict(arguments)
    copied: set[tuple[str | int, ...]] = set()
    for path in places:
        place: Any = changed
        for index, step in enumerate(path[:-1], 1):
            if path[:index] not in copied:
                copied.add(path[:index])
                place[step] = place[step].copy()
            place = place[step]
        # What its JSON text says: the float 1e23 itself is 99999999999999991611392.
        place[path[-1]] = int(Decimal(repr(place[path[-1]])))
    return changed if places and validator.is_valid(changed) else arguments


def _counted(arguments: dict[str, Any]) -> tuple[int, int]:
    """Count the whole floats in arguments, and all values."""
    floats = size = 0
    waiting: list[Any] = [arguments]
    for container in waiting:
        size += len(container)
        for item in container.values() if isinstance(container, dict) else container:
            # Nearly all are neither, and this is done for every call.
            kind = item.__class__
            if kind is float:
                floats += is_whole(item)
            elif kind is dict or kind is list:
                waiting.append(item)
    return floats, size
