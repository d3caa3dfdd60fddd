"""Undoes the changes of a task, an operation or a commit to a pool.

A ledger only grows, and later lines may refer to any earlier one, so nothing is removed: new
changes reverse the old ones. Added teams and agents retire, retired ones are restored, revisions
and lessons are reversed. Measurements stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from ...schema.values.errors import InputError
from ...schema.values.problems import quoted
from ...schema.values.terminal import counted
from ..ledger.agents import PoolAgent
from ..ledger.changes import Change, EventNoted, Forgotten, Learnt, Restored, Retired, Revised
from ..ledger.ledger import LedgerEntry
from ..ledger.scaffold import HEAD
from ..population.evolutions import turns_in
from ..teams.pool import Pool
from ..values.layout import EVOLUTIONS, TURNS
from .past import PoolAt

MOST_NAMED = 5
TRIALS = frozenset({"evaluated", "failed"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Undone:
    """The result of undoing.

    Attributes:
        operations: The number of undone ledger lines.
        trials: The number of trials among the lines. They stay.
        heirs: Members that descend from the members retired now. They stay, too.
    """

    operations: int
    changes: tuple[Change, ...]
    trials: int
    heirs: tuple[str, ...]


def operations_of(pool: Pool, operation: str) -> Sequence[LedgerEntry]:
    """Return the ledger lines that a user's name refers to.

    Args:
        operation: An operation, or a prefix of several (`ada/000003`); the id of a task of one
            evolution; or a commit, for the lines that it added.

    Raises:
        InputError: The name is unknown, several evolutions did the task, or the pool began with the
            commit.
        StorageError: The pool is damaged.
    """
    entries = [*pool.entries()]
    if named := _below(entries, operation):
        return named
    if episodes := sorted(_episodes(pool, operation)):
        if len(episodes) > 1:
            names = ", ".join(map(quoted, episodes[:MOST_NAMED]))
            raise InputError(
                f"the task {quoted(operation)} ran {len(episodes)} times. Name one: {names}."
            )
        return _below(entries, episodes[0])
    added = _added_by(pool, operation)
    return [entry for entry in entries if entry.op in added]


def undo(pool: Pool, entries: Sequence[LedgerEntry], *, reason: str) -> Undone:
    """Reverse the changes of ledger lines."""
    back = _Back(pool=pool, entries=entries, reason=reason)
    changes = tuple(back.changes())
    name = uuid4().hex
    for number, change in enumerate(changes):
        pool.commit(change, op=f"undo/{name}/{number}")
    retired = {change.member for change in changes if isinstance(change, Retired)}
    heirs = tuple(
        member.name
        for member in (*pool.members.values(), *pool.agents.values())
        if retired.intersection(member.lineage.parents)
    )
    return Undone(
        operations=len(entries),
        changes=changes,
        trials=sum(entry.value["kind"] in TRIALS for entry in entries),
        heirs=heirs,
    )


def _added_by(pool: Pool, commit: str) -> frozenset[str]:
    """Return the operations that a commit added to a pool's ledger."""
    try:
        with PoolAt.of(pool.folder, commit) as then, PoolAt.of(pool.folder, f"{commit}^") as before:
            return then.state()[1] - before.state()[1]
    except InputError as error:
        raise InputError(
            f"{pool.folder} has no operation and no task {quoted(commit)}. As a commit: {error}"
        ) from None


def _below(entries: Sequence[LedgerEntry], name: str) -> list[LedgerEntry]:
    return [entry for entry in entries if entry.op == name or entry.op.startswith(f"{name}/")]


def _episodes(pool: Pool, task: str) -> Iterator[str]:
    for path in (pool.folder / EVOLUTIONS).glob(f"*/{TURNS}"):
        for turn in turns_in(path):
            if turn.value.get("task") == task:
                yield turn.op.rpartition("/")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Back:
    """The changes that reverse some lines."""

    pool: Pool
    entries: Sequence[LedgerEntry]
    reason: str

    def changes(self) -> Iterator[Change]:
        """Yield the changes; restored members come first, so that the pool always has a head."""
        added = self._members("born")
        retired = {name for name in self._members("retired") if self.pool.find(name).retired}
        back = retired - added
        yield from (Restored(member=name) for name in sorted(back))
        yield from self._head(added)
        yield from self._revisions(added)
        yield from self._lessons()
        for name in sorted(added | self._members("restored") - back):
            if self.pool.find(name).retired is None:
                yield Retired(member=name, reason=self.reason)

    def _of(self, kind: str) -> list[LedgerEntry]:
        return [entry for entry in self.entries if entry.value["kind"] == kind]

    def _members(self, kind: str) -> set[str]:
        values = (entry.value for entry in self._of(kind))
        return {value["team"] if "team" in value else value["agent"] for value in values}

    def _head(self, added: set[str]) -> Iterator[EventNoted]:
        """Make the previous head the head again."""
        report = {entry.value["about"]["team"] for entry in self._of("told") if _is_head(entry)}
        heads = [member.name for member in self.pool.heads]
        if heads and heads[-1] in added | report:
            earlier = [name for name in heads if name not in added | report]
            yield from (EventNoted(what=HEAD, about={"team": name}) for name in earlier[-1:])

    def _revisions(self, added: set[str]) -> Iterator[Revised]:
        own = {entry.op for entry in self._of("revised")}
        for name in sorted(self._members("revised") - added):
            agent = self.pool.all_agents[name]
            rest = [revision for revision in agent.revisions if revision.op not in own]
            self._expect_last(agent, own)
            yield Revised(agent=name, to=rest[-1].agent, reason=self.reason)

    def _expect_last(self, agent: PoolAgent, own: set[str]) -> None:
        later = agent.revisions[-1]
        if later.op not in own:
            raise InputError(
                f"the agent {quoted(agent.name)} was revised again by {quoted(later.op)}. Undo that"
                " operation first. Nothing was changed."
            )

    def _lessons(self) -> Iterator[Learnt | Forgotten]:
        """Forget new lessons, and restore replaced and forgotten ones."""
        learnt = self.pool.learnt
        own = {entry.op: learnt[entry.op] for entry in self._of("learnt")}
        for entry in own.values():
            for old in entry.replaces:
                if old not in own:
                    yield replace(learnt[old], owner=entry.owner, to=entry.to, id="", replaces=())
        for entry in self._of("forgotten"):
            yield from (replace(learnt[old], id="", replaces=()) for old in entry.value["entries"])
        if standing := tuple(name for name in own if learnt.stands(name)):
            yield Forgotten(entries=standing, reason=self.reason)


def _is_head(entry: LedgerEntry) -> bool:
    return entry.value["what"] == HEAD


def describe_change(change: Change) -> str:
    """Describe a reversing change in a few words."""
    match change:
        case Retired(member=member) | Restored(member=member):
            return f"{member}: {'retired' if isinstance(change, Retired) else 'a member again'}"
        case Revised(agent=agent):
            return f"{agent}: what it was before"
        case Learnt(text=text):
            return f"known again: {text}"
        case Forgotten(entries=entries):
            return f"forgotten: {counted(len(entries), 'lesson')}"
        case _:
            return "the head is the team that was it before"
