"""Refused arguments, told so that a model can do better: which argument, what came, what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from utcp_bridge.schema.faults import ArgumentFault, InvalidArguments, path_text
from utcp_bridge.schema.outline import declared_names
from utcp_bridge.schema.places import Places
from utcp_bridge.schema.tags import meant_branch
from utcp_bridge.schema.violations import UNJUDGED, Violation
from utcp_bridge.schema.wording import Words

_MAX_FAULTS = 100
_MAX_SHOWN_NAMES = 40
_MAX_SHOWN_REASONS = 5


def refusal_of(
    violations: Iterable[Violation], schema: dict[str, Any], shown_names: Mapping[str, str] = MappingProxyType({})
) -> InvalidArguments:
    """Tell violations of a schema as faults of the arguments, each once, and no more than anyone reads.

    Args:
        violations: What the validator says.
        schema: The schema.
        shown_names: For each property that models know by another name, that name by the property's own.
    """
    teller = _Teller(schema, shown_names)
    faults = teller.told(list(violations))
    return InvalidArguments(faults, more=teller.untold)


class _Teller:
    def __init__(self, schema: dict[str, Any], shown_names: Mapping[str, str]) -> None:
        self._schema = schema
        self._shown_names = shown_names
        self._places = Places(schema)
        self._words = Words(schema, self._places, shown_names)
        self._told_of: dict[Violation, list[ArgumentFault]] = {}
        self._declared: dict[int, dict[str, None]] = {}
        self._is_in_choice = False
        self.untold = 0

    def told(self, violations: Sequence[Violation]) -> list[ArgumentFault]:
        """Tell violations, up to a number of faults; the others are counted."""
        # What could not be judged may be right: it is told only where nothing is known to be wrong.
        known = [violation for violation in violations if violation.keyword != UNJUDGED]
        violations = known or [_around(violations)]
        faults: dict[ArgumentFault, None] = {}
        for index, violation in enumerate(violations):
            if len(faults) >= _MAX_FAULTS:
                self.untold += len(violations) - index
                break
            # Each once: choices share their branches, and would be told again and again.
            if violation not in self._told_of:
                self._told_of[violation] = self._tell(violation)
            faults |= dict.fromkeys(self._told_of[violation])
        return list(faults)

    def _tell(self, violation: Violation) -> list[ArgumentFault]:
        keyword = violation.keyword
        if keyword in ("required", "dependentRequired"):
            return [self._missing(violation, name) for name in self._some(violation.names)]
        if keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(violation.instance, dict):
            return [self._unknown(violation, name) for name in self._some(violation.names)]
        if keyword in ("anyOf", "oneOf"):
            return self._choice(violation)
        if keyword == "false":
            return [self._fault(violation.path, "must not be given" if violation.path else "nothing is allowed")]
        return [self._fault(violation.path, self._words.message(violation))]

    def _some(self, names: tuple[str, ...]) -> tuple[str, ...]:
        self.untold += max(0, len(names) - _MAX_FAULTS)
        return names[:_MAX_FAULTS]

    def _fault(self, location: tuple[str | int, ...], message: str) -> ArgumentFault:
        return ArgumentFault.at(self._place(location), message)

    def _place(self, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
        if not self._shown_names:
            return location
        told: list[str | int] = []
        for index, step in enumerate(location):
            known = isinstance(step, str) and step in self._shown_names
            is_renamed = known and self._places.is_declared(str(step), location[:index])
            told.append(self._shown_names[str(step)] if is_renamed else step)
        return tuple(told)

    def _missing(self, violation: Violation, name: str) -> ArgumentFault:
        wanted = self._words.expected(self._places.property_schema(violation.schema, name, violation.path))
        reason = "is missing"
        if violation.keyword == "dependentRequired":
            given = [key for key, names in violation.schema[violation.keyword].items() if name in names]
            reason += f", and needed beside {' and '.join(self._words.named(given))}"
        message = f"{reason}; it must be {wanted}" if wanted else reason
        if (meant := self._meant_for(name, violation)) is not None:
            message += f"; if {meant} was meant for it, use this name"
        return self._fault((*violation.path, name), message)

    def _meant_for(self, name: str, violation: Violation) -> str | None:
        """What was given under a name that no one knows and that is like a missing one; told here if nowhere else."""
        is_closed = violation.schema.get("additionalProperties") is False or "unevaluatedProperties" in violation.schema
        if is_closed or not isinstance(violation.instance, dict):
            return None
        return self._words.nearest(self._shown_names.get(name, name), self._undeclared(violation))

    def _undeclared(self, violation: Violation) -> list[str]:
        known = self._known(violation)
        return [name for name in violation.instance if name not in known]

    def _known(self, violation: Violation) -> dict[str, None]:
        key = id(violation.schema)
        if key not in self._declared:
            own = violation.keyword == "additionalProperties"
            schema = {"properties": violation.schema.get("properties", {})} if own else violation.schema
            self._declared[key] = dict.fromkeys(declared_names(schema, self._schema))
        return self._declared[key]

    def _unknown(self, violation: Violation, name: str) -> ArgumentFault:
        known = self._words.named(self._known(violation))
        what, these = ("an argument of this tool", "the arguments") if not violation.path else ("known", "known")
        if violation.path:
            what, these = f"a property of {path_text(self._place(violation.path))}", "its properties"
        if name in self._known(violation):
            return self._fault((*violation.path, name), f"is not {what} beside the others that were given")
        message = f"is not {what}"
        closest = self._words.nearest(name, known)
        if closest is not None:
            message += f"; did you mean {closest}?"
        if known:
            shown = ", ".join(known[:_MAX_SHOWN_NAMES])
            more = f" and {len(known) - _MAX_SHOWN_NAMES} more" if len(known) > _MAX_SHOWN_NAMES else ""
            message += f"{'' if closest is not None else ';'} {these} are: {shown}{more}"
        else:
            message += "; it takes none"
        return self._fault((*violation.path, name), message)

    def _choice(self, violation: Violation) -> list[ArgumentFault]:
        branches = violation.branches
        came = f"got {self._words.shown(violation.instance, violation.path)}"
        if any(not branch for branch in branches):
            return [self._fault(violation.path, self._several(violation))]
        here = [[inner for inner in branch if inner.path == violation.path] for branch in branches]
        if all(branch and {inner.keyword for inner in branch} == {"required"} for branch in branches) and all(here):
            missing = [[name for inner in branch for name in inner.names] for branch in branches]
            if everywhere := [name for name in missing[0] if all(name in names for names in missing)]:
                return [self._missing_everywhere(branches, name) for name in everywhere]
            choices = [" with ".join(self._words.named(names)) for names in missing]
            how_many = "exactly" if violation.keyword == "oneOf" else "at least"
            wanted = f"must have {how_many} one of: {', '.join(dict.fromkeys(choices))}; got none of them"
            return [self._fault(violation.path, wanted)]
        # The branches that a value of this kind, with these tags, can have been meant for.
        kept = [
            branch
            for branch, at_value in zip(branches, here, strict=True)
            if not any(inner.keyword in ("type", "false", "const", "enum") for inner in at_value)
        ]
        if not kept:
            wanted = self._words.expected({violation.keyword: violation.schema[violation.keyword]})
            return [self._fault(violation.path, f"must be {wanted}; {came}")]
        if (meant := meant_branch(violation.schema, violation.keyword, violation.instance)) is not None:
            return self.told(branches[meant])
        untagged = [branch for branch in kept if not any(_is_tag(inner, violation) for inner in branch)]
        if not untagged:
            return self._tags(kept, violation)
        # Of several, the one that has the right properties, if that is one only; else the one that goes wrong latest.
        matching = [branch for branch in untagged if all(inner.path != violation.path for inner in branch)]
        best = min(matching or untagged, key=_distance)
        if len(untagged) == 1 or len(matching) == 1 or self._is_in_choice:
            return self.told(best)
        self._is_in_choice = True
        told = self.told(best)
        self._is_in_choice = False
        shown = "; ".join(map(str, told[:_MAX_SHOWN_REASONS]))
        more = f"; and {len(told) - _MAX_SHOWN_REASONS} more" if len(told) > _MAX_SHOWN_REASONS else ""
        return [self._fault(violation.path, f"fits none of {len(branches)} forms; for the closest, {shown}{more}")]

    def _several(self, violation: Violation) -> str:
        forms = violation.schema[violation.keyword]
        fitting = [form for form, branch in zip(forms, violation.branches, strict=True) if not branch]
        if all(isinstance(form, dict) and form.get("required") for form in forms):
            choices = [" with ".join(self._words.named(form["required"])) for form in forms]
            given = [" with ".join(self._words.named(form["required"])) for form in fitting]
            if len(set(choices)) == len(choices):
                return f"must have only one of: {', '.join(choices)}; got {' and '.join(given)}"
        return f"must fit exactly one of the {len(forms)} forms that it may have, but fits {len(fitting)} of them"

    def _missing_everywhere(self, branches: tuple[tuple[Violation, ...], ...], name: str) -> ArgumentFault:
        holders = [next(inner for inner in branch if name in inner.names) for branch in branches]
        first = holders[0]
        forms = [self._places.property_schema(holder.schema, name, first.path) for holder in holders]
        wanted = self._words.expected({"anyOf": [form for form in forms if form is not None]})
        return self._fault((*first.path, name), f"is missing; it must be {wanted}" if wanted else "is missing")

    def _tags(self, branches: list[tuple[Violation, ...]], violation: Violation) -> list[ArgumentFault]:
        tags: dict[tuple[str | int, ...], list[Any]] = {}
        for branch in branches:
            tag = next(inner for inner in branch if _is_tag(inner, violation))
            values = [tag.schema["const"]] if tag.keyword == "const" else tag.schema["enum"]
            tags.setdefault(tag.path, []).extend(value for value in values)
        faults = []
        for path, values in tags.items():
            value = next(inner.instance for branch in branches for inner in branch if inner.path == path)
            message = f"must be {self._words.expected({'enum': values})}; got {self._words.shown(value, path)}"
            faults.append(self._fault(path, message))
        return faults[:1]


def _around(unjudged: Sequence[Violation]) -> Violation:
    """Give what could not be judged as one: what is wrong lies in it, for all else was found to fit."""
    first = unjudged[0]
    if len(unjudged) == 1:
        return first
    shared = 0
    for steps in zip(*(violation.path for violation in unjudged), strict=False):
        if len(set(steps)) > 1:
            break
        shared += 1
    return Violation(first.path[:shared], UNJUDGED, {}, None)


def _distance(branch: tuple[Violation, ...]) -> tuple[int, int]:
    """How far a value is from a branch: by how much is wrong, then by how early."""
    return len(branch), -min((len(inner.path) for inner in branch), default=0)


def _is_tag(inner: Violation, choice: Violation) -> bool:
    return inner.keyword in ("const", "enum") and len(inner.path) == len(choice.path) + 1
