"""The tool server that everything is measured against: plain aiohttp, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from aiohttp import web

REPLY = {"temperature": 21.5, "unit": "C", "days": [1, 2, 3]}
ARGUMENTS = {"city": "Paris", "days": 3, "metric": True}
QUERY = {"city": "Paris", "days": "3", "metric": "true"}
WEATHER_SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "The city"},
        "days": {"type": "integer", "minimum": 1, "maximum": 10},
        "metric": {"type": "boolean", "default": True},
    },
    "required": ["city"],
}


def weather_tool(base_url: str) -> dict[str, Any]:
    """The tool of the server as a manual describes it."""
    return {
        "name": "get_weather",
        "description": "The weather in a city",
        "inputs": WEATHER_SCHEMA,
        "tool_call_template": {"call_template_type": "http", "url": f"{base_url}/weather", "http_method": "GET"},
    }


def manual_of(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """A manual of these tools."""
    return {"utcp_version": "1.0.1", "manual_version": "1.0.0", "tools": tools}


def source(manual_url: str) -> dict[str, Any]:
    """The client configuration of one manual, for utcp-bridge and upstream alike."""
    template = {"name": "m", "call_template_type": "http", "url": manual_url, "http_method": "GET"}
    return {"manual_call_templates": [template]}


@contextmanager
def tool_server(manual: bytes | None = None, certificate: Path | None = None) -> Iterator[str]:
    """Serve `/weather`, which answers everything with a little JSON, and a manual at `/utcp`.

    Args:
        manual: The manual; default None, one whose only tool is the weather.
        certificate: A file with a certificate and its key, to speak TLS.

    Yields:
        The server's base URL.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(theirs, manual, certificate), daemon=True)
    server.start()
    try:
        yield ours.recv()
    finally:
        server.terminate()
        server.join()


def _serve(ready: Connection, manual: bytes | None, certificate: Path | None) -> None:
    asyncio.run(_main(ready, manual, certificate))


async def _main(ready: Connection, manual: bytes | None, certificate: Path | None) -> None:
    base_url = ""

    async def weather(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(REPLY)

    async def utcp(_request: web.Request) -> web.Response:
        document = manual or json.dumps(manual_of([weather_tool(base_url)])).encode()
        return web.Response(body=document, content_type="application/json")

    tls = None
    if certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(certificate)
    app = web.Application()
    app.router.add_route("*", "/weather", weather)
    app.router.add_get("/utcp", utcp)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls, backlog=1024).start()
    base_url = f"{'http' if tls is None else 'https'}://127.0.0.1:{runner.addresses[0][1]}"
    ready.send(base_url)
    await asyncio.Event().wait()
