"""Held-out figures: intervals that hold in a world where nothing differs."""

import random
from collections.abc import Callable

import pytest

from coterie.operators.report.frozen import difference

Draw = Callable[[random.Random], tuple[float, float]]


def opposite(chance: random.Random) -> tuple[float, float]:
    first = float(chance.random() < 0.5)
    return first, 1 - first


def independent(chance: random.Random) -> tuple[float, float]:
    return float(chance.random() < 0.5), float(chance.random() < 0.5)


@pytest.mark.parametrize("draw", [opposite, independent])
@pytest.mark.parametrize("tasks", [3, 5, 10])
def test_teams_that_are_equally_good_seldom_seem_to_differ(draw: Draw, tasks: int) -> None:
    chance, repetitions, covered = random.Random(tasks), 300, 0
    for _ in range(repetitions):
        pairs = [draw(chance) for _ in range(tasks)]
        fields = {str(n): [pair[0]] for n, pair in enumerate(pairs)}
        other = {str(n): [pair[1]] for n, pair in enumerate(pairs)}
        _, (low, high) = difference(fields, other)
        covered += low <= 0 <= high
    assert covered / repetitions >= 0.91  # 95 % less what 300 repetitions allow


def test_a_difference_that_never_varied_has_an_interval() -> None:
    won = {str(n): [1.0] for n in range(12)}
    lost = {str(n): [0.0] for n in range(12)}
    mean, (low, high) = difference(won, lost)
    assert mean == 1.0
    assert 0.4 < low < high == 1.0
    assert difference(won, won)[1][0] < 0 < difference(won, won)[1][1]


def test_without_a_common_task_nothing_is_known() -> None:
    assert difference({"a": [1.0]}, {"b": [0.0]}) == (0.0, (-1.0, 1.0))
