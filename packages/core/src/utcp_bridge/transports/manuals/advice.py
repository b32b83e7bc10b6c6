"""What to look at next where a manual could not be had, by its call template; names alone, and never a value."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, urlsplit

from utcp_bridge.config import ManualTemplate
from utcp_bridge.transports.secrets.fields import is_secret_name
from utcp_bridge.transports.variable_values import Variables, VariableUse, namespaced

_CREDENTIALS = ("auth", "headers")


def about_credentials(manual: ManualTemplate, url: str, variables: Variables) -> str:
    """Which credentials a server was sent that refused to give a manual, as the end of a sentence.

    Args:
        manual: The manual.
        url: The URL that was asked.
        variables: Tells which variables are defined.

    Returns:
        The names of the credentials, or that the call template gives none; an empty text where they are written out
        in `auth` or `headers`, for there is nothing to add to that.
    """
    fields = {key: manual.template[key] for key in ("url", *_CREDENTIALS) if manual.template.get(key)}
    use = VariableUse.of(fields, manual.name, variables)
    if sent := [namespaced(manual.name, name) for name in use.names if name not in use.public]:
        return f"; check what stands in the variable{'s' if sent[1:] else ''} {_listed(sent)}"
    parts = urlsplit(url)
    # Without those that have no value: what stands in the place of the name may be a credential itself.
    parameters = list(dict.fromkeys(name for name, _ in parse_qsl(parts.query)))
    if keys := [name for name in parameters if is_secret_name(name)]:
        return f"; check {_listed(keys)} in the query of its 'url'"
    if parts.username:
        return "; check the user and the password in its 'url'"
    if any(key in fields for key in _CREDENTIALS):
        return ""
    only = f", only {_listed(parameters)} in the query of its 'url'" if parameters else ""
    return f"; its call template gives neither 'auth' nor 'headers'{only}"


def with_base_url(manual: ManualTemplate) -> str:
    """The whole configuration that gives a manual in a file or a text the address of its server."""
    kept = ("name", "call_template_type", "file_path", "content")
    template = {key: manual.template[key] for key in kept if key in manual.template}
    if "content" in template:
        template["content"] = "..."
    template |= {"name": manual.name, "base_url": "https://..."}
    return json.dumps({"manual_call_templates": [template]}, ensure_ascii=False)


def _listed(names: list[str]) -> str:
    return " and ".join(map(repr, names))
