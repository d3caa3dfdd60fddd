"""The resources of an evolution on its host: services, journal, budget, pool, memory, recipe."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...pool.memory.memory import open_memory
from ...pool.view import Views
from ...runtime.gateway.stream_sink import unheard
from ...runtime.messages.recall import nothing
from ...runtime.record.journal import Journal
from ...runtime.runs.services import open_services
from ...runtime.values.budget import Budget
from .strategy import strategy_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from ...pool.memory.memory import Memory
    from ...pool.teams.pool import Pool
    from ...pool.view import PoolView
    from ...runtime.gateway.sharing import Shared
    from ...runtime.runs.services import Services, Setting
    from ...runtime.scoring.form_check import FormCheck
    from ...runtime.scrubbing.scrubber import Scrubber
    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.ceiling import CapabilityPolicy
    from ...schema.loading.recipe import Recipe
    from .progress_check import ProgressCheck

HERE = Path()
BEFORE = -1
"""The number before the first episode."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvolutionContext:
    """The resources of an evolution.

    Attributes:
        memory: Searches learnt entries; None if neither the strategy nor an agent needs it.
        beside: The folder that paths in the recipe's settings are relative to.
        forms: Stops work if the scorer cannot read answers; None: never.
        progress: Stops an evolution whose operators get no valid answers; None: never.
    """

    name: str
    recipe: Recipe
    catalogue: Catalogue
    ceiling: CapabilityPolicy
    services: Services
    journal: Journal
    scrubber: Scrubber
    budget: Budget
    pool: Pool
    memory: Memory | None
    beside: Path = HERE
    forms: FormCheck | None = None
    progress: ProgressCheck | None = None

    def view(self) -> PoolView:
        """Return the current pool, for a reader that learns nothing.

        Raises:
            StorageError: The ledger is damaged.
        """
        return self._view(sys.maxsize)

    def before(self) -> PoolView:
        """Return the pool as it was before the evolution's first task."""
        return self._view(BEFORE)

    def _view(self, last: int) -> PoolView:
        fold = strategy_of(self.recipe.strategy).fold(self.recipe.settings)
        return Views(self.pool, self.name, self.memory, fold).upto(last)


@asynccontextmanager
async def open_stage(
    *,
    name: str,
    recipe: Recipe,
    catalogue: Catalogue,
    ceiling: CapabilityPolicy,
    setting: Setting,
    pool: Pool,
    folder: Path,
    embedder: str | None = None,
    recalls: bool = False,
    beside: Path = HERE,
    forms: FormCheck | None = None,
    progress: ProgressCheck | None = None,
    shared: Shared | None = None,
    say: Callable[[str], None] = unheard,
) -> AsyncGenerator[EvolutionContext]:
    """Open the resources of an evolution; leaving the block closes them.

    The servers of embedded models start with the first question that is not recorded.

    Args:
        setting: How its runs are made; its budget covers everything together.
        recalls: Whether agents of teams recall learnt entries. If so, there is a memory even if the
            strategy needs none.
        say: Receives the progress of batches, if calls wait for any.
    """
    async with open_services(catalogue, setting, shared=shared, lazy=True) as opened:
        with Journal.open(folder) as journal, pool.following(journal.flush_now):
            async with opened.collecting(journal, say):
                budget = Budget(setting.budget, name="the evolution")
                budget.deposit(journal.spent(), seconds=journal.seconds)
                memory = None
                if recalls or "memory" in strategy_of(recipe.strategy).needs(recipe.settings):
                    memory = open_memory(pool, embedder=embedder, models=catalogue.models)
                # Episodes with a memory set their own recaller.
                services = replace(opened, recaller=nothing)
                yield EvolutionContext(
                    name=name,
                    recipe=recipe,
                    catalogue=catalogue,
                    ceiling=ceiling,
                    services=services,
                    journal=journal,
                    scrubber=services.scrubber(os.environ),
                    budget=budget,
                    pool=pool,
                    memory=memory,
                    beside=beside,
                    forms=forms,
                    progress=progress,
                )
