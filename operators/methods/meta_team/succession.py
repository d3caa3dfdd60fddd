"""The succession of a changed team, once all earlier tasks are committed.

With one task at a time, nothing intervenes. With several workers, the head may have changed in the
meantime. Then this task's edits are applied to the current head, except where another task has
changed the same thing. The earlier change stands, and the later one is recorded as a rejection.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ....pool.ledger.changes import Added, ChildRejected, EventNoted, Restored, Retired
from ....pool.teams.lineage import steps_to
from ....schema.edits import diff, taught
from ....schema.team.team import Lineage
from .gate import Refused, gate
from .head import head_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ....pool.ledger.members import Member
    from ....pool.teams.pool import Pool
    from ....pool.view import PoolView
    from ....runtime.agents.outcomes import Run
    from ....schema.edits import Edit
    from ....schema.loading.ceiling import CapabilityPolicy
    from ....schema.team.team import LineageStep, Team
    from ...evolution.episode import Episode
    from .room import NoteLimits

GATE = "gate"
RETRY = "retry"
LEVELS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "agent_level": ("L1", ("retrospect",)),
        "pair_level": ("L2", ("settle",)),
        "team_level": ("L3", ("discuss", "reorganise")),
    }
)
"""Each level's short name and the operators whose calls it counts; the last one decides."""
MEANWHILE = "another task has changed that since this one began."


@dataclass(frozen=True, kw_only=True, slots=True)
class Level:
    """The changes of one level of a retrospective.

    Attributes:
        name: `agent_level`, `pair_level` or `team_level`.
    """

    name: str
    operator: str
    edits: tuple[Edit, ...]
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """A retry of a task by the changed team. It is not a trial, because the task taught the team.

    Attributes:
        score: Its score, in [0, 1]; None if unknown.
    """

    run: Run
    score: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Succession:
    """Lets the team that a task leads to succeed the head: a `Closing`.

    Attributes:
        head: The team that worked on the task.
        levels: The changes, in order; empty if the head stays.
        again: The retry of the task; None without one.
    """

    episode: Episode
    head: Member
    levels: tuple[Level, ...]
    ceiling: CapabilityPolicy
    room: NoteLimits
    again: Again | None = None

    def close(self, pool: Pool, before: PoolView) -> Mapping[str, Any]:
        """Commit the child as the only active team, and return the episode's line."""
        now = head_of(before.members)
        child, steps, refused = self._child(now)
        for number, refusal in enumerate(refused):
            pool.commit(self._rejected(refusal, now), op=self.episode.op(f"refused {number}"))
        name, is_new = self._succeed(pool, now, child, steps)
        if self.again is not None:
            pool.commit(self._retried(self.again, name), op=self.episode.op("retry"))
        return {
            **self.episode.line(pool),
            "team": self.head.name,
            "kept": True,
            "new": is_new,
            "head": name,
            "said": self._reason(name, len(refused)),
        }

    def _rejected(self, refused: Refused, now: Member) -> ChildRejected:
        return ChildRejected(
            operator=GATE,
            reason=f"{refused.what}: {' '.join(refused.reasons)}",
            parents=(now.name,),
            task=self.episode.task.id,
            run=self.episode.context.name,
        )

    def _retried(self, again: Again, name: str) -> EventNoted:
        """Return the event of a retry, which does not count in a team's statistics."""
        about = {
            "team": name,
            "task": self.episode.task.id,
            "run": self.episode.context.name,
            "score": again.score,
            "calls": again.run.usage.calls,
            "tokens": again.run.usage.tokens,
            "usd": again.run.usage.usd,
        }
        return EventNoted(
            what=RETRY, about={key: item for key, item in about.items() if item is not None}
        )

    def _reason(self, name: str, refused: int) -> str:
        counts = [f"{LEVELS[level.name][0]} {len(level.edits)}" for level in self.levels]
        refused += round(self.episode.figures.get("refused", 0))
        changed = f"{', '.join(counts)}, refused {refused}; " if counts else ""
        head = "stays the head" if name == self.head.name else "is the head"
        score = self.again.score if self.again else None
        retried = "" if score is None else f"; done again: {score:g}"
        return f"{changed}{name} {head}{retried}"

    def _child(self, now: Member) -> tuple[Team, tuple[LineageStep, ...], list[Refused]]:
        """Return the child after all levels' changes, the step of each level, and refusals."""
        episode, team, refused = self.episode, now.team, list[Refused]()
        steps: tuple[LineageStep, ...] = ()
        changed = {claim for edit in diff(self.head.team, team) for claim in edit.claims}
        for level in self.levels:
            free = [edit for edit in level.edits if changed.isdisjoint(edit.claims)]
            refused += _late(level.edits, changed)
            catalogue = episode.context.catalogue
            passed = gate(team, free, catalogue=catalogue, ceiling=self.ceiling, room=self.room)
            refused += passed.refused
            if passed.child != team:
                child = taught(passed.child, passed.edits, episode.task.id)
                steps = steps_to(child, level.operator, level.reason, (team, steps))
                team = child
        return team, steps, refused

    def _succeed(
        self, pool: Pool, now: Member, child: Team, steps: tuple[LineageStep, ...]
    ) -> tuple[str, bool]:
        """Replace the head by a child; return the head's name, and whether it is new."""
        episode = self.episode
        if not steps:
            return now.name, False
        lineage = Lineage(
            operator=steps[-1].operator,
            parents=(now.name,),
            reason=steps[-1].reason,
            task=episode.task.id,
            run=episode.context.name,
            steps=steps,
        )
        member = replace(child, lineage=None)
        admission = pool.commit(Added(member=member, lineage=lineage), op=episode.op("child"))
        if admission.name == now.name:  # equal, except in fields that identity ignores
            return now.name, False
        if not admission.is_new:
            pool.commit(Restored(member=admission.name), op=episode.op("restored"))
        why = f"{admission.name} came after it, taught by task {episode.task.id}."
        pool.commit(Retired(member=now.name, reason=why), op=episode.op("retired"))
        return admission.name, admission.is_new


def _late(edits: Sequence[Edit], changed: set[Any]) -> Iterator[Refused]:
    """Yield refusals of edits to things that another task has changed in the meantime."""
    for edit in edits:
        if not changed.isdisjoint(edit.claims):
            place = ".".join(str(part) for part in edit.claims[0])
            yield Refused(what=place, reasons=(MEANWHILE,))
