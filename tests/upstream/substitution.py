"""A pytest plugin for upstream's own tests: our protocols take the places of theirs.

`.ci/lanes.py` downloads the source distributions that hold those tests, and runs them with it. Where ours differ on
purpose, `differences.toml` names the test and the reason; such a test must fail, so that the list stays exact.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import utcp_cli
import utcp_cli.cli_communication_protocol as cli
import utcp_http
import utcp_http.http_communication_protocol as http
import utcp_http.sse_communication_protocol as sse
import utcp_http.streamable_http_communication_protocol as streamable

from utcp_bridge.transports.cli.protocol import CliProtocol
from utcp_bridge.transports.http.protocol import HttpProtocol
from utcp_bridge.transports.streaming.protocol import SseProtocol, StreamableHttpProtocol

SECURITY = ("security", "loopback", "isolation")

for package, module, name, ours in (
    (utcp_http, http, "HttpCommunicationProtocol", HttpProtocol),
    (utcp_http, sse, "SseCommunicationProtocol", SseProtocol),
    (utcp_http, streamable, "StreamableHttpCommunicationProtocol", StreamableHttpProtocol),
    (utcp_cli, cli, "CliCommunicationProtocol", CliProtocol),
):
    setattr(package, name, ours)
    setattr(module, name, ours)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Expect the listed failures, and leave out what is excluded."""
    listed: dict[str, Any] = tomllib.loads(Path(__file__).with_name("differences.toml").read_text(encoding="utf-8"))
    differences, excluded = _reasons(listed["differences"]), _reasons(listed["excluded"])
    _check({**differences, **excluded}, items)
    kept = [item for item in items if _name(item) not in excluded]
    config.hook.pytest_deselected(items=[item for item in items if _name(item) in excluded])
    for item in kept:
        if _name(item) in differences:
            item.add_marker(pytest.mark.xfail(reason=differences[_name(item)], strict=True))
    items[:] = kept


def _reasons(entries: list[dict[str, Any]]) -> dict[str, str]:
    return {test: entry["reason"] for entry in entries for test in entry["tests"]}


def _check(listed: Mapping[str, str], items: list[pytest.Item]) -> None:
    gone = sorted(listed.keys() - {_name(item) for item in items})
    if gone:
        raise pytest.UsageError(f"differences.toml names tests that upstream does not have: {', '.join(gone)}")
    unsafe = [test for test in listed if any(word in test.partition("::")[0] for word in SECURITY)]
    if unsafe:
        raise pytest.UsageError(f"a test of security cannot be a difference: {', '.join(unsafe)}")


def _name(item: pytest.Item) -> str:
    """`test_module.py::test_name`, without parameters."""
    path, _, test = item.nodeid.partition("::")
    return f"{Path(path).name}::{test.partition('[')[0]}"
