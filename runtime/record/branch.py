"""A branch of a journal: a variant of a run that reuses the other run's answers.

The other run's answer to the same question, under the same path, answers the question here, too.
Other questions are asked, and recorded in a journal that many branches share: two branches that ask
the same pay once, even if both are at work at once.

This works only for a question that fully determines its answer. A result of a tool or of code also
depends on earlier actions in the same workspace. So each branch repeats tools and code, unless it
finds the whole agent's entry.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self
from weakref import WeakValueDictionary

from ...schema.values.codec import from_value, stored, to_value
from ..values.usage import Usage
from ._entries import JournalEntry
from .journal import Journal, NotRecorded, Value, digest

LONG_ENOUGH = 16
"""The characters of a digest that identify a question within a branch."""
BRANCHED = "branched"
"""Marks an answer that the other run had not paid."""
WHOLE = frozenset({"agent", "model", "recall"})
"""Kinds of entries that depend on their question only."""


@dataclass(kw_only=True, eq=False)
class Locks:
    """Lets branches of a journal wait for each other, question by question."""

    _locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary[tuple[str, str], asyncio.Lock]
    )

    def of(self, path: str, key: str) -> asyncio.Lock:
        """Return the lock of a question."""
        return self._locks.setdefault((path, key), asyncio.Lock())


@stored()
class _Answer:
    """The cost of the answers behind an agent's result, or behind one call of it.

    Attributes:
        paid: The cost of those that the other run had not paid, by question.
    """

    needed: Usage
    paid: Mapping[str, Usage]


@dataclass(kw_only=True, eq=False)
class Branch(Journal):
    """The journal of one run that differs from another. It is open as long as its own journal is.

    Differences from the other run are intended, so they are not recorded.

    Attributes:
        base: The journal of the other run; nothing is written to it. It may be the own journal.
        name: Distinguishes this branch from others of the same journal.
        is_live: Whether it may ask new questions.
        missing: The paths of questions that it was not allowed to ask.
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
        """Create a branch; see the attributes for the arguments. `own` holds its entries."""
        return cls(
            base=base,
            name=name,
            locks=locks,
            is_live=is_live,
            **own._shared(),
        )

    def close(self) -> None:
        """Do nothing: the file belongs to the own journal."""

    @property
    def needed(self) -> Usage:
        """The cost of all answers that this run depends on, whoever paid for them and when."""
        return sum((self._of(agent).needed for agent in self._answers), Usage())

    @property
    def paid(self) -> Mapping[str, Usage]:
        """The cost of those answers that the other run had not paid, by question.

        It depends on the two runs alone, not on which branch paid, or in which process. So branches
        with a common question share its cost.
        """
        return _joined(self._of(agent) for agent in self._answers)

    @property
    def renewals(self) -> int:
        """How often agents may use up their attempts: as often as in the other run."""
        return self.base.renewals

    def get(self, path: str, key: str) -> Value | None:
        """Return the recorded answer to this question: of this run, a branch, or the other run."""
        # Results of tools and code are this branch's own: other branches have other workspaces.
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
        """Record an entry, as `Journal` does."""
        if not self.is_live:
            return
        if kind == "agent":
            value = {**value, **to_value(self._of(path))}
        else:
            value = {**value, BRANCHED: True} if kind == "model" else value
            self._count(path, key, kind, value)
        # Other branches may reuse only entries that depend on their question alone.
        place = path if kind in WHOLE else self._private(path)
        await super().put(place, kind, key, value, at_once=at_once)

    @asynccontextmanager
    async def alone(self, path: str, key: str) -> AsyncGenerator[None]:
        """Keep other branches from asking this question meanwhile."""
        async with self.locks.of(path, key):
            yield

    def must_be_live(self, path: str) -> None:
        """Check that a new question may be asked.

        Raises:
            NotRecorded: This branch may not ask.
        """
        if not self.is_live:
            self.missing.append(path)
            raise NotRecorded(f"the journal has nothing under {path!r} that answers the same.")

    def note_failed(self, path: str, usage: Usage) -> None:
        """Add the possible cost of a call that ended without an answer."""
        self._failed[path.partition("/attempt ")[0]] += usage

    def spent(self, under: str = "", *, lost: bool = True) -> Usage:
        """Return the cost so far of this run's answers below a path, whoever paid."""
        del lost  # calls that ended without an answer always count here
        agents = (agent for agent in self._answers if f"{agent}/".startswith(under))
        return sum((self._of(agent).needed + self._failed[agent] for agent in agents), Usage())

    def _of(self, agent: str) -> _Answer:
        """Return the cost of an agent's answers."""
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
    """Read the cost of an agent's result; an entry of the other run cost nothing more."""
    if "needed" in value:
        return from_value(_Answer, value)
    return _Answer(needed=from_value(Usage, value["usage"]), paid={})
