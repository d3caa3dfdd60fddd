"""What operators are answered in the world: from what stands in their questions, and by chance."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..fences import fenced_texts
from .texts import (
    attempt_in,
    diagnosed,
    habit_lesson,
    habits_in,
    lesson_said,
    lessons_in,
    mistaken_in,
    persona,
    personas_in,
    sight_in,
)
from .world import HABITS, METHODS, Lesson, without

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coterie.runtime.gateway import ChatRequest

    from .landscapes import Landscape
    from .world import Attempt

__all__ = ["answered"]

WORTH = re.compile(r"answer: (\d(?:\.\d+)?)")
ROUND = re.compile(r"alike: on (\w+), seats [\d. ]+: (\w+), worth (\d(?:\.\d+)?)")
"""A round of leadership: the niche, the structure, and what it was worth."""
WORKS = re.compile(r"^(?=<persona )", re.MULTILINE)
"""Where the work of another member begins."""
MANNERS = ("patient", "brisk", "stubborn", "gentle", "blunt", "merry", "solemn", "curious")
"""What personas differ in, which changes nothing."""
HALF = 0.5


def answered(world: Landscape, request: ChatRequest) -> tuple[str, str]:
    """Answer an operator's question.

    Args:
        world: Where.
        request: The question.

    Returns:
        The operator's name, and the answer.
    """
    schema: Any = request.schema
    parts = frozenset(schema["properties"])
    operator = OPERATORS.get(parts, "dream_debate")
    asked = _Asked(
        world=world,
        shown=str(request.messages[1]["content"]),
        schema=schema,
        source=random.Random(f"{request.seed}/{operator}"),  # noqa: S311 - guards nothing
    )
    return operator, json.dumps(ANSWERS[operator](asked))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """An operator's question."""

    world: Landscape
    shown: str
    schema: Any
    source: random.Random

    def texts(self, *kinds: str) -> list[str]:
        """Give the texts in fences of some kinds."""
        return [text for _, text in fenced_texts(self.shown, *kinds)]

    @property
    def sight(self) -> tuple[str, str]:
        """The niche and the sign of the task."""
        if (seen := sight_in(self.shown)) is None:
            raise ValueError(f"this is no task of the world: {self.shown!r}")
        return seen


def _reflected(asked: _Asked) -> Mapping[str, Any]:
    """Draw a lesson from one's attempt, from somebody's right answer, or guess another method."""
    (niche, sign), (team, own) = asked.sight, _attempts(asked)
    made = own or team
    is_right, shown = _was_right(asked, own, team), made
    if not is_right and team is not None and _worth(asked, "team_worth") >= HALF:
        is_right, shown = True, team
    if shown is None:
        return {"lesson": "", "insight": ""}
    method = _kept(shown.method, METHODS[niche], asked.source, is_right=is_right)
    habit = _kept(shown.habit, HABITS, asked.source, is_right=is_right)
    lesson = Lesson(niche, sign, method, int(is_right))
    return {"lesson": lesson_said(lesson), "insight": habit_lesson(habit, int(is_right))}


def _attempts(asked: _Asked) -> tuple[Attempt | None, Attempt | None]:
    """Find the attempt that the team's answer comes from, and one's own: the last of each."""
    team = next(iter(asked.texts("team_answer")), "")
    own = [found for text in asked.texts("agent") if (found := attempt_in(text))]
    return attempt_in(team), own[-1] if own else None


def _was_right(asked: _Asked, own: Attempt | None, team: Attempt | None) -> bool:
    """Tell whether one's own answer was right, as far as the question says so."""
    if own is None:
        return False
    if asked.texts("worth"):
        return _worth(asked, "worth") >= HALF
    same = team is not None and team.letter == own.letter
    return same and _worth(asked, "team_worth") >= HALF


def _worth(asked: _Asked, kind: str) -> float:
    found = WORTH.search("\n".join(asked.texts(kind)))
    return float(found[1]) if found else 0.0


def _kept(one: str, known: Sequence[str], source: random.Random, *, is_right: bool) -> str:
    """Keep to what was right, else guess something else."""
    return one if is_right else source.choice(without(known, one))


def _fused(asked: _Asked) -> Mapping[str, Any]:
    """Make one lesson of several: the one that held most, as often as all that say the same."""
    text = "\n".join(asked.texts("earlier", "new"))
    held = Counter[str]()
    for one in lessons_in(text):
        held[lesson_said(Lesson(one.niche, one.sign, one.method, 0))] += one.held
    for habit, times in habits_in(text):
        held[habit_lesson(habit, 0)] += times
    if not held:
        return {"text": text.partition("\n")[0]}
    best = max(held, key=lambda one: held[one])
    return {"text": f"{best.removesuffix('0')}{held[best]}"}


def _diagnosed(asked: _Asked) -> Mapping[str, Any]:
    """Say by which method and habit one worked, and whether that was right."""
    own = _last_attempt(asked.shown)
    if own is None:
        return {"diagnosis": "I attempted nothing myself."}
    is_right = _worth(asked, "worth") >= HALF
    return {"diagnosis": diagnosed(own, right=is_right)}


