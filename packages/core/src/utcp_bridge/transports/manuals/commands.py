"""Commands of call templates whose arguments are spelled other than UTCP does (`UTCP_ARG_name_UTCP_END`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utcp_bridge.config.legacy import ALL_ARGUMENTS
from utcp_bridge.transports.manuals.placeholders import Placeholders
from utcp_bridge.transports.variables import shell_names

_OWN_SPELLING = "UTCP_ARG_"


def placed_commands(fields: dict[str, Any], places: Placeholders) -> dict[str, Any]:
    """The template with UTCP's own placeholders in its commands.

    `${name}` stays the shell's where the template or an earlier command gives it a value. `{name}`, which programs such
    as awk and jq have uses for, counts only where UTCP's own spelling stands nowhere. A working directory that is an
    argument becomes a `cd` before the first command.
    """
    commands = fields.get("commands")
    if not isinstance(commands, list) or not all(isinstance(step, Mapping) for step in commands):
        return fields
    texts = [step.get("command") for step in commands]
    if not all(isinstance(text, str) for text in texts):
        return fields
    own = shell_names(fields)
    arguments = replace(places.arguments, names=places.arguments.names - own)
    inside = Placeholders(arguments, places.is_variable, places.variables)
    is_plain = not any(_OWN_SPELLING in text for text in texts)
    written = [inside.replaced(text, _placeholder, single=is_plain) for text in texts]
    folder = fields.get("working_dir")
    placed = places.replaced(folder, _placeholder) if isinstance(folder, str) else ""
    if placed and placed != folder:
        # Within double quotes the shell fills in what stands there, and splits nothing.
        written[0] = f'cd -- "{_escaped(placed)}" || exit\n{written[0]}'
        fields = {**fields, "working_dir": None}
    if written != texts:
        # Who writes out where arguments go does not want them as flags besides.
        written = [text.removesuffix(f" {ALL_ARGUMENTS}") for text in written]
    if written == texts:
        return fields
    steps = [{**step, "command": text} for step, text in zip(commands, written, strict=True)]
    return {**fields, "commands": steps}


def _placeholder(argument: str) -> str:
    return f"UTCP_ARG_{argument}_UTCP_END"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
