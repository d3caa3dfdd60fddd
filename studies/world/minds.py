"""Who is right in a world, and by which method.

Everything is a function of the world, of the task, of the place of an attempt in it, and of what
whoever attempts it holds.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .marks import marks
from .worlds import NICHES, chance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .worlds import World

LETTERS = "ABCDEFGH"
SIGNS = {
    "orchard": ("ripe quince", "late medlar", "bent pear", "split plum", "dry almond"),
    "harbour": ("amber heron", "slow ferry", "salt rope", "low tide", "blue buoy"),
    "foundry": ("red ladle", "cold anvil", "loud bellows", "grey slag", "thin rivet"),
    "glacier": ("deep moraine", "wet crevasse", "old firn", "steep serac", "pale icefall"),
}
"""By what tasks of a niche are told apart; for each, one method is right."""
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
        *("pour without pause", "skim floating dross", "temper overnight slowly", "strike once"),
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
KINDS = (1, 1, -1, -1, 0, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A task, as nobody in the world sees it.

    Attributes:
        title: What it is called; its last word is its niche.
        sign: What it is recognised by.
        answers: The right letter of each part.
        lures: The letter of many wrong answers, of each part.
    """

    title: str
    sign: str
    answers: str
    lures: str

    @property
    def niche(self) -> str:
        """Its niche."""
        return self.title.rpartition(" ")[2]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What somebody was told: on tasks of a niche and a sign, work so; it held so often."""

    niche: str
    sign: str
    method: str
    held: int = 0

    @property
    def fields(self) -> tuple[object, ...]:
        """What its mark says."""
        return self.niche, self.sign, self.method, self.held

    def fits(self, problem: Problem) -> bool:
        """Return whether it is for a task."""
        return (self.niche, self.sign) == (problem.niche, problem.sign)


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """What an agent holds when it attempts a task, in the order in which it reads it.

    Attributes:
        lessons: Lessons.
        habits: Habits that it is to keep to.
        personas: The niches that its persona names.
        planned: Whether it has a plan of parts.
        formed: Whether it was told the form of an answer.
    """

    lessons: tuple[Lesson, ...] = ()
    habits: tuple[str, ...] = ()
    personas: tuple[str, ...] = ()
    planned: bool = False
    formed: bool = False

    @classmethod
    def of(cls, text: str) -> Held:
        """Read what an agent holds from its instructions and its question."""
        return cls(
            lessons=(*lessons_in(text),),
            habits=tuple(habit for habit, *_ in marks(text, "habit")),
            personas=tuple(niche for (niche,) in marks(text, "persona")),
            planned=bool(marks(text, "plan")),
            formed=bool(marks(text, "form")),
        )

    def remembered(self, world: World, place: str) -> Held:
        """Leave out what is overlooked."""
        if not world.forgetting:
            return self

        def stays(what: object) -> bool:
            return chance(world.name, place, "overlooks", what).random() >= world.forgetting

        return replace(
            self,
            lessons=tuple(lesson for lesson in self.lessons if stays(lesson.fields)),
            habits=tuple(habit for habit in self.habits if stays(habit)),
            formed=self.formed and stays("form"),
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer, and how it came about.

    Attributes:
        method: By which method.
        habit: With which habit of its own.
        letters: A letter for each part.
        formed: Whether it has the form that is scored.
    """

    method: str
    habit: str
    letters: str
    formed: bool = True


def lessons_in(text: str) -> list[Lesson]:
    """Return the lessons in a text, in order."""
    return [
        Lesson(niche, sign, method, int(held))
        for niche, sign, method, held in marks(text, "lesson")
    ]


@functools.lru_cache(maxsize=2_000)
def problem_of(title: str, parts: int = 1) -> Problem:
    """Return a task; the same for the same title."""
    source, niche = chance("task", title), title.rpartition(" ")[2]
    if niche not in NICHES:
        raise ValueError(f"{title!r} is no task of the world: it ends in no niche.")
    pairs = ["".join(source.sample(LETTERS, 2)) for _ in range(parts)]
    return Problem(
        title=title,
        sign=source.choice(SIGNS[niche]),
        answers="".join(answer for answer, _ in pairs),
        lures="".join(lure for _, lure in pairs),
    )


@functools.lru_cache(maxsize=1_000)
def right_method(world: str, niche: str, sign: str) -> str:
    """Return the right method for a sign; the same for the same world."""
    return chance(world, niche, sign, "method").choice(METHODS[niche])


