"""The validator of the pure-Python `jsonschema`, for platforms without a wheel of `jsonschema-rs`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from utcp_bridge.schema._ecma import PatternError, compiled, to_python
from utcp_bridge.schema.dialect import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS
from utcp_bridge.schema.validator import CannotCompileError, Validator, Violation


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not compiled(pattern).search(instance):
        yield ValidationError("does not match")


_Draft202012: Any = extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator, {"pattern": _pattern}
)
_TOO_DEEP = "depth"
_NAMED = (
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
)  # where the library names what it refuses


class PureEngine:
    """Compiles with `jsonschema`."""

    def compile(self, schema: dict[str, Any] | bool, *, assert_formats: bool) -> Validator:
        """Compile a schema; raises `CannotCompileError`."""
        # Not checked against the metaschema: what is bundled fits it, and the check takes longer than all the rest.
        try:
            translated = _translated(schema, ())
        except RecursionError as error:
            raise CannotCompileError(str(error)) from None
        formats = jsonschema.Draft202012Validator.FORMAT_CHECKER if assert_formats else None
        return _PureValidator(_Draft202012(translated, format_checker=formats))


class _PureValidator:
    __slots__ = ("_compiled",)

    def __init__(self, compiled_schema: Any) -> None:
        self._compiled = compiled_schema

    def is_valid(self, instance: Any) -> bool:
        """Tell whether the instance fits."""
        try:
            return bool(self._compiled.is_valid(instance))
        except RecursionError:
            return False

    def violations(self, instance: Any) -> list[Violation]:
        """Tell every rule that the instance breaks."""
        try:
            return _violations(self._compiled.iter_errors(instance))
        except RecursionError:
            return [Violation((), _TOO_DEEP, True, instance)]


def _translated(schema: Any, path: tuple[str | int, ...]) -> Any:
    """Write a schema as the library needs it.

    It takes the keys of `patternProperties` for Python's regular expressions, and loses the path of a value that
    the schema `false` refuses (4.26.0).
    """
    if schema is False:
        return {"not": {}}
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
        elif (keyword in SCHEMA_KEYWORDS or keyword == "items") and not (value is False and keyword in _NAMED):
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


def _violations(errors: Iterable[ValidationError]) -> list[Violation]:
    found: dict[tuple[Any, ...], Violation] = {}
    for error in errors:
        violation = _violation(error)
        # The library tells each missing name apart; one violation here holds them all.
        found.setdefault((violation.path, violation.keyword, id(error.schema)), violation)
    return list(found.values())


def _violation(error: ValidationError) -> Violation:
    path, keyword = tuple(error.absolute_path), str(error.validator)
    schema: Any = error.schema
    instance: Any = error.instance
    if keyword == "not" and schema == {"not": {}}:
        return Violation(path, "false", False, instance)
    if "propertyNames" in error.absolute_schema_path and isinstance(instance, str):
        # The library judges each name by itself; the path is that of the object.
        return Violation(path, "propertyNames", {"propertyNames": schema}, {instance: None}, (instance,))
    names: tuple[str, ...] = ()
    if keyword == "required":
        names = tuple(name for name in schema[keyword] if name not in instance)
    elif keyword == "dependentRequired":
        wanted = (name for key, others in schema[keyword].items() if key in instance for name in others)
        names = tuple(dict.fromkeys(name for name in wanted if name not in instance))
    elif keyword == "additionalProperties":
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        names = tuple(
            name for name in instance if name not in known and not any(re.search(item, name) for item in patterns)
        )
    branches: tuple[tuple[Violation, ...], ...] = ()
    if keyword in ("anyOf", "oneOf"):
        by_branch: list[list[ValidationError]] = [[] for _ in schema[keyword]]
        for inner in error.context or ():
            by_branch[int(inner.schema_path[0])].append(inner)
        branches = tuple(tuple(_violations(branch)) for branch in by_branch)
    return Violation(path, keyword, schema, instance, names, branches)
