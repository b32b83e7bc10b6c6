"""One call of a command-line tool, against `bash -c` of the same command."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator
from functools import partial

from benchmarks.figures import Figure, cost
from benchmarks.measuring import Effort, awaited, in_turns, repeated
from benchmarks.own_interpreter import UnavailableError
from utcp_bridge import Toolset

_SUBJECT = "One call of a command"
_BARE = "`bash -c`"
_CASES = {"a builtin of the shell": "echo UTCP_ARG_text_UTCP_END", "a program": "/bin/cat UTCP_ARG_text_UTCP_END"}


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure `acall` and `call`, with a command of the shell's own and with a program."""
    bash = shutil.which("bash")
    if bash is None:
        raise UnavailableError("there is no bash")
    tools = [_tool(f"tool_{index}", command) for index, command in enumerate(_CASES.values())]
    source = {"manual_call_templates": [_manual(tools)]}
    loop = asyncio.new_event_loop()
    on_loop = loop.run_until_complete(Toolset.aopen(source))
    with Toolset.open(source) as toolset:
        for index, (case, template) in enumerate(_CASES.items()):
            name = f"m_tool_{index}"
            command = [bash, "-c", template.replace("UTCP_ARG_text_UTCP_END", "/dev/null")]
            arguments = {"text": "/dev/null"}
            if toolset.call(name, arguments).is_error:
                raise RuntimeError(f"the tool does not work: {toolset.call(name, arguments).content}")

            sides = {
                "ours": awaited(loop, partial(on_loop.acall, name, arguments)),
                _BARE: awaited(loop, partial(_bash, command)),
            }
            rounds = in_turns(sides, rounds=effort.rounds, calls=max(effort.calls // 5, 1))
            yield cost(_SUBJECT, f"{case}, `acall`", rounds, "ours", _BARE, at_most=1.2)
            run = partial(subprocess.run, command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            blocking = {"ours": repeated(partial(toolset.call, name, arguments)), _BARE: repeated(run)}
            rounds = in_turns(blocking, rounds=effort.rounds, calls=max(effort.calls // 5, 1))
            yield cost(_SUBJECT, f"{case}, `call`", rounds, "ours", _BARE, at_most=1.2)
    loop.run_until_complete(on_loop.aclose())
    loop.close()


async def _bash(command: list[str]) -> None:
    process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    await process.communicate()


def _tool(name: str, command: str) -> dict[str, object]:
    return {
        "name": name,
        "description": "Runs a command",
        "inputs": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "tool_call_template": {"call_template_type": "cli", "commands": [{"command": command}]},
    }


def _manual(tools: list[dict[str, object]]) -> dict[str, object]:
    document = {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": tools}
    return {
        "name": "m",
        "call_template_type": "text",
        "content": document,
        "allowed_communication_protocols": ["cli"],
    }
