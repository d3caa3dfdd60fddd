"""What comparisons in simulated landscapes have in common: options, trials side by side, intervals.

The unit of every interval is a landscape: its seeds are averaged first.
"""

from __future__ import annotations

import math
import os
import statistics
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import click

from coterie.operators.evolution.context import EvolutionContext
from coterie.pool.embedding import HashingEmbedder
from coterie.pool.memory.memory import Memory
from coterie.pool.memory.store import open_store
from coterie.pool.values.student import t_quantile
from coterie.runtime.jail import Jails
from coterie.runtime.runs.services import Services, Setting
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.runtime.tools import Toolbox
from coterie.runtime.values.budget import Budget
from coterie.runtime.values.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from coterie.pool.teams.pool import Pool
    from coterie.runtime.gateway import ChatRequest, Gateway
    from coterie.runtime.record.journal import Journal
    from coterie.schema.host.catalogue import Catalogue
    from coterie.schema.loading.ceiling import CapabilityPolicy
    from coterie.schema.loading.recipe import Recipe

Came = TypeVar("Came")
CHARACTERS = 4
"""In a token."""


class Interval:
    """A mean over units, and its interval of 95 % by Student's t.

    Args:
        units: One number for each unit.
    """

    def __init__(self, units: Sequence[float]) -> None:
        self.units = len(units)
        self.mean = statistics.fmean(units) if units else math.nan
        self.half = math.inf
        if len(units) > 1:
            t = t_quantile(len(units) - 1)
            self.half = t * statistics.stdev(units) / math.sqrt(len(units))

    @property
    def covers_nothing(self) -> bool:
        """Whether 0 is in it; with room for what floats lose."""
        return abs(self.mean) <= self.half + 1e-12

    def shown(self, *, signed: bool = True) -> str:
        """Write it as a cell of a table."""
        if not self.units:
            return "-"
        low, high = self.mean - self.half, self.mean + self.half
        sign = "+" if signed else ""
        cell = f"{self.mean:{sign}.3f}"
        if not math.isinf(self.half):
            cell += f" [{low:{sign}.3f}, {high:{sign}.3f}]"
        return cell.replace("-0.000", "0.000").replace("+0.000", "0.000")


def matching(names: Iterable[str], rows: Sequence[str]) -> set[str]:
    """Find the names that one of the patterns matches."""
    return {name for name in names if any(fnmatchcase(name, row) for row in rows)}


def none_matches(rows: Sequence[str], names: Iterable[str]) -> click.BadParameter:
    """Say that no row has such a name, and which there are."""
    known = "; ".join(dict.fromkeys(names))
    return click.BadParameter(
        f"no row matches {', '.join(rows)!r}. Rows: {known}.", param_hint="--rows"
    )


def in_order(heard: Mapping[str, Sequence[str]]) -> tuple[list[str], str] | None:
    """Put agents in an order in which each hears earlier ones only.

    Args:
        heard: Of whom each hears.

    Returns:
        The order, and the one of whom nobody hears; None where some hear in a circle, or not all
        come to one.
    """
    silent = {*heard} - {ear for ears in heard.values() for ear in ears}
    try:
        order = [*TopologicalSorter(heard).static_order()]
    except CycleError:
        return None
    return (order, silent.pop()) if len(silent) == 1 else None


def services_of(gateway: Gateway, seed: int) -> Services:
    """Return what runs need where a gateway is all that there is: no tools, no cache."""
    return Services(
        setting=Setting(seed=seed), gateway=gateway, toolbox=Toolbox(), jails=Jails(), cache=None
    )


def stage_of(
    recipe: Recipe,
    services: Services,
    journal: Journal,
    pool: Pool,
    *,
    catalogue: Catalogue,
    ceiling: CapabilityPolicy,
    memory: Memory | None = None,
    name: str = "trial",
) -> EvolutionContext:
    """Return what an evolution has where all that it asks is simulated: no secrets, no budget."""
    return EvolutionContext(
        name=name,
        recipe=recipe,
        catalogue=catalogue,
        ceiling=ceiling,
        services=services,
        journal=journal,
        scrubber=Scrubber(frozenset()),
        budget=Budget(),
        pool=pool,
        memory=memory,
    )


def memory_of(pool: Pool) -> Memory:
    """Open a pool's memory without any model: tasks are compared by their words."""
    embedder = HashingEmbedder()
    return Memory(pool, embedder, open_store(pool.folder, embedder.name, {}))


@contextmanager
def in_memory() -> Generator[Path]:
    """Give a folder that is in memory, where this host has such, and gone afterwards."""
    memory = Path("/dev/shm")  # noqa: S108 - a private folder in it
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as passing:
        yield Path(passing)


def side_by_side(
    work: Callable[..., Came], todo: Sequence[tuple[Any, ...]], jobs: int
) -> Iterator[Came]:
    """Do work, side by side in processes of their own, and give the result in order.

    Args:
        work: What; a function of a module.
        todo: Its arguments, each time.
        jobs: How many processes. For one, this one does it.
    """
    if jobs == 1:
        yield from (work(*each) for each in todo)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor:
        yield from executor.map(work, *zip(*todo, strict=True))


def usage_of(request: ChatRequest, text: str) -> Usage:
    """Return what a simulated call takes, by the length of what is read and written."""
    read = sum(len(str(message["content"])) for message in request.messages)
    return Usage(
        calls=1, prompt_tokens=read // CHARACTERS, completion_tokens=len(text) // CHARACTERS
    )


def head(*cells: str) -> Iterator[str]:
    """Write the head of a table in Markdown."""
    yield row(*cells)
    yield "|---" * len(cells) + "|"


def row(*cells: str) -> str:
    """Write a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def apart(*several: Iterator[str]) -> Iterator[str]:
    """Put a line between tables."""
    for number, texts in enumerate(several):
        if number:
            yield ""
        yield from texts
