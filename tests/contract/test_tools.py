"""What agents are shown, in every framework."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.contract.offers import Adapter
from tests.support.manuals import config, http_tool, text_manual
from tests.support.recording import recording_template

RICH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "_id": {"type": "string", "description": "Which one", "format": "uuid", "examples": ["a"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "mode": {"type": ["string", "null"], "enum": ["fast", "slow", None]},
        "tree": {"$ref": "#/$defs/Node"},
        "rows": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"when": {"type": "string", "format": "date-time"}},
                "required": ["when"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["_id"],
    "additionalProperties": False,
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
        }
    },
}


def _unfolded(schema: Any, root: Any, levels: int = 12) -> Any:
    """The schema with its references resolved, as deep as anyone will look: LangChain has them resolved already."""
    if isinstance(schema, list):
        return [_unfolded(item, root, levels) for item in schema]
    if not isinstance(schema, dict) or not levels:
        return schema if levels else "..."
    if "$ref" in schema:
        target = root
        for key in schema["$ref"].split("/")[1:]:
            target = target[key]
        return _unfolded(target, root, levels)
    return {key: _unfolded(value, root, levels - 1) for key, value in schema.items() if key != "$defs"}


@pytest.mark.behaviour("tools.listed")
def test_every_tool_is_offered_under_the_name_that_models_are_shown(adapter: Adapter) -> None:
    names = ["get_weather", "repos/get-thing.v1", "a b", "été", "工具", "x" * 80]
    source = config(text_manual("m", [http_tool(name, "https://example.com/") for name in names], "http"))
    with adapter.offer(source) as offer:
        descriptions = offer.descriptions()
    assert len(descriptions) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", name) for name in descriptions)
    assert {"m_get_weather", "m_repos_get-thing_v1", "m_a_b", "m_ete"} <= descriptions.keys()
    assert descriptions["m_get_weather"] == "Calls get_weather."


@pytest.mark.behaviour("tools.one-line")
def test_a_source_gives_its_tools(adapter: Adapter) -> None:
    with adapter.offer(config(recording_template("m", {"echo": {"type": "object"}}))) as offer:
        assert list(offer.descriptions()) == ["m_echo"]


@pytest.mark.behaviour("tools.filtered")
def test_options_choose_the_tools(adapter: Adapter) -> None:
    source = config(recording_template("m", {name: {"type": "object"} for name in ("read_a", "read_b", "write_a")}))
    with adapter.offer(source, include=["m.read_*"], exclude=["*_b"]) as offer:
        assert list(offer.descriptions()) == ["m_read_a"]


@pytest.mark.behaviour("schema.shown")
def test_the_model_is_shown_the_authors_schema(adapter: Adapter) -> None:
    with adapter.offer(config(recording_template("m", {"echo": RICH_SCHEMA}))) as offer:
        shown = offer.schema("m_echo")
    assert _unfolded(shown, shown) == _unfolded(RICH_SCHEMA, RICH_SCHEMA)
    json.dumps(shown)


@pytest.mark.behaviour("schema.no-arguments")
@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_shows_an_empty_object_and_takes_one(adapter: Adapter, schema: dict[str, Any]) -> None:
    with adapter.offer(config(recording_template("m", {"echo": schema}))) as offer:
        assert offer.schema("m_echo") == {"type": "object", "properties": {}}
        assert offer.call("m_echo", {}).content == '{"received":{}}'
