"""Which candidate of a task is the best, what decides ties, and what a candidate comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...evolution.candidates import Candidate

__all__ = ["ancestors_of", "best_of"]


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the highest reward, among those that always ran if there are any.

    * A tie between a candidate and one that it comes from, over however many steps, goes to the
      earlier one: a child wins only if its reward is higher.
    * A tie between unrelated candidates goes to the one that took fewer tokens, then to the first.

    That the pool has a team decides no tie.

    Args:
        candidates: The candidates of a task, at least one, with all that they come from.
    """
    highest = max(map(_rank, candidates))
    tied = {one.number: one for one in candidates if _rank(one) == highest}
    by_number = {one.number: one for one in candidates}
    find = by_number.__getitem__
    gains = (one for one in tied.values() if ancestors_of(one, find).isdisjoint(tied))
    return min(gains, key=lambda one: (one.usage.tokens, one.number))


def ancestors_of(one: Candidate, find: Callable[[int], Candidate]) -> set[int]:
    """Return the numbers of all candidates that a candidate comes from.

    Args:
        one: The candidate.
        find: Finds a candidate by its number.
    """
    ancestors: set[int] = set()
    pending = [*one.sources]
    while pending:
        number = pending.pop()
        if number not in ancestors:
            ancestors.add(number)
            pending += find(number).sources
    return ancestors


def _rank(one: Candidate) -> tuple[bool, float]:
    return one.executed, one.reward
