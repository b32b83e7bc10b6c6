"""CLI tools, on real shells: steps, arguments, results, failures, environment, discovery."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from utcp.data.tool import JsonSchema, Tool
from utcp.data.utcp_client_config import UtcpClientConfig
from utcp.data.utcp_manual import UtcpManual
from utcp.utcp_client import UtcpClient
from utcp_cli.cli_call_template import CliCallTemplate, CommandStep
from utcp_http.http_call_template import HttpCallTemplate

from utcp_bridge import Toolset
from utcp_bridge.config.legacy import ALL_ARGUMENTS
from utcp_bridge.errors import ConfigError, ToolArgumentsError, ToolConfigError, ToolExecutionError
from utcp_bridge.transports.begun import Begun, noticing
from utcp_bridge.transports.cli.protocol import CliProtocol

Step = str | CommandStep
HELD = "[its shell had ended with exit code {}, but a process that it left in the background held its output]"


def template(*steps: Step, **fields: Any) -> CliCallTemplate:
    commands = [CommandStep(command=step) if isinstance(step, str) else step for step in steps]
    return CliCallTemplate(name="m", commands=commands, **fields)


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def run(*steps: Step, arguments: Mapping[str, Any] | None = None, **fields: Any) -> Any:
    return await CliProtocol().call_tool(None, "m.t", dict(arguments or {}), template(*steps, **fields))


async def failed(*steps: Step, **fields: Any) -> ToolExecutionError:
    with pytest.raises(ToolExecutionError) as caught:
        await run(*steps, **fields)
    return caught.value


def shown(command: str) -> Step:
    return CommandStep(command=command, append_to_final_output=True)


def hidden(command: str) -> Step:
    return CommandStep(command=command, append_to_final_output=False)


# Steps


async def test_the_directory_and_variables_last_from_step_to_step(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    steps = [
        "cd inner",
        "word='two  words'; export E=exported; f() { echo \"from f\"; }",
        'pwd; echo "$word"; f; env | grep ^E=',
    ]
    assert await run(*steps, working_dir=str(tmp_path)) == f"{tmp_path}/inner\ntwo  words\nfrom f\nE=exported"


async def test_a_step_can_use_what_earlier_steps_wrote() -> None:
    steps = ["echo first", "echo second; echo a warning >&2", 'echo "[$CMD_0_OUTPUT] [${CMD_1_OUTPUT}]"']
    assert await run(*steps) == "[first] [second]"


async def test_what_a_step_wrote_is_never_parsed(tmp_path: Path) -> None:
    output = "$(touch pwned) `touch pwned` '\"; touch pwned *"
    steps = [f"cat <<'EOF'\n{output}\nEOF", "printf '<%s>' \"$CMD_0_OUTPUT\""]
    assert await run(*steps, working_dir=str(tmp_path)) == f"<{output}>"
    assert files_in(tmp_path) == []


async def test_a_long_output_reaches_the_next_step_whole() -> None:
    assert await run("seq 200000", "echo \"${#CMD_0_OUTPUT} ${CMD_0_OUTPUT##*$'\\n'}\"") == "1288894 200000"


async def test_an_output_with_nul_bytes_reaches_the_next_step_without_them() -> None:
    assert await run("printf 'a\\0b'", "printf '<%s>' \"$CMD_0_OUTPUT\"") == "<ab>"


@pytest.mark.parametrize(
    ("steps", "result"),
    [
        (["echo a", "echo b"], "b"),
        ([shown("echo a"), "echo b"], "a\nb"),
        ([shown("echo a"), hidden("echo b")], "a"),
        ([shown("printf 'a\\n\\n'"), shown("cd /"), shown("printf c")], "a\nc"),
        ([hidden("echo a"), hidden("echo b")], ""),
        (["echo a", "true"], ""),
    ],
)
async def test_append_to_final_output_selects_and_the_default_is_the_last(steps: Sequence[Step], result: str) -> None:
    assert await run(*steps) == result


async def test_a_step_that_fails_ends_the_run(tmp_path: Path) -> None:
    error = await failed("echo one", "cd nowhere", "touch wrong_place", working_dir=str(tmp_path))
    assert str(error).startswith("the command, step 2 of 3, exited with code 1:\nstderr: bash:")
    assert "nowhere: No such file or directory" in str(error)
    assert error.raw[0]["step"] == 1
    assert files_in(tmp_path) == []


async def test_a_step_may_fail_where_its_author_says_so() -> None:
    assert await run("false || true", "grep x /dev/null || true", "echo on") == "on"


async def test_an_earlier_output_that_was_selected_is_kept_when_a_later_step_fails() -> None:
    error = await failed(shown("echo one"), "echo two", "echo three; exit 4")
    assert error.raw[0]["stdout"] == "one\nthree"


async def test_exit_in_a_step_ends_the_run() -> None:
    assert await run(shown("echo one"), "exit 0", "echo three") == "one"
    assert (await failed("exit 9", "echo two")).raw[0]["exit_code"] == 9


@pytest.mark.parametrize("broken", ["echo 'open", 'echo "open', "if true", "echo )", "cat <<EOF; (", "for x in"])
async def test_a_step_that_bash_cannot_parse_does_not_swallow_the_next(broken: str) -> None:
    error = await failed(broken, shown("echo two"))
    assert error.raw[0]["step"] == 0
    assert error.raw[0]["exit_code"] != 0
    assert "two" not in error.raw[0]["stdout"]


@pytest.mark.parametrize(
    "steps",
    [
        ["echo it\\'s # a comment with ' in it", "echo ok"],
        ["cat <<EOF\nit's\nEOF", "echo ok"],
        ["exec 2>&1", "echo ok"],
        ["set -eu", "echo ok"],
        ["exec 9>/dev/null; exec 200>&9", "echo ok"],
        ["IFS=01; set -f", "echo ok"],
        ["trap 'true' EXIT ERR DEBUG", "echo ok"],
        ["unset CMD_0_OUTPUT; CMD_0_OUTPUT=x", "echo ok"],
        ["", "echo ok"],
        ["echo ok; exec >/dev/null", hidden("echo lost")],
    ],
)
async def test_what_a_step_changes_in_the_shell_does_not_break_the_run(steps: list[Step]) -> None:
    if not isinstance(steps[-1], str):
        steps[0] = shown(str(steps[0]))
    assert await run(*steps) == "ok"


async def test_set_e_of_a_step_holds_within_it() -> None:
    assert (await failed("set -e; false; echo on", "echo two")).raw[0]["stdout"] == ""


async def test_a_template_of_many_steps_runs() -> None:
    steps = ["echo 0", *(f'echo "$CMD_{index}_OUTPUT {index + 1}"' for index in range(60))]
    assert await run(*steps) == " ".join(map(str, range(61)))


# Arguments


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (True, "true"),
        (False, "false"),
        (None, ""),
        (0, "0"),
        (-5, "-5"),
        (1.5, "1.5"),
        (1e22, "1e+22"),
        (10**30, "1" + "0" * 30),
        ([1, "a b", None, True], '[1,"a b",null,true]'),
        ({"k": {"é": "it's"}}, '{"k":{"é":"it\'s"}}'),
        ([], "[]"),
        ("tab\tnewline\nreturn\r", "tab\tnewline\nreturn\r"),
        ({"nul": "\0"}, '{"nul":"\\u0000"}'),
    ],
)
async def test_an_argument_is_text_or_json(value: object, text: str) -> None:
    assert await run("printf '<%s>' UTCP_ARG_x_UTCP_END", arguments={"x": value}) == f"<{text}>"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("a\0b", "argument 'x' holds a NUL character"),
        ("a\ud83d", "argument 'x' holds U\\+D83D, half of a surrogate pair"),
        (["\udc80"], "argument 'x' holds U\\+DC80, half of a surrogate pair"),
        (float("nan"), "argument 'x' is not a JSON value"),
        ([float("inf")], "argument 'x' is not a JSON value"),
        ({1, 2}, "argument 'x' is not a JSON value"),
    ],
)
async def test_an_argument_that_no_command_line_can_hold_is_refused(value: object, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ToolArgumentsError, match=reason):
        await run("touch ran", ": UTCP_ARG_x_UTCP_END", arguments={"x": value}, working_dir=str(tmp_path))
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("size", [32 * 1024, 32 * 1024 + 1, 200_000, 3_000_000])
async def test_an_argument_of_any_length_reaches_the_shell(size: int) -> None:
    value = ("é" * (size // 2))[: size // 2 - 1] + "\n\n"
    command = "printf '%s' UTCP_ARG_x_UTCP_END | wc -c; printf '%s' UTCP_ARG_x_UTCP_END | tail -c 2 | od -An -c"
    lines = str(await run(command, arguments={"x": value})).split()
    assert lines == [str(len(value.encode())), "\\n", "\\n"]


async def test_several_long_arguments_are_kept_apart_over_several_steps() -> None:
    arguments = {name: name * 50_000 for name in "abc"}
    steps = [f'[[ UTCP_ARG_{name}_UTCP_END == "{name}"* ]] && echo UTCP_ARG_{name}_UTCP_END | wc -c' for name in "abc"]
    assert await run(*map(shown, steps), arguments=arguments) == "50001\n50001\n50001"


async def test_an_argument_too_long_for_the_program_it_is_given_to_is_an_error() -> None:
    with pytest.raises(ToolExecutionError, match="Argument list too long"):
        await run("/bin/echo UTCP_ARG_x_UTCP_END", arguments={"x": "a" * 3_000_000})


async def test_many_arguments_that_are_long_together_reach_the_shell() -> None:
    arguments = {f"x{index}": "v" * 30_000 for index in range(100)}
    command = "printf '%s' " + " ".join(f"UTCP_ARG_{name}_UTCP_END" for name in arguments) + " | wc -c"
    assert await run(command, arguments=arguments) == 3_000_000


SHOW = "show() { printf '<%s>' \"$@\"; }; show"


@pytest.mark.parametrize("given", [{}, {"x_y": None}])
@pytest.mark.parametrize(
    ("command", "present", "absent"),
    [
        ("{show} a --x-y {x} b", "<a><--x-y><v w><b>", "<a><b>"),
        ("{show} a --x-y={x} b", "<a><--x-y=v w><b>", "<a><b>"),
        ("{show} a --limit={x} b", "<a><--limit=v w><b>", "<a><b>"),
        ("{show} a '--x_y={x}' -X-Y \"{x}\" \\\n --xY \\\n '{x}'", "<a><--x_y=v w><-X-Y><v w><--xY><v w>", "<a>"),
        ('{show} "$(show --x-y {x} b)"', "<<--x-y><v w><b>>", "<<b>>"),
        ('{show} "`show --x-y \\"{x}\\" b`"', "<<--x-y><v w><b>>", "<<b>>"),
        ('a=(b --x-y {x}); {show} "${a[@]}"', "<b><--x-y><v w>", "<b>"),
        ("{show} a; trap 'show --x-y {x} b' EXIT", "<a><--x-y><v w><b>", "<a><b>"),
        # Of these nobody knows what they mean without it.
        ("{show} --verbose {x}", "<--verbose><v w>", "<--verbose><>"),
        ("{show} a {x} b", "<a><v w><b>", "<a><><b>"),
        ("{show} --x-y a{x} --x-y={x}/b x-y {x} -- {x}", None, "<--x-y><a><--x-y=/b><x-y><><--><>"),
        ("{show} >/dev/null --x-y >{x} 2>&1 || {show} b", None, "<b>"),
    ],
)
async def test_an_argument_that_is_not_given_is_left_out_with_its_flag_and_empty_elsewhere(
    command: str, present: str | None, absent: str, given: dict[str, Any], tmp_path: Path
) -> None:
    command = command.replace("{show}", SHOW, 1).replace("{show}", "show").replace("{x}", "UTCP_ARG_x_y_UTCP_END")
    if present is not None:
        assert await run(command, arguments={"x_y": "v w"}, working_dir=str(tmp_path)) == present
    assert await run(command, arguments=given, working_dir=str(tmp_path)) == absent
    assert files_in(tmp_path) == []


async def test_an_empty_text_that_is_given_is_no_argument_that_is_not_given() -> None:
    assert await run(f"{SHOW} --x UTCP_ARG_x_UTCP_END", arguments={"x": ""}) == "<--x><>"


async def test_an_argument_that_is_not_given_is_empty() -> None:
    assert await run("printf '<%s>' UTCP_ARG_x_UTCP_END a UTCP_ARG_y_UTCP_END", arguments={"y": 1}) == "<><a><1>"


async def test_an_argument_without_a_placeholder_is_left_out() -> None:
    assert await run("echo UTCP_ARG_x_UTCP_END", arguments={"x": 1, "other": "\0"}) == 1


async def test_a_missing_required_argument_is_refused_before_the_shell(tmp_path: Path) -> None:
    client = await UtcpClient.create(config=UtcpClientConfig())
    protocol = CliProtocol()
    call = template("touch ran", "printf %s UTCP_ARG_a_UTCP_END UTCP_ARG_b_UTCP_END", working_dir=str(tmp_path))
    inputs = JsonSchema.model_validate({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]})
    tool = Tool(name="m.t", description="", inputs=inputs, tool_call_template=call)
    await client.config.tool_repository.save_manual(call, UtcpManual(tools=[tool]))
    with pytest.raises(ToolArgumentsError, match="missing required argument: 'a'"):
        await protocol.call_tool(client, "m.t", {"b": 1}, call)
    assert files_in(tmp_path) == []
    assert await protocol.call_tool(client, "m.t", {"a": "x"}, call) == "x"
    await client.close()


# Results


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        (" [1, 2]\n\n", [1, 2]),
        ('"text"', "text"),
        ("42", 42),
        ("-1.5", -1.5),
        ("true", True),
        ("false", False),
        ("null", None),
        ("\ufeff{}", {}),
        # Numbers that would not survive.
        ("3.10", "3.10"),
        ("1e5", "1e5"),
        ("-0", "-0"),
        ("0042", "0042"),
        ("0.1000000000000000055", "0.1000000000000000055"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        # No JSON.
        ("NaN", "NaN"),
        ("[Infinity]", "[Infinity]"),
        ("{'a': 1}", "{'a': 1}"),
        ("{} {}", "{} {}"),
        ("plain text", "plain text"),
        ("  indented\n\n", "  indented"),
        ("[" * 100_000, "[" * 100_000),
        ("", ""),
    ],
)
async def test_output_that_is_json_is_data_and_other_output_is_text(output: str, value: object) -> None:
    result = await run("printf '%s' UTCP_ARG_x_UTCP_END", arguments={"x": output})
    assert result == value
    assert type(result) is type(value)


async def test_output_that_is_no_utf8_is_replaced() -> None:
    assert await run("printf 'a\\xffb\\xe9'") == "a\ufffdb\ufffd"


async def test_standard_error_alone_is_no_failure_and_not_part_of_the_output() -> None:
    assert await run("echo '{\"a\": 1}'; echo 'a warning' >&2") == {"a": 1}


async def test_standard_error_is_the_reply_where_there_is_no_output() -> None:
    assert await run("echo 'version 17' >&2") == "version 17"
    assert await run(hidden("echo 'a warning' >&2")) == ""


async def test_a_stream_has_one_piece() -> None:
    pieces = [piece async for piece in CliProtocol().call_tool_streaming(None, "m.t", {}, template("echo '[1]'"))]
    assert pieces == [[1]]


# Failures


async def test_a_failure_carries_code_output_and_error() -> None:
    error = await failed("echo partial; echo boom >&2; exit 3")
    assert str(error) == "the command exited with code 3:\nstderr: boom\nstdout: partial"
    assert error.raw == ({"type": "cli_error", "exit_code": 3, "stdout": "partial", "stderr": "boom"},)
    assert pickle.loads(pickle.dumps(error)).raw == error.raw


async def test_a_failure_without_output_says_so() -> None:
    assert str(await failed("false")) == "the command exited with code 1, with no output"


async def test_a_long_output_of_a_failure_is_cut_in_the_message_and_whole_in_raw() -> None:
    error = await failed("seq 100000; seq 100000 >&2; exit 1")
    assert len(str(error)) < 10_000
    assert "99999\n100000" in str(error)
    assert "characters left out" in str(error)
    assert error.raw[0]["stdout"] == error.raw[0]["stderr"] == "\n".join(map(str, range(1, 100_001)))


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("no_such_command", 127, "command not found; is it installed, and on the PATH?"),
        ("/etc/passwd", 126, "a command cannot be run; is it executable?"),
        ("kill -KILL $$", 137, "ended by SIGKILL"),
        ("bash -c 'kill -SEGV $$'; exit $?", 139, "ended by SIGSEGV"),
        ("exit 255", 255, "exited with code 255"),
        ("exit 256", None, ""),
    ],
)
async def test_an_exit_code_is_explained(command: str, code: int | None, words: str) -> None:
    if code is None:
        assert await run(command) == ""
        return
    error = await failed(command)
    assert error.raw[0]["exit_code"] == code
    assert words in str(error)


async def test_a_working_dir_that_does_not_exist_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    with pytest.raises(ToolConfigError, match=f"working_dir '{missing}' cannot be entered: No such file"):
        await run("echo", working_dir=missing)


@pytest.mark.parametrize("fields", [{"env_vars": {"A=B": "1"}}, {"env_vars": {"A": "\0"}}, {"working_dir": "\0"}])
async def test_a_template_that_no_process_can_be_started_with_is_an_error(fields: dict[str, Any]) -> None:
    with pytest.raises(ToolConfigError, match="cannot be handed to a process"):
        await run("echo", **fields)


async def test_a_template_that_is_too_long_for_a_process_is_an_error() -> None:
    with pytest.raises(ToolConfigError, match="Its commands or env_vars are too long"):
        await run("echo", env_vars={"A": "a" * 3_000_000})


async def test_a_template_of_another_protocol_or_without_commands_is_refused() -> None:
    protocol = CliProtocol()
    http = HttpCallTemplate(name="h", url="http://localhost/")
    for refused in (http, template()):
        for call in (
            protocol.call_tool(None, "m.t", {}, refused),
            protocol.fetch_document(refused),
            protocol.register_manual(None, refused),
        ):
            with pytest.raises(ConfigError):
                await call


# Environment


async def test_only_the_allowed_part_of_the_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "sk-live")
    monkeypatch.setenv("LANG", "C.UTF-8")
    print_all = "env | sed 's/=.*//' | grep -v -e ^_$ -e ^PWD$ -e ^SHLVL$ -e ^OLDPWD$ | sort"
    # GHSA-5v57-8rxj-3p2r
    allowed = {"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "USER", "LOGNAME", "SHELL", "TZ", "TERM"}
    names = set(str(await run(print_all)).split())
    assert {"PATH", "LANG"} <= names <= allowed
    assert "sk-live" not in str(await run("env; set"))
    assert await run(
        'echo "$SECRET_TOKEN $PATH"', inherit_env_vars=["SECRET_TOKEN", "PATH"], env_vars={"PATH": "/bin"}
    ) == ("sk-live /bin")
    assert await run('[ -z "$HOME" ] && /bin/echo none', inherit_env_vars=[]) == "none"


async def test_steps_work_in_an_empty_environment() -> None:
    assert await run("cd /usr", 'echo "$CMD_0_OUTPUT$PWD"', inherit_env_vars=[]) == "/usr"


async def test_variables_of_the_template_reach_every_step() -> None:
    assert await run("true", 'echo "$GREETING"', env_vars={"GREETING": "grüß  dich"}) == "grüß  dich"


async def test_an_inherited_value_that_is_no_utf8_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD", os.fsdecode(b"\xff"))
    assert await run("printf '%s' \"$ODD\" | od -An -tx1", inherit_env_vars=["ODD", "PATH"]) == " ff"


# Cancelled


async def left_behind(*steps: Step, wait_for: Path, caller: Any = None) -> list[Begun]:
    """What is known of a call that is cancelled when a command has made a file."""
    with noticing() as begun:
        task = asyncio.create_task(CliProtocol().call_tool(caller, "m.t", {}, template(*steps)))
        async with asyncio.timeout(10):
            while not files_in(wait_for.parent):  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    return begun


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (["echo started; touch {file}; sleep 60"], "started"),
        (["echo out; echo waiting for a lock >&2; touch {file}; sleep 60"], "stdout: out\nstderr: waiting for a lock"),
        (["echo waiting >&2; touch {file}; sleep 60"], "stderr: waiting"),
        (["echo one", "echo two; touch {file}; sleep 60", "echo three"], "two"),
        ([CommandStep(command="echo one", append_to_final_output=True), "touch {file}; sleep 60"], "one"),
        (["sleep 60 & echo started; touch {file}"], f"started\n{HELD.format(0)}"),
        (["sleep 60 & touch {file}; exit 3"], HELD.format(3)),
    ],
)
async def test_what_a_cancelled_command_had_written_is_not_lost(steps: list[Step], text: str, tmp_path: Path) -> None:
    file = tmp_path / "begun"
    filled = [step.replace("{file}", str(file)) if isinstance(step, str) else step for step in steps]
    (begun,) = await left_behind(*filled, wait_for=file)
    assert begun.whole() == text
    assert begun.pieces == (text,)
    assert 0.04 < time.monotonic() - begun.latest < 10


async def test_a_cancelled_command_that_had_written_nothing_has_begun_no_reply(tmp_path: Path) -> None:
    file = tmp_path / "begun"
    assert await left_behind(f"touch {file}; sleep 60", wait_for=file) == []


async def test_what_post_processors_have_not_seen_is_not_shown(tmp_path: Path) -> None:
    config = UtcpClientConfig.model_validate(
        {"post_processing": [{"tool_post_processor_type": "limit_strings", "limit": 3}]}
    )
    client = await UtcpClient.create(config=config)
    file = tmp_path / "begun"
    assert await left_behind(f"echo started; touch {file}; sleep 60", wait_for=file, caller=client) == []
    await client.close()


def test_a_call_that_ends_at_its_time_limit_tells_what_its_command_had_written() -> None:
    command = 'echo 42 done; echo "$TOKEN"; sleep 60 & true'
    call = {"call_template_type": "cli", "commands": [{"command": command}], "env_vars": {"TOKEN": "${TOKEN}"}}
    manual = {
        "name": "m",
        "call_template_type": "text",
        "allowed_communication_protocols": ["cli"],
        "content": {"tools": [{"name": "t", "inputs": {"type": "object"}, "tool_call_template": call}]},
    }
    source = {"manual_call_templates": [manual], "variables": {"m_TOKEN": "sk-live-0123456789"}}
    with Toolset.open(source, timeout=0.5) as toolset:
        result = toolset.call("m_t", {})
    assert result.is_error
    assert "within 0.5 seconds" in result.content
    written = f"42 done\n***\n{HELD.format(0)}"
    assert result.content.endswith(written)
    assert result.raw[-1] == {"type": "text", "text": written}


# Discovery

MANUAL = {
    "utcp_version": "1.0.0",
    "manual_version": "1.0.0",
    "tools": [
        {
            "name": "hello",
            "description": "Greets.",
            "inputs": {"type": "object", "properties": {"name": {"type": "string"}}},
            "outputs": {"type": "string"},
            "tool_call_template": {"call_template_type": "cli", "commands": [{"command": "echo hi"}]},
        }
    ],
}


def printing(text: str) -> str:
    return f"cat <<'END_OF_MANUAL'\n{text}\nEND_OF_MANUAL"


@pytest.mark.parametrize(
    "command",
    [
        printing(json.dumps(MANUAL)),
        printing(json.dumps(MANUAL, indent=2)),
        printing("\ufeff" + json.dumps(MANUAL)),
        printing("starting {...}\n" + json.dumps(MANUAL, indent=2) + "\ndone"),
        "echo noise >&2; " + printing(json.dumps(MANUAL)),
    ],
)
async def test_discovery_returns_the_manual_that_the_command_prints(command: str) -> None:
    assert await CliProtocol().fetch_document(template("cd /", command)) == MANUAL
    result = await CliProtocol().register_manual(None, template(command))
    assert result.success
    assert [tool.name for tool in result.manual.tools] == ["hello"]


async def test_tools_that_are_printed_one_by_one_are_a_manual() -> None:
    tools = [{"name": name, "description": ""} for name in "ab"]
    command = printing("\n".join(["log line", *map(json.dumps, tools)]))
    assert await CliProtocol().fetch_document(template(command)) == {"tools": tools}


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (
            ["my-cli-tool"],
            ["the discovery command exited with code 127 (command not found;", "my-cli-tool: command not"],
        ),
        (["echo '{\"tools\": []}'; echo denied >&2; exit 5"], ["exited with code 5", "stderr: denied"]),
        (["true", "exit 2"], ["the discovery command, step 2 of 2, exited with code 2"]),
        (
            ["echo Usage: tool; echo hint >&2"],
            ["exited with code 0, but did not print a manual in JSON", "Usage", "hint"],
        ),
        (["true"], ["exited with code 0, but did not print a manual in JSON, with no output"]),
        (["echo hint >&2"], ["exited with code 0, but did not print a manual in JSON:\nstderr: hint"]),
        (["echo; echo Usage"], ["exited with code 0, but did not print a manual in JSON:\nstdout: "]),
        (["echo '{\"tools\": [],}'"], ["did not print a manual in JSON (", "at line 1, column", "remove the comma"]),
        (["printf '[%.0s' {1..100000}"], ["nested too deeply"]),
    ],
)
async def test_a_discovery_that_fails_says_why(steps: list[Step], words: list[str]) -> None:
    with pytest.raises(ToolExecutionError) as caught:
        await CliProtocol().fetch_document(template(*steps))
    for expected in words:
        assert expected in str(caught.value)
    result = await CliProtocol().register_manual(None, template(*steps))
    assert not result.success
    assert words[0] in result.errors[0]


async def test_a_document_that_is_no_manual_is_told_apart_from_no_document() -> None:
    assert await CliProtocol().fetch_document(template("echo '[1]'")) == [1]
    result = await CliProtocol().register_manual(None, template("echo '[1]'"))
    assert not result.success
    assert "not a UTCP manual" in result.errors[0]


# UTCP 0.x


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ""),
        ({"text": "a b; $(id)", "n": 5}, "<--text><a b; $(id)><--n><5>"),
        ({"loud": True, "quiet": False}, "<--loud>"),
        ({"file": ["x", "y z"], "none": None}, "<--file><x><--file><y z>"),
        ({"it's": 'say "hi"\n'}, '<--it\'s><say "hi"\n>'),
    ],
)
async def test_a_tool_of_utcp_0_gets_its_arguments_as_flags(arguments: dict[str, Any], words: str) -> None:
    show = """show() { for word in "$@"; do printf '<%s>' "$word"; done; }; show"""
    assert await run(f"{show} {ALL_ARGUMENTS}", arguments=arguments) == words
