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


NONE: Any = None
BEARER = {"auth_type": "api_key", "var_name": "Authorization", "location": "header", "api_key": "Bearer t"}
API_KEY = {"auth_type": "api_key", "api_key": "k", "var_name": "X-K", "location": "header"}
BASIC = {"auth_type": "basic", "username": "u", "password": "p"}
OAUTH = {"auth_type": "oauth2", "token_url": URL, "client_id": "c", "client_secret": "s", "scope": "a b"}


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        *(({"auth_type": kind, "token": "t"}, BEARER) for kind in ("bearer", "Bearer", "bearer_token", "JWT", "token")),
        *(({"auth_type": "bearer", key: "t"}, BEARER) for key in ("api_key", "token", "access_token", "value", "key")),
        ({"type": "bearer", "api_key": "Bearer t"}, BEARER),
        ({"type": "http", "scheme": "bearer", "token": "t"}, BEARER),
        ({"auth_type": "bearer", "token": "${TOKEN}"}, {**BEARER, "api_key": "Bearer ${TOKEN}"}),
        ({"auth_type": "bearer", "token": "t", "prefix": "Token"}, {**BEARER, "api_key": "Token t"}),
        ({"auth_type": "bearer", "token": "t", "header_name": "X-Auth"}, {**BEARER, "var_name": "X-Auth"}),
        *(({**API_KEY, "auth_type": kind}, API_KEY) for kind in ("apiKey", "API-Key", "apikey", "api_key")),
        ({"type": "apiKey", "name": "X-K", "in": "header", "value": "k"}, API_KEY),
        ({"auth_type": "api_key", "key": "k", "header": "X-K", "location": "header"}, API_KEY),
        *(({**BASIC, "auth_type": kind}, BASIC) for kind in ("Basic", "http_basic", "basic")),
        ({"type": "http", "scheme": "basic", "user": "u", "pass": "p"}, BASIC),
        *(({**OAUTH, "auth_type": kind}, OAUTH) for kind in ("OAuth2", "oauth", "client_credentials", "oauth2")),
        (
            {"type": "oauth2", "tokenUrl": URL, "clientId": "c", "clientSecret": "s", "scopes": ["a", "b"]},
            OAUTH,
        ),
        *(({"type": kind}, NONE) for kind in ("none", "None", "no_auth", "noauth")),
        *(({"auth_type": kind, "api_key": ""}, NONE) for kind in ("none", "NONE")),
    ],
)
@pytest.mark.parametrize("key", ["auth", "auth_tools"])
@pytest.mark.parametrize("translate", [manual_call_template_from_provider, tool_call_template_from_provider])
def test_credentials_are_known_in_every_spelling(
    translate: Any, key: str, auth: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    template = translate({"call_template_type": "http", "url": URL, key: auth})
    assert template[key] == expected
    read = getattr(read_by_utcp(template), key)
    assert (read and read.auth_type) == (expected and expected["auth_type"])


@pytest.mark.parametrize("auth", [{"auth_type": "bearer"}, {"auth_type": "bearer", "token": " "}, {"auth_type": "x"}])
def test_credentials_that_cannot_be_understood_stay_as_they_are(auth: dict[str, Any]) -> None:
    assert tool_call_template_from_provider({"call_template_type": "http", "url": URL, "auth": auth})["auth"] == auth


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"method": "post"}, {"http_method": "POST"}),
        ({"http_method": "get", "method": "PUT"}, {"http_method": "GET", "method": "PUT"}),
    ],
)
def test_other_ways_to_write_a_method_are_known(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    template = tool_call_template_from_provider({"transport_type": "http", "url": URL, **fields})
    assert expected.items() <= template.items()


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"query_params": {"v": 2, "deep": True, "k": "$KEY", "no": None}}, f"{URL}?v=2&deep=true&k=$KEY"),
        ({"url": f"{URL}?a=1", "query_params": {"b c": "&"}}, f"{URL}?a=1&b%20c=%26"),
        ({"params": {"tag": ["a", "b"]}}, f"{URL}?tag=a&tag=b"),
        (
            {"query_params": {"appid": "{key}"}, "auth": {"api_key": "k", "var_name": "appid", "location": "query"}},
            URL,
        ),
    ],
)
def test_the_query_of_a_manual_is_part_of_its_url(fields: dict[str, Any], url: str) -> None:
    """A manual takes no arguments; those of a tool are placed when they are known (see `test_placeholders`)."""
    template = manual_call_template_from_provider({"call_template_type": "http", "url": URL, **fields})
    assert template["url"] == url
    assert template.keys().isdisjoint({"query_params", "params"})


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
