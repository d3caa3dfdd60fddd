"""The statistics of an arena: how often it claims what is not so, and what it would have seen."""

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.benchmarks.arena.cells import CellOutcome
from coterie.benchmarks.arena.figures import area, arena_value, claim, least_effect
from coterie.runtime.values.usage import Usage

TASKS, SEEDS = 25, 4
Chance = Callable[[str, int], float]
"""How likely a method's team with a seed answers a task."""


def outcome(scores: list[float], begun: float = 0.5) -> CellOutcome:
    by_task = {f"t{n}": [score] for n, score in enumerate(scores)}
    control = {task: [0.0] for task in by_task}
    return CellOutcome(
        deployed="x",
        scores=by_task,
        control=control,
        begun=begun,
        dropped=0,
        unscored=0,
        failed=0,
    )


def claims(trial: int, chance: Chance) -> list[str]:
    """Return what an arena of three methods claims."""
    toss = random.Random(trial)
    cells: list[Any] = [
        SimpleNamespace(
            method=SimpleNamespace(name=name),
            stream="s",
            seed=seed,
            is_done=True,
            spending=(Usage(), Usage(), 0.0),
            pool=Path("a/cells/m/s/0"),
            outcome=outcome([float(toss.random() < chance(name, seed)) for _ in range(TASKS)]),
        )
        for seed in range(SEEDS)
        for name in ("base", "one", "two")
    ]
    rows = arena_value(cells)["rows"]
    return [row["versus"]["claim"] for row in rows if "versus" in row]


def share(chance: Callable[[int], Chance], claimed: str, trials: int = 100) -> float:
    """Return the share of arenas that make a claim about any method."""
    return sum(claimed in claims(trial, chance(trial)) for trial in range(trials)) / trials


def test_equal_methods_are_claimed_to_differ_in_few_arenas() -> None:
    arenas = [claims(trial, lambda _name, _seed: 0.5) for trial in range(100)]
    for claimed in ("better", "worse"):
        assert sum(claimed in arena for arena in arenas) <= 3


def test_a_method_that_finds_good_and_bad_teams_alike_is_not_claimed_to_be_better() -> None:
    """By pairs alone it would be: the teams of its seeds do differ from the baseline."""

    def by_luck(trial: int) -> Chance:
        luck = random.Random(trial + 10_000)
        lucky = {seed: luck.choice((0.15, 0.85)) for seed in range(SEEDS)}
        return lambda name, seed: 0.5 if name != "one" else lucky[seed]

    assert share(by_luck, "better") <= 0.1


def test_a_method_that_is_better_with_each_seed_is_claimed_to_be() -> None:
    assert share(lambda _: lambda name, _seed: 0.4 if name == "base" else 0.8, "better") >= 0.9


def test_the_least_effect_is_seen_four_times_in_five() -> None:
    toss = random.Random(1)
    differing = [toss.choice((-1.0, 0.0, 0.0, 1.0)) for _ in range(100)]
    effect = least_effect(differing, 1)
    assert effect == pytest.approx(2.8 * 0.71 / 10, rel=0.1)
    assert least_effect(differing, 10) > effect > least_effect(differing * 4, 1)


def test_a_claim_takes_both_the_pairs_and_the_cells() -> None:
    assert claim(0.01, 0.2, (0.1, 0.3)) == "better"
    assert claim(0.01, -0.2, (-0.3, -0.1)) == "worse"
    assert [claim(*case) for case in [(0.01, 0.2, None), (None, 0.2, (0.1, 0.3))]] == ["", ""]
    assert [claim(*case) for case in [(0.06, 0.2, (0.1, 0.3)), (0.01, 0.2, (-0.1, 0.5))]] == [
        "",
        "",
    ]


def test_the_area_counts_the_control_until_the_result_was_there() -> None:
    assert area(outcome([1.0, 1.0], begun=0.25)) == 0.75
    assert area(outcome([1.0, 0.0], begun=1.0)) == 0.0
