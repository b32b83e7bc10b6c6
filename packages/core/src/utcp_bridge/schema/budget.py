"""A limit to what one tool's schema may cost: what matters least for a right call is left out first."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from utcp_bridge.schema.bundled import definition_name, pointed, references, subschemas, walk, with_subschemas
from utcp_bridge.schema.openings import soften

DEFAULT_MAX_BYTES = 16_000

_ILLUSTRATION = frozenset({"example", "examples", "externalDocs", "xml", "$comment"})
_KEPT_WHEN_CUT = ("type", "description", "enum", "const", "format")
_MAX_CUT_DEPTH = 8
_MAX_CUT_ENUM = 10
_TOLD_VALUES = 10
_MAX_DEFAULT = 200

_Step = Callable[[dict[str, Any]], dict[str, Any]]
_Change = Callable[[Any, int, dict[int, Any]], Any]  # of a schema, its level, and where to note what it opened


@dataclass(frozen=True, slots=True)
class TrimmedSchema:
    """A schema within its budget.

    Attributes:
        schema: The schema.
        left_out: What was left out, one phrase for each kind of it; empty if nothing was.
    """

    schema: dict[str, Any]
    left_out: tuple[str, ...]


def trimmed(schema: dict[str, Any], max_bytes: int | None = DEFAULT_MAX_BYTES) -> TrimmedSchema:
    """Trim a bundled schema to a budget. The original still judges the arguments.

    What is shown takes whatever the original takes. Whatever helps, the order is: examples and extensions, long
    descriptions and lists of values deep down, then levels from the deepest up; of each no more than needed.

    Args:
        schema: An arguments schema as it is shown, or a folded one.
        max_bytes: The most bytes of its compact JSON in UTF-8; default 16,000; None never trims.

    Returns:
        The schema, trimmed no further than needed. The names, types and required marks of the arguments themselves
        are never left out, so that a tool with very many arguments may stay above the budget.
    """
    if max_bytes is None or size_of(schema) <= max_bytes:
        return TrimmedSchema(schema, ())
    plainer = _without_illustration(schema)
    told = ["examples and extensions"] if plainer != schema else []
    if size_of(plainer) <= max_bytes:
        return TrimmedSchema(plainer, tuple(told))

    depth, cut = _deepest(plainer, max_bytes)
    result = cut
    for step, what in (*_STEPS, *_LAST_STEPS):
        if size_of(result) <= max_bytes:
            break
        if (smaller := step(result)) != result:
            result = smaller
            told.append(what)
    if depth is not None:
        told.append(f"everything below level {depth}")
    return TrimmedSchema(result, tuple(told))


def _deepest(schema: dict[str, Any], max_bytes: int) -> tuple[int | None, dict[str, Any]]:
    """Cut a schema at the deepest level at which all other steps together keep it to the budget; None is no cut."""
    best: tuple[int | None, dict[str, Any]] = (1, _cutting(1)(schema))
    for depth in [*range(2, _MAX_CUT_DEPTH + 1), None]:
        cut = schema if depth is None else _cutting(depth)(schema)
        if size_of(cut) - _trimmable(cut) > max_bytes or size_of(_stepped(cut)) > max_bytes:
            break
        best = depth, cut
    return best


def _trimmable(schema: dict[str, Any]) -> int:
    """Tell at least how many bytes all steps but cutting can save."""
    tops = [schema, *schema.get("$defs", {}).values()]
    parts = [part for top in tops for part in walk(top)]
    return sum(size_of([part.get("description"), part.get("enum"), part.get("default")]) for part in parts)


def _stepped(schema: dict[str, Any]) -> dict[str, Any]:
    for step, _ in _STEPS:
        schema = step(schema)
    return schema


def size_of(schema: Any) -> int:
    """Give the size of a schema, in bytes of compact JSON in UTF-8."""
    return len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode())


def _without_illustration(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in _ILLUSTRATION and not key.startswith("x-")}
    return with_subschemas(kept, _without_illustration)


def _at_each_level(schema: dict[str, Any], change: _Change) -> dict[str, Any]:
    """Change a schema and its definitions, and put right what then holds no longer."""
    opened: dict[int, Any] = {}
    depths = _definition_depths(schema)
    result = change({key: value for key, value in schema.items() if key != "$defs"}, 0, opened)
    definitions = {
        name: change(child, depths[name], opened) for name, child in schema.get("$defs", {}).items() if name in depths
    }
    if opened:
        _put_right(result, definitions, opened)
        reachable = _definition_depths({**result, "$defs": definitions})
        definitions = {name: child for name, child in definitions.items() if name in reachable}
    return {**result, "$defs": definitions} if definitions else result


def _put_right(root: dict[str, Any], definitions: dict[str, Any], opened: dict[int, Any]) -> None:
    """Refer no more to what has been left out, and open what would refuse more for it."""
    whole = {**root, "$defs": definitions}
    is_whole = False
    while not is_whole:
        soften((root, *definitions.values()), opened, partial(pointed, whole))
        whole = {**root, "$defs": definitions}
        is_whole = True
        for part in [part for top in (root, *definitions.values()) for part in walk(top)]:
            if "$ref" in part and pointed(whole, part["$ref"]) is None:
                del part["$ref"]
                opened[id(part)] = part
                is_whole = False
            about = part.get("discriminator")
            if isinstance(about, dict) and any(pointed(whole, place) is None for place in references(part)):
                part["discriminator"] = {key: value for key, value in about.items() if key != "mapping"}


def _by_level(first: int, change: _Change) -> _Step:
    """Make a step that changes each schema from a level down."""

    def changed(schema: Any, level: int, opened: dict[int, Any]) -> Any:
        if not isinstance(schema, dict):
            return schema
        result = with_subschemas(schema, lambda child: changed(child, level + 1, opened))
        return change(result, level, opened) if level >= first else result

    return lambda schema: _at_each_level(schema, changed)


def _shortening(first: int, length: int) -> tuple[_Step, str]:
    def shorten(schema: dict[str, Any], _level: int, _opened: dict[int, Any]) -> dict[str, Any]:
        if len(description := schema.get("description", "")) > length:
            schema["description"] = description[:length].rstrip() + "..."
        return schema

    return _by_level(first, shorten), f"descriptions over {length} characters from level {first} down"


def _thinning(first: int, most: int) -> tuple[_Step, str]:
    def thin(schema: dict[str, Any], _level: int, opened: dict[int, Any]) -> dict[str, Any]:
        if len(values := schema.get("enum", ())) > most:
            some = ", ".join(json.dumps(value, ensure_ascii=False) for value in values[:_TOLD_VALUES])
            note = f"One of {len(values)} values, such as {some[:_MAX_DEFAULT]}."
            schema["description"] = f"{schema['description']} {note}" if schema.get("description") else note
            del schema["enum"]
            opened[id(schema)] = schema
        if "default" in schema and size_of(schema["default"]) > _MAX_DEFAULT:
            del schema["default"]
        return schema

    return _by_level(first, thin), f"lists of more than {most} values from level {first} down"


def _cutting(level: int) -> _Step:
    def step(schema: dict[str, Any]) -> dict[str, Any]:
        def cut(part: Any, depth: int, opened: dict[int, Any]) -> Any:
            if not isinstance(part, dict):
                return part
            if depth < level:
                return with_subschemas(part, lambda child: cut(child, depth + 1, opened))
            if _is_leaf(part):
                return dict(part)
            kept = _stub(part, schema)
            opened[id(kept)] = kept
            return kept

        return _at_each_level(schema, cut)

    return step


def _is_leaf(schema: dict[str, Any]) -> bool:
    return "$ref" not in schema and not any(isinstance(child, dict) for child in subschemas(schema))


def _stub(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Give what stays of a schema that is cut."""
    if "$ref" in schema and isinstance(target := pointed(root, schema["$ref"]), dict):
        schema = {**target, **schema}
    kept = {key: schema[key] for key in _KEPT_WHEN_CUT if key in schema}
    if len(kept.get("enum", ())) > _MAX_CUT_ENUM:
        del kept["enum"]
    if "array" in kept.get("type", ()):
        # Some providers refuse arrays without it.
        items = schema.get("items")
        kept["items"] = dict(items) if isinstance(items, dict) and _is_leaf(items) else {}
    return kept


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
            for reference in references(part):
                name = definition_name(reference)
                if name in definitions and name not in depths:
                    depths[name] = depth
                    level.append(definitions[name])
            below.extend(subschemas(part))
        level, depth = below, depth + 1
    return depths


_STEPS = (
    _shortening(3, 200),
    _shortening(2, 200),
    _shortening(3, 60),
    _thinning(2, 30),
    _shortening(1, 300),
    _shortening(1, 100),
    _thinning(1, 200),
)
_LAST_STEPS = (_thinning(1, 30), _shortening(0, 60))
