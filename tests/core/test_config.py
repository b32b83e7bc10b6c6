"""Every form of a source, and what happens to the broken ones."""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from utcp_bridge import Toolset
from utcp_bridge.config import BridgeConfig, load_config
from utcp_bridge.errors import ConfigError

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "manuals"
HTTP = {"name": "weather", "call_template_type": "http", "url": "https://example.com/utcp"}


def one(template: Any) -> dict[str, Any]:
    """The template that becomes of a single entry, which must be usable."""
    (manual,) = load_config({"manual_call_templates": [template]}).manuals
    assert manual.problem is None
    return manual.template


def names(*templates: Mapping[str, Any]) -> list[str]:
    return [manual.name for manual in load_config({"manual_call_templates": list(templates)}).manuals]


class TestUtcpConfiguration:
    def test_reaches_the_client_as_it_is(self) -> None:
        settings = {
            "variables": {"weather_TOKEN": "t"},
            "load_variables_from": [{"variable_loader_type": "dotenv", "env_file_path": ".env"}],
            "tool_repository": {"tool_repository_type": "in_memory"},
            "tool_search_strategy": {"tool_search_strategy_type": "tag_and_description_word_match"},
            "post_processing": [{"tool_post_processor_type": "filter_dict", "only_include_keys": ["a"]}],
        }
        template = {
            **HTTP,
            "auth": {"auth_type": "api_key", "api_key": "${TOKEN}", "var_name": "X-Key", "location": "header"},
            "auth_tools": {"auth_type": "basic", "username": "u", "password": "p"},
            "allowed_communication_protocols": ["http", "cli"],
            "headers": {"Accept": "application/json"},
        }
        config = load_config({**settings, "manual_call_templates": [template]})
        assert config.client == settings
        assert [manual.template for manual in config.manuals] == [template]
        assert config.root_dir is None

    def test_of_several_commands_is_kept(self) -> None:
        template = {
            "name": "files",
            "call_template_type": "cli",
            "commands": [{"command": "cd /tmp", "append_to_final_output": False}, {"command": "ls"}],
            "env_vars": {"LANG": "C"},
            "inherit_env_vars": ["PATH"],
            "working_dir": ".",
        }
        assert one(template) == template

    @pytest.mark.parametrize("source", [{}, {"manual_call_templates": []}, {"manual_call_templates": None}])
    def test_may_hold_no_manual(self, source: dict[str, Any]) -> None:
        assert load_config(source) == BridgeConfig()

    def test_is_copied(self) -> None:
        source: dict[str, Any] = {"manual_call_templates": [{**HTTP, "headers": {"A": "1"}}], "variables": {"a": "b"}}
        before = json.dumps(source)
        config = load_config(source)
        config.manuals[0].template["headers"]["A"] = "2"
        config.client["variables"]["a"] = "c"
        assert json.dumps(source) == before

    def test_takes_the_objects_of_utcp_in_place_of_dicts(self) -> None:
        from utcp.implementations.in_mem_tool_repository import InMemToolRepository
        from utcp_http.http_call_template import HttpCallTemplate

        shared = InMemToolRepository()
        template = HttpCallTemplate(name="weather", url="https://example.com/utcp", body_field=None)
        config = load_config({"tool_repository": shared, "manual_call_templates": [template]})
        assert config.client["tool_repository"] is shared
        assert config.manuals[0].template["url"] == "https://example.com/utcp"
        assert config.manuals[0].template["body_field"] is None

    @pytest.mark.parametrize("key", ["x-note", "$schema"])
    def test_may_carry_notes(self, key: str) -> None:
        assert load_config({key: "anything", "manual_call_templates": [HTTP]}).manuals[0].name == "weather"

    def test_written_for_utcp_1_gives_no_warning(self, caplog: pytest.LogCaptureFixture) -> None:
        load_config({"manual_call_templates": [HTTP], "variables": {"weather_A": "b"}})
        assert caplog.records == []


