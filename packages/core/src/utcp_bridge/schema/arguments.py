"""A tool's arguments: what models are shown of them, and what is accepted."""

from __future__ import annotations

import copy
import hashlib
import json
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from utcp_bridge.schema.bundle import SchemaProblem, bundle
from utcp_bridge.schema.dialect import LATEST_URI
from utcp_bridge.schema.given import given_arguments
from utcp_bridge.schema.integers import with_integers
from utcp_bridge.schema.plain import is_bounded
from utcp_bridge.schema.refusal import refusal_of
from utcp_bridge.schema.repair import repaired
from utcp_bridge.schema.root import shape
from utcp_bridge.schema.validator import STEPS, CannotCompileError, Validator, compile_validator
from utcp_bridge.schema.violations import Budget

_MAX_MENDINGS = 32


def arguments_schema(schema: Mapping[str, Any] | bool | None, *, assert_formats: bool = False) -> ArgumentsSchema:
    """Read the schema of a tool's arguments.

    Tools with the same schema share one `ArgumentsSchema` for as long as somebody holds it.

    Args:
        schema: JSON Schema of any draft from 4 to 2020-12, or OpenAPI 3.0's form of it; None for no arguments.
        assert_formats: Whether `format` refuses values; by default it only describes them.

    Returns:
        The arguments schema; nothing is read before it is first used.
    """
    author: Any = {} if schema is None else schema
    if not is_bounded(author):
        return ArgumentsSchema(author, assert_formats=assert_formats)
    try:
        text = json.dumps(author, ensure_ascii=False)
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), assert_formats
    except (TypeError, ValueError, RecursionError):
        return ArgumentsSchema(author, assert_formats=assert_formats)  # no JSON, so nothing to find it by
    with _SHARED_LOCK:
        found = _SHARED.get(key)
        if found is None:
            # Parsed back, so that nobody can change a schema that others share.
            found = _SHARED[key] = ArgumentsSchema(json.loads(text), assert_formats=assert_formats)
        return found


class ArgumentsSchema:
    """The schema of one tool's arguments. Safe to share between threads."""

    __slots__ = ("__weakref__", "_assert_formats", "_author", "_lock", "_problems", "_shown", "_validator")

    def __init__(self, schema: Any, *, assert_formats: bool = False) -> None:
        self._author = schema
        self._assert_formats = assert_formats
        self._lock = threading.RLock()
        self._shown: dict[str, Any] | None = None
        self._problems: tuple[SchemaProblem, ...] = ()
        self._validator: Validator | None = None

    @property
    def shown(self) -> dict[str, Any]:
        """The author's schema made self-contained, as models are shown it.

        Always `{"type": "object", "properties": {...}, ...}` of draft 2020-12 and plain JSON. Do not change it.
        """
        if self._shown is None:
            with self._lock:
                if self._shown is None:
                    self._read()
        assert self._shown is not None  # noqa: S101 - _read sets it
        return self._shown

    @property
    def problems(self) -> tuple[SchemaProblem, ...]:
        """What could not be read and was opened to "anything"; empty for a good schema."""
        _ = self.shown
        return self._problems

    def accept(self, arguments: Mapping[str, Any] | str | None, *, repair: bool = True) -> dict[str, Any]:
        """Judge arguments, and give exactly what goes on the wire.

        Args:
            arguments: The arguments by name, or their JSON text; None and `""` for none.
            repair: Whether slips of models that lose nothing are mended where the schema refuses them: JSON text
                for a container, `"5"` for a number, `"true"` for a boolean, null for an optional that cannot be
                null. Where it takes integers and no other numbers, `3.0` is sent as `3`. Default True.

        Raises:
            InvalidArguments: They do not fit; the error lists every fault.
        """
        return self.judge(given_arguments(arguments), repair=repair)

    def judge(
        self,
        given: dict[str, Any],
        *,
        repair: bool,
        holds_text: bool = False,
        shown_names: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Judge arguments that have been read by `given_arguments`; see `accept`.

        Args:
            given: The arguments.
            repair: Whether slips of models are mended.
            holds_text: Whether the model was asked for text in place of objects, which is read back in any case.
            shown_names: For each property that models know by another name, that name by the property's own.

        Raises:
            InvalidArguments: They do not fit; the error lists every fault, in the names that models know.
        """
        validator = self._validator or self._compiled()
        violations = validator.judge(given)
        if violations and (repair or holds_text):
            given, violations = repaired(validator, given, violations, Budget(STEPS / 2))
        if not violations:
            return with_integers(validator, given) if repair else given
        raise refusal_of(violations, self.shown, shown_names)

    def _read(self) -> None:
        try:
            shown, problems = shape(bundle(self._author))
        except RecursionError:
            # The limits leave room for callers; this one was already deep in its own recursion.
            shown, problems = {"type": "object", "properties": {}}, [SchemaProblem("", "is nested too deeply")]
        self._problems = tuple(problems)
        self._shown = _with_declarations(shown, self._author)

    def _compiled(self) -> Validator:
        with self._lock:
            if self._validator is None:
                self._validator = self._compile()
            return self._validator

    def _compile(self) -> Validator:
        schema: Any = {keyword: value for keyword, value in self.shown.items() if keyword not in ("$schema", "$id")}
        for _ in range(_MAX_MENDINGS):
            try:
                return compile_validator(schema, assert_formats=self._assert_formats)
            except CannotCompileError as error:
                self._problems += (SchemaProblem(_pointer(error.path), f"cannot be used ({error}); it was left out"),)
                if (schema := _without(schema, error.path)) is None:
                    break
        return compile_validator({"type": "object"})

    def __repr__(self) -> str:
        return f"ArgumentsSchema({', '.join(self.shown['properties'])})"


_SHARED: WeakValueDictionary[tuple[bytes, bool], ArgumentsSchema] = WeakValueDictionary()
_SHARED_LOCK = threading.Lock()


def _with_declarations(shown: dict[str, Any], author: Any) -> dict[str, Any]:
    """Keep `$schema` and `$id` of the root, as long as they are true of what is shown."""
    if not isinstance(author, Mapping):
        return shown
    declared: dict[str, Any] = {}
    if isinstance(author.get("$schema"), str):
        unchanged = {key: value for key, value in author.items() if key not in ("$schema", "$id")} == shown
        declared["$schema"] = author["$schema"] if unchanged else LATEST_URI
    identifier = author.get("$id")
    if isinstance(identifier, str) and "#" not in identifier:
        declared["$id"] = identifier
    return {**declared, **shown}


def _pointer(path: tuple[str | int, ...]) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def _without(schema: Any, path: tuple[str | int, ...]) -> Any:
    """Copy a schema without the keyword at a path; None if there is none."""
    steps = list(path)
    while steps and not isinstance(steps[-1], str):
        steps.pop()
    if not steps:
        return None
    result = copy.deepcopy(schema)
    place = result
    try:
        for step in steps[:-1]:
            place = place[step]
        del place[steps[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return result
