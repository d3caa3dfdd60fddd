"""The rules of the world: who is right how often, by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.chamber.landscapes import NICHES, REGIMES, Ground, Landscape, drawn, level
from studies.chamber.world import (
    HABITS,
    METHODS,
    SIGNS,
    Attempt,
    Knowledge,
    Lesson,
    Problem,
    attempted,
    chance_right,
    checked,
    decided,
    habit_worth,
    problem_of,
    right_method,
    title,
    without,
)

PLACES = 400
FAR = 0.09
"""Further than the mean of so many coins strays in a lifetime of tests."""
GROUND = Ground(able=0.8, unable=0.2, found=0.25, convincing=0.5, checking=0.75, parts=1.0)
WORLD = Landscape(
    name="by hand",
    grounds=MappingProxyType(dict.fromkeys(NICHES, GROUND)),
    trust=0.6,
    alike=0.0,
    lure=0.5,
    dilution=0.1,
    habit=0.3,
    persona=0.4,
    elsewhere=0.2,
    whim=0.0,
    luck="",
)
PROBLEM = problem_of(title(3, 7, "harbour"))
RIGHT = right_method(WORLD.name, "harbour", PROBLEM.sign)
WRONG = without(METHODS["harbour"], RIGHT)
NEUTRAL = next(one for one in HABITS if habit_worth(WORLD.name, one) == 0)


def lesson(method: str, held: int = 1, sign: str = PROBLEM.sign) -> Lesson:
    return Lesson("harbour", sign, method, held)


def of(method: str, known: Knowledge, *habits: str, problem: Problem = PROBLEM) -> float:
    return chance_right(WORLD, problem, method, habits, known)


def many(known: Knowledge, world: Landscape = WORLD) -> list[Attempt]:
    return [attempted(world, PROBLEM, f"place {one}", known) for one in range(PLACES)]


def share(made: list[Attempt], *, method: str | None = None, letter: str | None = None) -> float:
    return sum(method in (None, one.method) and letter in (None, one.letter) for one in made) / len(
        made
    )


def test_the_right_method_is_worth_what_the_niche_says() -> None:
    assert of(RIGHT, Knowledge()) == 0.8
    assert of(WRONG[0], Knowledge()) == pytest.approx(0.2)
    assert GROUND.alone == pytest.approx(0.25 * 0.8 + 0.75 * 0.2)


def test_what_else_is_read_moves_the_odds_as_the_rules_say() -> None:
    # Odds of 4 are log odds of 1.386; e^-0.1, e^0.3, e^1.0, e^0.4, e^-0.2 times 4.
    other = next(one for one in SIGNS["harbour"] if one != PROBLEM.sign)
    sound, sound_too = (one for one in HABITS if habit_worth(WORLD.name, one) == 1)
    unsound = next(one for one in HABITS if habit_worth(WORLD.name, one) == -1)
    diluted = Knowledge(lessons=[lesson(RIGHT, sign=other), lesson(WRONG[1])])
    assert of(RIGHT, diluted) == pytest.approx(0.7835, abs=1e-4)
    assert of(RIGHT, Knowledge(), sound, sound, NEUTRAL) == pytest.approx(0.8438, abs=1e-4)
    assert of(RIGHT, Knowledge(), sound, sound_too) == pytest.approx(0.8794, abs=1e-4)
    assert of(RIGHT, Knowledge(), sound, unsound) == pytest.approx(0.8)
    assert of(RIGHT, Knowledge(planned=True)) == pytest.approx(0.9158, abs=1e-4)
    assert of(RIGHT, Knowledge(personas=["harbour"])) == pytest.approx(0.8565, abs=1e-4)
    assert of(RIGHT, Knowledge(personas=["harbour", "glacier"])) == pytest.approx(0.8301, abs=1e-4)
    assert of(RIGHT, Knowledge(personas=["glacier"])) == pytest.approx(0.7661, abs=1e-4)


def test_alone_an_agent_finds_the_right_method_as_often_as_the_niche_says() -> None:
    made = many(Knowledge())
    assert share(made, method=RIGHT) == pytest.approx(0.25, abs=FAR)
    assert share(made, letter=PROBLEM.answer) == pytest.approx(GROUND.alone, abs=FAR)
    # Half of the 0.65 that are wrong.
    assert share(made, letter=PROBLEM.lure) == pytest.approx(0.325, abs=FAR)
    assert {one.method for one in made} == {*METHODS["harbour"]}
    assert {one.habit for one in made} == {*HABITS}


def test_a_true_lesson_helps_and_a_false_one_takes_the_place_of_looking() -> None:
    true = many(Knowledge(lessons=[lesson(RIGHT)]))
    assert share(true, method=RIGHT) == pytest.approx(0.6 + 0.4 * 0.25, abs=FAR)
    assert share(true, letter=PROBLEM.answer) == pytest.approx(0.7 * 0.8 + 0.3 * 0.2, abs=FAR)
    false = many(Knowledge(lessons=[lesson(WRONG[0])]))
    assert share(false, method=RIGHT) == pytest.approx(0.4 * 0.25, abs=FAR)
    assert share(false, letter=PROBLEM.answer) == pytest.approx(0.1 * 0.8 + 0.9 * 0.2, abs=FAR)


def test_who_is_told_several_methods_takes_the_one_that_held_most_else_the_first() -> None:
    sure = replace(WORLD, trust=1.0)
    untried = Knowledge(lessons=[lesson(WRONG[0], 0), lesson(RIGHT, 0)])
    assert {one.method for one in many(untried, sure)} == {WRONG[0]}
    tried = Knowledge(lessons=[*untried.lessons, lesson(RIGHT, 1)])
    assert {one.method for one in many(tried, sure)} == {RIGHT}
    more = Knowledge(lessons=[*tried.lessons, lesson(WRONG[1], 2)])
    assert {one.method for one in many(more, sure)} == {WRONG[1]}


def test_attempts_that_share_their_luck_are_right_together() -> None:
    one_luck = replace(WORLD, alike=1.0, lure=1.0, trust=1.0, habit=0.0)
    letters = Counter(
        one.letter for one in many(Knowledge(lessons=[lesson(RIGHT)]), world=one_luck)
    )
    assert len(letters) == 1


def test_a_right_answer_among_others_convinces_so_often_else_most_win() -> None:
    letters = [PROBLEM.lure, PROBLEM.answer, PROBLEM.lure]
    chosen = [decided(WORLD, PROBLEM, str(one), letters) for one in range(PLACES)]
    assert chosen.count(PROBLEM.answer) / PLACES == pytest.approx(0.5, abs=FAR)
    assert {*chosen} == {PROBLEM.answer, PROBLEM.lure}
    assert decided(WORLD, PROBLEM, "one", [PROBLEM.lure]) == PROBLEM.lure
    assert decided(WORLD, PROBLEM, "all", [PROBLEM.answer] * 3) == PROBLEM.answer


def test_a_critic_judges_rightly_so_often_whichever_is_right() -> None:
    for letter in (PROBLEM.answer, PROBLEM.lure):
        found = [checked(WORLD, PROBLEM, str(one), letter) for one in range(PLACES)]
        passed = found.count(letter == PROBLEM.answer)
        assert passed / PLACES == pytest.approx(0.75, abs=FAR)


@settings(max_examples=20)
@given(
    number=st.integers(0, 50),
    known=st.builds(
        Knowledge,
        lessons=st.lists(
            st.builds(
                Lesson,
                st.just("harbour"),
                st.sampled_from(SIGNS["harbour"]),
                st.sampled_from(METHODS["harbour"]),
                st.integers(0, 9),
            ),
            max_size=6,
        ),
        habits=st.lists(st.sampled_from(HABITS), max_size=3),
        personas=st.lists(st.sampled_from(NICHES), max_size=2),
        planned=st.booleans(),
    ),
    place=st.text(max_size=5),
)
def test_in_a_level_world_nothing_that_is_read_changes_an_answer(
    number: int, known: Knowledge, place: str
) -> None:
    world, problem = level(1, "row"), problem_of(title(1, number, "harbour"))
    letter = attempted(world, problem, "first", Knowledge()).letter
    assert attempted(world, problem, place, known).letter == letter
    assert letter in {problem.answer, problem.lure}


def test_a_level_world_is_as_hard_as_it_says_and_its_luck_is_each_rows_own() -> None:
    problems = [problem_of(title(1, one, "orchard")) for one in range(PLACES)]
    came = [
        [
            attempted(level(1, row), one, "first", Knowledge()).letter == one.answer
            for one in problems
        ]
        for row in ("full", "single agent")
    ]
    accuracy = level(1, "full").grounds["orchard"].able
    assert came[0] != came[1]
    assert [sum(one) / PLACES for one in came] == pytest.approx([accuracy] * 2, abs=FAR)


@settings(max_examples=20)
@given(number=st.integers(0, 10_000))
def test_drawn_worlds_keep_to_the_ranges_of_the_page(number: int) -> None:
    world = drawn(number)
    assert world == drawn(number)
    for niche, ranges in REGIMES.items():
        ground = world.grounds[niche]
        for name, (low, high) in ranges.items():
            assert low <= getattr(ground, name) <= high
        assert ground.unable < ground.alone < ground.able


def test_each_sign_has_one_right_method_and_habits_are_two_of_each_kind() -> None:
    kinds = Counter(habit_worth("drawn 1", one) for one in HABITS)
    assert kinds == {1: 2, 0: 2, -1: 2}
    for niche in NICHES:
        assert len({*METHODS[niche]}) == 8
        assert len({*SIGNS[niche]}) == 5
        for sign in SIGNS[niche]:
            assert right_method("drawn 1", niche, sign) in METHODS[niche]
    assert len({right_method(f"drawn {one}", "glacier", "old firn") for one in range(40)}) > 4
