"""Operations: which become tools, how they are called and described, and what a broken one costs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.openapi import converted, described, json_body, operation, parameter, tool_of
from utcp_bridge.openapi import OpenApiError, tools_from_openapi
from utcp_bridge.openapi.names import tool_names
from utcp_bridge.openapi.nodes import Node
from utcp_bridge.openapi.operations import Operation

OK: dict[str, Any] = {"responses": {"200": {"description": "OK"}}}


def names_of(paths: dict[str, Any], version: str = "3.0.3") -> list[str]:
    return [tool.name for tool in converted(described(paths, version)).tools]


# -- which


@pytest.mark.parametrize("method", ["get", "put", "post", "delete", "options", "head", "patch", "trace"])
def test_every_method_of_openapi_becomes_a_tool(method: str) -> None:
    assert tool_of(described(operation(method=method))).template["http_method"] == method.upper()


def test_methods_of_openapi_3_2() -> None:
    paths = {
        "/a": {"query": {**OK, "operationId": "find"}, "additionalOperations": {"COPY": {**OK, "operationId": "copy"}}}
    }
    found = {tool.name: tool.method for tool in converted(described(paths, "3.2.0")).tools}
    assert found == {"find": "QUERY", "copy": "COPY"}


def test_what_is_no_operation_is_no_tool() -> None:
    paths = {
        "/a": {
            "get": {**OK, "callbacks": {"on": {"{$request.body#/url}": {"post": OK}}}},
            "parameters": [],
            "summary": "A",
        },
        "x-internal": {"get": OK},
    }
    document = described(paths, "3.1.0", webhooks={"new": {"post": OK}})
    assert [tool.method for tool in converted(document).tools] == ["GET"]


@pytest.mark.parametrize("version", ["2.0", "3.0.0", "3.0.4", "3.1.0", "3.1.1", "3.2.0"])
def test_versions(version: str) -> None:
    assert names_of(operation(), version) == ["op"]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"openapi": "4.0.0", "paths": {}}, "'4.0.0'"),
        ({"swagger": "1.2", "paths": {}}, "'1.2'"),
        ({"openapi": "3.0.0"}, "'paths'"),
    ],
)
def test_what_is_no_openapi_is_refused_as_a_whole(document: dict[str, Any], words: str) -> None:
    with pytest.raises(OpenApiError, match=words):
        tools_from_openapi(document)


def test_extensions_are_harmless_everywhere() -> None:
    extended = {"x-a": {"$ref": "#/nowhere"}}
    paths = {
        "/a": {
            **extended,
            "post": {
                **OK,
                **extended,
                "operationId": "op",
                "parameters": [{**parameter("q", kind={"type": "string", **extended}), **extended}],
                "requestBody": {
                    **extended,
                    "content": {"x-b": {}, "application/json": {**extended, "schema": extended}},
                },
                "responses": {
                    "x-c": {},
                    "200": {
                        **extended,
                        "description": "OK",
                        "content": {"x-d": {}, "image/png": {"schema": {"title": "P"}}},
                    },
                },
            },
        }
    }
    tool = tool_of(described(paths, **extended))
    assert tool.inputs["properties"] == {"q": {"type": "string"}, "body": {}}
    assert tool.outputs == {"title": "P"}


def test_keys_that_yaml_reads_as_numbers_and_truth_values_are_texts() -> None:
    schema = {"type": "object", "properties": {True: {"type": "string"}, 5: {"type": "integer"}}}
    responses = {200: {"description": "OK", "content": {"application/json": {"schema": schema}}}}
    assert tool_of(described(operation(responses=responses))).outputs["properties"].keys() == {"true", "5"}


def test_a_conversion_is_a_collection_of_tools() -> None:
    conversion = converted(described({**operation(), **operation(path="/two", operationId="two")}))
    assert [tool.name for tool in conversion] == ["op", "two"]
    assert len(conversion) == 2


# -- one broken operation


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (5, "no object"),
        ({"parameters": [{"$ref": "#/components/parameters/Gone"}]}, "Gone'"),
        ({"parameters": [{"schema": {}}]}, "'name'"),
        ({"parameters": [{"name": "a", "in": "nowhere"}]}, "'nowhere'"),
        ({"requestBody": {"$ref": "#/components/requestBodies/Gone"}}, "Gone'"),
        ({"servers": [{"url": "wss://api.example.com"}]}, "wss"),
        ({"$ref": "#/paths/~1bad/get"}, "circle"),
    ],
)
def test_a_broken_operation_costs_only_itself_and_is_reported(broken: Any, words: str) -> None:
    conversion = converted(described({"/bad": {"get": broken}, **operation()}))
    assert [tool.name for tool in conversion.tools] == ["op"]
    (skipped,) = conversion.skipped
    assert skipped.name == "GET /bad"
    assert words in skipped.reason


def test_a_path_that_leads_nowhere_is_reported() -> None:
    conversion = converted(described({"/bad": {"$ref": "#/gone"}, **operation()}))
    assert [(skipped.name, "'gone'" in skipped.reason) for skipped in conversion.skipped] == [("/bad", True)]


@pytest.mark.parametrize("piece", [None, 5, "text", [], {}, True, [None], {"a": None}, [[]]])
@pytest.mark.parametrize(
    "key",
    ["parameters", "requestBody", "responses", "tags", "summary", "servers", "security", "operationId", "consumes"],
)
@pytest.mark.parametrize("version", ["2.0", "3.1.0"])
def test_pieces_of_a_wrong_shape_never_cost_the_document(version: str, key: str, piece: Any) -> None:
    paths = {"/bad": {"post": {**OK, key: piece}}, "/other": piece, **operation()}
    document = described(paths, version, components=piece, definitions=piece, tags=piece)
    conversion = converted(document)
    assert "op" in [tool.name for tool in conversion.tools]
    assert len(conversion.tools) + len(conversion.skipped) >= 2


# -- names


def test_a_missing_or_empty_operation_id_is_read_from_method_and_path() -> None:
    paths = {
        "/": {"get": OK},
        "/users/{id}": {"get": OK, "delete": {**OK, "operationId": ""}},
        "/users/{id}/repos.v2/{repo-name}:archive": {"post": {**OK, "operationId": 5}},
    }
    assert names_of(paths) == [
        "get_root",
        "get_users_by_id",
        "delete_users_by_id",
        "post_users_by_id_repos_v2_by_repo_name_archive",
    ]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([("GET", "/n"), ("GET", "/m")], ["same_n", "same_m"]),
        ([("GET", "/n"), ("POST", "/n")], ["same_get", "same_post"]),
        ([("GET", "/n"), ("POST", "/n"), ("GET", "/m")], ["same_get_n", "same_post_n", "same_get_m"]),
        ([("GET", "/a-b"), ("GET", "/a_b")], ["same_get_a_dash_b", "same_get_a_underscore_b"]),
    ],
)
def test_operations_of_one_id_are_told_apart_by_what_sets_them_apart(
    paths: list[tuple[str, str]], names: list[str]
) -> None:
    node = Node({"operationId": "same"}, "")
    assert tool_names([Operation(method, path, node, node) for method, path in paths]) == names


def test_paths_that_differ_in_signs_alone_are_told_apart_by_them() -> None:
    paths = {path: {"get": OK} for path in ("/a/b", "/a-b", "/a_b", "/a/b/", "/users", "/users/~", "/users/{~}")}
    assert names_of(paths) == [
        "get_a_b",
        "get_a_dash_b",
        "get_a_underscore_b",
        "get_a_b_slash",
        "get_users",
        "get_users_tilde",
        "get_users_by",
    ]
    assert names_of(dict(reversed(paths.items()))) == names_of(paths)[::-1]


def test_an_operation_id_that_no_model_can_read_gives_way_to_method_and_path() -> None:
    assert names_of({"/users": {"get": {**OK, "operationId": "利用者"}, "post": {**OK, "operationId": "añadir"}}}) == [
        "get_users",
        "añadir",
    ]


def test_telling_apart_never_takes_another_operations_name() -> None:
    same = {**OK, "operationId": "same"}
    paths = {"/n": {"get": same, "post": same}, "/o": {"get": {**OK, "operationId": "same_get"}}}
    assert names_of(paths) == ["same_get_n", "same_post_n", "same_get"]


# -- descriptions


@pytest.mark.parametrize(
    ("fields", "description"),
    [
        ({"summary": "List pets", "description": "All of them."}, "List pets. All of them."),
        ({"summary": "List pets", "description": "List pets of a user."}, "List pets of a user."),
        ({"summary": "Only this"}, "Only this"),
        ({"description": "  Only\n\n\n\nthat  "}, "Only\n\nthat"),
        ({"description": "<p>A <b>b</b> &amp; c</p>"}, "A b & c"),
        ({"description": "Where `a < b` and <id> stay"}, "Where `a < b` and <id> stay"),
        ({"summary": "Old", "deprecated": True}, "Deprecated. Old"),
        ({}, "GET /op"),
    ],
)
def test_descriptions(fields: dict[str, Any], description: str) -> None:
    assert tool_of(described(operation(**fields))).description == description


def test_a_long_description_ends_with_a_sentence_within_the_limit() -> None:
    description = tool_of(described(operation(description="This is a sentence. " * 100))).description
    assert 900 < len(description) <= 1_000
    assert description.endswith("sentence.…")


def test_the_summary_of_a_path_counts_for_an_operation_without_one() -> None:
    paths = operation()
    paths["/op"]["summary"] = "About the path"
    assert tool_of(described(paths)).description == "About the path"


def test_tags_are_kept() -> None:
    assert tool_of(described(operation(tags=["pets", "", 5, "store"]))).tags == ("pets", "store")


# -- references where they may stand


def test_references_to_path_items_operations_parameters_bodies_and_responses() -> None:
    components = {
        "pathItems": {"A": {"post": {"$ref": "#/components/x/ops/0"}}},
        "x": {
            "ops": [
                {
                    "operationId": "op",
                    "parameters": [
                        {"$ref": "#/components/parameters/a~1b~0c"},
                        {"$ref": "#/components/parameters/p%20q"},
                    ],
                    "requestBody": {"$ref": "#/components/requestBodies/B"},
                    "responses": {"200": {"$ref": "#/components/responses/R"}},
                }
            ]
        },
        "parameters": {
            "a/b~c": parameter("one"),
            "p q": {"$ref": "#/components/parameters/deeper"},
            "deeper": parameter("two"),
        },
        "requestBodies": {"B": json_body({"$ref": "#/components/schemas/S"}, required=True)},
        "responses": {"R": json_body({"$ref": "#/components/schemas/S"}, description="R")},
        "schemas": {"S": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/S"}}}},
    }
    tool = tool_of(described({"/op": {"$ref": "#/components/pathItems/A"}}, "3.1.0", components=components))
    assert list(tool.inputs["properties"]) == ["one", "two", "body"]
    assert tool.inputs["required"] == ["body"]
    assert (
        tool.inputs["$defs"]
        == tool.outputs["$defs"]
        == {"S": {"type": "object", "properties": {"next": {"$ref": "#/$defs/S"}}}}
    )


def test_a_description_beside_a_reference_counts() -> None:
    components = {"parameters": {"P": parameter("p", description="of the component")}}
    beside = {"$ref": "#/components/parameters/P", "description": "of the use"}
    tool = tool_of(described(operation(beside), "3.1.0", components=components))
    assert tool.inputs["properties"]["p"]["description"] == "of the use"


def test_a_pointer_may_lead_through_a_reference_and_a_list() -> None:
    paths = operation(parameter("a", kind="integer"))
    paths["/two"] = {"get": {**OK, "operationId": "two", "parameters": [{"$ref": "#/paths/~1op/get/parameters/0"}]}}
    paths["/three"] = {
        "get": {**OK, "parameters": [parameter("b", kind={"$ref": "#/paths/~1two/get/parameters/0/schema"})]}
    }
    tools = {tool.path: tool for tool in converted(described(paths)).tools}
    assert tools["/two"].inputs["properties"] == {"a": {"type": "integer"}}
    assert tools["/three"].inputs["$defs"] == {"schema": {"type": "integer"}}
