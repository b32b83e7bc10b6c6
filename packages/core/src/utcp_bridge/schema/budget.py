"""A limit to what one tool's schema may cost: what matters least for a right call is left out first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from utcp_bridge.schema.bundled import walk
from utcp_bridge.schema.cutting import Cut, Cutter
from utcp_bridge.schema.one_form import argument_names, in_one_form
from utcp_bridge.schema.steps import LAST_STEPS, STEPS, size_of, stepped, without_illustration

DEFAULT_MAX_BYTES = 16_000

_DEEP_STEPS = 4
"""How many of the steps change nothing of the arguments themselves."""

_MAX_CUTS = 4
_SPARE = 32
_ONE_FORM = "which arguments go together"


@dataclass(frozen=True, slots=True)
class TrimmedSchema:
    """A schema within its budget.

    Attributes:
        schema: The schema.
        left_out: What was left out, one phrase for each kind of it; empty if nothing was.
    """

    schema: dict[str, Any]
    left_out: tuple[str, ...]


def trimmed(schema: dict[str, Any], max_bytes: int | None = DEFAULT_MAX_BYTES) -> TrimmedSchema:
    """Trim a bundled schema to a budget. The original still judges the arguments.

    What is shown takes whatever the original takes. Whatever helps, the order is: examples and extensions, long
    descriptions and lists of values deep down, then what lies below the arguments, from the deepest level up and the
    largest parts first; of each no more than needed. Long descriptions of the arguments themselves go before deep
    levels only as far as they take more than half of the budget.

    Args:
        schema: An arguments schema as it is shown, or a folded one.
        max_bytes: The most bytes of its compact JSON in UTF-8; default 16,000; None never trims.

    Returns:
        The schema, trimmed no further than needed. The names, types and required marks of the arguments themselves
        are never left out, also of those that the root's choices (`oneOf` and the like) describe, so that a tool with
        very many arguments may stay above the budget. Where the choices take too much, their arguments stand side by
        side among the root's, required where every choice requires them.
    """
    if max_bytes is None or size_of(schema) <= max_bytes:
        return TrimmedSchema(schema, ())
    plainer = without_illustration(schema)
    told = ["examples and extensions"] if plainer != schema else []
    if size_of(plainer) <= max_bytes:
        return TrimmedSchema(plainer, tuple(told))

    result = _trimmed(plainer, max_bytes)
    # What an `if` cannot tell any more, its `then` cannot either.
    if argument_names(plainer) - argument_names(result.schema) and (merged := in_one_form(plainer)) is not None:
        result = _trimmed(merged, max_bytes)
        told.append(_ONE_FORM)
    return TrimmedSchema(result.schema, (*told, *result.left_out))


def _trimmed(schema: dict[str, Any], max_bytes: int) -> TrimmedSchema:
    told: list[str] = []
    result, cut_told = schema, ""
    if size_of(schema) - _trimmable(schema) > max_bytes or size_of(stepped(schema, STEPS)) > max_bytes:
        form, is_one_form = _form_that_fits(schema, max_bytes)
        if is_one_form:
            told.append(_ONE_FORM)
        cut = _cut(form, max_bytes)
        result, cut_told = cut.schema, cut.told
    for step in (*STEPS, *LAST_STEPS):
        if size_of(result) <= max_bytes:
            break
        if (smaller := stepped(result, [step])) != result:
            result = smaller
            told.append(step.told)
    return TrimmedSchema(result, (*told, cut_told) if cut_told else tuple(told))


def _form_that_fits(schema: dict[str, Any], max_bytes: int) -> tuple[dict[str, Any], bool]:
    """Give the schema itself if its arguments fit, else with its root's choices in one form if that is smaller."""
    least = Cutter(schema, STEPS).least
    if least <= max_bytes or (merged := in_one_form(schema)) is None:
        return schema, False
    return (merged, True) if Cutter(merged, STEPS).least < least else (schema, False)


def _cut(schema: dict[str, Any], max_bytes: int) -> Cut:
    steps = next(
        (
            STEPS[:count]
            for count in range(_DEEP_STEPS, len(STEPS))
            if Cutter(schema, STEPS[:count]).least * 2 <= max_bytes
        ),
        STEPS,
    )
    room = max_bytes
    for _ in range(_MAX_CUTS):
        cutter = Cutter(schema, steps)
        least = cutter.least
        cut = cutter.cut(room)
        # Opening what a cut makes refuse more may take a few bytes again.
        over = size_of(stepped(cut.schema, steps)) - max_bytes
        if over <= 0 or least > room:
            break
        room -= over + _SPARE
    return cut


def _trimmable(schema: dict[str, Any]) -> int:
    """Tell at least how many bytes all steps but cutting can save."""
    tops = [schema, *schema.get("$defs", {}).values()]
    parts = [part for top in tops for part in walk(top)]
    return sum(size_of([part.get("description"), part.get("enum"), part.get("default")]) for part in parts)
