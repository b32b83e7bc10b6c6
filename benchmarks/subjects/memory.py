"""The memory that a tool takes, against a tool of upstream's `UtcpClient`; each measured in a fresh interpreter."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

from benchmarks.figures import Figure, amount
from benchmarks.measuring import Effort, Rounds
from benchmarks.own_interpreter import run_module
from benchmarks.servers import manual_of, tool_server
from benchmarks.subjects.loading import many_sided_tool

_BARE = "UtcpClient.create"
_STATES = {"loaded": "loaded", "shown": "shown to a model", "used": "that has judged arguments"}


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure the core and LangChain."""
    case, count = next(iter(effort.tools.items()))
    manuals = [json.dumps(manual_of([many_sided_tool(index) for index in range(many)])).encode() for many in (count, 1)]
    grown: defaultdict[str, list[float]] = defaultdict(list)
    with tool_server(manuals[0]) as large, tool_server(manuals[1]) as small:
        for _ in range(max(1, effort.rounds // 5)):
            for side in (_BARE, "core", "LangChain"):
                urls = f"{large}/utcp", f"{small}/utcp"
                [states] = run_module("benchmarks.memory_of", side, str(count), *urls)
                for state, size in states.items():
                    grown[side if side == _BARE else f"{side}, a tool {_STATES[state]}"].append(size)
    rounds = Rounds(grown)
    for name in grown:
        if name != _BARE:
            yield amount("Memory", f"{name}, {case}", rounds, name, _BARE, unit="kB")
