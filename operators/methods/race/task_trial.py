"""A run of a team on a task, with its score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....runtime.agents.outcomes import Run, Score
    from ....schema.team.task import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskTrial:
    """A run of a team on a task, with its score.

    Attributes:
        credits: The score that each agent's output would have had as the answer, if known.
    """

    task: Task
    run: Run
    score: Score
    credits: Mapping[str, float] = field(default_factory=dict[str, float])
