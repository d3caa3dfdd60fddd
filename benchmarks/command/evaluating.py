"""An evaluation in commands: created or found in a folder, and resumed from there."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...runtime.command.spending import at_once, exporting, setting_of
from ...runtime.otel.many import TurnSpans, around
from ...schema.command import catalogue_of
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, speakable, speakable_json
from .options import TOO_LOW

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence

    from ...runtime.otel.telemetry import Telemetry
    from ...runtime.plan.plan import Plan
    from ...runtime.record.journal import Journal
    from ...runtime.record.trace import RunFolder
    from ...runtime.runs.estimate import Estimate
    from ...runtime.runs.services import Services, Setting
    from ...runtime.values.budget import Budget
    from ...schema.host.catalogue import Catalogue
    from ...schema.team.task import Task
    from ..evaluation.evaluation import Evaluation
    from ..evaluation.results import Request, Results
    from ..evaluation.samples import Sample
    from .progress import Progress

MOST_DIFFERENCES = 20


@dataclass(eq=False)
class Evaluating:
    """An evaluation in progress, whatever ends it.

    Attributes:
        judge: The alias of the judge model; None without a judge.
        place: Creates the folder for its results, once the team is known to be runnable.
        results: The results to resume, if any.
        budget: The budget, once the evaluation runs.
        telemetry: Exports spans, if traces are wanted.

    Raises:
        InputError: The team cannot read an image or a PDF of a task, or a prompt names a missing
            field.
    """

    request: Request
    tasks: Sequence[Task]
    plan: Plan
    catalogue: Catalogue
    setting: Setting
    options: dict[str, Any]
    judge: str | None = None
    place: Callable[[], RunFolder] | None = None
    results: Results | None = None
    budget: Budget | None = None
    telemetry: Telemetry | None = None

    def __post_init__(self) -> None:
        from ...runtime.messages.attached import refuse_unread
        from ...runtime.messages.messages import refuse_unfilled

        for task in self.tasks:
            refuse_unread([self.plan], task)
        refuse_unfilled([self.plan], self.tasks)

    @property
    def expected(self) -> int:
        """The number of samples of the complete evaluation."""
        return len(self.tasks) * self.request.trials

    @property
    def outlook(self) -> str:
        """A description of the planned runs."""
        niches = len({task.niche for task in self.tasks})
        calls = self.plan.calls_at_most * self.expected
        return (
            f"{self.request.benchmark}: {counted(len(self.tasks), 'task')} in"
            f" {counted(niches, 'niche')} x {counted(self.request.trials, 'trial')} by"
            f" {self.plan.team.name}, {counted(len(self.plan.agents), 'agent')}: at most"
            f" {counted(calls, 'model call')}, without retries"
        )

    def estimate(self) -> Estimate:
        """Estimate the total consumption, including a judge's."""
        from ...runtime.runs.estimate import Range, estimate
        from ..evaluation.own import is_judged

        result = estimate(self.plan, self.tasks)
        if self.judge is not None:
            from ...operators.command.expected import judged

            answers = sum(map(is_judged, self.tasks))
            result += judged(self.catalogue.models[self.judge], 0, answers)
        result = result.in_batches(self.plan.models.values()) if self.setting.batch else result
        return result * Range(least=self.request.trials, most=self.request.trials)

    @property
    def _workers(self) -> int:
        # If agents run code, each run holds a jail while it waits.
        batch = self.setting.batch and not self.plan.needs_jail
        return at_once(self.options["workers"], batch=batch)

    def to_the_end(self) -> int:
        """Run missing trials, show the figures, and return the exit code."""
        from ...runtime.command.loading import fetch_embedded
        from ...runtime.command.signals import stopped_in_order, to_the_end

        self._prepare_tasks()
        with exporting(self.options) as self.telemetry:
            fetch_embedded(self.plan.models.values())
            return stopped_in_order(
                lambda: to_the_end(self._make_and_show(), self._how_to_go_on),
                self._how_to_go_on,
                show=lambda: self.results and self._show(),
            )

    def _prepare_tasks(self) -> None:
        """Prepare the needs of the tasks, before anything is spent."""
        from ..evaluation.benchmark import find_benchmark

        find_benchmark(self.request.benchmark).prepare(self.request.source, self.tasks)

    @property
    def _opened(self) -> Results:
        """The results; their folder is created on first use."""
        from ..evaluation.results import Results

        if self.results is None and self.place is not None:
            words = words_typed()
            self.results = Results.begin(
                self.place(), self.request, self.plan, self.setting, command=words, tasks=self.tasks
            )
        if self.results is None:
            raise RuntimeError("give a folder with results, or a folder for new ones.")
        return self.results

    @property
    def _folder(self) -> Path:
        return self._opened.folder.path

    def _how_to_go_on(self) -> str:
        if self.results is None:
            return ""
        from ...runtime.command.ending import Resuming

        words = ("mas-bench", "resume", str(self._folder))
        resuming = Resuming(words=words, options=self.options, setting=self.setting)
        is_spent = self.budget is not None and bool(self.budget.reached)
        return f" Resume: {resuming.command(self.budget, is_spent=is_spent)}"

    async def _make_and_show(self) -> int:
        from ...runtime.record.journal import Journal
        from ...runtime.runs.services import open_services
        from ...runtime.values.budget import Budget
        from .progress import Progress

        async with open_services(self.catalogue, self.setting) as services:
            await services.prepare(self.plan)
            if self.judge is not None:
                await services.gateway.prepare([self.judge], priced=self.setting.must_be_priced)
            if not self.options["quiet"]:
                click.echo(speakable(f"{self.outlook}; {self._folder}{os.sep}"), err=True)
            with Journal.open(self._folder) as journal:
                self.budget = Budget(self.setting.budget, name="the evaluation")
                self.budget.deposit(journal.spent(), seconds=journal.seconds)
                progress = Progress(total=self.expected, quiet=self.options["quiet"])
                async with services.collecting(journal, progress.say):
                    await self._evaluated(services, journal, self.budget, progress)
        return self._show()

    async def _evaluated(
        self, services: Services, journal: Journal, budget: Budget, progress: Progress
    ) -> None:
        """Run missing trials; the folder has all results so far, whatever ends the run."""
        from ...runtime.record.trace import RunFolder
        from ...runtime.scoring.form_check import FormCheck
        from ..evaluation.benchmark import find_benchmark
        from ..evaluation.consumption import earlier_seconds
        from ..evaluation.logs import Logs

        folder = RunFolder(self._folder, services.scrubber(os.environ))
        opened = self._opened
        evaluation = self._evaluation(services, journal, budget, progress)
        evaluation.forms = None if self.options["allow_zeros"] else FormCheck()
        evaluation.logs = Logs(folder=folder.path, scrub=folder.scrub)
        evaluation.earlier = earlier_seconds(folder.path, journal.seconds)
        progress.earlier = sum(1 for _ in evaluation.samples())
        benchmark = find_benchmark(self.request.benchmark)
        fields = {"coterie.benchmark": self.request.benchmark, "coterie.team": self.plan.team.name}
        turns = TurnSpans(self.telemetry, self.catalogue.models, folder.scrub)
        evaluation.parts = turns if self.telemetry is not None else None
        try:
            with around(self.telemetry, "evaluation", **fields), turns:
                await evaluation.to_the_end()
        finally:
            progress.end()
            journal.flush_now()
            head = {
                **opened.head,
                "workers": self._workers,
                "wall_seconds": round(journal.seconds, 3),
                "paid": journal.spent().value(),
            }
            results = replace(opened, folder=folder, head=head, tasks=self.tasks)
            results.write(evaluation.samples(), benchmark, expected=self.expected)

    def _show(self) -> int:
        return shown_figures(self._folder, self._how_to_go_on(), self.options)

    def replayed(self) -> int:
        """Repeat the evaluation offline; return the exit code."""
        return self._ended(self.offline(self._compared))

    def task_of(self, task_id: str, trial: int) -> Task:
        """Return the task of a trial.

        Raises:
            InputError: There is no such trial.
        """
        result = [task for task in self.tasks if task.id == task_id]
        if not result or trial > self.request.trials:
            place = self.results.folder.path if self.results else self.request.benchmark
            raise InputError(f"{place} has no trial {trial} of a task {task_id!r}.")
        return result[0]

    def offline(self, work: Callable[[Evaluation], Awaitable[int]]) -> Coroutine[Any, Any, int]:
        """Return a coroutine that uses only the recorded answers."""
        from ...runtime.record.journal import Journal
        from ...runtime.runs.services import open_services

        self._prepare_tasks()

        async def open_and_work() -> int:
            async with open_services(self.catalogue, replace(self.setting, pool=None)) as services:
                await services.prepare(self.plan, offline=True)
                with Journal.open(self._folder, replaying=True) as journal:
                    return await work(self._evaluation(services, journal))

        return open_and_work()

    @staticmethod
    def _ended(work: Coroutine[Any, Any, int]) -> int:
        from ...runtime.command.signals import to_the_end

        return to_the_end(work, lambda: "")

    async def _compared(self, evaluation: Evaluation) -> int:
        samples = 0

        def count(_sample: Sample) -> None:
            nonlocal samples
            samples += 1

        evaluation.on_sample = count
        started = time.monotonic()
        differing = [*await evaluation.again(), *self._edited()]
        seconds = time.monotonic() - started
        for name in differing[:MOST_DIFFERENCES]:
            click.echo(f"differs: {speakable(name)}")
        if differing:
            more = len(differing) - MOST_DIFFERENCES
            click.echo(f"and {more} more." if more > 0 else "", nl=more > 0)
            return 1
        many = f"{counted(samples, 'sample')}, no difference ({samples / seconds:.0f} per second)"
        click.echo(f"verified: {many}.")
        return 0

    def _edited(self) -> Iterator[str]:
        from ..evaluation.results import RESULTS, differences

        return differences(self._folder) if (self._folder / RESULTS).exists() else iter(())

    def _evaluation(
        self,
        services: Services,
        journal: Journal,
        budget: Budget | None = None,
        on_sample: Callable[[Sample], None] = lambda _sample: None,
    ) -> Evaluation:
        from ..evaluation.evaluation import Evaluation
        from ..evaluation.judging import Judging

        judging = None
        if self.judge is not None:
            calls = services.calls(journal=journal, scrubber=services.scrubber(os.environ))
            judging = Judging(
                model=self.judge, catalogue=self.catalogue, calls=calls, budget=budget
            )
        return Evaluation(
            plan=self.plan,
            tasks=self.tasks,
            trials=self.request.trials,
            workers=self._workers,
            services=services,
            journal=journal,
            budget=budget,
            scrubber=services.scrubber(os.environ),
            judging=judging,
            on_sample=on_sample,
        )


