"""Sides measured in turns: each round has one measurement of every side, and the figures are medians over rounds."""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

Work: TypeAlias = Callable[[int], float]
"""Makes this many calls and returns the seconds that they took, all together."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Attributes:
        rounds: How often each side is measured.
        calls: How many calls are one measurement of it, where a call is short.
        tools: How many tools a large manual has, by the name of the case.
        at_once: How many calls are under way at the same time, one case each.
        imports: How many imports are measured.
    """

    rounds: int
    calls: int
    tools: Mapping[str, int]
    at_once: tuple[int, ...]
    imports: int


FULL = Effort(
    rounds=25, calls=100, tools={"1,000 tools": 1_000, "10,000 tools": 10_000}, at_once=(1, 8, 64, 512), imports=8
)
QUICK = Effort(rounds=1, calls=2, tools={"20 tools": 20}, at_once=(1, 8), imports=1)
"""Only shows that everything runs; its figures mean nothing."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A median, and the quartiles around it."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """The spread of values; a single one is its own quartiles."""
        low, median, high = statistics.quantiles(values * 2 if len(values) == 1 else values, n=4, method="inclusive")
        return cls(low, median, high)


@dataclass(frozen=True, slots=True)
class Rounds:
    """The seconds that each side took for one call, by its name, round by round."""

    seconds: Mapping[str, list[float]]

    def median(self, side: str) -> float:
        """The median of a side, in seconds a call."""
        return statistics.median(self.seconds[side])

    def ratio(self, side: str, to: str) -> Spread:
        """How many times as long a side took, compared round by round."""
        return Spread.of([ours / theirs for ours, theirs in zip(self.seconds[side], self.seconds[to], strict=True)])


def in_turns(sides: Mapping[str, Work], *, rounds: int, calls: int) -> Rounds:
    """Measure sides in turns, after one measurement of each that does not count.

    Args:
        sides: What to measure, by name.
        rounds: How often; at least once.
        calls: The calls of one measurement.
    """
    for work in sides.values():
        work(calls)
    gc.collect()
    gc.freeze()  # what is there already is no work of either side, and collecting it would hide what is
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for turn in range(rounds):
        start = turn % len(names)  # so that no side always comes after the same other one
        for name in names[start:] + names[:start]:
            seconds[name].append(sides[name](calls) / calls)
    gc.unfreeze()
    return Rounds(seconds)


def repeated(call: Callable[[], object]) -> Work:
    """One call after the other."""

    def work(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - start

    return work


def awaited(loop: asyncio.AbstractEventLoop, call: Callable[[], Awaitable[object]], at_once: int = 1) -> Work:
    """Calls on a loop, with `at_once` of them under way at any time; give a multiple of it as calls."""

    async def some(calls: int) -> None:
        for _ in range(calls):
            await call()

    async def all_of(calls: int) -> float:
        start = time.perf_counter()
        await asyncio.gather(*(some(calls // at_once) for _ in range(at_once)))
        return time.perf_counter() - start

    def work(calls: int) -> float:
        return loop.run_until_complete(all_of(calls))

    return work


def threaded(pool: ThreadPoolExecutor, threads: int, call: Callable[[], object]) -> Work:
    """Blocking calls in several threads of a pool at the same time; give a multiple of their number as calls."""

    def some(calls: int) -> None:
        for _ in range(calls):
            call()

    def work(calls: int) -> float:
        start = time.perf_counter()
        for finished in [pool.submit(some, calls // threads) for _ in range(threads)]:
            finished.result()
        return time.perf_counter() - start

    return work
