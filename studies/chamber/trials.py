"""Has a row work on a stream of a world, in this process, and measures what came of it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.operators.methods.evochamber.seating import STRUCTURES
from coterie.pool.teams.pool import Pool
from coterie.runtime.record.journal import Journal
from coterie.schema.loading.recipe import Recipe

from ..simulated import in_memory, memory_of, services_of, stage_of
from .gateway import Simulated
from .landscapes import drawn, level
from .names import CEILING, META, catalogue
from .outcomes import outcome_of
from .rows import row_of
from .tasks import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from .landscapes import Landscape
    from .outcomes import Outcome
    from .tasks import Order

__all__ = ["NAME", "STRATEGY", "Job", "work", "work_in"]

STRATEGY = "evochamber"
NAME = "trial"
"""Of the evolution in its pool."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A row on a stream.

    Attributes:
        world: `drawn` or `level`.
        row: The row's name.
        seed: Which world, and which stream.
        tasks: How many there are.
        order: In which order.
    """

    world: str
    row: str
    seed: int
    tasks: int
    order: Order = "mixed"

    @property
    def name(self) -> str:
        """What no other job is called."""
        return f"{self.world}/{self.row}/{self.seed}/{self.tasks} {self.order}"

    @property
    def landscape(self) -> Landscape:
        """The world."""
        return drawn(self.seed) if self.world == "drawn" else level(self.seed, self.row)


def work(job: Job) -> Outcome:
    """Work on a stream; the same for the same job, but for the seconds."""
    with in_memory() as folder:
        return work_in(folder, job)


def _unheard(_line: Mapping[str, Any]) -> None:
    pass


def work_in(
    folder: Path, job: Job, on_episode: Callable[[Mapping[str, Any]], None] = _unheard
) -> Outcome:
    """Work on a stream, and leave the pool.

    Args:
        folder: Where it is left, as `pool`.
        job: What to do.
        on_episode: Told of each task that is done.
    """
    return asyncio.run(_outcome(folder, job, on_episode))


async def _outcome(
    folder: Path, job: Job, on_episode: Callable[[Mapping[str, Any]], None]
) -> Outcome:
    began, strategy, row = time.process_time(), strategy_of(STRATEGY), row_of(job.row)
    gateway = Simulated(job.landscape)
    pool = Pool.init(folder / "pool", STRUCTURES, catalogue=catalogue())
    recipe = Recipe(
        strategy=STRATEGY,
        settings=strategy.settings(**row.settings),
        seeds=STRUCTURES,
        meta_model=META,
        seed=job.seed,
    )
    with Journal.open(open_folder(pool.folder, NAME)) as journal:
        stage = stage_of(
            recipe,
            services_of(gateway, job.seed),
            journal,
            pool,
            catalogue=catalogue(),
            ceiling=CEILING,
            memory=memory_of(pool),
            name=NAME,
        )
        evolution = Evolution(
            stage=stage,
            strategy=strategy,
            tasks=tasks(job.seed, job.tasks, job.order),
            folder=pool.folder / "evolutions" / NAME,
            on_episode=on_episode,
        )
        await evolution.to_the_end()
    pool.refresh()
    seconds = time.process_time() - began
    return outcome_of(pool, job.landscape, recipe.settings, gateway.paid, seconds)
