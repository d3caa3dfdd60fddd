"""How long a search of one agent's archive takes, in a pool where many inherit from each other."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.pool.ledger.learnt import Learnt
from coterie.pool.ledger.ledger import line_of
from coterie.pool.teams.pool import Pool
from coterie.pool.values.layout import LEDGER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOUNDERS = 20
NICHES = 10
SHARED = 100
"""Of so many entries, one is to half of the agents."""
REPLACING = 10
"""Of so many entries, one replaces another."""
MERGED = 4
"""Of so many newcomers, one has two parents."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Town:
    """A pool of agents who have learnt, and of whom some were forked and merged.

    Attributes:
        pool: The pool.
        newest: The agent that was born last.
    """

    pool: Pool
    newest: str

    def learn(self, *agents: str) -> None:
        """Let agents learn one thing more, all the same."""
        whose: dict[str, Any] = {"owner": agents[0]} if len(agents) == 1 else {"to": agents}
        entry = Learnt(kind="insight", task="How many are left?", text="Count again.", **whose)
        self.pool.commit(entry, op=f"more/{len(self.pool.learnt)}")


def town(folder: Path, agents: int, entries: int, seed: int = 0) -> Town:
    """Make one, with births spread over all that is learnt."""
    Pool.init(folder)
    names: list[str] = []
    with (folder / LEDGER).open("ab") as stream:
        stream.writelines(_lines(agents, entries, random.Random(seed), names))  # noqa: S311
    return Town(pool=Pool.open(folder), newest=names[-1])


def _lines(agents: int, entries: int, chance: random.Random, names: list[str]) -> Iterator[bytes]:
    newcomers = max(0, agents - FOUNDERS)
    for _ in range(min(agents, FOUNDERS)):
        yield _birth(names, ())
    for number in range(entries):
        while len(names) - FOUNDERS < newcomers * number // entries:
            several = 1 + (chance.randrange(MERGED) == 0)
            yield _birth(names, tuple(chance.sample(names, several)))
        yield line_of({"kind": "learnt", "entry": _entry(number, chance, names)}, f"{number}")


def _birth(names: list[str], parents: tuple[str, ...]) -> bytes:
    names.append(f"solver_{len(names)}")
    operator = ("genesis", "fork", "merge")[len(parents)]
    inherits = {"inherits": parents} if parents else {}
    lineage = {"operator": operator, "parents": parents} if parents else {"operator": operator}
    value = {"kind": "born", "agent": names[-1], "value": {"prompt": "Solve it."}}
    return line_of({**value, "lineage": lineage, **inherits}, f"born/{len(names)}")


def _entry(number: int, chance: random.Random, names: list[str]) -> dict[str, Any]:
    is_lesson = number % 2 == 0
    whose: dict[str, Any] = {"owner": chance.choice(names)}
    if chance.randrange(SHARED) == 0:
        whose = {"to": sorted(chance.sample(names, len(names) // 2))}
    replaces = [f"{chance.randrange(number)}"] if number and not chance.randrange(REPLACING) else []
    entry = {
        "kind": "lesson" if is_lesson else "insight",
        "task": f"Task {number // 6}: how many of them are left when some are given away?",
        "text": f"Lesson {number}: count those that are left, and not those that are gone.",
        **({"niche": f"niche_{chance.randrange(NICHES)}"} if is_lesson else {}),
        "case": f"{number // 6}",
        **whose,
    }
    return {**entry, "replaces": replaces} if replaces else entry
