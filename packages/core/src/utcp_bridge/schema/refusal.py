"""Refused arguments, told so that a model can do better: which argument, what came, what was expected."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from utcp_bridge.nearest import nearest
from utcp_bridge.schema.faults import ArgumentFault, path_text
from utcp_bridge.schema.outline import declared_names, expectation, is_declared, is_secret, property_schema
from utcp_bridge.schema.validator import Violation

_MAX_SHOWN_VALUE = 80
_MAX_SHOWN_NAMES = 40


def faults_of(
    violations: Iterable[Violation],
    arguments: Any,
    schema: dict[str, Any],
    shown_names: Mapping[str, str] = MappingProxyType({}),
) -> list[ArgumentFault]:
    """Tell violations of a schema as faults of the arguments, each once.

    Args:
        violations: What the validator says.
        arguments: The arguments.
        schema: The schema.
        shown_names: For each property that models know by another name, that name by the property's own.
    """
    teller = _Teller(arguments, schema, shown_names)
    faults = [fault for violation in violations for fault in teller.tell(violation)]
    return list(dict.fromkeys(faults))


class _Teller:
    def __init__(self, arguments: Any, schema: dict[str, Any], shown_names: Mapping[str, str]) -> None:
        self._arguments = arguments
        self._schema = schema
        self._shown_names = shown_names

    def _fault(self, location: tuple[str | int, ...], message: str) -> ArgumentFault:
        return ArgumentFault.at(self._told(location), message)

    def _told(self, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
        if not self._shown_names:
            return location
        told: list[str | int] = []
        for index, step in enumerate(location):
            known = isinstance(step, str) and step in self._shown_names
            is_renamed = known and is_declared(str(step), location[:index], self._schema)
            told.append(self._shown_names[str(step)] if is_renamed else step)
        return tuple(told)

    def _named(self, names: Iterable[str]) -> list[str]:
        return [self._shown_names.get(name, name) for name in names]

    def tell(self, violation: Violation) -> list[ArgumentFault]:
        """Tell one violation, as one or more faults."""
        keyword = violation.keyword
        if keyword in ("required", "dependentRequired"):
            return [self._missing(violation, name) for name in violation.names]
        if keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(violation.instance, dict):
            if names := violation.names or self._undeclared(violation):
                return [self._unknown(violation, name) for name in names]
            return [self._fault(violation.path, "has a property that is not allowed beside the others")]
        if keyword in ("anyOf", "oneOf"):
            return self._choice(violation)
        if keyword == "false":
            return [self._fault(violation.path, "must not be given" if violation.path else "nothing is allowed")]
        return [self._fault(violation.path, self._message(violation))]

    def _message(self, violation: Violation) -> str:
        keyword, instance = violation.keyword, violation.instance
        limit = violation.schema.get(keyword) if isinstance(violation.schema, dict) else None
        came = f"got {self._shown(instance, violation.path)}"
        match keyword:
            case "type":
                kind = {key: violation.schema[key] for key in ("type", "format", "pattern") if key in violation.schema}
                return f"must be {expectation(kind, self._schema)}; {came}"
            case "enum" | "const":
                return f"must be {expectation({keyword: limit}, self._schema)}; {came}{self._closest(violation)}"
            case "minimum":
                return f"must be at least {limit}; {came}"
            case "maximum":
                return f"must be at most {limit}; {came}"
            case "exclusiveMinimum":
                return f"must be above {limit}; {came}"
            case "exclusiveMaximum":
                return f"must be below {limit}; {came}"
            case "multipleOf":
                return f"must be a multiple of {limit}; {came}"
            case "minLength" | "maxLength":
                wanted = f"must have {_bound(keyword)} {_counted(limit, 'character')}"
                return wanted if is_secret(self._schema, violation.path) else f"{wanted}; got {len(instance)}"
            case "minItems" | "maxItems":
                return f"must have {_bound(keyword)} {_counted(limit, 'item')}; got {len(instance)}"
            case "minProperties" | "maxProperties":
                return f"must have {_bound(keyword)} {_counted(limit, 'property')}; got {len(instance)}"
            case "pattern":
                return f"must match the regular expression {limit}; {came}"
            case "format":
                return f"must be a valid {limit}; {came}"
            case "uniqueItems":
                return f"must not hold the same item twice; {came}"
            case "contains" | "minContains" | "maxContains":
                wanted = expectation(violation.schema.get("contains"), self._schema)
                least, most = violation.schema.get("minContains", 1), violation.schema.get("maxContains")
                upper = "" if most is None else f" and at most {most}"
                return f"must have at least {least}{upper} of its items be {wanted or 'of another form'}; {came}"
            case "propertyNames":
                wanted = expectation(limit, self._schema)
                name = json.dumps(violation.names[0], ensure_ascii=False)
                return f"has the property name {name}, which is not allowed" + (
                    f"; it must be {wanted}" if wanted else ""
                )
            case "not":
                return self._not(limit, came)
            case "depth":
                return "is nested too deeply to be judged"
            case "unevaluatedItems":
                return f"has more items than allowed; {came}"
        return f"breaks the rule {keyword}; {came}"

    def _not(self, limit: Any, came: str) -> str:
        if isinstance(limit, dict) and limit.keys() == {"required"}:
            return (
                f"must not have {' and '.join(self._named(limit['required']))} together"
                if limit["required"]
                else "is not allowed"
            )
        unwanted = expectation(limit, self._schema) if not isinstance(limit, dict) or "properties" not in limit else ""
        return f"must not be {unwanted or 'of this form'}; {came}"

    def _closest(self, violation: Violation) -> str:
        value = violation.instance
        if not isinstance(value, str) or is_secret(self._schema, violation.path):
            return ""
        known = [choice for choice in violation.schema.get("enum", ()) if isinstance(choice, str)]
        closest = nearest(value, known)
        return "" if closest is None else f"; did you mean {json.dumps(closest, ensure_ascii=False)}?"

    def _missing(self, violation: Violation, name: str) -> ArgumentFault:
        wanted = expectation(property_schema(violation.schema, name, self._schema, violation.path), self._schema)
        reason = "is missing"
        if violation.keyword == "dependentRequired":
            given = [key for key, names in violation.schema[violation.keyword].items() if name in names]
            reason += f", and needed beside {' and '.join(self._named(given))}"
        message = f"{reason}; it must be {wanted}" if wanted else reason
        if (meant := self._meant_for(name, violation)) is not None:
            message += f"; if {meant} was meant for it, use this name"
        return self._fault((*violation.path, name), message)

    def _meant_for(self, name: str, violation: Violation) -> str | None:
        """What was given under a name that no one knows and that is like a missing one; told here if nowhere else."""
        is_closed = violation.schema.get("additionalProperties") is False or "unevaluatedProperties" in violation.schema
        if is_closed or not isinstance(violation.instance, dict):
            return None
        return nearest(self._shown_names.get(name, name), self._undeclared(violation))

    def _undeclared(self, violation: Violation) -> list[str]:
        known = declared_names(violation.schema, self._schema)
        return [name for name in violation.instance if name not in known]

    def _unknown(self, violation: Violation, name: str) -> ArgumentFault:
        known = self._named(declared_names(violation.schema, self._schema))
        what, these = ("an argument of this tool", "the arguments") if not violation.path else ("known", "known")
        if violation.path:
            what, these = f"a property of {path_text(self._told(violation.path))}", "its properties"
        message = f"is not {what}"
        closest = nearest(name, known)
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
        came = f"got {self._shown(violation.instance, violation.path)}"
        if any(not branch for branch in branches):
            return [self._fault(violation.path, self._several(violation))]
        here = [[inner for inner in branch if inner.path == violation.path] for branch in branches]
        if all(branch and {inner.keyword for inner in branch} == {"required"} for branch in branches) and all(here):
            missing = [[name for inner in branch for name in inner.names] for branch in branches]
            if everywhere := [name for name in missing[0] if all(name in names for names in missing)]:
                return [self._missing_everywhere(branches, name) for name in everywhere]
            choices = [" with ".join(self._named(names)) for names in missing]
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
            wanted = expectation({violation.keyword: violation.schema[violation.keyword]}, self._schema)
            return [self._fault(violation.path, f"must be {wanted}; {came}")]
        untagged = [branch for branch in kept if not any(_is_tag(inner, violation) for inner in branch)]
        if not untagged:
            return self._tags(kept, violation)
        # Of several, the one that has the right properties, if that is one only.
        matching = [branch for branch in untagged if all(inner.path != violation.path for inner in branch)]
        best = min(matching or untagged, key=len)
        told = [fault for inner in best for fault in self.tell(inner)]
        if len(untagged) == 1 or len(matching) == 1:
            return told
        reasons = "; ".join(str(fault) for fault in told)
        return [self._fault(violation.path, f"fits none of {len(branches)} forms; for the closest, {reasons}")]

    def _several(self, violation: Violation) -> str:
        forms = violation.schema[violation.keyword]
        fitting = [form for form, branch in zip(forms, violation.branches, strict=True) if not branch]
        if all(isinstance(form, dict) and form.get("required") for form in forms):
            choices = [" with ".join(self._named(form["required"])) for form in forms]
            given = [" with ".join(self._named(form["required"])) for form in fitting]
            if len(set(choices)) == len(choices):
                return f"must have only one of: {', '.join(choices)}; got {' and '.join(given)}"
        return f"must fit exactly one of the {len(forms)} forms that it may have, but fits {len(fitting)} of them"

    def _missing_everywhere(self, branches: tuple[tuple[Violation, ...], ...], name: str) -> ArgumentFault:
        holders = [next(inner for inner in branch if name in inner.names) for branch in branches]
        first = holders[0]
        forms = [property_schema(holder.schema, name, self._schema, first.path) for holder in holders]
        wanted = expectation({"anyOf": [form for form in forms if form is not None]}, self._schema)
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
            message = f"must be {expectation({'enum': values}, self._schema)}; got {self._shown(value, path)}"
            faults.append(self._fault(path, message))
        return faults[:1]

    def _shown(self, value: Any, path: tuple[str | int, ...]) -> str:
        if isinstance(value, dict):
            return f"an object with {_counted(len(value), 'property')}"
        if isinstance(value, list):
            return f"an array with {_counted(len(value), 'item')}"
        if value is None:
            return "null"
        if is_secret(self._schema, path):
            return "a value that is not shown"
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > _MAX_SHOWN_VALUE:
            text = f"{text[:_MAX_SHOWN_VALUE]}... ({len(text)} characters)"
        return text


def _is_tag(inner: Violation, choice: Violation) -> bool:
    return inner.keyword in ("const", "enum") and len(inner.path) == len(choice.path) + 1


def _bound(keyword: str) -> str:
    return "at least" if keyword.startswith("min") else "at most"


def _counted(number: Any, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
