"""Sides are measured in turns, and figures are medians of what was seen in the same round."""

from __future__ import annotations

import pytest

from benchmarks.figures import Figure, advantage, amount, cost, share
from benchmarks.measuring import Rounds, Spread, in_turns, repeated

# Ours takes 0.2, 0.3 and 0.4 of a second, and the yardstick always half of it: the machine slowed down.
ROUNDS = Rounds({"ours": [0.2, 0.3, 0.4], "floor": [0.1, 0.15, 0.2]})


def test_each_side_is_measured_once_in_every_round_and_once_before_them() -> None:
    order: list[str] = []

    def side(name: str, seconds: float) -> None:
        order.append(name)
        taken.append(seconds)

    taken: list[float] = []

    def work(name: str) -> float:
        side(name, 8.0)
        return 8.0

    rounds = in_turns({"a": lambda _: work("a"), "b": lambda _: work("b")}, rounds=3, calls=4)
    assert order == ["a", "b", "a", "b", "b", "a", "a", "b"]
    assert rounds.seconds == {"a": [2.0] * 3, "b": [2.0] * 3}


def test_a_measurement_makes_as_many_calls_as_it_is_told() -> None:
    calls: list[int] = []
    assert repeated(lambda: calls.append(1))(5) >= 0
    assert len(calls) == 5


def test_a_ratio_is_of_the_same_round_so_that_a_slower_machine_does_not_change_it() -> None:
    assert ROUNDS.ratio("ours", "floor") == Spread(2.0, 2.0, 2.0)
    assert Spread.of([5.0]) == Spread(5.0, 5.0, 5.0)


@pytest.mark.parametrize(
    ("figure", "value", "is_met"),
    [
        (cost("s", "c", ROUNDS, "ours", "floor", at_most=1.25), 2.0, False),
        (cost("s", "c", ROUNDS, "ours", "floor", at_most=2.0), 2.0, True),
        (cost("s", "c", ROUNDS, "ours", "floor"), 2.0, None),
        (share("s", "c", ROUNDS, "ours", "floor", at_least=0.6), 0.5, False),
        (advantage("s", "c", ROUNDS, "floor", "ours", at_least=2.0), 2.0, True),
        (amount("s", "c", ROUNDS, "ours", "floor", unit="ms", at_most=300), 300.0, True),
    ],
)
def test_a_figure_says_whether_its_target_is_met(figure: Figure, value: float, is_met: bool | None) -> None:
    assert figure.value == pytest.approx(value)
    assert figure.is_met is is_met
    assert Figure.from_dict(figure.to_dict()) == figure
