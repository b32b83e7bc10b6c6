"""Entries of a configuration: translated, checked and named, each by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from utcp_bridge.config._documents import plain_copy, shape_of
from utcp_bridge.config._manual_names import manual_names, utcp_manual_name
from utcp_bridge.config.legacy import looks_like_template, manual_call_template_from_provider
from utcp_bridge.errors import ConfigError

EXAMPLE = '{"name": "weather", "call_template_type": "http", "url": "https://example.com/utcp"}'

AUTH_EXAMPLE = '{"auth_type": "api_key", "api_key": "${API_KEY}", "var_name": "X-Api-Key"}'


@dataclass(slots=True)
class Entry:
    """One entry on its way to a manual.

    Attributes:
        place: Where it stands, such as `tool_providers[1]`.
        value: The entry as it was written, in JSON's types.
        older: Whether it is written in a form other than UTCP's own.
        template: The call template that became of it.
        problem: Why it cannot be used.
        name: How it is reported.
    """

    place: str
    value: Any
    older: bool = False
    template: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None
    name: str = ""


def entries_of(key: str, value: Any, *, older: bool) -> list[Entry]:
    """The entries of a list, or of a single object in its place.

    Raises:
        ConfigError: `value` is neither.
    """
    if value is None:
        return []
    if isinstance(value, Mapping) and looks_like_template(value):
        return [_entry(key, value, older)]
    if not isinstance(value, list | tuple):
        raise ConfigError(
            f"{key}: expected a list of objects such as {EXAMPLE}, got {shape_of(value)}{_list_advice(value)}."
        )
    return [_entry(f"{key}[{index}]", item, older) for index, item in enumerate(value)]


def _list_advice(value: Any) -> str:
    """How to write what other clients have as an object of names (`{"weather": {...}}`)."""
    if not isinstance(value, Mapping) or not value or not all(isinstance(item, Mapping) for item in value.values()):
        return ""
    name = json.dumps(str(next(iter(value)))[:60], ensure_ascii=False)
    return f'; write [{{"name": {name}, ...}}] in place of {{{name}: {{...}}}}'


def translate(entry: Entry) -> None:
    """Put an entry into the form of UTCP 1.1, or note its problem."""
    if entry.problem is not None:
        return
    if not isinstance(entry.value, dict):
        entry.problem = f"expected an object such as {EXAMPLE}, got {shape_of(entry.value)}"
        return
    entry.template = manual_call_template_from_provider(entry.value)
    entry.older = entry.older or entry.template != entry.value
    kind, name = entry.template.get("call_template_type"), entry.template.get("name")
    if kind is None:
        entry.problem = (
            "it has no call_template_type, which says how to reach the manual: 'http', 'cli', 'file', 'mcp' and so on"
        )
    elif not isinstance(kind, str):
        entry.problem = f"call_template_type: expected text such as 'http', got {shape_of(kind)}"
    elif name is not None and not isinstance(name, str):
        hint = "; write it in quotes" if isinstance(name, int | float) else ""
        entry.problem = f"name: expected text such as 'weather', got {shape_of(name)}{hint}"
    elif isinstance(name, str) and not name.strip():
        entry.problem = "name: it is empty; give the manual a name such as 'weather', or leave the name out"
    else:
        entry.problem = _problem_of_auth(entry.template)


def _problem_of_auth(template: Mapping[str, Any]) -> str | None:
    # utcp-http 1.1.15 says of these no more than `TypeError` and `KeyError`.
    for key in ("auth", "auth_tools"):
        auth = template.get(key)
        if auth is None or (isinstance(auth, Mapping) and auth.get("auth_type") is not None):
            continue
        found = "an object without auth_type" if isinstance(auth, Mapping) else shape_of(auth)
        return f"{key}: expected an object such as {AUTH_EXAMPLE}, got {found}"
    return None


def _entry(place: str, value: Any, older: bool) -> Entry:
    try:
        return Entry(place, plain_copy(value), older)
    except RecursionError:  # YAML's anchors can say both
        return Entry(place, None, older, problem="it holds itself, or is nested too deeply")


def assign_names(entries: Sequence[Entry]) -> None:
    """Give every entry the name that it is reported by, and each usable template its own.

    The first manual of a name keeps it; a later one is a problem, because UTCP 1.2.0 refuses it.
    """
    usable = [entry for entry in entries if entry.problem is None]
    for entry, manual in zip(usable, manual_names([entry.template for entry in usable]), strict=True):
        if manual is not None:
            rest = {key: value for key, value in entry.template.items() if key != "name"}
            entry.name, entry.template = manual, {"name": manual, **rest}
        elif entry.template.get("name"):
            registered = utcp_manual_name(entry.template["name"])
            entry.problem = f"another manual before it is registered as {registered!r}; give this one another name"
        else:
            entry.problem = "it has no name and is the same as a manual before it; remove it, or give it a name"
    taken = {entry.name for entry in usable}
    for entry in entries:
        if not entry.name:
            written = entry.template.get("name")
            readable = utcp_manual_name(written) if isinstance(written, str) and written.strip() else ""
            if not readable:
                entry.name = entry.place
            else:
                entry.name = f"{readable} ({entry.place})" if readable in taken else readable
            taken.add(entry.name)
