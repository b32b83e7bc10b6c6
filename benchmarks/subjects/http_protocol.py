"""One call through `HttpProtocol` alone, against the bare request: what is left when no framework hides it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.figures import Figure, cost
from benchmarks.floors import requests_to
from benchmarks.measuring import Effort, awaited, in_turns
from benchmarks.servers import ARGUMENTS, tool_server

_BARE = "a bare request"


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure GET and POST, one and many at once."""
    from utcp_http.http_call_template import HttpCallTemplate

    from utcp_bridge.transports.http.protocol import HttpProtocol

    with tool_server() as base_url, requests_to(base_url) as requests:
        url = f"{base_url}/weather"
        protocol = HttpProtocol()
        templates: dict[str, tuple[HttpCallTemplate, dict[str, Any]]] = {
            "GET": (HttpCallTemplate(name="m", url=url, http_method="GET"), ARGUMENTS),
            "POST": (HttpCallTemplate(name="m", url=url, http_method="POST", body_field="body"), {"body": ARGUMENTS}),
        }
        bare: dict[str, Callable[[], Awaitable[object]]] = {
            "GET": partial(requests.awaited, **ARGUMENTS),
            "POST": requests.awaited_post,
        }
        for method, (template, arguments) in templates.items():
            for at_once in (at_once for at_once in effort.at_once if at_once in {1, 64}):
                ours = partial(protocol.call_tool, None, "m.get_weather", arguments, template)
                sides = {
                    "ours": awaited(requests.loop, ours, at_once),
                    _BARE: awaited(requests.loop, bare[method], at_once),
                }
                calls = max(effort.calls // at_once, 8) * at_once
                rounds = in_turns(sides, rounds=effort.rounds, calls=calls)
                yield cost("The HTTP transport alone", f"{method}, {at_once} at once", rounds, "ours", _BARE)
        requests.loop.run_until_complete(protocol.close())
