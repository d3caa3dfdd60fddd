"""Several evolutions that differ only in their seed, with one report and one budget."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import click

from ...pool.folder.own_files import refuse_link
from ...pool.values.layout import LEDGER
from ...pool.values.student import t_interval
from ...runtime.command.spending import exporting
from ...runtime.values.usage import Usage
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, speakable, with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .evolving import Evolving
    from .telling import EvolutionStatus


@dataclass(eq=False)
class Several:
    """Several evolutions in progress, one after the other."""

    evolutions: Sequence[Evolving]

    @classmethod
    def of(cls, evolving: Evolving, seeds: int) -> Self:
        """Repeat an evolution with consecutive seeds, each in its own pool inside its pool folder.

        Raises:
            InputError: The pool folder is itself a pool, or holds a link.
        """
        folder, recipe = evolving.pool_folder, evolving.recipe
        if (folder / LEDGER).exists():
            raise InputError(f"{folder} is a pool. --seeds creates pools inside a folder.")
        numbers = range(recipe.seed, recipe.seed + seeds)
        for number in numbers:
            refuse_link(folder / f"seed_{number}")
        return cls(
            [
                replace(
                    evolving,
                    recipe=replace(recipe, seed=number),
                    pool_folder=folder / f"seed_{number}",
                )
                for number in numbers
            ]
        )

    def to_the_end(self) -> int:
        """Evolve and test all of them, print the report, and return the exit code."""
        from ...runtime.command.signals import same_command, stopped_in_order, to_the_end

        for evolution in self.evolutions:
            evolution.check()
        if self.evolutions[0].options["dry_run"]:
            for evolution in self.evolutions:
                evolution.foretell()
            return 0
        show = self._show
        with exporting(self.evolutions[0].options) as telemetry:
            for evolution in self.evolutions:
                evolution.telemetry = telemetry
                evolution.fetch()
            code = stopped_in_order(
                lambda: to_the_end(self._work(), same_command), self._how_to_go_on, show=show
            )
        if code == 0:
            show()
        return code

    def _how_to_go_on(self) -> str:
        """Return the command that resumes the interrupted evolution, and thus all."""
        from ...runtime.command.signals import same_command

        begun = [evolution for evolution in self.evolutions if evolution.budget is not None]
        return begun[-1].how_to_go_on() if begun else same_command()

    async def _work(self) -> int:
        for evolution in self.evolutions:
            if not evolution.options["quiet"]:
                click.echo(
                    f"seed {evolution.recipe.seed}: {speakable(str(evolution.pool_folder))}",
                    err=True,
                )
            others = [_spent(peer.folder) for peer in self.evolutions if peer is not evolution]
            usage = sum((spent for spent, _ in others), Usage())
            evolution.elsewhere = usage, sum(seconds for _, seconds in others)
            await evolution.work()
        return 0

    def _show(self) -> None:
        from ..evolution.folder import MANIFEST
        from ..report.rows import rows, write_csv
        from .telling import EvolutionStatus

        begun = [
            evolution for evolution in self.evolutions if (evolution.folder / MANIFEST).exists()
        ]
        if not begun:
            return
        options = begun[0].options
        if options.get("csv"):
            seeded = [
                {"seed": evolving.recipe.seed, **row}
                for evolving in begun
                for row in rows(evolving.pool_folder, evolving.name)
            ]
            write_csv(options["csv"], seeded)
        pairs = [
            (evolving.recipe.seed, EvolutionStatus.of(evolving.pool_folder, evolving.name))
            for evolving in begun
        ]
        value = over_seeds(pairs)
        click.echo(dumps(value, indent=2) if options["as_json"] else speakable(_text(value)))


def over_seeds(statuses: Sequence[tuple[int, EvolutionStatus]]) -> dict[str, Any]:
    """Return the summary of evolutions that differ in their seed."""
    held_out = [status.held_out for _, status in statuses if status.held_out is not None]
    return {
        "held_out": _mean([figures.deployed["score"] for figures in held_out]),
        "gain": _mean([figures.gain for figures in held_out]),
        "online": _mean([status.report.score for _, status in statuses]),
        "chosen_by": statuses[0][1].chosen_by,
        "seeds": [{"seed": seed, **status.value()} for seed, status in statuses],
    }


def _mean(values: Sequence[float | None]) -> dict[str, Any] | None:
    numbers = [value for value in values if value is not None]
    if not numbers:
        return None
    interval = t_interval(numbers)
    return {
        "n": len(numbers),
        "mean": statistics.fmean(numbers),
        "interval": interval and list(interval),
    }


def _spent(folder: Path) -> tuple[Usage, float]:
    from ...runtime.record.journal import FILE, Journal

    if not (folder / FILE).exists():
        return Usage(), 0.0
    with Journal.open(folder, replaying=True) as journal:
        return journal.spent(), journal.seconds


def _text(value: dict[str, Any]) -> str:
    each = value["seeds"]
    lines = [f"over {counted(len(each), 'seed')} (95 % intervals of the mean by t):"]
    named = {
        "held_out": "held out, the deployed team",
        "gain": "held out, gain over the control",
        "online": f"online, chosen by {value['chosen_by']}",
    }
    lines += [f"  {what:<48} {_shown(value[key])}" for key, what in named.items()]
    lines += ["", " seed  held out  gain    online  tasks  deployed"]
    for item in each:
        held = item["held_out"]
        score = held["teams"][0]["score"] if held else None
        best = item["best"]["team"] if item["best"] else "-"
        team = held["teams"][0]["team"] if held else best
        numbers = (score, held["gain"] if held else None, item["score"])
        shown = "  ".join("     -" if part is None else f"{part:6.3f}" for part in numbers)
        lines.append(f"{item['seed']:>5}    {shown}  {item['tasks']:>5}  {team}")
    lines += [
        f"warning: seed {report['seed']}: {warning}"
        for report in each
        for warning in report["warnings"]
    ]
    return "\n".join(lines)


def _shown(figures: dict[str, Any] | None) -> str:
    if figures is None:
        return "-"
    if figures["interval"] is None:
        return f"{figures['mean']:.3f}"
    return with_interval(figures["mean"], figures["interval"])
