"""The expected scores of teams, with intervals; `estimation` has the model.

A mean of few trials misleads: among many teams with one trial, the luckiest has the highest. So all
trials of a pool are evaluated together, those of relatives with more weight.
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
"""The maximum number of teams with trials estimated together: time grows with their cube."""
MOST_RELATED = 1_000
"""The maximum number of teams including those without trials: memory grows with their square."""
BEGUN, BEGUN_WEIGHT = 0.5, 2.0
"""The standing of an unknown team, and its weight in trials."""
POPULATION = (
    "it forms a team for each task, so it has no team that runs by itself. To test it:"
    " mas-evolve RECIPE TASKS --pool POOL --test FILE."
)
DIGITS = 3
"""Teams whose standings agree to this many digits are equals."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected long-run score of a team, in [0, 1].

    Attributes:
        low: The lower end of its 95 % interval.
        standing: The key of the ranking: a mean that begins at the parents' standing. It includes
            the trials for which teams were admitted. These overestimate a team, so the expectation
            corrects for their luck. But they are the first evidence of who is better, and a ranking
            claims no more.
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
    """Estimate the long-run score of each team, by name.

    Failed runs count as trials with a score of 0. Trials for which teams were admitted are compared
    only with each other.

    If more than `MOST` teams have trials, only `MOST` of them are estimated together: one half are
    members with the highest standing, the others are the youngest. The rest is expected to score
    its standing.

    Args:
        members: The teams, parents before their children. Retired ones count: their trials inform
            the estimates of relatives.
        niche: The niche of the tasks; None for all niches, weighted by frequency.
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
    """Return teams with their expected scores, those of the highest standing first.

    Among equals, parents come before their children; then cheaper teams first, those that never
    answered last; then older ones first.

    Args:
        members: This and the next two are arguments of `expectations`.
        niche: As there.
        split: As there.
        expected: The result of `expectations`, if known. None: it is computed.
    """
    teams = list(members)
    if expected is None:
        expected = expectations(teams, niche, split=split)
    return {member: expected[member.name] for member in by_standing(teams, niche, split=split)}


def by_standing(
    members: Iterable[Member], niche: str | None = None, *, split: str = EVOLVE
) -> list[Member]:
    """Return teams in the order of `ranked`, which needs no estimate of their scores."""
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
    """Return the best-ranked team that is not retired, with its expected score.

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
    raise InputError(f"{pool.folder} has only retired teams.")


def _together(
    teams: Sequence[Member], standings: Mapping[str, float], split: str
) -> Sequence[Member]:
    """Return the teams to estimate together, in the given order."""
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
    """Return the expected score, with its deviation, of a team that is estimated alone."""
    own = team.on(niche, split=split)
    trials = BEGUN_WEIGHT + own.n + own.failures + own.chosen
    return standings[team.name], math.sqrt(NOISE / trials)


def _standings(teams: Iterable[Member], niche: str | None, split: str) -> dict[str, float]:
    """Compute standings: each begins at the parents' mean, and own trials and wins move it."""
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
    """Yield equal teams in their final order."""
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
