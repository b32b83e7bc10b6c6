"""One call of a command-line tool, against `bash -c` of the same command."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator

from benchmarks.figures import Figure, cost
from benchmarks.measuring import Effort, awaited, in_turns, repeated
from benchmarks.own_interpreter import Unavailable
from utcp_bridge import Toolset

_SUBJECT = "One call of a command"
_CASES = {"a builtin of the shell": "echo UTCP_ARG_text_UTCP_END", "a program": "/bin/cat UTCP_ARG_text_UTCP_END"}


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure `acall` and `call`, with a command of the shell's own and with a program."""
    bash = shutil.which("bash")
    if bash is None:
        raise Unavailable("there is no bash")
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

            async def bare(command: list[str] = command) -> None:
                process = await asyncio.create_subprocess_exec(*command, stdin=-3, stdout=-1, stderr=-1)
                await process.communicate()

            sides = {
                "ours": awaited(loop, lambda name=name, arguments=arguments: on_loop.acall(name, arguments)),
                "`bash -c`": awaited(loop, bare),
            }
            rounds = in_turns(sides, rounds=effort.rounds, calls=max(effort.calls // 5, 1))
            yield cost(_SUBJECT, f"{case}, `acall`", rounds, "ours", "`bash -c`", at_most=1.2)
            blocking = {
                "ours": repeated(lambda name=name, arguments=arguments: toolset.call(name, arguments)),
                "`bash -c`": repeated(
                    lambda command=command: subprocess.run(  # noqa: S603 - the command of this benchmark
                        command, stdin=subprocess.DEVNULL, capture_output=True, check=False
                    )
                ),
            }
            rounds = in_turns(blocking, rounds=effort.rounds, calls=max(effort.calls // 5, 1))
            yield cost(_SUBJECT, f"{case}, `call`", rounds, "ours", "`bash -c`", at_most=1.2)
    loop.run_until_complete(on_loop.aclose())
    loop.close()


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
