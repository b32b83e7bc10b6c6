"""One broken manual never takes the others away, in every framework."""

from __future__ import annotations

import pytest

from tests.contract.offers import Adapter
from tests.support.manuals import broken_manuals, config
from utcp_bridge.errors import DiscoveryError
from utcp_bridge.testing import ServedTool, ToolServer

HELLO = ServedTool("hello", "Says hello.", {}, lambda _: "hello")


@pytest.mark.behaviour("discovery.isolated")
def test_healthy_tools_are_offered_beside_broken_manuals_which_are_reported(adapter: Adapter) -> None:
    with ToolServer([HELLO]) as server:
        source = config(server.call_template("good"), *broken_manuals(f"{server.base_url}/tools/hello"))
        with adapter.offer(source) as offer:
            assert list(offer.descriptions()) == ["good_hello"]
            assert offer.call("good_hello", {}).content == "hello"
            report = offer.report()
    lines = {line.split("'")[1]: line for line in report.splitlines()}
    assert "1 tool" in lines["good"]
    assert "127.0.0.1:9" in lines["dead"]
    assert "my__api_TOKEN" in lines["my_api"]
    assert "failed" in lines["malformed"]


@pytest.mark.behaviour("discovery.raised")
def test_one_error_names_every_manual_that_failed(adapter: Adapter) -> None:
    with ToolServer([HELLO]) as server:
        source = config(server.call_template("good"), *broken_manuals(f"{server.base_url}/tools/hello"))
        with pytest.raises(DiscoveryError) as caught, adapter.offer(source, on_failure="raise"):
            pass
    assert all(name in str(caught.value) for name in ("'dead'", "'my_api'", "'malformed'"))
    assert "'good'" not in str(caught.value)
