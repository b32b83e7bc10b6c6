"""Descriptions in several files: what beside the main document is read, and what never is."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from tests.support.http_server import http_server, replying
from tests.support.openapi import dangling_references, described, operation, parameter, tool_of
from utcp_bridge import Toolset
from utcp_bridge.openapi import fetch_siblings, refused, tools_from_openapi

FILES: dict[str, Any] = {
    "openapi.yaml": described(
        {
            "/pets": {"$ref": "resources/pets.yaml"},
            "/one": {"get": {"$ref": "./resources/ops.yaml#/one"}},
        },
        "3.0.3",
        servers=[{"url": "http://127.0.0.1:9/api"}],
        components={"schemas": {"Local": {"type": "integer"}}},
    ),
    "resources/pets.yaml": {
        "post": {
            "operationId": "add",
            "parameters": [{"$ref": "../shared/parameters.yaml#/limit"}],
            "requestBody": {"content": {"application/json": {"schema": {"$ref": "models/pet.yaml"}}}},
            "responses": {"200": {"$ref": "../shared/responses.yaml#/ok"}},
        }
    },
    "resources/ops.yaml": {
        "one": {"operationId": "one", "responses": {"200": {"$ref": "../shared/responses.yaml#/ok"}}}
    },
    "resources/models/pet.yaml": {
        "type": "object",
        "properties": {
            "mother": {"$ref": "pet.yaml"},
            "owner": {"$ref": "owner.json#/definitions/Owner"},
            "local": {"$ref": "../../openapi.yaml#/components/schemas/Local"},
        },
    },
    "resources/models/owner.json": {
        "definitions": {"Owner": {"properties": {"name": {"$ref": "#/definitions/Name"}}}, "Name": {"type": "string"}}
    },
    "shared/parameters.yaml": {"limit": {"name": "limit", "in": "query", "schema": {"type": "integer"}}},
    "shared/responses.yaml": {
        "ok": {"description": "", "content": {"application/json": {"schema": {"$ref": "../resources/models/pet.yaml"}}}}
    },
}


def text_of(name: str) -> str:
    return json.dumps(FILES[name]) if name.endswith(".json") else yaml.safe_dump(FILES[name], sort_keys=False)


async def opened(manual: dict[str, Any]) -> Toolset:
    return await Toolset.aopen({"manual_call_templates": [{"name": "m", **manual}]})


def check_tools(toolset: Toolset) -> None:
    assert toolset.report.ok, str(toolset.report)
    assert not toolset.report.manuals[0].skipped
    assert sorted(tool.utcp_name for tool in toolset.tools.values()) == ["m.add", "m.one"]
    tool = toolset.find("m.add")
    assert list(tool.input_schema["properties"]) == ["limit", "body"]
    assert set(tool.input_schema["$defs"]) == {"pet", "Owner", "Name", "Local"}
    assert not dangling_references(tool.input_schema)
    assert not dangling_references(tool.output_schema)


async def test_files_of_one_folder(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text_of(name))
    async with await opened({"call_template_type": "file", "file_path": str(tmp_path / "openapi.yaml")}) as toolset:
        check_tools(toolset)


def test_what_stands_beside_the_reference_of_a_path_counts_also_if_that_leads_to_another_document() -> None:
    beside = operation({"$ref": "#/components/parameters/p"}, parameter("r", kind={"$ref": "more.json#/r"}))["/op"]
    document = described(
        {"/op": {"$ref": "paths/op.json", **beside, "parameters": [{"$ref": "more.json#/q"}], "x-own": 1}},
        components={"parameters": {"p": parameter("p")}},
    )
    siblings = {
        "https://api.example.com/specs/paths/op.json": {
            "post": {"operationId": "there", "parameters": [{"$ref": "#/parameters/s"}]},
            "parameters": {"s": parameter("s")},
        },
        "https://api.example.com/specs/more.json": {"q": parameter("q"), "r": {"maxLength": 1}},
    }
    assert [*tool_of(document, siblings=siblings).inputs["properties"]] == ["q", "p", "r"]
    assert tool_of(document, siblings=siblings).inputs["$defs"] == {"r": {"maxLength": 1}}
    assert [*tool_of(document, "there", siblings=siblings).inputs["properties"]] == ["q", "s"]


@pytest.mark.parametrize(
    ("reference", "limit"),
    [("limits.json#/", 1), ("limits.json#sub/limit", 2), ("limits.json#/sub/limit", 2), ("#components/schemas/own", 3)],
)
def test_a_pointer_with_a_slash_too_many_or_too_few_is_what_its_author_means(reference: str, limit: int) -> None:
    document = described(
        operation(parameter("q", kind={"$ref": reference})), components={"schemas": {"own": {"maxLength": 3}}}
    )
    siblings = {"https://api.example.com/specs/limits.json": {"maxLength": 1, "sub": {"limit": {"maxLength": 2}}}}
    inputs = tool_of(document, siblings=siblings).inputs
    (definition,) = inputs["$defs"].values()
    assert (definition["maxLength"], dangling_references(inputs)) == (limit, [])


def test_a_key_without_a_name_can_be_pointed_to() -> None:
    document = described(operation(parameter("q", kind={"$ref": "limits.json#/"})))
    siblings = {"https://api.example.com/specs/limits.json": {"maxLength": 1, "": {"maxLength": 2}}}
    (definition,) = tool_of(document, siblings=siblings).inputs["$defs"].values()
    assert definition["maxLength"] == 2


async def test_documents_of_one_origin_each_fetched_once_and_with_the_manuals_credentials() -> None:
    asked: list[tuple[str, str | None]] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append((request.path, request.headers.get("X-Key")))
        return web.Response(text=text_of(request.path.removeprefix("/specs/")))

    auth = {"auth_type": "api_key", "api_key": "k", "var_name": "X-Key", "location": "header"}
    async with http_server(answer) as server:
        manual = {"call_template_type": "http", "url": f"{server.url}/specs/openapi.yaml", "auth": auth}
        async with await opened(manual) as toolset:
            check_tools(toolset)
    assert sorted(asked) == sorted((f"/specs/{name}", "k") for name in FILES)


async def test_no_other_origin_is_asked() -> None:
    async with http_server() as other:
        for reference in (f"{other.url}/x.json", f"//127.0.0.1:{other.port}/x.json", "file:///etc/hostname"):
            document = described({"/bad": {"$ref": reference}, **operation()})
            async with (
                http_server(replying(document)) as main,
                await opened({"call_template_type": "http", "url": f"{main.url}/openapi.json"}) as toolset,
            ):
                assert [tool.utcp_name for tool in toolset.tools.values()] == ["m.op"]
                (skipped,) = toolset.report.manuals[0].skipped
                assert "origin" in skipped.reason
        assert other.received == []


async def test_a_redirect_to_another_origin_is_not_used() -> None:
    async with http_server() as other:
        document = described({"/bad": {"$ref": "away.json"}, **operation()})

        async def answer(request: web.Request) -> web.Response:
            if request.path == "/away.json":
                return web.Response(status=302, headers={"Location": f"{other.url}/x.json"})
            return web.json_response(document)

        async with (
            http_server(answer) as main,
            await opened({"call_template_type": "http", "url": f"{main.url}/openapi.json"}) as toolset,
        ):
            (skipped,) = toolset.report.manuals[0].skipped
            assert "origin" in skipped.reason


@pytest.mark.parametrize(
    "reference", ["../secret.json", "link.json", "https://127.0.0.1:9/x.json", "gone.json", "broken.json"]
)
async def test_no_file_outside_of_the_folder_is_read(tmp_path: Path, reference: str) -> None:
    folder = tmp_path / "specs"
    folder.mkdir()
    secret = {"get": {"operationId": "leaked", "responses": {}, "description": "secret"}}
    (tmp_path / "secret.json").write_text(json.dumps(secret))
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "broken.json").write_text("{")
    document = described({"/bad": {"$ref": reference}, **operation()}, servers=[{"url": "https://api.example.com"}])
    (folder / "openapi.json").write_text(json.dumps(document))
    async with await opened({"call_template_type": "file", "file_path": str(folder / "openapi.json")}) as toolset:
        assert [tool.utcp_name for tool in toolset.tools.values()] == ["m.op"]
        (skipped,) = toolset.report.manuals[0].skipped
        assert (skipped.name, reference in skipped.reason) == ("/bad", True)


@pytest.mark.parametrize("face", ["async", "sync"])
async def test_documents_that_never_answer_cost_what_needs_them_and_not_the_manual(face: str) -> None:
    """Each has a share of the manual's time, also those that others lead to."""
    paths = {"/slow": {"$ref": "slow.json"}, "/next": {"$ref": "next.json"}, "/third": {"$ref": "third.json"}}
    replies = {
        "/openapi.json": described({**paths, **operation()}),
        "/next.json": {"$ref": "never.json"},
        "/third.json": {"get": {"operationId": "third", "responses": {}}},
    }

    async def answer(request: web.Request) -> web.Response:
        if request.path not in replies:
            await asyncio.sleep(30)
        return web.json_response(replies.get(request.path, {}))

    async with http_server(answer) as server:
        url = f"{server.url}/openapi.json"
        source = {"manual_call_templates": [{"name": "m", "call_template_type": "http", "url": url}]}
        if face == "async":
            toolset = await Toolset.aopen(source, discovery_timeout=2)
        else:
            toolset = await asyncio.to_thread(Toolset.open, source, discovery_timeout=2)
        async with toolset:
            assert toolset.report.ok, str(toolset.report)
            assert sorted(tool.utcp_name for tool in toolset.tools.values()) == ["m.op", "m.third"]
            skipped = {tool.name: tool.reason for tool in toolset.report.manuals[0].skipped}
            assert sorted(skipped) == ["/next", "/slow"]
            assert all("does not answer within" in reason for reason in skipped.values())


