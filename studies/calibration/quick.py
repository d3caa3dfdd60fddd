"""Evolves teams in a world as `evolving` does, by the same pool code, but in memory.

Selection, expectations and statistics are those of the pool; the episode is written anew: who is
adapted, mutated, and admitted. It takes a fifteenth of the time.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.operators.methods.evomas.select import shortlist
from coterie.pool.ledger.members import Member
from coterie.pool.values.statistics import EVOLVE
from coterie.schema import Lineage, Task

from .evolving import RECIPE
from .world import FOUNDERS, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.pool.values.statistics import Kind

    from .world import World


@dataclass(frozen=True, kw_only=True, slots=True)
class _Candidate:
    """A team that was tried: what it is worth, what it was made of, and what it scored."""

    worth: float
    score: float
    parent: str
    member: Member | None = None
    source: _Candidate | None = None

    def bar(self, expected: Mapping[str, float]) -> float:
        """Return what it has to exceed: the best score of what it was made of, or what is expected.

        What is expected is that of the pool's team that it goes back to.
        """
        if self.source is None:
            return expected[self.parent]
        return max(self.source.score, self.source.bar(expected))


def evolve(world: World, count: int, seed: int) -> tuple[list[Member], dict[str, float]]:
    """Evolve teams over a stream of tasks; the same for the same arguments.

    Returns:
        The pool's teams, and what each is worth by its name.
    """
    chance = random.Random(f"{world.name}/{seed}")  # noqa: S311 - guards nothing
    members: list[Member] = []
    worths: dict[str, float] = {}
    for _ in range(FOUNDERS):
        _add(members, worths, world.founder(chance))
    for number in range(count):
        task = Task(id=f"t{number}", query="?")
        listed = shortlist(task, members, k=RECIPE.settings.parents)
        tried = _tried(world, [*listed][: RECIPE.settings.parents], worths, chance)
        _record(task, tried, {member.name: member for member in members})
        expected = {item.name: known.score for item, known in listed.items()}
        # All cost the same, and come after what they were made of: the first wins a tie.
        best = max(tried, key=lambda item: item.score)
        if best.member is None and best.score > best.bar(expected):
            newcomer = _add(members, worths, best.worth, best.parent)
            _take(newcomer, task, best.score, "chosen")
    return members, worths


def _tried(
    world: World,
    selected: list[Member],
    worths: Mapping[str, float],
    chance: random.Random,
) -> list[_Candidate]:
    """Try selected teams, half of them adapted, and then mutations of promising candidates."""
    tried: list[_Candidate] = []
    for member in selected:
        name, worth = member.name, worths[member.name]
        if chance.random() < UNCHANGED:
            item = _Candidate(
                worth=worth, score=world.score(worth, chance), parent=name, member=member
            )
        else:
            worth = world.child(worth, chance)
            item = _Candidate(worth=worth, score=world.score(worth, chance), parent=name)
        tried.append(item)
    for _ in range(RECIPE.settings.steps):
        order = sorted(chance.sample(tried, len(tried)), key=lambda entry: -entry.score)
        source = chance.choice(order[: (len(order) + 1) // 2])
        worth = world.child(source.worth, chance)
        result = _Candidate(
            worth=worth, score=world.score(worth, chance), parent=source.parent, source=source
        )
        tried.append(result)
    return tried


def _record(task: Task, tried: list[_Candidate], members: Mapping[str, Member]) -> None:
    """Record the trials of teams of the pool, as they stand and as they were adapted."""
    for item in tried:
        if item.member is not None:
            _take(item.member, task, item.score, "plain")
        elif item.source is None:
            _take(members[item.parent], task, item.score, "adapted")


def _take(member: Member, task: Task, score: float, kind: Kind) -> None:
    member.take({"task": task.id, "score": score}, kind)
    member.add_score((EVOLVE, kind), ("", task.id), score)


def _add(members: list[Member], worths: dict[str, float], worth: float, *parents: str) -> Member:
    name = f"solo_{len(members) + 1}"
    born = Lineage(operator="mutate" if parents else "seed", parents=parents)
    member = Member(
        name=name, path=Path(name), lineage=born, stem=name, identity=name, content_hash=name
    )
    members.append(member)
    worths[name] = worth
    return member
