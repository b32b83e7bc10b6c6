"""What one broken rule says of a value: what was expected, and what came."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from utcp_bridge.nearest import nearest
from utcp_bridge.schema.outline import expectation
from utcp_bridge.schema.places import Places
from utcp_bridge.schema.violations import Violation

_MAX_SHOWN_VALUE: Final = 80
_MAX_COMPARED: Final = 200_000
"""The most pairs of letters that are compared for one refusal in search of names that were meant: some 20 ms."""
_LONGEST_NAME: Final = 200


class Words:
    """The words about one call's arguments."""

    def __init__(self, schema: dict[str, Any], places: Places, shown_names: Mapping[str, str]) -> None:
        self._schema = schema
        self._places = places
        self._shown_names = shown_names
        self._to_compare = _MAX_COMPARED

    def named(self, names: Iterable[str]) -> list[str]:
        """Give names of properties as models know them."""
        return [self._shown_names.get(name, name) for name in names]

    def expected(self, schema: Any) -> str:
        """Tell in a few words what a schema expects; empty if it expects nothing in particular."""
        return expectation(schema, self._schema)

    def nearest(self, given: str, known: Iterable[str]) -> str | None:
        """Give the name that was probably meant, as long as looking for names has not taken too long."""
        compared = []
        for name in known:
            self._to_compare -= min(len(given), _LONGEST_NAME) * min(len(name), _LONGEST_NAME)
            if self._to_compare < 0:
                break
            compared.append(name)
        return nearest(given, compared)

    def message(self, violation: Violation) -> str:
        """Tell what is wrong with the value itself."""
        keyword, instance = violation.keyword, violation.instance
        limit = violation.schema.get(keyword) if isinstance(violation.schema, dict) else None
        came = f"got {self.shown(instance, violation.path)}"
        match keyword:
            case "type":
                kind = {key: violation.schema[key] for key in ("type", "format", "pattern") if key in violation.schema}
                return f"must be {self.expected(kind)}; {came}"
            case "enum" | "const":
                return f"must be {self.expected({keyword: limit})}; {came}{self._closest(violation)}"
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
                wanted = f"must have {_bound(keyword)} {counted(limit, 'character')}"
                return wanted if self._places.is_secret(violation.path) else f"{wanted}; got {len(instance)}"
            case "minItems" | "maxItems":
                return f"must have {_bound(keyword)} {counted(limit, 'item')}; got {len(instance)}"
            case "minProperties" | "maxProperties":
                return f"must have {_bound(keyword)} {counted(limit, 'property')}; got {len(instance)}"
            case "pattern":
                return f"must match the regular expression {limit}; {came}"
            case "format":
                return f"must be a valid {limit}; {came}"
            case "uniqueItems":
                return f"must not hold the same item twice; {came}"
            case "contains" | "minContains" | "maxContains":
                wanted = self.expected(violation.schema.get("contains"))
                least, most = violation.schema.get("minContains", 1), violation.schema.get("maxContains")
                upper = "" if most is None else f" and at most {most}"
                return f"must have at least {least}{upper} of its items be {wanted or 'of another form'}; {came}"
            case "propertyNames":
                wanted = self.expected(limit)
                name = json.dumps(violation.names[0], ensure_ascii=False)
                return f"has the property name {name}, which is not allowed" + (
                    f"; it must be {wanted}" if wanted else ""
                )
            case "not":
                return self._not(limit, came)
            case "depth":
                return "is nested too deeply to be judged"
            case "unjudged":
                wanted = self.expected(violation.schema)
                return f"does not fit, or something in it; it is too large to tell what{_it_must_be(wanted)}"
            case "unevaluatedItems":
                return f"has more items than allowed; {came}"
        return f"breaks the rule {keyword}; {came}"

    def _not(self, limit: Any, came: str) -> str:
        if isinstance(limit, dict) and limit.keys() == {"required"}:
            return (
                f"must not have {' and '.join(self.named(limit['required']))} together"
                if limit["required"]
                else "is not allowed"
            )
        unwanted = self.expected(limit) if not isinstance(limit, dict) or "properties" not in limit else ""
        return f"must not be {unwanted or 'of this form'}; {came}"

    def _closest(self, violation: Violation) -> str:
        value = violation.instance
        if not isinstance(value, str) or self._places.is_secret(violation.path):
            return ""
        known = [choice for choice in violation.schema.get("enum", ()) if isinstance(choice, str)]
        closest = self.nearest(value, known)
        return "" if closest is None else f"; did you mean {json.dumps(closest, ensure_ascii=False)}?"

    def shown(self, value: Any, path: tuple[str | int, ...]) -> str:
        """Tell a value, or its kind and size; never a secret."""
        if isinstance(value, dict):
            return f"an object with {counted(len(value), 'property')}"
        if isinstance(value, list):
            return f"an array with {counted(len(value), 'item')}"
        if value is None:
            return "null"
        if self._places.is_secret(path):
            return "a value that is not shown"
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > _MAX_SHOWN_VALUE:
            text = f"{text[:_MAX_SHOWN_VALUE]}... ({len(text)} characters)"
        return text


def _it_must_be(wanted: str) -> str:
    return f"; it must be {wanted}" if wanted else ""


def _bound(keyword: str) -> str:
    return "at least" if keyword.startswith("min") else "at most"


def counted(number: Any, noun: str) -> str:
    """Write a number of things."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
