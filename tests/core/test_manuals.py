"""Manual documents as their authors leave them: what can be mended loads, the rest costs one tool and is reported."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset
from utcp_bridge.config import BridgeConfig, ManualTemplate
from utcp_bridge.transports.client.client import Client
from utcp_bridge.transports.client.loaded import LoadedManual
from utcp_bridge.transports.manuals.reading import NotAManualError, is_openapi, tools_of_manual

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "manuals"

HTTP = {"call_template_type": "http", "url": "https://h.example/x/{id}", "http_method": "GET"}
TOOL: dict[str, Any] = {
    "name": "t",
    "description": "Does it.",
    "inputs": {"type": "object"},
    "tool_call_template": HTTP,
}


def _tool(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in {**TOOL, **changes}.items() if value is not ...}


async def _loaded(document: Any, **template: Any) -> LoadedManual:
    """What becomes of a document that is given as text, all the way through UTCP's own models."""
    content = document if isinstance(document, str) else json.dumps(document)
    fields = {"name": "m", "call_template_type": "text", "content": content, **template}
    fields.setdefault("allowed_communication_protocols", ["http", "cli", "sse", "streamable_http", "text", "file"])
    manual = ManualTemplate("m", fields)
    client = await Client.create(BridgeConfig(manuals=(manual,)))
    try:
        return await client.keep_manual(await client.fetch_manual(manual))
    finally:
        await client.close()


@pytest.mark.parametrize(
    "document",
    [
        {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": [TOOL]},
        {"utcp_version": "1.0", "info": {"title": "T", "version": "1"}, "x-extra": [1], "tools": [TOOL]},
        {"utcp_version": 1.0, "manual_version": 2, "tools": [TOOL]},
        {"version": "1.0", "tools": [TOOL]},
        {"tools": [TOOL]},
        {"tools": {"t": {key: value for key, value in TOOL.items() if key != "name"}}},
        {"manual": {"tools": [TOOL]}},
        [TOOL],
        TOOL,
    ],
    ids=["plain", "info", "numbers", "0.x", "bare", "map", "wrapped", "list", "single"],
)
async def test_a_manual_loads_in_every_wrapping(document: Any) -> None:
    loaded = await _loaded(document)
    assert [tool.utcp_name for tool in loaded.tools] == ["m.t"]
    assert loaded.skipped == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tool_call_template", HTTP),
        ("tool_provider", {"provider_type": "http", "url": HTTP["url"], "http_method": "GET"}),
        ("tool_provider", {"provider_type": "http_stream", "url": HTTP["url"]}),
        ("provider", {"type": "http", "url": HTTP["url"]}),
        ("tool_transport", {"transport_type": "http", "url": HTTP["url"], "http_method": "get"}),
        ("tool_call_template", {**HTTP, "headers": {"X-Version": 2, "X-Flag": True, "X-None": None}}),
        ("tool_call_template", {**HTTP, "header_fields": "id"}),
        ("tool_call_template", {"call_template_type": "cli", "command_name": "./run.sh --x"}),
        ("tool_call_template", {"call_template_type": "cli", "commands": ["echo hi"]}),
        ("tool_provider", {"provider_type": "cli", "command_name": "my-tool"}),
        ("tool_call_template", {"call_template_type": "text", "content": "hello"}),
    ],
)
async def test_a_tool_loads_with_every_spelling_of_its_template(key: str, value: dict[str, Any]) -> None:
    loaded = await _loaded({"tools": [{**_tool(tool_call_template=...), key: value}]})
    assert loaded.skipped == ()
    assert [tool.utcp_name for tool in loaded.tools] == ["m.t"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"inputs": ...}, {}),
        ({"inputs": None}, {}),
        ({"inputs": True}, True),
        ({"inputs": ..., "parameters": {"type": "object", "required": ["a"]}}, {"type": "object", "required": ["a"]}),
        ({"inputs": ..., "input_schema": {"type": "object"}}, {"type": "object"}),
        (
            {"inputs": {"a": {"type": "string", "required": True}, "title": {"type": "string"}}},
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "title": {"type": "string"}},
                "required": ["a"],
            },
        ),
        (
            {
                "inputs": [
                    {"name": "a", "type": "string", "required": True},
                    {"name": "b", "schema": {"type": "number"}},
                ]
            },
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}, "required": ["a"]},
        ),
        ({"inputs": {"properties": {"a": True, "b": False}}}, {"properties": {"a": True, "b": False}}),
        ({"inputs": {"items": {"type": "string"}}}, {"items": {"type": "string"}}),
    ],
)
async def test_the_arguments_of_a_tool_are_read(changes: dict[str, Any], expected: Any) -> None:
    loaded = await _loaded({"tools": [_tool(**changes)]})
    assert loaded.skipped == ()
    assert loaded.tools[0].inputs == expected


