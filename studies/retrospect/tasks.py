"""The orders of a stream, the team that works on them, and how an answer is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.runtime.values.score import Score
from coterie.schema.host.scorer_form import ScorerForm, takes
from coterie.schema.team.task import ScorerChoice, Task
from coterie.schema.team.team import Agent, Execution, Roster, Team
from coterie.schema.values.problems import quoted

from ..plugin import register
from .names import LEAD
from .texts import LEADING, instructions, letters_in, posed
from .world import order_of, title

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.schema.values.problems import Path

    from .landscapes import Landscape
    from .world import Split

__all__ = ["MESSAGES", "graded", "tasks", "team_of"]

register()  # the scorer below is found by name

MESSAGES = 24
"""Messages of an order at most: a little more than it takes."""


def team_of(world: Landscape) -> Team:
    """Write the team of a world, as it is at first."""
    lead = Agent(id=LEAD, role=LEAD, agent_type="LLM", prompt=LEADING)
    members = (
        Agent(id=one.craft, role=one.craft, agent_type="LLM", prompt=instructions(one))
        for one in world.members
    )
    return Team(
        name="yard",
        agents={one.id: one for one in (lead, *members)},
        execution=Execution(roster=Roster(lead=LEAD, messages=MESSAGES)),
    )


def tasks(world: Landscape, split: Split, seed: int, count: int) -> list[Task]:
    """Make the tasks of a stream.

    Args:
        world: Where.
        split: What for.
        seed: Which stream.
        count: How many.
    """
    return [_task(world, split, seed, number) for number in range(count)]


def _task(world: Landscape, split: Split, seed: int, number: int) -> Task:
    order = order_of(world, title(split, seed, number))
    return Task(
        id=f"{split}{number}",
        query=posed(order),
        answer=order.answer,
        scorer=ScorerChoice(name="retrospect_parts"),
    )


def _without_a_part(_options: Mapping[str, Any], reference: Any) -> Mapping[Path, str]:
    if reference is None or letters_in(reference):
        return {}
    return {("answer",): f"{quoted(reference)} tells the letter of no part."}


@takes(ScorerForm(reference={"type": "string"}, check=_without_a_part))
def graded(answer: str, reference: Any, options: Any) -> Score:
    """Give the share of parts whose letter is right; of each the last one counts."""
    del options
    given, wanted = letters_in(answer), letters_in(str(reference))
    right = sum(given.get(part) == letter for part, letter in wanted.items())
    return Score(value=right / len(wanted), reason=f"{right} of {len(wanted)}")
