"""Changes of a search to the pool: which team enters, which trials are recorded, which leave."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ....pool.expectation.expectation import by_standing
from ....pool.ledger.changes import Added, Evaluated, Retired
from ....schema.team.team import SolvedTask
from ...core.material import clip
from .ranking import ancestors_of

if TYPE_CHECKING:
    from ....pool.teams.pool import Pool
    from ....pool.view import PoolView
    from ....schema.team.task import Task
    from ....schema.team.team import Team
    from ...evolution.candidates import Candidate
    from .search import Search

LONGEST_QUERY = 500
"""The most characters of a solved task that a team's file quotes."""


def newcomer(search: Search) -> Candidate | None:
    """Return the best candidate if it is new and the recipe admits it; else None."""
    best, settings = search.best, search.settings
    if best.member is not None or settings.admission == "none":
        return None
    if settings.admission == "best":
        return best
    gains = best.executed and best.reward > 0
    return best if gains and best.reward > _bar(search, best) + settings.margin else None


def _bar(search: Search, candidate: Candidate) -> float:
    """Return the reward that a candidate must exceed: the best of all its ancestors.

    An ancestor among the task's candidates counts with its reward. An ancestor in the pool counts
    with its expected score, even if it was run on the task.
    """
    rewards = [
        search.candidate(number).reward for number in ancestors_of(candidate, search.candidate)
    ]
    expected = [search.expected[name].score for name in candidate.lineage.parents]
    return max((*rewards, *expected), default=-math.inf)


@dataclass(frozen=True, kw_only=True, slots=True)
class Admitting:
    """Commits the result of a search to the pool, after all earlier episodes."""

    search: Search

    def close(self, pool: Pool, before: PoolView) -> dict[str, Any]:
        """Commit the new team and the trials of the pool's teams; return the episode's line."""
        del before
        search, episode = self.search, self.search.episode
        names, is_new = self._keep(pool)
        best, first, is_scored = search.best, search.candidates[0], episode.task.is_scored
        return {
            **episode.head(),
            "team": names[best.number] or best.lineage.parents[0],
            "kept": names[best.number] is not None,
            "new": is_new,
            "pool": len(pool.members),
            "score": best.score,
            "scored_by": episode.scored_by,
            "verdict": best.verdict if is_scored else None,
            "first": first.verdict if is_scored else None,
            "reward": best.reward,
            "best": search.candidates.index(best),
            "candidates": [
                {**candidate.value(), "team": names[candidate.number]}
                for candidate in search.candidates
            ],
            **episode.tail(),
        }

    def _keep(self, pool: Pool) -> tuple[dict[int, str | None], bool]:
        """Add the new team, if any, and the trials of the pool's teams.

        Returns:
            The pool's name of each candidate by its number, None for a team that is not in the
            pool; and whether a team was added.
        """
        search, episode = self.search, self.search.episode
        coming = newcomer(search)
        names: dict[int, str | None] = {}
        is_new = False
        if coming is not None:
            # An episode that this one did not see may have added the same team.
            added = Added(member=_solved(coming, episode.task), lineage=coming.lineage)
            admission = pool.commit(added, op=episode.op("best"))
            names[coming.number], is_new = admission.name, admission.is_new
        for candidate in search.candidates:
            if candidate is not coming:
                names[candidate.number] = pool.duplicate_of(candidate.team)
            if (name := names[candidate.number]) is not None:
                self._record(pool, candidate, name, chosen=is_new and candidate is coming)
            if candidate.is_adapted:
                self._record(pool, candidate, candidate.lineage.parents[0], adapted=True)
        if is_new and coming is not None:
            self._make_room(pool, newcomer=names[coming.number])
        return names, is_new

    def _record(self, pool: Pool, candidate: Candidate, name: str, **marks: bool) -> None:
        """Record a candidate's trials for a team, whether it was the task's best or not."""
        episode, what = self.search.episode, "adapted" if marks.get("adapted") else "trial"
        for number, trial in enumerate(candidate.trials(episode.task, episode.context.name)):
            again = f".{number}" if number else ""
            change = Evaluated(member=name, trial=replace(trial, **marks))
            pool.commit(change, op=episode.op(f"{what} {candidate.number}{again}"))

    def _make_room(self, pool: Pool, *, newcomer: str | None) -> None:
        """Retire the teams with the lowest expected scores until the pool is within its cap."""
        cap, op = self.search.settings.cap, self.search.episode.op
        if cap is None:
            return
        order = [
            member.name
            for member in by_standing(pool.teams.values())
            if member.retired is None and member.name != newcomer
        ]
        why = f"the pool has {cap} teams at most, and it was expected to score least."
        for name in order[cap - 1 :]:
            pool.commit(Retired(member=name, reason=why), op=op(f"retired {name}"))


def _solved(candidate: Candidate, task: Task) -> Team:
    """Return a candidate's team with a note of the task that it solved (EvoMAS App. B.2)."""
    solved = SolvedTask(q=clip(task.text, LONGEST_QUERY), notes=f"scored {candidate.score:.3g}")
    return replace(candidate.team, successful_tasks=(solved,))
