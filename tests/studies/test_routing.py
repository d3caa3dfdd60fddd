"""Routers in worlds whose truth is known."""

import pytest
from click.testing import CliRunner

from coterie.pool.values.statistics import wilson
from studies import routing
from studies.routing import WORLDS, main, simulate

ALIKE, BETTER, DECIDED = WORLDS


def test_where_both_are_alike_the_gain_covers_0_as_often_as_it_says(nightly: bool) -> None:
    """A router's choice for a case does not depend on how the case went, so its gain is 0."""
    times = 1_000 if nightly else 10
    result = simulate(ALIKE, 30, times=times)
    assert all(item.truth == (0, 0) for item in result)
    for side in (0, 1):
        _, high = wilson(sum(item.holds[side] for item in result), times)
        assert high >= 0.95


def test_where_a_feature_decides_it_is_found_and_worth_it(nightly: bool) -> None:
    result = simulate(DECIDED, 120, times=100 if nightly else 3)
    assert sum(item.found for item in result) > 0.6 * len(result)
    assert sum(item.truth[0] for item in result) > 0
    assert not any(item.found and item.constant for item in result)


def test_where_the_team_is_better_there_is_nothing_to_find(nightly: bool) -> None:
    result = simulate(BETTER, 60, times=100 if nightly else 3)
    for item in result:
        assert item.truth[1] <= 0 <= item.oracle


def test_equal_draws_agree_and_each_size_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "SIZES", (12, 30))
    assert simulate(DECIDED, 30, times=2) == simulate(DECIDED, 30, times=2)
    done = CliRunner().invoke(main, ["--times", "1"])
    assert done.exit_code == 0, done.output
    assert len(done.output.strip().splitlines()) == 2 + 3 * 2
