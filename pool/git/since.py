"""How a pool has changed since a revision of git: for whoever reviews a branch that evolved it."""

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
    """What an evolution did since then.

    Attributes:
        score: The sum of what their answers scored.
        teams: What the runs of teams consumed, those of candidates that were not kept as well.
    """

    tasks: int = 0
    score: float = 0.0
    teams: Usage = field(default_factory=Usage)
    operators: Usage = field(default_factory=Usage)
    judging: Usage = field(default_factory=Usage)

    @property
    def usage(self) -> Usage:
        """Everything together."""
        return self.teams + self.operators + self.judging


@dataclass(frozen=True, kw_only=True, slots=True)
class Since:
    """How a pool has changed since a revision.

    Attributes:
        before: The pool as it was: its teams by name.
        added: The teams that are new, in the order of their births.
        retired: The teams and agents that were members, and are none any more.
        restored: Those that were none, and are members again.
        learnt: The entries of the memory that are new.
        best: The team of which most was expected then, with that; None where there was no team.
        streams: What each evolution did, by its name.
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
        """Compare a pool with what it was.

        Args:
            pool: The pool, in a repository of git.
            revision: A commit, a branch or a tag, as git takes it.
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
        """Whether nothing happened."""
        new = (self.added, self.agents, self.retired, self.restored, self.learnt, self.streams)
        return not any(new) and not self.trials and not self.dropped


def _streams(was: PoolAt) -> Iterator[tuple[str, EvolutionSummary]]:
    """Sum up what evolutions did since then."""
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
    """Find of whom most was expected, as the teams' trials say; a structure is no team."""
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
