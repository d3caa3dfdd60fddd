"""Every strategy beside its control: a gain where one can be learnt, none where nothing helps."""

from importlib.metadata import entry_points

import pytest

from coterie.operators.evolution.strategy import strategy_of
from studies.controls.trials import RECIPES, tried

OURS = sorted(point.name for point in entry_points(group="coterie.strategies"))
BASELINES = {"fixed", "best_of_n"}
"""Strategies that learn nothing."""
SMALL = {"learnt": 4, "held_out": 12}


@pytest.mark.parametrize("name", OURS)
def test_what_is_learnt_is_a_gain_over_the_same_without_it(name: str) -> None:
    tested = tried(name, "sure gain", 1, **SMALL)
    if name in BASELINES:
        assert tested.interval[0] < tested.gain == 0 < tested.interval[1]
    else:
        assert tested.gain >= 0.4
        assert tested.interval[0] > 0
    settings = strategy_of(name).settings(**RECIPES[name])
    assert bool(tested.readers) == (bool(strategy_of(name).keeps(settings)) or name == "meta_team")


@pytest.mark.parametrize("name", OURS)
def test_where_nothing_helps_the_gain_is_not_told_from_nothing(name: str) -> None:
    low, high = tried(name, "sure null", 1, **SMALL).interval
    assert low <= 0 <= high
