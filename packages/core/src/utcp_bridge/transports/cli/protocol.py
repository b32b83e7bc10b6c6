"""UTCP's CLI protocol, kept to what UTCP documents; only our own client uses it.

Upstream: https://github.com/universal-tool-calling-protocol/python-utcp (utcp-cli 1.1.5), and the protocol's page,
https://www.utcp.io/protocols/cli. What differs from utcp-cli 1.1.5, and why:

- The commands of a template run in one shell, so `cd` and variables last; there, each runs in a subshell.
- A command that fails ends the run, and the call is an error with its exit code, standard output and standard error.
  There, the commands after it run on, where `cd` may have failed, and the call succeeds. A command whose failure is
  fine ends in `|| true`.
- Standard error is not mixed into the output; it is the reply only where a command wrote nothing else.
- Values are one literal word wherever their placeholder stands (see `placeholders`). An optional argument that is not
  given is left out with its flag, and is empty text elsewhere; there, it is the text `MISSING_ARG_name`.
- No time limits: whoever calls cancels, and all processes end.

On Windows scripts run in PowerShell, by upstream's own code.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from utcp.data.call_template import CallTemplate
from utcp.data.register_manual_response import RegisterManualResult
from utcp.data.utcp_manual import UtcpManual
from utcp_cli.cli_call_template import CliCallTemplate, CommandStep
from utcp_cli.cli_communication_protocol import CliCommunicationProtocol

from utcp_bridge.errors import ConfigError, ToolArgumentsError, ToolCallError, ToolConfigError, ToolExecutionError
from utcp_bridge.transports.begun import note_begun
from utcp_bridge.transports.cli.output import (
    Written,
    chosen,
    failure,
    manual_document,
    reply,
    text_of,
    unfinished,
    with_outputs,
)
from utcp_bridge.transports.cli.script import argument_names, argument_text, build_script, substitute, with_flags

DEFAULT_MAX_OUTPUT = 16 * 1024 * 1024
_WINDOWS = os.name == "nt"


class CliProtocol(CliCommunicationProtocol):
    """Runs the commands of CLI templates.

    Keeps no state between calls, so that any loop in any thread may use it.

    Args:
        max_output: The most bytes of standard output and standard error together; a command that writes more is
            ended, and the call is an error. Default 16 MiB.
    """

    def __init__(self, max_output: int = DEFAULT_MAX_OUTPUT) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._max_output = max_output

    async def call_tool(
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> Any:
        """Run the commands of a tool.

        Args:
            caller: The client; asked for the tool's schema when an argument with a placeholder is not given.
            tool_name: The UTCP name of the tool.
            tool_args: The arguments; optional ones that are not given are left out with their flag, such as `--name`
                before the placeholder of `name`, and are empty text elsewhere.
            tool_call_template: A `CliCallTemplate`.

        Returns:
            The outputs of the selected commands: data if they are JSON, else text without the newlines at its end.
            Where they wrote nothing, what they wrote to standard error.

        Raises:
            ToolArgumentsError: A required argument is missing, or one cannot be put on a command line.
            ToolExecutionError: A command exited with another code than 0, or wrote too much; `raw` holds one block,
                `{"type": "cli_error", "exit_code": 3, "stdout": ..., "stderr": ...}`, and the index of the failed
                command as `step` where there are several.
            ToolConfigError: There is no bash, or its folder or environment cannot be used.
            ConfigError: The template is none of this protocol, or has no commands.

        Where it is cancelled, what the commands had written is noted as a reply that was begun.
        """
        template = _cli_template(tool_call_template)
        commands, texts = with_flags([step.command for step in template.commands], tool_args)
        template = _with_commands(template, commands)
        names = [name for name in argument_names(commands) if name not in texts]
        absent = [name for name in names if name not in tool_args]
        if absent:
            await _refuse_missing(caller, tool_name, absent)
        given = {name: argument_text(name, tool_args.get(name)) for name in names}
        stdout, stderr = await self._run(template, {**texts, **given}, subject="the command", caller=caller)
        return reply(stdout) if stdout else text_of(stderr)

    async def fetch_document(self, template: CallTemplate) -> Any:
        """Run the commands of a manual call template and return the manual document that they print, as JSON value.

        Raises:
            ToolExecutionError: A command failed, or what it printed is no manual in JSON.
            ToolConfigError: There is no bash, or its folder or environment cannot be used.
            ConfigError: The template is none of this protocol, or has no commands.
        """
        cli_template = _cli_template(template)
        names = argument_names(step.command for step in cli_template.commands)
        subject = "the discovery command"
        stdout, stderr = await self._run(cli_template, dict.fromkeys(names), subject=subject)
        try:
            return manual_document(stdout)
        except ValueError as error:
            problem = f"{subject} exited with code 0, but did not print a manual in JSON"
            problem += f" ({error})" if str(error) else ""
            errors = text_of(stderr)
            block = {"type": "cli_error", "exit_code": 0, "stdout": stdout, "stderr": errors}
            raise ToolExecutionError(with_outputs(problem, stdout, errors), raw=[block]) from error

    async def register_manual(self, caller: Any, manual_call_template: CallTemplate) -> RegisterManualResult:
        """As upstream's, with the commands run as `fetch_document` does."""
        template = _cli_template(manual_call_template)
        manual, errors = None, []
        try:
            document = await self.fetch_document(template)
            manual = self._extract_utcp_manual_from_output(json.dumps(document), template.name)
            if manual is None:
                errors = [f"{template.name!r}: what the discovery command printed is not a UTCP manual"]
        except ToolCallError as error:
            errors = [f"{template.name!r}: {error}"]
        return RegisterManualResult(
            success=manual is not None,
            manual_call_template=template,
            manual=manual or UtcpManual(manual_version="0.0.0", tools=[]),
            errors=errors,
        )

    async def _run(
        self, template: CliCallTemplate, texts: Mapping[str, str | None], *, subject: str, caller: Any = None
    ) -> tuple[str, bytes]:
        if _WINDOWS:
            return await self._run_in_powershell(template, texts, subject)
        from utcp_bridge.transports.cli.shell import OutputTooLargeError, Unfinished, run_shell  # not for Windows

        commands = [step.command for step in template.commands]
        script = build_script(commands, texts, self._make_nonce())
        environment = {**self._prepare_environment(template), **script.environment}
        selected = _selected(template.commands)
        shell = _bash()

        def tell(left: Unfinished) -> None:
            selected[len(left.outputs) - 1] = True
            text = unfinished(left.exit_code, chosen(left.outputs, selected), text_of(left.stderr))
            if text:
                note_begun(Written((text,), left.latest), caller)

        try:
            finished = await run_shell(
                script,
                shell=shell,
                environment=_encoded(environment),
                working_dir=template.working_dir,
                max_output=self._max_output,
                tell=tell,
            )
        except OutputTooLargeError as error:
            stdout, stderr = chosen(error.outputs, selected), text_of(error.stderr)
            block = {"type": "cli_error", "exit_code": None, "stdout": stdout, "stderr": stderr}
            sentence = f"{subject} wrote more than {self._max_output:,} bytes and was stopped; ask it for less"
            raise ToolExecutionError(with_outputs(sentence, stdout, stderr), raw=[block]) from error
        except (OSError, ValueError) as error:
            raise _not_started(error, template) from error
        if finished.exit_code:
            failed = len(finished.outputs) - 1
            selected[failed] = True
            raise failure(
                finished.exit_code,
                stdout=chosen(finished.outputs, selected),
                stderr=text_of(finished.stderr),
                step=failed,
                steps=len(commands),
                subject=subject,
            )
        return chosen(finished.outputs, selected), finished.stderr if any(selected) else b""

    async def _run_in_powershell(
        self, template: CliCallTemplate, texts: Mapping[str, str | None], subject: str
    ) -> tuple[str, bytes]:
        given = {name: text or "" for name, text in texts.items()}
        script, added = super()._build_combined_shell_script(template.commands, given)
        environment = {**self._prepare_environment(template), **added}
        stdout, stderr, exit_code = await self._execute_shell_script(
            script,
            environment,
            timeout=None,  # type: ignore[arg-type]  # asyncio.wait_for takes it: no limit
            working_dir=template.working_dir,
        )
        if exit_code:
            raise failure(exit_code, stdout=stdout, stderr=stderr, subject=subject)
        return stdout.rstrip("\r\n"), stderr.encode()

    # Upstream's own names of these two, for its tests and for who calls them.

    def _substitute_bash(self, command: str, tool_args: dict[str, Any], nonce: str) -> tuple[str, dict[str, str]]:
        def text_of_argument(name: str) -> str | None:
            return argument_text(name, tool_args[name]) if name in tool_args else f"MISSING_ARG_{name}"

        return substitute(command, text_of_argument, nonce)

    def _build_combined_shell_script(
        self, commands: list[CommandStep], tool_args: dict[str, Any]
    ) -> tuple[str, dict[str, str]]:
        if _WINDOWS:
            return super()._build_combined_shell_script(commands, tool_args)
        lines = [step.command for step in commands]
        texts = {name: argument_text(name, tool_args.get(name)) for name in argument_names(lines)}
        script = build_script(lines, texts, self._make_nonce())
        return script.source(100, range(101, 101 + script.pipes)), script.environment