def shown_figures(folder: Path, how_to_go_on: str, options: Mapping[str, Any]) -> int:
    """Print the figures of an evaluation, and return the exit code."""
    from ..evaluation.results import read_results, read_samples
    from .figures import summary

    fields = read_results(folder)
    if options["as_json"]:
        click.echo(speakable_json(dumps(fields, indent=2)))
    else:
        click.echo(speakable(summary(fields)))
        if not options.get("quiet"):
            from ...runtime.command.ending import how_to_look

            click.echo(speakable(how_to_look(folder)), err=True)
    least = options.get("fail_under")
    if (junit := options.get("junit")) is not None:
        from ...schema.values.files import write_atomically
        from ..comparison.junit import as_junit

        each = 1.0 if least is None else least
        write_atomically(junit, as_junit(fields["benchmark"], read_samples(folder), least=each))
    if not fields["unscored"]:
        return _below(fields["headline"], least)
    first = next(read_sample for read_sample in read_samples(folder) if read_sample.score is None)
    many = counted(fields["unscored"], "trial")
    why = speakable(f"task {first.task}: {first.error}")
    click.echo(f"{many} could not be completed.{how_to_go_on} First: {why}", err=True)
    return 1


def _below(headline: Mapping[str, Any], least: float | None) -> int:
    """Report figures that are too low; return the exit code."""
    value = headline["value"]
    if least is None or (value is not None and value >= least):
        return 0
    shown = f"{headline['name']} {value:.3f}" if value is not None else "no sample has a score"
    click.echo(f"too low: {shown}, but --fail-under is {least:g}.", err=True)
    return TOO_LOW


