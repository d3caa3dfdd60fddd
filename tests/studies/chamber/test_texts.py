"""What is said in the world can be read again, and what is not alike is not taken for alike."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.embedding import HashingEmbedder
from studies.chamber.landscapes import NICHES
from studies.chamber.tasks import graded, tasks
from studies.chamber.texts import (
    attempt_in,
    habit_lesson,
    habits_in,
    lesson_said,
    lessons_in,
    persona,
    personas_in,
    posed,
    said,
    title_in,
    verdict_in,
    verdict_said,
)
from studies.chamber.world import (
    HABITS,
    LETTERS,
    METHODS,
    SIGNS,
    Attempt,
    Lesson,
    problem_of,
    title,
)

niches = st.sampled_from(NICHES)
lessons = niches.flatmap(
    lambda niche: st.builds(
        Lesson,
        st.just(niche),
        st.sampled_from(SIGNS[niche]),
        st.sampled_from(METHODS[niche]),
        st.integers(0, 99),
    )
)


@settings(max_examples=25)
@given(told=st.lists(lessons, max_size=4), habit=st.sampled_from(HABITS), held=st.integers(0, 99))
def test_lessons_and_habits_are_read_as_they_were_written(
    told: list[Lesson], habit: str, held: int
) -> None:
    text = " and ".join([*map(lesson_said, told), habit_lesson(habit, held)])
    assert lessons_in(text) == told
    assert habits_in(text) == [(habit, held)]


@settings(max_examples=25)
@given(
    niche=niches,
    number=st.integers(0, 999),
    habit=st.sampled_from(HABITS),
    letter=st.sampled_from(LETTERS),
)
def test_attempts_tasks_and_personas_are_read_as_they_were_written(
    niche: str, number: int, habit: str, letter: str
) -> None:
    for method in METHODS[niche]:
        made = Attempt(method=method, habit=habit, letter=letter)
        assert attempt_in(f"done\noutput: {said(made)}") == made
        assert verdict_in(said(made)) is None
    problem = problem_of(title(2, number, niche))
    assert title_in(posed(problem)) == problem.title
    assert not lessons_in(posed(problem))
    assert personas_in(f"{persona(niche, 'glacier')} Solve it.") == [niche, "glacier"]
    assert [verdict_in(verdict_said(right=one)) for one in (True, False)] == [True, False]


def alike(one: str, other: str) -> float:
    return sum(a * b for a, b in zip(vector(one), vector(other), strict=True))


@functools.cache
def vector(text: str) -> Sequence[float]:
    [made] = HashingEmbedder().embed([text])
    return made


def test_only_what_says_the_same_is_a_near_duplicate() -> None:
    limit = PopulationSettings().dedup
    for niche in NICHES[:2]:
        own = [Lesson(niche, sign, method, 1) for sign in SIGNS[niche] for method in METHODS[niche]]
        texts = [lesson_said(one) for one in own]
        assert max(alike(*pair) for pair in combinations(texts, 2)) < limit
        again = [lesson_said(Lesson(niche, one.sign, one.method, 17)) for one in own]
        assert min(map(alike, texts, again)) > limit
    habits = [habit_lesson(one, 1) for one in HABITS]
    assert max(alike(*pair) for pair in combinations(habits, 2)) < limit
    assert min(alike(habit_lesson(one, 0), habit_lesson(one, 23)) for one in HABITS) > limit


def test_a_stream_has_each_niche_once_in_four_tasks_and_the_same_tasks_in_blocks() -> None:
    mixed, blocked = tasks(4, 42), tasks(4, 42, "blocked")
    for start in range(0, 40, 4):
        assert {one.niche for one in mixed[start : start + 4]} == {*NICHES}
    assert {one.id: one for one in mixed} == {one.id: one for one in blocked}
    assert [one.niche for one in blocked] == sorted(
        (one.niche for one in mixed), key=lambda niche: NICHES.index(str(niche))
    )
    assert tasks(4, 20) == mixed[:20]
    assert tasks(5, 20) != mixed[:20]


def test_an_answer_is_right_or_wrong_by_its_last_letter() -> None:
    assert graded("Answer: A\nAnswer: C", "C", {}).value == 1
    assert graded("Answer: C\nAnswer: A", "C", {}).value == 0
    assert graded("C", "C", {}).value == 0
