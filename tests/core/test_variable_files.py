"""A variable without a value: which key, where it was looked for, and what is wrong with a file that should have it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset, errors
from utcp_bridge.transports.client.loaded import RequiredVariable

HEADERS = {"Authorization": "Bearer ${TOKEN}"}
DEAD = {"name": "my_api", "call_template_type": "http", "url": "http://127.0.0.1:9/", "headers": HEADERS}
KEY = "my__api_TOKEN"


def _source(path: object, manual: dict[str, Any] = DEAD, **more: Any) -> dict[str, Any]:
    loaders = [{"variable_loader_type": "dotenv", "env_file_path": str(path)}]
    return config(manual, load_variables_from=loaders, **more)


def _told(path: object, **more: Any) -> str:
    with Toolset.open(_source(path, **more)) as toolset:
        return str(toolset.report.manuals[0].error)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "there is no such file"),
        (b"", "it is empty"),
        (b" \n\n", "it is empty"),
        (b'{"my__api_TOKEN": "sk-LIVE-1"}', "its line 1 is not NAME=value"),
        (b"# keys\nA=1\nmy__api_TOKEN: sk-LIVE-1\n", "its line 3 is not NAME=value"),
        (b'A="1\n2"\nmy__api_TOKEN sk-LIVE-1', "its line 3 is not NAME=value"),
        (b'A=1\r\nmy__api_TOKEN="sk-LIVE-1\r\nB=x\r\n', "the quote in its line 2 is never closed"),
        (b"my__api_TOKEN=\xff\xfe\n", "it is not UTF-8 text"),
        ("my__api_TOKEN=x".encode("utf-16"), "it is not UTF-8 text"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_to_be_so(content: bytes | None, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "keys.env"
    if content is not None:
        path.write_bytes(content)
    told = _told(path)
    assert f"The variable '{KEY}' is not defined" in told
    assert f"the file {str(path)!r} (dotenv: {fault}" in told
    assert "'variables' of the configuration" in told
    assert "the environment" in told
    assert "sk-LIVE" not in told


def test_a_folder_in_the_place_of_the_file_is_said_to_be_one(tmp_path: Path) -> None:
    assert f"the file {str(tmp_path)!r} (dotenv: it is a folder, expected a file)" in _told(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "keys.env"
    path.write_text("A=1")
    path.chmod(0)
    assert "(dotenv: it cannot be read: Permission denied)" in _told(path)


def test_a_relative_path_is_said_with_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"the file 'keys.env' (dotenv: there is no such file in {str(tmp_path)!r})" in _told("keys.env")


@pytest.mark.parametrize(
    "content", ["OTHER=1\n", "export OTHER='a b'\n# c\n", 'OTHER="1\n2"\n\nTHIRD=\n', "\ufeffOTHER=1", "'OTHER'=1\n"]
)
def test_of_a_file_that_only_lacks_the_variable_nothing_is_said(content: str, tmp_path: Path) -> None:
    (tmp_path / "keys.env").write_text(content, encoding="utf-8")
    assert f"the file {str(tmp_path / 'keys.env')!r} (dotenv)" in _told(tmp_path / "keys.env")


def test_a_missing_file_is_no_matter_where_the_variable_is_defined_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(KEY, "sk-LIVE-1")
    assert "nothing listens there" in _told(tmp_path / "nowhere.env")
    assert "nowhere.env" not in caplog.text


def test_a_file_that_comes_later_counts(tmp_path: Path) -> None:
    path = tmp_path / "keys.env"
    tool = http_tool("t", "http://127.0.0.1:9/", headers=HEADERS)
    with Toolset.open(_source(path, text_manual("my_api", [tool], "http"))) as toolset:
        assert "there is no such file" in toolset.call("my_api.t").content
        path.write_text(f"{KEY}=sk-LIVE-1\n")
        assert "nothing listens there" in toolset.call("my_api.t").content


def test_a_call_without_its_variable_is_a_matter_of_configuration(tmp_path: Path) -> None:
    tool = http_tool("t", "http://127.0.0.1:9/", headers=HEADERS)
    source = _source(tmp_path / "keys.env", text_manual("my_api", [tool], "http"))
    with Toolset.open(source) as toolset:
        content = toolset.call("my_api.t").content
    assert content.startswith(
        f"my_api_t cannot be called until its configuration is put right: The variable '{KEY}' is not defined: looked"
    )
    assert f"{str(tmp_path / 'keys.env')!r} (dotenv: there is no such file)" in content
    assert "could not be reached" not in content
    with Toolset.open(source, on_tool_error="raise") as toolset, pytest.raises(errors.ToolConfigError, match=KEY):
        toolset.call("my_api.t")


@pytest.mark.parametrize("written", ["my_api_TOKEN", "MY__API_TOKEN", "MY_API_TOKEN", "my__api_token"])
def test_a_key_that_is_nearly_the_right_one_is_named(written: str, tmp_path: Path) -> None:
    told = _told(tmp_path / "keys.env", variables={written: "sk-LIVE-1"})
    assert f"There is '{written}', which is not the same." in told
    assert "sk-LIVE" not in told


# -- before anything is connected to


def test_the_variables_of_a_source_are_listed_without_connecting(tmp_path: Path) -> None:
    manual = text_manual("inline", [http_tool("t", "http://127.0.0.1:9/${PART}", headers={"A": "${TOKEN}"})], "http")
    (tmp_path / "m.json").write_text(manual["content"])
    in_file: dict[str, Any] = {"name": "in_file", "call_template_type": "file", "file_path": str(tmp_path / "m.json")}
    in_file["allowed_communication_protocols"] = ["http"]
    missing = {"name": "gone", "call_template_type": "file", "file_path": "${FOLDER}/m.json"}
    command = f"touch {tmp_path}/ran; a ${{B}}"
    program = {"name": "program", "call_template_type": "cli", "commands": [{"command": command}]}
    manuals = (DEAD, manual, in_file, missing, program, {"name": "odd"})
    source = config(*manuals, variables={"inline_TOKEN": "t", KEY: "t"})
    assert Toolset.required_variables(source) == (
        RequiredVariable(KEY, defined=True, manual="my_api"),
        RequiredVariable("inline_PART", defined=False, manual="inline"),
        RequiredVariable("inline_TOKEN", defined=True, manual="inline"),
        RequiredVariable("in__file_PART", defined=False, manual="in_file"),
        RequiredVariable("in__file_TOKEN", defined=False, manual="in_file"),
        RequiredVariable("gone_FOLDER", defined=False, manual="gone"),
        RequiredVariable("program_B", defined=False, manual="program"),
    )
    assert not (tmp_path / "ran").exists()
    with pytest.raises(errors.ConfigError, match="nowhere"):
        Toolset.required_variables("nowhere.json")
