"""Mending what models get wrong, where it loses nothing.

Only after the validator has refused, only at the places that it names, and only if the validator then has less to
say. A number is never made text: text is what the model may well have meant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from utcp_bridge.schema.plain import unique
from utcp_bridge.schema.validator import Validator
from utcp_bridge.schema.violations import Budget, Violation

_MAX_ROUNDS = 16
_MAX_TRIALS = 400
_REMOVED: Final = object()
_ALL_TYPES = ("object", "array", "integer", "number", "boolean", "null")
_CONTAINERS = ("object", "array")
_BEGINNINGS = tuple('{["-0123456789tfn')  # of JSON texts (RFC 8259, section 3)
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}


def repaired(
    validator: Validator, arguments: dict[str, Any], violations: list[Violation], budget: Budget
) -> tuple[dict[str, Any], list[Violation]]:
    """Mend arguments that the validator refused.

    Args:
        validator: The validator.
        arguments: The arguments.
        violations: What the validator said of them.
        budget: What all trials together may cost.

    Returns:
        The arguments as far as they could be mended, and what the validator still refuses in them.
    """
    trials = 0
    for _ in range(_MAX_ROUNDS):
        for violation in violations:
            for trial in _proposals(arguments, violation):
                trials += 1
                if trials > _MAX_TRIALS or budget.steps < 0:
                    return arguments, violations
                left = validator.violations(trial, budget)
                if _is_better(violation, violations, left):
                    arguments, violations = trial, left
                    break
            else:
                continue
            break
        else:
            break
        if not violations:
            break
    return arguments, violations


def _is_better(mended: Violation, before: list[Violation], after: list[Violation]) -> bool:
    """Tell whether one violation is gone, and nothing new is said about anything but the mended value's own parts."""
    known = {_signature(violation) for violation in before}
    same = next((violation for violation in after if _signature(violation) == _signature(mended)), None)
    # A choice counts as better already when the value is now of a kind that one branch wants: its parts come next.
    if same is not None and (_has_wanted_kind(mended) or not _has_wanted_kind(same)):
        return False
    depth = len(mended.path)
    return all(
        _signature(violation) in known or (len(violation.path) > depth and violation.path[:depth] == mended.path)
        for violation in after
    )


def _has_wanted_kind(choice: Violation) -> bool:
    return any(
        branch and not any(inner.keyword == "type" and inner.path == choice.path for inner in branch)
        for branch in choice.branches
    )


def _signature(violation: Violation) -> tuple[Any, ...]:
    return violation.path, violation.keyword, violation.names, id(violation.schema)


def _proposals(arguments: dict[str, Any], violation: Violation) -> Iterator[dict[str, Any]]:
    for value in _values(violation):
        yield _replaced(arguments, violation.path, value)
    if violation.keyword in ("anyOf", "oneOf") and isinstance(violation.instance, dict | list):
        for branch in violation.branches:
            mendings = dict(mending for inner in reversed(branch) for mending in _mendings(inner))
            trial = arguments
            for path, value in mendings.items():
                if len(path) > len(violation.path):
                    trial = _replaced(trial, path, value)
            if trial is not arguments:
                yield trial


def _mendings(violation: Violation) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Give what would mend one violation of a branch, each with its place."""
    value = next(_values(violation), None)
    if value is not None:
        yield violation.path, value
    elif violation.keyword in ("additionalProperties", "unevaluatedProperties"):
        # Some providers make models fill in every optional with null, also those of the other branches.
        for name in violation.names:
            if violation.instance.get(name, _REMOVED) is None:
                yield (*violation.path, name), _REMOVED


def _values(violation: Violation) -> Iterator[Any]:
    """Give what a value may have been meant to be, likeliest first."""
    value, keyword = violation.instance, violation.keyword
    if not violation.path or keyword not in ("type", "enum", "const", "anyOf", "oneOf", "false"):
        return
    if value is None and isinstance(violation.path[-1], str):
        yield _REMOVED
    elif isinstance(value, str) and keyword != "false":
        types = violation.schema["type"] if keyword == "type" else _ALL_TYPES
        if _matches_some_branch(violation):
            types = _CONTAINERS  # it fits as text already, but fits too much: branches that forgot to say `object`
        yield from _decoded(value, [types] if isinstance(types, str) else types)


def _matches_some_branch(violation: Violation) -> bool:
    return any(not branch for branch in violation.branches)


def _decoded(text: str, types: list[str] | tuple[str, ...]) -> Iterator[Any]:
    if text in _BOOLEANS and "boolean" in types:
        yield _BOOLEANS[text]
        return
    if not text.lstrip().startswith(_BEGINNINGS):
        return
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return
    if isinstance(value, bool | str):
        return
    if isinstance(value, float):
        if not _is_lossless(text, value):
            return
        if value.is_integer() and "integer" in types and "number" not in types:
            value = int(Decimal(text.strip()))  # the float 1e23 itself is 99999999999999991611392
    kinds = {dict: ("object",), list: ("array",), int: ("integer", "number"), float: ("number",), type(None): ("null",)}
    if any(kind in types for kind in kinds[type(value)]):
        # None stands for "no proposal" to the callers, so that null is spelt by removal only where it is refused.
        yield value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _is_lossless(text: str, value: float) -> bool:
    return Decimal(text.strip()) == Decimal(repr(value))


def _replaced(container: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Copy a container with one value inside it replaced; what is not on the way is shared."""
    step, rest = path[0], path[1:]
    changed: Any = dict(container) if isinstance(container, dict) else list(container)
    if rest:
        changed[step] = _replaced(container[step], rest, value)
    elif value is _REMOVED:
        del changed[step]
    else:
        changed[step] = value
    return changed
