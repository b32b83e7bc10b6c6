"""The `utcp-bridge` command, as a user starts it."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.support.manuals import broken_manuals, config, http_tool, text_manual
from utcp_bridge.cli import main
from utcp_bridge.demo import Step
from utcp_bridge.demo.server import tool_server
from utcp_bridge.demo.story import FrameworkRun, tell

COMMAND = Path(sys.executable).with_name("utcp-bridge")


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False)


def _run_here(*arguments: str, encoding: str = "utf-8", columns: str | None = None) -> Result:
    """The same in this process, which takes a tenth of the time."""
    return CliRunner(charset=encoding).invoke(main, arguments, env={"COLUMNS": columns})


@pytest.fixture(scope="module")
def manual_url() -> Iterator[str]:
    with tool_server() as server:
        yield server.manual_url


@pytest.fixture
def source(manual_url: str, tmp_path: Path) -> str:
    manual = {"name": "home", "call_template_type": "http", "url": manual_url, "http_method": "GET"}
    return _written(config(manual), tmp_path)


def _written(document: dict[str, Any], folder: Path) -> str:
    path = folder / "utcp.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def test_the_demo_lets_an_agent_of_each_framework_call_tools_and_go_on_after_an_error() -> None:
    ran = _run("demo", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    loaded, *runs = [json.loads(line) for line in ran.stdout.splitlines()]
    assert loaded["tools"] == ["home_add_note", "home_get_weather", "shell_count_words"]
    assert [run["framework"] for run in runs] == ["LangChain", "LlamaIndex", "OVOS"]
    for run in runs:
        kinds = [step["kind"] for step in run["steps"]]
        assert kinds == ["tools", "call", "result", "call", "error", "call", "result", "call", "result", "answer"]
        answer = run["steps"][-1]["text"]
        assert '{"city":"Paris","sky":"sunny","celsius":21}' in answer
        assert "HTTP 404 Not Found: no city 'Atlantis'; try Paris or Oslo" in answer
        assert '{"words":3}' in answer


def test_the_demo_ends_with_how_to_go_on_and_draws_its_own_picture(tmp_path: Path) -> None:
    picture = tmp_path / "demo.svg"
    ran = _run("demo", "--svg", str(picture))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    drawn = picture.read_text(encoding="utf-8").replace("&#160;", " ")
    assert drawn.startswith("<svg")
    assert all(word in drawn for word in ("LangChain", "LlamaIndex", "OVOS", "utcp-bridge check my-utcp.json"))
    assert "@font-face" not in drawn


def test_list_shows_each_tool(source: str) -> None:
    ran = _run("list", source)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "home_get_weather" in ran.stdout
    assert "Keep a note for later." in ran.stdout


def test_list_takes_filters_and_the_url_of_a_manual(manual_url: str) -> None:
    ran = _run("list", manual_url, "--json", "--tag", "weather", "--read-only")
    assert (ran.returncode, ran.stderr) == (0, "")
    [tool] = json.loads(ran.stdout)
    assert tool["name"].endswith("_get_weather")
    assert (tool["read_only"], tool["tags"]) == (True, ["weather"])


def test_show_prints_a_tool_as_models_see_it(source: str) -> None:
    shown = json.loads(_run("show", source, "home.get_weather", "--json").stdout)
    assert shown["name"] == "home_get_weather"
    assert shown["input_schema"]["required"] == ["city"]
    assert '"required"' in _run("show", source, "home_get_weather").stdout


@pytest.mark.parametrize("arguments", [["city=Paris"], ['{"city": "Paris"}']])
def test_call_prints_what_the_tool_replied(source: str, arguments: list[str]) -> None:
    ran = _run("call", source, "home_get_weather", *arguments)
    assert (ran.returncode, ran.stdout) == (0, '{"city":"Paris","sky":"sunny","celsius":21}\n')


def test_a_value_is_read_as_its_schema_wants_it(source: str) -> None:
    ran = _run("call", source, "home_add_note", 'body={"text": "5"}', "--json")
    assert json.loads(ran.stdout)["data"] == {"kept": {"text": "5"}}


def test_a_failed_call_exits_with_one_and_its_reason(source: str) -> None:
    ran = _run("call", source, "home_get_weather", "city=Atlantis")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "no city 'Atlantis'" in ran.stderr


def test_an_unknown_tool_names_the_closest(source: str) -> None:
    ran = _run("show", source, "home_get_wether")
    assert ran.returncode != 0
    assert "home_get_weather" in ran.stderr


def test_check_exits_with_one_when_a_manual_failed(manual_url: str, tmp_path: Path) -> None:
    manual = {"name": "good", "call_template_type": "http", "url": manual_url, "http_method": "GET"}
    malformed = manual_url.replace("/utcp", "/tools/get_weather?city=Paris")
    ran = _run("check", _written(config(manual, *broken_manuals(malformed)), tmp_path), "--json")
    assert (ran.returncode, ran.stderr) == (1, "")
    outcomes = {manual["name"]: manual for manual in json.loads(ran.stdout)["manuals"]}
    assert {name for name, manual in outcomes.items() if manual["ok"]} == {"good"}
    assert "my__api_TOKEN" in outcomes["my_api"]["error"]
    assert _run("check", manual_url).returncode == 0


def test_a_wrong_source_is_said_in_one_line_without_a_traceback(tmp_path: Path) -> None:
    ran = _run("list", str(tmp_path / "nowhere.json"))
    assert ran.returncode == 2
    assert "nowhere.json" in ran.stderr
    assert "Traceback" not in ran.stderr


NOTHING_LISTENS = {"name": "dead", "call_template_type": "http", "url": "http://127.0.0.1:9/"}


@pytest.mark.parametrize(
    ("encoding", "command"),
    [
        ("cp1252", ("list",)),
        ("cp1252", ("list", "--json")),
        ("latin-1", ("call", "m_say")),
        ("ascii", ("show", "m_say")),
        ("ascii", ("check",)),
    ],
)
def test_output_in_any_encoding_is_no_reason_to_fail(encoding: str, command: tuple[str, ...], tmp_path: Path) -> None:
    said = "Zürich ⛅ 工具"
    tool = {
        "name": "say",
        "description": said,
        "inputs": {"type": "object", "properties": {}},
        "tool_call_template": {"call_template_type": "text", "content": said},
    }
    broken = {**tool, "name": said, "tool_call_template": {"call_template_type": "grpc"}}
    source = _written(config(text_manual("m", [tool, broken], "text")), tmp_path)
    ran = _run_here(command[0], source, *command[1:], encoding=encoding)
    assert (ran.exit_code, ran.stderr) == (0, "")
    if "--json" in command:
        assert json.loads(ran.stdout)[0]["description"] == said
    else:
        assert said.encode(encoding, "replace").decode(encoding) in ran.stdout


@pytest.mark.parametrize("command", [("list",), ("show", "long_" + "t" * 40), ("check",)])
def test_names_and_reasons_are_never_shortened(command: tuple[str, ...], tmp_path: Path) -> None:
    missing = f"/{'folder/' * 12}manual.json"
    tool = {"name": "t" * 40, "inputs": {}, "tool_call_template": {"call_template_type": "text", "content": ""}}
    long = text_manual("long", [tool], "text")
    source = _written(config(long, {"name": "m" * 50, "call_template_type": "file", "file_path": missing}), tmp_path)
    ran = _run_here(command[0], source, *command[1:], columns="30")
    assert "…" not in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 30
    if command[0] != "show":
        expected = "m" * 50 if command[0] == "check" else "long_" + "t" * 40
        assert any(expected in line for line in _run_here(command[0], source, *command[1:]).stdout.splitlines())


@pytest.mark.parametrize("command", [("list", "SOURCE", "--json"), ("demo", "--json")])
def test_a_reader_that_goes_away_ends_the_command(command: tuple[str, ...], source: str) -> None:
    arguments = [source if word == "SOURCE" else word for word in command]
    with subprocess.Popen([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) in {0, 1}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", [("list",), ("call", "home_get_weather", "city=Paris")])
def test_an_output_that_cannot_be_written_is_said_in_one_line(command: tuple[str, ...], source: str) -> None:
    with Path("/dev/full").open("w") as full:
        arguments = [str(COMMAND), command[0], source, *command[1:]]
        ran = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ran.returncode == 1
    assert ran.stderr == "Error: The output cannot be written: No space left on device.\n"


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_command_and_what_it_started(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    manual = {"name": "c", "call_template_type": "cli", "commands": [{"command": f"echo $$ > {begun}; exec sleep 60"}]}
    with subprocess.Popen([COMMAND, "check", _written(config(manual), tmp_path)], stderr=subprocess.PIPE) as process:
        while not (begun.exists() and begun.read_text(encoding="utf-8")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(sent)
        assert process.wait(timeout=30) == code
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    child = Path("/proc") / begun.read_text(encoding="utf-8").strip()
    for _ in range(100):
        if not child.exists():
            break
        time.sleep(0.02)
    assert not child.exists()


def test_control_characters_of_tools_do_not_reach_a_terminal(tmp_path: Path) -> None:
    said = "one\x1b[2Jtwo\x07"
    tool = {
        "name": "say",
        "description": said,
        "inputs": {"type": "object", "properties": {}},
        "tool_call_template": {"call_template_type": "text", "content": said},
    }
    source = _written(config(text_manual("m", [tool], "text")), tmp_path)
    assert "\x1b" not in _run("list", source).stdout
    assert _run("call", source, "m_say").stdout == f"{said}\n"  # a file or pipe gets it as it is
    controller, terminal = os.openpty()
    ran = subprocess.run([COMMAND, "call", source, "m_say"], stdout=terminal, timeout=60, check=False)
    shown = os.read(controller, 10_000).decode()
    os.close(controller)
    os.close(terminal)
    assert ran.returncode == 0
    assert "two" in shown
    assert not {"\x1b", "\x07"} & set(shown)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["city=Paris", "city=Oslo"], "given twice"),
        (["=Paris"], "Expected name=value"),
        (["city=Paris", "--timeout", "0"], "above 0"),
        (["city=Paris", "--timeout", "nan"], "above 0"),
        (["city=Paris", "--discovery-timeout", "0"], "discovery_timeout: expected a number of seconds above 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: list[str], said: str, source: str) -> None:
    ran = _run_here("call", source, "home_get_weather", *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert said in ran.stderr


@pytest.mark.parametrize(("command", "code"), [(["list"], 1), (["show", "x"], 1), (["call", "x"], 1), (["check"], 1)])
def test_where_no_tool_is_the_reason_is_told(command: list[str], code: int, tmp_path: Path) -> None:
    ran = _run_here(command[0], _written(config(NOTHING_LISTENS), tmp_path), *command[1:])
    assert ran.exit_code == code
    assert "nothing listens there" in " ".join((ran.stdout + ran.stderr).split())


def test_a_source_without_manuals_is_named_so(tmp_path: Path) -> None:
    source = _written(config(), tmp_path)
    checked, listed = _run_here("check", source), _run_here("list", source)
    none = "No manuals are configured; they stand in 'manual_call_templates'.\n"
    assert (checked.exit_code, checked.stdout, checked.stderr) == (0, "", none)
    assert (listed.exit_code, listed.stdout, listed.stderr) == (0, "", "There are no tools.\n")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["show", "nothing"], 1),
        (["call", "nothing"], 1),
        (["call", "home_get_weather", "city=Atlantis"], 1),
        (["call", "home_get_weather", "Paris"], 2),
        (["show", "home_get_weather"], 0),
        (["list"], 0),
        (["check"], 0),
        (["variables"], 0),
        (["list", "--discovery-timeout", "0"], 2),
    ],
)
def test_exit_codes_mean_the_same_for_every_command(command: list[str], code: int, source: str) -> None:
    assert _run_here(command[0], source, *command[1:]).exit_code == code


@pytest.mark.parametrize("command", ["list", "show", "call", "check", "variables"])
def test_a_wrong_configuration_is_two_for_every_command(command: str, tmp_path: Path) -> None:
    more = ["t"] if command in {"show", "call"} else []
    assert _run_here(command, _written({"manual_call_template": []}, tmp_path), *more).exit_code == 2


def test_help_tells_the_exit_codes() -> None:
    words = " ".join(_run_here("--help").stdout.split())
    assert "Exit codes: 0 when all went well; 1 when what was asked for failed" in words
    assert "2 when the command line, the configuration or an option is wrong" in words


@pytest.mark.parametrize("command", [["check"], ["list"], ["call", "none"]])
def test_what_is_odd_about_a_call_template_is_told(command: list[str], manual_url: str, tmp_path: Path) -> None:
    manual = {"name": "home", "call_template_type": "http", "url": manual_url, "header": {"A": "b"}}
    ran = _run_here(command[0], _written(config(manual), tmp_path), *command[1:])
    assert (ran.stdout + ran.stderr).count("unknown key 'header', which has no effect; did you mean 'headers'?") == 1


def test_the_options_of_a_persona_count_and_flags_win(manual_url: str, tmp_path: Path) -> None:
    manual = {"name": "home", "call_template_type": "http", "url": manual_url, "http_method": "GET"}
    inner = {"utcp_config": config(manual), "include": "home.add_*", "on_failure": "raise", "on_tool_error": "raise"}
    persona = {"name": "Helper", "handlers": ["loop"], "loop": {"toolboxes": ["ovos-utcp-toolbox"], "toolbox": inner}}
    source = _written(persona, tmp_path)
    listed = _run_here("list", source, "--json")
    assert ([tool["name"] for tool in json.loads(listed.stdout)], listed.stderr) == (["home_add_note"], "")
    listed = _run_here("list", source, "--json", "--include", "home.get_*")
    assert [tool["name"] for tool in json.loads(listed.stdout)] == ["home_get_weather"]
    failed = _run_here("call", source, "home_add_note", "body=5", "--json")
    assert (failed.exit_code, json.loads(failed.stdout)["is_error"]) == (1, True)
    inner["timeout"] = "soon"
    refused = _run_here("check", _written(persona, tmp_path))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "timeout: expected a number of seconds" in refused.stderr


def test_the_file_of_a_persona_is_looked_up_beside_it(manual_url: str, tmp_path: Path) -> None:
    manual = {"name": "home", "call_template_type": "http", "url": manual_url, "http_method": "GET"}
    (tmp_path / "tools.json").write_text(json.dumps(config(manual)))
    source = _written({"toolbox": {"utcp_config": "tools.json", "exclude": "home.add_*"}}, tmp_path)
    listed = _run_here("list", source, "--json")
    assert [tool["name"] for tool in json.loads(listed.stdout)] == ["home_get_weather"]


def test_variables_are_listed_with_whether_they_have_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manual = {**NOTHING_LISTENS, "name": "my_api", "headers": {"A": "${TOKEN}", "B": "${OTHER}"}}
    monkeypatch.setenv("my__api_TOKEN", "sk-LIVE")
    source = _written(config(manual), tmp_path)
    ran = _run_here("variables", source, "--json")
    assert ran.exit_code == 1
    assert json.loads(ran.stdout) == [
        {"key": "my__api_OTHER", "defined": False, "manual": "my_api", "description": ""},
        {"key": "my__api_TOKEN", "defined": True, "manual": "my_api", "description": ""},
    ]
    monkeypatch.setenv("my__api_OTHER", "x")
    shown = _run_here("variables", source)
    assert (shown.exit_code, "my__api_OTHER" in shown.stdout, "sk-LIVE" in shown.stdout) == (0, True, False)


@pytest.mark.parametrize(
    "source", ["localhost:8000/utcp", "192.168.1.5/utcp", "api.example.com:80", "example.com/a.json"]
)
def test_a_url_without_a_scheme_is_taken_for_one_where_there_is_no_such_file(source: str) -> None:
    ran = _run_here("check", source)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"as in 'http://{source}'" in ran.stderr


def test_a_limit_of_one_second_is_one_second(tmp_path: Path) -> None:
    manual = {"name": "m", "call_template_type": "cli", "commands": [{"command": "sleep 60"}]}
    ran = _run_here("check", _written(config(manual), tmp_path), "--discovery-timeout", "1")
    assert "no answer within 1 second (discovery_timeout)" in ran.stdout


def test_a_scheme_may_be_written_in_capitals(manual_url: str) -> None:
    assert _run_here("check", manual_url.replace("http:", "HTTP:")).exit_code == 0


def test_a_program_that_runs_the_command_in_itself_keeps_its_logging_and_signals(tmp_path: Path) -> None:
    source = _written(config(NOTHING_LISTENS), tmp_path)
    logger = logging.getLogger("utcp_bridge.discovery")
    before = logger.level, signal.getsignal(signal.SIGTERM)
    ran = _run_here("list", source)
    assert ran.exit_code == 1
    assert "nothing listens there" in ran.stderr
    assert (logger.level, signal.getsignal(signal.SIGTERM)) == before


def test_check_and_show_say_what_of_a_schema_could_not_be_read(tmp_path: Path) -> None:
    tool = http_tool("odd", "https://example.com/", {"a": {"$ref": "#/$defs/Nowhere"}, "b": {"type": "string"}})
    source = _written(config(text_manual("m", [tool], "http")), tmp_path)
    checked = _run("check", source)
    assert checked.returncode == 0
    assert "m_odd" in checked.stdout
    assert "Nowhere" in checked.stdout
    [problem] = json.loads(_run("show", source, "m_odd", "--json").stdout)["schema_problems"]
    assert problem.startswith("/properties/a")


def test_check_and_variables_say_where_a_token_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = {"type": "openIdConnect", "openIdConnectUrl": "https://id.example.com/.well-known/openid-configuration"}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": "https://api.example.com"}],
        "paths": {"/a": {"get": {"operationId": "a", "security": [{"oidc": []}]}}},
        "components": {"securitySchemes": {"oidc": scheme}},
    }
    (tmp_path / "api.json").write_text(json.dumps(document))
    source = str(tmp_path / "api.json")
    for command, exit_code in (("check", 0), ("variables", 1)):
        ran = _run_here(command, source)
        words = " ".join(ran.stdout.replace("│", " ").split())
        assert ran.exit_code == exit_code
        assert "api_OIDC" in words
        assert "an OpenID Connect access token" in words
        assert "https://id.example.com/.well-known/openid-configuration" in words.replace("- ", "-")
    monkeypatch.setenv("api_OIDC", "sk-LIVE")
    checked = json.loads(_run_here("check", source, "--json").stdout)
    (variable,) = checked["manuals"][0]["variables"]
    assert (variable["key"], variable["defined"], variable["tools"]) == ("api_OIDC", True, ["api.a"])
    assert "OpenID Connect" in variable["description"]


def test_a_framework_whose_demo_breaks_is_told_and_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(_toolset: Any, _script: Any) -> Iterator[Any]:
        raise LookupError("no such model")

    def answers(_toolset: Any, _script: Any) -> Iterator[Any]:
        yield Step("answer", "done")

    entries = [EntryPoint(name, f"{name}:demo", "utcp_bridge.demos") for name in ("breaks", "answers")]
    for name, demo in (("breaks", breaks), ("answers", answers)):
        module = ModuleType(name)
        vars(module)["demo"] = demo
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("utcp_bridge.demo.story.demos", lambda: iter(entries))
    _, broken, answered = tell()
    assert isinstance(broken, FrameworkRun)
    assert (broken.failed, broken.problem) == (True, "LookupError: no such model")
    assert isinstance(answered, FrameworkRun)
    assert (answered.failed, answered.steps) == (False, (Step("answer", "done"),))
