"""Calls work from wherever they are made, in every framework."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.contract.offers import Adapter
from tests.support.manuals import config
from utcp_bridge.testing import ServedTool, ToolServer

ECHO = ServedTool("echo", "Echoes.", {"n": {"type": "integer"}}, lambda arguments: arguments)


@pytest.mark.behaviour("loop.anywhere")
def test_a_call_works_with_and_without_a_running_loop(adapter: Adapter) -> None:
    with ToolServer([ECHO]) as server, adapter.offer(config(server.call_template("m"))) as offer:

        async def inside_a_loop() -> str:
            return offer.call("m_echo", {"n": 2}).content

        contents = [offer.call("m_echo", {"n": 1}).content]
        if adapter.blocks:
            contents += [asyncio.run(inside_a_loop()), asyncio.run(inside_a_loop())]
            expected = ['{"n":"1"}', '{"n":"2"}', '{"n":"2"}']
        else:
            # Each call has run on a loop of its own already.
            contents += [offer.call("m_echo", {"n": 2}).content]
            expected = ['{"n":"1"}', '{"n":"2"}']
    assert contents == expected


@pytest.mark.behaviour("loop.threads")
def test_calls_from_many_threads_run_at_the_same_time(adapter: Adapter) -> None:
    together = threading.Barrier(8, timeout=10)

    def meet(_: dict[str, Any]) -> str:
        together.wait()
        return "met"

    # Each handler answers only when eight of them run at once.
    with (
        ToolServer([ServedTool("meet", "Waits for seven others.", {}, meet)]) as server,
        adapter.offer(config(server.call_template("m"))) as offer,
        ThreadPoolExecutor(8) as pool,
    ):
        outcomes = list(pool.map(lambda _: offer.call("m_meet", {}), range(8)))
    assert [outcome.content for outcome in outcomes] == ["met"] * 8