async def test_what_cannot_be_read_of_schemas_is_told_as_warnings_of_the_manual() -> None:
    names = [f"p{number}" for number in range(30)]
    for count in (1, 30):
        properties = {name: {"$ref": f"#/components/schemas/{name}"} for name in names[:count]}
        body = {"content": {"application/json": {"schema": {"type": "object", "properties": properties}}}}
        document = described(operation(method="post", requestBody=body), servers=[{"url": "https://api.example.com"}])
        async with await opened({"call_template_type": "text", "content": document}) as toolset:
            assert [tool.utcp_name for tool in toolset.tools.values()] == ["m.op"]
            told = toolset.report.manuals[0].warnings
            assert "'#/components/schemas/p0' points to nothing" in told[0]
            assert "anything is accepted there" in told[0]
            assert told[0] in str(toolset.report)
            assert len(told) == min(count, 11)
            assert count == 1 or told[-1] == "and 20 more parts of its schemas cannot be read"


@pytest.mark.parametrize(
    ("own", "reference", "asked"),
    [
        ("https://ids.example.org/api/openapi", "shared/ops.json", "/specs/shared/ops.json"),
        ("https://ids.example.org/api/openapi", "../ops.json", "/ops.json"),
        ("https://ids.example.org/api/v1/openapi", "/api/ops.json?a=b", "/ops.json"),
        ("https://ids.example.org/api/openapi", "https://ids.example.org/api/ops.json", "/specs/ops.json"),
        ("https://ids.example.org", "ops.json", "/specs/ops.json"),
        ("other/openapi.json", "ops.json", "/specs/other/ops.json"),
        ("urn:example:description", "ops.json", "/specs/ops.json"),
        ("https://ids.example.org/api/openapi", "https://ids.example.org:8443/api/ops.json", None),
        ("https://ids.example.org/api/openapi", "https://else.example.org/ops.json", None),
        ("https://ids.example.org/api/openapi", "//else.example.org/ops.json", None),
    ],
)
async def test_documents_beside_one_that_calls_itself_otherwise_are_fetched_from_where_it_came(
    own: str, reference: str, asked: str | None
) -> None:
    """A `$self` at another origin (OpenAPI 3.2) says what references mean, and never whom to ask."""
    document = described({"/a": {"$ref": reference}, **operation()}, "3.2.0", **{"$self": own})
    beside = {"get": {"operationId": "beside", "responses": {}}, "servers": [{"url": "./v9"}]}

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(document if request.path == "/specs/openapi.json" else beside)

    async with (
        http_server(answer) as server,
        await opened({"call_template_type": "http", "url": f"{server.url}/specs/openapi.json"}) as toolset,
    ):
        fetched = [received.path for received in server.received[1:]]
        names = sorted(tool.utcp_name for tool in toolset.tools.values())
        if asked is None:
            assert (fetched, names) == ([], ["m.op"])
            assert "origin" in toolset.report.manuals[0].skipped[0].reason
            return
        assert fetched == [asked]
        assert names == ["m.beside", "m.op"]
        # Its server, written relative to it, is at the origin that it came from.
        result = await toolset.acall("m_beside", {})
        assert not result.is_error, result.content
        assert server.last.path.endswith("/v9/a")


