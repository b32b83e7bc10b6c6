"""The validator of `jsonschema-rs`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs

from utcp_bridge.schema.validator import CannotCompileError, Validator, Violation

_DIGITS = re.compile(r"\+?[0-9]+")


class RustEngine:
    """Compiles with `jsonschema-rs`."""

    def compile(self, schema: dict[str, Any] | bool, *, assert_formats: bool) -> Validator:
        """Compile a schema; raises `CannotCompileError`."""
        try:
            compiled = jsonschema_rs.Draft202012Validator(schema, validate_formats=assert_formats, offline=True)
        except jsonschema_rs.ValidationError as error:
            raise CannotCompileError(error.message, tuple(error.instance_path)) from None
        except ValueError as error:
            raise CannotCompileError(str(error)) from None
        return _RustValidator(schema, compiled)


class _RustValidator:
    __slots__ = ("_compiled", "_schema", "is_valid")

    def __init__(self, schema: dict[str, Any] | bool, compiled: jsonschema_rs.Validator) -> None:
        self._schema = schema
        self._compiled = compiled
        self.is_valid = compiled.is_valid

    def violations(self, instance: Any) -> list[Violation]:
        """Tell every rule that the instance breaks."""
        return [self._violation(error, instance) for error in self._compiled.iter_errors(instance)]

    def _violation(self, error: jsonschema_rs.ValidationError, instance: Any) -> Violation:
        kind: Any = error.kind
        where = [*error.schema_path]
        is_about_name = kind.name == "propertyNames"
        rule = kind.error.kind.name if is_about_name else kind.name
        keyword = "false" if rule == "falseSchema" else str(where.pop())
        names: tuple[str, ...] = ()
        if hasattr(kind, "unexpected"):
            names = tuple(map(str, kind.unexpected))
        elif kind.name == "required":
            names = (kind.property,)
        branches = tuple(
            tuple(self._violation(inner, instance) for inner in branch) for branch in getattr(kind, "context", ())
        )
        path, value = _found(instance, error.instance_path, lambda end: bool(end == error.instance))
        _, schema = _found(self._schema, where, lambda end: _stands_in(keyword, end))
        if is_about_name:
            return Violation(path, "propertyNames", {"propertyNames": schema}, value, (str(kind.error.instance),))
        return Violation(path, keyword, schema, value, names, branches)


def _stands_in(keyword: str, schema: Any) -> bool:
    return isinstance(schema, dict) and keyword in schema if keyword != "false" else schema is False


_Way = tuple[tuple[str | int, ...], Any]


def _found(value: Any, steps: list[str | int], fits: Callable[[Any], bool]) -> _Way:
    """Follow a path of the library, which loses two things of it (0.61.2).

    An empty key is left out, and a key of digits is given as a number: the value at the end tells what was meant.
    """
    ways = list(_ways(value, steps))
    return next((way for way in ways if fits(way[1])), ways[0] if ways else ((), value))


def _ways(value: Any, steps: list[str | int]) -> Iterator[_Way]:
    if not steps:
        yield (), value
    elif isinstance(value, list):
        if isinstance(steps[0], int) and steps[0] < len(value):
            yield from (((steps[0], *path), end) for path, end in _ways(value[steps[0]], steps[1:]))
    elif isinstance(value, dict):
        for key in value:
            if key == steps[0] or (isinstance(steps[0], int) and _DIGITS.fullmatch(key) and int(key) == steps[0]):
                yield from (((key, *path), end) for path, end in _ways(value[key], steps[1:]))
    if isinstance(value, dict) and "" in value:
        yield from ((("", *path), end) for path, end in _ways(value[""], steps))
