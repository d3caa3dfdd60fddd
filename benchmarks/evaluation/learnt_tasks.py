"""Keeps tasks that teams evolved on or recall out of their tests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...pool.values.layout import LEDGER
from ...schema.team.task import Task
from ...schema.team.team import Team

OTHERS = "Use the other split with --split test, or add --allow-seen."


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
        team: The team; its lineage names the task that it was made for.
        path: Its file, perhaps in a pool.
        pool: The pool that its agents recall from, or that a strategy uses.
    """
    ids = dict[str, str]()
    if team is not None and team.lineage is not None and team.lineage.task:
        ids = {team.lineage.task: f"the task of the lineage of {path or team.name}"}
    # A team's file need not be in a pool.
    folders = [*([path.resolve().parent.parent] if path else ()), *([pool] if pool else ())]
    pools = [folder for folder in folders if os.path.lexists(folder / LEDGER)]
    if not ids and not pools:
        return
    from ...pool.memory.learnt_tasks import LearntTasks

    learnt = LearntTasks(ids=ids)
    for folder in pools:
        learnt |= LearntTasks.by(folder)
    learnt.refuse(tasks, OTHERS, places=places_in(benchmark, tasks), noun="task")


def places_in(benchmark: str, tasks: Sequence[Task]) -> Mapping[str, str]:
    """Return, by task id, the benchmark and the task's number in it."""
    return {task.id: f"{benchmark}, number {at}" for at, task in enumerate(tasks, start=1)}
