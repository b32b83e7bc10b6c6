"""Older ways of writing call templates, held against the models of UTCP itself."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from utcp.data.call_template import CallTemplateSerializer
from utcp.plugins.plugin_loader import ensure_plugins_initialized

from utcp_bridge.config.legacy import (
    ALL_ARGUMENTS,
    KNOWN_TYPES,
    arguments_as_flags,
    manual_call_template_from_provider,
    tool_call_template_from_provider,
    variables_in,
)

URL = "https://example.com/utcp"


def read_by_utcp(template: dict[str, Any]) -> Any:
    """The template as UTCP's own model of its type reads it."""
    ensure_plugins_initialized()
    return CallTemplateSerializer().validate_dict(copy.deepcopy(template))


# Each with every field that python-utcp 0.2 knew for it, and what UTCP 1.1 must read from the translation.
PROVIDERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {
            "provider_type": "http",
            "url": URL,
            "http_method": "POST",
            "content_type": "text/plain",
            "headers": {"A": "1"},
            "body_field": "b",
            "header_fields": ["h"],
            "auth": {"auth_type": "api_key", "api_key": "$KEY", "var_name": "X-Key", "location": "header"},
        },
        {"call_template_type": "http", "http_method": "POST", "body_field": "b", "header_fields": ["h"]},
    ),
    (
        {"provider_type": "sse", "url": URL, "event_type": "message", "reconnect": False, "retry_timeout": 5},
        {"call_template_type": "sse", "event_type": "message", "reconnect": False, "retry_timeout": 5},
    ),
    (
        {"provider_type": "http_stream", "url": URL, "http_method": "POST", "chunk_size": 8, "timeout": 9},
        {"call_template_type": "streamable_http", "http_method": "POST", "chunk_size": 8, "timeout": 9},
    ),
    (
        {"provider_type": "cli", "command_name": "my-tool --x", "env_vars": {"A": "1"}, "working_dir": "/tmp"},  # noqa: S108
        {"call_template_type": "cli", "env_vars": {"A": "1"}, "working_dir": "/tmp"},  # noqa: S108
    ),
    ({"provider_type": "text", "file_path": "./m.json"}, {"call_template_type": "file", "file_path": "./m.json"}),
]


