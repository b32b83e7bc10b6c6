"""A manual document, in whatever shape its author left it, read into tools.

One broken tool costs only itself, and is reported with its reason; utcp 1.2.0 refuses the whole manual for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from utcp_bridge.config.credentials import credentials, is_complete
from utcp_bridge.config.legacy import looks_like_template
from utcp_bridge.transports.drafts import DraftManual, DraftTool, SkippedTool
from utcp_bridge.transports.manuals.tool_entries import (
    TEMPLATE_KEYS,
    UnusableToolError,
    draft_tool,
    name_of,
    shape_of,
    text_of,
)

_OPENAPI_KEYS = ("openapi", "swagger")
_CONFIG_KEYS = ("manual_call_templates", "tool_providers", "providers", "utcp_config", "mcpServers")
_MANUAL_WRAPPERS = ("manual", "utcp_manual", "utcp")


class NotAManualError(ValueError):
    """A document is no manual; the message says what it seems to be instead."""


def is_openapi(document: Any) -> bool:
    """Whether a document is an OpenAPI document (2.0 to 3.2), by the rule of utcp-http 1.1.15."""
    return (
        isinstance(document, Mapping)
        and not isinstance(document.get("tools"), (list, Mapping))
        and (any(key in document for key in _OPENAPI_KEYS) or isinstance(document.get("paths"), Mapping))
    )


def tools_of_manual(document: Any, *, what: str = "the document") -> DraftManual:
    """Read a manual.

    Args:
        document: A JSON value: the manual, a bare list of tools, or one tool.
        what: Where it came from, as the subject of an error message.

    Returns:
        Its tools, in order; what could not be used stands in `skipped`.

    Raises:
        NotAManualError: It holds no tools at all.
    """
    complaint = _complaint(document, what)
    if complaint is not None:
        raise NotAManualError(complaint)
    head = _head(document)
    version = head.get("manual_version", head.get("version"))
    auth, warnings = _default_auth(head)
    tools: list[DraftTool] = []
    skipped: list[SkippedTool] = []
    for place, entry in _entries(document):
        try:
            tools.append(draft_tool(place, entry, auth))
        except UnusableToolError as error:
            skipped.append(SkippedTool(name_of(entry) or place, str(error)))
    return DraftManual(
        tuple(tools),
        tuple(skipped),
        "1.0.0" if version is None else str(version),
        variables=_default_variables(head),
        warnings=warnings,
    )


def _head(document: Any) -> Mapping[str, Any]:
    """What a document says besides its tools; nothing where it is a list, or one tool."""
    return document if isinstance(document, Mapping) and "tools" in document else {}


def _default_auth(head: Mapping[str, Any]) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The credentials of a manual for all of its tools (UTCP's "For Tool Providers", "Optional Fields")."""
    if not isinstance(head.get("auth"), Mapping):
        return None, ()
    auth = credentials(head["auth"])
    if auth is None or is_complete(auth):
        return auth, ()
    return None, ("the manual's own 'auth' is left out, because it holds no credentials that UTCP can use",)


def _default_variables(head: Mapping[str, Any]) -> dict[str, str]:
    """The values that a manual gives to variables of its tools (the same page, "Default Values")."""
    given = head.get("variables")
    if not isinstance(given, Mapping):
        return {}
    plain = {str(name): value for name, value in given.items() if isinstance(value, (str, int, float))}
    return {name: text_of(value) for name, value in plain.items()}


def _entries(document: Any) -> Iterator[tuple[str, Any]]:
    """The entries of a manual that should be tools, each with its place."""
    tools = document if isinstance(document, list) else _tools_in(document)
    if isinstance(tools, Mapping):
        for name, tool in tools.items():
            yield str(name), {"name": name, **tool} if isinstance(tool, Mapping) else tool
    elif tools is None:
        yield "the tool", document
    else:
        yield from ((f"tools[{index}]", tool) for index, tool in enumerate(tools))


def _tools_in(document: Mapping[str, Any]) -> Any:
    """The value of `tools`, also one level down, or None."""
    if document.get("tools") is not None:
        return document["tools"]
    wrapped = (document[key] for key in _MANUAL_WRAPPERS if isinstance(document.get(key), Mapping))
    return next((inner["tools"] for inner in wrapped if inner.get("tools") is not None), None)


def _complaint(document: Any, what: str) -> str | None:
    """What a document seems to be that has no tools, or None if it has some."""
    if isinstance(document, list):
        are_templates = bool(document) and all(
            isinstance(item, Mapping) and looks_like_template(item) and not any(key in item for key in TEMPLATE_KEYS)
            for item in document
        )
        return f"{what} is a list of call templates, not a manual; hand it in as a source" if are_templates else None
    if not isinstance(document, Mapping):
        shape = "null" if document is None else shape_of(document)
        return f"{what} is {shape}, not a UTCP manual; expected an object with a list of 'tools'"
    tools = _tools_in(document)
    if isinstance(tools, (list, Mapping)):
        return None
    if tools is not None or "tools" in document:
        shape = "null" if tools is None else shape_of(tools)
        return f"{what} is no UTCP manual: its 'tools' is {shape}, expected a list of tools"
    if any(key in document for key in _CONFIG_KEYS):
        return f"{what} is a client configuration, not a manual; hand it in as a source of its own"
    if "name" in document and any(key in document for key in TEMPLATE_KEYS):
        return None
    if looks_like_template(document):
        return f"{what} is a call template, not a manual; it belongs into 'manual_call_templates'"
    keys = ", ".join(map(repr, list(document)[:8]))
    holds = f"its keys: {keys}" if keys else "it is an empty object"
    return f"{what} is neither a UTCP manual (it has no 'tools') nor an OpenAPI document; {holds}"
