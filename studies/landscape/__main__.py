"""Compares ways to evolve in landscapes and prints the tables of docs/landscape.md."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from coterie.schema.command import Command

from ..simulated import matching, none_matches, side_by_side, sized
from . import tables
from .landscapes import HAND_MADE, NICHES, drawn, level
from .names import MOST_AGENTS
from .rows import CROSSINGS, HAND, LEVEL, ROWS, TOLD
from .trials import Trial, evolve
from .world import best_shape, puzzles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .landscapes import Landscape

LEVEL_TITLE = "Level landscapes: every team is equally good"
DRAWN_TITLE = "Drawn landscapes"
CROSSED_TITLE = "Drawn landscapes: crossover, by parents and by breadth of mutations"
HAND_TITLE = "The landscape made by hand"
SETS: dict[str, tuple[Trial, ...]] = {
    LEVEL_TITLE: LEVEL,
    DRAWN_TITLE: ROWS,
    CROSSED_TITLE: CROSSINGS,
    HAND_TITLE: HAND,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Job:
    """One evolution."""

    title: str
    trial: Trial
    landscape: Landscape
    seed: int
    calls: int

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Of `evolve`."""
        return self.trial, self.landscape, self.seed, self.calls

    @property
    def unit(self) -> str:
        """What intervals are over: the landscape, or, where there is only one, the seed."""
        return f"seed {self.seed}" if self.landscape == HAND_MADE else self.landscape.name


@click.command(cls=Command)
@sized(click.IntRange(min=40), 300)
def main(jobs: int, as_json: bool, **sizes: Any) -> None:
    """Compare ways to evolve; print Markdown.

    Each trial makes as many model calls, over as many tasks as they suffice for. The same options
    print the same bytes.
    """
    todo = list(_jobs(**sizes))
    if not todo:
        raise none_matches(sizes["rows"], (one.name for rows in SETS.values() for one in rows))
    found: dict[str, tables.Found] = {title: {} for title in SETS}
    came = side_by_side(evolve, [one.arguments for one in todo], jobs)
    for job, outcome in zip(todo, came, strict=True):
        worlds = found[job.title].setdefault(job.trial.name, {})
        if job.unit not in worlds:
            click.echo(f"{job.title}: {job.trial.name}: {job.unit}", err=True)
        worlds.setdefault(job.unit, []).append(outcome)
    optimum = _optimum() if "*" in sizes["rows"] else None
    if as_json:
        click.echo(json.dumps({"optimum": optimum, **found}, default=asdict, indent=1))
    else:
        click.echo("\n".join(_page(found, optimum)))


def _jobs(landscapes: int, seeds: int, calls: int, rows: Sequence[str]) -> Iterator[_Job]:
    """List the evolutions, landscape by landscape: what is known of one is kept in a process."""
    for title, make in _MAKERS.items():
        wanted = matching((one.name for one in SETS[title]), rows)
        wanted |= {tables.reference(name) for name in wanted}
        trials = [one for one in SETS[title] if one.name in wanted]
        worlds = [(make(each // seeds), each) for each in range(landscapes * seeds)]
        if title == HAND_TITLE:
            worlds = [(HAND_MADE, seed) for seed in range(max(2, landscapes // 2))]
        for landscape, seed in worlds:
            for trial in trials:
                yield _Job(title=title, trial=trial, landscape=landscape, seed=seed, calls=calls)


_MAKERS: dict[str, Callable[[int], Landscape]] = {
    LEVEL_TITLE: level,
    DRAWN_TITLE: drawn,
    CROSSED_TITLE: drawn,
    HAND_TITLE: lambda _number: HAND_MADE,
}


def _optimum() -> dict[str, float]:
    """Find what the best team of each niche is worth where the landscape is made by hand."""
    known, fresh = (puzzles(HAND_MADE, one) for one in ("known", "fresh"))
    best = {niche: best_shape(known, niche, MOST_AGENTS) for niche in NICHES}
    return {niche: fresh.value(shape, niche) for niche, shape in best.items()}


def _page(found: dict[str, tables.Found], optimum: dict[str, float] | None) -> Iterator[str]:
    """Write all tables."""
    for title, rows in found.items():
        if rows:
            yield f"\n## {title}\n"
            yield from _section(title, rows)
    if optimum is not None:
        yield "\n| niche | best team of at most four agents |"
        yield "|---|---|"
        for niche, value in optimum.items():
            yield f"| {niche} | {value:.3f} |"


def _section(title: str, rows: tables.Found) -> Iterator[str]:
    names = [*rows]
    told = [one for one in names if one in TOLD or one.endswith(", crossover")]
    if title == CROSSED_TITLE:
        pairs = [one.removesuffix(", crossover") for one in names if one.endswith(", crossover")]
        yield from tables.crossings(rows, [one for one in pairs if f"{one}, no crossover" in rows])
    else:
        pairs = [(one, tables.reference(one)) for one in names if tables.reference(one) != one]
        yield from tables.values(rows, names)
        yield ""
        yield from tables.differences(rows, pairs)
        if title == LEVEL_TITLE:
            yield f"\n{tables.covering(rows, pairs, told)}"
    yield ""
    yield from tables.gains(rows, told)


if __name__ == "__main__":
    main()
