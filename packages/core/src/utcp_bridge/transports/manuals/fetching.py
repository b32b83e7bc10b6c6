"""Where a manual comes from: each kind of call template brought to a document, and the document to tools."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from utcp.data.auth import AuthSerializer
from utcp.data.call_template import CallTemplate
from utcp.data.register_manual_response import RegisterManualResult
from utcp_http.http_call_template import HttpCallTemplate

from utcp_bridge.config import ManualTemplate
from utcp_bridge.openapi import NoServerError, refused
from utcp_bridge.transports.documents.parsing import DocumentError, parse_document
from utcp_bridge.transports.drafts import DraftManual, SkippedTool, draft_of
from utcp_bridge.transports.failures import ManualRefusedError, reason_in
from utcp_bridge.transports.http.url_fault import url_fault
from utcp_bridge.transports.manuals.advice import about_credentials, with_base_url
from utcp_bridge.transports.manuals.openapi import openapi_draft
from utcp_bridge.transports.manuals.reading import (
    NotAManualError,
    is_openapi,
    tools_of_manual,
)
from utcp_bridge.transports.manuals.registration import register
from utcp_bridge.transports.manuals.templates import UnusableTemplateError, call_template
from utcp_bridge.transports.manuals.tool_entries import shape_of
from utcp_bridge.transports.secrets.leaks import without_queries
from utcp_bridge.transports.upstream.utcp_client import BridgeUtcpClient, RegisteredManual
from utcp_bridge.transports.variable_values import Variables, VariableUse, namespaced
from utcp_bridge.transports.variables import fill_in

# Fewer are judged in less time than another manual would wait for.
_MANY_TOOLS = 100

_OPEN_FIELDS = frozenset(
    ("name", "call_template_type", "url", "http_method", "content_type", "body_field", "header_fields")
)
_FORBIDDEN = frozenset({401, 403})
_ADDRESS = re.compile(r"https?://\S+|[^\s{\[\"]+\.(?:json|ya?ml)", re.IGNORECASE)
_OVER_HTTP = frozenset({"http", "sse", "streamable_http"})
_ADDRESSLESS = frozenset({"file", "text"})


async def fetch(
    client: BridgeUtcpClient, manual: ManualTemplate, broken_plugins: Mapping[str, str]
) -> RegisteredManual:
    """Fetch a manual and judge its tools.

    Raises:
        ManualRefusedError: The call template or the document cannot be used.
        UndefinedVariableError: A variable of the call template has no value.
        Exception: Whatever the protocol raises when it cannot reach the manual.
    """
    fields = _filled_in(client, manual)
    try:
        template = call_template(fields, broken_plugins)
    except UnusableTemplateError as error:
        raise ManualRefusedError(str(error)) from error
    try:
        draft, final_url = await _draft(client, manual, fields, template)
    except NotAManualError as error:
        raise ManualRefusedError(str(error)) from error

    def judge() -> RegisteredManual:
        return register(draft, template, variables=client.variables, final_url=final_url, broken_plugins=broken_plugins)

    registered = await asyncio.to_thread(judge) if len(draft.tools) > _MANY_TOOLS else judge()
    for tool in registered.tools:
        template = tool.draft.template
        # Those of templates with variables are known when the variables have values.
        if not tool.use.names and isinstance(template, Mapping) and _may_hold_secrets(template):
            # Without the placeholders in it, which are no secrets.
            is_http = template.get("call_template_type") in _OVER_HTTP
            client.secrets.add_template(tool.template.model_dump() if is_http else template)
    return registered


def _may_hold_secrets(template: Mapping[str, Any]) -> bool:
    """Whether to look at all: most HTTP tools say no more than where they are."""
    url = template.get("url")
    if template.get("call_template_type") != "http" or not isinstance(url, str):
        return True
    return "?" in url or "@" in url or not template.keys() <= _OPEN_FIELDS


def variables_of(manual: ManualTemplate, variables: Variables) -> VariableUse:
    """The variables of a manual's own call template, without those of the tools in it."""
    return VariableUse.of(_own_fields(manual), manual.name, variables)


def _own_fields(manual: ManualTemplate) -> dict[str, Any]:
    """The call template without `content`, whose variables are those of its tools and are filled in for each call."""
    return {key: value for key, value in manual.template.items() if key != "content"}


def _filled_in(client: BridgeUtcpClient, manual: ManualTemplate) -> dict[str, Any]:
    use = variables_of(manual, client.variables)
    values = use.values(client.variables)
    fields: dict[str, Any] = fill_in(_own_fields(manual), values)
    for name in values.keys() - use.public:
        client.secrets.add(values[name])
    client.secrets.add_template(fields)
    if "content" in manual.template:
        content = manual.template["content"]
        # Upstream takes text only; a manual that is written right into the configuration is as good.
        fields["content"] = content if isinstance(content, str) else json.dumps(content)
    return {**fields, "name": manual.name}


