"""Where operations are called: servers of every level, their variables, and the address that the user gives."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.support.http_server import http_server
from tests.support.openapi import api, converted, described, operation, tool_of
from utcp_bridge.openapi import OpenApiError, tools_from_openapi

SPEC_URL = "https://api.example.com/specs/v1/openapi.json"


def url_of(document: dict[str, Any], **options: Any) -> str:
    return str(tool_of(document, **{"url": SPEC_URL, **options}).template["url"])


@pytest.mark.parametrize(
    ("servers", "url"),
    [
        (None, "https://api.example.com/op"),
        ([], "https://api.example.com/op"),
        ([{"url": "https://other.example.com/base/"}], "https://other.example.com/base/op"),
        ([{"url": "/api"}], "https://api.example.com/api/op"),
        ([{"url": "api"}], "https://api.example.com/specs/v1/api/op"),
        ([{"url": "../v2"}], "https://api.example.com/specs/v2/op"),
        ([{"url": "//other.example.com/x"}], "https://other.example.com/x/op"),
        ([{"url": ""}], "https://api.example.com/op"),
        (["https://other.example.com/base"], "https://other.example.com/base/op"),
        ([{"url": "wss://a.example.com"}, {"url": "https://b.example.com"}], "https://b.example.com/op"),
        ([{"url": "http://localhost:8080"}, {"url": "https://b.example.com"}], "https://b.example.com/op"),
        ([{"url": "http://a.example.com/x"}, {"url": "https://a.example.com/x"}], "https://a.example.com/x/op"),
        ([{"url": "http://a.example.com"}, {"url": "https://b.example.com"}], "http://a.example.com/op"),
        ([{"url": "HTTPS://a.example.com/x"}], "HTTPS://a.example.com/x/op"),
        ([{"url": "http://[bad"}, {"url": "/api"}], "https://api.example.com/api/op"),
    ],
)
def test_servers_of_openapi_3(servers: Any, url: str) -> None:
    assert url_of(described(operation(), **({} if servers is None else {"servers": servers}))) == url


def test_the_nearest_server_counts() -> None:
    paths = {**operation(servers=[{"url": "https://op.example.com"}]), **operation(path="/two", operationId="two")}
    paths["/two"]["servers"] = [{"url": "https://path.example.com"}]
    paths["/three"] = {"get": {"operationId": "three", "responses": {}}}
    document = described(paths, servers=[{"url": "https://root.example.com"}])
    assert [tool.template["url"] for tool in converted(document).tools] == [
        "https://op.example.com/op",
        "https://path.example.com/two",
        "https://root.example.com/three",
    ]


VARIABLES: dict[str, Any] = {
    "url": "https://{name}.example.com:{port}/{base}",
    "variables": {
        "name": {"default": "demo"},
        "port": {"default": 443},
        "base": {"default": "v2", "enum": ["v1", "v2"]},
    },
}


@pytest.mark.parametrize(
    ("values", "url"),
    [
        ({}, "https://demo.example.com:443/v2/op"),
        ({"name": "mine", "base": "v1"}, "https://mine.example.com:443/v1/op"),
        ({"other": "x"}, "https://demo.example.com:443/v2/op"),
    ],
)
def test_server_variables(values: dict[str, str], url: str) -> None:
    assert url_of(described(operation(), servers=[VARIABLES]), server_variables=values) == url


@pytest.mark.parametrize(
    "document",
    [
        described(operation(), servers=[{"url": "https://{host}/v1"}]),
        described(operation(), servers=[{"url": "https://api.{region}.example.com"}]),
        described(operation(), servers=[{"url": "{scheme}://api.example.com"}]),
        described(operation(), "2.0", host="{tenant}.example.com"),
        described(operation(), "2.0", host="api.example.com:{port}", basePath="/v1"),
    ],
)
def test_no_argument_chooses_the_host(document: dict[str, Any]) -> None:
    conversion = converted(document)
    assert [(operation.name, "'server_variables'" in operation.reason) for operation in conversion.skipped] == [
        ("GET /op", True)
    ]


def test_what_the_server_of_swagger_2_leaves_open_can_be_given() -> None:
    document = described(operation(), "2.0", host="{tenant}.example.com", basePath="/{version}")
    url = url_of(document, server_variables={"tenant": "mine", "version": "v2"})
    assert url == "https://mine.example.com/v2/op"


async def test_a_placeholder_in_the_base_path_of_swagger_2_is_an_argument() -> None:
    async with api(described(operation(), "2.0", basePath="/{tenant}")) as served:
        assert served.toolset.find("api.op").input_schema["required"] == ["tenant"]
        assert (await served.sent({"tenant": "x/y"})).target == "/x%2Fy/op"


async def test_a_server_variable_without_a_default_is_an_argument() -> None:
    servers = [{"url": "/{tenant}/{op}", "variables": {"tenant": {"enum": ["a", "b"], "description": "Whose."}}}]
    async with api(described(operation(), servers=servers)) as served:
        schema = served.toolset.find("api.op").input_schema
        assert schema["properties"]["tenant"] == {"type": "string", "description": "Whose.", "enum": ["a", "b"]}
        assert (await served.sent({"tenant": "a", "op": "x/y"})).target == "/a/x%2Fy/op"
        assert "tenant" in await served.refused({"tenant": "c", "op": "x"})


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"host": "h.example.com", "basePath": "/v1/", "schemes": ["http", "https"]}, "https://h.example.com/v1/op"),
        ({"host": "h.example.com", "schemes": ["http"]}, "http://h.example.com/op"),
        ({"host": "h.example.com:8443"}, "https://h.example.com:8443/op"),
        ({"basePath": "v1"}, "https://api.example.com/v1/op"),
        ({"basePath": "/"}, "https://api.example.com/op"),
        ({}, "https://api.example.com/op"),
        ({"host": "https://h.example.com/"}, "https://h.example.com/op"),
    ],
)
def test_servers_of_swagger_2(fields: dict[str, Any], url: str) -> None:
    assert url_of(described(operation(), "2.0", **fields)) == url


def test_the_schemes_of_an_operation_count_before_those_of_the_document() -> None:
    document = described(operation(schemes=["http"]), "2.0", host="h.example.com", schemes=["https"])
    assert url_of(document) == "http://h.example.com/op"


@pytest.mark.parametrize("version", ["2.0", "3.1.0"])
def test_base_url_replaces_every_server(version: str) -> None:
    document = described(operation(servers=[{"url": "https://op.example.com"}]), version, host="h.example.com")
    assert url_of(document, base_url="https://mine.example.com/x/") == "https://mine.example.com/x/op"


@pytest.mark.parametrize("more", [{}, {"servers": [{"url": "/v1"}]}])
@pytest.mark.parametrize("url", ["", "file:///specs/openapi.json"])
def test_a_document_without_any_server_asks_for_one(url: str, more: dict[str, Any]) -> None:
    with pytest.raises(OpenApiError, match="base_url"):
        tools_from_openapi(described(operation(), **more), url=url)


async def test_base_url_in_a_manual_wins_over_what_the_document_names() -> None:
    document = described(operation(), servers=[{"url": "https://api.example.com"}])
    async with http_server() as other, api(document, base_url=f"{other.url}/mine") as served:
        result = await served.toolset.acall("api.op")
        assert not result.is_error
        assert other.last.target == "/mine/op"


async def test_placeholders_in_a_base_url_are_server_variables_or_arguments() -> None:
    document = described(operation())
    url = url_of(document, base_url="https://{tenant}.example.com/{v}", server_variables={"tenant": "mine", "v": 2})
    assert url == "https://mine.example.com/2/op"
    for base_url in ("https://{tenant}.example.com", "{tenant}/v1", "${HOST}{tenant}/v1"):
        with pytest.raises(OpenApiError, match=r"'base_url' leaves 'tenant' .* 'server_variables'"):
            converted(document, base_url=base_url)
    assert url_of(document, base_url="https://${HOST}/v1/") == "https://${HOST}/v1/op"
    async with http_server() as server, api(document, base_url=server.url + "/{tenant}") as served:
        await served.toolset.acall("api.op", {"tenant": "x/y"})
        assert server.last.target == "/x%2Fy/op"
        assert "tenant" in (await served.toolset.acall("api.op", {})).content


def test_the_own_address_of_an_openapi_3_2_document() -> None:
    document = described(
        operation(), "3.2.0", **{"$self": "https://real.example.com/x/openapi"}, servers=[{"url": "api"}]
    )
    assert url_of(document) == "https://api.example.com/specs/v1/api/op"


def test_a_server_in_another_document_starts_from_there() -> None:
    document = described({"/op": {"$ref": "sub/paths.json#/op"}})
    item = {**operation()["/op"], "servers": [{"url": "./v9"}]}
    siblings = {"https://api.example.com/specs/v1/sub/paths.json": {"op": item}}
    assert url_of(document, siblings=siblings) == "https://api.example.com/specs/v1/sub/v9/op"


async def test_a_dollar_sign_of_a_document_begins_no_variable_of_the_users() -> None:
    servers = [{"url": "/$v1/{v}", "variables": {"v": {"default": "$v2"}}}]
    document = described(operation(path="/op/$LATEST/$count?$top=5&skip=$skip"), servers=servers)
    secrets = {f"api_{name}": "hush" for name in ("LATEST", "count", "top", "skip", "v1", "v2")}
    async with api(document, variables=secrets) as served:
        path, _, query = (await served.sent()).target.partition("?")
        assert path == "/$v1/$v2/op/$LATEST/$count"
        assert parse_qsl(query) == [("$top", "5"), ("skip", "$skip")]


async def test_a_server_variable_that_the_user_gives_may_be_one_of_theirs() -> None:
    document = described(operation(), servers=[{"url": "/{tenant}"}])
    values = {"server_variables": {"tenant": "${TENANT}"}}
    async with api(document, variables={"api_TENANT": "mine"}, openapi=values) as served:
        assert (await served.sent()).target == "/mine/op"


@pytest.mark.parametrize(
    ("base_url", "url"),
    [("/zz", "https://api.example.com/zz/op"), (" https://h.example.com/ ", "https://h.example.com/op")],
)
def test_a_base_url_may_be_relative_to_the_document(base_url: str, url: str) -> None:
    assert url_of(described(operation()), base_url=base_url) == url


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"base_url": 5}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"base_url": "/zz", "url": ""}, "base_url"),
        ({"base_url": "ftp://h"}, "base_url"),
        ({"media_types": "text/plain"}, "media_types"),
        ({"media_types": [5]}, "media_types"),
        ({"server_variables": ["a"]}, "server_variables"),
        ({"flatten_body": "no"}, "flatten_body"),
    ],
)
def test_an_option_of_a_wrong_kind_is_named(options: dict[str, Any], name: str) -> None:
    with pytest.raises(OpenApiError, match=name):
        converted(described(operation()), **options)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({}, []),
        ({"base": "v1", "name": "anything"}, []),
        ({"base": "v3"}, ["'base'", "'v3'", "'v1', 'v2'"]),
        ({"bsae": "v1"}, ["'bsae'", "'name', 'port', 'base'"]),
    ],
)
async def test_a_value_of_a_server_variable_that_the_document_does_not_expect_is_warned_of(
    values: dict[str, str], told: list[str]
) -> None:
    servers = [{**VARIABLES, "url": "https://{name}.example.com:{port}/{base}"}]
    async with api(described(operation(), servers=servers), openapi={"server_variables": values}) as served:
        warnings = served.toolset.report.manuals[0].warnings
        assert len(warnings) == bool(told)
        assert all(words in warnings[0] for words in told)
    conversion = converted(described(operation(), servers=servers), server_variables=values)
    assert f"/{values.get('base', 'v2')}/op" in conversion.tools[0].template["url"]


def test_only_the_server_that_is_taken_warns_and_none_where_the_user_gives_another() -> None:
    other = {"url": "wss://{base}", "variables": {"base": {"default": "x", "enum": ["x"]}}}
    document = described(operation(), servers=[other, VARIABLES])
    assert not converted(document, server_variables={"base": "v1"}).warnings
    assert not converted(document, server_variables={"none": "v1"}, base_url="https://h.example.com").warnings


@pytest.mark.parametrize(
    ("server", "path", "url"),
    [
        ("https://h.example.com/x?key=1", "/op", "https://h.example.com/x/op?key=1"),
        ("https://h.example.com/?key=1", "/op?a=b#c", "https://h.example.com/op?a=b&key=1"),
        ("/x?key={key}", "/op", "https://api.example.com/x/op?key=5"),
    ],
)
def test_the_query_of_a_server_stands_behind_the_path(server: str, path: str, url: str) -> None:
    servers = [{"url": server, "variables": {"key": {"default": "5"}}}]
    assert url_of(described(operation(path=path), servers=servers)) == url
