"""What came of an evolution, and of the team that it led to. It is made of JSON's values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Self

from .names import LEAD
from .texts import counted_in, craft_in, idle_in, letters_in, others_counted_in, rules_in
from .world import SORTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from coterie.schema.team.team import Agent, Team

    from .landscapes import Landscape
    from .world import Order, Sort

__all__ = ["NOTES", "Marks", "Outcome", "marks_of", "noted"]

NOTES = (
    *("rule, mends", "rule, idle", "place, mends", "place, idle", "place, wrong"),
    *("newcomer, mends", "newcomer, needless", "rule for all, idle"),
)
"""What stands in a team at the end that was not there at first."""
Marks = dict[str, tuple[int, int]]
"""How many parts of a sort were right, and how many there were."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of an arm in a world.

    Attributes:
        learning: The score of each order by which the team evolved.
        test: The score of each other order, by the team that came of it.
        marks: Of these, by sorts of parts: how many were right, and how many there were.
        notes: How many there are of each sort at the end.
        lost: How many answers of those who looked back were of no use, or refused.
        calls: Model calls, by what they were for.
        tokens: Their tokens.
        seconds: CPU seconds that it took.
    """

    learning: Sequence[float]
    test: Sequence[float]
    marks: Mapping[str, Sequence[int]]
    notes: Mapping[str, int]
    lost: int
    calls: Mapping[str, int]
    tokens: Mapping[str, int]
    seconds: float

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Self:
        """Read it again."""
        return cls(**line)

    @property
    def score(self) -> float:
        """The mean score of the test."""
        return fmean(self.test)

    @property
    def learnt(self) -> float:
        """The mean score while it evolved."""
        return fmean(self.learning)

    def on(self, sort: Sort) -> float | None:
        """Give the share of the parts of a sort that were right in the test; None: it had none."""
        right, many = self.marks[sort]
        return right / many if many else None


def marks_of(answers: Iterable[tuple[Order, str]]) -> Marks:
    """Count the parts that are right.

    Args:
        answers: Orders, each with what was handed in.
    """
    right, many = Counter[str](), Counter[str]()
    for order, answer in answers:
        given = letters_in(answer)
        for part in order.parts:
            many[part.sort] += 1
            right[part.sort] += given.get(part.number) == part.answer
    return {one: (right[one], many[one]) for one in SORTS}


def noted(world: Landscape, team: Team) -> dict[str, int]:
    """Count what a team has learnt, by whether it mends something, does nothing, or does harm.

    Args:
        world: Where.
        team: The team.
    """
    found = Counter[str]()
    for agent in team.agents.values():
        found.update(_of_agent(world, agent))
    first = {one.craft for one in world.members} | {LEAD}
    for one in team.agents.keys() - first:
        craft = craft_in(team.agents[one].prompt)
        found["newcomer, mends" if craft == world.missing else "newcomer, needless"] += 1
    found["rule for all, idle"] += len(idle_in(team.constitution))
    return {one: found[one] for one in NOTES}


def _of_agent(world: Landscape, agent: Agent) -> Iterator[str]:
    craft, own = craft_in(agent.prompt), counted_in(agent.prompt)
    needed = {one.need for one in world.members if one.source == craft}
    for detail in rules_in("\n".join(agent.notes.patches.values())):
        yield "rule, mends" if detail in needed else "rule, idle"
    texts = (*agent.notes.teammates.values(), *agent.notes.pairs.values())
    for other, rod in others_counted_in("\n".join(texts)).items():
        member = world.member(other)
        if member is None or rod != member.rod:
            yield "place, wrong"
        else:
            yield "place, mends" if rod != own else "place, idle"
