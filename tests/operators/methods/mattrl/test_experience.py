"""Rewards of utterances, by hand."""

import pytest

from coterie.operators import Contribution
from coterie.operators.core.utterances import Turn
from coterie.operators.methods.mattrl.experience import (
    Credited,
    ExperienceSettings,
    credited,
)

from ...consulting import utterance

SAID = [utterance(agent, number) for number in (1, 2) for agent in ("heart", "brain")]
SCORES = {("heart", 1): 0.6, ("brain", 1): 0.2, ("heart", 2): 0.0, ("brain", 2): 1.0}
PLAIN = ExperienceSettings(gamma=0.5, individual=0.4)


def scored(values: dict[Turn, float] = SCORES) -> dict[Turn, Contribution]:
    return {turn: Contribution(value=value, reason="so") for turn, value in values.items()}


def rewards(of: tuple[Credited, ...]) -> dict[Turn, float | None]:
    return {item.utterance.turn: item.reward for item in of}


def test_naive_rewards_by_hand() -> None:
    """Rounds weigh 1/3 and 2/3; in the first the ratios are 3/4 and 1/4, in the second 0 and 1."""
    result = credited(SAID, scored(), outcome=0.9, settings=PLAIN)
    assert rewards(result) == pytest.approx(
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
    result = credited(SAID, scored(), outcome=1, settings=PLAIN, worth=worth)
    assert [item.ratio for item in result] == pytest.approx([1, 0, 0.25, 0.75])
    assert result[1].reward == pytest.approx(0.4 * 0.2)


def test_teaching_weighs_earlier_rounds_more() -> None:
    settings = ExperienceSettings(gamma=0.5, favour="earlier")
    result = credited(SAID, scored(), outcome=1, settings=settings)
    assert [item.weight for item in result] == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 3])


def test_a_round_that_was_not_judged_has_no_rewards() -> None:
    judged = scored({turn: score for turn, score in SCORES.items() if turn[1] == 1})
    result = credited(SAID, judged, outcome=1, settings=PLAIN)
    assert [item.reward is None for item in result] == [False, False, True, True]


def test_every_utterance_is_told_with_its_numbers() -> None:
    result = credited(SAID, scored(), outcome=0.9, settings=PLAIN)
    assert result[3].value() == {
        "agent": "brain",
        "round": 2,
        "score": 1.0,
        "reason": "so",
        "ratio": 1.0,
        "weight": pytest.approx(2 / 3),
        "reward": pytest.approx(0.76),
    }
