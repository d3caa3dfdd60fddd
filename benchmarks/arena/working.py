"""Runs an arena: does open cells, several in parallel, and writes the table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ...runtime.command.loading import refuse_unused
from ...runtime.gateway.sharing import Shared
from ...runtime.values.together import by_workers
from ...runtime.values.usage import Usage
from ...schema.values.errors import CoterieError
from ...schema.values.terminal import counted, speakable
from .figures import arena_value
from .tables import write_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...schema.host.catalogue import Catalogue
    from .cells import Cell


@dataclass(eq=False, kw_only=True)
class Working:
    """An arena in progress. The same command resumes it.

    Attributes:
        own: The cells that this process may work on.
        jobs: The number of parallel cells.
    """

    cells: Sequence[Cell]
    own: Sequence[Cell]
    folder: Path
    catalogue: Catalogue
    options: Mapping[str, Any]
    jobs: int
    _codes: list[int] = field(default_factory=list[int])

    @property
    def open(self) -> list[Cell]:
        """The cells of this process that are not done."""
        return [cell for cell in self.own if not cell.is_done]

    def check(self) -> None:
        """Check cells before any of them spends."""
        used = [self.options["embedder"]]
        for cell in self.cells:
            evolving = cell.evolving(self.catalogue, self.options)
            evolving.check()
            used += [model.alias for model in evolving.start.models]
        refuse_unused(self.options["model"], used)

    async def work(self) -> int:
        """Do the open cells; return the worst exit code of a failed cell."""
        async with Shared() as shared:
            await by_workers(self.open, partial(self._do, shared), self.jobs)
        return max(self._codes, default=0)

    async def _do(self, shared: Shared, cell: Cell) -> None:
        """Complete a cell; a failure does not stop the others."""
        if not self.options["quiet"]:
            click.echo(speakable(f"{cell}: {cell.pool}"), err=True)
        evolving = cell.evolving(self.catalogue, self.options, shared)
        try:
            evolving.check()
            cell.arena.streams[cell.stream].prepare(cell.seed)
            evolving.fetch()
            await evolving.work()
        except CoterieError as error:
            click.echo(speakable(f"stopped: {cell}: {error}"), err=True)
            self._codes.append(error.exit_code)
        self.write()

    def write(self) -> Mapping[str, Any]:
        """Write the table of all completed cells, and return its value."""
        # A running cell's cached data would be outdated; settled data is read only once.
        value = arena_value([cell if cell.is_settled else replace(cell) for cell in self.cells])
        write_files(self.folder, value)
        return value

    def plan(self) -> str:
        """Return the expected consumption of open cells: caps bound it, done cells estimate it."""
        cells = self.open
        lines = [f"{counted(len(self.own), 'cell')}, {len(self.own) - len(cells)} done"]
        if cells:
            caps = [cap for cell in cells for cap in cell.caps]
            bounds = (f"{unit} {sum(cap[unit] for cap in caps):,.15g}" for unit in caps[0])
            lines += [f"caps: at most {', '.join(bounds)}", self._as_pilot(cells)]
        return "\n".join(lines)

    def _as_pilot(self, cells: Sequence[Cell]) -> str:
        """Estimate each open cell from done cells of its method, else from all done cells."""
        pilot = [cell for cell in self.cells if cell.is_done]
        if not pilot:
            return "no cell is done yet; to estimate the hours, run a pilot of N cells: --limit N"
        calls = tokens = usd = seconds = 0.0
        for cell in cells:
            alike = [item for item in pilot if item.method.name == cell.method.name] or pilot
            for learning, testing, took in (item.spending for item in alike):
                usage = learning + testing
                calls += usage.calls / len(alike)
                tokens += usage.tokens / len(alike)
                usd += usage.usd / len(alike)
                seconds += took / len(alike)
        spent = sum((usage for cell in pilot for usage in cell.spending[:2]), Usage())
        price = "USD unknown" if spent.unpriced_calls else f"${usd:,.4f}"
        hours = seconds / 3600 / min(self.jobs, len(cells))
        took = f"{calls:,.0f} calls, {tokens:,.0f} tokens, {price}, {hours:.2f} hours"
        return f"as {counted(len(pilot), 'done cell')} took: {took}"
