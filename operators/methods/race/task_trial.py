"""A run of a team on a task, with its score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ....runtime.agents.outcomes import Run
    from ....runtime.values.score import Score
    from ....schema.team.task import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskTrial:
    """A run of a team on a task, with its score.

    Attributes:
        task: The task.
        run: The run.
        score: Its score.
    """

    task: Task
    run: Run
    score: Score