@functools.lru_cache(maxsize=100)
def _habits(world: str) -> dict[str, int]:
    kinds = chance(world, "habits").sample(KINDS, len(KINDS))
    return dict(zip(HABITS, kinds, strict=True))


def habit_worth(world: str, habit: str) -> int:
    """Return 1 for a sound habit, -1 for an unsound one, 0 for one that is neither."""
    return _habits(world)[habit]


def without(several: Iterable[str], text: str) -> list[str]:
    """Return all but one, in order."""
    return [other for other in several if other != text]


def attempted(world: World, problem: Problem, place: str, held: Held) -> Attempt:
    """Attempt a task.

    Args:
        world: Where.
        problem: The task.
        place: Which attempt at the task it is.
        held: What whoever attempts it holds.
    """
    source = chance(world.name, world.luck, problem.title, place)
    trusts, finds, other = source.random(), source.random(), source.random()
    habit, shapes = source.choice(HABITS), source.random()
    known = held.remembered(world, f"{problem.title}/{place}")
    right = right_method(world.name, problem.niche, problem.sign)
    method = _recalled(problem, known.lessons) if trusts < world.trust else None
    if method is None:
        wrong = without(METHODS[problem.niche], right)
        holds = finds < world.niches[problem.niche].finding
        method = right if holds else wrong[int(other * len(wrong))]
    odds = chance_right(world, problem, method, [habit, *known.habits], known)
    letters = "".join(
        _letter(world, problem, part, odds, f"{place}/{part}") for part in range(world.parts)
    )
    formed = known.formed or shapes >= world.formless
    return Attempt(method, habit, letters, formed)


def _recalled(problem: Problem, lessons: Iterable[Lesson]) -> str | None:
    """Return the method that held most often for such a task, the first among equals."""
    held = Counter[str]()
    for lesson in lessons:
        if lesson.fits(problem):
            held[lesson.method] += lesson.held
    return max(held, key=lambda method: held[method], default=None)


def chance_right(
    world: World, problem: Problem, method: str, habits: Iterable[str], held: Held
) -> float:
    """Return the chance that a letter of an attempt is right."""
    niche = world.niches[problem.niche]
    odds = world.habit * sum(habit_worth(world.name, name) for name in {*habits})
    odds -= world.dilution * sum(not lesson.fits(problem) for lesson in held.lessons)
    odds += niche.planned if held.planned else 0.0
    if personas := {*held.personas}:
        named = problem.niche in personas
        odds += world.persona / len(personas) if named else -world.elsewhere
    is_able = method == right_method(world.name, problem.niche, problem.sign)
    return shifted(niche.able if is_able else niche.unable, odds)


def _letter(world: World, problem: Problem, part: int, odds: float, place: str) -> str:
    """Return the letter of a part: the right one with a chance, else a wrong one."""
    own = chance(world.name, world.luck, problem.title, place, "letter")
    is_alike = own.random() < world.alike
    shared = chance(world.name, world.luck, problem.title, part)
    luck = (shared if is_alike else own).random()
    answer, lure = problem.answers[part], problem.lures[part]
    if luck < odds:
        return answer
    if own.random() < world.lure:
        return lure
    return own.choice([letter for letter in LETTERS if letter not in {answer, lure}])


def heard(world: World, problem: Problem, place: str, letters: str) -> str:
    """Return letters as a colleague takes them."""
    if not world.mishearing:
        return letters
    source = chance(world.name, world.luck, problem.title, place, "hears", letters)
    return "".join(
        source.choice(LETTERS) if source.random() < world.mishearing else letter
        for letter in letters
    )


def decided(world: World, problem: Problem, place: str, answers: Sequence[str]) -> str:
    """Return the letters that somebody decides for, of answers of which there is at least one."""
    source = chance(world.name, world.luck, problem.title, place, "decided")
    niche, letters = world.niches[problem.niche], ""
    for part, answer in enumerate(problem.answers):
        given = Counter(name[part] for name in answers)
        sees = source.random() < niche.convincing
        letters += answer if sees and answer in given else max(given, key=lambda it: given[it])
    return letters


def checked(world: World, problem: Problem, place: str, letters: str) -> bool:
    """Return whether a critic takes an answer for right."""
    source = chance(world.name, world.luck, problem.title, place, "checked")
    is_judged = source.random() < world.niches[problem.niche].checking
    return (letters == problem.answers) == is_judged


def shifted(odds_of: float, odds: float) -> float:
    """Add to the log odds of a chance, which is neither 0 nor 1."""
    return 1 / (1 + (1 - odds_of) / odds_of * math.exp(-odds))
