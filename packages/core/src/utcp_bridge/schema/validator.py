"""A compiled validator of draft 2020-12, behind one small interface.

`jsonschema-rs` gives the verdict wherever it has a wheel; elsewhere (32-bit ARM for one), and over schemas that would
cost it too much, `judging` does, with the pure-Python `jsonschema` or `jsonschema-rs` for the single keywords. Reasons
always come from `judging`. All see only what `bundle` writes: one dialect, no identifiers, references into `$defs`.
"""

from __future__ import annotations

import functools
import importlib
import threading
from typing import Any, Final, Protocol

from utcp_bridge.schema.bundled import with_subschemas
from utcp_bridge.schema.judging import integers, verdict, violations
from utcp_bridge.schema.rules import Check, Rules, referred, tracks_evaluated
from utcp_bridge.schema.violations import UNJUDGED, Budget, Violation
from utcp_bridge.schema.weight import may_weigh, weight

_MAX_WEIGHT: Final = 10_000
"""The most times that the engine may judge one value; it takes some 10 ns each time."""

_MAX_WEIGHT_OF_UNEVALUATED: Final = 500
"""The same where it has to know what was evaluated: it writes that out when it compiles (jsonschema-rs 0.61.2)."""

STEPS: Final = 8_000
"""The steps to find out what is wrong with arguments: some 30 ms."""

_VALUES_PER_STEP: Final = 50
"""The values that the engine judges in about the time of one step."""


class CannotCompileError(ValueError):
    """The engine refuses a schema; `path` leads to the keyword that it cannot use."""

    def __init__(self, reason: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(reason)
        self.path = path


class Engine(Protocol):
    """A library that compiles schemas.

    Attributes:
        is_quick: Whether its verdict on a whole schema is to be preferred to that of `judging`.
    """

    is_quick: bool

    def compile(self, schema: dict[str, Any] | bool, *, assert_formats: bool) -> Check:
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
        engine().compile({"pattern": pattern}, assert_formats=False)
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
    return Validator(schema, engine(), assert_formats=assert_formats)


class Validator:
    """Judges instances against one schema; safe to share between threads."""

    __slots__ = ("_assert_formats", "_engine", "_is_quick", "_lock", "_rules", "_schema", "is_valid")

    def __init__(self, schema: dict[str, Any] | bool, engine: Engine, *, assert_formats: bool) -> None:
        self._schema = schema
        self._engine = engine
        self._assert_formats = assert_formats
        self._lock = threading.Lock()
        self._rules: Rules | None = None
        self._is_quick = engine.is_quick and _is_light(schema)
        # A heavy one is compiled only to see whether it can be.
        whole = schema if self._is_quick else _without_unevaluated(schema)
        compiled = engine.compile(whole, assert_formats=assert_formats)
        self.is_valid = compiled.is_valid if self._is_quick else self._judged
        """Tells whether an instance fits."""

    def judge(self, instance: Any) -> list[Violation]:
        """Tell the rules that the instance breaks; empty if it fits."""
        if not self._is_quick:
            return verdict(self._prepared(), instance, STEPS)
        return [] if self.is_valid(instance) else self._reasons(instance, Budget(STEPS))

    def violations(self, instance: Any, budget: Budget) -> list[Violation]:
        """Tell the rules that the instance breaks, as far as the budget goes; empty if it fits."""
        if not self._is_quick:
            return violations(self._prepared(), instance, budget)
        budget.spend(_size(instance) / _VALUES_PER_STEP)
        return [] if self.is_valid(instance) else self._reasons(instance, budget)

    def integers(self, instance: Any, budget: Budget) -> set[tuple[str | int, ...]]:
        """Find the whole floats of an instance that fits, where the schema takes integers and no other numbers."""
        rules = self._prepared()
        return integers(rules, instance, budget) if rules.names_integers(rules.schema) else set()

    def _reasons(self, instance: Any, budget: Budget) -> list[Violation]:
        # The engine's verdict stands, also where the reasons for it cannot be told.
        return violations(self._prepared(), instance, budget) or [Violation((), UNJUDGED, {}, instance)]

    def _judged(self, instance: Any) -> bool:
        return not verdict(self._prepared(), instance, STEPS)

    def _prepared(self) -> Rules:
        with self._lock:
            if self._rules is None:
                compile_check = functools.partial(self._engine.compile, assert_formats=self._assert_formats)
                self._rules = Rules(self._schema, compile_check, is_quick=self._is_quick)
            return self._rules


def _is_light(schema: dict[str, Any] | bool) -> bool:
    # Without definitions a schema is judged about as often as it is long.
    if isinstance(schema, bool) or "$defs" not in schema:
        return True
    most = _MAX_WEIGHT_OF_UNEVALUATED if tracks_evaluated(schema) else _MAX_WEIGHT
    return not may_weigh(schema, most) or weight(schema, functools.partial(referred, schema)) <= most


def _without_unevaluated(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = {keyword: value for keyword, value in schema.items() if not keyword.startswith("unevaluated")}
    return with_subschemas(kept, _without_unevaluated)


def _size(instance: Any) -> int:
    count, waiting = 0, [instance]
    while waiting:
        value = waiting.pop()
        count += 1
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return count