def _cli_template(template: object) -> CliCallTemplate:
    if not isinstance(template, CliCallTemplate):
        raise ConfigError(f"the CLI protocol needs a call template of type 'cli', not {type(template).__name__}")
    if not template.commands:
        raise ConfigError(f"the CLI call template {template.name!r} needs at least one entry in 'commands'")
    return template


def _with_commands(template: CliCallTemplate, commands: Sequence[str]) -> CliCallTemplate:
    if commands == [step.command for step in template.commands]:
        return template
    steps = zip(template.commands, commands, strict=True)
    return template.model_copy(
        update={"commands": [step.model_copy(update={"command": command}) for step, command in steps]}
    )


async def _refuse_missing(caller: Any, tool_name: str, absent: Sequence[str]) -> None:
    repository = getattr(getattr(caller, "config", None), "tool_repository", None)
    tool = await repository.get_tool(tool_name) if repository is not None else None
    required = (tool.inputs.required if tool is not None else None) or ()
    missing = [repr(name) for name in absent if name in required]
    if missing:
        raise ToolArgumentsError(f"missing required argument{'s' * (len(missing) > 1)}: {', '.join(missing)}")


def _selected(steps: Sequence[CommandStep]) -> list[bool]:
    last = len(steps) - 1
    return [
        index == last if step.append_to_final_output is None else step.append_to_final_output
        for index, step in enumerate(steps)
    ]


@functools.cache
def _bash() -> str:
    # Upstream's path first; NixOS and the BSDs have it elsewhere.
    found = "/bin/bash" if Path("/bin/bash").exists() else shutil.which("bash")
    if found is None:
        raise ToolConfigError("It needs bash, which is not installed here; install it.")
    return found


def _encoded(environment: Mapping[str, str]) -> dict[bytes, bytes]:
    # What comes from this process may hold bytes that are no UTF-8, as `os.environ` keeps them.
    return {os.fsencode(name): value.encode("utf-8", "surrogateescape") for name, value in environment.items()}


def _not_started(error: OSError | ValueError, template: CliCallTemplate) -> ToolCallError:
    if not isinstance(error, OSError):
        # A NUL character, or a `=` in the name of a variable.
        return ToolConfigError(f"Its commands, env_vars or working_dir cannot be handed to a process: {error}.")
    if error.errno == errno.E2BIG:
        return ToolConfigError("Its commands or env_vars are too long for a process to be started with.")
    if template.working_dir and error.filename == template.working_dir:
        return ToolConfigError(f"Its working_dir {template.working_dir!r} cannot be entered: {error.strerror}.")
    return ToolExecutionError(f"its shell could not be started: {error.strerror or error}")
