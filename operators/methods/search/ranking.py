"""The ranking of a task's candidates: which is best, how ties are broken, and ancestry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...evolution.candidates import Candidate


def best_of(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the highest reward; those without failures take precedence.

    * A tie between a candidate and one of its ancestors goes to the ancestor: a child wins only
      with a higher reward.
    * A tie between unrelated candidates goes to the one with fewer tokens, then to the first.

    Membership in the pool never breaks a tie.

    Args:
        candidates: The candidates of a task, at least one, with all their ancestors.
    """
    highest = max(map(_rank, candidates))
    tied = {each.number: each for each in candidates if _rank(each) == highest}
    by_number = {candidate.number: candidate for candidate in candidates}
    find = by_number.__getitem__
    gains = (each for each in tied.values() if ancestors_of(each, find).isdisjoint(tied))
    return min(gains, key=lambda candidate: (candidate.usage.tokens, candidate.number))


def ancestors_of(candidate: Candidate, find: Callable[[int], Candidate]) -> set[int]:
    """Return the numbers of all ancestors of a candidate."""
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
