"""Keys that nobody reads are said: in a manual's call template, in those of its tools, in the client's own settings."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator
from utcp.data.call_template import CallTemplate, CallTemplateSerializer
from utcp.interfaces.serializer import Serializer

from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset
from utcp_bridge.discovery import ManualReport
from utcp_bridge.nearest import nearest

HTTP: dict[str, Any] = {"name": "w", "call_template_type": "http", "url": "http://127.0.0.1:9/utcp"}
SSE = {**HTTP, "call_template_type": "sse"}
STREAM = {**HTTP, "call_template_type": "streamable_http"}
CLI: dict[str, Any] = {"name": "w", "call_template_type": "cli", "commands": [{"command": "exit 3"}]}
FILE = {"name": "w", "call_template_type": "file", "file_path": "/nowhere.json"}
TEXT = text_manual("w", [http_tool("t", "https://example.com/t")], "http")
KEY = {"auth_type": "api_key", "api_key": "sk-LIVE-3f9a77"}
BASIC = {"auth_type": "basic", "username": "ann", "password": "sk-LIVE-3f9a77"}


def _reported(template: dict[str, Any]) -> ManualReport:
    with Toolset.open(config(template)) as toolset:
        [report] = toolset.report.manuals
    return report


@pytest.mark.parametrize(
    ("template", "key", "meant"),
    [
        ({**HTTP, "header": {"A": "b"}}, "'header'", "headers"),
        ({**HTTP, "http_methd": "GET"}, "'http_methd'", "http_method"),
        ({**HTTP, "urll": "https://h"}, "'urll'", "url"),
        ({**HTTP, "URL": "https://h"}, "'URL'", "url"),
        ({**HTTP, "contentType": "text/plain"}, "'contentType'", "content_type"),
        ({**HTTP, "allowed_protocols": ["cli"]}, "'allowed_protocols'", "allowed_communication_protocols"),
        ({**SSE, "event_typ": "x"}, "'event_typ'", "event_type"),
        ({**STREAM, "chunksize": 5}, "'chunksize'", "chunk_size"),
        ({**CLI, "workdir": "."}, "'workdir'", "working_dir"),
        ({**CLI, "inherit_env": ["A"]}, "'inherit_env'", "inherit_env_vars"),
        (
            {**CLI, "commands": [{"command": "exit 3"}, {"command": "exit 3", "append": True}]},
            "'append' in 'commands[1]'",
            "append_to_final_output",
        ),
        ({**FILE, "filepath": "x"}, "'filepath'", "file_path"),
        ({**TEXT, "contents": "x"}, "'contents'", "content"),
        ({**HTTP, "auth": {**KEY, "varname": "X"}}, "'varname' in 'auth'", "var_name"),
        ({**HTTP, "auth": {**BASIC, "pass": "sk-LIVE-3f9a77"}}, "'pass' in 'auth'", "password"),
        ({**HTTP, "auth_tools": {**KEY, "loction": "query"}}, "'loction' in 'auth_tools'", "location"),
        ({**STREAM, "auth_tools": {**KEY, "loction": "query"}}, "'loction' in 'auth_tools'", "location"),
        ({**TEXT, "auth_tools": {**KEY, "loction": "query"}}, "'loction' in 'auth_tools'", "location"),
    ],
)
def test_a_key_of_a_call_template_that_nobody_reads_is_a_warning_with_the_nearest_known_one(
    template: dict[str, Any], key: str, meant: str, caplog: pytest.LogCaptureFixture
) -> None:
    report = _reported(template)
    assert report.warnings == (f"unknown key {key}, which has no effect; did you mean {meant!r}?",)
    told = [record for record in caplog.records if record.levelno == logging.WARNING and "'w'" in record.getMessage()]
    assert f"unknown key {key}" in told[0].getMessage()
    assert report.warnings[0] in str(report)
    assert report.to_dict()["warnings"] == list(report.warnings)
    assert "sk-LIVE" not in caplog.text


def test_the_manual_loads_all_the_same() -> None:
    report = _reported({**TEXT, "contnt": "x", "auth_tool": {}})
    assert (report.ok, report.tool_count, len(report.warnings)) == (True, 1, 2)


def test_where_nothing_is_near_the_known_keys_are_listed() -> None:
    [warning] = _reported({**HTTP, "zzz": 1}).warnings
    assert "it may have 'name', 'call_template_type', 'auth'" in warning
    assert "'url'" in warning


@pytest.mark.parametrize("option", ["timeout", "max_chars", "allow_http_hosts", "trust_env"])
def test_an_option_of_the_toolset_is_sent_where_it_belongs(option: str) -> None:
    [warning] = _reported({**TEXT, option: 5}).warnings
    assert f"the option {option!r} stands beside the configuration" in warning


@pytest.mark.parametrize(
    "template",
    [
        {**HTTP, "base_url": "https://h", "openapi": {"flatten_body": True}, "auth_tools": KEY, "auth": BASIC},
        {**HTTP, "http_method": "POST", "content_type": "text/plain", "headers": {"A": "b"}, "body_field": "b"},
        {**SSE, "event_type": "x", "reconnect": True, "retry_timeout": 3, "auth_tools": KEY, "base_url": "https://h"},
        {**STREAM, "http_method": "POST", "chunk_size": 5, "timeout": 5, "openapi": {}},
        {**CLI, "env_vars": {"anything": "goes"}, "inherit_env_vars": [], "working_dir": "."},
        {**FILE, "base_url": "https://h", "auth_tools": KEY, "openapi": {"media_types": []}},
        {**TEXT, "base_url": "https://h", "openapi": {"server_variables": {"any": "thing"}}},
        {**HTTP, "x-note": 1, "$comment": "mine", "_comment": "mine", "// why": "so", "description": "d"},
        {**HTTP, "metadata": {"category": "Education", "last_updated": "2024-01-15"}},
        {"name": "w", "provider_type": "http", "url": "http://127.0.0.1:9/", "method": "get"},
        {"name": "w", "type": "cli", "command_name": "exit 3"},
    ],
)
def test_what_is_read_or_only_tells_something_is_no_warning(template: dict[str, Any]) -> None:
    assert _reported(template).warnings == ()


def test_a_manual_that_fails_for_it_has_the_warning_too() -> None:
    report = _reported({"name": "w", "call_template_type": "http", "urll": "https://h"})
    assert report.error == "the http call template is wrong: url: is missing"
    assert "did you mean 'url'?" in report.warnings[0]


def test_it_is_logged_once_however_often_the_toolset_is_refreshed(caplog: pytest.LogCaptureFixture) -> None:
    with Toolset.open(config({**TEXT, "contnt": "x"})) as toolset:
        toolset.refresh()
        toolset.refresh()
        assert caplog.text.count("contnt") == 1
        assert len(toolset.report.manuals[0].warnings) == 1


def test_tools_of_a_manual_are_one_line_with_how_many(caplog: pytest.LogCaptureFixture) -> None:
    tools = [http_tool(f"t{index}", "https://example.com/", header={"A": "b"}) for index in range(300)]
    tools += [http_tool("other", "https://example.com/", auth={**KEY, "varname": "X"}, zzz=1)]
    report = _reported(text_manual("m", tools, "http"))
    assert (report.tool_count, report.skipped) == (301, ())
    [warning] = report.warnings
    assert "'header' (m.t0 and 299 more; did you mean 'headers'?)" in warning
    assert "'varname' in 'auth' (m.other; did you mean 'var_name'?)" in warning
    assert len(warning) < 700
    assert "header" not in caplog.text  # whoever wrote the manual is somebody else


def test_many_keys_of_tools_are_cut() -> None:
    tools = [http_tool(f"t{index}", "https://example.com/", None, **{f"zz{index}": 1}) for index in range(100)]
    [warning] = _reported(text_manual("m", tools, "http")).warnings
    assert warning.endswith("and 95 more")


def test_a_tool_that_cannot_be_used_says_which_key_it_may_be() -> None:
    tool = http_tool("t", "https://example.com/")
    tool["tool_call_template"]["urll"] = tool["tool_call_template"].pop("url")
    [skipped] = _reported(text_manual("m", [tool], "http")).skipped
    assert "url: is missing; unknown key 'urll', which has no effect; did you mean 'url'?" in skipped.reason


# -- what looks like a variable and is none


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"headers": {"Authorization": "Bearer ${MY-TOKEN}"}}, "headers.Authorization"),
        ({"headers": {"Authorization": "Bearer ${TOKEN"}}, "headers.Authorization"),
        ({"url": "http://127.0.0.1:9/${}"}, "url"),
        ({"auth": {**KEY, "api_key": "${my token}sk-LIVE-3f9a77"}}, "auth.api_key"),
        ({"header_fields": ["${1}"]}, "header_fields[0]"),
    ],
)
def test_a_reference_that_is_no_variable_is_a_warning(
    fields: dict[str, Any], place: str, caplog: pytest.LogCaptureFixture
) -> None:
    [warning] = _reported({**HTTP, **fields}).warnings
    assert warning == f"{place!r} has a '${{' that begins no variable; expected '${{NAME}}', of letters, digits and '_'"
    assert "sk-LIVE" not in caplog.text


@pytest.mark.parametrize(
    "template",
    [
        {**CLI, "commands": [{"command": "exit ${CODE:-3}"}]},
        {**HTTP, "url": "http://127.0.0.1:9/$count?$top=5"},
        {**HTTP, "headers": {"A": "$${not}"}},
        text_manual("w", [http_tool("t", "https://example.com/${1}")], "http"),
    ],
)
def test_other_dollar_signs_are_no_warning(template: dict[str, Any]) -> None:
    assert _reported(template).warnings == ()


# -- plugins


class Part(BaseModel):
    size: int = 0


class PluginTemplate(CallTemplate):
    """A plugin's own, with models at every depth that annotations can say."""

    call_template_type: str = "plugin"
    server: str = Field("", validation_alias=AliasChoices("server", "serverAddress"))
    parts: dict[str, Part] = Field(default_factory=dict)
    listed: list[Part] | None = None


