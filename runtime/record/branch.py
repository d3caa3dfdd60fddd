"""A branch of a journal: a run that differs from another one takes from it what is alike.

What the other run was answered to the same question, under the same path, answers it here, too.
What differs on purpose is asked, and kept in a journal of its own, which many branches share: two
of them that ask the same pay for it once, and also when both are at work at once.

Only a question that says all that its answer follows from can be answered so. What a tool or a
piece of code gave also follows from what was done before in the same workspace. So each branch has
tools and code do again what it does not find as a whole: an agent that ended.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self
from weakref import WeakValueDictionary

from ...schema.values.codec import from_value, kept, to_value
from ..values.usage import Usage
from ._entries import JournalEntry
from .journal import Journal, NotRecorded, Value, digest

LONG_ENOUGH = 16
"""Characters of a digest by which a branch tells its questions apart."""
BRANCHED = "branched"
"""What marks an answer that the other run had not paid."""
WHOLE = frozenset({"agent", "model", "recall"})
"""Kinds of entries that follow from their question, and from nothing else."""


@dataclass(kw_only=True, eq=False)
class Locks:
    """Lets branches of a journal wait for each other, question by question."""

    _locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary[tuple[str, str], asyncio.Lock]
    )

    def of(self, path: str, key: str) -> asyncio.Lock:
        """Return the lock of a question."""
        return self._locks.setdefault((path, key), asyncio.Lock())


@kept()
class _Answer:
    """What answers cost that an agent's part, or one call of it, follows from.

    Attributes:
        paid: Those that the other run had not paid, by question.
    """

    needed: Usage
    paid: Mapping[str, Usage]


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
    _answers: defaultdict[str, dict[str, _Answer]] = field(
        default_factory=lambda: defaultdict(dict[str, "_Answer"])
    )
    _failed: defaultdict[str, Usage] = field(default_factory=lambda: defaultdict(Usage))

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
            **own._shared(),
        )

    def close(self) -> None:
        """Leave the file to the journal that it belongs to."""

    @property
    def needed(self) -> Usage:
        """What all answers cost that this run follows from, whoever paid for them and when."""
        return sum((self._of(agent).needed for agent in self._answers), Usage())

    @property
    def paid(self) -> Mapping[str, Usage]:
        """What those of them cost that the other run had not paid, by question.

        It follows from the two runs alone: who of the branches paid, and in which process, does not
        matter. So branches that have a question in common share what it cost.
        """
        return _joined(self._of(agent) for agent in self._answers)

    @property
    def renewals(self) -> int:
        """How often agents may use up their attempts: as often as in the other run."""
        return self.base.renewals

    def get(self, path: str, key: str) -> Value | None:
        """Give what answers this question: of this run, of another branch, or of the other run."""
        # What tools and code gave is this branch's own: in others the workspace was another one.
        entry = self._entries.get(self._private(path), key)
        if entry is None:
            entry = _whole(self._entries.get(path, key))
        if entry is None and (entry := _whole(self.base.entry(path, key))) is None:
            return None
        self.recorded_answers += 1
        self._count(path, key, entry.kind, entry.value)
        return entry.value

    async def put(
        self, path: str, kind: str, key: str, value: Value, *, at_once: bool = True
    ) -> None:
        """Record something, as `Journal` does."""
        if not self.is_live:
            return
        if kind == "agent":
            value = {**value, **to_value(self._of(path))}
        else:
            value = {**value, BRANCHED: True} if kind == "model" else value
            self._count(path, key, kind, value)
        # Other branches may take what follows from its question alone, and nothing else.
        place = path if kind in WHOLE else self._private(path)
        await super().put(place, kind, key, value, at_once=at_once)

    @asynccontextmanager
    async def alone(self, path: str, key: str) -> AsyncGenerator[None]:
        """Let no other branch ask this meanwhile."""
        async with self.locks.of(path, key):
            yield

    def must_be_live(self, path: str) -> None:
        """Make sure that something may be asked.

        Raises:
            NotRecorded: This branch may not.
        """
        if not self.is_live:
            self.missing.append(path)
            raise NotRecorded(f"the journal has nothing under {path!r} that answers the same.")

    def note_failed(self, path: str, usage: Usage) -> None:
        """Count what a call may have cost that ended without an answer."""
        self._failed[path.partition("/attempt ")[0]] += usage

    def spent(self, under: str = "", **_: bool) -> Usage:
        """Sum up what this run's answers cost until now, whoever paid, of paths that begin so.

        What was lost is no answer, and is paid once, whatever runs branch off.
        """
        agents = (agent for agent in self._answers if f"{agent}/".startswith(under))
        return sum((self._of(agent).needed + self._failed[agent] for agent in agents), Usage())

    def _of(self, agent: str) -> _Answer:
        """Sum up the answers of an agent's part."""
        answers = self._answers[agent].values()
        return _Answer(
            needed=sum((answer.needed for answer in answers), Usage()), paid=_joined(answers)
        )

    def _private(self, path: str) -> str:
        return f"{path} [{self.name}]"

    def _count(self, path: str, key: str, kind: str, value: Value) -> None:
        agent = path.partition("/attempt ")[0]
        match kind:
            case "model":
                cost = from_value(Usage, value["usage"])
                question = digest(path, key)[:LONG_ENOUGH]
                paid = {question: cost} if BRANCHED in value else {}
                self._answers[agent][path] = _Answer(needed=cost, paid=paid)
            case "agent":
                self._answers[agent][path] = _answer(value)
            case _:
                pass


def _whole(entry: JournalEntry | None) -> JournalEntry | None:
    return entry if entry is not None and entry.kind in WHOLE else None


def _joined(answers: Iterable[_Answer]) -> Mapping[str, Usage]:
    return {question: cost for answer in answers for question, cost in answer.paid.items()}


def _answer(value: Value) -> _Answer:
    """Read what an agent's part cost; of what the other run did, nothing more was paid."""
    if "needed" in value:
        return from_value(_Answer, value)
    return _Answer(needed=from_value(Usage, value["usage"]), paid={})
