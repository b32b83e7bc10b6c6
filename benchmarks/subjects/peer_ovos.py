"""`ovos-tool-adapters` beside ours, in an environment of its own: it requires `ovos-plugin-manager<3`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import closing

from benchmarks.figures import Figure, advantage
from benchmarks.measuring import Effort, in_turns, repeated
from benchmarks.own_interpreter import UnavailableError

_SUBJECT = "OVOS, beside `ovos-tool-adapters` 0.1.2"
_PEER = "ovos-tool-adapters"


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure one call over HTTP."""
    try:
        theirs_module = importlib.import_module("ovos_tool_adapters.utcp")  # not among our own dependencies
    except ImportError as error:
        raise UnavailableError(str(error)) from error

    from benchmarks.servers import ARGUMENTS, QUERY, source, tool_server
    from ovos_utcp_toolbox import UTCPToolBox

    with tool_server() as base_url:
        configuration = source(f"{base_url}/utcp")
        theirs = theirs_module.UTCPToolBox(config={"utcp_config": configuration})
        if not theirs.tools:
            raise UnavailableError(
                "ovos-tool-adapters 0.1.2 loads no tools: it imports utcp.client, which utcp 1.x does not have"
            )
        with closing(UTCPToolBox(config={"utcp_config": configuration})) as ours:
            sides = {
                "ours": repeated(lambda: ours.call_tool("m_get_weather", ARGUMENTS)),
                _PEER: repeated(lambda: theirs.call_tool("m.get_weather", QUERY)),
            }
            rounds = in_turns(sides, rounds=effort.rounds, calls=effort.calls)
        yield advantage(_SUBJECT, "how much longer its call over HTTP takes", rounds, "ours", _PEER)
