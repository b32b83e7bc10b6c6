"""A web server on loopback that serves documents, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Documents:
    """Serves `pages`, by path; a value that is no text is sent as JSON.

    Attributes:
        base_url: Where it listens.
        pages: What it serves; it may change at any time.
        statuses: The status of a path; 200 where there is none.
        delays: Seconds before a path is answered.
        gates: What a path waits at before it is answered.
        requests: Method, path with query, headers and body of each request.
    """

    base_url: str = ""
    pages: dict[str, Any] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    gates: dict[str, asyncio.Barrier] = field(default_factory=dict)
    requests: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)

    def template(self, name: str, path: str, **fields: Any) -> dict[str, Any]:
        """The manual call template that loads a path over HTTP."""
        return {"name": name, "call_template_type": "http", "url": f"{self.base_url}{path}", **fields}

    async def _answer(self, request: web.Request) -> web.Response:
        self.requests.append((request.method, str(request.rel_url), dict(request.headers), await request.text()))
        await asyncio.sleep(self.delays.get(request.path, 0))
        if request.path in self.gates:
            await self.gates[request.path].wait()
        if request.path not in self.pages:
            return web.json_response({"error": f"nothing at {request.path}"}, status=404)
        page = self.pages[request.path]
        status = self.statuses.get(request.path, 200)
        if isinstance(page, str):
            kind = "text/html" if page.lstrip().startswith("<") else "text/plain"
            return web.Response(text=page, status=status, content_type=kind)
        return web.Response(text=json.dumps(page), status=status, content_type="application/json")


@asynccontextmanager
async def serving(**pages: Any) -> AsyncIterator[Documents]:
    """Serve documents on the running loop; `name=page` is served at `/name`."""
    documents = Documents(pages={f"/{name}": page for name, page in pages.items()})
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", documents._answer)  # noqa: SLF001 - its own
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        documents.base_url = f"http://{host}:{port}"
        yield documents
    finally:
        await runner.cleanup()


def manual(*tools: dict[str, Any]) -> dict[str, Any]:
    """A UTCP manual."""
    return {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": list(tools)}


def tool(name: str, url: str, **template: Any) -> dict[str, Any]:
    """An HTTP tool with one optional argument, `text`."""
    return {
        "name": name,
        "description": f"Calls {name}.",
        "inputs": {"type": "object", "properties": {"text": {"type": "string"}}},
        "tool_call_template": {"call_template_type": "http", "url": url, "http_method": "GET", **template},
    }
