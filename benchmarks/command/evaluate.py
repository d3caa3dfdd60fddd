"""`mas-bench run`, `resume` and `replay`: a team on a benchmark."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...runtime.terminal import counted, speakable, speakable_json
from ...schema.command import Command, host_catalogue, host_options, problem_format
from ...schema.errors import CoterieError, InputError
from .options import RESULTS_FOLDER, as_json, choice_of, source_of, spending, tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runtime.plan import Plan
    from ...runtime.services import Services, Setting
    from ...runtime.trace import RunFolder
    from ...schema.catalogue import Catalogue
    from ...schema.task import Task
    from ..figures import Figures
    from ..results import Request, Results

__all__ = ["HOST", "WORKERS_AT_ONCE", "Evaluating", "replay", "resume", "run", "setting_of"]

WORKERS_AT_ONCE = 8
WORKERS = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=WORKERS_AT_ONCE,
    show_default=True,
    help="How many runs are at work at once.",
)
HOST = ("model", "models_file", "tools_file", "allowed_tools")


@click.command("run", cls=Command)
@click.argument("name", metavar="BENCHMARK")
@click.option("--team", "team_file", required=True, help="A team file, or seed:NAME.")
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    help="How often each task is tried.  [default: as the benchmark's protocol has it]",
)
@tasks
@click.option(
    "--allow-seen",
    is_flag=True,
    help="Also take tasks that the team's pool evolved on. The figure is then no test of it.",
)
@WORKERS
@spending
@click.option(
    "--results",
    "parent",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Where folders of results are made.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be run; ask no model.")
@as_json
@host_options
@problem_format
def run(name: str, team_file: str, parent: Path, **options: Any) -> None:
    """Run a team on the tasks of BENCHMARK, and keep figures and samples in a folder of results.

    A trial without an answer scores 0. One that the provider or this host failed has no score: it
    is counted apart, and made again by `mas-bench resume`.
    """
    from ...operators.turn import require_answers
    from ...runtime.command.loading import load_team_of
    from ...runtime.plan import compile
    from ..benchmark import find_benchmark
    from ..results import Request
    from ..seen import refuse_seen

    benchmark = find_benchmark(name)
    known = host_catalogue(**{name: options[name] for name in HOST})
    team, known, path = load_team_of(team_file, known)
    trials = options["trials"] or benchmark.trials
    request = Request(
        benchmark=name, source=source_of(options), choice=choice_of(options), trials=trials
    )
    chosen = request.tasks()
    require_answers(chosen)
    if not options["allow_seen"]:
        refuse_seen(team, path, chosen)
    plan = compile(team, known)
    evaluating = Evaluating(request, chosen, plan, known, setting_of(options), options)
    if options["dry_run"]:
        click.echo(speakable(evaluating.outlook))
        return
    evaluating.begin(_new_folder(parent, name, team.name))
    sys.exit(evaluating.to_the_end())


@click.command("resume", cls=Command)
@click.argument("folder", metavar="RESULTS", type=RESULTS_FOLDER)
@WORKERS
@spending
@as_json
@host_options
@problem_format
def resume(folder: Path, **options: Any) -> None:
    """Go on with an evaluation: make the trials that are missing, and those without a score.

    What was paid for is not paid for again. Models are those of the folder unless --model says
    otherwise; the budget is that of everything together, and can be raised with --budget.
    """
    sys.exit(_again(folder, options).to_the_end())


@click.command("replay", cls=Command)
@click.argument("folder", metavar="RESULTS", type=RESULTS_FOLDER)
@WORKERS
@host_options
@problem_format
def replay(folder: Path, **options: Any) -> None:
    """Make an evaluation again offline, from its recorded answers, and compare.

    Every prompt is derived again and every answer scored again, by what is installed now. Nothing
    is changed. Exit code 1 where something differs.
    """
    left_out = {"budget": None, "cache": None, "quiet": True, "as_json": False}
    rights = {"allow_unpriced": True, "unsafe_local": False}
    sys.exit(_again(folder, {**left_out, **rights, **options}, replaying=True).replayed())


def _new_folder(parent: Path, benchmark: str, team: str) -> RunFolder:
    from ...runtime.trace import RunFolder
    from ...schema.secrets import scrubbed

    try:
        return RunFolder.create(parent, benchmark, team, scrubbed)
    except OSError as error:
        raise InputError(f"{parent}: results cannot be kept there: {error.strerror}.") from None


def _again(folder: Path, options: dict[str, Any], *, replaying: bool = False) -> Evaluating:
    """Load what the folder of an evaluation was made of."""
    from ...runtime.command.loading import known_again, load_team_of
    from ...runtime.plan import compile
    from ...runtime.record import read_setting
    from ...schema.secrets import scrubbed
    from ..results import Results

    results = Results.open(folder, scrub=scrubbed)
    recorded, models = read_setting(folder)
    known = host_catalogue(**{name: options[name] for name in HOST})
    known = known_again(known, models, options["model"])
    team, known, _ = load_team_of(str(folder / "team.yaml"), known)
    request = results.request
    setting = setting_of({**options, "seed": recorded.seed}, recorded)
    evaluating = Evaluating(request, request.tasks(), compile(team, known), known, setting, options)
    evaluating.results, evaluating.replaying = results, replaying
    return evaluating


def setting_of(options: dict[str, Any], recorded: Setting | None = None) -> Setting:
    """Take what the options say; for the rest, what is recorded."""
    from ...runtime.budget import Caps
    from ...runtime.services import Setting

    given: dict[str, Any] = {
        "seed": options["seed"],
        "budget": Caps.parse(options["budget"]) if options["budget"] else None,
        "cache": options["cache"],
        "allow_unpriced": options["allow_unpriced"] or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    return replace(recorded or Setting(), **chosen, unsafe_local=options["unsafe_local"])


@dataclass(eq=False)
class Evaluating:
    """An evaluation on its way, whatever ends it."""

    request: Request
    tasks: Sequence[Task]
    plan: Plan
    known: Catalogue
    setting: Setting
    options: dict[str, Any]
    results: Results | None = None
    replaying: bool = False

    @property
    def expected(self) -> int:
        """How many samples there are when all is done."""
        return len(self.tasks) * self.request.trials

    @property
    def outlook(self) -> str:
        """Say what will be run."""
        niches = len({task.niche for task in self.tasks})
        calls = self.plan.calls_at_most * self.expected
        return (
            f"{self.request.benchmark}: {counted(len(self.tasks), 'task')} in"
            f" {counted(niches, 'niche')} x {counted(self.request.trials, 'trial')} by"
            f" {self.plan.team.name}, {counted(len(self.plan.agents), 'agent')}: at most"
            f" {counted(calls, 'model call')}, retries apart"
        )

    def begin(self, folder: RunFolder) -> None:
        """Begin in an empty folder."""
        from ..results import Results

        words = [Path(sys.argv[0]).name, *sys.argv[1:]]
        self.results = Results.begin(folder, self.request, self.plan, self.setting, command=words)

    def to_the_end(self) -> int:
        """Make what is missing, show the figures, and give the exit code."""
        from ...runtime.command.models import fetch_embedded
        from ...runtime.command.signals import to_the_end

        fetch_embedded(self.plan.models.values())
        if not self.options["quiet"]:
            click.echo(speakable(f"{self.outlook}; {self._folder}{os.sep}"), err=True)
        try:
            return to_the_end(self._made(), lambda: self._how_to_go_on)
        except InputError:
            raise
        except CoterieError as error:
            click.echo(f"stopped: {speakable(str(error))}{self._how_to_go_on}", err=True)
            return error.exit_code

    @property
    def _folder(self) -> Path:
        if self.results is None:
            raise RuntimeError("begin the evaluation, or open one, before going on with it.")
        return self.results.folder.path

    @property
    def _how_to_go_on(self) -> str:
        return f" Go on with: mas-bench resume {self._folder}"

    async def _made(self) -> int:
        from ...runtime.budget import Budget
        from ...runtime.journal import Journal
        from ...runtime.services import open_services

        async with open_services(self.known, self.setting) as services:
            await services.prepare(self.plan)
            with Journal.open(self._folder) as journal:
                budget = Budget(self.setting.budget, name="the evaluation")
                budget.deposit(journal.spent(), seconds=journal.seconds)
                figures = await self._evaluated(services, journal, budget)
        self._show(figures)
        return 0 if figures.unscored == 0 else 1

    async def _evaluated(self, services: Services, journal: Any, budget: Any) -> Figures:
        """Make what is missing; the folder has what there is, whatever ends it."""
        from ..benchmark import find_benchmark
        from ..evaluation import Evaluation
        from .progress import Progress

        results = self.results
        if results is None:
            raise RuntimeError("there is no folder for results.")
        scrubber = services.scrubber(os.environ)
        results = replace(results, folder=type(results.folder)(results.folder.path, scrubber))
        progress = Progress(total=self.expected, quiet=self.options["quiet"])
        evaluation = Evaluation(
            plan=self.plan,
            tasks=self.tasks,
            trials=self.request.trials,
            workers=self.options["workers"],
            services=services,
            journal=journal,
            budget=budget,
            scrubber=scrubber,
            on_sample=progress,
        )
        progress.known = sum(1 for _ in evaluation.samples())
        benchmark = find_benchmark(self.request.benchmark)
        try:
            await evaluation.to_the_end()
        finally:
            progress.end()
            figures = results.write(evaluation.samples, benchmark, expected=self.expected)
        return figures

    def _show(self, figures: Figures) -> None:
        """Print the figures."""
        from ..results import read_results
        from .figures import summary

        told = read_results(self._folder)
        if self.options["as_json"]:
            click.echo(speakable_json(json.dumps(told, indent=2)))
        else:
            click.echo(speakable(summary(told)))
        if figures.unscored:
            many = counted(figures.unscored, "trial")
            click.echo(f"{many} could not be made.{self._how_to_go_on}", err=True)

    def replayed(self) -> int:
        """Make the evaluation again offline; give the exit code."""
        from ...runtime.command.signals import to_the_end

        return to_the_end(self._replayed(), lambda: "")

    async def _replayed(self) -> int:
        import time

        from ...runtime.journal import Journal
        from ...runtime.services import open_services
        from ..evaluation import Evaluation

        made = 0

        def count(_sample: object) -> None:
            nonlocal made
            made += 1

        async with open_services(self.known, self.setting) as services:
            await services.prepare(self.plan, offline=True)
            with Journal.open(self._folder, replaying=True) as journal:
                evaluation = Evaluation(
                    plan=self.plan,
                    tasks=self.tasks,
                    trials=self.request.trials,
                    workers=self.options["workers"],
                    services=services,
                    journal=journal,
                    scrubber=services.scrubber(os.environ),
                    on_sample=count,
                )
                started = time.monotonic()
                differing = await evaluation.again()
                seconds = time.monotonic() - started
        for one in differing:
            click.echo(f"differs: {speakable(one)}")
        if differing:
            return 1
        rate = f"{made / seconds:.0f} per second" if seconds else "at once"
        click.echo(f"verified: {counted(made, 'sample')}, no difference ({rate}).")
        return 0
