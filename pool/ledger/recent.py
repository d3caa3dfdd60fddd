"""The last tasks of a pool, whose trials are known task by task.

Comparing teams on the same tasks takes time for each trial. So only the last trials are known by
task, and earlier ones are added up by niche. In a small pool, all trials are known by task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..values.statistics import Trial
from .members import Member, Task, task_of

MOST = 10_000
"""The maximum number of pairs of team and task that are known one by one, in each split."""


class Recent:
    """The last tasks of a split, in order of first occurrence, with the teams tried."""

    def __init__(self, split: str) -> None:
        self._split = split
        self._tasks: dict[Task, dict[str, Member]] = {}
        self._size = 0

    def take(self, member: Member, trial: Trial) -> Sequence[str]:
        """Add a team's trial; return the teams that drop an earlier task because of it."""
        self._add(member, task_of(trial))
        dropped: list[str] = []
        while self._size > MOST and len(self._tasks) > 1:
            task = next(iter(self._tasks))
            teams = self._tasks.pop(task)
            self._size -= len(teams)
            for team in teams.values():
                team.pass_by(self._split, task)
            dropped += teams
        return dropped

    def fill(self, tasks: Iterable[Task], teams: Iterable[Member]) -> None:
        """Start with tasks in this order, and the teams that know them."""
        self._tasks = {task: {} for task in tasks}
        for team in teams:
            for (split, _), sums in team.by_task.items():
                for task in sums if split == self._split else ():
                    self._add(team, task)

    @property
    def tasks(self) -> Mapping[Task, Mapping[str, Member]]:
        """The tasks in order, each with its teams by name."""
        return self._tasks

    def _add(self, member: Member, task: Task) -> None:
        teams = self._tasks.setdefault(task, {})
        if member.name not in teams:
            self._size += 1
            teams[member.name] = member
