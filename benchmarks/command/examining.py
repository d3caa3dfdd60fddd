"""`mas-bench run --recipe`: examines a strategy with its pool's lessons."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from ...runtime.command.spending import at_once, exporting
from ...runtime.otel.many import TurnSpans, around
from ...schema.values.codec import to_value
from ...schema.values.errors import InputError
from ...schema.values.terminal import counted, speakable
from .evaluating import shown_figures, words_typed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ...operators.command.starting import EvolutionStart
    from ...runtime.otel.telemetry import Telemetry
    from ...runtime.record.trace import RunFolder
    from ...runtime.runs.estimate import Estimate
    from ...runtime.runs.services import Setting
    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.recipe import Recipe
    from ...schema.team.task import Task
    from ..evaluation.results import Request, Results

DIGITS = 8


@dataclass(eq=False)
class Examining:
    """An examination in progress, whatever ends it. The same command resumes it.

    Attributes:
        telemetry: Exports spans, if traces are wanted.
    """

    request: Request
    tasks: Sequence[Task]
    recipe_file: Path
    recipe: Recipe
    pool_folder: Path
    catalogue: Catalogue
    setting: Setting
    options: dict[str, Any]
    parent: Path
    telemetry: Telemetry | None = None

    def to_the_end(self) -> int:
        """Run missing trials, show the figures, and return the exit code."""
        from ...runtime.command.loading import fetch_embedded
        from ...runtime.command.signals import same_command, stopped_in_order, to_the_end
        from ..evaluation.benchmark import find_benchmark

        self.check()
        find_benchmark(self.request.benchmark).prepare(self.request.source, self.tasks)
        fetch_embedded(self.start.models)
        with exporting(self.options) as self.telemetry:
            if code := stopped_in_order(lambda: to_the_end(self._work(), same_command)):
                return code
        return shown_figures(self.folder.path, same_command(), self.options)

    def check(self) -> None:
        """Check everything before anything is created or spent.

        Raises:
            InputError: A check fails.
        """
        from ...pool.values.layout import LEDGER
        from ...runtime.command.loading import refuse_unused
        from ..evaluation.learnt_tasks import refuse_learnt

        if not (self.pool_folder / LEDGER).exists():
            raise InputError(f"{self.pool_folder}: no pool. Create one with mas-evolve.")
        if not self.options["allow_seen"]:
            refuse_learnt(self.tasks, self.request.benchmark, pool=self.pool_folder)
        used = [*(model.alias for model in self.start.models), self.options["embedder"]]
        refuse_unused(self.options["model"], used)

    @property
    def outlook(self) -> str:
        """A description of the planned runs."""
        return (
            f"{self.request.benchmark}: {counted(len(self.tasks), 'task')} x"
            f" {counted(self.request.trials, 'trial')} by {self.recipe.strategy} with the lessons"
            f" of {self.pool_folder}"
        )

    def estimate(self) -> Estimate:
        """Estimate the total consumption."""
        from ...operators.command.expected import evolution
        from ...runtime.runs.estimate import Range

        trials = Range(least=self.request.trials, most=self.request.trials)
        result = evolution(self.start, self.tasks) * trials
        return result.in_batches(self.start.models) if self.setting.batch else result

    @cached_property
    def start(self) -> EvolutionStart:
        """The initial state."""
        from ...operators.command.starting import prepare_start

        return prepare_start(
            recipe_file=self.recipe_file,
            recipe=self.recipe,
            tasks=self.tasks,
            pool_folder=self.pool_folder,
            host=self.catalogue,
            embedder=self.options["embedder"],
        )

    @cached_property
    def state(self) -> str:
        """The identity of recipe, tasks and pool state; shards share it."""
        from ...pool.values.layout import LEDGER
        from ...runtime.record.journal import digest

        ledger = (self.pool_folder / LEDGER).stat().st_size
        models = {model.alias: model.model for model in self.start.models}
        made_with: list[Any] = [asdict(self.recipe), to_value(self.request.unsharded), models]
        made_with += [name] if (name := self.options["embedder"]) else []
        return digest(str(self.pool_folder.resolve()), ledger, *made_with)[:DIGITS]

    @cached_property
    def folder(self) -> RunFolder:
        """The folder of its results, which is the same for the same state."""
        from ...runtime.record.trace import RunFolder
        from ...schema.values.files import make_folder
        from ...schema.values.secrets import scrubbed

        shard = self.request.choice.shard
        part = "" if shard is None else f"-{shard.which}-of-{shard.of}"
        name = f"{self.request.benchmark}-{self.recipe_file.stem}-{self.state}{part}"
        make_folder(self.parent)
        make_folder(self.parent / name)
        return RunFolder(self.parent / name, scrubbed)

    @property
    def _results(self) -> Results:
        """The results; their subject is written first."""
        from ...runtime.runs.record import MANIFEST, as_json
        from ..evaluation.provenance import digest_of, endpoint, host, versions
        from ..evaluation.results import Results

        models = {model.alias: model for model in self.start.models}
        head: dict[str, Any] = {
            "command": " ".join(words_typed()),
            "team": f"{self.recipe.strategy}, learnt",
            "content_hash": self.state,
            "models": {alias: model.model for alias, model in models.items()},
            "endpoints": {alias: endpoint(model) for alias, model in models.items()},
            "seed": self.recipe.seed,
            "versions": versions(),
            "host": host(),
            "data": digest_of(self.tasks),
            "expected": len(self.tasks) * self.request.trials,
        }
        fields = {"evaluation": to_value(self.request), "head": head, "recipe": asdict(self.recipe)}
        self.folder.write(MANIFEST, as_json({**fields, "pool": str(self.pool_folder.resolve())}))
        return Results(folder=self.folder, request=self.request, head=head, tasks=self.tasks)

    async def _work(self) -> int:
        """Run missing trials; the folder has all results so far, whatever ends the run."""
        from ...operators.evolution.context import open_stage
        from ...operators.evolution.strategy import strategy_of
        from ...runtime.record.trace import RunFolder
        from ...runtime.scoring.form_check import FormCheck
        from ..evaluation.benchmark import find_benchmark
        from ..evaluation.examination import Examination
        from .progress import Progress

        await self.start.check_host(self.setting)
        results = self._results
        quiet, expected = self.options["quiet"], results.head["expected"]
        if not quiet:
            click.echo(speakable(f"{self.outlook}; {self.folder.path}{os.sep}"), err=True)
        progress = Progress(total=expected, quiet=quiet)
        async with open_stage(
            name=self.recipe_file.stem,
            recipe=self.recipe,
            catalogue=self.start.catalogue,
            ceiling=self.start.ceiling,
            setting=self.setting,
            pool=self.start.open_pool(),
            folder=self.folder.path,
            embedder=self.options["embedder"],
            recalls=self.start.recalls,
            forms=None if self.options["allow_zeros"] else FormCheck(),
            say=progress.say,
        ) as stage:
            examination = Examination(
                context=stage,
                strategy=strategy_of(self.recipe.strategy),
                view=stage.view(),
                state=self.state,
                tasks=self.tasks,
                trials=self.request.trials,
                workers=at_once(self.options["workers"], batch=self.setting.batch),
                journal=stage.journal,
                on_sample=progress,
            )
            progress.earlier = sum(1 for _ in examination.samples())
            fields = {"coterie.benchmark": self.request.benchmark}
            turns = TurnSpans(self.telemetry, self.catalogue.models, stage.scrubber)
            examination.parts = turns if self.telemetry is not None else None
            try:
                with around(self.telemetry, "evaluation", **fields), turns:
                    await examination.to_the_end()
            finally:
                progress.end()
                folder = RunFolder(self.folder.path, stage.scrubber)
                benchmark = find_benchmark(self.request.benchmark)
                written = replace(results, folder=folder)
                written.write(examination.samples(), benchmark, expected=expected)
        return 0