async def test_schemas_stay_as_the_author_wrote_them() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": ["object"],
        "properties": {
            "n": {"type": "integer", "minimum": 1, "multipleOf": 2, "default": None, "x-hint": "h"},
            "f": {"type": "number", "maximum": 1.0, "minLength": 2.5},
            "any": True,
            "never": False,
            "tuple": {"type": "array", "prefixItems": [True, {"const": None}]},
            "ref": {"$ref": "#/$defs/A"},
        },
        "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}},
        "required": ["n"],
        "additionalProperties": False,
    }
    loaded = await _loaded({"tools": [_tool(inputs=schema, outputs=schema)]})
    tool = loaded.tools[0]
    assert json.dumps(tool.inputs) == json.dumps(schema)
    assert json.dumps(tool.outputs) == json.dumps(schema)


@pytest.mark.parametrize(
    ("changes", "description"),
    [
        ({}, "Does it."),
        ({"description": ..., "summary": "In short."}, "In short."),
        ({"description": None}, "GET /x/{id}"),
        ({"description": "  "}, "GET /x/{id}"),
        ({"description": ["no", "text"]}, "GET /x/{id}"),
    ],
)
async def test_a_tool_always_says_something_of_itself(changes: dict[str, Any], description: str) -> None:
    loaded = await _loaded({"tools": [_tool(**changes)]})
    assert loaded.tools[0].description == description


@pytest.mark.parametrize(
    "changes",
    [
        {"tags": "a, b"},
        {"tags": ["a", "b"], "average_response_size": 12.5},
        {"tags": ["a", None, "b"], "average_response_size": "many"},
        {"tags": ["a", "b"], "outputs": "text", "extra": {"x": 1}},
    ],
)
async def test_details_never_cost_a_tool(changes: dict[str, Any]) -> None:
    loaded = await _loaded({"tools": [_tool(**changes)]})
    assert loaded.tools[0].tags == ("a", "b")
    assert loaded.tools[0].outputs == {}


@pytest.mark.parametrize(
    ("broken", "name", "reason"),
    [
        (_tool(name=...), "tools[0]", "has no name"),
        (_tool(name="  "), "tools[0]", "has no name"),
        ("text", "tools[0]", "is text, expected an object"),
        (None, "tools[0]", "expected an object"),
        (_tool(tool_call_template=...), "t", "does not say how to call it"),
        (_tool(tool_call_template="http"), "t", "is text, expected an object"),
        (_tool(tool_call_template={"url": "https://h"}), "t", "no 'call_template_type'"),
        (_tool(tool_call_template={"call_template_type": "grpc"}), "m.t", "no installed UTCP plugin.*'grpc'.*http"),
        (_tool(tool_call_template={"call_template_type": "mcp", "config": {}}), "m.t", "install 'utcp-mcp'"),
        (_tool(tool_call_template={"call_template_type": "http"}), "m.t", "http call template is wrong: url: "),
        (_tool(tool_call_template={**HTTP, "http_method": "FETCH"}), "m.t", "http_method: "),
        (_tool(tool_call_template={**HTTP, "auth": {"auth_type": "magic"}}), "m.t", "magic"),
        (_tool(inputs="text"), "t", "'inputs' is text, expected a JSON Schema"),
        (_tool(inputs=["a", "b"]), "t", "a list whose items are no named parameters"),
    ],
)
async def test_one_broken_tool_costs_only_itself(broken: Any, name: str, reason: str) -> None:
    loaded = await _loaded({"tools": [broken, _tool(name="good")]})
    assert [tool.utcp_name for tool in loaded.tools] == ["m.good"]
    assert [skipped.name for skipped in loaded.skipped] == [name]
    assert re.search(reason, loaded.skipped[0].reason)