class OpenTemplate(PluginTemplate):
    """Keeps whatever it is given."""

    model_config = ConfigDict(extra="allow")


class ReadingTemplate(PluginTemplate):
    """Reads keys that are no fields."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: dict[str, Any]) -> dict[str, Any]:
        return {**value, "server": value.get("address", "")}


class _PluginSerializer(Serializer[PluginTemplate]):
    def to_dict(self, obj: PluginTemplate) -> dict[str, Any]:
        return obj.model_dump()

    def validate_dict(self, obj: dict[str, Any]) -> PluginTemplate:
        return PluginTemplate.model_validate(obj)


class _OpenSerializer(_PluginSerializer):
    def validate_dict(self, obj: dict[str, Any]) -> OpenTemplate:
        return OpenTemplate.model_validate(obj)


class _ReadingSerializer(_PluginSerializer):
    def validate_dict(self, obj: dict[str, Any]) -> ReadingTemplate:
        return ReadingTemplate.model_validate(obj)


class _SilentSerializer(_PluginSerializer):
    def validate_dict(self, obj):  # type: ignore[no-untyped-def]  # as many plugins have it
        return PluginTemplate.model_validate(obj)


@pytest.fixture
def plugin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CallTemplateSerializer.call_template_serializers, "plugin", request.param())


ODD = {
    "name": "w",
    "call_template_type": "plugin",
    "serverAddress": "h",
    "parts": {"a": {"siz": 1}},
    "listed": [{"size": 1}, {"syze": 1}],
    "adress": "h",
}


@pytest.mark.parametrize("plugin", [_PluginSerializer], indirect=True)
@pytest.mark.usefixtures("plugin")
def test_a_plugins_own_fields_aliases_and_nested_models_are_known() -> None:
    warnings = _reported(ODD).warnings
    assert [warning.partition(",")[0] for warning in warnings] == [
        "unknown key 'adress'",
        "unknown key 'siz' in 'parts.a'",
        "unknown key 'syze' in 'listed[1]'",
    ]


@pytest.mark.parametrize("plugin", [_OpenSerializer, _ReadingSerializer, _SilentSerializer], indirect=True)
@pytest.mark.usefixtures("plugin")
def test_a_plugin_that_may_read_any_key_is_left_alone() -> None:
    assert _reported(ODD).warnings == ()


# -- the client's own settings


@pytest.mark.parametrize(
    ("settings", "key", "meant"),
    [
        (
            {"post_processing": [{"tool_post_processor_type": "filter_dict", "only_include_key": ["a"]}]},
            "'only_include_key' in 'post_processing[0]'",
            "only_include_keys",
        ),
        (
            {"load_variables_from": [{"variable_loader_type": "dotenv", "env_file_path": ".env", "env_file": "x"}]},
            "'env_file' in 'load_variables_from[0]'",
            "env_file_path",
        ),
        (
            {"tool_search_strategy": {"tool_search_strategy_type": "tag_and_description_word_match", "tagweight": 2}},
            "'tagweight' in 'tool_search_strategy'",
            "tag_weight",
        ),
    ],
)
def test_a_setting_that_nobody_reads_is_a_warning(
    settings: dict[str, Any], key: str, meant: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Toolset.open(config(**settings)):
        assert f"unknown key {key}, which has no effect; did you mean {meant!r}?" in caplog.text


# -- what counts as near


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("hedaers", "headers"),
        ("Headers", "headers"),
        ("HTTPMethod", "http_method"),
        ("http-method", "http_method"),
        ("auth_tool", "auth_tools"),
        ("uri", "url"),
        ("zzz", None),
        ("", None),
        ("_", None),
        (5, None),
        ("x" * 10_000, None),
    ],
)
def test_the_nearest_name_is_found_whatever_its_case_and_separators(given: object, meant: str | None) -> None:
    assert nearest(given, ["url", "http_method", "headers", "auth", "auth_tools"]) == meant
