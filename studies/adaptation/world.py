"""What a team is worth on a task: a rule for one agent and one part, and nothing else.

Each agent answers the parts of its craft, and those of which it hears no answer; it hands on what
it hears of the others. How often it is right depends on its craft, on the workings that it hears,
on the reports that bring nothing, and on what it was coached to do and with whom.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from ..simulated import in_order

if TYPE_CHECKING:
    from .landscapes import Landscape
    from .sheets import Part, Sheet

__all__ = [
    "Crew",
    "Heard",
    "Lesson",
    "Member",
    "Told",
    "chance",
    "contributions",
    "said_by_all",
    "told",
    "worth",
]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What an agent was coached to do.

    Attributes:
        aspect: One of `sheets.ASPECTS`.
        neighbours: Ids of those of whom it heard when it was coached.
    """

    aspect: str
    neighbours: frozenset[str]


@dataclass(frozen=True, slots=True)
class Member:
    """What matters of an agent."""

    craft: str
    lessons: tuple[Lesson, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent says of a part.

    Attributes:
        craft: The craft of the agent that answered it.
        odds: How often the answer is right.
        by: The id of that agent; empty for who says it, whose working is there too.
        letters: The answer; empty where only what it is worth matters.
    """

    craft: str
    odds: float
    by: str = ""
    letters: str = ""


Heard = Mapping[str, "tuple[Told, ...]"]
"""By agent of whom one hears: what it says of each part."""


def told(
    member: Member, heard: Heard, sheet: Sheet, landscape: Landscape, *, again: bool = False
) -> tuple[Told, ...]:
    """Give what an agent says of each part.

    Args:
        member: The agent.
        heard: What it hears, by the ids of the agents that say it, in order.
        sheet: The task.
        landscape: Where.
        again: Whether it has an answer of its own from before.
    """
    source = [_source(one, part, member, heard) for one, part in enumerate(sheet.parts)]
    workings = [_workings(one, part, heard) for one, part in enumerate(sheet.parts)]
    needs = {need for one, part in enumerate(sheet.parts) if not source[one] for need in part.needs}
    useful = {*source}.union(*(workings[need] for need in needs))
    common = landscape.distraction * len({*heard} - useful) + landscape.again * again
    come: list[Told] = []
    for one, part in enumerate(sheet.parts):
        if name := source[one]:
            said = heard[name][one]
            come.append(replace(said, by=said.by or name))
        else:
            missing = sum(not workings[need] for need in part.needs)
            odds = common + landscape.missing * missing
            odds = chance(member, part, frozenset(heard), landscape, odds)
            come.append(Told(member.craft, odds))
    return tuple(come)


def _workings(number: int, part: Part, heard: Heard) -> set[str]:
    """Find who reports the working of a part: those of its craft that answered it themselves."""
    return {
        name
        for name, said in heard.items()
        if not said[number].by and said[number].craft == part.craft
    }


def _source(number: int, part: Part, member: Member, heard: Heard) -> str:
    """Find whose answer to a part is handed on: one of its craft, the first of equals.

    Empty where the agent answers it: it is of its craft, or nobody else did.
    """
    if part.craft == member.craft or not heard:
        return ""
    suited = (name for name, said in heard.items() if said[number].craft == part.craft)
    return next(suited, next(iter(heard)))


def chance(
    member: Member,
    part: Part,
    neighbours: frozenset[str],
    landscape: Landscape,
    odds: float = 0.0,
) -> float:
    """Give how often an agent answers a part rightly.

    Args:
        member: The agent.
        part: The part.
        neighbours: Of whom it hears.
        landscape: Where.
        odds: What else is added to the log odds.
    """
    odds += math.log(landscape.strength / (1 - landscape.strength))
    odds += landscape.stranger * (member.craft != part.craft)
    kept: dict[str, float] = {}
    for lesson in member.lessons:
        kept[lesson.aspect] = max(
            kept.get(lesson.aspect, 0.0), _kept(lesson, neighbours, landscape)
        )
    step = landscape.lesson
    for aspect, share in kept.items():
        if aspect in part.apt:
            odds += share * step * (1 + landscape.spread * part.apt[aspect])
            step *= landscape.fading
        else:
            odds += share * landscape.misfit
    return 1 / (1 + math.exp(-odds))


def _kept(lesson: Lesson, neighbours: frozenset[str], landscape: Landscape) -> float:
    """Give the share of a lesson's effect that is left among these neighbours."""
    every = lesson.neighbours | neighbours
    alike = len(lesson.neighbours & neighbours) / len(every) if every else 1.0
    return 1 - landscape.loss * (1 - alike)


@dataclass(frozen=True, slots=True)
class Crew:
    """What matters of a team: members in an order in which all hear of earlier ones only."""

    members: Mapping[str, Member]
    heard: Mapping[str, tuple[str, ...]]
    output: str

    @classmethod
    def made(
        cls, members: Mapping[str, Member], heard: Mapping[str, tuple[str, ...]]
    ) -> Self | None:
        """Put members in order; None where some hear in a circle, or not all come to one output."""
        found = in_order(heard)
        if found is None:
            return None
        order, output = found
        return cls({one: members[one] for one in order}, heard, output)

    def without_lessons(self) -> Crew:
        """Give the same team, uncoached."""
        members = {name: Member(one.craft) for name, one in self.members.items()}
        return replace(self, members=members)


def said_by_all(
    crew: Crew, sheet: Sheet, landscape: Landscape, *, again: bool = False
) -> dict[str, tuple[Told, ...]]:
    """Give what each agent of a team says of each part."""
    said: dict[str, tuple[Told, ...]] = {}
    for name, member in crew.members.items():
        heard: Heard = {one: said[one] for one in crew.heard[name]}
        said[name] = told(member, heard, sheet, landscape, again=again)
    return said


def worth(crew: Crew, sheet: Sheet, landscape: Landscape, *, again: bool = False) -> float:
    """Give the share of letters that a team can be expected to get right."""
    said = said_by_all(crew, sheet, landscape, again=again)[crew.output]
    return sum(one.odds for one in said) / len(said)


def contributions(said: Mapping[str, tuple[Told, ...]], output: str) -> dict[str, float]:
    """Give each agent's contribution: how often those answers are right that are its own.

    Only what is in the team's answer counts; an agent of whom nothing is has 0.
    """
    of: dict[str, list[float]] = {name: [] for name in said}
    for one in said[output]:
        of[one.by or output].append(one.odds)
    return {name: statistics.fmean(odds) if odds else 0.0 for name, odds in of.items()}
