"""Names of manuals: UTCP's own rule for given ones, and stable ones for templates without a name."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

_LONGEST = 40
_HASH_LENGTH = 6
_INTERPRETER = re.compile(r"(?:python|pypy|node|deno|bun|ruby|perl|bash|sh|zsh|uv|uvx|npx|pipx|run|env)[\d.]*")
# What tells two templates apart, without what may be rotated, such as credentials.
_IDENTITY = (
    "call_template_type",
    "url",
    "http_method",
    "commands",
    "working_dir",
    "file_path",
    "content",
    "host",
    "port",
)


def utcp_manual_name(name: str) -> str:
    """The name that UTCP registers a manual under (utcp 1.2.0, `_sanitize_manual_name`)."""
    return re.sub(r"[^\w]", "_", name)


def manual_names(templates: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Name templates.

    A given name is kept as UTCP registers it. A template without one is named by its host, file or command;
    where several would get the same, each of them ends in a short hash of its own address instead, so that
    neither their order nor a change of credentials renames one.

    Args:
        templates: Call templates; `name` is missing, null or a text.

    Returns:
        A name for each template, in order; None for one whose name an earlier one has.
    """
    given = [utcp_manual_name(template["name"]) if template.get("name") else None for template in templates]
    derived = [None if name else _derived_name(template) for name, template in zip(given, templates, strict=True)]
    crowded = Counter(name for name in (*set(given), *derived) if name is not None)
    taken: set[str] = set()
    names: list[str | None] = []
    for own, fallback, template in zip(given, derived, templates, strict=True):
        name = own or fallback or ""
        if own is None and crowded[name] > 1:
            name = f"{name}_{_identity_hash(template)}"
        names.append(None if name in taken else name)
        taken.add(name)
    return names


def _derived_name(template: Mapping[str, Any]) -> str:
    slug = re.sub(r"[^\w]+", "_", _address(template)).strip("_")[:_LONGEST].strip("_")
    return slug or str(template.get("call_template_type", "manual"))


def _address(template: Mapping[str, Any]) -> str:
    for key, read in (("url", _host), ("signaling_server", _host), ("file_path", _stem), ("host", str)):
        if isinstance(template.get(key), str):
            return read(template[key])
    commands, config = template.get("commands"), template.get("config")
    if isinstance(commands, list) and commands and isinstance(commands[0], Mapping):
        return _program(str(commands[0].get("command", "")))
    if isinstance(config, Mapping) and isinstance(config.get("mcpServers"), Mapping):
        return "_".join(str(name) for name in config["mcpServers"])
    return ""


def _host(url: str) -> str:
    try:
        return urlsplit(url if "://" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""


def _stem(path: str) -> str:
    return PurePath(path.replace("\\", "/")).stem


def _program(command: str) -> str:
    """The program that a command runs: `my-tool` of `/usr/bin/my-tool --utcp`, `tools` of `python3 tools.py`."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    stems = [_stem(word) for word in words if not word.startswith("-") and "=" not in word]
    return next((stem for stem in stems if not _INTERPRETER.fullmatch(stem)), stems[0] if stems else "")


def _identity_hash(template: Mapping[str, Any]) -> str:
    identity = {key: template[key] for key in _IDENTITY if key in template}
    text = json.dumps(identity, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_LENGTH]