def words_typed() -> list[str]:
    """Return the command as the user typed it."""
    return [Path(sys.argv[0]).name, *sys.argv[1:]]


def new_folder(parent: Path, benchmark: str, team: str) -> RunFolder:
    """Create a new folder.

    Raises:
        InputError: It cannot be created.
    """
    from ...runtime.record.trace import RunFolder
    from ...schema.values.secrets import scrubbed

    try:
        return RunFolder.create(parent, benchmark, team, scrubbed)
    except OSError as error:
        raise InputError(f"{parent}: results cannot be written: {error.strerror}.") from None


def recorded(folder: Path, options: dict[str, Any], *, offline: bool = True) -> Evaluating:
    """Load the inputs of an evaluation from its folder.

    Raises:
        InputError: It is no such folder, or the models differ.
    """
    from ...runtime.command.loading import load_team_of
    from ...runtime.plan.plan import compile
    from ...runtime.runs.again import known_again
    from ...runtime.runs.record import read_setting
    from ...schema.values.secrets import scrubbed
    from ..evaluation.judging import judge_of
    from ..evaluation.results import Results

    results = Results.open(folder, scrub=scrubbed)
    earlier, models = read_setting(folder)
    catalogue = catalogue_of(options)
    catalogue = known_again(folder, catalogue, models, options["model"], offline=offline)
    for alias, model in models.items():
        if catalogue.models[alias].model != model.model:
            raise InputError(
                f"{folder} began with {alias}={model.model}. With {catalogue.models[alias].model},"
                " it would be another evaluation. Only a model's address may change."
            )
    team, catalogue, _ = load_team_of(str(folder / "team.yaml"), catalogue)
    request = results.request.having(catalogue)
    setting = setting_of({**options, "seed": earlier.seed}, earlier)
    tasks = request.tasks()
    evaluating = Evaluating(request, tasks, compile(team, catalogue), catalogue, setting, options)
    evaluating.judge = judge_of(tasks, models)
    evaluating.results = results
    return evaluating