async def test_the_value_of_a_wrong_field_is_not_told() -> None:
    loaded = await _loaded({"tools": [_tool(tool_call_template={**HTTP, "url": {"secret": "s3cret-value"}})]})
    assert "s3cret-value" not in str(loaded.skipped)


async def test_a_tool_of_another_protocol_is_refused_with_the_key_that_allows_it() -> None:
    cli = _tool(name="run", tool_call_template={"call_template_type": "cli", "commands": [{"command": "ls"}]})
    loaded = await _loaded({"tools": [TOOL, cli]}, allowed_communication_protocols=["http"])
    assert [tool.utcp_name for tool in loaded.tools] == ["m.t"]
    assert loaded.skipped[0].name == "m.run"
    assert '"allowed_communication_protocols": ["http", "cli"]' in loaded.skipped[0].reason


async def test_by_default_a_manual_brings_only_tools_of_its_own_protocol() -> None:
    text = _tool(name="said", tool_call_template={"call_template_type": "text", "content": "hello"})
    loaded = await _loaded({"tools": [TOOL, text]}, allowed_communication_protocols=None)
    assert [tool.utcp_name for tool in loaded.tools] == ["m.said"]
    assert '"allowed_communication_protocols": ["text", "http"]' in loaded.skipped[0].reason


async def test_tools_that_share_a_name_are_reported_and_the_last_is_kept() -> None:
    loaded = await _loaded({"tools": [_tool(description="one"), _tool(name="other"), _tool(description="two")]})
    assert [(tool.utcp_name, tool.description) for tool in loaded.tools] == [("m.other", "Does it."), ("m.t", "two")]
    assert loaded.skipped[0].name == "m.t"
    assert "2 tools" in loaded.skipped[0].reason


async def test_a_name_that_carries_the_manuals_is_not_prefixed_again() -> None:
    loaded = await _loaded({"tools": [_tool(name="m.t"), _tool(name="n.t")]})
    assert [tool.utcp_name for tool in loaded.tools] == ["m.t", "m.n.t"]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"manual_call_templates": []}, "client configuration"),
        ([{"name": "x", "call_template_type": "http", "url": "https://h"}], "list of call templates"),
        ({"call_template_type": "http", "url": "https://h"}, "is a call template"),
        ({"hello": "world"}, "neither a UTCP manual.*'hello'"),
        ({"tools": "none"}, "'tools' is text"),
        ({"tools": None}, "'tools' is null"),
        ({}, "neither a UTCP manual.*an empty object"),
        (5, "a number"),
        (None, "is null, not a UTCP manual"),
    ],
)
def test_a_document_without_tools_is_named_for_what_it_is(document: Any, reason: str) -> None:
    with pytest.raises(NotAManualError, match=reason):
        tools_of_manual(document)


