"""Adjusted intervals: shorter where the other score tells something, and they cover as they say."""

import random
from statistics import fmean

import pytest

from coterie.pool.values.adjusted import adjusted_interval
from coterie.pool.values.intervals import paired_interval


def drawn(chance: random.Random, *, gain: float, alike: bool) -> tuple[list[float], ...]:
    """What a winner gains on 30 tasks, and what the original scores there and on 15 others."""

    def original(level: float) -> float:
        return float(chance.random() < level)

    levels = [chance.random() * 0.8 if alike else 0.4 for _ in range(45)]
    known = [original(level) for level in levels]
    winner = [float(chance.random() < level + gain) for level in levels[:30]]
    return [new - old for new, old in zip(winner, known, strict=False)], known[:30], known[30:]


@pytest.mark.parametrize("gain", [0.0, 0.2])
@pytest.mark.parametrize("alike", [False, True])
def test_it_covers_the_truth_as_often_as_it_says(gain: float, alike: bool) -> None:
    chance, covers, widths = random.Random(1), 0, list[float]()
    for _ in range(400):
        differences, beside, more = drawn(chance, gain=gain, alike=alike)
        _, (low, high) = adjusted_interval(differences, beside, more)
        covers += low <= gain <= high
        plain = paired_interval(differences)
        widths.append((high - low) / (plain[1] - plain[0]))
    assert 0.93 <= covers / 400 <= 0.985
    assert fmean(widths) < 0.98


def test_a_biased_judge_is_corrected_by_the_answers() -> None:
    chance, covers, plain = random.Random(2), 0, 0
    for _ in range(400):
        truth = [float(chance.choice((0, 0, 0, 1, -1))) for _ in range(120)]
        judged = [max(-1.0, min(1.0, each + chance.choice((0, 0, 1)))) for each in truth]
        estimate, (low, high) = adjusted_interval(truth[:30], judged[:30], judged[30:])
        covers += low <= 0 <= high
        plain += fmean(judged) > 0.1
        assert low <= estimate <= high
    assert plain > 390  # the judge alone would crown the pleaser nearly always
    assert covers >= 0.93 * 400


def test_scores_that_predict_nothing_leave_the_plain_mean_in_the_middle() -> None:
    gains = [0.4, 0.0, 0.0, 0.4, -0.2]
    estimate, (low, high) = adjusted_interval(gains, [0.5] * 5, [1.0, 0.0, 1.0])
    assert estimate == pytest.approx(fmean(gains)) == pytest.approx((low + high) / 2)
    assert (estimate, (low, high)) == adjusted_interval(gains, [0.0, 1.0, 1.0, 0.0, 1.0], [1.0])
    plain = paired_interval(gains)
    assert high - low == pytest.approx(plain[1] - plain[0], rel=0.01)
