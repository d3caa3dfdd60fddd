"""Agents of a world: what they hold, overlook and mishear, and how often they are right."""

from dataclasses import replace
from statistics import fmean

import pytest

from studies.world.marks import mark, marks, padded
from studies.world.minds import (
    HABITS,
    METHODS,
    Held,
    Lesson,
    Problem,
    attempted,
    decided,
    habit_worth,
    heard,
    problem_of,
    right_method,
)
from studies.world.tasks import answer_in, letters, seen, stream
from studies.world.worlds import NICHES, drawn, leveled

WORLD = replace(drawn("test", 1), forgetting=0.0, mishearing=0.0, formless=0.0, trust=1.0)
MANY = 300


def foundry(number: int) -> Problem:
    return problem_of(f"Problem {number} of the foundry")


def lesson(problem: Problem, method: str = "", held: int = 1) -> Lesson:
    right = right_method(WORLD.name, problem.niche, problem.sign)
    return Lesson(problem.niche, problem.sign, method or right, held)


def rate(held: Held | None, world: object = WORLD) -> float:
    """How often an agent is right that holds something; None: the right lesson."""
    scores: list[bool] = []
    for number in range(MANY):
        problem = foundry(number)
        knows = Held(lessons=(lesson(problem),)) if held is None else held
        attempt = attempted(world, problem, "place", knows)  # type: ignore[arg-type]
        scores.append(attempt.letters == problem.answers)
    return fmean(scores)


def test_a_mark_is_found_wherever_it_stands_and_nothing_else_is() -> None:
    text = f"Reworded as you like. {mark('lesson', 'a', 2)} [lesson: b] [[other: c]]"
    assert marks(text, "lesson") == [("a", "2")]
    long = padded((mark("a", "b"), "Answer: C"), 1_000)
    assert len(long) // 4 in range(970, 1_001)
    assert (marks(long, "a"), answer_in(long)) == ([("b",)], "C")


def test_the_right_method_helps_and_a_wrong_one_is_followed_too() -> None:
    niche = WORLD.niches["foundry"]
    alone, knowing = rate(Held()), rate(None)
    assert alone == pytest.approx(niche.alone, abs=0.1)
    assert knowing == pytest.approx(niche.able, abs=0.1)
    assert alone + 0.1 < knowing
    problem = foundry(0)
    wrong = next(name for name in METHODS["foundry"] if name != lesson(problem).method)
    held = Held(lessons=(lesson(problem), lesson(problem, wrong, held=3)))
    assert attempted(WORLD, problem, "p", held).method == wrong


def test_what_is_overlooked_is_of_no_use() -> None:
    forgetful = replace(WORLD, forgetting=1.0)
    assert rate(None, forgetful) == rate(Held(), forgetful)
    assert rate(None, replace(WORLD, forgetting=0.5)) < rate(None)


def test_an_answer_lacks_its_form_until_its_agent_is_told() -> None:
    sloppy = replace(WORLD, formless=1.0)
    assert not attempted(sloppy, foundry(0), "p", Held()).formed
    assert attempted(sloppy, foundry(0), "p", Held(formed=True)).formed


def test_sound_habits_help_and_a_persona_helps_where_it_is_of() -> None:
    strong = replace(WORLD, habit=1.0, persona=1.0, elsewhere=1.0)
    sound = tuple(habit for habit in HABITS if habit_worth(WORLD.name, habit) == 1)
    unsound = tuple(habit for habit in HABITS if habit_worth(WORLD.name, habit) == -1)
    assert rate(Held(habits=unsound), strong) < rate(Held(), strong)
    assert rate(Held(), strong) < rate(Held(habits=sound), strong)
    assert rate(Held(personas=("glacier",)), strong) < rate(Held(personas=("foundry",)), strong)


def test_in_a_level_world_nothing_has_an_effect() -> None:
    flat = leveled(drawn("test", 2), "row")
    assert rate(Held(), flat) == rate(None, flat) == rate(Held(habits=HABITS), flat)


def test_who_decides_sees_a_right_answer_or_goes_by_the_most() -> None:
    problem = problem_of("Problem 7 of the harbour")
    wrong = problem.lures
    niches = {"harbour": replace(WORLD.niches["harbour"], convincing=1.0)}
    sees = replace(WORLD, niches=niches)
    assert decided(sees, problem, "p", [wrong, wrong, problem.answers]) == problem.answers
    niches = {"harbour": replace(WORLD.niches["harbour"], convincing=0.0)}
    assert decided(replace(WORLD, niches=niches), problem, "p", [wrong, wrong, "A"]) == wrong


def test_letters_are_misheard_as_often_as_the_world_says() -> None:
    assert heard(WORLD, foundry(0), "p", "ABC") == "ABC"
    deaf = replace(WORLD, mishearing=1.0)
    taken = [heard(deaf, foundry(number), "p", "A") for number in range(MANY)]
    assert fmean(name == "A" for name in taken) == pytest.approx(1 / 8, abs=0.06)


def test_a_stream_has_each_niche_in_turn_and_its_answer_is_scored_by_letter() -> None:
    world = replace(WORLD, parts=4, task_tokens=200)
    tasks = stream(world, 3, 8)
    assert {*NICHES} == {item.niche for item in tasks[:4]} == {item.niche for item in tasks[4:]}
    assert stream(world, 3, 8) == tasks
    assert {item.query for item in tasks}.isdisjoint(
        item.query for item in stream(world, 3, 8, "test")
    )
    task, problem = tasks[0], seen(world, tasks[0].query)
    assert (task.answer, len(task.query) // 4 > 180) == (problem.answers, True)
    half = problem.answers[:2] + "--"
    assert letters(f"So.\nAnswer: {half}", task.answer, {}).value == 0.5
    assert letters("I will not say.", task.answer, {}).value == 0.0
    with pytest.raises(ValueError, match="no task of the world"):
        seen(world, "Sheet 7")
