"""What teams are expected to score: as their parents, until their own trials tell more."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool.expectation import expected_scores, most_promising
from coterie.pool.members import Member
from coterie.pool.statistics import EVOLVE, Trial
from coterie.schema import InputError, Lineage

from .teams import pool_of, scored, vote


def member(name: str, *parents: str) -> Member:
    born = Lineage(operator="mutate" if parents else "seed", parents=parents)
    return Member(
        name=name, path=Path(name), born=born, stem=name, identity=name, content_hash=name
    )


def tried(
    one: Member, *scores: float | None, niche: str | None = None, split: str = EVOLVE
) -> Member:
    for score in scores:
        one.take(Trial(task="t", score=score, niche=niche, split=split))
    return one


def test_nothing_known_is_in_the_middle_and_children_are_as_their_parents() -> None:
    a, b = tried(member("a"), 1, 1), member("b")
    teams = [a, b, member("c", "a"), member("d", "a", "b"), member("e", "gone")]
    expected = expected_scores(teams)
    assert expected == {"a": 0.75, "b": 0.5, "c": 0.75, "d": 0.625, "e": 0.5}


def test_one_lucky_trial_does_not_beat_a_proven_line() -> None:
    proven = tried(member("proven"), *[0.9] * 20)
    lucky = tried(member("lucky"), 1)
    heir = tried(member("heir", "proven"), 0.9)
    expected = expected_scores([proven, lucky, heir])
    assert expected["lucky"] < expected["proven"] < expected["heir"]


def test_in_a_niche_a_founder_begins_with_what_it_scored_everywhere() -> None:
    one = tried(tried(member("one"), 1, 1, niche="dates"), 0, niche="ages")
    child = tried(member("child", "one"), 1, 1, 1, niche="dates")
    everywhere = (2 * 0.5 + 2) / 5
    expected = expected_scores([one, child], "ages")
    assert expected["one"] == pytest.approx(2 * everywhere / 3)
    assert expected["child"] == expected["one"]  # what it did in another niche says nothing here


def test_failures_count_as_nothing_scored_and_other_splits_not_at_all() -> None:
    one = tried(tried(member("one"), None, None), 1, 1, split="test")
    assert expected_scores([one]) == {"one": 0.25}
    assert expected_scores([one], split="test") == {"one": 0.75}


def test_what_is_remembered_counts_by_its_weight() -> None:
    one = member("one")
    assert expected_scores([one], remembered={"one": [(1, 2.0)]}) == {"one": 0.75}
    assert expected_scores([one], remembered={"one": [(1, 0.0)]}) == {"one": 0.5}


def test_a_long_line_is_no_trouble() -> None:
    line = [tried(member("0"), *[1] * 6)]
    line += [member(str(n), str(n - 1)) for n in range(1, 5000)]
    assert expected_scores(line)["4999"] == 0.875


def test_the_most_promising_is_a_team_that_is_not_retired(tmp_path: Path) -> None:
    pool = pool_of(tmp_path / "pool", vote(), vote("Guess.", "Check.", name="guess"))
    scored(pool, "vote", 1, 1)
    best, score = most_promising(pool)
    assert (best.name, score) == ("vote", 0.75)
    pool.retire("vote", reason="dear", op="retire")
    assert most_promising(pool)[0].name == "guess"
    pool.retire("guess", reason="weak", op="retire too")
    with pytest.raises(InputError, match="has no team that is not retired"):
        most_promising(pool)


@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 9), max_size=2), st.lists(st.floats(0, 1), max_size=4)),
        max_size=10,
    )
)
def test_it_is_a_score_and_more_of_the_same_score_moves_it_there(
    drawn: list[tuple[set[int], list[float]]],
) -> None:
    teams = [
        tried(member(str(n), *(str(one) for one in parents if one < n)), *scores)
        for n, (parents, scores) in enumerate(drawn)
    ]
    before = expected_scores(teams)
    assert all(0 <= value <= 1 for value in before.values())
    for one in teams:
        tried(one, *[1.0] * 50)
    assert all(value > 0.9 for value in expected_scores(teams).values())
