"""A branch of a journal: a run that differs from another one takes from it what is alike.

What the other run was answered to the same question, under the same path, answers it here, too.
What differs on purpose is asked, and kept in a journal of its own, which many branches share: two
of them that ask the same pay for it once, and also when both are at work at once.

Only a question that says all that its answer follows from can be answered so. What a tool or a
piece of code gave also follows from what was done before in the same workspace. So each branch has
tools and code do again what it does not find as a whole: an agent that came to its end.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self
from weakref import WeakValueDictionary

from .journal import Journal, NotRecorded
from .usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from ._entries import Entry
    from .journal import Value

__all__ = ["Branch", "Locks"]

WHOLE = frozenset({"agent", "model", "recall"})
"""Kinds of entries that follow from their question, and from nothing else."""


@dataclass(kw_only=True, eq=False)
class Locks:
    """Lets branches of a journal wait for each other, question by question."""

    _locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary[tuple[str, str], asyncio.Lock]
    )

    def of(self, path: str, asked: str) -> asyncio.Lock:
        """Give the lock of a question."""
        return self._locks.setdefault((path, asked), asyncio.Lock())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Counted:
    """What an answer cost, and the part of it that the other run has paid."""

    used: Usage
    reused: Usage


@dataclass(kw_only=True, eq=False)
class Branch(Journal):
    """The journal of one run that differs from another. It is open as long as the own one is.

    No difference from the other run is noted: it is meant.

    Attributes:
        base: The journal of the other run; nothing is written to it. It may be the own one.
        name: What sets this branch apart from others of the same journal.
        is_live: Whether it may ask what nobody was asked.
        missing: The paths of what it was not allowed to ask.
        locks: Shared by all branches that may be at work at once.
    """

    base: Journal
    name: str
    is_live: bool = True
    missing: list[str] = field(default_factory=list[str])
    locks: Locks = field(default_factory=Locks)
    _counted: defaultdict[str, dict[str, _Counted]] = field(
        default_factory=lambda: defaultdict(dict[str, "_Counted"])
    )

    @classmethod
    def of(
        cls, own: Journal, base: Journal, name: str, *, locks: Locks, is_live: bool = True
    ) -> Self:
        """Branch off; arguments are as the attributes, `own` is where its entries are kept."""
        return cls(
            base=base,
            name=name,
            locks=locks,
            is_live=is_live,
            _entries=own._entries,
            _folder=own._folder,
            _prior_seconds=own._prior_seconds,
            _started=own._started,
        )

    def close(self) -> None:
        """Leave the file to the journal that it belongs to."""

    @property
    def reused(self) -> Usage:
        """What the answers had cost that came from the other run.

        It depends on the two runs only: not on what was asked by earlier processes, nor by others.
        """
        return sum((self._reused_of(agent) for agent in self._counted), Usage())

    @property
    def renewals(self) -> int:
        """How often agents may use up their attempts: as often as in the other run."""
        return self.base.renewals

    def get(self, path: str, asked: str) -> Value | None:
        """Give what answers this question: of this run, of another branch, or of the other run."""
        entry = self._entries.get(self._private(path), asked)
        if entry is None:
            entry = _whole(self._entries.get(path, asked))
        if entry is None and (entry := _whole(self.base._entries.get(path, asked))) is not None:
            entry = replace(entry, value={**entry.value, "reused": entry.value.get("usage", {})})
        if entry is None:
            return None
        self.taken += 1
        self._count(path, entry.kind, entry.value)
        return entry.value

    async def put(self, path: str, kind: str, asked: str, value: Value) -> None:
        """Record something; it is on disk when this returns.

        Raises:
            StorageError: It cannot be written.
        """
        if kind == "agent":
            value = {**value, "reused": self._reused_of(path).value()}
        else:
            self._count(path, kind, value)
        await super().put(path if kind in WHOLE else self._private(path), kind, asked, value)

    @asynccontextmanager
    async def alone(self, path: str, asked: str) -> AsyncGenerator[None]:
        """Let no other branch ask this meanwhile."""
        async with self.locks.of(path, asked):
            yield

    def must_be_live(self, path: str) -> None:
        """Make sure that something may be asked.

        Raises:
            NotRecorded: This branch may not.
        """
        if not self.is_live:
            self.missing.append(path)
            raise NotRecorded(f"the journal has nothing under {path!r} that answers the same.")

    def spent(self, under: str = "") -> Usage:
        """Sum up what this run's answers cost until now, whoever paid, of paths that begin so."""
        agents = (agent for agent in self._counted if f"{agent}/".startswith(under))
        answers = (one for agent in agents for one in self._counted[agent].values())
        return sum((one.used for one in answers), Usage())

    def _reused_of(self, agent: str) -> Usage:
        return sum((one.reused for one in self._counted[agent].values()), Usage())

    def _private(self, path: str) -> str:
        return f"{path} [{self.name}]"

    def _count(self, path: str, kind: str, value: Value) -> None:
        """Count what an answer cost, and the part of it that the other run has paid."""
        if kind not in {"agent", "model", "failed"}:
            return
        counted = self._counted[path.partition("/attempt ")[0]]
        name = f"{path} {len(counted)}" if kind == "failed" else path
        reused = _usage(value.get("reused", {}))
        counted[name] = _Counted(used=_usage(value["usage"]), reused=reused)


def _whole(entry: Entry | None) -> Entry | None:
    return entry if entry is not None and entry.kind in WHOLE else None


def _usage(value: Mapping[str, float]) -> Usage:
    counts = {name: value[name] for name in Usage.__slots__ if name in value}
    return Usage(**counts)  # pyright: ignore[reportArgumentType] - JSON keeps whole numbers whole
