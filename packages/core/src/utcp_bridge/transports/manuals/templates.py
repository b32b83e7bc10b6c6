"""A call template as UTCP reads it, and in words what is wrong with one that it does not take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from utcp.data.auth import AuthSerializer
from utcp.data.call_template import CallTemplate, CallTemplateSerializer

from utcp_bridge.config.legacy import KNOWN_TYPES
from utcp_bridge.nearest import nearest
from utcp_bridge.transports.failures import reason
from utcp_bridge.transports.manuals.tool_entries import shape_of

# Where a call template type comes from that is not installed; https://github.com/universal-tool-calling-protocol
_PACKAGES = {
    "mcp": "utcp-mcp",
    "graphql": "utcp-gql",
    "websocket": "utcp-websocket",
    "tcp": "utcp-socket",
    "udp": "utcp-socket",
}
# utcp-mcp 1.2.0; beside a newer LangChain, pip would take that back to an older version.
_NEEDS = {"utcp-mcp": ", which requires langchain<0.4: beside a newer one, in an environment of its own"}
_LONGEST_WRITTEN = 60
_BEARER = '{"auth_type": "api_key", "api_key": "Bearer ${TOKEN}", "var_name": "Authorization"}'


class UnusableTemplateError(ValueError):
    """A call template that UTCP does not take; the message names the fields, never their values."""


def call_template(
    fields: Mapping[str, Any], broken_plugins: Mapping[str, str], model: type[BaseModel] | None = None
) -> CallTemplate:
    """The call template that a dict describes.

    Args:
        fields: The template.
        broken_plugins: Plugins that could not be loaded, for the reason of a template that needs one.
        model: What it is read with after UTCP's own model of its type has taken it; default None, nothing else.

    Raises:
        UnusableTemplateError: Its type is not installed, or a field is missing or wrong.
    """
    kind = fields.get("call_template_type")
    serializer = CallTemplateSerializer.call_template_serializers.get(kind) if isinstance(kind, str) else None
    if serializer is None:
        raise UnusableTemplateError(_unknown_type(kind, broken_plugins))
    try:
        template = serializer.validate_dict(dict(fields))
        if model is not None:
            ours: Any = model.model_validate(dict(fields))
            template = ours
    except Exception as error:
        fault = _fault_of_auth(fields) or reason(error)
        raise UnusableTemplateError(f"the {kind} call template is wrong: {fault}") from error
    return template


def _fault_of_auth(fields: Mapping[str, Any]) -> str | None:
    """What is wrong with credentials, of which the template's own error does not say where they stand."""
    for key in ("auth", "auth_tools"):
        auth = fields.get(key)
        if auth is None:
            continue
        if not isinstance(auth, Mapping):
            return f"{key}: expected an object such as {_BEARER}, got {shape_of(auth)}"
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
        return f"; it has no token, which is written as {_BEARER}"
    close = nearest(kind, known)
    return f"; did you mean {close!r}?" if close else ""


def _written(value: Any) -> str:
    return f"{value[:_LONGEST_WRITTEN]!r}" if isinstance(value, str) else shape_of(value)


def installed_types() -> list[str]:
    """The types of call templates that somebody handles here, sorted."""
    return sorted(CallTemplateSerializer.call_template_serializers)


def _unknown_type(kind: Any, broken_plugins: Mapping[str, str]) -> str:
    if kind is None:
        return "it has no 'call_template_type'"
    text = (
        f"no installed UTCP plugin handles the call_template_type {kind!r} (installed: {', '.join(installed_types())})"
    )
    if isinstance(kind, str) and kind.lower() in {"openapi", "rest", "swagger"}:
        return f"{text}; an OpenAPI document is reached by 'http', 'file' or 'text'"
    if kind not in KNOWN_TYPES and (close := nearest(kind, installed_types())) is not None:
        text += f"; did you mean {close!r}?"
    if kind in broken_plugins:
        return f"{text}; the plugin {kind!r} cannot be loaded: {broken_plugins[kind]}"
    package = _PACKAGES.get(kind) if isinstance(kind, str) else None
    return f"{text}; install {package!r}{_NEEDS.get(package, '')}" if package else text
