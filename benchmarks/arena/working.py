"""An arena at work: open cells are done, some side by side, and the table is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from ...operators.command.expected import evolution, evolved_team
from ...runtime.runs.estimate import Estimate, Range
from ...runtime.values.terminal import counted, speakable
from ...runtime.values.together import by_workers
from ...runtime.values.usage import Usage
from ...schema.values.errors import CoterieError, InputError
from .figures import arena_value
from .tables import write_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ...schema.host.catalogue import Catalogue
    from .cells import Cell

UNITS = ("calls", "tokens", "usd")


@dataclass(eq=False, kw_only=True)
class Working:
    """An arena on its way. The same command resumes.

    Attributes:
        cells: All cells of the arena.
        own: Those that this process may work on.
        folder: The folder of the results.
        known: What this host offers.
        options: What the user wrote.
        jobs: How many cells are worked on at the same time.
    """

    cells: Sequence[Cell]
    own: Sequence[Cell]
    folder: Path
    known: Catalogue
    options: Mapping[str, Any]
    jobs: int
    _stopped: dict[str, CoterieError] = field(default_factory=dict[str, CoterieError])

    @property
    def open(self) -> list[Cell]:
        """The cells of this process that are not done.

        Raises:
            InputError: A cell learnt under another cap.
        """
        return [cell for cell in self.own if not cell.is_done]

    def check(self) -> None:
        """Find what is wrong with open cells, before anything is made or spent.

        Raises:
            InputError: Something is.
        """
        for cell in self.open:
            cell.evolving(self.known, self.options).check()

    async def work(self) -> int:
        """Do what is open; return the exit code of the worst that stopped a cell."""
        await by_workers(self.open, self._do, self.jobs)
        for name, error in self._stopped.items():
            click.echo(speakable(f"stopped: {name}: {error}"), err=True)
        return max((error.exit_code for error in self._stopped.values()), default=0)

    async def _do(self, cell: Cell) -> None:
        """Bring a cell to its end; what stops it leaves the others at work."""
        evolving = cell.evolving(self.known, self.options)
        self._say(f"{cell}: {cell.pool}")
        try:
            evolving.check()
            cell.arena.streams[cell.stream].prepare(cell.tasks)
            evolving.fetch()
            await evolving.work()
        except CoterieError as error:
            self._stopped[str(cell)] = error

    def write(self) -> Mapping[str, Any]:
        """Write the table of all cells that are done, and return its value."""
        value = arena_value(self.cells)
        write_files(self.folder, value)
        return value

    def plan(self) -> str:
        """Return what the open cells will take: as caps bound it, and as done cells show it."""
        cells = self.open
        lines = [f"{counted(len(self.own), 'cell')}, {len(self.own) - len(cells)} done"]
        if cells:
            bounds = [f"{unit} {most:,.15g}" for unit, most in _capped(cells).items()]
            lines.append(f"caps: at most {', '.join(bounds)}")
            estimate = sum(map(self._estimate, cells), Estimate())
            lines.append(f"estimate without caps: {estimate}")
            lines += self._from_pilot(cells)
        return "\n".join(lines)

    def _estimate(self, cell: Cell) -> Estimate:
        evolving = cell.evolving(self.known, self.options)
        start, repeats = evolving.start, cell.arena.repeats
        often = Range(least=repeats, most=2 * repeats)  # the result, and perhaps its control
        learning = evolution(start, evolving.tasks) if evolving.tasks else Estimate()
        return learning + evolved_team(start, cell.tasks.test) * often

    def _from_pilot(self, cells: Sequence[Cell]) -> Iterator[str]:
        """Expect of each open cell what the done ones of its method took, else what any took."""
        pilot = {cell: cell.spending for cell in self.cells if cell.is_done}
        if not pilot:
            yield "no cell is done yet: --limit 1 or more makes a pilot, which shows the hours, too"
            return
        totals, seconds = dict.fromkeys(UNITS, 0.0), 0.0
        for cell in cells:
            alike = [key for key in pilot if key.method.name == cell.method.name] or [*pilot]
            for key in alike:
                learning, testing, took = pilot[key]
                usage = learning + testing
                for unit in UNITS:
                    totals[unit] += getattr(usage, unit) / len(alike)
                seconds += took / len(alike)
        spent = sum((learning + testing for learning, testing, _ in pilot.values()), Usage())
        price = f"${totals['usd']:,.4f}" if not spent.unpriced_calls else "USD unknown"
        hours = seconds / 3600 / min(self.jobs, len(cells))
        yield (
            f"as {counted(len(pilot), 'done cell')} took: {totals['calls']:,.0f} calls,"
            f" {totals['tokens']:,.0f} tokens, {price}, {hours:.2f} hours"
        )

    def _say(self, text: str) -> None:
        if not self.options["quiet"]:
            click.echo(speakable(text), err=True)


def _capped(cells: Sequence[Cell]) -> dict[str, float]:
    """Return what cells may spend together, by unit."""
    caps = [cap.value() for cell in cells for cap in _caps(cell)]
    return {unit: sum(cap[unit] for cap in caps) for unit in caps[0]}


def _caps(cell: Cell) -> Iterator[Any]:
    if cell.method.learns:
        yield cell.arena.cap
    yield cell.arena.test_cap


def folder_of(path: Path, parent: Path | None) -> Path:
    """Return where an arena's results are kept, and make the folder.

    Raises:
        InputError: It cannot be made.
    """
    from pathlib import Path

    folder = parent or Path("results") / f"arena-{path.stem}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: results cannot be kept there: {error.strerror}.") from None
    return folder
