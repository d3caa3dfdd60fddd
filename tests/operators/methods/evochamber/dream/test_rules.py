"""The rules of a dream that no model decides, by hand and as laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators.methods.evochamber.dream.ideas import Difference, Idea, Opinion
from coterie.operators.methods.evochamber.dream.rules import (
    gives_away,
    mean_of,
    pairs,
    sides,
    survivors,
    why,
)
from coterie.operators.methods.evochamber.work import MemberWork

from ....rounds import worked

NAMES = tuple("abcdef")
ACCOUNT = worked()
scores = st.dictionaries(st.sampled_from(NAMES), st.none() | st.floats(0, 1), max_size=6)


def team(of: dict[str, float | None]) -> list[MemberWork]:
    return [
        MemberWork(agent=name, persona="", account=ACCOUNT, positions=(), score=score)
        for name, score in of.items()
    ]


def test_a_team_dreams_below_the_threshold_or_where_attempts_disagree() -> None:
    assert why(mean_of([1, 0, 0], 1), 0.6, disagree=False) == "reward"
    assert why(mean_of([1, 1, 0], 0), 0.6, disagree=True) == "disagreement"
    assert why(mean_of([1, 1, 1], 0), 0.6, disagree=False) is None
    assert why(0.6, 0.6, disagree=False) is None


@given(st.lists(st.floats(0, 1), max_size=1), st.floats(0, 1))
def test_of_one_attempt_the_mean_is_the_teams_reward(of: list[float], reward: float) -> None:
    assert mean_of(of, reward) == reward


@given(scores, st.floats(0, 1))
def test_everybody_scored_failed_or_succeeded(of: dict[str, float | None], theta: float) -> None:
    result = sides(team(of), theta)
    both = [item.agent for item in (*result.failed, *result.succeeded)]
    assert sorted(both) == sorted(name for name, score in of.items() if score is not None)
    assert all(item.score is not None and item.score < theta for item in result.failed)
    assert all(item.score is not None and item.score >= theta for item in result.succeeded)


@given(scores, st.floats(0, 1))
def test_everybody_is_compared_and_no_pair_twice(of: dict[str, float | None], theta: float) -> None:
    result = sides(team(of), theta)
    product = [(failed.agent, giver.agent) for failed, giver in pairs(result)]
    assert len({*product}) == len(product)
    if not (result.failed and result.succeeded):
        assert product == []
        return
    assert len(product) == max(len(result.failed), len(result.succeeded))
    assert {failed for failed, _ in product} == {item.agent for item in result.failed}
    assert {giver for _, giver in product} == {item.agent for item in result.succeeded}


def idea(giver: str = "a") -> Idea:
    return Idea(text="t", niches=(), of=Difference(giver=giver, failed="z", text="d"))


def opinion(*, keep: bool) -> Opinion:
    return Opinion(keep=keep, reason="r")


@pytest.mark.parametrize(
    ("against", "stays"),
    [("", True), ("a", True), ("b", True), ("c", True), ("ab", True), ("bc", False)],
)
def test_of_three_both_others_have_to_drop_an_idea(against: str, *, stays: bool) -> None:
    fields = {name: [opinion(keep=name not in against)] for name in "abc"}
    assert bool(survivors([idea()], fields, "abc")) == stays


def test_who_said_nothing_of_use_drops_nothing() -> None:
    assert survivors([idea()], {"b": [opinion(keep=False)]}, "abc") == (0,)
    assert survivors([idea()], {}, "abc") == (0,)
    assert survivors([idea()], {}, "a") == (0,)


@given(
    st.lists(st.sampled_from(NAMES), max_size=4),
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.booleans(), min_size=4, max_size=4)),
    st.permutations(NAMES),
)
def test_what_is_left_is_in_order_and_depends_on_no_order_of_members(
    givers: list[str], fields: dict[str, list[bool]], order: list[str]
) -> None:
    ideas = [idea(giver) for giver in givers]
    of = {name: [opinion(keep=keep) for keep in keeps] for name, keeps in fields.items()}
    left = survivors(ideas, of, NAMES)
    assert list(left) == sorted({*left})
    assert left == survivors(ideas, of, order)
    own = {name: [opinion(keep=not item.keep) for item in kept] for name, kept in of.items()}
    for place, entry in enumerate(ideas):
        alone = {**of, entry.of.giver: own.get(entry.of.giver, [opinion(keep=False)] * 4)}
        assert (place in survivors(ideas, alone, NAMES)) == (place in left)


@pytest.mark.parametrize(
    ("text", "answers", "holds"),
    [
        ("It is 42.", ["42"], True),
        ("It is 425.", ["42"], False),
        ("It is 3.42 or 42.5.", ["42"], False),
        ("Take 7 steps.", ["7"], False),
        ("It is TRUE.", ["true"], False),
        ("Say Reykjavik.", ["reykjavik"], True),
        ("Use \\frac{1}{3} here", ["\\frac{1}{3}"], True),
        ("Anything", [""], False),
        ("Anything", [], False),
    ],
)
def test_a_long_enough_answer_is_found(text: str, answers: list[str], *, holds: bool) -> None:
    assert gives_away(text, answers) == holds
