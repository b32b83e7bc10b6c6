"""Manual call templates that tests hand to a toolset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def text_manual(name: str, tools: Sequence[Mapping[str, Any]], *protocols: str) -> dict[str, Any]:
    """A manual given as text, whose tools may speak these protocols."""
    document = {"manual_version": "1.0.0", "utcp_version": "1.0.1", "tools": list(tools)}
    return {
        "name": name,
        "call_template_type": "text",
        "content": json.dumps(document),
        "allowed_communication_protocols": list(protocols),
    }


def http_tool(name: str, url: str, properties: Mapping[str, Any] | None = None, **template: Any) -> dict[str, Any]:
    """A tool that is called by HTTP GET, unless the template says otherwise."""
    return {
        "name": name,
        "description": f"Calls {name}.",
        "inputs": {"type": "object", "properties": dict(properties or {})},
        "tool_call_template": {"call_template_type": "http", "url": url, "http_method": "GET", **template},
    }


def cli_tool(name: str, *commands: str, properties: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A tool that runs these commands."""
    return {
        "name": name,
        "description": f"Runs {name}.",
        "inputs": {"type": "object", "properties": dict(properties or {})},
        "tool_call_template": {
            "call_template_type": "cli",
            "commands": [{"command": command} for command in commands],
        },
    }


def config(*manuals: Mapping[str, Any], **rest: Any) -> dict[str, Any]:
    """A UTCP client configuration of these manuals."""
    return {"manual_call_templates": [dict(manual) for manual in manuals], **rest}


def broken_manuals(malformed_url: str) -> list[dict[str, Any]]:
    """A dead server, an undefined variable, and a manual that is no manual."""
    # Port 9 is the discard service, which nobody runs: the connection is refused at once.
    dead = {"name": "dead", "call_template_type": "http", "url": "http://127.0.0.1:9/utcp", "http_method": "GET"}
    undefined = {**dead, "name": "my_api", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    malformed = {**dead, "name": "malformed", "url": malformed_url}
    return [dead, undefined, malformed]
