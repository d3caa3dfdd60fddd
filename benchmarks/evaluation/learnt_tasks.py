"""Keeps tasks that teams evolved on or recall out of their tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...pool.memory.learnt_tasks import LearntTasks
from ...schema.team.task import Task
from ...schema.team.team import Team

OTHERS = "Take the other split with --split test, or say --allow-seen."


def refuse_learnt(
    tasks: Sequence[Task],
    benchmark: str,
    *,
    team: Team | None = None,
    path: Path | None = None,
    pool: Path | None = None,
) -> None:
    """Check that no task is one that a team, or a pool, has learnt from.

    Args:
        tasks: The tasks to test on.
        team: The team; its lineage names the task that it was made for.
        path: Its file, perhaps in a pool.
        pool: The pool that its agents recall from, or that a strategy uses.
    """
    learnt = LearntTasks()
    if team is not None and team.lineage is not None and team.lineage.task:
        learnt |= LearntTasks(
            ids={team.lineage.task: f"the task of the lineage of {path or team.name}"}
        )
    if path is not None:
        learnt |= LearntTasks.by(path.resolve().parent.parent)  # empty if the file is in no pool
    if pool is not None:
        learnt |= LearntTasks.by(pool)
    learnt.refuse(tasks, OTHERS, places=places_in(benchmark, tasks), noun="task")


def places_in(benchmark: str, tasks: Sequence[Task]) -> Mapping[str, str]:
    """Return, by task id, the benchmark and the task's number in it."""
    return {task.id: f"{benchmark}, number {at}" for at, task in enumerate(tasks, start=1)}
