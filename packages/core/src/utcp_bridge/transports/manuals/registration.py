"""From what a manual says to what UTCP can call: each tool by itself, and only of the protocols that are allowed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeAlias

from utcp.data.auth import AuthSerializer
from utcp.data.call_template import CallTemplate, CallTemplateSerializer
from utcp_http._security import is_loopback_url, reject_remote_loopback_tool_urls

from utcp_bridge.config.legacy import KNOWN_TYPES
from utcp_bridge.nearest import nearest
from utcp_bridge.transports.drafts import DraftManual, DraftTool, SkippedTool
from utcp_bridge.transports.failures import reason
from utcp_bridge.transports.manuals.template_keys import UnknownKey, told_of_tools, unknown_keys
from utcp_bridge.transports.manuals.tool_entries import shape_of
from utcp_bridge.transports.upstream.utcp_client import RegisteredManual, RegisteredTool
from utcp_bridge.transports.variables import Variables, VariableUse, fill_in

# Where a call template type comes from that is not installed; https://github.com/universal-tool-calling-protocol
_PACKAGES = {
    "mcp": "utcp-mcp",
    "graphql": "utcp-gql",
    "websocket": "utcp-websocket",
    "tcp": "utcp-socket",
    "udp": "utcp-socket",
}
_NO_FIELDS: Mapping[str, Any] = {}
_LONGEST_WRITTEN = 60

Rebuild: TypeAlias = Callable[[dict[str, Any]], CallTemplate]


class UnusableTemplateError(ValueError):
    """A call template that UTCP does not take; the message names the fields, never their values."""


def call_template(fields: Mapping[str, Any], broken_plugins: Mapping[str, str]) -> CallTemplate:
    """The call template that a dict describes.

    Raises:
        UnusableTemplateError: Its type is not installed, or a field is missing or wrong.
    """
    kind = fields.get("call_template_type")
    serializer = CallTemplateSerializer.call_template_serializers.get(kind) if isinstance(kind, str) else None
    if serializer is None:
        raise UnusableTemplateError(_unknown_type(kind, broken_plugins))
    try:
        return serializer.validate_dict(dict(fields))
    except Exception as error:
        fault = _fault_of_auth(fields) or reason(error)
        raise UnusableTemplateError(f"the {kind} call template is wrong: {fault}") from error


def _fault_of_auth(fields: Mapping[str, Any]) -> str | None:
    """What is wrong with credentials, of which the template's own error does not say where they stand."""
    for key in ("auth", "auth_tools"):
        auth = fields.get(key)
        if not isinstance(auth, Mapping):
            continue
        known, kind = sorted(AuthSerializer.auth_serializers), auth.get("auth_type")
        if not isinstance(kind, str) or kind not in known:
            expected = " or ".join(map(repr, known))
            return f"{key}.auth_type: expected {expected}, got {_written(kind)}{_auth_advice(kind, known)}"
        try:
            AuthSerializer().validate_dict(dict(auth))
        except Exception as error:  # noqa: BLE001 - a plugin's serializer may raise anything, and this is its reason
            return reason(error, within=key)
    return None


def _auth_advice(kind: Any, known: Sequence[str]) -> str:
    if isinstance(kind, str) and kind.lower() in {"bearer", "token", "jwt"}:
        return '; a bearer token is {"auth_type": "api_key", "api_key": "Bearer ${TOKEN}", "var_name": "Authorization"}'
    close = nearest(kind, known)
    return f"; did you mean {close!r}?" if close else ""


def _written(value: Any) -> str:
    return f"{value[:_LONGEST_WRITTEN]!r}" if isinstance(value, str) else shape_of(value)


def register(
    draft: DraftManual,
    template: CallTemplate,
    *,
    variables: Variables,
    final_url: str | None,
    broken_plugins: Mapping[str, str],
) -> RegisteredManual:
    """Judge the tools of a manual.

    Args:
        draft: What the manual says.
        template: The manual's call template, its variables filled in.
        variables: Where the variables of its tools get their values.
        final_url: Where the manual came from after redirects; None if it did not come over HTTP.
        broken_plugins: Plugins that could not be loaded, for the reason of a tool that needs one.

    Returns:
        The tools that can be called, under the names that UTCP gives them, and those that were skipped.
    """
    allowed = tuple(template.allowed_communication_protocols or (template.call_template_type, *draft.protocols))
    skipped = list(draft.skipped)
    registered: dict[str, RegisteredTool] = {}
    unknown: list[tuple[str, UnknownKey]] = []
    rebuild = partial(call_template, broken_plugins=broken_plugins)
    is_judged = final_url is not None and not is_loopback_url(final_url)
    for tool in draft.tools:
        name = _full_name(template.name, tool.name)
        try:
            _require_object(tool.inputs)
            ready = _registered(tool, name, template, variables, rebuild)
            _require_allowed(ready.template.call_template_type, allowed, template)
            if is_judged:
                _require_no_loopback(ready, str(final_url))
        except ValueError as error:
            skipped.append(SkippedTool(name, str(error)))
        else:
            registered.pop(name, None)
            registered[name] = ready
            if isinstance(tool.template, Mapping):
                unknown += [(name, key) for key in unknown_keys(tool.template)]
    if len(registered) < len(draft.tools):
        counts = Counter(_full_name(template.name, tool.name) for tool in draft.tools)
        for name, count in counts.items():
            if count > 1 and name in registered:
                # utcp 1.2.0 stores all of them and calls the last.
                skipped.append(SkippedTool(name, f"{count} tools of the manual have this name; only the last is kept"))
    return RegisteredManual(
        template, draft.manual_version, tuple(registered.values()), tuple(skipped), told_of_tools(unknown)
    )


