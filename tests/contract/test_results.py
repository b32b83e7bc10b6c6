"""Replies as agents see them, in every framework."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.offers import Adapter
from tests.support.manuals import config
from utcp_bridge.testing import ServedTool, ToolServer


def _replying(reply: Any) -> ToolServer:
    return ToolServer([ServedTool("reply", "Replies.", {}, lambda _: reply)])


@pytest.mark.behaviour("result.text")
@pytest.mark.parametrize("text", ["hello", "a\nb", "日本 \U0001f600", '{"not": "parsed"', "  spaced  "])
def test_text_is_shown_as_it_came(adapter: Adapter, text: str) -> None:
    with _replying(text) as server, adapter.offer(config(server.call_template("m"))) as offer:
        outcome = offer.call("m_reply", {})
    assert (outcome.content, outcome.is_error) == (text, False)


@pytest.mark.behaviour("result.json")
@pytest.mark.parametrize(
    ("reply", "content"),
    [
        ({"a": None, "b": True, "ü": "中"}, '{"a":null,"b":true,"ü":"中"}'),
        ([1, [2.5, "x"]], '[1,[2.5,"x"]]'),
        (0, "0"),
        (False, "false"),
    ],
)
def test_json_is_shown_compact_with_real_characters(adapter: Adapter, reply: Any, content: str) -> None:
    with _replying(reply) as server, adapter.offer(config(server.call_template("m"))) as offer:
        outcome = offer.call("m_reply", {})
    assert (outcome.content, outcome.is_error) == (content, False)


@pytest.mark.behaviour("result.empty")
@pytest.mark.parametrize("reply", [None, ""])
def test_an_empty_reply_is_shown_as_a_fixed_phrase(adapter: Adapter, reply: Any) -> None:
    with _replying(reply) as server, adapter.offer(config(server.call_template("m"))) as offer:
        outcome = offer.call("m_reply", {})
    assert (outcome.content, outcome.is_error) == ("(no content)", False)


@pytest.mark.behaviour("result.cut")
def test_a_long_reply_is_cut_by_an_option(adapter: Adapter) -> None:
    with _replying("x" * 50_000) as server:
        source = config(server.call_template("m"))
        with adapter.offer(source) as offer:
            by_default = offer.call("m_reply", {}).content
        with adapter.offer(source, max_chars=None) as offer:
            never = offer.call("m_reply", {}).content
        with adapter.offer(source, max_chars={"m.reply": 100}) as offer:
            by_tool = offer.call("m_reply", {}).content
    assert len(by_default) == 40_000
    assert "50,000" in by_default[-100:]
    assert never == "x" * 50_000
    assert len(by_tool) == 100