SPEC = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {"/a": {"get": {"operationId": "a"}}}}


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ({"content": SPEC, "openapi": []}, "'openapi' in its call template: expected an object such as"),
        (
            {"content": SPEC, "openapi": {"flattenbody": True}},
            "has no option 'flattenbody'.*did you mean 'flatten_body'",
        ),
        ({"content": "manuals/home.json"}, "its 'content' is a path or a URL, expected the manual itself"),
        ({"content": "https://example.com/utcp"}, "its 'content' is a path or a URL, expected the manual itself"),
        ({"content": "null"}, "its 'content' is null, not a UTCP manual"),
        ({"content": ""}, "its 'content': the document is empty"),
        ({"call_template_type": "file", "file_path": "https://example.com/m.json"}, "'file_path' is a URL.* \"http\""),
        ({"call_template_type": "file", "file_path": "file:///srv/m.json"}, "'file_path' is a URL"),
        ({"call_template_type": "file", "file_path": str(Path(__file__).parent)}, "is a folder, expected a file"),
        ({"call_template_type": "file", "file_path": f"{__file__}/m.json"}, "a part of its path is a file itself"),
        ({"call_template_type": "htpp", "url": "https://h"}, "did you mean 'http'?"),
        ({"call_template_type": "openapi", "url": "https://h"}, "an OpenAPI document is reached by 'http'"),
        ({"call_template_type": "websocket", "url": "https://h"}, "install 'utcp-websocket'"),
        ({"call_template_type": "http", "url": 5}, "url: expected text, got a number"),
        (
            {"call_template_type": "http", "url": "https://h", "headers": ["A"]},
            "headers: expected an object, got a list",
        ),
        (
            {"call_template_type": "http", "url": "https://h", "http_method": "GTE"},
            "http_method: expected 'GET', 'POST'",
        ),
        ({"call_template_type": "cli", "commands": [{}]}, r"commands\[0\].command: is missing"),
        (
            {"call_template_type": "http", "url": "https://h", "auth": "sk-LIVE"},
            'auth: expected an object such as {"auth_type": .*, got text',
        ),
        (
            {"call_template_type": "http", "url": "https://h", "auth": {"auth_type": "bearer", "secret": "sk-LIVE"}},
            "auth.auth_type: expected 'api_key' or 'basic' or 'oauth2', got 'bearer'; it has no token, .*Bearer",
        ),
        (
            {"call_template_type": "http", "url": "https://h", "auth": {"auth_type": "apikee", "api_key": "sk-LIVE"}},
            "auth.auth_type: .* got 'apikee'; did you mean 'api_key'?",
        ),
        (
            {"call_template_type": "http", "url": "https://h", "auth": {"auth_type": "basic", "password": "sk-LIVE"}},
            "auth.username: is missing",
        ),
        (
            {
                "call_template_type": "file",
                "file_path": "m.json",
                "auth": {"auth_type": "api_key", "api_key": "sk-LIVE"},
            },
            "auth: cannot be given here",
        ),
    ],
)
def test_a_call_template_that_cannot_be_used_says_what_was_expected(template: dict[str, Any], words: str) -> None:
    manual = {"name": "m", "call_template_type": "text", **template}
    with Toolset.open(config(manual)) as toolset:
        [report] = toolset.report.manuals
    assert re.search(words, str(report.error)), report.error
    assert "sk-LIVE" not in str(report.error)


def test_a_manual_that_is_handed_in_by_itself_says_how_to_allow_what_starts_programs(tmp_path: Path) -> None:
    path = tmp_path / "shell.json"
    path.write_text(
        json.dumps({"tools": [{"name": "t", "tool_call_template": {"type": "cli", "command_name": "echo"}}]})
    )
    with Toolset.open(str(path)) as toolset:
        [skipped] = toolset.report.manuals[0].skipped
    advised = skipped.reason.partition("in a configuration: ")[2]
    with Toolset.open(json.loads(advised)) as toolset:
        assert list(toolset.tools) == ["shell_t"]


async def test_an_empty_manual_is_no_failure() -> None:
    assert await _loaded({"utcp_version": "1.0", "tools": []}) == LoadedManual()


async def test_yaml_is_read_as_json_would_say_it() -> None:
    loaded = await _loaded(
        """
        utcp_version: 1.0
        tools:
          - name: on
            description: no
            tags: [2024-01-31, 12:30, yes]
            inputs:
              type: object
              properties: {country: {enum: [NO, SE], default: NO}, since: {const: 2024-01-31}}
            tool_call_template: {call_template_type: http, url: "https://h.example/x"}
        """
    )
    (tool,) = loaded.tools
    assert (tool.utcp_name, tool.description, tool.tags) == ("m.on", "no", ("2024-01-31", "12:30", "yes"))
    assert tool.inputs["properties"] == {  # type: ignore[index]
        "country": {"enum": ["NO", "SE"], "default": "NO"},
        "since": {"const": "2024-01-31"},
    }


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ({"openapi": "3.1.0", "paths": {}}, True),
        ({"swagger": "2.0"}, True),
        ({"paths": {"/x": {}}}, True),
        ({"tools": [], "paths": {}}, False),
        ([], False),
    ],
)
def test_an_openapi_document_is_told_apart(document: Any, answer: bool) -> None:
    assert is_openapi(document) is answer


