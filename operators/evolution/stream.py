"""All tasks of an evolution at once, for strategies that compare teams on many tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...runtime.gateway.stream_sink import unheard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ...schema.team.task import Task
    from .context import EvolutionContext


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskStream:
    """The resources of a strategy that works on all tasks together.

    Attributes:
        held_out: Tasks for the final decision; empty: the strategy holds out some of its tasks.
    """

    context: EvolutionContext
    tasks: Sequence[Task]
    folder: Path
    held_out: Sequence[Task] = ()
    say: Callable[[str], None] = unheard
