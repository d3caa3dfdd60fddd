"""The split of tasks: some to propose on, some to race on, some held back for the last word."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....schema.values.errors import InputError

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ....schema.team.task import Task

PROPOSED_ON = 0.2
"""The share of tasks to propose on: operators may see their reference answers."""
RACED_ON = 0.35
"""The share of tasks to race on. Candidates may repeat them; the tasks held back decide."""
MOST_PROPOSED_ON = 12
FEWEST = 10
"""The fewest tasks with which a race can show something."""
FEWEST_HELD = 4
"""The fewest held-back tasks on which a gain can show, however large it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """Three disjoint parts of the tasks, each with the niches in proportion.

    Attributes:
        propose: Tasks whose answers operators may see.
        held: Tasks for the last word. No choice depends on them.
    """

    propose: tuple[Task, ...]
    race: tuple[Task, ...]
    held: tuple[Task, ...]

    @property
    def is_corrected(self) -> bool:
        """Whether a judge scores all held-back tasks, and some reference answers correct it."""
        answers = sum(task.is_scored for task in self.held)
        return min(answers, len(self.held) - answers) >= FEWEST_HELD

    @property
    def judged(self) -> int:
        """The number of held-back tasks that a judge scores."""
        if self.is_corrected:
            return len(self.held)
        return sum(not task.is_scored for task in self.held)


def split(tasks: Sequence[Task], chance: random.Random, held_out: Sequence[Task] = ()) -> Split:
    """Split tasks into three parts, or into two if others are held out.

    Args:
        chance: Draws the order within each niche.

    Raises:
        InputError: There are too few tasks.
    """
    refuse_few(tasks, held_out)
    order = _mixed(tasks, chance)
    proposed_on = min(MOST_PROPOSED_ON, max(2, round(PROPOSED_ON * len(order))))
    propose, rest = order[:proposed_on], order[proposed_on:]
    if held_out:
        return Split(propose=propose, race=rest, held=_mixed(held_out, chance))
    raced_on = round(len(rest) * RACED_ON / (1 - PROPOSED_ON))
    return Split(propose=propose, race=rest[:raced_on], held=rest[raced_on:])


def refuse_few(tasks: Sequence[Task], held_out: Sequence[Task]) -> None:
    """Check that there are enough tasks to show a gain.

    Raises:
        InputError: There are too few.
    """
    if len(tasks) < FEWEST:
        raise InputError(
            f"{len(tasks)} tasks: a race needs at least {FEWEST}, to propose on some, race on"
            " others and keep some back; fewer would show next to no gain. Add tasks."
        )
    if 0 < len(held_out) < FEWEST_HELD:
        raise InputError(
            f"{len(held_out)} held-out tasks: fewer than {FEWEST_HELD} cannot show a gain, however"
            " large it is. Add tasks to --test."
        )


def _mixed(tasks: Sequence[Task], chance: random.Random) -> tuple[Task, ...]:
    """Order tasks so that every stretch of them has the niches in proportion."""
    niches: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        niches[task.niche or ""].append(task)
    places: list[tuple[float, Task]] = []
    for _, members in sorted(niches.items()):
        chance.shuffle(members)
        start = chance.random()
        places += [((n + start) / len(members), task) for n, task in enumerate(members)]
    return tuple(task for _, task in sorted(places, key=lambda place: place[0]))
