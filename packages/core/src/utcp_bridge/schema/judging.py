"""Judging a value against a bundled schema, with reasons, in work that is bounded whatever the schema.

The engines follow every reference and gather the errors of every branch of every choice below every other: a union
that holds itself costs them 3 or 4 times as much for each level of a wrong value, and twenty references that share
their targets a million times as much as one. Here a schema is held against a value once, however often both meet
again, and each such step is paid from a budget. Single keywords are left to the engine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Final

from utcp_bridge.schema.leaves import broken, is_whole, takes_only_integers
from utcp_bridge.schema.outcome import Outcome, Spot
from utcp_bridge.schema.rules import Rules
from utcp_bridge.schema.tags import wrong_tag
from utcp_bridge.schema.violations import UNJUDGED, Budget, Violation

_MANY: Final = 16
"""The most parts of a value that are judged one by one where the engine can tell quickly which of them are wrong."""

_STEP_OF_ENGINE: Final = 0.25
"""What it costs to let the engine judge one part, and to find out whether a branch of a choice was meant."""


def violations(rules: Rules, instance: Any, budget: Budget) -> list[Violation]:
    """Tell the rules that an instance breaks, as far as the budget goes; empty if it fits."""
    try:
        return list(Judgement(rules, budget).outcome(rules.schema, Spot(instance, ())).violations)
    except RecursionError:
        return [Violation((), "depth", True, instance)]


def integers(rules: Rules, instance: Any, budget: Budget) -> set[tuple[str | int, ...]]:
    """Find the whole floats of an instance that fits, where the schema takes integers and no other numbers.

    Returns:
        Their places; none if the budget ended before all were known.
    """
    try:
        found = Judgement(rules, budget, seeks_integers=True).outcome(rules.schema, Spot(instance, ()))
    except RecursionError:
        return set()
    return {spot.path for spot in found.integers} if found.fits else set()


def verdict(rules: Rules, instance: Any, steps: float) -> list[Violation]:
    """Tell the rules that an instance breaks: all of them if that takes no more than so many steps, else some."""
    found = violations(rules, instance, Budget(steps))
    # One rule that is known to be broken is enough of a verdict.
    if found and all(violation.keyword == UNJUDGED for violation in found):
        return violations(rules, instance, Budget(float("inf")))
    return found


class Judgement:
    """One instance being judged."""

    def __init__(self, rules: Rules, budget: Budget, *, seeks_integers: bool = False) -> None:
        self.rules = rules
        self.budget = budget
        self.seeks_integers = seeks_integers

    def outcome(self, schema: Any, spot: Spot) -> Outcome:
        """Hold a schema against a value, unless that was done before."""
        if not isinstance(schema, dict):
            return Outcome() if schema else Outcome(Violation(spot.path, "false", False, spot.value))
        known = spot.known.get(id(schema))
        if known is not None:
            return known
        if not self.budget.spend():
            return Outcome(Violation(spot.path, UNJUDGED, schema, spot.value))
        # What a schema says of itself on the way says nothing yet, and is found in its outcome all the same.
        out = spot.known[id(schema)] = Outcome()
        for keyword, limit in schema.items():
            applicator = APPLICATORS.get(keyword)
            if applicator is not None:
                applicator(self, schema, limit, spot, out)
                continue
            for names in broken(keyword, limit, spot.value, functools.partial(self._keyword, schema, spot)):
                out.add(Violation(spot.path, keyword, schema, spot.value, names))
            if self.seeks_integers and keyword == "type" and is_whole(spot.value) and takes_only_integers(limit):
                out.integers.add(spot)
        for keyword in _LAST:
            if keyword in schema:
                _LAST[keyword](self, schema, schema[keyword], spot, out)
        return out

    def _keyword(self, schema: dict[str, Any], spot: Spot, keyword: str) -> bool:
        return self.rules.keyword(schema, keyword).is_valid(spot.value)

    def parts(self, schema: Any, steps: Iterable[str | int], spot: Spot, out: Outcome) -> None:
        """Hold a schema against parts of a value."""
        if schema is True:
            return
        steps = list(steps)
        is_searched = self.seeks_integers and self.rules.names_integers(schema)
        whole = self.rules.whole(schema) if len(steps) > _MANY else None
        for step in steps:
            if whole is not None and not (is_searched and isinstance(spot.value[step], float | dict | list)):
                self.budget.spend(_STEP_OF_ENGINE)
                if whole.is_valid(spot.value[step]):
                    continue
            if self.budget.steps <= 0:
                out.add(Violation(spot.path, UNJUDGED, {}, spot.value))
                return
            out.take(self.outcome(schema, spot.part(step)))


_Applicator = Callable[[Judgement, dict[str, Any], Any, Spot, Outcome], None]


def _beside(out: Outcome, found: Outcome) -> None:
    """Take over what a schema says that must fit as well."""
    out.take(found)
    out.evaluated |= found.evaluated
    out.untaken |= found.untaken


def _reference(judgement: Judgement, _schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    _beside(out, judgement.outcome(judgement.rules.target(limit), spot))


def _all_of(judgement: Judgement, _schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    for branch in limit:
        _beside(out, judgement.outcome(branch, spot))


def _choice(
    judgement: Judgement, schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome, *, keyword: str
) -> None:
    outcomes: dict[int, Outcome] = {}
    wrong: dict[int, str] = {}
    for index, branch in enumerate(limit):
        judgement.budget.spend(_STEP_OF_ENGINE)
        tag = wrong_tag(spot.value, judgement.rules.tags(branch))
        if tag is not None:
            wrong[index] = tag
            continue
        outcomes[index] = judgement.outcome(branch, spot)
        if keyword == "anyOf" and outcomes[index].fits and not (judgement.rules.tracks or judgement.seeks_integers):
            return
    fitting = [found for found in outcomes.values() if found.fits]
    is_too_many = len(fitting) > 1 and keyword == "oneOf"
    if not is_too_many and any(found.fits is None for found in outcomes.values()):
        out.add(Violation(spot.path, UNJUDGED, schema, spot.value))
        return
    if fitting and not is_too_many:
        if judgement.rules.tracks:
            for found in outcomes.values():
                if found.fits:
                    out.evaluated |= found.evaluated
                    out.untaken |= found.untaken
                else:
                    out.leave(found)
        # A number that one of them takes as it is stays as it is.
        out.integers |= set.intersection(*(found.integers for found in fitting))
        return
    # A tag that belongs to other branches says enough of a branch: nothing below it was meant for it.
    for index, tag in wrong.items():
        about = judgement.rules.tags(limit[index])[tag]
        said = "const" if "const" in about else "enum"
        outcomes[index] = Outcome(Violation((*spot.path, tag), said, about, spot.value[tag]))
    branches = tuple(tuple(outcomes[index].violations) for index in range(len(limit)))
    out.add(Violation(spot.path, keyword, schema, spot.value, (), branches))


def _not(judgement: Judgement, schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    fits = judgement.outcome(limit, spot).fits
    if fits is not False:
        out.add(Violation(spot.path, "not" if fits else UNJUDGED, schema, spot.value))


def _if(judgement: Judgement, schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    condition = judgement.outcome(limit, spot)
    if condition.fits is None:
        out.add(Violation(spot.path, UNJUDGED, schema, spot.value))
        return
    if condition.fits:
        out.evaluated |= condition.evaluated
    _beside(out, judgement.outcome(schema.get("then" if condition.fits else "else", True), spot))


def _dependent_schemas(judgement: Judgement, _schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    if isinstance(spot.value, dict):
        for name, child in limit.items():
            if name in spot.value:
                _beside(out, judgement.outcome(child, spot))


def _properties(judgement: Judgement, _schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    if isinstance(spot.value, dict):
        for name, child in limit.items():
            if name in spot.value:
                out.evaluated.add(name)
                out.take(judgement.outcome(child, spot.part(name)))


def _pattern_properties(judgement: Judgement, _schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    if isinstance(spot.value, dict):
        for pattern, child in limit.items():
            matching = judgement.rules.pattern(pattern)
            names = [name for name in spot.value if matching.is_valid(name)]
            out.evaluated.update(names)
            judgement.parts(child, names, spot, out)


def _additional(judgement: Judgement, schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    if isinstance(spot.value, dict):
        patterns = [judgement.rules.pattern(pattern) for pattern in schema.get("patternProperties", ())]
        named = schema.get("properties", {})
        names = [name for name in spot.value if name not in named and not any(item.is_valid(name) for item in patterns)]
        _others(judgement, "additionalProperties", schema, limit, names, spot, out)


def _others(
    judgement: Judgement, keyword: str, schema: dict[str, Any], limit: Any, names: list[Any], spot: Spot, out: Outcome
) -> None:
    if limit is False and names:
        told = tuple(names) if isinstance(spot.value, dict) else ()
        out.add(Violation(spot.path, keyword, schema, spot.value, told))
    elif limit is not False:
        judgement.parts(limit, names, spot, out)
    out.evaluated.update(names)


def _property_names(judgement: Judgement, schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    if isinstance(spot.value, dict):
        for name in spot.value:
            found = judgement.outcome(limit, Spot(name, spot.path))
            if found.fits is None:
                out.violations |= found.violations
            elif not found.fits:
                out.add(Violation(spot.path, "propertyNames", schema, spot.value, (name,)))


def _prefix_items(judgement: Judgement, _schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    if isinstance(spot.value, list):
        for index, child in enumerate(limit[: len(spot.value)]):
            out.evaluated.add(index)
            out.take(judgement.outcome(child, spot.part(index)))


def _items(judgement: Judgement, schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    if isinstance(spot.value, list):
        rest = range(len(schema.get("prefixItems", ())), len(spot.value))
        judgement.parts(limit, rest, spot, out)
        out.evaluated.update(rest)


def _contains(judgement: Judgement, schema: dict[str, Any], limit: Any, spot: Spot, out: Outcome) -> None:
    if not isinstance(spot.value, list):
        return
    whole = judgement.rules.whole(limit) if len(spot.value) > _MANY else None
    if whole is None:
        found = [judgement.outcome(limit, spot.part(index)).fits for index in range(len(spot.value))]
    else:
        judgement.budget.spend(len(spot.value) * _STEP_OF_ENGINE)
        found = [whole.is_valid(item) for item in spot.value]
    out.evaluated.update(index for index, fits in enumerate(found) if fits)
    least, most = schema.get("minContains", 1), schema.get("maxContains", len(found))
    sure, possible = found.count(True), len(found) - found.count(False)
    if possible < least:
        out.add(Violation(spot.path, "contains", schema, spot.value))
    elif sure > most:
        out.add(Violation(spot.path, "maxContains", schema, spot.value))
    elif sure < least or possible > most:
        out.add(Violation(spot.path, UNJUDGED, schema, spot.value))


def _unevaluated(
    judgement: Judgement,
    schema: dict[str, Any],
    limit: Any,
    spot: Spot,
    out: Outcome,
    *,
    keyword: str,
    kind: type[dict[str, Any] | list[Any]],
) -> None:
    # Where no branch of a choice fits, or it is not known whether one does, nothing can be said of the rest.
    unknown = any(
        violation.keyword in ("anyOf", "oneOf", UNJUDGED) and violation.path == spot.path
        for violation in out.violations
    )
    if isinstance(spot.value, kind) and not unknown:
        steps: Iterable[Any] = spot.value if isinstance(spot.value, dict) else range(len(spot.value))
        names = [step for step in steps if step not in out.evaluated]
        if limit is False:
            # Of what a branch is for, its reasons not to fit say more than that nothing else is for it.
            for step in names:
                if step in out.untaken:
                    out.violations |= out.untaken[step].violations
            names = [step for step in names if step not in out.untaken]
        _others(judgement, keyword, schema, limit, names, spot, out)


APPLICATORS: Final[dict[str, _Applicator]] = {
    "$ref": _reference,
    "allOf": _all_of,
    "anyOf": functools.partial(_choice, keyword="anyOf"),
    "oneOf": functools.partial(_choice, keyword="oneOf"),
    "not": _not,
    "if": _if,
    "dependentSchemas": _dependent_schemas,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "prefixItems": _prefix_items,
    "items": _items,
    "contains": _contains,
}
"""The keywords with subschemas; each adds what it finds to an outcome."""

_LAST: Final[dict[str, _Applicator]] = {
    "unevaluatedProperties": functools.partial(_unevaluated, keyword="unevaluatedProperties", kind=dict),
    "unevaluatedItems": functools.partial(_unevaluated, keyword="unevaluatedItems", kind=list),
}
