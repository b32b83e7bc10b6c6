"""What the OVOS tests share: a manual that changes, a bus that keeps its answers, and plugins as OVOS installs them."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

with warnings.catch_warnings():
    # OPM imports `aifc`, and with it `audioop`, which Python 3.11 and 3.12 deprecate.
    warnings.simplefilter("ignore", DeprecationWarning)
    import ovos_plugin_manager.templates  # noqa: F401

from ovos_bus_client.message import Message
from ovos_utils.fakebus import FakeBus

from tests.support.manuals import http_tool

BRAINS = Path(__file__).parent / "ovos_brains"


class ManualServer:
    """Serves a UTCP manual that a test changes while it is running, and its tools, which echo their query.

    Attributes:
        tools: The names of the tools that the manual lists.
        fetches: How many times the manual was asked for.
        failing: Whether the manual is answered with status 503.
        gate: Cleared, it holds back the manual until it is set.
        speech: What the tool `speak` replies with instead, as audio.
    """

    speech = b"RIFF" + bytes(96)

    def __init__(self, *tools: str) -> None:
        self.tools = list(tools)
        self.fetches = 0
        self.failing = False
        self.gate = threading.Event()
        self.gate.set()
        self.url = ""

    def template(self, name: str) -> dict[str, Any]:
        """The manual call template of this server."""
        return {"name": name, "call_template_type": "http", "url": f"{self.url}/utcp", "http_method": "GET"}

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, media type and body for a request."""
        if path == "/speak":
            return 200, "audio/wav", self.speech
        status, reply = self._manual() if path == "/utcp" else (200, {"called": path})
        return status, "application/json", json.dumps(reply).encode()

    def _manual(self) -> tuple[int, Any]:
        self.fetches += 1
        self.gate.wait()
        if self.failing:
            return 503, {"error": "not ready"}
        tools = [http_tool(name, f"{self.url}/{name}") for name in self.tools]
        return 200, {"manual_version": "1.0.0", "utcp_version": "1.0.1", "tools": tools}


@contextmanager
def serving(manual: ManualServer) -> Iterator[ManualServer]:
    """Serve a manual on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, media_type, body = manual.answer(self.path.partition("?")[0])
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        manual.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield manual
        finally:
            manual.gate.set()
            server.shutdown()
            thread.join()


class Caller:
    """Someone on the bus who asks toolboxes."""

    def __init__(self, bus: FakeBus) -> None:
        self.bus = bus

    def ask(self, topic: str, **data: Any) -> list[dict[str, Any]]:
        """The data of every answer to a message."""
        answers: list[dict[str, Any]] = []

        def keep(message: Message) -> None:
            answers.append(message.data)

        self.bus.on(f"{topic}.response", keep)
        try:
            self.bus.emit(Message(topic, data, {"source": "test"}))
        finally:
            self.bus.remove(f"{topic}.response", keep)
        return answers
