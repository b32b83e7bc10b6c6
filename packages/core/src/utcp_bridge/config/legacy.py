"""UTCP 0.x (and 1.0) ways of writing a call template, put into the form of UTCP 1.1.

Field names are those of python-utcp 0.2 (`src/utcp/shared/provider.py`, `auth.py`), of the UTCP 0.1
specification and of `utcp-cli`/`utcp-text` 1.0. A template that is written as UTCP 1.1 wants it comes out
equal to what went in, which is how callers tell whether anything was translated.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from utcp_bridge.config.credentials import credentials

ALL_ARGUMENTS = "UTCP_ALL_ARGS_AS_FLAGS"
"""Stands in a translated command for all arguments, written as `arguments_as_flags` writes them.

UTCP 1.1 has only placeholders for single arguments; UTCP 0.x and `utcp-cli` 1.0 appended every argument
that was given. Upstream's placeholder pattern (`UTCP_ARG_name_UTCP_END`) does not match this word.
"""

FILE_MANUAL_PROTOCOLS = ("file", "text", "http", "sse", "streamable_http")
"""What the tools of a local manual file may use when its source cannot say so.

UTCP before 1.1 allowed everything. Since 1.1 a manual may bring only tools of its own type, which leaves a
file with none. What starts programs (`cli`, `mcp`) still has to be allowed by name.
"""

_TYPE_KEYS = ("call_template_type", "provider_type", "transport_type", "type")

KNOWN_TYPES = frozenset(
    {
        "cli",
        "file",
        "gnmi",
        "graphql",
        "grpc",
        "http",
        "mcp",
        "sse",
        "streamable_http",
        "tcp",
        "text",
        "udp",
        "webrtc",
        "websocket",
    }
)
_RENAMED_TYPES = {"http_stream": "streamable_http", "streamablehttp": "streamable_http", "gql": "graphql"}

_HTTP_TYPES = frozenset({"http", "sse", "streamable_http", "graphql"})
_HTTP_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_TO_TRANSLATE = frozenset({"method", "auth", "auth_tools"})
QUERY_KEYS = ("query_params", "query_parameters", "queryParams", "params")
"""Names under which the query of a request is written as an object; UTCP's documents have `query_params`."""

_VARIABLE = r"\$\{[a-zA-Z0-9_]+\}|\$[a-zA-Z0-9_]+"  # utcp 1.2.0, DefaultVariableSubstitutor.substitute


def tool_call_template_from_provider(provider: Mapping[str, Any]) -> dict[str, Any]:
    """Translate what a tool of a manual carries under `tool_provider` into a `tool_call_template`.

    The same serves the other names that tools use for it: `provider` (UTCP 0.1), `tool_transport`, and a
    `tool_call_template` in an older spelling. A command-line tool gets `ALL_ARGUMENTS` after its command,
    unless the command has placeholders of its own.

    Args:
        provider: The object; it is not changed.

    Returns:
        A new call template. What has no translation is kept as it is, so that UTCP itself names it.
    """
    template = translated_template(provider)
    commands = template.get("commands")
    if template.get("call_template_type") == "cli" and "commands" not in provider and commands:
        command = commands[0]["command"]
        if "UTCP_ARG_" not in command:
            commands[0]["command"] = f"{command} {ALL_ARGUMENTS}"
    return template


