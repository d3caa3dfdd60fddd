"""All tasks of an evolution at once, for strategies that weigh teams on many tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ...schema.team.task import Task
    from .context import EvolutionContext


def _silent(_text: str, /) -> None:
    pass


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskStream:
    """What a strategy that works on all tasks together has to work with.

    Attributes:
        context: The host, journal, budget and pool.
        held_out: Tasks for the last word; empty: the strategy keeps some of the others back.
        say: Reports progress, a line at a time.
    """

    context: EvolutionContext
    tasks: Sequence[Task]
    folder: Path
    held_out: Sequence[Task] = ()
    say: Callable[[str], None] = _silent
