"""From an OpenAPI document to a list of tools, against upstream's converter in `UtcpClient.create`.

`benchmarks/openapi_ready.py` measures real documents, which are not part of this repository.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Iterator
from typing import Any

from benchmarks.figures import Figure, cost
from benchmarks.measuring import Effort, awaited, in_turns
from benchmarks.servers import source, tool_server
from benchmarks.subjects.loading import BARE, core_list, only_upstream


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure the core, with two operations on each path."""
    case, count = next(iter(effort.tools.items()))
    document = json.dumps(_document(count)).encode()
    with tool_server(document) as base_url:
        loop = asyncio.new_event_loop()
        sides = {
            name: awaited(loop, functools.partial(work, source(f"{base_url}/utcp"), count))
            for name, work in {"ours": core_list, BARE: only_upstream}.items()
        }
        rounds = in_turns(sides, rounds=max(1, effort.rounds // 4), calls=1)
        loop.close()
    yield cost("Loading an OpenAPI document", f"core, {case}", rounds, "ours", BARE, unit="ms")


def _document(count: int) -> dict[str, Any]:
    paths = {f"/things{index}/{{id}}": _operations(index) for index in range(count // 2)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9/api"}],
        "paths": paths,
        "components": {"schemas": {"Thing": _THING, "Error": _ERROR}},
    }


def _operations(index: int) -> dict[str, Any]:
    the_id = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    limit = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}}
    body = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}
    responses = {
        "200": {
            "description": "The thing",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
        },
        "404": {
            "description": "No such thing",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        },
    }
    return {
        "get": {
            "operationId": f"get_thing_{index}",
            "summary": f"Gets a thing of kind {index}",
            "parameters": [the_id, limit],
            "responses": responses,
        },
        "put": {
            "operationId": f"put_thing_{index}",
            "summary": f"Replaces a thing of kind {index}",
            "parameters": [the_id],
            "requestBody": body,
            "responses": responses,
        },
    }


_THING = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "What it is called"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "owner": {"type": ["string", "null"]},
        "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
    },
}
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}}
