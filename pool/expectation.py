"""What teams are expected to score, from what is known of them and of those they descend from.

A mean of few trials misleads: of many teams that were tried once, the luckiest has the highest. So
a team begins with what its parents are expected to score, and its own trials move it from there. A
team without parents in the pool begins with what it scored on all tasks, and that with `PRIOR`.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ..schema.errors import InputError
from .statistics import EVOLVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .members import Member
    from .pool import Pool

__all__ = ["expected_scores", "most_promising", "ranked"]

PRIOR = 0.5
"""The score that is expected where nothing is known."""
WEIGHT = 2.0
"""How many trials what was expected before counts as."""


def expected_scores(
    members: Iterable[Member],
    niche: str | None = None,
    *,
    split: str = EVOLVE,
    remembered: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> dict[str, float]:
    """Estimate the mean score of each team, in [0, 1], by name.

    Failed runs count as trials with a score of 0.

    Args:
        members: The teams, parents before their children.
        niche: The niche of the tasks; None for all tasks.
        split: The split of the tasks.
        remembered: Further scores of a team, each with the number of trials that it counts as.
    """
    expected: dict[str, float] = {}
    for member in members:
        parents = [expected[name] for name in member.born.parents if name in expected]
        everywhere, known = member.on(split=split), member.on(niche, split=split)
        prior = PRIOR
        if parents:
            prior = statistics.fmean(parents)
        elif niche is not None:
            prior = _moved(PRIOR, everywhere.score_sum, everywhere.n + everywhere.failures)
        more = (remembered or {}).get(member.name, ())
        total = known.score_sum + sum(score * weight for score, weight in more)
        weight = known.n + known.failures + sum(weight for _, weight in more)
        expected[member.name] = _moved(prior, total, weight)
    return expected


def ranked(pool: Pool, niche: str | None = None, *, split: str = EVOLVE) -> dict[Member, float]:
    """Give the teams of a pool, retired ones too, the most promising first, with expected scores.

    Among equals the one that costs least comes first, then the one that was born first.
    """
    expected = expected_scores(pool.teams.values(), niche, split=split)
    order = sorted(
        pool.teams.values(),
        key=lambda one: (-expected[one.name], one.on(niche, split=split).cost),
    )
    return {member: expected[member.name] for member in order}


def most_promising(pool: Pool) -> tuple[Member, float]:
    """Find the first of the ranked teams that is not retired, and the score expected of it.

    Raises:
        InputError: The pool has no such team.
    """
    for member, expected in ranked(pool).items():
        if member.retired is None:
            return member, expected
    raise InputError(f"{pool.folder} has no team that is not retired.")


def _moved(prior: float, total: float, weight: float) -> float:
    """Move an expectation by trials: their sum of scores, and how many they count as."""
    return (WEIGHT * prior + total) / (WEIGHT + weight)
