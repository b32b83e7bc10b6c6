"""What the model gives arrives, and what does not fit is refused, in every framework."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.offers import Adapter
from tests.support.manuals import config
from tests.support.recording import recording_template

VALUES: list[Any] = [
    0, -1, 1.0, 1.5, 10**20, True, False, "", "5", "true", "null", " x ", "a\nb", "日本 \U0001f600",
    "2026-01-02T03:04:05Z", [], [1, "1", [None]], {}, {"a": {"b": [1.0, None, {"c": False}]}}, {"class": 1, "": 3},
]  # fmt: skip

AWKWARD_NAMES = [
    "_id", "__v", "id", "class", "from", "$filter", "filter[name]", "a.b", "", "Serial Number", "user-id", "user_id",
    "2fa", "été", "工具", "model_config", "model_dump", "model_fields", "schema", "json", "copy", "dict", "validate",
    "self", "cls", "config", "run_manager", "callbacks", "args", "kwargs", "ctx", "input", "tool_input", "tool_call_id",
    "state", "store", "runtime", "name", "type", "properties", "return_direct", "x" * 90,
]  # fmt: skip


def _schema(*names: str, **rest: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {} for name in names}, **rest}


def _received(content: str) -> Any:
    return json.loads(content)["received"]


@pytest.mark.behaviour("arguments.values")
def test_every_json_value_arrives_as_it_was_given(adapter: Adapter) -> None:
    with adapter.offer(config(recording_template("m", {"echo": _schema("value")}))) as offer:
        for value in VALUES:
            outcome = offer.call("m_echo", {"value": value})
            assert not outcome.is_error, outcome.content
            assert json.dumps(_received(outcome.content)) == json.dumps({"value": value})


@pytest.mark.behaviour("arguments.names")
@pytest.mark.parametrize("schema_kind", ["optional", "required"])
def test_every_property_name_works(adapter: Adapter, schema_kind: str) -> None:
    required = AWKWARD_NAMES if schema_kind == "required" else []
    arguments = {name: index for index, name in enumerate(AWKWARD_NAMES)}
    source = config(
        recording_template("m", {"echo": _schema(*AWKWARD_NAMES, required=required, additionalProperties=False)})
    )
    with adapter.offer(source) as offer:
        assert list(offer.schema("m_echo")["properties"]) == AWKWARD_NAMES
        outcome = offer.call("m_echo", arguments)
        assert not outcome.is_error, outcome.content
        assert _received(outcome.content) == arguments


@pytest.mark.behaviour("arguments.names")
@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_every_property_name_works_alone(adapter: Adapter, name: str) -> None:
    with adapter.offer(config(recording_template("m", {"echo": _schema(name)}))) as offer:
        assert _received(offer.call("m_echo", {name: {"kept": [None]}}).content) == {name: {"kept": [None]}}


@pytest.mark.behaviour("arguments.unset")
def test_what_was_not_given_is_not_sent(adapter: Adapter) -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "default": "x"},
            "b": {"type": ["integer", "null"], "default": None},
            "c": {
                "type": "object",
                "properties": {"d": {"type": "string", "default": "y"}, "e": {"type": "integer"}},
            },
        },
    }
    with adapter.offer(config(recording_template("m", {"echo": schema}))) as offer:
        assert _received(offer.call("m_echo", {"c": {"e": 1}}).content) == {"c": {"e": 1}}
        assert _received(offer.call("m_echo", {}).content) == {}


@pytest.mark.behaviour("arguments.null")
def test_a_null_is_sent_where_the_schema_allows_it(adapter: Adapter) -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}}}
    with adapter.offer(config(recording_template("m", {"echo": schema}))) as offer:
        assert _received(offer.call("m_echo", {"a": None, "b": "s"}).content) == {"a": None, "b": "s"}
        assert _received(offer.call("m_echo", {"a": None, "b": None}).content) == {"a": None}


@pytest.mark.behaviour("arguments.repaired")
def test_what_models_get_wrong_without_loss_is_repaired(adapter: Adapter) -> None:
    schema = {
        "type": "object",
        "properties": {
            "labels": {"type": "array", "items": {"type": "string"}},
            "count": {"type": "integer"},
            "deep": {"type": "object"},
            "sure": {"type": "boolean"},
            "text": {"type": "string"},
        },
    }
    given = {"labels": '["x"]', "count": "5", "deep": '{"k": 1}', "sure": "true", "text": "[1]"}
    with adapter.offer(config(recording_template("m", {"echo": schema}))) as offer:
        received = _received(offer.call("m_echo", given).content)
    assert received == {"labels": ["x"], "count": 5, "deep": {"k": 1}, "sure": True, "text": "[1]"}
    assert received["sure"] is True


@pytest.mark.behaviour("arguments.refused")
def test_arguments_that_do_not_fit_are_refused_with_what_was_expected(adapter: Adapter) -> None:
    schema = {
        "type": "object",
        "properties": {"q": {"type": "integer"}, "deep": {"type": "object", "properties": {"n": {"enum": ["a", "b"]}}}},
        "required": ["q"],
    }
    with adapter.offer(config(recording_template("m", {"echo": schema}))) as offer:
        wrong = offer.call("m_echo", {"q": "five", "deep": {"n": "c"}})
        missing = offer.call("m_echo", {})
    assert wrong.is_error
    assert all(word in wrong.content for word in ("q: ", "integer", "deep.n: ", '"a"', '"b"'))
    assert missing.is_error
    assert "q" in missing.content
    assert "missing" in missing.content


@pytest.mark.behaviour("arguments.undeclared")
def test_an_undeclared_argument_is_refused_by_a_closed_schema_and_taken_by_an_open_one(adapter: Adapter) -> None:
    closed = _schema("city", "unit", additionalProperties=False)
    source = config(recording_template("m", {"closed": closed, "open": _schema("city")}))
    with adapter.offer(source) as offer:
        refused = offer.call("m_closed", {"town": 1})
        taken = offer.call("m_open", {"town": 1})
    assert refused.is_error
    assert all(name in refused.content for name in ("town", "city", "unit"))
    assert _received(taken.content) == {"town": 1}
