"""A schema for readers that drop every key called `title`, also where it is a name or data."""

from __future__ import annotations

import json
from typing import Any

from utcp_bridge.schema.bundled import with_subschemas

_TITLE = "title"
_PATTERN = "(?:title)"


def without_title_keys(schema: Any) -> Any:
    """Write a schema so that a `title` is an annotation, or a property that has an object for its schema.

    The verdict stays the same. A default that has a key called `title` is told in the description instead.
    """
    if not isinstance(schema, dict):
        return schema
    kept = with_subschemas(schema, without_title_keys)
    if isinstance(kept.get("properties", {}).get(_TITLE), bool):
        kept["properties"][_TITLE] = {} if kept["properties"][_TITLE] else {"not": {}}
    if _TITLE in kept.get("patternProperties", ()):
        kept["patternProperties"][_PATTERN] = kept["patternProperties"].pop(_TITLE)
    # Lists are left alone by such readers, and a list of one says the same.
    beside = [
        {keyword: kept.pop(keyword)}
        for keyword in ("dependentRequired", "dependentSchemas")
        if _TITLE in kept.get(keyword, ())
    ]
    if _holds_title(kept.get("const")):
        beside.append({"enum": [kept.pop("const")]})
    if beside:
        kept["allOf"] = [*kept.get("allOf", ()), *beside]
    if _holds_title(kept.get("default")):
        note = f"Default: {json.dumps(kept.pop('default'), ensure_ascii=False)}."
        kept["description"] = f"{kept['description']} {note}" if kept.get("description") else note
    return kept


def _holds_title(value: Any) -> bool:
    return isinstance(value, dict) and (_TITLE in value or any(map(_holds_title, value.values())))
