"""What a manual says of its tools, before UTCP has judged how they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class SkippedTool:
    """A tool that was left out, or one of several that cannot be told apart, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class DraftTool:
    """A tool as its manual describes it, before UTCP has judged its call template.

    Attributes:
        name: Its name in the manual, without the manual's own.
        description: What it does; may be empty.
        tags: Its tags.
        inputs: JSON Schema of its arguments, the author's own object.
        outputs: JSON Schema of its reply, the author's own object.
        average_response_size: In tokens, as UTCP has it; None if the manual does not say.
        template: Its call template as a dict, or as one of UTCP's objects.
        alternative_variables: Variables that it would use in the place of those in its template, without the manual's
            name before them, if they had a value when the manual is loaded.
    """

    name: str
    description: str
    tags: tuple[str, ...]
    inputs: dict[str, Any] | bool
    outputs: dict[str, Any]
    average_response_size: int | None
    template: Any = field(repr=False)
    alternative_variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftManual:
    """The tools of a document, and those that it declares in a way that cannot be used.

    Attributes:
        tools: The tools.
        skipped: What could not be used, and why.
        manual_version: The document's version.
        protocols: Protocols that documents of this kind cannot do without, so that they need not be allowed.
        variables: Values that the manual gives to variables of its tools; what the operator defines comes first.
        warnings: What is odd about the document, in whole sentences.
        variable_descriptions: What variables of its tools take, by name without the manual's before it.
    """

    tools: tuple[DraftTool, ...] = ()
    skipped: tuple[SkippedTool, ...] = ()
    manual_version: str = "1.0.0"
    protocols: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    variable_descriptions: Mapping[str, str] = field(default_factory=dict)


def draft_of(tool: Any) -> DraftTool:
    """What one of UTCP's own `Tool` objects says."""
    return DraftTool(
        name=tool.name,
        description=tool.description or "",
        tags=tuple(tool.tags),
        inputs=author_schema(tool.inputs),
        outputs=author_schema(tool.outputs),
        average_response_size=tool.average_response_size,
        template=tool.tool_call_template,
    )


def author_schema(schema: Any) -> dict[str, Any]:
    """The schema in a `JsonSchema` as its author wrote it: utcp 1.2.0 adds nulls and turns `minimum: 1` into `1.0`."""
    written: dict[str, Any] = {}
    fields = type(schema).model_fields
    for attribute in (*fields, *(schema.model_extra or ())):
        if attribute not in schema.model_fields_set:
            continue
        keyword = (fields[attribute].alias or attribute) if attribute in fields else attribute
        value = getattr(schema, attribute)
        if value is not None or keyword in {"default", "const"}:
            written[keyword] = _author_value(value)
    return written


def _author_value(value: Any) -> Any:
    if hasattr(value, "model_fields_set"):
        return author_schema(value)
    if isinstance(value, dict):
        return {key: _author_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_author_value(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def without_boolean_schemas(schema: Any) -> Any:
    """The schema as utcp 1.2.0 can take it: `true` is `{}`, `false` is `{"not": {}}` (JSON Schema 2020-12, 4.3.2)."""
    if schema is True:
        return {}
    if schema is False:
        return {"not": {}}
    if not isinstance(schema, dict):
        return schema
    mended = dict(schema)
    if isinstance(schema.get("properties"), dict):
        mended["properties"] = {name: without_boolean_schemas(item) for name, item in schema["properties"].items()}
    items = schema.get("items")
    if isinstance(items, list):
        mended["items"] = [without_boolean_schemas(item) for item in items]
    elif isinstance(items, (bool, dict)):
        mended["items"] = without_boolean_schemas(items)
    if isinstance(schema.get("additionalProperties"), dict):
        mended["additionalProperties"] = without_boolean_schemas(schema["additionalProperties"])
    return mended
