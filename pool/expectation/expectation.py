"""What teams are expected to score, and how sure that is: see `estimation` for how it is known.

A mean of few trials misleads: of many teams that were tried once, the luckiest has the highest. So
all trials of a pool are looked at together, those of relatives the more closely.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

from ...schema.values.errors import InputError
from ..ledger.members import Member
from ..population.seats import structures_of
from ..teams.pool import Pool
from ..values.intervals import Z
from ..values.statistics import EVOLVE, Statistics
from .estimation import NOISE, estimated

MOST = 240
"""Teams with trials that are estimated together: time grows with their cube."""
MOST_RELATED = 1_000
"""Teams, with those that were never tried: memory grows with their square."""
BEGUN, BEGUN_WEIGHT = 0.5, 2.0
"""Where a team stands of which nothing is known, and how many trials that counts as."""
POPULATION = (
    "a team of it is made for each task, so it has no team that runs by itself. To test it:"
    " mas-evolve RECIPE TASKS --pool POOL --test FILE."
)
DIGITS = 3
"""Teams that are expected to score the same to so many digits are equals."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a team is expected to score in the long run, in [0, 1].

    Attributes:
        low: The lower end of its 95 % interval.
        standing: What teams are ranked by: a mean that begins where the parents stand. It trusts
            the trials for which they were taken into the pool: these say too much of how good a
            team is, so the expectation leaves their luck out, but they are the first to tell who is
            better, and an order claims no more.
    """

    score: float
    low: float
    high: float
    standing: float

    def __str__(self) -> str:
        return f"{self.score:.3f} [{self.low:.3f}, {self.high:.3f}]"


def expectations(
    members: Iterable[Member], niche: str | None = None, *, split: str = EVOLVE
) -> dict[str, Expectation]:
    """Estimate what each team scores in the long run, by name.

    Failed runs count as trials with a score of 0. Trials for which teams were taken into the pool
    count against each other only.

    Where more than `MOST` teams have trials, so many are estimated together that may be chosen
    next: half of them have the highest standing of those that are not retired, the others are the
    youngest. Of the rest, the standing is what is expected.

    Args:
        members: The teams, parents before their children. Retired ones count: what is known of
            them tells of their relatives.
        niche: The niche of the tasks; None for all niches, as often as they were met.
    """
    teams = list(members)
    if not teams:
        return {}
    standings = _standings(teams, niche, split)
    together = _together(teams, standings, split)
    table = dict(zip(together, estimated(together, niche, split).tolist(), strict=True))
    report = [table.get(team) or _alone(team, standings, niche, split) for team in teams]
    return {
        team.name: Expectation(
            score=min(1.0, max(0.0, mean)),
            low=min(1.0, max(0.0, mean - Z * spread)),
            high=max(0.0, min(1.0, mean + Z * spread)),
            standing=standings[team.name],
        )
        for team, (mean, spread) in zip(teams, report, strict=True)
    }


def expected_scores(
    members: Iterable[Member], niche: str | None = None, *, split: str = EVOLVE
) -> dict[str, float]:
    """Estimate the mean score of each team, in [0, 1], by name, as `expectations` does."""
    return {
        name: expectation.score
        for name, expectation in expectations(members, niche, split=split).items()
    }


def ranked(
    members: Iterable[Member],
    niche: str | None = None,
    *,
    split: str = EVOLVE,
    expected: Mapping[str, Expectation] | None = None,
) -> dict[Member, Expectation]:
    """Return teams with what is expected of them, those of the highest standing first.

    Among equals parents come before their children, then the cheaper before the dearer, with those
    that never came to an answer last, then the older before the younger.

    Args:
        members: As for `expectations`, and so on.
        niche: The same.
        split: The same.
        expected: What `expectations` has said of them. None: it is asked.
    """
    teams = list(members)
    if expected is None:
        expected = expectations(teams, niche, split=split)
    return {member: expected[member.name] for member in by_standing(teams, niche, split=split)}


def by_standing(
    members: Iterable[Member], niche: str | None = None, *, split: str = EVOLVE
) -> list[Member]:
    """Return teams in the order of `ranked`, which takes no estimate of what they score."""
    teams = list(members)
    standings = _standings(teams, niche, split)
    equals: dict[float, dict[str, Member]] = {}
    for team in teams:
        equals.setdefault(round(standings[team.name], DIGITS), {})[team.name] = team
    return [
        member
        for score in sorted(equals, reverse=True)
        for member in _parents_first(equals[score], niche, split)
    ]


def most_promising(pool: Pool) -> tuple[Member, Expectation]:
    """Find the first of the ranked teams that is not retired, and what is expected of it.

    Structures, whose seats the pool's agents take, are left out: they are no teams by themselves.

    Raises:
        InputError: The pool has no such team.
        StorageError: The file of a team is damaged.
    """
    structures = structures_of(pool)
    for member, expected in ranked(pool.teams.values()).items():
        if member.retired is None and member.name not in structures:
            return member, expected
    if structures:
        raise InputError(f"{pool.folder} is a population: {POPULATION}")
    raise InputError(f"{pool.folder} has no team that is not retired.")


def _together(
    teams: Sequence[Member], standings: Mapping[str, float], split: str
) -> Sequence[Member]:
    """Choose the teams that are estimated together, in the order in which they are given."""
    evaluated = [team for team in teams if team.on(split=split).trials]
    if len(evaluated) <= MOST and len(teams) <= MOST_RELATED:
        return teams
    living = [member for member in evaluated if member.retired is None]
    best = sorted(living, key=lambda member: -standings[member.name])[: MOST // 2]
    retired = (member for member in reversed(evaluated) if member.retired is not None)
    chosen = dict.fromkeys((*best, *reversed(living), *retired))
    names = {member.name for member in islice(chosen, MOST)}
    untried = (team.name for team in reversed(teams) if not team.on(split=split).trials)
    names.update(islice(untried, MOST_RELATED - len(names)))
    return [team for team in teams if team.name in names]


def _alone(
    team: Member, standings: Mapping[str, float], niche: str | None, split: str
) -> tuple[float, float]:
    """Give what a team is expected to score that is not looked at beside others, and how surely."""
    own = team.on(niche, split=split)
    trials = BEGUN_WEIGHT + own.n + own.failures + own.chosen
    return standings[team.name], math.sqrt(NOISE / trials)


def _standings(teams: Iterable[Member], niche: str | None, split: str) -> dict[str, float]:
    """Rank teams: each begins where its parents stand, and its own trials, wins too, move it."""
    fields: dict[str, float] = {}
    for team in teams:
        parents = [fields[name] for name in team.lineage.parents if name in fields]
        own, everywhere = team.on(niche, split=split), team.on(split=split)
        begun = fmean(parents) if parents else _moved(BEGUN, everywhere)
        fields[team.name] = _moved(begun, own)
    return fields


def _moved(begun: float, statistics: Statistics) -> float:
    total = BEGUN_WEIGHT * begun + statistics.score_sum + statistics.chosen_sum
    return total / (BEGUN_WEIGHT + statistics.n + statistics.failures + statistics.chosen)


def _parents_first(teams: Mapping[str, Member], niche: str | None, split: str) -> Iterator[Member]:
    """Yield teams in the order in which equals come."""
    children: dict[str, list[str]] = {}
    waiting = {
        name: sum(word in teams for word in team.lineage.parents) for name, team in teams.items()
    }
    for name, team in teams.items():
        for parent in team.lineage.parents:
            children.setdefault(parent, []).append(name)
    price = {name: team.on(niche, split=split).cost for name, team in teams.items()}
    ages = {name: age for age, name in enumerate(teams)}
    ready = [(price[name], ages[name], name) for name, left in waiting.items() if not left]
    heapq.heapify(ready)
    while ready:
        *_, name = heapq.heappop(ready)
        yield teams[name]
        for child in children.get(name, ()):
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, (price[child], ages[child], child))
