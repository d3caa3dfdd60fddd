"""The last tasks of a pool, whose trials are known task by task.

Comparing teams on the same tasks takes time for each trial. So only the last trials are known by
task, and earlier ones are added up by niche. In a small pool, all trials are known by task.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from ..values.statistics import Kind
from .members import Member, Task

MOST = 10_000
"""The maximum number of pairs of team and task that are known one by one, in each split."""


class Recent:
    """The last tasks of a split, in order of first occurrence, with the teams tried."""

    def __init__(self, split: str) -> None:
        self._split = split
        # With each task itself, so that all teams share it: there are many, and memory is slow.
        self._tasks: OrderedDict[Task, tuple[Task, dict[str, Member]]] = OrderedDict()
        self._size = 0

    def take(self, team: Member, task: Task, kind: Kind, score: float) -> Sequence[str]:
        """Add a team's score on a task; return the teams that drop an earlier one because of it."""
        task, teams = self._tasks.get(task) or self._begin(task)
        if team.name not in teams:
            teams[team.name] = team
            self._size += 1
        team.add_score((self._split, kind), task, score)
        return self._drop() if self._size > MOST else ()

    def fill(self, tasks: Iterable[Task], teams: Iterable[Member]) -> None:
        """Start with tasks in this order, and the teams that know them."""
        for task in tasks:
            self._begin(task)
        for team in teams:
            for (split, _), sums in team.by_task.items():
                for task in sums if split == self._split else ():
                    _, members = self._tasks.get(task) or self._begin(task)
                    members[team.name] = team
        self._size = sum(map(len, self.tasks.values()))

    @property
    def tasks(self) -> Mapping[Task, Mapping[str, Member]]:
        """The tasks in order, each with its teams by name."""
        return dict(self._tasks.values())

    def _begin(self, task: Task) -> tuple[Task, dict[str, Member]]:
        self._tasks[task] = task, {}
        return self._tasks[task]

    def _drop(self) -> list[str]:
        """Pass by the first tasks until few enough are left, and return their teams."""
        dropped: list[str] = []
        while self._size > MOST and len(self._tasks) > 1:
            _, (task, teams) = self._tasks.popitem(last=False)
            self._size -= len(teams)
            for team in teams.values():
                team.pass_by(self._split, task)
            dropped += teams
        return dropped
