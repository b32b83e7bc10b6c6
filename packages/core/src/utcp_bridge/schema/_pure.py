"""The engine of the pure-Python `jsonschema`, for platforms without a wheel of `jsonschema-rs`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from utcp_bridge.schema._ecma import PatternError, compiled, to_python
from utcp_bridge.schema.dialect import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS
from utcp_bridge.schema.rules import Check
from utcp_bridge.schema.validator import CannotCompileError


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not compiled(pattern).search(instance):
        yield ValidationError("does not match")


def _unique_items(validator: Any, is_unique: bool, instance: Any, schema: Any) -> Iterator[ValidationError]:
    # The library compares each item with each other.
    if is_unique and isinstance(instance, list) and len({_key(item) for item in instance}) < len(instance):
        yield ValidationError("is not unique")


def _key(value: Any) -> Any:
    """Give a value as something that is equal where JSON Schema says so (core, section 4.2.2)."""
    if isinstance(value, dict):
        return "object", frozenset((name, _key(item)) for name, item in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_key, value))
    return ("boolean", value) if isinstance(value, bool) else value


_Draft202012: Any = extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator, {"pattern": _pattern, "uniqueItems": _unique_items}
)


class PureEngine:
    """Compiles with `jsonschema`."""

    is_quick = False

    def compile(self, schema: dict[str, Any] | bool, *, assert_formats: bool) -> Check:
        """Compile a schema; raises `CannotCompileError`."""
        # Not checked against the metaschema: what is bundled fits it, and the check takes longer than all the rest.
        try:
            translated = _translated(schema, ())
        except RecursionError as error:
            raise CannotCompileError(str(error)) from None
        formats = jsonschema.Draft202012Validator.FORMAT_CHECKER if assert_formats else None
        checked: Check = _Draft202012(translated, format_checker=formats)
        return checked


def _translated(schema: Any, path: tuple[str | int, ...]) -> Any:
    """Write the keys of `patternProperties` as the library needs them: it takes them for Python's own expressions."""
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        here = (*path, keyword)
        if keyword == "pattern":
            _python_pattern(value, here)
        if keyword in SCHEMA_MAP_KEYWORDS or keyword == "$defs":
            result[keyword] = {name: _translated(child, (*here, name)) for name, child in value.items()}
        elif keyword in SCHEMA_LIST_KEYWORDS:
            result[keyword] = [_translated(child, (*here, index)) for index, child in enumerate(value)]
        elif keyword in SCHEMA_KEYWORDS or keyword == "items":
            result[keyword] = _translated(value, here)
        else:
            result[keyword] = value
        if keyword == "patternProperties":
            children = result[keyword].items()
            result[keyword] = {_python_pattern(name, (*here, name)): child for name, child in children}
    return result


def _python_pattern(pattern: str, path: tuple[str | int, ...]) -> str:
    try:
        return to_python(pattern)
    except PatternError as error:
        raise CannotCompileError(str(error), path) from None
