"""Ask an OVOS persona with UTCP tools, without the rest of OVOS.

python examples/ovos_agent.py examples/ovos_persona.json "What is the weather in Paris?"

It needs `pip install "ovos-utcp-toolbox[agents]"`, and the model and the tool server that the persona names.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ovos_bus_client.session import Session
from ovos_persona import Persona
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole


def ask(persona_config: dict[str, Any], question: str) -> str | None:
    """The persona's answer, or None if it has none."""
    persona = Persona(persona_config["name"], persona_config)
    try:
        return persona.chat([AgentMessage(MessageRole.USER, question)], Session())
    finally:
        for loop in persona.solvers.loaded_modules.values():
            for toolbox in loop.toolboxes:
                toolbox.shutdown()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    path, question = sys.argv[1:]
    sys.stdout.write(f"{ask(json.loads(Path(path).read_text(encoding='utf-8')), question)}\n")