def _registered(
    draft: DraftTool, name: str, manual: CallTemplate, variables: Variables, rebuild: Rebuild
) -> RegisteredTool:
    template, fields, rebuild = _template_of(draft, manual.name, rebuild)
    # Plugins such as utcp-mcp give their tools the template of the manual, whose variables are filled in already.
    is_manuals = draft.template is template and template == manual
    use = VariableUse(manual.name) if is_manuals else VariableUse.of(fields, manual.name, variables)
    if template is None:
        # A variable may stand for what is no text, such as a port: judge it with its value, if it has one.
        template = rebuild(fill_in(fields, use.values(variables)))
    return RegisteredTool(name, draft, template, use, fields if use.names else _NO_FIELDS, rebuild)


def _template_of(
    draft: DraftTool, namespace: str, rebuild: Rebuild
) -> tuple[CallTemplate | None, dict[str, Any], Rebuild]:
    if isinstance(draft.template, CallTemplate):
        kind = type(draft.template)
        return draft.template, draft.template.model_dump(), kind.model_validate
    # utcp 1.2.0 gives a template without a name a random one.
    fields = {**draft.template, "name": draft.template.get("name") or namespace}
    try:
        return rebuild(fields), fields, rebuild
    except UnusableTemplateError as error:
        if "$" not in repr(fields) or fields.get("call_template_type") not in _installed():
            if unknown := unknown_keys(draft.template):
                raise UnusableTemplateError("; ".join([str(error), *map(str, unknown)])) from error
            raise
        return None, fields, rebuild


def _full_name(manual: str, tool: str) -> str:
    # utcp 1.2.0, UtcpClientImplementation.register_manual
    return tool if tool.startswith(f"{manual}.") else f"{manual}.{tool}"


def _require_object(inputs: dict[str, Any] | bool) -> None:
    kind = inputs.get("type") if isinstance(inputs, dict) else None if inputs else "nothing"
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    if kinds and "object" not in kinds:
        raise ValueError(f"its 'inputs' describe {kind!r}, but the arguments of a tool are always an object")


def _require_allowed(kind: str, allowed: Sequence[str], manual: CallTemplate) -> None:
    if kind not in allowed:
        key = f'"allowed_communication_protocols": {json.dumps([*allowed, kind])}'
        advice = f"add {key} to the manual's call template"
        if manual.call_template_type == "file":
            # A manual that was handed in by itself has no call template yet.
            fields = {"name": manual.name, "call_template_type": "file", "file_path": getattr(manual, "file_path", "")}
            advice += f', in a configuration: {{"manual_call_templates": [{json.dumps(fields)[:-1]}, {key}}}]}}'
        raise ValueError(
            f"it uses the protocol {kind!r}, and its manual may bring only {' and '.join(map(repr, allowed))}; "
            f"to allow it, {advice}"
        )


def _require_no_loopback(ready: RegisteredTool, final_url: str) -> None:
    # The rule of utcp-http 1.1.15 for a manual, applied to one tool at a time, so that it costs only that tool.
    one_tool = SimpleNamespace(tools=[SimpleNamespace(name=ready.name, tool_call_template=ready.template)])
    try:
        reject_remote_loopback_tool_urls(final_url, one_tool)
    except ValueError as error:
        raise ValueError(
            "its URL, or that of its token, is on this machine, and a manual from another one may not lead there"
        ) from error


def _installed() -> list[str]:
    return sorted(CallTemplateSerializer.call_template_serializers)


def _unknown_type(kind: Any, broken_plugins: Mapping[str, str]) -> str:
    if kind is None:
        return "it has no 'call_template_type'"
    text = f"no installed UTCP plugin handles the call_template_type {kind!r} (installed: {', '.join(_installed())})"
    if isinstance(kind, str) and kind.lower() in {"openapi", "rest", "swagger"}:
        return f"{text}; an OpenAPI document is reached by 'http', 'file' or 'text'"
    if kind not in KNOWN_TYPES and (close := nearest(kind, _installed())) is not None:
        text += f"; did you mean {close!r}?"
    if kind in broken_plugins:
        return f"{text}; the plugin {kind!r} cannot be loaded: {broken_plugins[kind]}"
    package = _PACKAGES.get(kind) if isinstance(kind, str) else None
    return f"{text}; install {package!r}" if package else text
