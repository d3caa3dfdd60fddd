"""Keeps what teams have evolved on out of what they are tested on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..pool.ledger import Ledger
from ..pool.statistics import EVOLVE
from ..runtime.terminal import counted
from ..schema.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..schema.task import Task
    from ..schema.team import Team

__all__ = ["refuse_seen"]


def refuse_seen(team: Team, path: Path, tasks: Sequence[Task]) -> None:
    """Make sure that no task is one that a team, or its pool, evolved on.

    Args:
        team: The team; its lineage names the task that it was made for.
        path: Its file, perhaps in a pool.
        tasks: What it is to be tested on.

    Raises:
        InputError: Some are.
    """
    seen = _evolved_on(path)
    if team.lineage is not None and team.lineage.task:
        seen.add(team.lineage.task)
    again = [task.id for task in tasks if task.id in seen]
    if again:
        raise InputError(
            f"{path}: {counted(len(again), 'task')} of these {len(tasks)}, such as {again[0]!r},"
            " is what this team or its pool evolved on, so a score says nothing about unseen"
            " tasks. Take the other split with --split test, or say --allow-seen."
        )


def _evolved_on(path: Path) -> set[str]:
    """Give the tasks that the pool of a team file has learnt from; none where it is in no pool."""
    ledger = path.resolve().parent.parent / "ledger.jsonl"
    if not ledger.exists():
        return set()
    values = (entry.value for entry in Ledger(ledger).read())
    return {
        value["task"]
        for value in values
        if value.get("task") is not None and value.get("split", EVOLVE) == EVOLVE
    }