class TestFiles:
    def test_are_json_or_yaml_by_suffix(self, tmp_path: Path) -> None:
        as_json, as_yaml, no_suffix = tmp_path / "a.json", tmp_path / "a.yml", tmp_path / "config"
        document = {"manual_call_templates": [HTTP], "variables": {"SINCE": "2024-01-31"}}
        as_json.write_text(json.dumps(document), encoding="utf-8-sig")
        as_yaml.write_text(
            "variables:\n  SINCE: 2024-01-31\n"
            "manual_call_templates:\n"
            "  - name: weather\n    call_template_type: http\n    url: https://example.com/utcp\n"
        )
        no_suffix.write_text(as_yaml.read_text())
        (tmp_path / "b.yaml").write_text(json.dumps(document))
        read = [load_config(path) for path in (as_json, as_yaml, no_suffix, str(tmp_path / "b.yaml"))]
        assert all(config == read[0] for config in read)
        assert read[0].manuals[0].template == HTTP
        assert read[0].client == {"variables": {"SINCE": "2024-01-31"}}
        assert read[0].root_dir == tmp_path

    def test_may_be_empty(self, tmp_path: Path) -> None:
        (tmp_path / "empty.yaml").write_text("# nothing yet\n")
        assert load_config(tmp_path / "empty.yaml").manuals == ()

    def test_in_the_home_folder_are_found(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "utcp.json").write_text(json.dumps({"manual_call_templates": [HTTP]}))
        assert load_config("~/utcp.json").manuals[0].name == "weather"

    def test_name_others_relative_to_the_current_directory_then_to_themselves(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        here, there = tmp_path / "here", tmp_path / "there"
        for folder in (here, there):
            folder.mkdir()
            (folder / "both.json").write_text("{}")
        (there / "beside.json").write_text("{}")
        (there / ".env").write_text("weather_TOKEN=1\n")
        files = ["both.json", "beside.json", "absent.json", "/abs/file.json", "${FOLDER}/x.json"]
        (there / "config.json").write_text(
            json.dumps(
                {
                    "manual_call_templates": [
                        {"name": f"m{index}", "call_template_type": "file", "file_path": file}
                        for index, file in enumerate(files)
                    ],
                    "load_variables_from": [{"variable_loader_type": "dotenv", "env_file_path": ".env"}],
                }
            )
        )
        monkeypatch.chdir(here)
        config = load_config(Path("..", "there", "config.json"))
        paths = [os.path.normpath(manual.template["file_path"]) for manual in config.manuals]
        assert paths == [
            str(here / "both.json"),
            str(there / "beside.json"),
            str(there / "absent.json"),
            "/abs/file.json",
            "${FOLDER}/x.json",
        ]
        assert os.path.normpath(config.client["load_variables_from"][0]["env_file_path"]) == str(there / ".env")

    async def test_are_found_by_utcp_itself_from_any_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from utcp.plugins.plugin_loader import ensure_plugins_initialized
        from utcp.utcp_client import UtcpClient

        ensure_plugins_initialized()
        tool = {"name": "read", "tool_call_template": {"call_template_type": "file", "file_path": "note.txt"}}
        (tmp_path / "manual.json").write_text(json.dumps({"utcp_version": "1.0.1", "tools": [tool]}))
        (tmp_path / "note.txt").write_text("found")
        (tmp_path / ".env").write_text("notes_NAME=manual.json\n")
        (tmp_path / "config.yaml").write_text(
            "load_variables_from: [{variable_loader_type: dotenv, env_file_path: .env}]\n"
            "manual_call_templates: [{name: notes, call_template_type: file, file_path: '${NAME}'}]\n"
        )
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        config = load_config("../config.yaml")
        everything = {**config.client, "manual_call_templates": [manual.template for manual in config.manuals]}
        client = await UtcpClient.create(root_dir=str(config.root_dir), config=everything)
        assert await client.call_tool("notes.read", {}) == "found"
        await client.close()

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("a.json", '{"a": 1,\n "b": sk-LIVE}', ["a.json", "line 2", "column 7", "JSON"]),
            ("a.yaml", "a: 1\nb: [sk-LIVE\n", ["a.yaml", "line 3", "YAML"]),
            ("a.conf", '{"a": 1,\n', ["a.conf", "JSON", "YAML", "line 2"]),
            ("a.txt", "token sk-LIVE", ["a.txt", "JSON", "YAML"]),
            ("a.json", b"\xff\xfe\x00", ["a.json", "UTF-8"]),
            ("a.json", "[" * 100_000, ["a.json", "deep"]),
            ("a.json", '"sk-LIVE"', ["a.json", "text", "manual_call_templates"]),
            ("a.yaml", "7", ["a.yaml", "a number", "manual_call_templates"]),
        ],
    )
    def test_that_cannot_be_read_are_named_with_the_place_and_not_quoted(
        self, tmp_path: Path, name: str, content: str | bytes, said: list[str]
    ) -> None:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        assert all(word in str(caught.value) for word in said), str(caught.value)
        assert "sk-LIVE" not in str(caught.value)

    @pytest.mark.parametrize(
        ("content", "advice"),
        [
            ('{"variables": {"a": "b",}}', "remove the comma before the closing bracket"),
            ('{"manual_call_templates": [{"name": "a"},\n]}', "remove the comma before the closing bracket"),
            ('// mine\n{"variables": {}}', "JSON has no comments"),
            ('{"variables": {} /* mine */}', "JSON has no comments"),
            ('{"variables": {}, # mine\n}', "JSON has no comments"),
            ("{'variables': {}}", "straight double quotes"),
            ("{\u201cvariables\u201d: {}}", "straight double quotes"),
            ("{variables: {}}", "names and texts stand in double quotes"),
            ('{"variables": abc}', "names and texts stand in double quotes"),
            ('{"variables": None}', "write null for None"),
            ('{"a": True}', "write true for True"),
            ('{"variables": {"a": "b"}', "ends too early"),
            ('{"variables": {"a": "b', "the closing quote is missing"),
            ('{"variables": {}}\n{"variables": {}}', "something follows after the end of the document"),
            ('{"variables": {"a": "C:\\my"}}', "a backslash is written \\\\"),
            ('{"variables": {"a": "one\ntwo"}}', "a text cannot go over several lines"),
            ('{"variables": {} "x": 1}', "a comma is missing"),
            ("", "the file is empty"),
            (" \n", "the file is empty"),
            ("variables:\n  a: b\n", "it is YAML; end the file's name in .yaml"),
            ("<!DOCTYPE html><title>Sign\n in</title>", "it is an HTML page ('Sign in'), expected JSON or YAML"),
            ('<?xml version="1.0"?><a/>', "it is an XML document, expected JSON or YAML"),
        ],
    )
    def test_with_a_common_mistake_say_what_to_do(self, tmp_path: Path, content: str, advice: str) -> None:
        path = tmp_path / "utcp.json"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        assert advice in str(caught.value)
        assert str(path) in str(caught.value)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    @pytest.mark.parametrize("name", ["utcp.json", "utcp.yaml"])
    def test_are_read_in_the_encodings_that_editors_write(self, tmp_path: Path, encoding: str, name: str) -> None:
        path = tmp_path / name
        text = json.dumps({"variables": {"a": "\u00e9\u5de5"}}, ensure_ascii=False, indent=1).replace("\n", "\r\n")
        path.write_bytes(text.encode(encoding))
        assert load_config(path).client == {"variables": {"a": "\u00e9\u5de5"}}

    def test_in_another_encoding_are_said_how_to_save(self, tmp_path: Path) -> None:
        (tmp_path / "utcp.json").write_bytes('{"variables": {"a": "\u00e9"}}'.encode("latin-1"))
        with pytest.raises(ConfigError, match="save it as UTF-8"):
            load_config(tmp_path / "utcp.json")

    def test_that_hold_something_else_altogether_are_not_quoted(self, tmp_path: Path) -> None:
        (tmp_path / "shadow").write_text("root:*$6$sk-LIVE: 19000\nann:$6$sk-LIVE: 19000\n")
        with pytest.raises(ConfigError, match="has an unknown key") as caught:
            load_config(tmp_path / "shadow")
        assert "sk-LIVE" not in str(caught.value)

    def test_that_do_not_exist_are_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ConfigError, match=r"no file 'nowhere\.json' in '.*'"):
            load_config("nowhere.json")
        with pytest.raises(ConfigError, match="is a folder; name the file in it"):
            load_config(tmp_path)
        with pytest.raises(ConfigError, match="not the name of a file"):
            load_config("a\0b")