@pytest.mark.parametrize("translate", [manual_call_template_from_provider, tool_call_template_from_provider])
@pytest.mark.parametrize(("provider", "expected"), PROVIDERS, ids=lambda value: value.get("provider_type"))
def test_every_field_of_utcp_0_arrives_in_utcp_1(
    translate: Any, provider: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = copy.deepcopy(provider)
    template = translate({"name": "m", **provider})
    read = read_by_utcp(template).model_dump()
    assert {key: read[key] for key in expected} == expected
    assert read["name"] == "m"
    kept = {key: value for key, value in provider.items() if key not in {"provider_type", "command_name"}}
    assert kept.items() <= template.items()
    assert provider == before


@pytest.mark.parametrize("key", ["provider_type", "transport_type", "type", "call_template_type"])
@pytest.mark.parametrize(
    ("written", "kind"),
    [
        *((kind, kind) for kind in sorted(KNOWN_TYPES)),
        ("http_stream", "streamable_http"),
        ("streamable-http", "streamable_http"),
        ("HTTP", "http"),
        ("my-own-Plugin", "my-own-Plugin"),
    ],
)
def test_every_type_is_known_under_every_key(key: str, written: str, kind: str) -> None:
    assert tool_call_template_from_provider({key: written}) == {"call_template_type": kind}


def test_the_key_of_utcp_1_wins() -> None:
    template = {"call_template_type": "mcp", "type": "mcp", "config": {"mcpServers": {}}}
    assert tool_call_template_from_provider(template) == template
    both = {"provider_type": "http_stream", "call_template_type": "http", "url": URL}
    assert tool_call_template_from_provider(both)["call_template_type"] == "http"


@pytest.mark.parametrize(
    "template",
    [
        {"call_template_type": "http", "url": URL, "http_method": "PATCH", "auth": None, "body_field": None},
        {"call_template_type": "http", "url": f"{URL}?a={{a}}", "auth": {"auth_type": "basic", "username": "u"}},
        {"call_template_type": "cli", "commands": [{"command": "a"}, {"command": "b"}], "inherit_env_vars": []},
        {"call_template_type": "file", "file_path": "m.json"},
        {"call_template_type": "text", "content": "{}"},
        {"call_template_type": "websocket", "url": "wss://x", "timeout": 30},
        {"call_template_type": "x", "command": "kept", "method": "kept"},
        {"name": "untyped", "url": URL},
    ],
)
def test_what_utcp_1_wrote_stays_as_it_is(template: dict[str, Any]) -> None:
    assert tool_call_template_from_provider(template) == template
    assert manual_call_template_from_provider(template) == template


@pytest.mark.parametrize(
    ("fields", "commands"),
    [
        ({"command": "my-cli-tool"}, ["my-cli-tool"]),
        ({"command_name": "my-cli-tool -utcp"}, ["my-cli-tool -utcp"]),
        ({"command": ["my tool", "-x"]}, ["'my tool' -x"]),
        ({"command": "curl", "args": ["-H", "A: b", "${URL}"]}, ["curl -H 'A: b' '${URL}'"]),
        ({"commands": ["cd x", {"command": "ls"}]}, ["cd x", "ls"]),
        ({"commands": "ls"}, ["ls"]),
    ],
)
@pytest.mark.parametrize("key", ["provider_type", "call_template_type"])
def test_every_way_to_write_a_command_becomes_commands(key: str, fields: dict[str, Any], commands: list[str]) -> None:
    template = manual_call_template_from_provider({key: "cli", **fields})
    read = read_by_utcp(template)
    assert [step.command for step in read.commands] == commands
    assert template.keys() == {"call_template_type", "commands"}


def test_other_names_of_the_environment_and_the_folder_are_known() -> None:
    template = manual_call_template_from_provider(
        {"type": "cli", "command": "x", "environment": {"A": "1"}, "working_directory": "/"}
    )
    assert (template["env_vars"], template["working_dir"]) == ({"A": "1"}, "/")


@pytest.mark.parametrize("key", ["provider_type", "call_template_type"])
def test_a_tool_of_an_older_command_gets_all_its_arguments(key: str) -> None:
    """UTCP 0.x and utcp-cli 1.0 appended `--name value` for each argument; 1.1 has placeholders instead."""
    template = tool_call_template_from_provider({key: "cli", "command_name": "./script.sh"})
    assert template["commands"] == [{"command": f"./script.sh {ALL_ARGUMENTS}"}]
    assert tool_call_template_from_provider(template) == template


def test_a_tool_with_placeholders_of_its_own_gets_no_more() -> None:
    command = "echo UTCP_ARG_text_UTCP_END"
    assert tool_call_template_from_provider({"type": "cli", "command": command})["commands"] == [{"command": command}]


def test_the_word_for_all_arguments_is_no_placeholder_of_upstream() -> None:
    from utcp_cli.cli_communication_protocol import CliCommunicationProtocol

    assert CliCommunicationProtocol._PLACEHOLDER_RE.search(f"x {ALL_ARGUMENTS} y") is None  # noqa: SLF001


def test_arguments_become_flags_as_they_did() -> None:
    arguments = {"text": "a b", "n": 1.5, "loud": True, "quiet": False, "tag": ["x", 2], "none": []}
    words = ["--text", "a b", "--n", "1.5", "--loud", "--tag", "x", "--tag", "2"]
    assert arguments_as_flags(arguments, str) == words


@pytest.mark.parametrize(
    ("auth", "kind"),
    [
        ({"api_key": "k", "var_name": "X-Api-Key"}, "api_key"),
        ({"username": "u", "password": "p"}, "basic"),
        ({"token_url": URL, "client_id": "c", "client_secret": "s"}, "oauth2"),
        ({"type": "api_key", "api_key": "k"}, "api_key"),
        ({"auth_type": "api_key", "api_key": "k"}, "api_key"),
    ],
)
@pytest.mark.parametrize("key", ["auth", "auth_tools"])
def test_credentials_without_a_type_get_theirs(key: str, auth: dict[str, Any], kind: str) -> None:
    """python-utcp 0.2 told them apart by their fields; UTCP 1.x wants `auth_type`."""
    template = tool_call_template_from_provider({"provider_type": "http", "url": URL, key: auth})
    read = read_by_utcp(template)
    assert getattr(read, key).auth_type == kind


def test_credentials_that_nobody_knows_are_left_to_utcp() -> None:
    template = tool_call_template_from_provider({"provider_type": "http", "url": URL, "auth": {"magic": "x"}})
    assert template["auth"] == {"magic": "x"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"method": "post"}, {"http_method": "POST"}),
        ({"http_method": "get", "method": "PUT"}, {"http_method": "GET", "method": "PUT"}),
        ({"body": "{data}"}, {"body_field": "data"}),
        ({"query_params": {"lat": "{lat}", "lon": "{lon}"}}, {"url": URL}),
        (
            {"query_params": {"q": "{city},{country}", "v": 2, "k": "$KEY"}},
            {"url": f"{URL}?q={{city}},{{country}}&v=2&k=$KEY"},
        ),
        ({"url": f"{URL}?a=1", "query_params": {"b c": "&"}}, {"url": f"{URL}?a=1&b%20c=%26"}),
        (
            {"query_params": {"appid": "{key}"}, "auth": {"api_key": "k", "var_name": "appid", "location": "query"}},
            {"url": URL},
        ),
    ],
)
def test_other_ways_to_write_a_request_are_known(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    template = tool_call_template_from_provider({"transport_type": "http", "url": URL, **fields})
    assert expected.items() <= template.items()
    assert template.keys().isdisjoint({"query_params", "body"})


def test_the_timeout_of_a_websocket_was_in_milliseconds() -> None:
    provider = {"provider_type": "websocket", "url": "wss://x", "timeout": 1500}
    assert tool_call_template_from_provider(provider)["timeout"] == 2


def test_a_text_file_may_bring_what_it_could_bring_before() -> None:
    for key in ("provider_type", "call_template_type"):
        entry = {key: "text", "file_path": "m.json"}
        assert "http" in manual_call_template_from_provider(entry)["allowed_communication_protocols"]
        own = {**entry, "allowed_communication_protocols": ["cli"]}
        assert manual_call_template_from_provider(own)["allowed_communication_protocols"] == ["cli"]
    assert "allowed_communication_protocols" not in tool_call_template_from_provider(entry)


@pytest.mark.parametrize(
    "odd",
    [
        {"provider_type": 7},
        {"provider_type": "cli", "command": 7},
        {"provider_type": "cli", "command": "x", "args": "y"},
        {"provider_type": "cli", "commands": [7]},
        {"provider_type": "http", "url": 7, "query_params": {"a": "b"}, "http_method": 7, "body": {"a": 1}},
        {"provider_type": "http", "auth": "secret"},
        {},
    ],
)
def test_odd_values_are_left_to_utcp_and_raise_nothing(odd: dict[str, Any]) -> None:
    template = tool_call_template_from_provider(odd)
    assert {key: value for key, value in odd.items() if key != "provider_type"}.items() <= template.items()


def test_variables_are_found_as_utcp_finds_them() -> None:
    from utcp.implementations.default_variable_substitutor import DefaultVariableSubstitutor

    template = {"url": "https://${HOST}/$PATH?x=$$", "headers": {"A": "Bearer ${TO_KEN}", "B": ["$b1", 7]}}
    assert variables_in(template) == set(DefaultVariableSubstitutor().find_required_variables(template))
