"""JSON Schema dialects: which draft a schema is written in, and what each keyword's value must be.

The rules are those of the metaschemas of drafts 4, 6, 7, 2019-09 and 2020-12. A schema that declares no draft is
read as 2020-12, and the older and OpenAPI 3.0 forms that cannot mean anything else there are read as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

from utcp_bridge.schema.plain import NotJsonError, plain

LATEST_URI = "https://json-schema.org/draft/2020-12/schema"


class Draft(IntEnum):
    """A draft of JSON Schema, ordered by age."""

    D4 = 4
    D6 = 6
    D7 = 7
    D2019 = 2019
    D2020 = 2020


class UnreadableError(ValueError):
    """The value of a keyword cannot be read; the message says what it must be."""


_DECLARED = re.compile(r"json-schema\.org/draft(?:/(2019|2020)-\d\d|-0([3-7]))/")
_BY_NUMBER = {"3": Draft.D4, "4": Draft.D4, "5": Draft.D4, "6": Draft.D6, "7": Draft.D7}


def declared_draft(uri: Any) -> Draft | None:
    """Tell which draft `$schema` names; None for one that is not known."""
    found = _DECLARED.search(uri) if isinstance(uri, str) else None
    if found is None:
        return None
    year, number = found.groups()
    return Draft(int(year)) if year else _BY_NUMBER[number]


SINCE: Mapping[str, Draft] = {
    "const": Draft.D6,
    "contains": Draft.D6,
    "propertyNames": Draft.D6,
    "if": Draft.D7,
    "then": Draft.D7,
    "else": Draft.D7,
    "dependentRequired": Draft.D2019,
    "dependentSchemas": Draft.D2019,
    "maxContains": Draft.D2019,
    "minContains": Draft.D2019,
    "unevaluatedItems": Draft.D2019,
    "unevaluatedProperties": Draft.D2019,
    "$dynamicRef": Draft.D2020,
    "prefixItems": Draft.D2020,
}
"""The first draft that knows a keyword; a schema that declares an older one gives the keyword no meaning."""

SCHEMA_KEYWORDS = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
SCHEMA_LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SCHEMA_MAP_KEYWORDS = frozenset({"properties", "patternProperties", "dependentSchemas"})
DEFINITION_KEYWORDS = frozenset({"$defs", "definitions"})
IDENTITY_KEYWORDS = frozenset(
    {"$anchor", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary"} | DEFINITION_KEYWORDS
)
"""Keywords about the document that a bundled schema needs no longer."""

ANNOTATIONS = frozenset(
    {
        "$comment",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "default",
        "deprecated",
        "description",
        "discriminator",
        "example",
        "examples",
        "externalDocs",
        "format",
        "readOnly",
        "title",
        "writeOnly",
        "xml",
    }
)
"""Keywords that tell readers something and never refuse a value (`format` does only where formats are asserted)."""

TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


def tidy_number(value: Any) -> Any:
    """Give a whole float as the integer that it is: UTCP reads the bound `1` and writes `1.0`."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UnreadableError("must be a number")
    return tidy_number(value)


def _positive_number(value: Any) -> Any:
    if (number := _number(value)) <= 0:
        raise UnreadableError("must be a number above 0")
    return number


def _count(value: Any) -> Any:
    number = tidy_number(value)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise UnreadableError("must be a whole number of at least 0")
    # More than any value can have, and more than the validators can count to.
    return min(number, 2**53)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise UnreadableError("must be a string")
    return str(plain(value))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UnreadableError("must be true or false")
    return value


def _type(value: Any) -> Any:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise UnreadableError(f"must be one of {', '.join(TYPES)}, or a list of them")
    if unknown := [name for name in names if name.lower() not in TYPES]:
        raise UnreadableError(f"must be one of {', '.join(TYPES)}, not {unknown[0]!r}")
    lowered = list(dict.fromkeys(name.lower() for name in names))
    return lowered[0] if isinstance(value, str) else lowered


def _names(value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise UnreadableError("must be a list of property names")
    return list(dict.fromkeys(plain(value)))


def _names_by_name(value: Any) -> dict[str, list[str]]:
    if not isinstance(value, Mapping):
        raise UnreadableError("must be an object of lists of property names")
    return {plain(name): _names(names) for name, names in value.items()}


def _values(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise UnreadableError("must be a list of values")
    return list(any_value(value))


def any_value(value: Any) -> Any:
    """Read a keyword whose value may be any JSON."""
    try:
        return plain(value)
    except NotJsonError as error:
        raise UnreadableError(f"must be JSON, but {error}") from None


VALUE_READERS: Mapping[str, Callable[[Any], Any]] = {
    "type": _type,
    "enum": _values,
    "const": any_value,
    "multipleOf": _positive_number,
    "maximum": _number,
    "minimum": _number,
    "exclusiveMaximum": _number,
    "exclusiveMinimum": _number,
    "maxLength": _count,
    "minLength": _count,
    "maxItems": _count,
    "minItems": _count,
    "maxContains": _count,
    "minContains": _count,
    "maxProperties": _count,
    "minProperties": _count,
    "uniqueItems": _flag,
    "required": _names,
    "dependentRequired": _names_by_name,
    "title": _text,
    "description": _text,
    "$comment": _text,
    "format": _text,
    "contentEncoding": _text,
    "contentMediaType": _text,
    "deprecated": _flag,
    "readOnly": _flag,
    "writeOnly": _flag,
    "examples": _values,
    "default": any_value,
}
"""What each keyword without subschemas must be; a reader gives the clean value or raises `UnreadableError`."""

NULL_HAS_MEANING = frozenset({"const", "default", "example"})
"""Keywords whose null says something; elsewhere UTCP's own dump writes null for "not given"."""