class TestWrongSources:
    @pytest.mark.parametrize(
        ("source", "said"),
        [
            (7, "a number"),
            (None, "null"),
            ("https://example.com/utcp", "URL"),
            ('{"variables": {"a": "sk-LIVE"}}', "json.loads"),
            ({"manual_call_template": []}, "Did you mean 'manual_call_templates'?"),
            ({"tool_provider": []}, "Did you mean 'tool_providers'?"),
            ({"variable": {}}, "Did you mean 'variables'?"),
            ({"timeout": 3, "manual_call_templates": []}, "'timeout'"),
            ("", "got an empty text"),
            (" \n", "got an empty text"),
            (BridgeConfig, "the class BridgeConfig, not an instance of it"),
            ({HTTP["url"]}, "an instance of set"),
            ("~nobody-of-this-name/utcp.json", "there is no file"),
            ({"mcpServers": {"files": {"command": "sk-LIVE"}}}, '"call_template_type": "mcp"'),
            ({"a": {"utcp_config": {}}, "b": {"utcp_config": {}}}, "(a.utcp_config, b.utcp_config)"),
            ({"persona": {"utcp_config": 4711}}, "is a number"),
            ({"manual_call_templates": {"weather": {}}}, "manual_call_templates: expected a list of objects"),
            ({"manual_call_templates": "sk-LIVE"}, "got text"),
            ({"providers": 3}, "providers: expected a list"),
            ({"providers_file_path": 3}, "providers_file_path: expected the path of a file, got a number"),
            ({"variables": ["sk-LIVE"]}, "variables: expected an object"),
            ({"variables": {"PIN": 4711}}, r"variables.PIN: expected text, got a number; write it in quotes"),
            ({"variables": {"ON": True}}, "variables.ON: expected text, got true or false"),
            ({"load_variables_from": {}}, "load_variables_from: expected a list"),
            ({"load_variables_from": ".env"}, '{"variable_loader_type": "dotenv", "env_file_path": ".env"}, got text'),
            ({"manual_call_templates": {"weather": {"url": "sk-LIVE"}}}, '[{"name": "weather", ...}] in place of'),
            ({"utcp_config": None}, "'utcp_config' is null"),
            ({"utcp_config": {}, "manual_call_templates": []}, "'utcp_config' stands beside other settings of UTCP"),
            ("file:///srv/utcp.json", "the path of the file itself"),
            ({"load_variables_from": [".env"]}, r"load_variables_from[0]: expected an object, got text"),
            ({"tool_repository": "in_memory"}, "tool_repository: expected an object, got text"),
            ({"post_processing": [None]}, "post_processing[0]: expected an object, got null"),
        ],
    )
    def test_are_refused_with_the_key_the_shape_and_the_accepted_form(self, source: Any, said: str) -> None:
        with pytest.raises(ConfigError) as caught:
            load_config(source)
        assert said in str(caught.value)
        assert "sk-LIVE" not in str(caught.value)
        assert "4711" not in str(caught.value)

    def test_that_hold_themselves_are_refused(self) -> None:
        repository: dict[str, Any] = {}
        repository["again"] = repository
        with pytest.raises(ConfigError, match="holds itself"):
            load_config({"tool_repository": repository})


