"""What evaluations add up to."""

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool.ledger.changes import Evaluated
from coterie.pool.ledger.shape import misshapen
from coterie.pool.values.statistics import Statistics, Trial, TrialPart, TrialTotals, wilson
from coterie.runtime.values.usage import Usage
from coterie.schema.values.codec import to_value
from coterie.schema.values.errors import InputError


def of(*trials: Trial) -> Statistics:
    tally = TrialTotals()
    for trial in trials:
        tally.take(to_value(trial), trial.kind)
    return tally.statistics


def test_means_are_over_what_they_are_about() -> None:
    known = of(
        Trial(task="a", score=1, reward=0.9, usage=Usage(calls=1, prompt_tokens=6, usd=0.5)),
        Trial(task="b", score=0.5, usage=Usage(calls=1, completion_tokens=4, usd=0.25)),
        Trial(task="c", reason="no answer", usage=Usage(calls=1, prompt_tokens=2, usd=0.25)),
    )
    assert (known.n, known.failures) == (2, 1)
    assert known.score == 0.75
    assert known.reward == 0.9
    assert known.cost == (0.5, 6)
    assert known.usage == Usage(calls=3, prompt_tokens=8, completion_tokens=4, usd=1)


def test_the_trial_that_a_team_was_taken_in_for_counts_in_no_mean_or_interval() -> None:
    usage = Usage(calls=1, prompt_tokens=6, usd=0.5)
    won = Trial(task="a", score=1, reward=0.9, usage=usage, chosen=True)
    known = of(won, Trial(task="b", score=0, usage=usage))
    assert (known.n, known.score, known.reward) == (1, 0, None)
    assert known.interval == wilson(0, 1)
    assert (known.chosen, known.chosen_sum, known.cost) == (1, 1, (0.5, 6))
    assert of(Trial(task="a", chosen=True)).failures == 0


def test_trials_of_what_a_team_was_adapted_to_are_kept_apart() -> None:
    usage = Usage(calls=1, prompt_tokens=6)
    known = of(
        Trial(task="a", score=1, usage=usage, adapted=True),
        Trial(task="b", usage=usage, adapted=True),
        Trial(task="c", score=0, usage=usage),
    )
    assert (known.n, known.score, known.failures) == (1, 0, 0)
    assert (known.adapted, known.adapted_sum, known.cost[1]) == (2, 1, 6)
    with pytest.raises(InputError, match="both chosen and adapted"):
        Trial(task="a", score=1, adapted=True, chosen=True)


def test_nothing_is_known_of_who_was_never_tried() -> None:
    known = Statistics()
    assert known.score is None
    assert known.reward is None
    assert known.interval == (0, 1)
    assert known.cost == (math.inf, math.inf)


def test_an_unknown_price_is_not_zero() -> None:
    known = of(Trial(task="a", score=1, usage=Usage(calls=1, unpriced_calls=1)))
    assert known.cost[0] == math.inf


@pytest.mark.parametrize(
    ("total", "n", "low", "high"),
    [
        (0, 10, 0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
    ],
)
def test_intervals_are_wilsons(total: float, n: int, low: float, high: float) -> None:
    """The last two are of Newcombe 1998, Table I."""
    assert wilson(total, n) == pytest.approx((low, high), abs=1e-4)


@given(st.lists(st.floats(0, 1), max_size=50))
def test_an_interval_has_the_mean_in_it(scores: list[float]) -> None:
    known = of(*(Trial(task="t", score=score) for score in scores))
    low, high = known.interval
    assert 0 <= low <= (known.score or 0) + 1e-9
    assert (known.score or 0) - 1e-9 <= high <= 1


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan, math.inf])
def test_a_score_out_of_range_is_refused(score: float) -> None:
    with pytest.raises(InputError, match=r"on task 't' is not in \[0, 1\]"):
        Trial(task="t", score=score)


@pytest.mark.parametrize("reward", [math.nan, -math.inf])
def test_a_reward_that_is_no_number_is_refused(reward: float) -> None:
    with pytest.raises(InputError, match="is not a number"):
        Trial(task="t", score=1, reward=reward)


@pytest.mark.parametrize("score", [None, 0.5])
def test_all_of_a_trial_is_as_the_schema_has_it(score: float | None) -> None:
    record: dict[str, Any] = {
        "reward": 0.25,
        "usage": Usage(calls=1, usd=0.5),
        "saved": Usage(calls=1),
        "niche": "sums",
        "split": "test",
        "run": "runs/1",
        "reason": "it stopped",
        "chosen": True,
        "adapted": False,
        "agents": {"solver": TrialPart(member="ada", share=0.5)},
        "rounds": 2,
        "structure": "debate",
    }
    fields = {field.name for field in dataclasses.fields(Trial)}
    assert record.keys() == fields - {"task", "score"}
    if score is None:
        del record["reward"]
    for kind in ("chosen", "adapted"):
        record |= {"chosen": kind == "chosen", "adapted": kind == "adapted"}
        trial = Trial(task="a", score=score, **record)
        assert [*misshapen(Evaluated(member="team", trial=trial).value())] == []
