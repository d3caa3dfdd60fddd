"""The last race of a pool: its most promising teams meet on the same tasks before one is deployed.

A pool estimates its teams' scores from few trials, which also chose some of the teams. So
the teams at the top run again, on tasks in one order, as candidates of a race without proposals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from ....pool.expectation.expectation import most_promising, ranked
from ....pool.ledger.changes import EventNoted
from ....pool.population.seats import structures_of
from ....pool.view import events
from ....runtime.values.caps import Caps
from ....schema.values.codec import from_value, stored, to_value
from .keeping import keep_scores
from .race import Race
from .settings import RaceSettings
from .split import Split

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...evolution.stream import TaskStream

RACED = "raced"
"""The event of the race in the pool."""
FINALISTS = 6
CLOSE = 1.96
"""The number of standard deviations from which two teams are separable."""


@stored()
class PoolRace:
    """The result of the last race of a pool.

    Attributes:
        mean: The belief about its mean score, in [0, 1].
        close: The teams that cannot be told apart from it.
    """

    first: str
    mean: float
    runs: int
    close: tuple[str, ...]
    calls: int

    def __str__(self) -> str:
        """Write it for people."""
        behind = f"not separable from {', '.join(self.close)}" if self.close else "ahead of all"
        return (
            f"last race, {self.calls} calls: {self.first} leads with {self.mean:.3f} in {self.runs}"
            f" runs, {behind}"
        )

    @classmethod
    def read(cls, pool: Path) -> Self | None:
        """Read the result of the last race of a pool; None if there was none."""
        raced = events(pool, RACED)
        return from_value(cls, raced[-1].about) if raced else None


async def race_pool(stream: TaskStream, calls: int) -> PoolRace:
    """Race a pool's most promising teams, and store their trials in the pool.

    If these trials put a team on top that did not race, that team races as well, as long as
    there are calls left.

    Args:
        stream: The host, and the tasks that the pool evolved on.
    """
    pool = stream.context.pool
    race = Race(
        stream=stream,
        settings=RaceSettings(kinds=(), runs=calls),
        split=Split(propose=(), race=tuple(stream.tasks), held=()),
        caps=Caps(calls=calls),
    )
    structures = structures_of(pool)
    teams = (member.name for member in ranked(pool.members.values()))
    names = [name for name in teams if name not in structures][:FINALISTS]
    for name in names:
        race.enter(pool.member(name).team, **_start_values(race))
    while True:
        while await race.step():
            pass
        for name, candidate in zip(names, race.standings.candidates, strict=True):
            keep_scores(race, candidate, name, op=f"{stream.context.name}/race/{name}/")
        first = most_promising(pool)[0].name
        if first in names or race.used >= 1:
            break
        names.append(first)
        race.enter(pool.member(first).team, **_start_values(race))
    result = _result(race, names)
    noted = EventNoted(what=RACED, about=to_value(result))
    pool.commit(noted, op=f"{stream.context.name}/race {calls}/end")
    return result


def _start_values(race: Race) -> Mapping[str, Any]:
    """Start every team's belief at that of the first, which has the highest expected score."""
    return {"parent": 0} if race.standings.candidates else {}


def _result(race: Race, names: list[str]) -> PoolRace:
    standings = race.standings
    leader = standings.leader
    best = standings.belief(leader)
    close = [
        names[candidate.number]
        for candidate in standings.candidates
        if candidate is not leader
        and (spread := (standings.belief(candidate).spread ** 2 + best.spread**2) ** 0.5)
        and best.mean - standings.belief(candidate).mean < CLOSE * spread
    ]
    return PoolRace(
        first=names[leader.number],
        mean=best.mean,
        runs=len(leader.scores),
        close=tuple(close),
        calls=race.spending.spent.calls,
    )