class TestPaths:
    @pytest.mark.parametrize("form", [str, Path, os.fsencode, lambda path: _BytesPath(os.fsencode(path))])
    def test_of_every_type_are_read(self, form: Any, tmp_path: Path) -> None:
        file = tmp_path / "utcp.json"
        file.write_text(json.dumps({"manual_call_templates": [HTTP]}), encoding="utf-8")
        assert [manual.template for manual in load_config(form(file)).manuals] == [HTTP]

    def test_in_the_home_folder_may_be_written_with_a_tilde(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "providers.json").write_text(json.dumps([HTTP]), encoding="utf-8")
        document = {
            "providers_file_path": "~/providers.json",
            "load_variables_from": [{"variable_loader_type": "dotenv", "env_file_path": "~/keys.env"}],
            "manual_call_templates": [
                {"name": "c", "call_template_type": "cli", "commands": [{"command": "ls"}], "working_dir": "~/tools"}
            ],
        }
        (tmp_path / "utcp.json").write_text(json.dumps(document), encoding="utf-8")
        for source in (document, "~/utcp.json"):
            config = load_config(source)
            assert config.client["load_variables_from"][0]["env_file_path"] == str(tmp_path / "keys.env")
            assert [manual.template.get("working_dir") for manual in config.manuals] == [str(tmp_path / "tools"), None]