def _contrasted(asked: _Asked) -> Mapping[str, Any]:
    """Say what a right attempt did that a wrong one did not: its method, and its habit if other."""
    (niche, sign), works = asked.sight, WORKS.split(asked.shown)[1:]
    failed, succeeded = (_last_attempt(one) for one in works)
    if succeeded is None:
        raise ValueError(f"nobody succeeded here: {asked.shown!r}")
    told = [lesson_said(Lesson(niche, sign, succeeded.method, 1))]
    if failed is None or failed.habit != succeeded.habit:
        told.append(habit_lesson(succeeded.habit, 1))
    return {"difference": "; ".join(told)}


def _last_attempt(shown: str) -> Attempt | None:
    """Find the last attempt of who is told of."""
    found = [attempt_in(text) for _, text in fenced_texts(shown, "agent", "attempt_alone")]
    return next((one for one in reversed(found) if one is not None), None)


def _imagined(asked: _Asked) -> Mapping[str, Any]:
    """Make a strategy of each method, and then of each habit, that made a difference."""
    niche, _ = asked.sight
    differences = [*enumerate(asked.texts("difference"), 1)]
    methods = {lesson_said(one): n for n, text in differences for one in lessons_in(text)}
    habits = {habit_lesson(*one): n for n, text in differences for one in habits_in(text)}
    known = "\n".join(asked.texts("niches")).splitlines()
    ideas = [
        *({"difference": n, "strategy": one, "niches": [niche]} for one, n in methods.items()),
        *({"difference": n, "strategy": one, "niches": known} for one, n in habits.items()),
    ]
    return {"ideas": ideas[: _most(asked, "ideas")]}


def _most(asked: _Asked, name: str) -> int:
    return asked.schema["properties"][name]["maxItems"]


def _debated(asked: _Asked) -> Mapping[str, Any]:
    """Drop what one has done oneself, and was wrong."""
    mistakes = mistaken_in(asked.shown)
    return {
        f"strategy_{number}": _opinion(text, mistakes)
        for number, text in enumerate(asked.texts("strategy"), 1)
    }


def _opinion(text: str, mistakes: Sequence[str]) -> Mapping[str, Any]:
    named = [one.method for one in lessons_in(text)] + [habit for habit, _ in habits_in(text)]
    did_so = any(one in mistakes for one in named)
    return {"reason": "I did so and was wrong." if did_so else "", "keep": not did_so}


def _crystallized(asked: _Asked) -> Mapping[str, Any]:
    """Give what is left: methods for their niche first, then habits for all."""
    niche, _ = asked.sight
    methods: list[Mapping[str, Any]] = []
    habits: list[Mapping[str, Any]] = []
    for number, text in enumerate(asked.texts("strategy"), 1):
        common = {"strategy": number, "niche": niche}
        for one in lessons_in(text):
            methods.append({**common, "text": lesson_said(one), "level": "subdomain"})
        for habit, held in habits_in(text):
            told = {"text": habit_lesson(habit, held), "level": "cross_domain"}
            habits.append({**common, **told})
    return {"insights": [*methods, *habits][: _most(asked, "insights")]}


def _described(asked: _Asked) -> Mapping[str, Any]:
    """Write a persona that names the niche it is asked for, or those of the personas shown."""
    named = asked.texts("niche") or personas_in("\n".join(asked.texts("persona")))
    manner = asked.source.choice(MANNERS)
    said = " ".join(filter(None, [persona(*dict.fromkeys(named)), f"You are {manner}."]))
    return {"reason": "", "title": manner, "persona": said}


def _led(asked: _Asked) -> Mapping[str, Any]:
    """Choose the structure that did best in the rounds shown, if it did well, else another one."""
    structures: Sequence[str] = asked.schema["properties"]["structure"]["enum"]
    niche, _ = asked.sight
    rounds = ROUND.findall("\n".join(asked.texts("rounds")))
    own = [one for one in rounds if one[0] == niche] or rounds
    rewards: dict[str, list[float]] = {}
    for _, structure, reward in own:
        rewards.setdefault(structure, []).append(float(reward))
    best = max(rewards, key=lambda one: fmean(rewards[one]), default=None)
    if asked.source.random() < asked.world.whim:
        chosen = asked.source.choice(structures)
    elif best is not None and fmean(rewards[best]) >= HALF:
        chosen = best
    else:
        others = [one for one in structures if one not in rewards]
        chosen = asked.source.choice(others or structures)
    return {"reason": "", "structure": chosen}


def _noted(asked: _Asked) -> Mapping[str, Any]:
    """Note what it was worth, and nothing more."""
    return {"note": f"It was worth {_worth(asked, 'worth'):g}."}


ANSWERS: Mapping[str, Callable[[_Asked], Mapping[str, Any]]] = {
    "reflect": _reflected,
    "fuse": _fused,
    "dream_reflect": _diagnosed,
    "dream_contrast": _contrasted,
    "dream_imagine": _imagined,
    "dream_debate": _debated,
    "dream_crystallize": _crystallized,
    "persona": _described,
    "lead": _led,
    "lead_review": _noted,
}
OPERATORS: Mapping[frozenset[str], str] = {
    frozenset({"lesson", "insight"}): "reflect",
    frozenset({"text"}): "fuse",
    frozenset({"diagnosis"}): "dream_reflect",
    frozenset({"difference"}): "dream_contrast",
    frozenset({"ideas"}): "dream_imagine",
    frozenset({"insights"}): "dream_crystallize",
    frozenset({"reason", "title", "persona"}): "persona",
    frozenset({"reason", "structure"}): "lead",
    frozenset({"note"}): "lead_review",
}
"""Who asks, by the parts of the answer that is wanted; who debates is asked of each strategy."""
