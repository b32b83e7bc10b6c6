"""One call, and many at once, over HTTP on loopback, against the floor of each framework."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.figures import Figure, cost, share
from benchmarks.floors import requests_to
from benchmarks.frameworks import FRAMEWORKS
from benchmarks.measuring import Effort, awaited, in_turns, repeated, threaded
from benchmarks.servers import source, tool_server

_ONE = "One call over HTTP"
_MANY = "Many calls at once over HTTP"
_FLOOR = "floor"
_HOPLESS = "floor without a thread"
_THREADS = 8


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure every framework, async and sync."""
    with tool_server() as base_url, ThreadPoolExecutor(_THREADS) as pool, requests_to(base_url) as requests:
        for framework, (open_calls, blocking, awaitable) in FRAMEWORKS.items():
            goal = None if framework == "core" else 1.25
            with open_calls(source(f"{base_url}/utcp"), requests) as calls:
                names = {"ours": "ours", "floor": _FLOOR, "hopless": _HOPLESS}
                for at_once in effort.at_once if calls.awaited else ():
                    sides = {names[side]: awaited(requests.loop, call, at_once) for side, call in calls.awaited.items()}
                    several = max(effort.calls // at_once, 4 if at_once > 1 else 1) * at_once
                    rounds = in_turns(sides, rounds=effort.rounds, calls=several)
                    if at_once == 1:
                        yield cost(_ONE, f"{framework} `{awaitable}`", rounds, "ours", _FLOOR, at_most=goal)
                    else:
                        least = 0.6 if at_once == 64 and goal else None
                        case = f"{framework} `{awaitable}`, {at_once} at once"
                        yield share(_MANY, case, rounds, "ours", _FLOOR, at_least=least)
                one = {names[side]: repeated(call) for side, call in calls.blocking.items()}
                rounds = in_turns(one, rounds=effort.rounds, calls=effort.calls)
                yield cost(_ONE, f"{framework} `{blocking}`", rounds, "ours", _FLOOR, at_most=goal)
                yield cost(_ONE, f"{framework} `{blocking}`", rounds, "ours", _HOPLESS)
                many = {
                    names[side]: threaded(pool, _THREADS, call)
                    for side, call in calls.blocking.items()
                    if side != "hopless"
                }
                rounds = in_turns(many, rounds=effort.rounds, calls=max(effort.calls // _THREADS, 1) * _THREADS)
                yield share(_MANY, f"{framework} `{blocking}` in {_THREADS} threads", rounds, "ours", _FLOOR)
