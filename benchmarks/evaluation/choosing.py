"""Which tasks of a benchmark are used: a split, a sample of it, in some order; all of it seeded."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeVar

from ...schema.values.codec import kept
from ...schema.values.errors import InputError
from ...schema.values.part import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...schema.team.task import Task

__all__ = ["SPLITS", "TaskChoice", "matching"]

T = TypeVar("T")
Split = Literal["all", "evolve", "test"]
SPLITS: tuple[Split, ...] = ("all", "evolve", "test")


@kept(closed=True)
@dataclass(frozen=True, kw_only=True, slots=True)
class TaskChoice:
    """Which tasks, and in which order.

    Attributes:
        split: `evolve` and `test` have no task in common, nor a question; `all` is both.
        evolve_share: How much of each niche is the evolve split, in (0, 1).
        limit: At most so many tasks, each niche with its share of them; None: all.
        seed: Decides what belongs to which split and what the limit leaves.
        shuffle: Decides the order; None: the benchmark's own.
        instances: Patterns of ids, as shells write them; only tasks that one of them fits are
            taken, whatever the limit leaves of those. Empty: all.
        shard: Which part of that; None: all.
    """

    split: Split = "all"
    evolve_share: float = 0.5
    limit: int | None = None
    seed: int = 0
    shuffle: int | None = None
    instances: Sequence[str] = ()
    shard: Part | None = None

    def __post_init__(self) -> None:
        """Make patterns equal that are."""
        object.__setattr__(self, "instances", tuple(self.instances))

    def of(self, tasks: Sequence[Task]) -> list[Task]:
        """Choose.

        Raises:
            InputError: No task is left, there are more shards than tasks, or a pattern fits none
                of the split.
        """
        chosen = self._limited(self._named(self._split(tasks)))
        if not chosen:
            raise InputError(
                f"the split {self.split!r} has no task: there are {len(tasks)} in all."
            )
        if self.shuffle is not None:
            _chance(self.shuffle, "order").shuffle(chosen)
        return chosen if self.shard is None else self.shard.take(chosen)

    def _split(self, tasks: Sequence[Task]) -> list[Task]:
        if self.split == "all":
            return list(tasks)
        evolve: set[tuple[str, str]] = set()
        for niche, members in _niches(tasks).items():
            # A question that is asked twice must not be in both: who has evolved on it knows it.
            questions = sorted({_question(task) for task in members})
            _chance(self.seed, f"split {niche}").shuffle(questions)
            evolve.update(questions[: round(len(questions) * self.evolve_share)])
        wanted = self.split == "evolve"
        return [task for task in tasks if (_question(task) in evolve) is wanted]

    def _named(self, tasks: list[Task]) -> list[Task]:
        return matching(tasks, self.instances, lambda task: task.id)

    def _limited(self, tasks: list[Task]) -> list[Task]:
        if self.limit is None or self.limit >= len(tasks):
            return tasks
        niches = _niches(tasks)
        kept: set[str] = set()
        for niche, count in _shares(niches, self.limit).items():
            drawn = _chance(self.seed, f"limit {niche}").sample(niches[niche], count)
            kept.update(task.id for task in drawn)
        return [task for task in tasks if task.id in kept]


def matching(items: Sequence[T], patterns: Sequence[str], name: Callable[[T], str]) -> list[T]:
    """Give the items whose name one of the patterns fits; all of them where there is no pattern.

    Raises:
        InputError: A pattern fits none.
    """
    names = [name(one) for one in items]
    for pattern in patterns:
        if not any(fnmatchcase(one, pattern) for one in names):
            raise InputError(
                f"--instances {pattern!r} fits none of the {len(names)} ids, such as"
                f" {', '.join(names[:3]) or 'none'}."
            )
    return [
        item
        for item, one in zip(items, names, strict=True)
        if not patterns or any(fnmatchcase(one, pattern) for pattern in patterns)
    ]


def _niches(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    niches: dict[str, list[Task]] = {}
    for task in tasks:
        niches.setdefault(task.niche or "", []).append(task)
    return niches


def _shares(niches: Mapping[str, Sequence[Task]], limit: int) -> dict[str, int]:
    """Give each niche its share of the limit; what rounding leaves goes to the largest rests."""
    total = sum(map(len, niches.values()))
    exact = {niche: limit * len(members) / total for niche, members in niches.items()}
    shares = {niche: int(share) for niche, share in exact.items()}
    by_rest = sorted(niches, key=lambda niche: shares[niche] - exact[niche])
    for niche in by_rest[: limit - sum(shares.values())]:
        shares[niche] += 1
    return shares


def _question(task: Task) -> tuple[str, str]:
    return task.query, task.context


def _chance(seed: int, what: str) -> random.Random:
    return random.Random(f"{seed}/{what}")  # noqa: S311 - not for secrets
