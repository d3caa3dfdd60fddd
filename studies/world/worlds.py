"""Worlds: all numbers by which agents work, as parameters of one value."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Range = tuple[float, float]
REGIMES: Mapping[str, Mapping[str, Range]] = MappingProxyType(
    {
        "orchard": {"able": (0.9, 0.97), "unable": (0.5, 0.65), "finding": (0.6, 0.8)},
        "harbour": {"able": (0.8, 0.9), "unable": (0.2, 0.35), "finding": (0.35, 0.5)},
        "foundry": {"able": (0.6, 0.8), "unable": (0.08, 0.18), "finding": (0.2, 0.35)},
        "glacier": {"able": (0.35, 0.55), "unable": (0.02, 0.05), "finding": (0.1, 0.2)},
    }
)
"""What each niche's numbers are drawn from, evenly; the regimes of EvoChamber, App. I."""
NICHES = (*REGIMES,)
RELATIONS: Mapping[str, Range] = MappingProxyType(
    {"convincing": (0.2, 0.9), "checking": (0.5, 0.9), "planned": (-0.6, 0.9)}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Niche:
    """A kind of task. `planned` is on log odds, all others are chances.

    Attributes:
        able: How often somebody is right who works by the right method.
        unable: How often somebody is right who works by a wrong one.
        finding: How often somebody finds the right method without lessons.
        convincing: How often a right answer among others is seen to be right.
        checking: How often a critic judges rightly.
        planned: What a plan of parts adds.
    """

    able: float
    unable: float
    finding: float
    convincing: float = 0.5
    checking: float = 0.7
    planned: float = 0.0

    @property
    def alone(self) -> float:
        """How often a single agent is right that knows nothing."""
        return self.finding * self.able + (1 - self.finding) * self.unable


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """A world. What is neither a chance nor a number of things is on log odds of being right.

    Attributes:
        name: What right methods and sound habits depend on.
        niches: The kinds of task, by name.
        luck: Whose luck it is; "" for luck that all rows share.
        parts: How many letters an answer has.
        trust: How often an agent goes by lessons for its task.
        forgetting: How often an agent overlooks a thing that it is told.
        mishearing: How often a letter of a colleague is taken for another one.
        formless: How often an answer lacks the form that is scored, while its agent was not told
            to keep to that: a defect that all agents share.
        alike: Which share of attempts at a task has the same luck.
        lure: Which share of wrong answers to a task is the same letter: its trap.
        dilution: What each lesson for other tasks takes away.
        habit: What a sound habit adds and an unsound one takes away.
        persona: What a persona adds in its niches, over their number.
        elsewhere: What it takes away elsewhere.
        stranger: What somebody lacks who works on a part of another craft.
        loss: Which share of coaching is lost among other neighbours than it was given for.
        skill: How often an operator's model knows what is best; else it draws.
        whim: How often a leader draws a structure.
        judging: How far a judge's estimate is off at most, as a share.
        vanity: How far a judge goes by how sure somebody sounds.
        span: After how many tokens of a trace an analyser has lost two thirds of what it could say.
        sound: Whether nothing is wrong with the team of `crews`.
        task_tokens: How long a task is, at least.
        answer_tokens: How long an agent's answer is, at least.
    """

    name: str
    niches: Mapping[str, Niche] = field(hash=False)
    luck: str = ""
    parts: int = 1
    trust: float = 0.8
    forgetting: float = 0.0
    mishearing: float = 0.0
    formless: float = 0.0
    alike: float = 0.25
    lure: float = 0.4
    dilution: float = 0.05
    habit: float = 0.25
    persona: float = 0.25
    elsewhere: float = 0.25
    stranger: float = 1.5
    loss: float = 0.5
    skill: float = 0.8
    whim: float = 0.1
    judging: float = 0.1
    vanity: float = 0.0
    span: int = 20_000
    sound: bool = False
    task_tokens: int = 0
    answer_tokens: int = 0


RANGES: Mapping[str, Range] = MappingProxyType(
    {
        "trust": (0.5, 0.9),
        "forgetting": (0.0, 0.2),
        "mishearing": (0.0, 0.1),
        "formless": (0.0, 0.3),
        "alike": (0.1, 0.4),
        "lure": (0.2, 0.6),
        "dilution": (0.02, 0.1),
        "habit": (0.1, 0.4),
        "persona": (0.1, 0.4),
        "elsewhere": (0.1, 0.4),
        "stranger": (0.5, 2.0),
        "skill": (0.6, 0.95),
        "whim": (0.0, 0.2),
        "judging": (0.0, 0.3),
        "loss": (0.0, 1.0),
    }
)
"""What the numbers of all niches together are drawn from, evenly."""


def drawn(study: str, number: int, **changes: Any) -> World:
    """Draw a world; the same for the same study and number.

    Args:
        study: Whose world.
        number: Which one.
        changes: What is not drawn.
    """
    source = chance(study, number)
    niches = {
        name: Niche(**_within({**ranges, **RELATIONS}, source)) for name, ranges in REGIMES.items()
    }
    numbers: dict[str, Any] = {"niches": MappingProxyType(niches), **_within(RANGES, source)}
    return World(name=f"{study} {number}", **(numbers | changes))


def leveled(world: World, luck: str) -> World:
    """Return a world in which nothing that anybody knows, says or is has an effect.

    Args:
        world: Whose other numbers it has.
        luck: Whose luck it is: where all attempts come out alike, rows with one luck would be one.
    """
    flat = {
        name: replace(nich, able=nich.alone, unable=nich.alone, planned=0.0)
        for name, nich in world.niches.items()
    }
    nothing = dict.fromkeys(
        ("forgetting", "mishearing", "formless", "dilution", "habit", "persona", "elsewhere"), 0.0
    )
    return replace(
        world,
        niches=MappingProxyType(flat),
        luck=luck,
        alike=1.0,
        lure=1.0,
        stranger=0.0,
        **nothing,
    )


def chance(*names: object) -> random.Random:
    """Return the chance of something, by what it is called."""
    return random.Random("/".join(map(str, names)))  # noqa: S311 - guards nothing


def _within(ranges: Mapping[str, Range], source: random.Random) -> dict[str, float]:
    return {name: source.uniform(*bounds) for name, bounds in ranges.items()}
