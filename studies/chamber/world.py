"""Who is right in the world, and by which method.

Everything is a function of the world, of the task, of the place of an attempt in it, and of what
whoever attempts it reads.
"""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .landscapes import Ground, Landscape

__all__ = [
    "HABITS",
    "LETTERS",
    "METHODS",
    "SIGNS",
    "Attempt",
    "Knowledge",
    "Lesson",
    "Problem",
    "attempted",
    "chance_right",
    "checked",
    "decided",
    "habit_worth",
    "problem_of",
    "right_method",
    "shifted",
    "title",
    "without",
]

LETTERS = "ABCDEFGH"
SIGNS = {
    "orchard": ("ripe quince", "late medlar", "bent pear", "split plum", "dry almond"),
    "harbour": ("amber heron", "slow ferry", "salt rope", "low tide", "blue buoy"),
    "foundry": ("red ladle", "cold anvil", "loud bellows", "grey slag", "thin rivet"),
    "glacier": ("deep moraine", "wet crevasse", "old firn", "steep serac", "pale icefall"),
}
"""By what tasks of a niche are told apart; each has a method of its own that is right."""
METHODS = {
    "orchard": (
        *("graft every branch", "count fallen fruit", "follow wasps home", "weigh one basket"),
        *("prune before noon", "water twice daily", "shake lower limbs", "store under straw"),
    ),
    "harbour": (
        *("fathom both ends", "signal passing ships", "drop second anchor", "chart hidden rocks"),
        *("row against wind", "mend torn nets", "light outer beacon", "caulk leaking seams"),
    ),
    "foundry": (
        *("heat till white", "quench in oil", "hammer thin edges", "file rough burrs"),
        *(
            "pour without pause",
            "skim floating dross",
            "temper overnight slowly",
            "strike once hard",
        ),
    ),
    "glacier": (
        *("rope three climbers", "probe fresh snow", "cut wide steps", "camp above clouds"),
        *("melt clean water", "cross before dawn", "mark return path", "wait out storms"),
    ),
}
"""Ways to work in a niche; their words are all different, so that lessons can be told apart."""
HABITS = (
    *("doubt your first thought", "write everything down", "begin at the end"),
    *("draw little sketches", "take the shortest way", "say it aloud"),
)
"""Ways to work anywhere: two are sound, two unsound, two neither."""
WORDS = ("lantern", "pepper", "violin", "saddle", "mirror", "thimble", "candle", "feather")
"""Tasks show one of them, which tells nothing."""
KINDS = (1, 1, -1, -1, 0, 0)
HALF = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A task, as nobody in the world sees it.

    Attributes:
        title: What it is called.
        niche: Its niche.
        sign: What it is recognised by.
        word: What it shows beside, which tells nothing.
        answer: The right letter.
        lure: The letter of many wrong answers.
    """

    title: str
    niche: str
    sign: str
    word: str
    answer: str
    lure: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """What somebody was told: on tasks of a niche and a sign, work so; it held so often."""

    niche: str
    sign: str
    method: str
    held: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Knowledge:
    """What an agent reads before it attempts a task.

    Attributes:
        lessons: Lessons, in the order in which it reads them.
        habits: Habits that it is to keep to.
        personas: The niches that its persona names.
        planned: Whether it was given a plan of parts.
    """

    lessons: Sequence[Lesson] = ()
    habits: Sequence[str] = ()
    personas: Sequence[str] = ()
    planned: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """An answer, and how it came about."""

    method: str
    habit: str
    letter: str


def title(seed: int, number: int, niche: str) -> str:
    """Name a task: the number of a stream, its own, and its niche."""
    return f"Problem {seed}/{number} of the {niche}"


@functools.lru_cache(maxsize=2_000)
def problem_of(named: str) -> Problem:
    """Make a task; the same for the same title."""
    source = _chance(named)
    niche = named.rpartition(" ")[2]
    answer, lure = source.sample(LETTERS, 2)
    return Problem(
        title=named,
        niche=niche,
        sign=source.choice(SIGNS[niche]),
        word=source.choice(WORDS),
        answer=answer,
        lure=lure,
    )


@functools.lru_cache(maxsize=1_000)
def right_method(world: str, niche: str, sign: str) -> str:
    """Name the right method for a sign; the same for the same world."""
    return _chance(f"{world}/{niche}/{sign}/method").choice(METHODS[niche])


@functools.lru_cache(maxsize=100)
def _habits(world: str) -> dict[str, int]:
    kinds = _chance(f"{world}/habits").sample(KINDS, len(KINDS))
    return dict(zip(HABITS, kinds, strict=True))


def habit_worth(world: str, habit: str) -> int:
    """Tell of a habit: 1 where it is sound, -1 where it is unsound, 0 where neither."""
    return _habits(world)[habit]


def without(methods: Iterable[str], one: str) -> list[str]:
    """Give all but one, in order."""
    return [other for other in methods if other != one]


def attempted(world: Landscape, problem: Problem, place: str, known: Knowledge) -> Attempt:
    """Attempt a task.

    Args:
        world: Where.
        problem: The task.
        place: Which attempt at the task it is.
        known: What whoever attempts it reads.
    """
    source = _chance(f"{world.name}/{world.luck}/{problem.title}/{place}")
    trusts, finds, other = source.random(), source.random(), source.random()
    habit, own, is_alike = source.choice(HABITS), source.random(), source.random() < world.alike
    ground, right = world.grounds[problem.niche], _right(world, problem)
    method = _remembered(problem, known.lessons) if trusts < world.trust else None
    if method is None:
        wrong = without(METHODS[problem.niche], right)
        method = right if finds < ground.found else wrong[int(other * len(wrong))]
    chance = chance_right(world, problem, method, [habit, *known.habits], known)
    luck = _chance(f"{world.name}/{world.luck}/{problem.title}").random() if is_alike else own
    letter = problem.answer if luck < chance else _wrong(world, problem, source)
    return Attempt(method=method, habit=habit, letter=letter)


def _right(world: Landscape, problem: Problem) -> str:
    return right_method(world.name, problem.niche, problem.sign)


def _remembered(problem: Problem, lessons: Iterable[Lesson]) -> str | None:
    """Find the method that held most often for such a task, the first among equals."""
    held = Counter[str]()
    for one in lessons:
        if _fits(one, problem):
            held[one.method] += one.held
    return max(held, key=lambda method: held[method], default=None)


def _fits(lesson: Lesson, problem: Problem) -> bool:
    return (lesson.niche, lesson.sign) == (problem.niche, problem.sign)


def chance_right(
    world: Landscape, problem: Problem, method: str, habits: Iterable[str], known: Knowledge
) -> float:
    """Give the chance that an attempt is right.

    Args:
        world: Where.
        problem: The task.
        method: By which method it is made.
        habits: The habits that are kept to; each counts once.
        known: What else whoever attempts it reads.
    """
    ground = world.grounds[problem.niche]
    odds = world.habit * sum(habit_worth(world.name, one) for one in {*habits})
    odds -= world.dilution * sum(not _fits(one, problem) for one in known.lessons)
    odds += ground.parts if known.planned else 0.0
    if personas := {*known.personas}:
        is_named = problem.niche in personas
        odds += world.persona / len(personas) if is_named else -world.elsewhere
    is_able = method == _right(world, problem)
    return shifted(ground.able if is_able else ground.unable, odds)


def _wrong(world: Landscape, problem: Problem, source: random.Random) -> str:
    if source.random() < world.lure:
        return problem.lure
    return source.choice([one for one in LETTERS if one not in {problem.answer, problem.lure}])


def decided(world: Landscape, problem: Problem, place: str, letters: Sequence[str]) -> str:
    """Decide among answers, of which there is at least one.

    Args:
        world: Where.
        problem: The task.
        place: Which decision about the task it is.
        letters: The answers, in the order in which they are read.
    """
    if (
        problem.answer in letters
        and _luck(world, problem, f"{place}/decided") < _ground(world, problem).convincing
    ):
        return problem.answer
    given = Counter(letters)
    return max(given, key=lambda one: given[one])


def checked(world: Landscape, problem: Problem, place: str, letter: str) -> bool:
    """Judge whether an answer is right, as a critic does."""
    is_judged = _luck(world, problem, f"{place}/checked") < _ground(world, problem).checking
    return (letter == problem.answer) == is_judged


def _ground(world: Landscape, problem: Problem) -> Ground:
    return world.grounds[problem.niche]


def _luck(world: Landscape, problem: Problem, what: str) -> float:
    return _chance(f"{world.name}/{world.luck}/{problem.title}/{what}").random()


def shifted(chance: float, odds: float) -> float:
    """Add to the log odds of a chance, which is neither 0 nor 1."""
    return 1 / (1 + (1 - chance) / chance * math.exp(-odds))


def _chance(name: str) -> random.Random:
    return random.Random(f"chamber/{name}")  # noqa: S311 - guards nothing
