"""From what a manual says to what UTCP can call: each tool by itself, and only of the protocols that are allowed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeAlias

from utcp.data.call_template import CallTemplate
from utcp_http._security import is_loopback_url, reject_remote_loopback_tool_urls

from utcp_bridge.transports.drafts import DraftManual, DraftTool, SkippedTool
from utcp_bridge.transports.manuals.placeholders import DeclaredArguments
from utcp_bridge.transports.manuals.places import PlacedTemplate, placed_template
from utcp_bridge.transports.manuals.template_keys import UnknownKey, told_of_tools, unknown_keys
from utcp_bridge.transports.manuals.templates import UnusableTemplateError, call_template, installed_types
from utcp_bridge.transports.upstream.utcp_client import RegisteredManual, RegisteredTool
from utcp_bridge.transports.variable_values import Variables, VariableUse, namespaced
from utcp_bridge.transports.variables import fill_in

_NO_FIELDS: Mapping[str, Any] = {}
_MOST_TOLD = 5

Rebuild: TypeAlias = Callable[[dict[str, Any]], CallTemplate]


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
    odd: list[str] = []
    is_judged = final_url is not None and not is_loopback_url(final_url)
    for tool in draft.tools:
        name = _full_name(template.name, tool.name)
        try:
            _require_object(tool.inputs)
            placed = _placed(tool, template.name, draft, variables)
            ready = _registered(tool, name, template, variables, placed, broken_plugins, draft.variable_descriptions)
            _require_allowed(ready.template.call_template_type, allowed, template)
            if is_judged:
                _require_no_loopback(ready, str(final_url))
        except ValueError as error:
            skipped.append(SkippedTool(name, str(error)))
        else:
            registered.pop(name, None)
            registered[name] = ready
            if placed is not None:
                unknown += [(name, key) for key in unknown_keys(_without(tool.template, placed.read))]
                odd += [f"{name}: {warning}" for warning in placed.warnings]
    if len(registered) < len(draft.tools):
        counts = Counter(_full_name(template.name, tool.name) for tool in draft.tools)
        for name, count in counts.items():
            if count > 1 and name in registered:
                # utcp 1.2.0 stores all of them and calls the last.
                skipped.append(SkippedTool(name, f"{count} tools of the manual have this name; only the last is kept"))
    warnings = (*draft.warnings, *told_of_tools(unknown), *_cut(odd))
    return RegisteredManual(
        template,
        draft.manual_version,
        tuple(registered.values()),
        tuple(skipped),
        warnings,
        draft.variable_descriptions,
    )


def _placed(draft: DraftTool, namespace: str, manual: DraftManual, variables: Variables) -> PlacedTemplate | None:
    """The tool's template with places for its arguments; None for one that is one of UTCP's objects already."""
    if not isinstance(draft.template, Mapping):
        return None

    def is_variable(name: str) -> bool:
        return variables.defined(namespaced(namespace, name))

    placed = placed_template(draft.template, draft.inputs, is_variable)
    defaults = {name: value for name, value in manual.variables.items() if not is_variable(name)}
    return replace(placed, fields=fill_in(placed.fields, defaults)) if defaults else placed


def _without(template: Mapping[str, Any], keys: frozenset[str]) -> Mapping[str, Any]:
    return {key: value for key, value in template.items() if key not in keys} if keys else template


def _cut(warnings: Sequence[str]) -> tuple[str, ...]:
    if len(warnings) <= _MOST_TOLD:
        return tuple(warnings)
    return (*warnings[:_MOST_TOLD], f"and the like of {len(warnings) - _MOST_TOLD} more tools")


def _registered(
    draft: DraftTool,
    name: str,
    manual: CallTemplate,
    variables: Variables,
    placed: PlacedTemplate | None,
    broken_plugins: Mapping[str, str],
    descriptions: Mapping[str, str],
) -> RegisteredTool:
    template, fields, rebuild = _template_of(draft, manual.name, placed, broken_plugins)
    # Plugins such as utcp-mcp give their tools the template of the manual, whose variables are filled in already.
    is_manuals = draft.template is template and template == manual
    use = VariableUse(manual.name)
    if not is_manuals:
        use = VariableUse.of(
            fields,
            manual.name,
            variables,
            arguments=lambda: DeclaredArguments.of(draft.inputs).names,
            descriptions=descriptions,
        )
    if template is None:
        # A variable may stand for what is no text, such as a port: judge it with its value, if it has one.
        template = rebuild(fill_in(fields, use.values(variables)))
    return RegisteredTool(name, draft, template, use, fields if use.names else _NO_FIELDS, rebuild)


def _template_of(
    draft: DraftTool, namespace: str, placed: PlacedTemplate | None, broken_plugins: Mapping[str, str]
) -> tuple[CallTemplate | None, dict[str, Any], Rebuild]:
    if placed is None:
        own: Any = draft.template
        return own, own.model_dump(), type(own).model_validate
    rebuild = partial(call_template, broken_plugins=broken_plugins, model=placed.model)
    # utcp 1.2.0 gives a template without a name a random one.
    fields = {**placed.fields, "name": placed.fields.get("name") or namespace}
    try:
        return rebuild(fields), fields, rebuild
    except UnusableTemplateError as error:
        if "$" not in repr(fields) or fields.get("call_template_type") not in installed_types():
            if unknown := unknown_keys(_without(draft.template, placed.read)):
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