async def test_a_text_has_nothing_beside_it() -> None:
    document = described({"/bad": {"$ref": "x.json"}, **operation()}, servers=[{"url": "https://api.example.com"}])
    async with await opened({"call_template_type": "text", "content": document}) as toolset:
        (skipped,) = toolset.report.manuals[0].skipped
        assert "without an address" in skipped.reason


@pytest.mark.parametrize(
    ("url", "address", "allowed"),
    [
        ("https://a.example/x/openapi.json", "https://a.example/y.json", True),
        ("https://a.example/openapi.json", "https://a.example:443/y.json", True),
        ("https://a.example/openapi.json", "http://a.example/y.json", False),
        ("https://a.example/openapi.json", "https://a.example:8443/y.json", False),
        ("https://a.example/openapi.json", "https://b.example/y.json", False),
        ("https://a.example/openapi.json", "https://a.example.evil/y.json", False),
        ("https://a.example/openapi.json", "https://a.example@evil.example/y.json", False),
        ("https://a.example/openapi.json", "https://a.example:x/y.json", False),
        ("file:///specs/openapi.json", "file:///specs/sub/y.json", True),
        ("file:///specs/openapi.json", "file:///specs/../y.json", False),
        ("file:///specs/openapi.json", "file:///specs/%2e%2e/y.json", False),
        ("file:///specs/openapi.json", "file://host/specs/y.json", False),
        ("", "https://a.example/y.json", False),
    ],
)
def test_what_may_stand_beside_a_document(url: str, address: str, allowed: bool) -> None:
    assert (refused(address, url) is None) is allowed


async def test_there_is_an_end_to_how_many_documents_are_fetched() -> None:
    asked: list[str] = []

    async def endless(address: str) -> Any:
        asked.append(address)
        return {"$ref": f"{len(asked)}x.json", "also": {"$ref": f"{len(asked)}y.json"}}

    found = await fetch_siblings(
        {"https://a.example/0.json"}, "https://a.example/openapi.json", endless, max_siblings=50
    )
    assert len(asked) <= 50
    assert any(isinstance(document, str) and "more than 50" in document for document in found.values())


async def test_a_document_that_cannot_be_had_costs_only_what_needs_it() -> None:
    async def failing(address: str) -> Any:
        raise OSError("no such thing")

    document = described({"/bad": {"$ref": "x.json"}, **operation()})
    url = "https://a.example/openapi.json"
    wanted = tools_from_openapi(document, url=url).wanted
    siblings = await fetch_siblings(wanted, url, failing)
    conversion = tools_from_openapi(document, url=url, siblings=siblings)
    assert conversion.wanted == frozenset()
    assert [tool.name for tool in conversion.tools] == ["op"]
    assert "no such thing" in conversion.skipped[0].reason
