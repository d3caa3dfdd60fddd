"""The changes of a pool since a git revision, for reviewers of a branch that evolved it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ...runtime.values.usage import Usage
from ..expectation.expectation import Expectation, ranked
from ..ledger.agents import PoolAgent
from ..ledger.learnt import Learnt
from ..ledger.members import Member
from ..population.evolutions import turns_in, usage_of
from ..population.seats import structures_of
from ..teams.pool import Pool
from ..values.layout import EVOLUTIONS, TURNS
from .past import PoolAt, entries_of


@dataclass(frozen=True, kw_only=True, slots=True)
class EvolutionSummary:
    """An evolution's work since then.

    Attributes:
        score: The sum of its answers' scores.
        teams: The usage of team runs, including those of discarded candidates.
    """

    tasks: int = 0
    score: float = 0.0
    teams: Usage = field(default_factory=Usage)
    operators: Usage = field(default_factory=Usage)
    judging: Usage = field(default_factory=Usage)

    @property
    def usage(self) -> Usage:
        """The total usage."""
        return self.teams + self.operators + self.judging


@dataclass(frozen=True, kw_only=True, slots=True)
class Since:
    """The changes of a pool since a revision.

    Attributes:
        before: The earlier teams by name.
        added: The new teams, in the order of their births.
        best: The team with the highest expected score then, with its expectation; None without a
            team.
        streams: Each evolution's work, by name.
    """

    revision: str
    pool: Pool
    before: Mapping[str, Member]
    added: tuple[Member, ...]
    agents: tuple[PoolAgent, ...]
    retired: tuple[Member | PoolAgent, ...]
    restored: tuple[Member | PoolAgent, ...]
    dropped: int
    trials: int
    learnt: tuple[Learnt, ...]
    best: tuple[Member, Expectation] | None
    best_now: tuple[Member, Expectation] | None
    streams: Mapping[str, EvolutionSummary]

    @classmethod
    def of(cls, pool: Pool, revision: str) -> Self:
        """Compare a pool with its earlier state.

        Args:
            pool: The pool, in a git repository.
            revision: A commit, a branch or a tag.
        """
        with PoolAt.of(pool.folder, revision) as was:
            state, lines = was.state()
            streams = dict(_streams(was))
        before = {**state.teams, **state.agents}
        now = {**pool.teams, **pool.all_agents}
        moved = [(member, before[name]) for name, member in now.items() if name in before]
        added = [entry for entry in pool.entries() if entry.op not in lines]
        structures = structures_of(pool)
        return cls(
            revision=was.commit[:7],
            pool=pool,
            before=state.teams,
            added=tuple(team for name, team in pool.teams.items() if name not in before),
            agents=tuple(
                all_agent for name, all_agent in pool.all_agents.items() if name not in before
            ),
            retired=tuple(item for item, was in moved if item.retired and not was.retired),
            restored=tuple(item for item, was in moved if was.retired and not item.retired),
            dropped=sum(entry.value["kind"] == "rejected" for entry in added),
            trials=sum(entry.value["kind"] in {"evaluated", "failed"} for entry in added),
            learnt=tuple(item for name, item in pool.learnt.items() if name not in state.learnt),
            best=_best(state.teams, structures),
            best_now=_best(pool.teams, structures),
            streams=streams,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        new = (self.added, self.agents, self.retired, self.restored, self.learnt, self.streams)
        return not any(new) and not self.trials and not self.dropped


def _streams(was: PoolAt) -> Iterator[tuple[str, EvolutionSummary]]:
    for path in sorted((was.folder / EVOLUTIONS).glob(f"*/{TURNS}")):
        name = path.parent.name
        text = was.text(f"{EVOLUTIONS}/{name}/{TURNS}")
        ops = {entry.op for entry in entries_of(text)} if text else frozenset[str]()
        stream = EvolutionSummary()
        for entry in turns_in(path):
            if entry.op not in ops:
                stream = _after(stream, entry.value)
        if stream.tasks:
            yield name, stream


def _best(
    teams: Mapping[str, Member], structures: frozenset[str]
) -> tuple[Member, Expectation] | None:
    """Return the member with the highest expected score; structures are no teams."""
    for member, expected in ranked(teams.values()).items():
        if member.retired is None and member.name not in structures:
            return member, expected
    return None


def _after(stream: EvolutionSummary, line: Mapping[str, Any]) -> EvolutionSummary:
    teams, operators, judging = usage_of(line)
    return EvolutionSummary(
        tasks=stream.tasks + 1,
        score=stream.score + line["score"],
        teams=stream.teams + teams,
        operators=stream.operators + operators,
        judging=stream.judging + judging,
    )
