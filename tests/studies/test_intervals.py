"""What 95 % intervals cover, in worlds whose truth is known."""

import pytest
from click.testing import CliRunner

from studies import intervals
from studies.intervals import World, bootstrap, coverage

SMALL = [
    World(tasks=3, trials=1),
    World(tasks=3, trials=5, alike=0.3),
    World(tasks=3, trials=5, alike=1.0),
    World(tasks=5, trials=3, alike=0.3, kind="thirds"),
    World(tasks=10, trials=1, kind="graded", alike=0.3),
    World(tasks=20, trials=3),
    World(tasks=1, trials=3, niches=20),
    World(tasks=2, trials=3, niches=20, alike=0.3, apart=0.2),
    World(tasks=5, trials=3, niches=8, apart=0.2),
]


def test_intervals_cover_what_they_claim(nightly: bool) -> None:
    times = 8_000 if nightly else 600
    worlds = [*SMALL, World(tasks=500, trials=5, alike=0.3)] if nightly else SMALL
    held = [coverage(world, times=times).mean for world in worlds]
    slack = 0.0 if nightly else 0.015  # what so few repetitions leave open
    assert all(0.925 - slack <= value <= 0.975 + slack for value in held), held
    assert 0.93 <= sum(held) / len(held) <= 0.97


@pytest.mark.parametrize("truth", [0.0, 1.0])
def test_what_is_always_right_or_always_wrong_is_covered(truth: float) -> None:
    import random

    for tasks, trials in ((3, 1), (3, 5), (100, 3)):
        scores, _ = World(tasks=tasks, trials=trials).evaluation(truth, random.Random(1))
        low, high = intervals.figure_interval(scores)
        assert low <= truth <= high


def test_the_bootstrap_that_results_had_held_no_truth_with_niches_of_one_task() -> None:
    """Drawing one task out of one says that nothing can vary."""
    world = World(tasks=1, trials=3, niches=8)
    assert coverage(world, bootstrap, times=20).width < 1e-9
    assert coverage(world, times=20).width > 0.2


def test_the_table_of_the_docs_is_printed_by_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "SIZES", ((3, 1), (4, 2)))
    monkeypatch.setattr(intervals, "NICHES", ((2, 2),))
    ran = CliRunner().invoke(intervals.main, ["--times", "20", "--compared", "2"])
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    assert lines[0].startswith("| niches | tasks each | trials | scores |")
    assert len(lines) == 2 + 4 + 2 * 4 + 4
