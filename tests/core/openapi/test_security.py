"""Credentials: which an operation asks for, under which variables, and where they go."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from aiohttp import web

from tests.support.http_server import http_server
from tests.support.openapi import api, converted, described, operation, parameter, tool_of
from utcp_bridge import Toolset

SCHEMES: dict[str, Any] = {
    "headerKey": {"type": "apiKey", "name": "X-Key", "in": "header"},
    "query_key": {"type": "apiKey", "name": "key", "in": "query"},
    "Cookie Key": {"type": "apiKey", "name": "session", "in": "cookie"},
    "basic": {"type": "http", "scheme": "Basic"},
    "bearerAuth": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "token": {"type": "http", "scheme": "Token"},
    "login": {
        "type": "oauth2",
        "flows": {"authorizationCode": {"tokenUrl": "https://t", "authorizationUrl": "https://a", "scopes": {}}},
    },
    "machine": {
        "type": "oauth2",
        "flows": {"implicit": {}, "clientCredentials": {"tokenUrl": "/token", "scopes": {"r": "", "w": ""}}},
    },
    "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://id.example.com"},
    "tls": {"type": "mutualTLS"},
    "odd": {"type": "odd"},
}


def secured(*alternatives: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    components = {"components": {"securitySchemes": SCHEMES}}
    return described(operation(security=list(alternatives)), "3.1.0", **components, **more)


@pytest.mark.parametrize(
    ("scheme", "variables", "header", "value"),
    [
        ("headerKey", ["HEADER_KEY"], "X-Key", "s1"),
        ("Cookie Key", ["COOKIE_KEY"], "Cookie", "session=s1"),
        ("bearerAuth", ["BEARER_AUTH"], "Authorization", "Bearer s1"),
        ("token", ["TOKEN"], "Authorization", "Token s1"),
        ("login", ["LOGIN"], "Authorization", "Bearer s1"),
        ("oidc", ["OIDC"], "Authorization", "Bearer s1"),
        (
            "basic",
            ["BASIC_USERNAME", "BASIC_PASSWORD"],
            "Authorization",
            "Basic " + base64.b64encode(b"s1:s2").decode(),
        ),
    ],
)
async def test_each_scheme_by_its_name(scheme: str, variables: list[str], header: str, value: str) -> None:
    document = secured({scheme: []})
    assert tool_of(document).variables == tuple(variables)
    given = {f"api_{name}": f"s{number}" for number, name in enumerate(variables, 1)}
    async with api(document, variables=given) as served:
        assert (await served.sent()).headers[header] == value


async def test_a_key_in_the_query() -> None:
    async with api(secured({"query_key": []}), variables={"api_QUERY_KEY": "a&b"}) as served:
        assert (await served.sent()).target == "/op?key=a%26b"


async def test_client_credentials_of_oauth2() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/token":
            form = await request.post()
            assert (form["client_id"], form["client_secret"], form["scope"]) == ("me", "hush", "r")
            return web.json_response({"access_token": "t1", "expires_in": 60})
        return web.json_response({})

    async with http_server(answer) as server:
        document = secured({"machine": ["r"]}, servers=[{"url": server.url}])
        manual = {"name": "api", "call_template_type": "text", "content": document}
        variables = {"api_MACHINE_CLIENT_ID": "me", "api_MACHINE_CLIENT_SECRET": "hush"}
        async with await Toolset.aopen({"manual_call_templates": [manual], "variables": variables}) as toolset:
            result = await toolset.acall("api.op")
            assert not result.is_error, result.content
            assert server.last.headers["Authorization"] == "Bearer t1"


async def test_schemes_that_are_needed_together() -> None:
    document = secured({"headerKey": [], "bearerAuth": [], "query_key": []})
    variables = {"api_HEADER_KEY": "h", "api_BEARER_AUTH": "b", "api_QUERY_KEY": "q"}
    async with api(document, variables=variables) as served:
        received = await served.sent()
        assert (received.headers["X-Key"], received.headers["Authorization"], received.target) == (
            "h",
            "Bearer b",
            "/op?key=q",
        )


@pytest.mark.parametrize(
    ("alternatives", "defined", "variables"),
    [
        ([{"headerKey": []}, {"basic": []}], [], ("HEADER_KEY",)),
        ([{"headerKey": []}, {"bearerAuth": []}], ["BEARER_AUTH"], ("BEARER_AUTH",)),
        ([{"headerKey": []}, {"basic": []}], ["BASIC_USERNAME"], ("HEADER_KEY",)),
        ([{"headerKey": []}, {}], [], ()),
        ([{}, {"headerKey": []}], ["HEADER_KEY"], ("HEADER_KEY",)),
        ([{"odd": []}, {"headerKey": []}], [], ("HEADER_KEY",)),
        ([{"unknown": []}, {}], [], ()),
        ([{"unknown": []}], [], ()),
        ([{"unknown": []}, {"headerKey": []}], [], ("HEADER_KEY",)),
        ([{"unknown": [], "basic": []}, {"headerKey": []}], [], ("HEADER_KEY",)),
        ([{"unknown": [], "headerKey": []}], [], ("HEADER_KEY",)),
        ([{"tls": []}], [], ()),
        ([{"tls": []}, {"headerKey": []}], [], ("HEADER_KEY",)),
        ([{"tls": [], "basic": []}, {"headerKey": []}], [], ("HEADER_KEY",)),
        ([], [], ()),
    ],
)
def test_of_alternatives_the_one_is_taken_that_can_be_used(
    alternatives: list[dict[str, list[str]]], defined: list[str], variables: tuple[str, ...]
) -> None:
    assert tool_of(secured(*alternatives), defined=lambda name: name in defined).variables == variables


def test_an_operation_without_security_has_the_documents_and_an_empty_one_none() -> None:
    paths = {**operation(), **operation(path="/open", operationId="open", security=[])}
    document = described(paths, components={"securitySchemes": SCHEMES}, security=[{"headerKey": []}])
    conversion = converted(document)
    assert {tool.name: tool.variables for tool in conversion.tools} == {"op": ("HEADER_KEY",), "open": ()}
    assert conversion.variables == {"HEADER_KEY": ("op",)}


async def test_public_operations_get_no_credentials() -> None:
    paths = {**operation(), **operation(path="/open", operationId="open", security=[])}
    document = described(paths, components={"securitySchemes": SCHEMES}, security=[{"headerKey": []}])
    auth = {"auth_type": "api_key", "api_key": "k", "var_name": "X-Key", "location": "header"}
    async with api(document, auth_tools=auth) as served:
        assert (await served.sent()).headers["X-Key"] == "k"
        assert "X-Key" not in (await served.sent(name="api.open")).headers


@pytest.mark.parametrize(
    ("scheme", "auth_tools", "fits"),
    [
        ("headerKey", {"auth_type": "api_key", "api_key": "k", "var_name": "x-key", "location": "header"}, True),
        ("headerKey", {"auth_type": "api_key", "api_key": "k", "var_name": "Other", "location": "header"}, False),
        ("headerKey", {"auth_type": "api_key", "api_key": "k", "var_name": "X-Key", "location": "query"}, False),
        ("headerKey", {"auth_type": "basic", "username": "u", "password": "p"}, False),
        ("basic", {"auth_type": "basic", "username": "u", "password": "p"}, True),
        ("bearerAuth", {"auth_type": "api_key", "api_key": "Bearer k", "var_name": "Authorization"}, True),
        ("login", {"auth_type": "oauth2", "token_url": "https://t", "client_id": "i", "client_secret": "s"}, True),
        ("machine", {"auth_type": "oauth2", "token_url": "https://t", "client_id": "i", "client_secret": "s"}, True),
        ("machine", {"auth_type": "api_key", "api_key": "Bearer k", "var_name": "Authorization"}, True),
        ("machine", {"auth_type": "api_key", "api_key": "k", "var_name": "X-Key"}, False),
        ("odd", {"auth_type": "api_key", "api_key": "k", "var_name": "X-Key"}, True),
        ("nowhere", {"auth_type": "basic", "username": "u", "password": "p"}, True),
    ],
)
def test_auth_tools_stand_for_a_scheme_that_they_fit(scheme: str, auth_tools: dict[str, Any], fits: bool) -> None:
    tool = tool_of(secured({scheme: []}), auth_tools=auth_tools)
    assert (tool.template["auth"] == auth_tools) is fits
    assert (tool.variables == ()) is fits


def test_the_alternative_that_auth_tools_fit_is_taken_and_what_else_it_needs_stays() -> None:
    auth_tools = {"auth_type": "basic", "username": "u", "password": "p"}
    tool = tool_of(secured({"bearerAuth": []}, {"basic": [], "query_key": []}), auth_tools=auth_tools)
    assert (tool.template["auth"], tool.variables) == (auth_tools, ("QUERY_KEY",))
    assert [auth["var_name"] for auth in tool.template["more_auth"]] == ["key"]


async def test_variables_without_a_value_are_reported_with_the_tools_that_need_them() -> None:
    paths: dict[str, Any] = {**operation(), **operation(path="/two", operationId="two")}
    document = described(paths, components={"securitySchemes": SCHEMES}, security=[{"headerKey": []}])
    async with api(document) as served:
        (missing,) = served.toolset.report.manuals[0].missing_variables
        assert (missing.key, missing.tools) == ("api_HEADER_KEY", ("api.op", "api.two"))
        assert "api_HEADER_KEY" in await served.refused()


OPEN_ID_CONNECT = (
    "an OpenID Connect access token from the provider that https://id.example.com describes; it is sent as it is, so "
    "a new one is needed when it expires"
)


@pytest.mark.parametrize(
    ("scheme", "scopes", "descriptions"),
    [
        ("headerKey", [], {"HEADER_KEY": "an API key, sent in the header 'X-Key'"}),
        ("query_key", [], {"QUERY_KEY": "an API key, sent in the query parameter 'key'"}),
        ("Cookie Key", [], {"COOKIE_KEY": "an API key, sent in the cookie 'session'"}),
        (
            "basic",
            [],
            {
                "BASIC_USERNAME": "the user name of HTTP Basic authentication",
                "BASIC_PASSWORD": "the password of HTTP Basic authentication",
            },
        ),
        ("bearerAuth", [], {"BEARER_AUTH": "a bearer token (JWT)"}),
        ("token", [], {"TOKEN": "what follows 'Token' in the header 'Authorization'"}),
        (
            "login",
            ["read", "write"],
            {
                "LOGIN": "an OAuth 2.0 access token with the scopes 'read', 'write', which a person gets at https://a; "
                "it is sent as it is, so a new one is needed when it expires"
            },
        ),
        (
            "machine",
            ["r"],
            {
                "MACHINE_CLIENT_ID": "the client ID for OAuth 2.0 tokens with the scope 'r' from http://h/token",
                "MACHINE_CLIENT_SECRET": "the client secret for OAuth 2.0 tokens with the scope 'r' from http://h/token",
            },
        ),
        ("oidc", [], {"OIDC": OPEN_ID_CONNECT}),
        ("tls", [], {}),
    ],
)
def test_what_the_variables_of_a_scheme_take_is_described(
    scheme: str, scopes: list[str], descriptions: dict[str, str]
) -> None:
    conversion = converted(secured({scheme: scopes}, servers=[{"url": "http://h"}]))
    assert conversion.variable_descriptions == descriptions


@pytest.mark.parametrize(
    ("flow", "way"),
    [
        ({"flow": "implicit", "authorizationUrl": "/login"}, "which a person gets at http://h/login"),
        (
            {"flow": "accessCode", "authorizationUrl": "https://a", "tokenUrl": "https://t"},
            "a person gets at https://a",
        ),
        ({"flow": "password", "tokenUrl": "https://t"}, "which https://t gives for a user name and a password"),
        ({"flows": {"password": {"tokenUrl": "https://t"}}}, "which https://t gives for a user name and a password"),
        (
            {"flows": {"deviceAuthorization": {"deviceAuthorizationUrl": "https://d", "tokenUrl": "https://t"}}},
            "which a person allows by way of https://d",
        ),
        ({"flows": "odd"}, "an OAuth 2.0 access token; it is sent as it is"),
    ],
)
def test_where_a_token_comes_from_that_a_person_must_get(flow: dict[str, Any], way: str) -> None:
    schemes = {"securityDefinitions": {"s": {"type": "oauth2", **flow}}}
    servers: dict[str, Any] = {"host": "h", "schemes": ["http"]}
    if "flows" in flow:
        schemes, servers = {"components": {"securitySchemes": schemes["securityDefinitions"]}}, {}
    document = described(operation(security=[{"s": []}]), "3.2.0" if "flows" in flow else "2.0", **schemes, **servers)
    assert way in converted(document).variable_descriptions["S"]


def test_the_authors_words_and_scopes_are_kept_short() -> None:
    scopes = [f"scope{number}" for number in range(40)]
    scheme = {**SCHEMES["oidc"], "description": "Ask <b>Ann</b>\nfor a token. " + "And so on. " * 200}
    document = described(operation(security=[{"s": scopes}]), components={"securitySchemes": {"s": scheme}})
    words = converted(document).variable_descriptions["S"]
    assert "'scope4' and 35 more" in words
    assert "The document says: Ask Ann for a token. And so on." in words
    assert len(words) < 600


async def test_a_report_says_what_a_variable_without_a_value_takes_and_so_does_a_call() -> None:
    async with api(secured({"oidc": []})) as served:
        report = str(served.toolset.report)
        assert (
            f"the variable 'api_OIDC' is not defined; api.op cannot be called without it; it takes {OPEN_ID_CONNECT}"
            in report
        )
        assert f"'api_OIDC' takes {OPEN_ID_CONNECT}" in await served.refused()


async def test_a_report_says_that_other_credentials_would_do() -> None:
    document = secured({"headerKey": []}, {"oidc": []}, {"machine": []})
    async with api(document, variables={"api_MACHINE_CLIENT_ID": "me"}) as served:
        key, openid, client_id, _ = served.toolset.report.manuals[0].variables
        assert (key.key, key.tools, key.optional_tools) == ("api_HEADER_KEY", ("api.op",), ())
        assert (openid.key, openid.tools, openid.optional_tools) == ("api_OIDC", (), ("api.op",))
        assert (openid.description, client_id.defined) == (OPEN_ID_CONNECT, True)
        assert f"'api_OIDC' would do as well for api.op; it takes {OPEN_ID_CONNECT}" in str(served.toolset.report)


@pytest.mark.parametrize("alternatives", [[{"headerKey": []}, {"oidc": []}], [{}, {"oidc": []}], [{"oidc": []}]])
async def test_where_the_credentials_are_decided_only_they_are_reported(
    alternatives: list[dict[str, list[str]]],
) -> None:
    async with api(secured(*alternatives), variables={"api_OIDC": "t"}) as served:
        (variable,) = served.toolset.report.manuals[0].variables
        assert (variable.key, variable.defined, variable.tools) == ("api_OIDC", True, ("api.op",))
        assert variable.description == OPEN_ID_CONNECT
        assert "api_OIDC" not in str(served.toolset.report)


async def test_a_tool_that_needs_no_credentials_can_still_use_some() -> None:
    async with api(secured({}, {"oidc": []})) as served:
        (variable,) = served.toolset.report.manuals[0].variables
        assert (variable.tools, variable.optional_tools) == ((), ("api.op",))
        assert "Authorization" not in (await served.sent()).headers


async def test_a_client_certificate_that_none_can_send_is_warned_of() -> None:
    paths = {**operation(security=[{"tls": []}]), **operation(path="/two", security=[{"tls": []}, {"basic": []}])}
    async with api(described(paths, "3.1.0", components={"securitySchemes": SCHEMES})) as served:
        assert served.toolset.report.manuals[0].warnings == (
            "the security scheme 'tls' asks for a client certificate (mutual TLS), and none is sent; it stands at 1 of "
            "its operations",
        )


@pytest.mark.parametrize(
    "written", ["nowhere", "#/components/securitySchemes/nowhere", "odd", "place", "name", "empty"]
)
async def test_a_scheme_that_is_not_described_costs_no_tool_and_is_warned_of(written: str) -> None:
    paths = {**operation(security=[{written: []}]), **operation(path="/two", operationId="two", security=[{}])}
    schemes = {
        "odd": {"type": "odd"},
        "place": {"type": "apiKey", "name": "k"},
        "name": {"type": "apiKey", "in": "header"},
        "empty": None,
    }
    async with api(described(paths, components={"securitySchemes": schemes})) as served:
        (warning,) = served.toolset.report.manuals[0].warnings
        assert repr(written) in warning
        assert "'auth_tools'" in warning
        assert "at 1 of its operations" in warning
        assert "Authorization" not in (await served.sent()).headers
    key = {"auth_type": "api_key", "api_key": "k", "var_name": "X-Key", "location": "header"}
    async with api(described(paths, components={"securitySchemes": schemes}), auth_tools=key) as served:
        assert served.toolset.report.manuals[0].warnings == ()
        assert (await served.sent()).headers["X-Key"] == "k"
        assert "X-Key" not in (await served.sent(name="api.two")).headers


async def test_a_parameter_that_a_scheme_fills_is_no_argument() -> None:
    paths = operation(parameter("x-key", "header", required=True), parameter("q"), security=[{"headerKey": []}])
    document = described(paths, components={"securitySchemes": SCHEMES})
    async with api(document, variables={"api_HEADER_KEY": "k"}) as served:
        assert list(served.toolset.find("api.op").input_schema["properties"]) == ["q"]
        assert (await served.sent({"q": "a"})).headers["X-Key"] == "k"


@pytest.mark.parametrize(
    ("definition", "auth"),
    [
        ({"type": "basic"}, {"auth_type": "basic", "username": "${MY_KEY_USERNAME}", "password": "${MY_KEY_PASSWORD}"}),
        (
            {"type": "apiKey", "name": "k", "in": "query"},
            {"auth_type": "api_key", "api_key": "${MY_KEY}", "var_name": "k", "location": "query"},
        ),
        (
            {"type": "oauth2", "flow": "application", "tokenUrl": "https://t/x", "scopes": {"a": ""}},
            {
                "auth_type": "oauth2",
                "token_url": "https://t/x",
                "client_id": "${MY_KEY_CLIENT_ID}",
                "client_secret": "${MY_KEY_CLIENT_SECRET}",
                "scope": None,
            },
        ),
        (
            {"type": "oauth2", "flow": "implicit", "authorizationUrl": "https://a", "scopes": {}},
            {"auth_type": "api_key", "api_key": "Bearer ${MY_KEY}", "var_name": "Authorization", "location": "header"},
        ),
    ],
)
def test_security_of_swagger_2(definition: dict[str, Any], auth: dict[str, Any]) -> None:
    document = described(operation(security=[{"my-key": []}]), "2.0", securityDefinitions={"my-key": definition})
    assert tool_of(document).template["auth"] == auth


def test_variables_of_schemes_with_like_names_differ() -> None:
    key = {"type": "apiKey", "name": "k", "in": "header"}
    schemes = {"my key": key, "myKey": key, "my_key": key, "2fa": key, "密": key}
    paths: dict[str, Any] = {
        f"/{number}": {"get": {"responses": {}, "security": [{name: []}]}} for number, name in enumerate(schemes)
    }
    conversion = converted(described(paths, components={"securitySchemes": schemes}))
    assert len(conversion.variables) == len(schemes)
    assert all(name.isidentifier() and name.isascii() for name in conversion.variables)


async def test_credentials_do_not_follow_a_redirect_to_another_origin() -> None:
    async with http_server() as other:

        async def answer(request: web.Request) -> web.Response:
            return web.Response(status=307, headers={"Location": f"{other.url}/elsewhere"})

        async with http_server(answer) as server:
            document = secured({"headerKey": [], "Cookie Key": [], "bearerAuth": []}, servers=[{"url": server.url}])
            manual = {"name": "api", "call_template_type": "text", "content": document}
            variables = {"api_HEADER_KEY": "secret1", "api_COOKIE_KEY": "secret2", "api_BEARER_AUTH": "secret3"}
            async with await Toolset.aopen({"manual_call_templates": [manual], "variables": variables}) as toolset:
                await toolset.acall("api.op")
            assert "secret1" in str(server.last.headers)
            assert "secret" not in str(other.last.headers)


@pytest.mark.parametrize(
    ("token_url", "server", "expected"),
    [
        ("token", "https://api.example.com/v1", "https://api.example.com/v1/token"),
        ("/token", "https://api.example.com/v1", "https://api.example.com/token"),
        ("https://id.example.com/token", "https://api.example.com/v1", "https://id.example.com/token"),
    ],
)
def test_a_token_url_starts_from_the_server(token_url: str, server: str, expected: str) -> None:
    scheme = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {}}}}
    components = {"securitySchemes": {"machine": scheme}}
    document = described(operation(security=[{"machine": []}]), components=components, servers=[{"url": server}])
    assert tool_of(document, url="https://docs.example.org/x.json").template["auth"]["token_url"] == expected


def test_security_that_is_not_written_is_the_documents() -> None:
    components = {"securitySchemes": SCHEMES}
    document = described(operation(security=None), components=components, security=[{"bearerAuth": []}])
    assert tool_of(document).variables == ("BEARER_AUTH",)


@pytest.mark.parametrize(
    ("defined", "variables"),
    [((), ("BEARER_AUTH",)), (("OIDC",), ("OIDC",)), (("BASIC_USERNAME", "BASIC_PASSWORD"), None)],
)
def test_of_schemes_that_fill_one_header_one_is_taken(defined: tuple[str, ...], variables: Any) -> None:
    tool = tool_of(secured({"bearerAuth": [], "oidc": [], "basic": []}), defined=lambda name: name in defined)
    assert tool.variables == (variables or defined)


@pytest.mark.parametrize(
    ("more", "options", "auth"),
    [
        ({}, {}, None),
        ({}, {"defined": lambda name: name == "AUTHORIZATION"}, ("api_key", "${AUTHORIZATION}")),
        ({}, {"auth_tools": {"auth_type": "basic", "username": "u", "password": "p"}}, ("basic", None)),
        ({}, {"auth_tools": {"auth_type": "api_key", "api_key": "k", "var_name": "X-Key"}}, None),
        ({"security": []}, {"defined": lambda _name: True}, None),
    ],
)
def test_authorization_that_is_described_as_a_header_can_be_given_all_the_same(
    more: dict[str, Any], options: dict[str, Any], auth: Any
) -> None:
    tool = tool_of(described(operation(parameter("authorization", "header"), **more)), **options)
    assert tool.inputs["properties"] == {}
    found = tool.template.get("auth")
    assert (found and (found["auth_type"], found.get("api_key"))) == auth


@pytest.mark.parametrize(
    "scheme",
    [
        {"type": "apiKey", "name": "X-${SECRET}", "in": "header"},
        {"type": "http", "scheme": "$SECRET x"},
        {"type": "apiKey", "name": "My SECRET Key", "in": "header"},
        {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://h/${SECRET}", "scopes": {}}}},
    ],
)
def test_a_document_reads_no_variable_of_its_own_choice(scheme: dict[str, Any]) -> None:
    document = described(operation(security=[{"s": []}]), components={"securitySchemes": {"s": scheme}})
    conversion = converted(document)
    assert (len(conversion.tools), "SECRET" in conversion.skipped[0].reason) == (0, True)


def test_schemes_in_a_file_of_their_own() -> None:
    document = described(operation(security=[{"s": []}]), components={"securitySchemes": {"$ref": "schemes.json"}})
    siblings = {"https://api.example.com/specs/schemes.json": {"s": {"type": "http", "scheme": "bearer"}}}
    assert tool_of(document, siblings=siblings).variables == ("S",)
