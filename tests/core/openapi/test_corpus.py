"""Real descriptions: every operation becomes a tool, no reference dangles, and every call is as the document says."""

from __future__ import annotations

import base64
import copy
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.support.http_server import Received, http_server
from tests.support.openapi import CORPUS, dangling_references, declared_operations
from tests.support.openapi_reading import differences, expected_request
from tests.support.openapi_values import NoValueError, value_for
from utcp_bridge import Toolset
from utcp_bridge.openapi import tools_from_openapi
from utcp_bridge.schema import InvalidArguments
from utcp_bridge.tools import BridgedTool
from utcp_bridge.transports.documents.parsing import parse_document

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the collection of real descriptions is not here")

FILES = sorted(CORPUS.iterdir()) if CORPUS.is_dir() else []
IMPOSSIBLE = {"quirks_entirelyIncompatibleAllOf", "quirks_partiallyUsableIncompatibleAllOf"}
"""Operations whose bodies must be a text and a number at the same time."""

TOKEN = {"access_token": "s3cr3t-token", "token_type": "bearer"}


def read(path: Path) -> dict[str, Any]:
    document = parse_document(path.read_bytes(), "", path.as_uri())
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_operation_becomes_a_tool_without_a_dangling_reference(path: Path) -> None:
    document = read(path)
    conversion = tools_from_openapi(document, url=f"https://api.example.com/{path.name}")
    assert not conversion.skipped
    assert [(tool.method, tool.path) for tool in conversion.tools] == declared_operations(document)
    assert len({tool.name for tool in conversion.tools}) == len(conversion.tools)
    for tool in conversion.tools:
        assert not dangling_references(tool.inputs), tool.name
        assert not dangling_references(tool.outputs), tool.name
        assert 0 < len(tool.description) <= 1_000


def arguments_for(tool: BridgedTool, whole: dict[str, Any]) -> dict[str, Any] | None:
    """Arguments that the tool accepts, as many as possible; None if none were found.

    Args:
        tool: The tool.
        whole: The whole schema of its arguments, of which a large tool shows only the outline.
    """
    for schema, optional, arm in product((tool.input_schema, whole), (True, False), range(8)):
        try:
            arguments = value_for(schema, schema, optional=optional, arm=arm)
            return tool.arguments.accept(arguments, repair=False)
        except (NoValueError, InvalidArguments):
            continue
    return None


def with_token_endpoint(value: Any, url: str) -> Any:
    """The document with token endpoints on this machine, because a test must not ask others."""
    if isinstance(value, dict):
        return {
            key: url if key == "tokenUrl" and isinstance(item, str) else with_token_endpoint(item, url)
            for key, item in value.items()
        }
    return [with_token_endpoint(item, url) for item in value] if isinstance(value, list) else value


def holds_secret(received: Received) -> bool:
    kind, _, value = received.headers.get("Authorization", "").partition(" ")
    readable = base64.b64decode(value).decode() if kind == "Basic" else value
    return "s3cr3t-" in received.target + str(received.headers) + readable


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
async def test_every_call_is_as_the_document_prescribes(path: Path) -> None:
    document = read(path)

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(TOKEN if request.path == "/token" else {})

    async with http_server(answer) as server:
        local = with_token_endpoint(copy.deepcopy(document), f"{server.url}/token")
        conversion = tools_from_openapi(local, base_url=f"{server.url}/base", defined=lambda _name: True)
        variables = {f"api_{name}": f"s3cr3t-{name}" for name in conversion.variables}
        manual = {"name": "api", "call_template_type": "text", "content": local, "base_url": f"{server.url}/base"}
        faults: list[str] = []
        called = 0
        async with await Toolset.aopen({"manual_call_templates": [manual], "variables": variables}) as toolset:
            assert toolset.report.ok, str(toolset.report)
            for made in conversion.tools:
                tool = toolset.find(f"api.{made.name}")
                arguments = arguments_for(tool, made.inputs)
                if arguments is None and made.name in IMPOSSIBLE:
                    called += 1
                    continue
                if arguments is None:
                    faults.append(f"{made.name}: no arguments were found")
                    continue
                result = await tool.acall(arguments)
                if result.is_error:
                    faults.append(f"{made.name}: {result.content}")
                    continue
                called += 1
                received = server.last
                expected = expected_request(document, made.method.lower(), made.path, arguments)
                if received.method != made.method:
                    faults.append(f"{made.name}: {received.method}")
                faults += [f"{made.name}: {fault}" for fault in differences(expected, received, document, "/base")]
                if holds_secret(received) != bool(made.variables):
                    faults.append(f"{made.name}: credentials were needed: {made.variables}")
        assert not faults, f"{len(faults)} of {len(conversion.tools)}:\n" + "\n".join(faults[:30])
        assert called == len(conversion.tools)
