"""Security requirements in unusual words, and what users are told of the variables that they lead to."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.openapi import api, converted, described, operation, parameter, tool_of

KEY: dict[str, Any] = {"type": "apiKey", "name": "X-Key", "in": "header"}
TOKEN: dict[str, Any] = {"type": "http", "scheme": "bearer"}


def secured(security: Any, version: str = "3.1.0", /, **more: Any) -> dict[str, Any]:
    return described(operation(security=security), version, components={"securitySchemes": {"key": KEY}}, **more)


@pytest.mark.parametrize("security", [["key"], {"key": []}, [{"key": None}]])
@pytest.mark.parametrize("of_document", [False, True])
async def test_a_requirement_that_is_written_loosely_is_met_all_the_same(security: Any, of_document: bool) -> None:
    document = secured(security)
    if of_document:
        document["security"] = document["paths"]["/op"]["get"].pop("security")
    async with api(document, variables={"api_KEY": "k"}) as served:
        assert (await served.sent()).headers["X-Key"] == "k"


@pytest.mark.parametrize("security", [{}, [{}], []])
def test_an_empty_requirement_asks_for_nothing(security: Any) -> None:
    assert tool_of(secured(security, security=[{"key": []}])).variables == ()


@pytest.mark.parametrize(
    ("uri", "variable"),
    [
        ("#/components/securitySchemes/key", "KEY"),
        ("https://api.example.com/specs/openapi.json#/components/securitySchemes/key", "KEY"),
        ("shared.json#/theToken", "THE_TOKEN"),
    ],
)
def test_a_requirement_may_name_a_scheme_by_its_uri(uri: str, variable: str) -> None:
    siblings = {"https://api.example.com/specs/shared.json": {"theToken": TOKEN}}
    paths = {**operation(security=[{uri: []}]), **operation(path="/two", operationId="two", security=[{"key": []}])}
    document = described(paths, "3.2.0", components={"securitySchemes": {"key": KEY}})
    conversion = converted(document, siblings=siblings)
    assert not conversion.skipped
    assert conversion.tools[0].variables == (variable,)
    assert set(conversion.variables) == {"KEY", variable}


def test_schemes_of_one_name_in_two_documents_have_variables_of_their_own() -> None:
    siblings = {"https://api.example.com/specs/shared.json": {"key": TOKEN}}
    document = secured([{"key": [], "shared.json#/key": []}], "3.2.0")
    assert len(set(tool_of(document, siblings=siblings).variables)) == 2


@pytest.mark.parametrize("name", ["#/components/securitySchemes/none", "other.json#/x", "none", "a.b"])
def test_a_requirement_that_leads_nowhere_is_warned_of_and_asks_no_server(name: str) -> None:
    paths = {**operation(security=[{name: []}]), **operation(path="/two", operationId="two")}
    conversion = converted(described(paths, "3.2.0"), siblings={"https://api.example.com/specs/other.json": {}})
    assert [(tool.name, tool.variables) for tool in conversion.tools] == [("op", ()), ("two", ())]
    (warning,) = conversion.warnings
    assert name in warning
    assert not conversion.wanted


async def test_the_variable_of_a_header_that_is_described_as_a_parameter_is_told() -> None:
    document = described(operation(parameter("Authorization", "header", required=True)))
    async with api(document) as served:
        (variable,) = served.toolset.report.manuals[0].variables
        assert (variable.key, variable.tools, variable.optional_tools) == ("api_AUTHORIZATION", (), ("api.op",))
        assert "the whole value of the header 'Authorization'" in variable.description
        assert "Authorization" not in (await served.sent()).headers
    async with api(document, variables={"api_AUTHORIZATION": "Odd x"}) as served:
        assert (await served.sent()).headers["Authorization"] == "Odd x"
        assert "the whole value" in served.toolset.report.manuals[0].variables[0].description


@pytest.mark.parametrize(
    "scheme",
    [
        {"type": "openIdConnect", "openIdConnectUrl": "https://id.example.com/" + "x" * 9_000},
        {"type": "apiKey", "in": "header", "name": "X-" + "x" * 9_000},
        {"type": "http", "scheme": "word" * 9_000},
        {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "https://a/\n\n" + "x " * 9_000}}},
        {"type": "http", "scheme": "bearer", "bearerFormat": "x" * 9_000, "description": "y" * 9_000},
    ],
)
def test_what_is_told_of_a_variable_is_short_and_on_one_line(scheme: dict[str, Any]) -> None:
    document = described(operation(security=[{"s": ["scope" * 900]}]), components={"securitySchemes": {"s": scheme}})
    (words,) = converted(document).variable_descriptions.values()
    assert len(words) < 1_100
    assert "\n" not in words


@pytest.mark.parametrize(
    "scheme",
    [
        {"type": "openIdConnect", "openIdConnectUrl": "//[bad"},
        {"type": "oauth2", "flows": {"implicit": {"authorizationUrl": "//[bad"}}},
        {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "//[bad"}}},
    ],
)
def test_an_address_that_cannot_be_read_is_told_as_it_is_written(scheme: dict[str, Any]) -> None:
    document = described(operation(security=[{"s": []}]), components={"securitySchemes": {"s": scheme}})
    assert all("//[bad" in words for words in converted(document).variable_descriptions.values())
