"""A compiled validator of draft 2020-12, behind one small interface.

`jsonschema-rs` judges wherever it has a wheel; elsewhere (32-bit ARM for one) the pure-Python `jsonschema` does.
Both see only what `bundle` writes: one dialect, no identifiers, references into `$defs`.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import Any, Protocol


class CannotCompileError(ValueError):
    """The engine refuses a schema; `path` leads to the keyword that it cannot use."""

    def __init__(self, reason: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(reason)
        self.path = path


@dataclass(frozen=True, slots=True)
class Violation:
    """One rule of the schema that an instance breaks.

    Attributes:
        path: Where in the instance.
        keyword: The keyword of the rule; `"false"` for the boolean schema.
        schema: The schema that the keyword stands in.
        instance: The value at `path`.
        names: The properties that are missing (`required`), or not allowed (`additionalProperties`).
        branches: For `anyOf` and `oneOf`, the violations of each branch.
    """

    path: tuple[str | int, ...]
    keyword: str
    schema: Any
    instance: Any
    names: tuple[str, ...] = ()
    branches: tuple[tuple[Violation, ...], ...] = ()


class Validator(Protocol):
    """Judges instances against one schema; safe to share between threads."""

    def is_valid(self, instance: Any) -> bool:
        """Tell whether the instance fits."""

    def violations(self, instance: Any) -> list[Violation]:
        """Tell every rule that the instance breaks; empty if it fits."""


class Engine(Protocol):
    """A library that compiles schemas."""

    def compile(self, schema: dict[str, Any] | bool, *, assert_formats: bool) -> Validator:
        """Compile a schema; raises `CannotCompileError`."""


@functools.cache
def engine() -> Engine:
    """Give the engine of this installation."""
    try:
        importlib.import_module("jsonschema_rs")
    except ImportError:
        return importlib.import_module("utcp_bridge.schema._pure").PureEngine()  # type: ignore[no-any-return]
    return importlib.import_module("utcp_bridge.schema._rust").RustEngine()  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=4096)
def pattern_problem(pattern: str) -> str | None:
    """Tell why a regular expression of a schema cannot be used; None if it can."""
    try:
        compile_validator({"pattern": pattern})
    except CannotCompileError as error:
        return str(error)
    return None


def compile_validator(schema: dict[str, Any] | bool, *, assert_formats: bool = False) -> Validator:
    """Compile a schema.

    Args:
        schema: A self-contained schema of draft 2020-12.
        assert_formats: Whether `format` refuses values; by default it only describes them.

    Raises:
        CannotCompileError: The engine refuses the schema.
    """
    return engine().compile(schema, assert_formats=assert_formats)
