"""A pool as an episode of an evolution sees it: all earlier changes, and no later ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..schema.values.codec import from_value
from .ledger.changes import EventNoted
from .ledger.ledger import START, Ledger
from .ledger.records import TrialRecord
from .ledger.snapshot import newest
from .ledger.state import State
from .values.layout import LEDGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from .ledger.agents import PoolAgent
    from .ledger.learnt import Learnt
    from .ledger.ledger import LedgerEntry, LedgerPosition
    from .ledger.lessons import Lessons
    from .ledger.members import Member
    from .memory.memory import Memory
    from .teams.pool import Pool

Record = TypeVar("Record", bound=TrialRecord)
"""Teams, or agents."""


def op(evolution: str, episode: int, label: str) -> str:
    """Return the name of an update of a pool, by which it counts once: `evomas/000012/best`."""
    return f"{evolution}/{episode:06d}/{label}"


def episode_of(evolution: str, operation: str) -> int | None:
    """Return the episode of an evolution that made an update; None if another evolution did."""
    name, _, rest = operation.partition("/")
    episode = rest.partition("/")[0]
    return int(episode) if name == evolution and episode.isdecimal() else None


def events(folder: Path, kind: str, *, end: LedgerPosition | None = None) -> list[EventNoted]:
    """Return the events of a pool that have this name, in order. Only the ledger stores them.

    Args:
        end: The end of the ledger's part to read; None: the whole ledger.
    """
    noteds: list[EventNoted] = []
    for entry in Ledger(folder / LEDGER).read():
        if end is not None and entry.end.line > end.line:
            break
        if entry.value["kind"] == "told" and entry.value["what"] == kind:
            noteds.append(from_value(EventNoted, entry.value))
    return noteds


class Fold(Protocol):
    """A strategy's summary of a pool, computed only from the ledger's lines.

    It **must** be an immutable value: a further line gives a new value, and this one stays.
    """

    def after(self, entry: LedgerEntry, /) -> Fold:
        """Return the summary with the next line."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolView:
    """An episode's view of a pool as of one ledger line. It never changes.

    Attributes:
        members: The teams by name, in the order of their births.
        agents: The agents by name, in the order of their births.
        upto: The number of lessons up to then.
        end: The end of the ledger's part that it shows.
        pool: The pool, which may have changed since.
        memory: The memory for searches; None: searches find nothing.
        folded: The result of the strategy's fold, a value of its own type; None without a fold.
    """

    members: Mapping[str, Member]
    agents: Mapping[str, PoolAgent]
    upto: int
    end: LedgerPosition
    pool: Pool
    memory: Memory | None = None
    folded: Any = None

    @property
    def learnt(self) -> Sequence[Learnt]:
        """The lessons in order, without those replaced for all their owners."""
        learnt = self._lessons
        entries = learnt.between(0, self.upto)
        return [entry for entry in entries if learnt.stands(entry.id, self.upto)]

    def archive(self, owner: str) -> Sequence[Learnt]:
        """Return the lessons that an agent can recall, in order: its own and inherited ones."""
        return self._lessons.archive(owner, self.upto)

    @property
    def _lessons(self) -> Lessons:
        if len(self.pool.learnt) < self.upto:
            self.pool.refresh()
        return self.pool.learnt

    def events_of(self, kind: str) -> list[EventNoted]:
        """Return the events of this name, in order."""
        return events(self.pool.folder, kind, end=self.end)

    def search(
        self,
        text: str,
        k: int,
        *,
        niche: str | None = None,
        or_no_niche: bool = False,
        kind: str | None = None,
        owner: str | None = None,
        level: str | None = None,
    ) -> list[tuple[Learnt, float]]:
        """Return the lessons with the most similar tasks, as `Memory.search` does."""
        if self.memory is None:
            return []
        return self.memory.search(
            text,
            k,
            niche=niche,
            or_no_niche=or_no_niche,
            kind=kind,
            owner=owner,
            level=level,
            upto=self.upto,
        )

    def alike(
        self,
        text: str,
        owner: str,
        *,
        kind: str | None = None,
        niche: str | None = None,
        over: float,
    ) -> list[tuple[Learnt, float]]:
        """Return an agent's lessons with nearly the same text, as `Memory.alike` does."""
        if self.memory is None:
            return []
        return self.memory.alike(text, owner, kind=kind, niche=niche, over=over, upto=self.upto)


class Views:
    """Views of a pool for the episodes of an evolution, which begin in order.

    After a crash, the ledger already has later episodes. To show an episode the same state again,
    its view is built from the ledger's lines and ends before the first line of a later episode.
    Views share everything that no line between them changed.

    Args:
        fold: The strategy's initial summary, before the first line.
    """

    def __init__(
        self, pool: Pool, evolution: str, memory: Memory | None = None, fold: Fold | None = None
    ) -> None:
        self._pool = pool
        self._memory = memory
        self._ledger = Ledger(pool.folder / LEDGER)
        self._state = State(pool.folder)
        self._learnt_count = 0
        self._place = START
        self._evolution = evolution
        self._folded = fold
        self._members: Mapping[str, Member] = {}
        self._agents: Mapping[str, PoolAgent] = {}

    def upto(self, episode: int) -> PoolView:
        """Return a view with the results of episodes up to this one, and of all other writers.

        Args:
            episode: The last visible one, not before that of the previous view. -1: none.
        """
        if self._place is START:
            self._begin(episode)
        for entry in self._ledger.read(self._place):
            own = episode_of(self._evolution, entry.op)
            if own is not None and own > episode:
                break
            self._take(entry)
            self._place = entry.end
        state, upto = self._state, self._place.offset
        self._members = _renewed(self._members, state.teams.live, state.touched, upto)
        self._agents = _renewed(self._agents, state.agents.live, state.touched, upto)
        state.touched.clear()
        return PoolView(
            members=self._members,
            agents=self._agents,
            upto=self._learnt_count,
            end=self._place,
            pool=self._pool,
            memory=self._memory,
            folded=self._folded,
        )

    def _begin(self, episode: int) -> None:
        """Begin with a snapshot without lines of later episodes, if there is one.

        A fold needs each line, so it uses none.
        """
        if self._folded is not None:
            return
        snapshot = newest(
            self._pool.folder, lambda state: state.episodes.get(self._evolution, -1) <= episode
        )
        if snapshot is not None:
            self._state, self._place = snapshot.state, snapshot.index.place
            self._learnt_count = len(snapshot.state.learnt)
            self._ledger = Ledger(self._ledger.path, index=snapshot.index)
            self._state.touched.update(self._state.teams, self._state.agents)

    def _take(self, entry: LedgerEntry) -> None:
        kind = entry.value["kind"]
        self._learnt_count += kind == "learnt"
        if kind not in {"learnt", "forgotten"}:  # the pool has what these say
            self._state.take(entry)
        if self._folded is not None:
            self._folded = self._folded.after(entry)


def _renewed(
    shown: Mapping[str, Record], before: Mapping[str, Record], touched: AbstractSet[str], upto: int
) -> Mapping[str, Record]:
    """Return the current values, reusing those shown before if they are unchanged."""
    if touched.isdisjoint(before) and touched.isdisjoint(shown):
        return shown
    return {
        name: item.as_it_is(upto) if name in touched or name not in shown else shown[name]
        for name, item in before.items()
    }
