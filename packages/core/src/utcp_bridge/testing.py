"""A real UTCP tool server on loopback, for users' own tests and for the demo."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from aiohttp import web

_MOST_HANDLERS = 64


class ToolServerError(Exception):
    """Raised by a handler: the server answers with this HTTP status and body."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.body = body


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool that `ToolServer` offers.

    Attributes:
        name: Its name in the manual.
        description: What it does.
        properties: JSON Schema of each argument, by name.
        handler: Takes the arguments as they came over the wire (text, for `"GET"`) and returns the JSON
            value to reply with; runs in a worker thread, so a slow one delays no other.
        required: The arguments that must be given.
        method: `"GET"` takes arguments in the query, `"POST"` the argument `body` as JSON.
        tags: Its tags in the manual.
    """

    name: str
    description: str
    properties: Mapping[str, Any]
    handler: Callable[[dict[str, Any]], Any]
    required: Sequence[str] = ()
    method: Literal["GET", "POST"] = "GET"
    tags: Sequence[str] = field(default=())


class ToolServer:
    """Serves a UTCP manual at `manual_url` and its tools, on a free loopback port, in a thread of its own.

    Example:
        ```python
        with ToolServer([echo]) as server:
            config = {"manual_call_templates": [server.call_template("demo")]}
        ```
    """

    def __init__(self, tools: Sequence[ServedTool]) -> None:
        self._tools = tuple(tools)
        self._runner: web.AppRunner | None = None
        self.base_url = ""

    @property
    def manual_url(self) -> str:
        """Where the manual is served."""
        return f"{self.base_url}/utcp"

    def call_template(self, name: str) -> dict[str, Any]:
        """The manual call template that loads this server's tools as the manual `name`."""
        return {"name": name, "call_template_type": "http", "url": self.manual_url, "http_method": "GET"}

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        # asyncio's own pool has as few as five threads, and handlers may wait for each other.
        self._loop.set_default_executor(ThreadPoolExecutor(_MOST_HANDLERS, "utcp-bridge-tool-server-handler"))
        self._thread = threading.Thread(target=self._loop.run_forever, name="utcp-bridge-tool-server", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if sys.is_finalizing():  # the program ends with the server running, and its thread has stopped already
            return
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_get("/utcp", self._serve_manual)
        for tool in self._tools:
            app.router.add_route(tool.method, f"/tools/{tool.name}", _serving(tool))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}"

    async def _stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        await asyncio.get_running_loop().shutdown_default_executor()

    async def _serve_manual(self, _request: web.Request) -> web.Response:
        tools = [self._described(tool) for tool in self._tools]
        return web.json_response({"manual_version": "1.0.0", "utcp_version": "1.0.1", "tools": tools})

    def _described(self, tool: ServedTool) -> dict[str, Any]:
        call_template = {
            "call_template_type": "http",
            "url": f"{self.base_url}/tools/{tool.name}",
            "http_method": tool.method,
            "content_type": "application/json",
        }
        if tool.method == "POST":
            call_template["body_field"] = "body"
        return {
            "name": tool.name,
            "description": tool.description,
            "tags": list(tool.tags),
            "inputs": {"type": "object", "properties": dict(tool.properties), "required": list(tool.required)},
            "tool_call_template": call_template,
        }


def _serving(tool: ServedTool) -> Callable[[web.Request], Any]:
    async def serve(request: web.Request) -> web.Response:
        arguments = dict(request.query) if tool.method == "GET" else {"body": await request.json()}
        try:
            return web.json_response(await asyncio.to_thread(tool.handler, arguments))
        except ToolServerError as error:
            return web.json_response(error.body, status=error.status)

    return serve