class _BytesPath:
    def __init__(self, path: bytes) -> None:
        self.path = path

    def __fspath__(self) -> bytes:
        return self.path


class TestConfigurationOfAHost:
    @pytest.mark.parametrize(
        "around",
        [
            lambda config: {"utcp_config": config},
            lambda config: {"toolboxes": ["ovos-utcp-toolbox"], "ovos-utcp-toolbox": {"utcp_config": config}},
            lambda config: {"name": "Helper", "loop": {"toolboxes": ["t"], "t": {"utcp_config": config, "lang": "en"}}},
        ],
    )
    def test_is_read_for_the_one_utcp_config_in_it(
        self, around: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        config = {"manual_call_templates": [HTTP]}
        (tmp_path / "utcp.json").write_text(json.dumps(config), encoding="utf-8")
        (tmp_path / "persona.json").write_text(json.dumps(around("utcp.json")), encoding="utf-8")
        for source in (around(config), around(str(tmp_path / "utcp.json")), tmp_path / "persona.json"):
            assert [manual.template for manual in load_config(source).manuals] == [HTTP]
        assert caplog.records == []

    def test_gives_its_options_to_whoever_wants_to_apply_them(self) -> None:
        inner = {"utcp_config": {"manual_call_templates": [HTTP]}, "timeout": 3, "theirs": 4}
        config = load_config({"toolbox": inner})
        assert (config.host_options, config.host_place) == ({"timeout": 3}, "toolbox.utcp_config")

    def test_says_that_its_options_are_not_used(self, caplog: pytest.LogCaptureFixture) -> None:
        source = {"toolbox": {"utcp_config": {"manual_call_templates": []}, "timeout": 3}}
        with Toolset.open(source):
            assert "toolbox.utcp_config" in caplog.text
            assert "not used here: timeout" in caplog.text


class TestOneBrokenEntry:
    @pytest.mark.parametrize(
        ("broken", "said"),
        [
            ({**HTTP, "auth": "sk-LIVE"}, "auth: expected an object"),
            ({**HTTP, "auth": {}}, "without auth_type"),
            ({**HTTP, "auth_tools": ["sk-LIVE"]}, "auth_tools: expected an object"),
            ({**HTTP, "name": 2024}, "write it in quotes"),
        ],
    )
    def test_says_what_its_field_should_be(self, broken: Any, said: str) -> None:
        other = {**HTTP, "name": "other"}
        wrong, right = load_config({"manual_call_templates": [broken, other]}).manuals
        assert said in str(wrong.problem)
        assert "sk-LIVE" not in str(wrong.problem)
        assert (right.template, right.problem) == (other, None)

    @pytest.mark.parametrize(
        "yaml",
        [
            "manual_call_templates: [&a [*a], {name: weather, call_template_type: http, url: 'https://example.com'}]",
            "manual_call_templates: [&a {headers: *a}, {name: weather, call_template_type: http, url: 'https://x.org'}]",
            f"manual_call_templates: [{'[' * 500}{']' * 500}, {{name: weather, call_template_type: http, url: x}}]",
        ],
    )
    def test_that_holds_itself_costs_only_itself(self, yaml: str, tmp_path: Path) -> None:
        (tmp_path / "utcp.yaml").write_text(yaml, encoding="utf-8")
        wrong, right = load_config(tmp_path / "utcp.yaml").manuals
        assert wrong.problem is not None
        assert (right.name, right.problem) == ("weather", None)

    @pytest.mark.parametrize(
        ("entry", "reported", "problem"),
        [
            ("weather", "manual_call_templates[1]", "expected an object"),
            (None, "manual_call_templates[1]", "got null"),
            ({"name": "b", "url": "https://example.com"}, "b", "no call_template_type"),
            ({"name": "b", "call_template_type": 7}, "b", "call_template_type: expected text"),
            ({"name": 7, "call_template_type": "http"}, "manual_call_templates[1]", "name: expected text"),
            ({"name": " ", "call_template_type": "http"}, "manual_call_templates[1]", "name: it is empty"),
            ({"name": "good one", "call_template_type": "http"}, "good_one (manual_call_templates[1])", "'good_one'"),
            ({"name": "good-one"}, "good_one (manual_call_templates[1])", "no call_template_type"),
        ],
    )
    def test_costs_only_itself(self, entry: Any, reported: str, problem: str) -> None:
        good = {**HTTP, "name": "good_one"}
        config = load_config({"manual_call_templates": [good, entry, {**HTTP, "name": "last"}]})
        assert [manual.name for manual in config.manuals] == ["good_one", reported, "last"]
        assert [manual.problem is None for manual in config.manuals] == [True, False, True]
        assert problem in (config.manuals[1].problem or "")

    def test_leaves_no_two_manuals_of_one_name(self) -> None:
        entries = [{"name": "a-b", **body} for body in ({}, {}, {"call_template_type": "http", "url": "https://x"})]
        found = names(*entries)
        assert len(set(found)) == 3


class TestNames:
    @pytest.mark.parametrize("name", ["my-http-tools", "a.b c", "été", "工具", "a_b", "9lives", "--"])
    def test_are_those_that_utcp_registers(self, name: str) -> None:
        from utcp.implementations.utcp_client_implementation import _sanitize_manual_name

        template = one({**HTTP, "name": name})
        assert template["name"] == _sanitize_manual_name(name)

    @pytest.mark.parametrize(
        ("template", "name"),
        [
            ({"call_template_type": "http", "url": "https://api.example.com:8443/v1/utcp?key=k"}, "api_example_com"),
            ({"call_template_type": "http", "url": "http://127.0.0.1:8000/utcp"}, "127_0_0_1"),
            ({"call_template_type": "http", "url": "https://${HOST}/utcp"}, "host"),
            ({"call_template_type": "http", "url": "http://[broken"}, "http"),
            ({"call_template_type": "websocket", "url": "wss://live.example.com"}, "live_example_com"),
            ({"call_template_type": "tcp", "host": "printer.lan", "port": 9100}, "printer_lan"),
            ({"call_template_type": "file", "file_path": "./manuals/news-api.json"}, "news_api"),
            ({"call_template_type": "cli", "commands": [{"command": "/opt/bin/my-tool --utcp"}]}, "my_tool"),
            ({"call_template_type": "cli", "commands": [{"command": "python3.12 -u tools/weather.py"}]}, "weather"),
            ({"call_template_type": "cli", "commands": [{"command": "A=1 tool 'unclosed"}]}, "tool"),
            ({"call_template_type": "mcp", "config": {"mcpServers": {"fetch": {}, "git": {}}}}, "fetch_git"),
            ({"call_template_type": "text", "content": "{}"}, "text"),
        ],
    )
    def test_come_from_the_address_where_none_is_given(self, template: dict[str, Any], name: str) -> None:
        assert one(template)["name"] == name
        assert one({**template, "name": None})["name"] == name

    def test_from_one_host_are_told_apart_in_any_order_and_whatever_the_credentials(self) -> None:
        first = {"call_template_type": "http", "url": "http://localhost:8000/utcp"}
        second = {"call_template_type": "http", "url": "http://localhost:8001/utcp"}
        there, back = names(first, second), names(second, {**first, "headers": {"X-Key": "rotated"}})
        assert there == back[::-1]
        assert len(set(there)) == 2
        assert all(name.startswith("localhost_") for name in there)

    def test_that_are_given_win_over_those_that_are_made(self) -> None:
        unnamed = {"call_template_type": "http", "url": "http://localhost:8000/utcp"}
        made, given = names(unnamed, {**unnamed, "name": "localhost"})
        assert given == "localhost"
        assert made.startswith("localhost_")

    def test_do_not_tell_two_equal_unnamed_manuals_apart(self) -> None:
        unnamed = {"call_template_type": "http", "url": "http://localhost:8000/utcp"}
        first, second = load_config({"manual_call_templates": [unnamed, unnamed]}).manuals
        assert first.problem is None
        assert "the same as a manual before it" in (second.problem or "")


class TestManualsAsSources:
    @pytest.mark.parametrize(
        "document",
        [
            {"utcp_version": "1.0.1", "manual_version": "1", "tools": []},
            {"version": "1.0", "tools": [{"name": "echo"}]},
            {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {}},
            {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {}},
        ],
    )
    @pytest.mark.parametrize("suffix", [".json", ".yaml"])
    def test_become_one_file_manual(
        self, tmp_path: Path, document: dict[str, Any], suffix: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / f"news-api{suffix}"
        path.write_text(json.dumps(document))
        (manual,) = load_config(path).manuals
        assert manual.name == "news_api"
        assert manual.template["call_template_type"] == "file"
        assert manual.template["file_path"] == str(path)
        assert "http" in manual.template["allowed_communication_protocols"]
        assert "cli" not in manual.template["allowed_communication_protocols"]
        assert caplog.records == []

    def test_under_another_suffix_or_in_memory_become_one_text_manual(self, tmp_path: Path) -> None:
        path = tmp_path / "manual"
        path.write_text("utcp_version: 1.0.1\ntools: []\n")
        for source in (path, {"utcp_version": "1.0.1", "tools": []}):
            (manual,) = load_config(source).manuals
            assert manual.template["call_template_type"] == "text"
            assert json.loads(manual.template["content"])["tools"] == []


class TestOlderForms:
    PERSONA = (
        {"name": "web-tools", "provider_type": "http", "url": "http://localhost:8000/tools"},
        {"name": "cli-tools", "provider_type": "cli", "command": "my-cli-tool"},
    )
    TRANSLATED = (
        {"name": "web_tools", "call_template_type": "http", "url": "http://localhost:8000/tools"},
        {"name": "cli_tools", "call_template_type": "cli", "commands": [{"command": "my-cli-tool"}]},
    )

    @pytest.mark.parametrize(
        "source",
        [
            {"tool_providers": list(PERSONA)},
            {"providers": list(PERSONA)},
            {"manual_call_templates": list(PERSONA)},
            {"manual_call_templates": [PERSONA[0]], "tool_providers": [PERSONA[1]]},
            list(PERSONA),
        ],
    )
    def test_are_translated_with_one_warning_that_shows_the_new_form(
        self, source: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        config = load_config(source)
        assert tuple(manual.template for manual in config.manuals) == self.TRANSLATED
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        text = record.getMessage()
        shown = json.loads(text[text.index("\n{") : text.rindex("}") + 1])
        assert shown == {"manual_call_templates": list(self.TRANSLATED)}

    @pytest.mark.parametrize(
        ("url", "told"),
        [
            ("https://h/u?n=3", "In the place of *** keep"),
            (f"https://h/{'u' * 400}", "In the place of '... (n characters)' keep"),
            (f"https://key@h/{'u' * 400}", "In the place of *** and of '... (n characters)' keep"),
            ("https://h/u?n=${N}", None),
        ],
    )
    def test_what_their_new_form_does_not_show_is_to_be_kept(
        self, url: str, told: str | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        load_config({"providers": [{"name": "m", "provider_type": "http", "url": url}]})
        lines = caplog.records[0].getMessage().splitlines()
        assert [line.startswith(told or "-") for line in lines if "keep" in line] == ([True] if told else [])

    @pytest.mark.parametrize(("entry", "template"), list(zip(PERSONA, TRANSLATED, strict=True)))
    def test_of_a_single_entry_are_a_configuration(
        self, entry: dict[str, Any], template: dict[str, Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        sources = [entry, {"providers": entry}, template]
        assert [load_config(source).manuals[0].template for source in sources] == [template] * 3
        assert len(caplog.records) == 3

    @pytest.mark.parametrize("wrap", [lambda entries: entries, lambda entries: {"providers": entries}])
    def test_in_a_providers_file_are_read_from_its_folder(
        self, tmp_path: Path, wrap: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "news.json").write_text("{}")
        entries = [*self.PERSONA, {"name": "news", "provider_type": "text", "file_path": "./news.json"}]
        (tmp_path / "sub" / "providers.json").write_text(json.dumps(wrap(entries)))
        (tmp_path / "config.json").write_text(json.dumps({"providers_file_path": "sub/providers.json"}))
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        manuals = load_config(tmp_path / "config.json").manuals
        assert tuple(manual.template for manual in manuals[:2]) == self.TRANSLATED
        assert manuals[2].template["call_template_type"] == "file"
        assert Path(manuals[2].template["file_path"]) == tmp_path / "sub" / "news.json"
        assert len(caplog.records) == 1

    def test_in_a_providers_file_named_by_a_mapping_are_read_from_the_current_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("providers.json").write_text(json.dumps(self.PERSONA))
        config = load_config({"providers_file_path": "./providers.json", "variables": {"a": "b"}})
        assert tuple(manual.template for manual in config.manuals) == self.TRANSLATED
        assert config.client == {"variables": {"a": "b"}}

    def test_of_a_providers_file_that_is_missing_or_misshapen_are_errors(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"the providers of 'providers_file_path'.*no file"):
            load_config({"providers_file_path": str(tmp_path / "none.json")})
        (tmp_path / "p.json").write_text('{"a": 1}')
        with pytest.raises(ConfigError, match="providers_file_path: expected a list of objects"):
            load_config({"providers_file_path": str(tmp_path / "p.json")})

    def test_of_variable_loaders_are_translated(self, caplog: pytest.LogCaptureFixture) -> None:
        config = load_config({"load_variables_from": [{"type": "dotenv", "env_file_path": ".env"}]})
        assert config.client["load_variables_from"] == [{"variable_loader_type": "dotenv", "env_file_path": ".env"}]
        assert "variable_loader_type" in caplog.text

    def test_never_show_a_secret(self, caplog: pytest.LogCaptureFixture) -> None:
        load_config(
            {
                "variables": {"v": "sk-0"},
                "tool_providers": [
                    {
                        "name": "a",
                        "provider_type": "http",
                        "url": "https://user:sk-1@example.com/u?key=sk-2&page=${PAGE}",
                        "headers": {"Authorization": "Bearer sk-3", "X-Key": "Bearer ${KEY}"},
                        "auth": {"api_key": "sk-4", "var_name": "X-Shown"},
                    },
                    {
                        "name": "b",
                        "provider_type": "cli",
                        "command": "tool --token sk-5 --key=sk-6 -H 'Authorization: Bearer sk-7' --port 80",
                        "env_vars": {"ANY": "sk-8"},
                    },
                    {
                        "name": "c",
                        "provider_type": "mcp",
                        "config": {"mcpServers": {"s": {"command": "x", "args": ["--api-key", "sk-9"]}}},
                    },
                    {
                        "name": "d",
                        "provider_type": "http",
                        "url": "https://x",
                        "auth": {"username": 7, "password": "sk-"},
                    },
                ],
            }
        )
        assert "sk-" not in caplog.text
        for kept in ("X-Shown", "Bearer ${KEY}", "page=${PAGE}", "--port 80", "a_KEY"):
            assert kept in caplog.text

    def test_of_many_entries_give_a_warning_of_bounded_length(self, caplog: pytest.LogCaptureFixture) -> None:
        entries: Any = [{"name": f"m{index}", "provider_type": "http", "url": "https://x"} for index in range(300)]
        assert len(load_config(entries).manuals) == 300
        assert len(caplog.text) < 3000
        assert "295 more" in caplog.text

    def test_never_move_a_variable_out_of_its_manual(self) -> None:
        config = load_config(
            {
                "variables": {"TOKEN": "t"},
                "tool_providers": [{**self.PERSONA[0], "headers": {"X-Token": "${TOKEN}"}}],
            }
        )
        assert config.client["variables"] == {"TOKEN": "t"}
        assert config.manuals[0].template["headers"] == {"X-Token": "${TOKEN}"}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real manuals is not here")
class TestCorpus:
    @pytest.mark.parametrize("path", sorted(CORPUS.glob("*.json")), ids=lambda path: path.stem)
    def test_every_file_is_a_source(self, path: Path) -> None:
        config = load_config(path)
        assert config.manuals
        assert [manual.problem for manual in config.manuals if manual.problem] == []