OPENAPI = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "servers": [{"url": "https://api.example.com"}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "paths": {
        "/items/{id}": {
            "delete": {
                "operationId": "drop",
                "summary": "Drops an item.",
                "security": [{"key": []}],
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}
                ],
                "responses": {"204": {"description": "gone"}},
            }
        }
    },
}


async def test_an_openapi_document_becomes_tools() -> None:
    loaded = await _loaded(OPENAPI)
    (tool,) = loaded.tools
    assert (tool.utcp_name, tool.http_method, tool.protocol) == ("m.drop", "DELETE", "http")
    assert json.dumps(tool.inputs["properties"]["id"]["minimum"]) == "1"  # type: ignore[index]


async def test_the_variables_that_tools_need_are_told_when_they_load() -> None:
    (missing,) = (await _loaded(OPENAPI)).variables
    assert missing.key == "m_KEY"
    assert missing.tools == ("m.drop",)


async def test_credentials_for_the_tools_take_the_place_of_placeholders() -> None:
    auth = {"auth_type": "api_key", "api_key": "the-key-1", "var_name": "X-Key", "location": "header"}
    assert (await _loaded(OPENAPI, auth_tools=auth)).variables == ()


async def test_a_server_of_the_configuration_wins() -> None:
    without = {key: value for key, value in OPENAPI.items() if key != "servers"}
    loaded = await _loaded(without, base_url="https://other.example.com")
    assert len(loaded.tools) == 1


# -- the collection of manuals that nobody here wrote


@pytest.mark.parametrize(
    ("file", "tools"),
    [
        ("examples_cli_manual", 1),
        ("examples_mcp_manual", 0),  # its plugin, utcp-mcp, is not installed
        ("examples_newsapi", 2),
        ("examples_newsapi_bedrock", 2),
        ("examples_theirstack_ts", 1),
        ("go_cli_tools", 0),  # they do not say how they are called
        ("go_http_tools", 0),
        ("langchain_newsapi", 2),
        ("pydanticai_newsapi", 2),
        ("pyutcp_sample_tools", 0),
        ("spec_newsapi", 2),
        ("wild_cicatriiz_httpbin", 6),
        ("wild_cicatriiz_openweathermap", 2),
        ("wild_ovos_stt_http_server", 3),
        ("wild_ovos_translate_server", 5),
        ("wild_ovos_tts_server", 2),
    ],
)
async def test_manuals_in_the_wild_load(file: str, tools: int) -> None:
    path = CORPUS / f"{file}.json"
    if not path.exists():
        pytest.skip("the collection of real manuals is not here")
    document = json.loads(path.read_text(encoding="utf-8"))
    loaded = await _loaded(document)
    assert len(loaded.tools) == tools
    assert len(loaded.tools) + len(loaded.skipped) == len(document["tools"])


@pytest.mark.parametrize("inputs", [{"type": "string"}, {"type": ["array", "null"]}, False])
async def test_a_tool_whose_arguments_can_be_no_object_costs_only_itself(inputs: Any) -> None:
    tools = [{**http_tool("odd", "https://example.com/"), "inputs": inputs}, http_tool("good", "https://example.com/")]
    async with await Toolset.aopen(config(text_manual("m", tools, "http"))) as toolset:
        assert list(toolset.tools) == ["m_good"]
        [skipped] = toolset.report.manuals[0].skipped
    assert skipped.name == "m.odd"
    assert "always an object" in skipped.reason
