"""The JSON-Schema-Test-Suite as tool arguments: every verdict is JSON Schema's, whichever engine judges."""

from __future__ import annotations

import functools
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from utcp_bridge.schema import ArgumentsSchema, InvalidArguments, arguments_schema
from utcp_bridge.schema import validator as validator_module
from utcp_bridge.schema._pure import PureEngine
from utcp_bridge.schema._rust import RustEngine

ARCHIVE = Path(__file__).parent / "json_schema_test_suite" / "tests.tar.xz"
URIS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}
LEGACY = ("draft7", "draft6", "draft4")

# What is left out, and why. Everything else of the suite is run.
NEED_REMOTE_DOCUMENTS = {
    # Whole files whose schemas refer to documents of the suite's own web server.
    "refRemote.json",
    "optional/cross-draft.json",
    # The same for their metaschema, which turns a vocabulary off or on.
    "vocabulary.json",
    "optional/format-assertion.json",
}
NEED_REMOTE_DOCUMENTS_CASES = {
    ("dynamicRef.json", "strict-tree schema, guards against misspelled properties"),
    ("dynamicRef.json", "tests for implementation dynamic anchor and reference link"),
    ("dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $defs first"),
    ("dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $ref first"),
    ("dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor"),
}
OPTIONAL_BY_CHOICE = {
    "optional/content.json",  # asserts contentMediaType, which 2020-12 makes an annotation
    "optional/zeroTerminatedFloats.json",  # draft 4 alone may tell 1.0 from 1
}


class Case(NamedTuple):
    file: str
    description: str
    schema: Any
    tests: list[dict[str, Any]]


def _left_out(file: str, description: str) -> bool:
    return (
        file in NEED_REMOTE_DOCUMENTS | OPTIONAL_BY_CHOICE
        or (file, description) in NEED_REMOTE_DOCUMENTS_CASES
        or file.startswith("optional/format/")  # formats are annotations by default; see the test of formats
    )


@functools.cache
def _files() -> dict[str, dict[str, list[dict[str, Any]]]]:
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            if member.isfile():
                _, draft, file = member.name.split("/", 2)
                content = archive.extractfile(member)
                assert content is not None
                found.setdefault(draft, {})[file] = json.load(content)
    return found


def _cases(draft: str) -> Iterator[Case]:
    for file, cases in _files()[draft].items():
        for case in cases:
            if not _left_out(file, case["description"]):
                yield Case(file, case["description"], case["schema"], case["tests"])


def _as_property(schema: Any, draft: str) -> dict[str, Any]:
    """Make the case's schema that of an argument. An `$id` keeps its references its own."""
    keyword = "id" if draft == "draft4" else "$id"
    if isinstance(schema, dict):
        schema = dict(schema)
        if draft in LEGACY and "$ref" in schema:
            # There an `$id` beside `$ref` means nothing.
            definitions = {key: schema[key] for key in ("definitions", "$defs") if key in schema}
            schema = {"allOf": [{"$ref": schema["$ref"]}], **definitions}
        if isinstance(schema.get(keyword), str) and schema[keyword].startswith("#"):
            schema = {"allOf": [schema]}
        schema.setdefault(keyword, "https://suite.example/case.json")
    return {"$schema": URIS[draft], "type": "object", "properties": {"value": schema}, "required": ["value"]}


def _as_whole(schema: Any, draft: str) -> Any:
    return {"$schema": URIS[draft], **schema} if isinstance(schema, dict) else schema


def _accepts(arguments: ArgumentsSchema, given: dict[str, Any]) -> bool:
    refusal = ""
    accepted = None
    try:
        accepted = arguments.accept(given, repair=False)
    except InvalidArguments as error:
        refusal = str(error)
    assert (accepted is None) == bool(refusal)
    assert accepted is None or accepted == given
    return accepted is not None


class _KeywordsOnly(RustEngine):
    """As over schemas that are too much for the engine: it judges single keywords, and `judging` all else."""

    is_quick = False


@pytest.fixture(params=[RustEngine, _KeywordsOnly, PureEngine], ids=["jsonschema-rs", "judging", "jsonschema"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(validator_module, "engine", request.param)
    validator_module.pattern_problem.cache_clear()
    yield
    validator_module.pattern_problem.cache_clear()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("form", ["property", "whole"])
@pytest.mark.parametrize("draft", URIS)
def test_every_verdict_is_that_of_json_schema(draft: str, form: str) -> None:
    wrong, judged = [], 0
    for case in _cases(draft):
        schema = _as_property(case.schema, draft) if form == "property" else _as_whole(case.schema, draft)
        arguments = arguments_schema(schema)
        json.dumps(arguments.shown, allow_nan=False)
        for test in case.tests:
            if form == "whole" and not isinstance(test["data"], dict):
                continue  # arguments are an object
            judged += 1
            given = {"value": test["data"]} if form == "property" else test["data"]
            if _accepts(arguments, given) != test["valid"]:
                wrong.append((case.file, case.description, test["description"]))
    assert wrong == []
    assert judged > (600 if form == "property" else 200)


@pytest.mark.parametrize("draft", URIS)
def test_a_shown_schema_read_again_is_the_same_and_judges_the_same(draft: str) -> None:
    for case in _cases(draft):
        arguments = arguments_schema(_as_property(case.schema, draft))
        again = arguments_schema(arguments.shown)
        assert again.shown == arguments.shown, (case.file, case.description)
        assert again.problems == (), (case.file, case.description)
        for test in case.tests:
            assert _accepts(again, {"value": test["data"]}) == test["valid"], (case.file, case.description)


@pytest.mark.parametrize("format_name", ["date", "date-time", "email", "ipv4", "uri", "uuid"])
def test_formats_describe_by_default_and_refuse_when_they_are_asserted(format_name: str) -> None:
    for case in _files()["draft2020-12"][f"optional/format/{format_name}.json"]:
        schema = {"properties": {"value": case["schema"]}}
        describing, asserting = arguments_schema(schema), arguments_schema(schema, assert_formats=True)
        for test in case["tests"]:
            assert _accepts(describing, {"value": test["data"]})
            assert _accepts(asserting, {"value": test["data"]}) == test["valid"], test["description"]