async def _draft(
    client: BridgeUtcpClient, manual: ManualTemplate, fields: Mapping[str, Any], template: CallTemplate
) -> tuple[DraftManual, str | None]:
    """The tools of a manual, and the URL that it came from, if it came over HTTP."""
    kind = template.call_template_type
    protocol: Any = client.protocol(kind)
    final_url: str | None = None
    location = ""
    if kind == "file":
        path = _path(client, _no_url(str(fields["file_path"])))
        what = f"the file {str(path)!r}"
        location = path.absolute().as_uri()
        document: Any = await asyncio.to_thread(_parsed, path.read_bytes, location, what)
    elif kind == "text":
        what, document = "its 'content'", _no_address(fields["content"])
    elif kind == "cli" and hasattr(protocol, "fetch_document"):
        what, document = "the output of the command", await protocol.fetch_document(template)
    elif kind in _OVER_HTTP and hasattr(client.protocol("http"), "fetch_document"):
        http: Any = client.protocol("http")
        request = _over_http(template)
        if (fault := url_fault(request.url)) is not None:
            raise NotAManualError(fault)
        try:
            document, final_url = await http.fetch_document(request)
        except DocumentError as error:
            if error.status in _FORBIDDEN:
                raise NotAManualError(f"{error}{about_credentials(manual, request.url, client.variables)}") from error
            raise
        what = f"the document at {without_queries(final_url)}"
    else:
        return _draft_of_result(await protocol.register_manual(client, template)), None
    if isinstance(document, str):
        document = await asyncio.to_thread(_parsed, document.encode, "", what)
    if not is_openapi(document):
        return tools_of_manual(document, what=what), final_url
    draft = await _draft_of_openapi(client, manual, fields, template, document, final_url or location)
    # Who names the server himself has decided to trust it, on whatever machine it is (utcp-http 1.1.15 as well).
    return draft, None if fields.get("base_url") else final_url


async def _draft_of_openapi(
    client: BridgeUtcpClient,
    manual: ManualTemplate,
    fields: Mapping[str, Any],
    template: CallTemplate,
    document: Any,
    url: str,
) -> DraftManual:
    auth_tools = _auth_tools(manual)
    options = {} if fields.get("openapi") is None else fields["openapi"]
    if not isinstance(options, Mapping):
        raise NotAManualError(
            f"'openapi' in its call template: expected an object such as {{\"flatten_body\": true}}, "
            f"got {shape_of(options)}"
        )
    try:
        return await openapi_draft(
            document,
            manual=template.name,
            url=url,
            base_url=fields.get("base_url"),
            auth_tools=None if auth_tools is None else AuthSerializer().to_dict(auth_tools),
            options=options,
            defined=lambda name: client.variables.defined(namespaced(template.name, name)),
            fetch=_sibling_reader(client, template, url),
        )
    except NotAManualError as error:
        # Whoever handed in the document by itself wrote no call template, and has to write one now.
        if isinstance(error.__cause__, NoServerError) and template.call_template_type in _ADDRESSLESS:
            raise NotAManualError(f"{error}: {with_base_url(manual)}") from error
        raise


def _sibling_reader(client: BridgeUtcpClient, template: CallTemplate, url: str) -> Callable[[str], Awaitable[Any]]:
    """What fetches the documents that the one at `url` refers to, in the same way and only beside it."""

    async def from_folder(address: str) -> Any:
        path = Path(url2pathname(urlsplit(address).path))
        return await asyncio.to_thread(_parsed, path.read_bytes, address, f"the file {path.name!r}")

    async def over_http(address: str) -> Any:
        http: Any = client.protocol("http")
        document, final_url = await http.fetch_document(_over_http(template).model_copy(update={"url": address}))
        if (refusal := refused(final_url, url)) is not None:
            raise NotAManualError(refusal)
        return document

    return over_http if url.startswith(("http://", "https://")) else from_folder


def _over_http(template: CallTemplate) -> HttpCallTemplate:
    """The request that fetches a manual: utcp-http 1.1.15 has the same one for its streaming protocols."""
    if isinstance(template, HttpCallTemplate):
        return template
    fields = template.model_dump(include={"name", "url", "auth", "headers", "http_method"}, exclude_none=True)
    return HttpCallTemplate.model_validate(fields)


def _auth_tools(manual: ManualTemplate) -> Any:
    # Not filled in: the tools carry their variables, and a value that holds a `$` is not taken for one.
    fields = manual.template.get("auth_tools")
    return AuthSerializer().validate_dict(dict(fields)) if isinstance(fields, Mapping) else None


def _path(client: BridgeUtcpClient, file_path: str) -> Path:
    path = Path(file_path).expanduser()
    return path if path.is_absolute() else Path(client.root_dir or ".") / path


def _no_url(file_path: str) -> str:
    if file_path.lower().startswith("file://"):
        raise NotAManualError("its 'file_path' is a URL, expected the path of a file")
    if "://" in file_path:
        raise NotAManualError(
            "its 'file_path' is a URL, expected the path of a file; a URL is reached by "
            '{"call_template_type": "http", "url": "..."}'
        )
    return file_path


def _no_address(content: str) -> str:
    if _ADDRESS.fullmatch(content.strip()):
        raise NotAManualError(
            "its 'content' is a path or a URL, expected the manual itself; a file is reached by "
            '{"call_template_type": "file", "file_path": "..."}, a URL by {"call_template_type": "http", "url": "..."}'
        )
    return content


def _parsed(read: Callable[[], bytes], url: str, what: str) -> Any:
    try:
        return parse_document(read(), "", url)
    except DocumentError as error:
        raise NotAManualError(f"{what}: {error}") from error


def _draft_of_result(result: RegisterManualResult) -> DraftManual:
    reasons = () if result.success else tuple(" ".join(reason_in(str(error)).split()) for error in result.errors)
    tools = tuple(draft_of(tool) for tool in result.manual.tools)
    if not result.success and not tools:
        raise ManualRefusedError("; ".join(reasons) or "the UTCP plugin gave no reason")
    # Several servers in one manual: utcp-mcp 1.2.0 lists the tools of those that answered.
    skipped = tuple(SkippedTool(f"{result.manual_call_template.name}.*", words) for words in reasons)
    return DraftManual(tools, skipped, result.manual.manual_version)
