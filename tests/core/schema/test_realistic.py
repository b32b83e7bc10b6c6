"""Tool schemas as people write them: what is shown, taken, refused and mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from utcp_bridge.schema import InvalidArguments, arguments_schema, model_from_schema, wire_arguments

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "realistic.json").read_text(encoding="utf-8"))
TOOLS = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


@TOOLS
def test_the_authors_schema_is_shown(case: dict[str, Any]) -> None:
    """A case without `shown` is self-contained and in today's dialect already: it is shown as it is."""
    shown = arguments_schema(case["schema"]).shown
    assert json.dumps(shown, sort_keys=True) == json.dumps(case.get("shown", case["schema"]), sort_keys=True)
    assert model_from_schema("Tool", case["schema"]).model_json_schema() == shown


@TOOLS
def test_valid_arguments_are_sent_exactly(case: dict[str, Any]) -> None:
    arguments, model = arguments_schema(case["schema"]), model_from_schema("Tool", case["schema"])
    for given in case["valid"]:
        assert json.dumps(arguments.accept(given)) == json.dumps(given)
        assert json.dumps(arguments.accept(json.dumps(given))) == json.dumps(given)
        assert json.dumps(wire_arguments(model.model_validate(given))) == json.dumps(given)


@TOOLS
def test_invalid_arguments_are_refused_by_their_paths(case: dict[str, Any]) -> None:
    arguments = arguments_schema(case["schema"])
    for wrong in case["invalid"]:
        with pytest.raises(InvalidArguments) as refused:
            arguments.accept(wrong["arguments"])
        assert sorted(fault.path for fault in refused.value.faults) == sorted(wrong["faults"]), str(refused.value)
        assert "hunter2" not in str(refused.value)


@TOOLS
def test_slips_that_lose_nothing_are_mended(case: dict[str, Any]) -> None:
    arguments = arguments_schema(case["schema"])
    for slip in case.get("repaired", []):
        assert json.dumps(arguments.accept(slip["given"])) == json.dumps(slip["sent"])
        with pytest.raises(InvalidArguments):
            arguments.accept(slip["given"], repair=False)
