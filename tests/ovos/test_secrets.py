"""Keys of the configuration are in nothing that OVOS logs, answers or puts on its bus."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from ovos_bus_client.message import Message
from ovos_utils.fakebus import FakeBus

import tests.support.ovos  # noqa: F401 - first, because importing OPM warns
from ovos_utcp_toolbox import UTCPToolBox
from tests.support.echo import threaded_server
from tests.support.manuals import config, http_tool, text_manual

KEY = "sk-3f9a77c2d1"


async def _echo(request: web.Request) -> web.Response:
    return web.json_response({"error": f"{request.url} {dict(request.headers)}"}, status=401)


def test_no_log_line_no_answer_and_no_message_has_a_key(
    toolbox: Callable[..., UTCPToolBox], bus: FakeBus, ovos_log: pytest.LogCaptureFixture
) -> None:
    messages: list[str] = []
    bus.on("message", messages.append)
    with threaded_server(_echo) as server:
        failing = {"name": "a", "call_template_type": "http", "url": f"{server.url}/utcp?key=${{KEY}}"}
        tool = http_tool("op", f"{server.url}/op", headers={"Authorization": "Bearer ${KEY}"})
        source: Any = config(failing, text_manual("b", [tool], "http"), variables={"a_KEY": KEY, "b_KEY": KEY})
        box = toolbox(config={"utcp_config": source}, bus=bus)
        output = box.call_tool("b_op", {})
        call = {"toolbox_id": box.toolbox_id, "name": "b_op", "kwargs": {}}
        for topic in ("ovos.persona.tools.call", f"ovos.persona.tools.{box.toolbox_id}.call"):
            bus.emit(Message(topic, call))
        bus.emit(Message("ovos.persona.tools.discover"))
        said = [str(output), repr(output), str(box.toolset.report), repr(box), json.dumps(box.tool_json_list)]
    assert output.is_error
    assert "***" in output.content
    assert any("b_op" in message for message in messages)
    assert "manual 'a' failed" in ovos_log.text
    for text in (*said, *messages, ovos_log.text):
        assert KEY not in text
