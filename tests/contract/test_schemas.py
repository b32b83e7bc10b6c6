"""Any schema, in every framework: what the model is shown of it, what arrives, and what is refused."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from tests.contract.offers import Adapter
from tests.support.json_schemas import ARGUMENTS, ROOTS
from tests.support.manuals import config
from tests.support.recording import recording_template
from tests.support.schema_graphs import GRAPHS
from utcp_bridge.openapi import OpenApiError, tools_from_openapi
from utcp_bridge.schema import (
    ArgumentsSchema,
    InvalidArguments,
    ShownArguments,
    arguments_schema,
    provider_schema,
    size_of,
)

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
REALISTIC: list[dict[str, Any]] = json.loads(
    (ROOT / "tests" / "core" / "schema" / "realistic.json").read_text(encoding="utf-8")
)
MAX_BYTES = 16_000


def _tools_of(document: Any, file: Path) -> Iterator[Any]:
    if not isinstance(document, dict):
        return
    tools = document.get("tools")
    if isinstance(tools, list):
        for tool in tools:
            if isinstance(tool, dict):
                yield tool.get("inputs", tool.get("parameters", {}))
    elif "paths" in document:
        try:
            yield from (
                tool.inputs for tool in tools_from_openapi(document, url=f"https://api.example/{file.name}").tools
            )
        except OpenApiError:
            return


@functools.cache
def _corpus(folder: str) -> list[Any]:
    found: list[Any] = []
    for file in sorted((CORPUS / folder).iterdir()):
        text = file.read_text(encoding="utf-8")
        document = json.loads(text) if file.suffix == ".json" else yaml.load(text, Loader=LOADER)  # noqa: S506 - safe
        found.extend(_tools_of(document, file))
    return found


def _check_shown(adapter: Adapter, schemas: list[Any]) -> None:
    source = config(recording_template("m", {f"t{number}": schema for number, schema in enumerate(schemas)}))
    with adapter.offer(source) as offer:
        for number, schema in enumerate(schemas):
            own = arguments_schema(schema)
            expected = ShownArguments(own, None, MAX_BYTES)
            shown = offer.schema(f"m_t{number}")
            assert shown == offer.as_sent(expected)
            assert list(shown["properties"]) == list(own.shown["properties"])
            assert shown.get("required", []) == own.shown.get("required", [])
            if not expected.left_out:
                assert expected.schema == own.shown


@pytest.mark.behaviour("schema.real")
def test_tools_as_people_write_them_are_shown_as_they_are(adapter: Adapter) -> None:
    _check_shown(adapter, [case["schema"] for case in REALISTIC])


@pytest.mark.behaviour("schema.real")
@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no shared/corpus beside the repository")
@pytest.mark.parametrize("folder", ["manuals", "openapi"])
def test_every_real_tool_is_shown_as_it_is(adapter: Adapter, folder: str) -> None:
    schemas = _corpus(folder)
    assert len(schemas) > (20 if folder == "manuals" else 500)
    _check_shown(adapter, schemas)


@pytest.mark.behaviour("arguments.any")
def test_realistic_arguments_arrive_exactly_or_are_refused(adapter: Adapter) -> None:
    source = config(recording_template("m", {f"t{number}": case["schema"] for number, case in enumerate(REALISTIC)}))
    with adapter.offer(source) as offer:
        for number, case in enumerate(REALISTIC):
            for valid in case["valid"]:
                outcome = offer.call(f"m_t{number}", valid)
                assert not outcome.is_error, outcome.content
                assert outcome.content == json.dumps({"received": valid}, ensure_ascii=False, separators=(",", ":"))
            for wrong in case["invalid"]:
                outcome = offer.call(f"m_t{number}", wrong["arguments"])
                assert outcome.is_error, case["name"]
                assert "received" not in outcome.content
                assert "hunter2" not in outcome.content
                assert all(path.split("[")[0] in outcome.content for path in wrong["faults"])


@pytest.mark.behaviour("arguments.any")
def test_any_arguments_of_any_schema_arrive_exactly_or_are_refused(adapter: Adapter) -> None:
    @settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
    @given(ROOTS, ARGUMENTS)
    def check(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
        with adapter.offer(config(recording_template("m", {"echo": schema})), repair=False) as offer:
            json.dumps(offer.schema("m_echo"), allow_nan=False)
            outcome = offer.call("m_echo", arguments)
        try:
            ArgumentsSchema(schema).accept(arguments, repair=False)
        except InvalidArguments as refusal:
            assert outcome.is_error
            assert outcome.content == f"m_echo: {refusal}"  # noqa: PT017 - either outcome is right
        else:
            assert not outcome.is_error, outcome.content
            assert json.dumps(json.loads(outcome.content)["received"]) == json.dumps(arguments)

    check()


# -- for a provider ----------------------------------------------------------------------------------------------------

AWKWARD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "$top": {"type": "integer"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"a b": {"type": "integer"}, "a_b": {}}}},
        "été": {"$ref": "#/$defs/Been"},
    },
    "anyOf": [{"required": ["$top"]}, {"required": ["été"]}],
    "$defs": {"Been": {"type": "string", "pattern": "^(?!x)"}},
}
OWN = {"$top": 1, "rows": [{"a b": 2, "a_b": 3}], "été": "y"}


@pytest.mark.behaviour("schema.provider")
@pytest.mark.parametrize("provider", ["openai", "openai-strict", "anthropic", "gemini"])
def test_a_provider_is_shown_what_it_accepts_and_the_tool_gets_its_own_names(adapter: Adapter, provider: Any) -> None:
    expected = ShownArguments(arguments_schema(AWKWARD), provider, MAX_BYTES)
    with adapter.offer(config(recording_template("m", {"echo": AWKWARD})), provider=provider) as offer:
        shown, description = offer.schema("m_echo"), offer.descriptions()["m_echo"]
        top, rows, been = shown["properties"]
        spaced, plain = shown["properties"][rows]["items"]["properties"]
        delivered = offer.call("m_echo", {top: 1, rows: [{spaced: 2, plain: 3}], been: "y"})
        refused = offer.call("m_echo", {rows: [{spaced: "x"}], been: "xx"})
        missing = offer.call("m_echo", {rows: []})
    assert shown == offer.as_sent(expected)
    assert expected.schema == provider_schema(AWKWARD, provider)
    assert "anyOf" not in shown
    assert json.loads(delivered.content) == {"received": OWN}
    assert refused.is_error
    assert f'{rows}[0].{spaced}: must be an integer; got "x"' in refused.content.replace('["a b"]', ".a b")
    assert f"{been}: must match" in refused.content
    assert missing.is_error
    assert f"at least one of: {top}, {been}" in missing.content
    # What the root says of its arguments together is shown, in the one place or the other.
    together = f"At least one of these sets of arguments is needed: {top}; or {been}."
    assert together in (shown.get("description", "") + description)


@pytest.mark.behaviour("schema.budget")
def test_a_large_schema_is_shown_within_its_budget(adapter: Adapter) -> None:
    wide = {f"p{number}": {"type": "object", "properties": {"x": {"const": "y" * 90}}} for number in range(200)}
    schemas = {"wide": {"properties": {"rows": {"type": "array", "items": {"properties": wide}}}}, **GRAPHS}
    source = config(recording_template("m", schemas))
    for limit in (2_000, 16_000):
        with adapter.offer(source, max_schema_bytes=limit) as offer:
            for name in offer.descriptions():
                shown = offer.schema(name)
                assert size_of(shown) <= limit
                assert list(shown["properties"]) == (["rows"] if name == "m_wide" else ["x"])
            assert offer.call("m_wide", {"rows": [{"p7": {"x": "z"}}]}).is_error
            assert not offer.call("m_wide", {"rows": [{"p7": {"x": "y" * 90}}]}).is_error


@pytest.mark.behaviour("schema.budget")
def test_without_a_budget_a_schema_is_shown_whole(adapter: Adapter) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "description": "d" * 20_000}}}
    with adapter.offer(config(recording_template("m", {"echo": schema})), max_schema_bytes=None) as offer:
        assert offer.schema("m_echo") == schema
