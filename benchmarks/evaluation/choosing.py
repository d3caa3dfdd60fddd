"""Selects tasks of a benchmark: a split, a sample of it, and an order; all of it seeded."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, TypeVar

from ...schema.loading.tasks import TaskFile
from ...schema.team.task import Task
from ...schema.values.codec import stored
from ...schema.values.errors import InputError
from ...schema.values.part import Part

T = TypeVar("T")
Niches = Sequence[str | None]
Split = Literal["all", "evolve", "test"]
SPLITS: tuple[Split, ...] = ("all", "evolve", "test")


@stored(closed=True)
class TaskChoice:
    """A selection of tasks, with their order.

    Attributes:
        split: `evolve` and `test` have no task and no question in common; `all` is both.
        evolve_share: The share of each niche in the evolve split, in (0, 1).
        limit: The maximum number of tasks, in proportion to the niches; None: all.
        seed: Decides the splits, and the sample within the limit.
        shuffle: Decides the order; None: the benchmark's own.
        instances: Shell patterns of ids; only matching tasks are selected, before the limit. Empty:
            all.
        shard: A part of that selection; None: all.
    """

    split: Split = "all"
    evolve_share: float = 0.5
    limit: int | None = None
    seed: int = 0
    shuffle: int | None = None
    instances: Sequence[str] = ()
    shard: Part | None = None

    def __post_init__(self) -> None:
        """Make equal patterns compare equal."""
        object.__setattr__(self, "instances", tuple(self.instances))

    def of(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the selected tasks.

        Raises:
            InputError: No task is left, there are more shards than tasks, or a pattern matches none
                of the split.
        """
        niches = tasks.niches if isinstance(tasks, TaskFile) else _niches(tasks)
        chosen = self._limited(self._named(self._split(tasks, niches), tasks), niches)
        if not chosen:
            raise InputError(
                f"the split {self.split!r} has no tasks; there are {len(tasks)} in total."
            )
        if self.shuffle is not None:
            chosen = [*chosen]
            _chance(self.shuffle, "order").shuffle(chosen)
        return [tasks[at] for at in (chosen if self.shard is None else self.shard.take(chosen))]

    def _split(self, tasks: Sequence[Task], niches: Niches) -> Sequence[int]:
        """Return the indices of the split's tasks in the benchmark."""
        if self.split == "all":
            return range(len(tasks))
        all_questions = [_question(task) for task in tasks]
        evolve: set[tuple[str, str]] = set()
        for niche, places in _by_niche(range(len(tasks)), niches).items():
            # A repeated question must not be in both: a team that evolved on it knows it.
            questions = sorted({all_questions[at] for at in places})
            _chance(self.seed, f"split {niche}").shuffle(questions)
            evolve.update(questions[: round(len(questions) * self.evolve_share)])
        wanted = self.split == "evolve"
        return [at for at, question in enumerate(all_questions) if (question in evolve) is wanted]

    def _named(self, places: Sequence[int], tasks: Sequence[Task]) -> Sequence[int]:
        if not self.instances:
            return places
        ids = [task.id for task in tasks]
        return matching(places, self.instances, lambda at: ids[at])

    def _limited(self, places: Sequence[int], niches: Niches) -> Sequence[int]:
        if self.limit is None or self.limit >= len(places):
            return places
        by_niche = _by_niche(places, niches)
        drawn: list[int] = []
        for niche, count in _shares(by_niche, self.limit).items():
            drawn += _chance(self.seed, f"limit {niche}").sample(by_niche[niche], count)
        return sorted(drawn)


def matching(items: Sequence[T], patterns: Sequence[str], name: Callable[[T], str]) -> list[T]:
    """Return the items whose name matches a pattern; without patterns, all.

    Raises:
        InputError: A pattern matches none.
    """
    names = [name(item) for item in items]
    for pattern in patterns:
        if not any(fnmatchcase(word, pattern) for word in names):
            raise InputError(
                f"--instances {pattern!r} matches none of the {len(names)} ids, such as"
                f" {', '.join(names[:3]) or 'none'}."
            )
    return [
        item
        for item, word in zip(items, names, strict=True)
        if not patterns or any(fnmatchcase(word, pattern) for pattern in patterns)
    ]


def _by_niche(places: Iterable[int], niches: Niches) -> dict[str, Sequence[int]]:
    fields: dict[str, array[int]] = {}
    for at in places:
        fields.setdefault(niches[at] or "", array("Q")).append(at)
    return {**fields}


def _shares(niches: Mapping[str, Sequence[int]], limit: int) -> dict[str, int]:
    """Divide the limit among the niches; the remainder goes to the largest fractions."""
    total = sum(map(len, niches.values()))
    exact = {niche: limit * len(members) / total for niche, members in niches.items()}
    shares = {niche: int(share) for niche, share in exact.items()}
    by_rest = sorted(niches, key=lambda niche: shares[niche] - exact[niche])
    for niche in by_rest[: limit - sum(shares.values())]:
        shares[niche] += 1
    return shares


def _question(task: Task) -> tuple[str, str]:
    return task.query, task.context


def _niches(tasks: Sequence[Task]) -> Niches:
    return [task.niche for task in tasks]


def _chance(seed: int, purpose: str) -> random.Random:
    return random.Random(f"{seed}/{purpose}")  # noqa: S311 - not for secrets
