"""Rewards of utterances and which of them are kept, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from coterie.operators import Contribution, Distilled
from coterie.operators.core.utterances import Turn
from coterie.operators.methods.mattrl.experience import (
    Credited,
    ExperienceSettings,
    credited,
    earlier,
    kept,
    told,
)

from ...consulting import utterance

SAID = [utterance(agent, number) for number in (1, 2) for agent in ("heart", "brain")]
SCORES = {("heart", 1): 0.6, ("brain", 1): 0.2, ("heart", 2): 0.0, ("brain", 2): 1.0}
PLAIN = ExperienceSettings(gamma=0.5, individual=0.4)


def scored(values: dict[Turn, float] = SCORES) -> dict[Turn, Contribution]:
    return {turn: Contribution(value=one, reason="so") for turn, one in values.items()}


def rewards(of: tuple[Credited, ...]) -> dict[Turn, float | None]:
    return {one.utterance.turn: one.reward for one in of}


def test_naive_rewards_by_hand() -> None:
    """Rounds weigh 1/3 and 2/3; in the first the ratios are 3/4 and 1/4, in the second 0 and 1."""
    came = credited(SAID, scored(), outcome=0.9, settings=PLAIN)
    assert rewards(came) == pytest.approx(
        {
            ("heart", 1): 0.4 * 0.6 + 0.6 * 0.9 * 0.75 / 3,
            ("brain", 1): 0.4 * 0.2 + 0.6 * 0.9 * 0.25 / 3,
            ("heart", 2): 0.0,
            ("brain", 2): 0.4 * 1.0 + 0.6 * 0.9 * 2 / 3,
        }
    )


def test_counterfactual_worth_takes_the_place_of_scores_in_the_shares_only() -> None:
    """Who made things worse has no share of the outcome; what the judge said of it stays."""
    worth = {("heart", 1): 0.3, ("brain", 1): -0.5, ("heart", 2): 0.1, ("brain", 2): 0.3}
    came = credited(SAID, scored(), outcome=1, settings=PLAIN, worth=worth)
    assert [one.ratio for one in came] == pytest.approx([1, 0, 0.25, 0.75])
    assert came[1].reward == pytest.approx(0.4 * 0.2)


def test_teaching_weighs_earlier_rounds_more() -> None:
    settings = ExperienceSettings(gamma=0.5, favour="earlier")
    came = credited(SAID, scored(), outcome=1, settings=settings)
    assert [one.weight for one in came] == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 3])


def test_a_round_that_was_not_judged_has_no_rewards_and_nothing_of_it_is_kept() -> None:
    judged = scored({turn: one for turn, one in SCORES.items() if turn[1] == 1})
    came = credited(SAID, judged, outcome=1, settings=PLAIN)
    assert [one.reward is None for one in came] == [False, False, True, True]
    chosen = kept(came, ExperienceSettings(share=1), ())
    assert [one.utterance.round for one in chosen] == [1, 1]
    assert [one["came"] for one in told(came, {}, PLAIN, ())][2:] == ["not judged"] * 2


def test_the_top_share_is_of_all_utterances_so_far() -> None:
    came = credited(SAID, scored(), outcome=0.9, settings=PLAIN)
    assert [one.utterance.turn for one in kept(came, PLAIN, ())] == [("brain", 2)]
    assert kept(came, PLAIN, [0.99] * 4) == ()
    lower = kept(came, PLAIN, [0.01] * 8)
    assert [one.utterance.turn for one in lower] == [("heart", 1), ("brain", 1), ("brain", 2)]


def test_what_is_not_above_the_threshold_is_not_kept() -> None:
    came = credited(SAID, scored(), outcome=0.9, settings=PLAIN)
    strict = ExperienceSettings(share=1, threshold=0.3)
    chosen = kept(came, strict, ())
    assert [one.utterance.turn for one in chosen] == [("heart", 1), ("brain", 2)]
    assert kept(credited(SAID, scored(), outcome=0, settings=PLAIN), PLAIN, ())
    zeros = credited(SAID, scored(dict.fromkeys(SCORES, 0.0)), outcome=0, settings=PLAIN)
    assert kept(zeros, ExperienceSettings(share=1), ()) == ()


def test_every_utterance_is_told_with_its_numbers_and_what_became_of_it() -> None:
    came = credited(SAID, scored(), outcome=0.9, settings=PLAIN)
    lines = told(
        came, {("brain", 2): Distilled(context="c", action="a", rationale="r")}, PLAIN, [0.5]
    )
    assert lines[3] == {
        "agent": "brain",
        "round": 2,
        "score": 1.0,
        "reason": "so",
        "ratio": 1.0,
        "weight": pytest.approx(2 / 3),
        "reward": pytest.approx(0.76),
        "came": "kept",
    }
    assert lines[0]["came"] == "not in the top 0.25 of 5"
    assert lines[2]["came"] == "not above 0"


def test_rewards_of_earlier_episodes_are_found_in_their_lines() -> None:
    lines: list[Any] = [
        {"task": "a"},
        {"task": "b", "story": [{"event": "other"}]},
        {"story": [{"event": "utterances", "utterances": [{"reward": 0.5}, {"agent": "x"}]}]},
    ]
    assert earlier(lines) == [0.5]
