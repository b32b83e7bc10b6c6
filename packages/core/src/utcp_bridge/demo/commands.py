"""The demo's command-line tools: `python -m utcp_bridge.demo.commands manual | count_words TEXT`."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any


def manual() -> dict[str, Any]:
    """The UTCP manual of these tools."""
    command = f"{shlex.quote(sys.executable)} -m utcp_bridge.demo.commands"
    return {
        "manual_version": "1.0.0",
        "utcp_version": "1.0.1",
        "tools": [
            {
                "name": "count_words",
                "description": "Count the words of a text.",
                "tags": ["text"],
                "inputs": {
                    "type": "object",
                    "properties": {"text": {"type": "string", "description": "The text to count"}},
                    "required": ["text"],
                },
                "tool_call_template": {
                    "call_template_type": "cli",
                    "commands": [{"command": f"{command} count_words UTCP_ARG_text_UTCP_END"}],
                },
            }
        ],
    }


def call_template(name: str) -> dict[str, Any]:
    """The manual call template that loads these tools as the manual `name`."""
    command = f"{shlex.quote(sys.executable)} -m utcp_bridge.demo.commands manual"
    return {"name": name, "call_template_type": "cli", "commands": [{"command": command}]}


def main(arguments: list[str]) -> int:
    """Run one of the tools; returns the exit code."""
    match arguments:
        case ["manual"]:
            reply: Any = manual()
        case ["count_words", text]:
            reply = {"words": len(text.split())}
        case _:
            sys.stderr.write("usage: manual | count_words TEXT\n")
            return 2
    sys.stdout.write(json.dumps(reply) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
