"""Which utterances of a batch become experience: the share, ties, and what does not count."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coterie.operators import Contribution
from coterie.operators.methods.mattrl.experience import ExperienceSettings
from coterie.operators.methods.mattrl.select import ExperienceCandidate, best, fates

GOOD = Contribution(value=1, reason="so")


def said(
    number: int, agent: str = "ann", round_: int = 1, *, reward: Any = 0.5, outcome: float = 1
) -> ExperienceCandidate:
    return ExperienceCandidate(
        number=number,
        case=f"case-{number}",
        agent=agent,
        round=round_,
        outcome=outcome,
        reward=reward,
        score=GOOD,
    )


TENTHS = st.integers(0, 10).map(lambda number: number / 10)
CASES = st.lists(st.tuples(st.booleans(), st.lists(TENTHS, min_size=1, max_size=9)), max_size=30)


@given(CASES, st.data())
def test_a_quarter_of_any_split_is_kept_however_many_are_alike(cases: Any, data: Any) -> None:
    """Exactly the quarter, rounded down and at least one; no matter in which order they stand."""
    of = [
        said(number, agent=f"a{place}", reward=0.1 + reward, outcome=float(solved))
        for number, (solved, rewards) in enumerate(cases)
        for place, reward in enumerate(rewards)
    ]
    kept = best(of, ExperienceSettings())
    assert len(kept) == (max(1, len(of) // 4) if of else 0)
    assert kept == best(data.draw(st.permutations(of)), ExperienceSettings())
    left = [(item.reward, item.outcome) for item in of if item not in kept]
    worst = min(((item.reward, item.outcome) for item in kept), default=(0, 0))
    assert all(pair <= worst for pair in left)

    solved = [item for item in of if item.outcome == 1]
    only = best(of, ExperienceSettings(successful_only=True))
    assert only == best(solved, ExperienceSettings())


def test_equal_rewards_are_kept_by_success_case_round_and_agent() -> None:
    of = [
        said(1, "bob"),
        said(1, "ann", 2),
        said(1, "ann"),
        said(0, outcome=0),
        said(2, reward=0.6, outcome=0),
        said(3, reward=None),
    ]
    order = best(of, ExperienceSettings(share=1))
    assert [(item.number, item.round, item.agent) for item in order] == [
        (2, 1, "ann"),
        (1, 1, "ann"),
        (1, 1, "bob"),
        (1, 2, "ann"),
        (0, 1, "ann"),
    ]


def test_every_utterance_is_told_what_became_of_it() -> None:
    settings = ExperienceSettings(share=0.5, threshold=0.2, successful_only=True)
    of = [said(0, reward=0.4), said(1, reward=0.1), said(2, outcome=0.9), said(3, reward=None)]
    assert [fate["came"] for fate in fates([*of, said(4, reward=0.3)], {}, settings)] == [
        "not in the top 0.5 of 3",
        "not above 0.2",
        "not of a run that succeeded",
        "not judged",
        "not in the top 0.5 of 3",
    ]