def manual_call_template_from_provider(provider: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an entry of a client configuration; see `tool_call_template_from_provider`.

    A manual takes no arguments, so its `query_params` become part of the URL. A `text` provider with a `file_path`
    becomes a `file` template whose tools may use what `FILE_MANUAL_PROTOCOLS` lists, because nothing else could be
    said before UTCP 1.1.
    """
    template = translated_template(provider)
    if template.get("call_template_type") in _HTTP_TYPES and isinstance(template.get("url"), str):
        for key in QUERY_KEYS:
            if isinstance(template.get(key), Mapping):
                template["url"] = _url_with_query(template["url"], template.pop(key), query_credential(template))
    if template.get("call_template_type") == "file" and _spelled_type(provider)[1] == "text":
        template.setdefault("allowed_communication_protocols", list(FILE_MANUAL_PROTOCOLS))
    return template


def translated_template(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Translate type and field names; the common part of the two functions above."""
    if _is_current(entry):
        return dict(entry)
    type_key, kind = _spelled_type(entry)
    fields = {key: value for key, value in entry.items() if key != type_key}
    if type_key != "call_template_type":
        fields = {key: value for key, value in fields.items() if key not in _TYPE_KEYS}
    translate = _FIELDS.get(kind) if isinstance(kind, str) else None
    if translate is not None:
        fields = translate(fields)
    if kind == "text" and "file_path" in fields and "content" not in fields:
        kind = "file"
    if kind == "websocket" and type_key == "provider_type" and _is_number(fields.get("timeout")):
        fields["timeout"] = max(1, math.ceil(fields["timeout"] / 1000))  # milliseconds in 0.x, seconds since 1.0
    for key in ("auth", "auth_tools"):
        if isinstance(fields.get(key), Mapping):
            fields[key] = credentials(fields[key])
    head = {"name": fields.pop("name")} if "name" in fields else {}
    if type_key is not None:
        head["call_template_type"] = kind
    return {**head, **fields}


def _is_current(entry: Mapping[str, Any]) -> bool:
    """Whether nothing of this has to be translated; only looks for what most of the tools in a large manual are."""
    return (
        entry.get("call_template_type") == "http"
        and entry.get("http_method", "GET") in _HTTP_METHODS
        and _TO_TRANSLATE.isdisjoint(entry)
    )


def translated_variable_loader(loader: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an entry of `load_variables_from`: 0.x wrote `type` for `variable_loader_type`."""
    if "type" in loader and "variable_loader_type" not in loader:
        return {"variable_loader_type" if key == "type" else key: value for key, value in loader.items()}
    return dict(loader)


def looks_like_template(document: Mapping[str, Any]) -> bool:
    """Whether an object is one provider or one call template."""
    type_key, kind = _spelled_type(document)
    return kind in KNOWN_TYPES if type_key == "type" else type_key is not None


def arguments_as_flags(arguments: Mapping[str, Any], to_text: Callable[[Any], str]) -> list[str]:
    """Write arguments as UTCP 0.x and `utcp-cli` 1.0 did (`CliTransport._format_arguments`).

    Args:
        arguments: What the tool was called with.
        to_text: How one value is written.

    Returns:
        Words for the command line, not quoted: `--name value`; `--name` for true and nothing for false;
        a list repeats its flag.
    """
    words: list[str] = []
    for name, value in arguments.items():
        if isinstance(value, bool):
            words += [f"--{name}"] if value else []
        else:
            for item in value if isinstance(value, list | tuple) else [value]:
                words += [f"--{name}", to_text(item)]
    return words


def variables_in(value: Any) -> set[str]:
    """The variables that a template refers to, as they are written, without the manual's name in front."""
    if isinstance(value, str):
        return {found.strip("${}") for found in re.findall(_VARIABLE, value)}
    if isinstance(value, Mapping):
        return set().union(*(variables_in(item) for item in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(variables_in(item) for item in value))
    return set()


def _spelled_type(entry: Mapping[str, Any]) -> tuple[str | None, Any]:
    key = next((key for key in _TYPE_KEYS if entry.get(key) is not None), None)
    if key is None:
        return None, None
    kind = entry[key]
    if isinstance(kind, str):
        spelled = kind.strip().lower().replace("-", "_")
        spelled = _RENAMED_TYPES.get(spelled, spelled)
        kind = spelled if spelled in KNOWN_TYPES else kind  # a plugin's own type may be spelled anyhow
    return key, kind


def _cli_fields(fields: dict[str, Any]) -> dict[str, Any]:
    fields = _renamed(fields, {"working_directory": "working_dir", "environment": "env_vars", "env": "env_vars"})
    commands = fields.get("commands")
    if isinstance(commands, str):
        commands = [commands]
    if isinstance(commands, list):
        return {**fields, "commands": [{"command": step} if isinstance(step, str) else step for step in commands]}
    key = next((key for key in ("command_name", "command") if fields.get(key)), None)
    if key is None:
        return fields
    command = fields[key]
    words = fields.get("args") or []
    if isinstance(command, list):
        command, words = "", [*command, *words]
    if not isinstance(command, str) or not isinstance(words, list):
        return fields
    line = " ".join([command, *(shlex.quote(str(word)) for word in words)]).strip()
    kept = {key: value for key, value in fields.items() if key not in {"command_name", "command", "args"}}
    return {"commands": [{"command": line}], **kept}


def _http_fields(fields: dict[str, Any]) -> dict[str, Any]:
    fields = _renamed(fields, {"method": "http_method"})
    if isinstance(fields.get("http_method"), str):
        fields["http_method"] = fields["http_method"].upper()
    return fields


def query_credential(template: Mapping[str, Any]) -> str | None:
    """The query parameter that a template's `auth` sets, or None."""
    auth = template.get("auth")
    name = auth.get("var_name") if isinstance(auth, Mapping) and auth.get("location") == "query" else None
    return name if isinstance(name, str) else None


def _url_with_query(url: str, query: Mapping[str, Any], credential: str | None) -> str:
    pairs = [
        f"{quote(str(name), safe='')}={quote(_text(item), safe='{},$')}"
        for name, value in query.items()
        for item in (value if isinstance(value, list | tuple) else [value])
        if item is not None and name != credential
    ]
    return url + ("&" if "?" in url else "?") + "&".join(pairs) if pairs else url


def _text(value: Any) -> str:
    return ("false", "true")[value] if isinstance(value, bool) else str(value)


def _renamed(fields: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[key] if key in names and names[key] not in fields else key: item for key, item in fields.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_FIELDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "cli": _cli_fields,
    **dict.fromkeys(_HTTP_TYPES, _http_fields),
}
