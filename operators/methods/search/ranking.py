"""Which candidate of a task is the best, what decides ties, and what a candidate comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...evolution.candidates import Candidate


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
    tied = {each.number: each for each in candidates if _rank(each) == highest}
    by_number = {candidate.number: candidate for candidate in candidates}
    find = by_number.__getitem__
    gains = (each for each in tied.values() if ancestors_of(each, find).isdisjoint(tied))
    return min(gains, key=lambda candidate: (candidate.usage.tokens, candidate.number))


def ancestors_of(candidate: Candidate, find: Callable[[int], Candidate]) -> set[int]:
    """Return the numbers of all candidates that a candidate comes from."""
    ancestors: set[int] = set()
    pending = [*candidate.sources]
    while pending:
        number = pending.pop()
        if number not in ancestors:
            ancestors.add(number)
            pending += find(number).sources
    return ancestors


def _rank(candidate: Candidate) -> tuple[bool, float]:
    return candidate.executed, candidate.reward
