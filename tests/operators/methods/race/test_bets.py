"""Bets: the interval holds the truth at every moment, and closes where there is a difference."""

import random

import pytest

from coterie.operators.methods.race.bets import Bets

RACES, SLOTS, EVERY = 100, 60, 10


def intervals(gain: float, seed: int) -> list[tuple[float, float]]:
    chance, bets, seen = random.Random(seed), Bets(), list[tuple[float, float]]()
    for slot in range(SLOTS):
        bets.take((chance.random() < 0.4 + gain) - (chance.random() < 0.4))
        if slot % EVERY == EVERY - 1:
            seen.append(bets.interval)
    return seen


@pytest.mark.parametrize("gain", [-0.3, 0.0, 0.4])
def test_at_no_moment_more_than_five_in_a_hundred_miss(gain: float) -> None:
    missed = sum(
        any(not low <= gain <= high for low, high in intervals(gain, seed)) for seed in range(RACES)
    )
    assert missed <= 0.05 * RACES


def test_a_large_gain_is_seen_and_no_gain_is_not() -> None:
    assert sum(intervals(0.4, seed)[-1][0] > 0 for seed in range(RACES)) > 0.8 * RACES
    assert sum(intervals(0.0, seed)[-1][0] > 0 for seed in range(RACES)) < 0.03 * RACES


def test_what_is_not_known_is_nobodys_gain() -> None:
    bets, others = Bets(), Bets()
    for difference in (1, None, 0, -1):
        bets.take(difference)
    for difference in (1, 0, -1):
        others.take(difference)
    assert (bets.interval, bets.slots) == (others.interval, 4)
