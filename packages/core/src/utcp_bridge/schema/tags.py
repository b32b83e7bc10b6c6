"""The properties that tell the branches of a choice apart: `kind: {const: "cat"}`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_MAX_PARTS = 32


def tags_of(branch: Any, target: Callable[[str], Any]) -> dict[str, dict[str, Any]]:
    """Give the properties of a branch that take only given texts, each with its schema."""
    found: dict[str, dict[str, Any]] = {}
    for part in _parts(branch, target):
        for name, child in part.get("properties", {}).items():
            if isinstance(child, dict) and name not in found and _texts(child):
                found[name] = child
    return found


def wrong_tag(value: Any, tags: Mapping[str, dict[str, Any]]) -> str | None:
    """Name a property of a value that says that another branch was meant."""
    if not isinstance(value, dict):
        return None
    for name, schema in tags.items():
        given = value.get(name)
        if isinstance(given, str) and given not in _texts(schema):
            return name
    return None


def meant_branch(choice: Any, keyword: str, value: Any) -> int | None:
    """Tell which branch the discriminator of a choice names (OpenAPI 3.1, section 4.8.25)."""
    about = choice.get("discriminator") if isinstance(choice, dict) else None
    name = about.get("propertyName") if isinstance(about, dict) else None
    tag = value.get(name) if isinstance(value, dict) and isinstance(name, str) else None
    if not isinstance(about, dict) or not isinstance(tag, str):
        return None
    mapping = about.get("mapping")
    wanted = mapping.get(tag) if isinstance(mapping, dict) else None
    references = [branch.get("$ref") if isinstance(branch, dict) else None for branch in choice[keyword]]
    for index, reference in enumerate(references):
        if reference is not None and (reference == wanted or (wanted is None and reference.endswith(f"/{tag}"))):
            return index
    return None


def _parts(branch: Any, target: Callable[[str], Any]) -> Iterator[dict[str, Any]]:
    """Give a branch and what holds beside it whatever else is chosen."""
    waiting = [branch]
    for _ in range(_MAX_PARTS):
        if not waiting:
            break
        part = waiting.pop(0)
        if isinstance(part, dict):
            yield part
            if "$ref" in part:
                waiting.append(target(part["$ref"]))
            waiting.extend(part.get("allOf", ()))


def _texts(schema: dict[str, Any]) -> tuple[Any, ...]:
    """The texts that a schema takes and nothing else; none if it takes anything else."""
    values = (schema["const"],) if "const" in schema else tuple(schema.get("enum", ()))
    return values if all(isinstance(value, str) for value in values) else ()
