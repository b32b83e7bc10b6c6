"""A server of a real framework and its own OpenAPI document: each operation answers right in every framework."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("multipart")

import uvicorn

from tests.contract.offers import Adapter, Outcome
from tests.support.manuals import config
from tests.support.openapi_fastapi import app
from tests.support.openapi_fastapi_calls import CALLS, VARIABLES
from tests.support.openapi_reading_bodies import json_of


@pytest.fixture(scope="module")
def source() -> Iterator[dict[str, Any]]:
    server = uvicorn.Server(uvicorn.Config(app, loop="asyncio", log_level="error"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/openapi.json"
        manual = {"name": "f", "call_template_type": "http", "url": url}
        yield config(manual, variables=VARIABLES)
        server.should_exit = True
        thread.join(5)


@pytest.mark.behaviour("openapi.described")
def test_a_server_that_describes_itself_is_called_right(adapter: Adapter, source: dict[str, Any]) -> None:
    with adapter.offer(source, timeout=10) as offer:
        assert sorted(offer.descriptions()) == sorted(f"f_{name}" for name, _, _ in CALLS)
        assert "skipped" not in offer.report()
        answers = {name: offer.call(f"f_{name}", arguments) for name, arguments, _ in CALLS}
    for name, _, answer in CALLS:
        expected = answer if isinstance(answer, str) else json_of(answer)
        assert answers[name] == Outcome("(no content)" if answer is None else expected, False), name
