"""One figure of the table: what was compared with what, what came of it, and what it ought to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from benchmarks.measuring import Rounds, Spread

Sort: TypeAlias = Literal["times", "share", "ms", "us", "kB"]
"""How many times the yardstick's cost; the share of its throughput; or an amount of its own."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure.

    Attributes:
        subject: The heading it stands under.
        case: What was measured.
        yardstick: What it was measured against, in the same run.
        sort: What `value` is.
        value: The median over the rounds.
        low: The lower quartile.
        high: The upper quartile.
        ours: What we took a call or tool, in the unit of `unit`.
        theirs: What the yardstick took.
        unit: Of `ours` and `theirs`.
        at_most: The target, if there is one of this kind.
        at_least: The target, if there is one of this kind.
    """

    subject: str
    case: str
    yardstick: str
    sort: Sort
    value: float
    low: float
    high: float
    ours: float
    theirs: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met, to the two places that are shown; None if there is none."""
        value = round(self.value, 2)
        if self.at_most is not None:
            return value <= self.at_most
        return None if self.at_least is None else value >= self.at_least

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON."""
        return {name: _rounded(value) for name, value in asdict(self).items()} | {"is_met": self.is_met}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Figure:
        """A figure of what `to_dict` gave."""
        return cls(**{name: value for name, value in fields.items() if name != "is_met"})


def cost(
    subject: str, case: str, rounds: Rounds, ours: str, theirs: str, *, unit: str = "us", at_most: float | None = None
) -> Figure:
    """How many times as long one side took as another."""
    spread = rounds.ratio(ours, theirs)
    return _figure(subject, case, rounds, ours, theirs, "times", spread, unit, at_most=at_most)


def share(subject: str, case: str, rounds: Rounds, ours: str, theirs: str, *, at_least: float | None = None) -> Figure:
    """The share of another side's throughput that one reaches."""
    spread = rounds.ratio(theirs, ours)
    return _figure(subject, case, rounds, ours, theirs, "share", spread, "us", at_least=at_least)


def advantage(
    subject: str, case: str, rounds: Rounds, ours: str, theirs: str, *, unit: str = "us", at_least: float | None = None
) -> Figure:
    """How many times as long another side took as ours."""
    spread = rounds.ratio(theirs, ours)
    return _figure(subject, case, rounds, ours, theirs, "times", spread, unit, at_least=at_least)


def amount(
    subject: str,
    case: str,
    rounds: Rounds,
    ours: str,
    theirs: str,
    *,
    unit: Literal["us", "ms", "kB"],
    at_most: float | None = None,
) -> Figure:
    """What one side takes, with a yardstick beside it; for `"kB"` the rounds hold bytes."""
    spread = Spread.of([taken * _SCALE[unit] for taken in rounds.seconds[ours]])
    return _figure(subject, case, rounds, ours, theirs, unit, spread, unit, at_most=at_most)


_SCALE = {"us": 1e6, "ms": 1e3, "kB": 1e-3}


def _figure(
    subject: str,
    case: str,
    rounds: Rounds,
    ours: str,
    theirs: str,
    sort: Sort,
    spread: Spread,
    unit: str,
    **target: float | None,
) -> Figure:
    scale = _SCALE[unit]
    return Figure(
        subject,
        case,
        theirs,
        sort,
        spread.median,
        spread.low,
        spread.high,
        rounds.median(ours) * scale,
        rounds.median(theirs) * scale,
        unit,
        **target,
    )


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
