"""A limit to what one tool's schema may cost: what matters least for a right call is left out first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from utcp_bridge.schema.bundled import definition_name, subschemas, with_subschemas

DEFAULT_MAX_BYTES = 16_000

_ILLUSTRATION = frozenset({"example", "examples", "externalDocs", "xml", "$comment"})
_KEPT_WHEN_CUT = ("type", "description", "enum", "const", "format")
_DESCRIPTION_STEPS = ((3, 200), (2, 200), (3, 60), (1, 300), (1, 100))
_MAX_CUT_DEPTH = 8
_MAX_CUT_ENUM = 10


@dataclass(frozen=True, slots=True)
class TrimmedSchema:
    """A schema within its budget.

    Attributes:
        schema: The schema.
        left_out: What was left out, one sentence for each step that was needed; empty if nothing was.
    """

    schema: dict[str, Any]
    left_out: tuple[str, ...]


def trimmed(schema: dict[str, Any], max_bytes: int | None = DEFAULT_MAX_BYTES) -> TrimmedSchema:
    """Trim a bundled schema to a budget. The original still judges the arguments.

    Args:
        schema: An arguments schema as it is shown.
        max_bytes: The most bytes of its compact JSON in UTF-8; default 16,000; None never trims.

    Returns:
        The schema, trimmed no further than needed. The names, types and required marks of the arguments themselves
        are never left out, so that a tool with very many arguments may stay above the budget.
    """
    left_out: list[str] = []
    if max_bytes is not None:
        for step, told in _steps():
            if size_of(schema) <= max_bytes:
                break
            smaller = step(schema)
            if smaller != schema:
                schema = smaller
                left_out.append(told)
    return TrimmedSchema(schema, tuple(left_out))


def size_of(schema: Any) -> int:
    """Give the size of a schema, in bytes of compact JSON in UTF-8."""
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())


def _steps() -> Iterator[tuple[Callable[[dict[str, Any]], dict[str, Any]], str]]:
    yield _without_illustration, "examples and extensions"
    for level, length in _DESCRIPTION_STEPS:
        yield _shortening(level, length), f"descriptions over {length} characters from level {level} down"
    for depth in range(_MAX_CUT_DEPTH, 0, -1):
        yield _cutting(depth), f"everything below level {depth}"
    yield _shortening(0, 60), "descriptions over 60 characters"


def _without_illustration(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in _ILLUSTRATION and not key.startswith("x-")}
    return with_subschemas(kept, _without_illustration)


def _shortening(level: int, length: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def shorten(schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict):
            return schema
        result = with_subschemas(schema, lambda child: shorten(child, depth + 1))
        if depth >= level and len(description := result.get("description", "")) > length:
            result["description"] = description[:length].rstrip() + "..."
        return result

    def step(schema: dict[str, Any]) -> dict[str, Any]:
        depths = _definition_depths(schema)
        result: dict[str, Any] = shorten({key: value for key, value in schema.items() if key != "$defs"}, 0)
        if "$defs" in schema:
            result["$defs"] = {name: shorten(child, depths[name]) for name, child in schema["$defs"].items()}
        return result

    return step


def _cutting(level: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def cut(schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict):
            return schema
        if depth < level:
            return with_subschemas(schema, lambda child: cut(child, depth + 1))
        if "$ref" not in schema and not any(isinstance(child, dict) for child in subschemas(schema)):
            return schema
        kept = {key: schema[key] for key in _KEPT_WHEN_CUT if key in schema}
        if len(kept.get("enum", ())) > _MAX_CUT_ENUM:
            del kept["enum"]
        return kept

    def step(schema: dict[str, Any]) -> dict[str, Any]:
        depths = _definition_depths(schema)
        result: dict[str, Any] = cut({key: value for key, value in schema.items() if key != "$defs"}, 0)
        definitions = {name: cut(child, depths[name]) for name, child in schema.get("$defs", {}).items()}
        reachable = _definition_depths({**result, "$defs": definitions})
        kept = {name: child for name, child in definitions.items() if name in reachable}
        return {**result, "$defs": kept} if kept else result

    return step


def _definition_depths(schema: dict[str, Any]) -> dict[str, int]:
    """Tell how many levels below the root each definition is first met; those that are never met are not told."""
    depths: dict[str, int] = {}
    definitions = schema.get("$defs", {})
    level: list[Any] = [{key: value for key, value in schema.items() if key != "$defs"}]
    depth = 0
    while level:
        below: list[Any] = []
        while level:
            part = level.pop()
            if not isinstance(part, dict):
                continue
            name = definition_name(part.get("$ref", "#"))
            if name in definitions and name not in depths:
                depths[name] = depth
                level.append(definitions[name])
            with_subschemas({key: value for key, value in part.items() if key != "$defs"}, below.append)
        level, depth = below, depth + 1
    return depths
