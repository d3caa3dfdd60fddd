"""The words of the world: what agents, operators and leaders say in it, and what they read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .landscapes import NICHES
from .world import HABITS, LETTERS, METHODS, SIGNS, Attempt, Lesson

if TYPE_CHECKING:
    from .world import Problem

__all__ = [
    "PLAN",
    "answer_in",
    "attempt_in",
    "diagnosed",
    "habit_lesson",
    "habits_in",
    "lesson_said",
    "lessons_in",
    "mistaken_in",
    "persona",
    "personas_in",
    "posed",
    "said",
    "sight_in",
    "title_in",
    "verdict_in",
    "verdict_said",
]

PLAN = "Parts: look at the sign; choose a method; then compare the letters."
"""What a plan of parts says."""
RIGHT, WRONG = "I find it right.", "I find it wrong."
TITLE = re.compile(rf"Problem \d+/\d+ of the ({'|'.join(NICHES)})")
SHOWN = re.compile(rf"{TITLE.pattern}, with ([a-z ]+) and a ")
ANSWER = re.compile(rf"\bAnswer: ([{LETTERS}])\b")
METHOD = re.compile(r"Method: ([a-z ]+)\.")
HABIT = re.compile(r"Habit: ([a-z ]+)\.")
LESSON = re.compile(rf"({'|'.join(NICHES)}) with ([a-z ]+): ([a-z ]+)\. Held (\d+)")
HABIT_LESSON = re.compile(r"Anywhere: ([a-z ]+)\. Held (\d+)")
MISTAKEN = re.compile(r"I was wrong by this: ([a-z ]+), ([a-z ]+)\.")
PERSONA = re.compile(rf"You know the ({'|'.join(NICHES)})\b")


def posed(problem: Problem) -> str:
    """Write the question of a task."""
    return (
        f"{problem.title}, with {problem.sign} and a {problem.word}: which letter is right, from"
        f" {LETTERS[0]} to {LETTERS[-1]}?"
    )


def title_in(text: str) -> str | None:
    """Find which task a question is about: the one that it names first."""
    found = TITLE.search(text)
    return found[0] if found else None


def sight_in(text: str) -> tuple[str, str] | None:
    """Find what anybody can see of the task that a question is about: its niche and its sign."""
    found = SHOWN.search(text)
    return (found[1], found[2]) if found else None


def said(attempt: Attempt) -> str:
    """Write an attempt."""
    lines = f"Habit: {attempt.habit}.", f"Method: {attempt.method}.", f"Answer: {attempt.letter}"
    return "\n".join(lines)


def answer_in(text: str) -> str | None:
    """Find the answer that a text comes to: the last one in it."""
    found = ANSWER.findall(text)
    return found[-1] if found else None


def attempt_in(text: str) -> Attempt | None:
    """Find the attempt that a text tells of; None where it tells of none whole."""
    letter, method, habit = answer_in(text), METHOD.search(text), HABIT.search(text)
    if letter is None or method is None or habit is None:
        return None
    return Attempt(method=method[1], habit=habit[1], letter=letter)


def diagnosed(attempt: Attempt, *, right: bool) -> str:
    """Write whether an attempt was right, and how it was made."""
    came = "right" if right else "wrong"
    return f"I was {came} by this: {attempt.method}, {attempt.habit}."


def mistaken_in(text: str) -> list[str]:
    """Find by which methods and habits somebody was wrong."""
    return [one for found in MISTAKEN.findall(text) for one in found]


def verdict_said(*, right: bool) -> str:
    """Write what a critic finds."""
    return RIGHT if right else WRONG


def verdict_in(text: str) -> bool | None:
    """Find what a critic found; None where it found nothing."""
    return RIGHT in text if RIGHT in text or WRONG in text else None


def lesson_said(lesson: Lesson) -> str:
    """Write a lesson."""
    return f"{lesson.niche} with {lesson.sign}: {lesson.method}. Held {lesson.held}"


def lessons_in(text: str) -> list[Lesson]:
    """Find the lessons in a text, in order."""
    found = (Lesson(*one[:3], held=int(one[3])) for one in LESSON.findall(text))
    return [one for one in found if one.sign in SIGNS[one.niche] if _known(one)]


def _known(lesson: Lesson) -> bool:
    return lesson.method in METHODS[lesson.niche]


def habit_lesson(habit: str, held: int) -> str:
    """Write that a habit is to be kept to everywhere."""
    return f"Anywhere: {habit}. Held {held}"


def habits_in(text: str) -> list[tuple[str, int]]:
    """Find the habits that are to be kept to, and how often each held, in order."""
    return [(habit, int(held)) for habit, held in HABIT_LESSON.findall(text) if habit in HABITS]


def persona(*niches: str) -> str:
    """Write the persona of somebody who is good at something."""
    return " ".join(f"You know the {one}." for one in niches)


def personas_in(text: str) -> list[str]:
    """Find the niches that a persona names."""
    return PERSONA.findall(text)
