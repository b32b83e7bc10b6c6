"""OpenAPI documents for tests: converted alone, or served on loopback and called through a toolset."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.support.http_server import HttpServer, Received, http_server
from utcp_bridge import Toolset
from utcp_bridge.openapi import Conversion, OpenApiTool, tools_from_openapi

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "openapi"
"""Real descriptions, where the collection of them is."""

DOCUMENT_PATH = "/specs/openapi.json"
METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"})


def described(paths: Mapping[str, Any], version: str = "3.0.3", /, **more: Any) -> dict[str, Any]:
    """A document with these paths; everything else a document must have is added."""
    kind = "swagger" if version.startswith("2") else "openapi"
    return {kind: version, "info": {"title": "Test", "version": "1"}, "paths": paths, **more}


def operation(*parameters: Mapping[str, Any], method: str = "get", path: str = "/op", **fields: Any) -> dict[str, Any]:
    """Paths with one operation, whose tool is called `op`."""
    own = {"operationId": "op", "responses": {"200": {"description": "OK"}}, **fields}
    if parameters:
        own["parameters"] = list(parameters)
    return {path: {method: own}}


def parameter(
    name: str, location: str = "query", kind: str | dict[str, Any] = "string", **fields: Any
) -> dict[str, Any]:
    """A parameter of OpenAPI 3; `kind` is its type or its schema."""
    return {"name": name, "in": location, "schema": {"type": kind} if isinstance(kind, str) else kind, **fields}


def json_body(schema: Mapping[str, Any], kind: str = "application/json", **fields: Any) -> dict[str, Any]:
    """A request body of one media type."""
    return {"content": {kind: {"schema": schema}}, **fields}


def converted(document: Mapping[str, Any], **options: Any) -> Conversion:
    """What comes of a document from an API's own server."""
    return tools_from_openapi(document, **{"url": "https://api.example.com/specs/openapi.json", **options})


def tool_of(document: Mapping[str, Any], name: str = "op", **options: Any) -> OpenApiTool:
    """The tool of this name."""
    conversion = converted(document, **options)
    found = {tool.name: tool for tool in conversion.tools}
    assert name in found, (list(found), conversion.skipped)
    return found[name]


@dataclass(slots=True)
class Api:
    """A served description, its tools, and the server's memory."""

    toolset: Toolset
    server: HttpServer

    async def sent(self, arguments: Mapping[str, Any] | None = None, name: str = "api.op") -> Received:
        """Call a tool and return what the server received."""
        before = len(self.server.received)
        result = await self.toolset.acall(name, arguments)
        assert not result.is_error, result.content
        assert len(self.server.received) == before + 1
        return self.server.last

    async def refused(self, arguments: Mapping[str, Any] | None = None, name: str = "api.op") -> str:
        """Call a tool in a way that must not reach the server, and return what the model is told."""
        before = len(self.server.received)
        result = await self.toolset.acall(name, arguments)
        assert result.is_error
        assert len(self.server.received) == before
        return result.content


@asynccontextmanager
async def api(
    document: Mapping[str, Any], *, variables: Mapping[str, str] | None = None, **template: Any
) -> AsyncIterator[Api]:
    """Serve a document and open a toolset on it; every other path answers `{}`.

    A document that names no server of its own is called where it came from.
    """

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(document if request.path == DOCUMENT_PATH else {})

    async with http_server(answer) as server:
        manual = {"name": "api", "call_template_type": "http", "url": server.url + DOCUMENT_PATH, **template}
        source = {"manual_call_templates": [manual], "variables": dict(variables or {})}
        async with await Toolset.aopen(json.loads(json.dumps(source))) as toolset:
            assert toolset.report.ok, str(toolset.report)
            yield Api(toolset, server)


def references_in(schema: Any) -> list[str]:
    """Every `$ref` of a JSON Schema; a property of that name is none."""
    found: list[str] = []
    waiting = [(schema, False)]
    while waiting:
        value, is_map = waiting.pop()
        if isinstance(value, dict):
            if not is_map and isinstance(value.get("$ref"), str):
                found.append(value["$ref"])
            waiting.extend(
                (child, not is_map and key in ("properties", "patternProperties", "$defs", "dependentSchemas"))
                for key, child in value.items()
                if is_map or key not in ("default", "example", "examples", "const", "enum")
            )
        elif isinstance(value, list):
            waiting.extend((child, False) for child in value)
    return found


def dangling_references(schema: dict[str, Any]) -> list[str]:
    """References of a schema that do not lead to one of its own definitions."""
    names = {f"#/$defs/{name}" for name in schema.get("$defs", {})}
    return [reference for reference in references_in(schema) if reference not in names]


def declared_operations(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Method and path of every operation that stands right in the document's paths."""
    return [
        (str(method).upper(), path)
        for path, item in (document.get("paths") or {}).items()
        if isinstance(item, dict)
        for method in item
        if str(method).lower() in METHODS
    ]
