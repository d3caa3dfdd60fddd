"""Attributions as the command makes them: begun or found in a folder, and brought on from there."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.command.evaluating import words_typed
from coterie.benchmarks.command.progress import Progress
from coterie.benchmarks.evaluation.samples import Sample
from coterie.schema.values.errors import InputError
from coterie.schema.values.terminal import counted, speakable

from .attributing import Attributing
from .results import begin, write_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from coterie.operators.command.arguments import OperatorHost
    from coterie.operators.core.meta import MetaModel
    from coterie.runtime.record.journal import Journal
    from coterie.runtime.runs.services import Services
    from coterie.runtime.runs.services import Setting as Way
    from coterie.schema.host.models import Model

    from .attributing import Attributed
    from .published import Labelled
    from .results import Setting


@dataclass(frozen=True, kw_only=True)
class Working:
    """Attributions on their way, whatever ends them. The same command goes on.

    Attributes:
        everything: All traces of the data.
        labels: Those that are chosen.
        methods: The methods that are chosen, by name.
        setting: With what they are made.
        host: The model, and what it may cost.
        folder: Where they are kept.
        workers: How many are at work at once.
        allow_unpriced: Under a cap on USD, also call models whose price is unknown.
        quiet: Show no progress.
    """

    everything: Sequence[Labelled]
    labels: Sequence[Labelled]
    methods: Sequence[str]
    setting: Setting
    host: OperatorHost
    folder: Path
    workers: int
    allow_unpriced: bool
    quiet: bool

    def to_the_end(self) -> int:
        """Make what is missing, and give the exit code.

        Raises:
            InputError: The model is unknown, or the folder is of another setting.
            RunError: The provider fails again and again.
            LimitError: The budget is used up.
        """
        from coterie.runtime.command.loading import fetch_embedded
        from coterie.runtime.command.signals import same_command, to_the_end

        fetch_embedded([self._model])
        return to_the_end(self._made(), same_command)

    @property
    def _model(self) -> Model:
        return model_of(self.host)

    async def _made(self) -> int:
        from coterie.runtime.record.journal import Journal
        from coterie.runtime.runs.services import Setting as Way
        from coterie.runtime.runs.services import open_services

        way = Way(
            seed=self.host.seed,
            budget=self.host.budget,
            allow_unpriced=self.allow_unpriced,
            cache=self.host.cache,
        )
        async with open_services(self.host.catalogue, way) as services:
            await services.gateway.prepare([self.host.meta_model], priced=way.must_be_priced)
            begin(self.folder, self.setting, self._model, " ".join(words_typed()))
            with Journal.open(self.folder) as journal:
                return await self._attributed(services, way, journal)

    async def _attributed(self, services: Services, way: Way, journal: Journal) -> int:
        """Make what is missing; the folder has what there is, whatever ends it."""
        expected = len(self.labels) * len(self.methods)
        if not self.quiet:
            methods = counted(len(self.methods), "method")
            of = f"{counted(len(self.labels), 'trace')} by {methods}"
            click.echo(speakable(f"{of}; {self.folder}{os.sep}"), err=True)
        progress = Progress(total=expected, quiet=self.quiet)
        attributing = Attributing(
            everything=self.everything,
            labels=self.labels,
            methods=self.methods,
            with_answer=self.setting.with_answer,
            meta_model=self._meta(services, way, journal),
            journal=journal,
            workers=self.workers,
            on_attributed=lambda attributed: progress(_sample(attributed)),
        )
        progress.earlier = sum(1 for _ in attributing.done())
        try:
            await attributing.to_the_end()
        finally:
            progress.end()
            write_lines(self.folder, attributing.attributed())
        return 1 if progress.unscored else 0

    def _meta(self, services: Services, way: Way, journal: Journal) -> MetaModel:
        from coterie.operators.core.meta import MetaModel
        from coterie.runtime.values.budget import Budget

        budget = Budget(way.budget, name="the attribution")
        budget.deposit(journal.spent(), seconds=journal.seconds)
        meta = MetaModel(
            calls=services.calls(journal=journal, scrubber=services.scrubber(os.environ)),
            catalogue=self.host.catalogue,
            ceiling=self.host.ceiling(),
            model=self.host.meta_model,
            budget=budget,
        )
        if self.setting.view is None:
            return meta
        return replace(meta, bounds=replace(meta.limits, trace_characters=self.setting.view))


def model_of(host: OperatorHost) -> Model:
    """Find the model that judges.

    Raises:
        InputError: This host has none of that name.
    """
    model = host.catalogue.models.get(host.meta_model)
    if model is None:
        known = ", ".join(sorted(host.catalogue.models)) or "none"
        raise InputError(
            f"no model is called {host.meta_model!r}. Known: {known}. Name one: --model local"
        )
    return model


def _sample(attributed: Attributed) -> Sample:
    """Return it as progress counts things: the score is that of agents, exactly."""
    line = attributed.line()
    if attributed.error:
        return Sample(task=attributed.label.id, trial=1, status="unscored", usage=attributed.usage)
    right = float(line["right"]["agent"])
    return Sample(
        task=attributed.label.id, trial=1, status="done", score=right, usage=attributed.usage
    )
