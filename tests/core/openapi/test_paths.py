"""Paths as authors write them: each placeholder is filled, and no parameter is written twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.openapi import api, converted, described, operation, parameter, tool_of

ID = parameter("id", "path", required=True)


@pytest.mark.parametrize(
    ("path", "parameters", "target"),
    [
        ("/op/${id}", [ID], "/op/v1"),
        ("/op/${id}", [], "/op/v1"),
        ("/op/{{id}}", [ID], "/op/v1"),
        ("/op/{+id}", [ID], "/op/v1"),
        ("/op/{id*}", [ID], "/op/v1"),
        ("/op/:id/x", [ID], "/op/v1/x"),
        ("/op/{id}:archive", [ID], "/op/v1:archive"),
        ("/op?q={id}", [parameter("id")], "/op?q=v1"),
        ("/op?fixed=1&id={id}", [parameter("id", required=True)], "/op?fixed=1&id=v1"),
        ("/op?q={id}", [], "/op?q=v1"),
        ("/op?q={id}", [ID], "/op?q=v1"),
        ("/op{?id,other}", [parameter("id")], "/op?id=v1"),
        ("/op{?id,other}", [], "/op?id=v1"),
        ("/op/{id}#second", [ID], "/op/v1"),
        ("/op/{id}#{unsent}", [ID, parameter("unsent", "path", required=True)], "/op/v1"),
        ("//op/{id}", [ID], "//op/v1"),
    ],
)
async def test_a_path_in_another_spelling(path: str, parameters: list[dict[str, Any]], target: str) -> None:
    async with api(described(operation(*parameters, path=path))) as served:
        assert next(iter(served.toolset.find("api.op").input_schema["properties"])) == "id"
        assert (await served.sent({"id": "v1"})).target == target


def test_a_colon_that_nobody_declares_is_a_colon() -> None:
    assert tool_of(described(operation(path="/op/:id"))).template["url"].endswith("/op/:id")


def test_a_query_parameter_that_its_path_writes_is_as_optional_as_it_is_declared() -> None:
    tool = tool_of(described(operation(parameter("q"), path="/op?q={q}")))
    assert (list(tool.inputs["properties"]), tool.inputs.get("required")) == (["q"], None)


def test_paths_in_a_file_of_their_own() -> None:
    url = "https://api.example.com/specs/"
    siblings = {
        f"{url}paths.json": operation(method="get") | {"/listed": {"get": {"parameters": {"$ref": "list.json"}}}},
        f"{url}list.json": [parameter("a"), parameter("b")],
    }
    document: dict[str, Any] = described({"$ref": "paths.json"})
    conversion = converted(document, siblings=siblings)
    assert [list(tool.inputs["properties"]) for tool in conversion.tools] == [[], ["a", "b"]]


def test_paths_that_lead_nowhere_are_reported() -> None:
    conversion = converted(described({"$ref": "paths.json"}))
    assert [(operation.name, "paths.json" in operation.reason) for operation in conversion.skipped] == [("paths", True)]
