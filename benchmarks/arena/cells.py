"""Cells of an arena: an evolution in its own pool, and the test of its frozen result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...operators.command.evolving import Evolving, Testing
from ...operators.evolution.folder import frozen_under
from ...operators.evolution.lines import lines_in
from ...operators.evolution.strategy import strategy_of
from ...operators.report.frozen import HELD_OUT, read_figures, scores_of
from ...operators.report.heldout import PLACE
from ...pool.population.evolutions import usage_of
from ...pool.values.layout import EVOLUTIONS
from ...runtime.record.journal import FILE, Journal, is_held
from ...runtime.runs.record import read_value
from ...runtime.values.usage import Usage
from ...runtime.view.links import slug
from ...schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ...runtime.gateway.sharing import Shared
    from ...schema.host.catalogue import Catalogue
    from ..papers.streams import PaperStream
    from .declared import Arena, Method

NAME = "cell"
"""The name of a cell's evolution in its pool."""
CELLS = "cells"
Scores = dict[str, list[float]]


@dataclass(frozen=True, kw_only=True, slots=True)
class CellOutcome:
    """The result of a cell.

    Attributes:
        deployed: The name of the tested team.
        scores: Its scores of each test task, by the task's id.
        control: The scores of the same without lessons.
        begun: The share of the cap after which the result was available.
        dropped: The number of invalid proposals of operators.
        unscored: The number of trials of the test without a score.
        failed: The number of trials without an answer.
    """

    deployed: str
    scores: Scores
    control: Scores
    begun: float
    dropped: int
    unscored: int
    failed: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """A method on a stream with a seed."""

    arena: Arena = field(repr=False)
    method: Method
    stream: str
    seed: int
    pool: Path

    def __str__(self) -> str:
        return f"{self.method.name}, {self.stream}, seed {self.seed}"

    @property
    def folder(self) -> Path:
        """The folder of its evolution."""
        return self.pool / EVOLUTIONS / NAME

    @property
    def tasks(self) -> PaperStream:
        """Its tasks."""
        return self.arena.streams[self.stream].tasks(self.seed)

    @property
    def caps(self) -> list[Mapping[str, float]]:
        """Its caps: for learning, if it learns, and for its test."""
        test = self.arena.test_cap.value()
        return [self.arena.cap.value(), test] if self.method.learns else [test]

    @property
    def is_done(self) -> bool:
        """Whether all its test tasks have all their trials.

        Raises:
            InputError: It learnt under another cap.
        """
        under, cap = frozen_under(self.folder), self.arena.cap.value()
        if under not in (None, cap):
            raise InputError(
                f"{self.folder} learnt under the cap {under}, but the arena now has {cap}. Keep the"
                " cap, or name another folder: --results."
            )
        trials = self._held_out.get("trials", [])
        tested = {(trial["task"], trial["repeat"]) for trial in trials}
        repeats = range(1, self.arena.repeats + 1)
        return tested == {(task.id, repeat) for task in self.tasks.held_out for repeat in repeats}

    @property
    def is_settled(self) -> bool:
        """Whether it is done and no process works on it, so that its figures are final."""
        return self.is_done and not is_held(self.folder)

    @property
    def _held_out(self) -> Mapping[str, Any]:
        path = self.folder / HELD_OUT
        return read_value(path) if path.exists() else {}

    def evolving(
        self, catalogue: Catalogue, options: Mapping[str, Any], shared: Shared | None = None
    ) -> Evolving:
        """Return the evolution with its test.

        Args:
            options: The user's options: where code runs, the cache, the embedder.
            shared: The models shared by all cells.
        """
        cap = ",".join(f"{unit}={value:.15g}" for unit, value in self.arena.cap.value().items())
        own = {"name": NAME, "budget": cap, "yes": True, "allow_zeros": True, "quiet": True}
        others = {"use_git": False, "dry_run": False, "batch": False, "model": ()}
        recipe = replace(self.method.recipe, seed=self.seed)
        return Evolving(
            recipe_file=self.method.file,
            recipe=recipe,
            tasks=self.tasks.tasks if self.method.learns else (),
            pool_folder=self.pool,
            catalogue=catalogue,
            options={**options, **own, **others},
            shared=shared,
            testing=Testing(
                tasks=self.tasks.held_out,
                repeats=self.arena.repeats,
                workers=recipe.workers,
                caps=self.arena.test_cap,
            ),
        )

    @cached_property
    def spending(self) -> tuple[Usage, Usage, float]:
        """The consumption and the seconds of learning and testing.

        It is empty while another process works on it.
        """
        if not (self.folder / FILE).exists() or is_held(self.folder):
            return Usage(), Usage(), 0.0
        with Journal.open(self.folder, replaying=True) as journal:
            testing = journal.spent(PLACE)
            return journal.spent() - testing, testing, journal.seconds

    @cached_property
    def outcome(self) -> CellOutcome:
        """The result.

        Raises:
            InputError: A file is damaged.
        """
        figures = read_figures(self.folder)
        if figures is None:
            raise InputError(f"{self.folder} has not been tested yet.")
        deployed, trials = figures.deployed["team"], self._held_out["trials"]
        own = [trial for trial in trials if trial["team"] == deployed]
        learning, _, _ = self.spending
        status = strategy_of(self.method.recipe.strategy).status(self.folder)
        lost = status.value().get("dropped", 0) if status else 0
        return CellOutcome(
            deployed=deployed,
            scores=scores_of(deployed, trials),
            control=scores_of(figures.control or deployed, trials),
            begun=min(1.0, self._share(self._until(deployed, learning))),
            dropped=lost + sum(len(line["dropped"]) for line in lines_in(self.folder)),
            unscored=sum(trial["score"] is None for trial in own),
            failed=sum(not trial["executed"] for trial in own),
        )

    def _until(self, deployed: str, learning: Usage) -> Usage:
        """Return the spending before the deployed team first answered a task, or all of it."""
        spent = Usage()
        for line in lines_in(self.folder):
            spent = sum(usage_of(line), spent)
            if line.get("team") == deployed:
                return spent
        return learning

    def _share(self, usage: Usage) -> float:
        """Return a usage as a share of the cap, by the unit with the largest share."""
        cap = self.arena.cap.value()
        return max((getattr(usage, unit) / most for unit, most in cap.items()), default=0.0)


def cells_of(arena: Arena, folder: Path) -> Iterator[Cell]:
    """Yield all cells: for each seed, every method on every stream."""
    for seed in range(arena.seeds):
        for stream in arena.streams:
            for method in arena.methods:
                place = folder / CELLS / slug(method.name) / slug(stream) / f"seed_{seed}"
                yield Cell(arena=arena, method=method, stream=stream, seed=seed, pool=place)
