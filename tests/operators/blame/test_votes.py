"""How submissions become a verdict: cases worked out by hand, and laws."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.blame import (
    Pair,
    Submission,
    Vote,
    collaborative_vote,
    local_vote,
)


def says(
    analyzer: str, first: int, sure: float, accuses: Pair | None = None, *, counters: bool = False
) -> Submission:
    return Submission(
        analyzer=analyzer, first=first, confidence=sure, accuses=accuses, countered=counters
    )


def test_the_most_confident_self_accuser_is_charged_with_its_step() -> None:
    ballot = local_vote(
        [
            says("planner", 1, 0.6, ("planner", 4)),
            says("solver", 2, 0.9, ("solver", 7)),
            says("writer", 3, 1.0),
        ]
    )
    assert (ballot.agent, ballot.step, ballot.confidence) == ("solver", 7, 0.9)
    assert not ballot.by_default
    assert ballot.votes == (
        Vote(agent="solver", step=7, weight=0.9, by=("solver",)),
        Vote(agent="planner", step=4, weight=0.6, by=("planner",)),
    )


def test_where_nobody_accuses_itself_the_least_sure_denier_is_charged_with_its_first_step() -> None:
    ballot = local_vote([says("planner", 1, 0.8), says("solver", 2, 0.25), says("writer", 3, 0.9)])
    assert (ballot.agent, ballot.step, ballot.confidence) == ("solver", 2, 0.75)
    assert ballot.by_default
    assert ballot.votes == ()


def test_a_self_accuser_of_no_confidence_is_charged_before_any_denier() -> None:
    ballot = local_vote([says("planner", 1, 0.0, ("planner", 1)), says("solver", 2, 0.0)])
    assert (ballot.agent, ballot.step, ballot.by_default) == ("planner", 1, False)


def test_in_the_local_scheme_who_accuses_another_denies() -> None:
    ballot = local_vote([says("planner", 1, 0.9, ("solver", 2)), says("solver", 2, 0.95)])
    assert (ballot.agent, ballot.step, ballot.by_default) == ("planner", 1, True)


def test_of_accusers_that_are_as_sure_the_earlier_step_is_charged() -> None:
    ballot = local_vote([says("b", 1, 0.5, ("b", 9)), says("a", 2, 0.5, ("a", 4))])
    assert (ballot.agent, ballot.step) == ("a", 4)
    default = local_vote([says("b", 3, 0.5), says("a", 5, 0.5)])
    assert (default.agent, default.step) == ("b", 3)


def test_evidence_against_the_verdict_doubles_a_vote() -> None:
    """Planner, step 1: 0.9. Solver, step 2: 0.5 * (1 + 1 * 1) = 1.0."""
    votes = [
        says("planner", 1, 0.9, ("planner", 1)),
        says("solver", 2, 0.5, ("solver", 2), counters=True),
    ]
    ballot = collaborative_vote(votes)
    assert (ballot.agent, ballot.step, ballot.confidence) == ("solver", 2, 0.5)
    assert [vote.weight for vote in ballot.votes] == [1.0, 0.9]
    without = collaborative_vote(votes, alpha=0.0)
    assert (without.agent, without.step) == ("planner", 1)


def test_votes_for_one_pair_are_added() -> None:
    """Solver, step 2: 0.4 + 0.3 * 2 = 1.0. Solver, step 5: 0.95. Writer, step 3: 0.8."""
    ballot = collaborative_vote(
        [
            says("planner", 1, 0.4, ("solver", 2)),
            says("critic", 4, 0.3, ("solver", 2), counters=True),
            says("solver", 2, 0.95, ("solver", 5)),
            says("writer", 3, 0.8, ("writer", 3)),
            says("reader", 6, 1.0),
        ]
    )
    assert ballot.votes == (
        Vote(agent="solver", step=2, weight=1.0, by=("critic", "planner")),
        Vote(agent="solver", step=5, weight=0.95, by=("solver",)),
        Vote(agent="writer", step=3, weight=0.8, by=("writer",)),
    )
    assert (ballot.agent, ballot.step, ballot.confidence) == ("solver", 2, 0.4)


def test_a_tie_on_paper_is_a_tie() -> None:
    """As floats, 0.1 + 0.2 is more than 0.3."""
    ballot = collaborative_vote(
        [
            says("a", 1, 0.1, ("b", 9)),
            says("b", 2, 0.2, ("b", 9)),
            says("c", 3, 0.3, ("c", 3)),
        ]
    )
    assert (ballot.agent, ballot.step) == ("c", 3)
    alike = [says("b", 1, 0.5, ("b", 4)), says("a", 2, 0.5, ("a", 4))]
    assert collaborative_vote(alike).agent == "a"


def test_where_all_deny_together_the_least_sure_one_is_charged() -> None:
    ballot = collaborative_vote([says("planner", 1, 0.8), says("solver", 2, 0.25)])
    assert (ballot.agent, ballot.step, ballot.by_default) == ("solver", 2, True)


@pytest.mark.parametrize("vote", [local_vote, collaborative_vote])
def test_nobody_is_charged_where_nobody_said_anything(vote: object) -> None:
    assert callable(vote)
    with pytest.raises(ValueError, match="nobody submitted"):
        vote([])


AGENTS = "abcde"
SURE = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.95, 1.0]) | st.floats(0, 1)


@st.composite
def submissions(draw: st.DrawFn) -> list[Submission]:
    """One of each analyzer; agent number k has the steps k, 10 + k and 20 + k."""
    pairs = st.tuples(st.integers(0, 4), st.integers(0, 2)).map(
        lambda of: (AGENTS[of[0]], of[1] * 10 + of[0])
    )
    return [
        says(agent, first, draw(SURE), draw(st.none() | pairs), counters=draw(st.booleans()))
        for first, agent in enumerate(AGENTS[: draw(st.integers(1, 5))])
    ]


@given(submissions(), st.randoms(use_true_random=False))
def test_the_order_never_matters(given_: list[Submission], chance: random.Random) -> None:
    mixed = chance.sample(given_, len(given_))
    assert local_vote(mixed) == local_vote(given_)
    assert collaborative_vote(mixed) == collaborative_vote(given_)


@given(submissions())
def test_whoever_is_charged_is_accused_or_a_denier(given_: list[Submission]) -> None:
    for ballot in (local_vote(given_), collaborative_vote(given_)):
        accused = {item.accuses for item in given_}
        first = {(item.analyzer, item.first) for item in given_}
        assert (ballot.agent, ballot.step) in (first if ballot.by_default else accused)
        assert 0 <= ballot.confidence <= 1
        weights = [vote.weight for vote in ballot.votes]
        assert weights == sorted(weights, reverse=True)
    assert collaborative_vote(given_).by_default == all(item.accuses is None for item in given_)


@given(submissions(), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_weight_is_neither_lost_nor_made(given_: list[Submission], alpha: float) -> None:
    votes = collaborative_vote(given_, alpha).votes
    cast = sum(item.confidence * (1 + alpha * item.countered) for item in given_ if item.accuses)
    assert sum(vote.weight for vote in votes) == pytest.approx(cast)
    voters = [name for vote in votes for name in vote.by]
    assert sorted(voters) == sorted(item.analyzer for item in given_ if item.accuses)


@given(submissions())
def test_a_surer_vote_for_who_is_charged_changes_nothing(given_: list[Submission]) -> None:
    ballot = collaborative_vote(given_)
    more = says("z", 99, 1.0, (ballot.agent, ballot.step))
    again = collaborative_vote([*given_, more])
    assert (again.agent, again.step) == (ballot.agent, ballot.step)
