"""`mas-run`: a team, a task, an answer."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import (
    Command,
    catalogue_of,
    host_options,
    problem_format,
    task_options,
)
from ...schema.values.errors import InputError, StorageError
from ...schema.values.json_text import dumps, loads
from ...schema.values.terminal import counted, speakable
from .spending import caps_option, exporting, otel_option, setting_of, spending_options

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ...schema.team.task import Task
    from ..agents.outcomes import Run
    from ..otel.spans import Spans
    from ..otel.telemetry import Telemetry
    from ..plan.plan import Plan
    from ..record.trace import Event
    from ..runs.adapting import Adapting
    from ..runs.record import RunRecord
    from ..runs.services import Services, Setting
    from ..scrubbing.scrubber import Scrubber
    from ..values.budget import Budget
    from .loading import Loaded, TypedQuestion

EXIT_CODES = {"done": 0, "failed": 1, "stopped": 3}
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command(cls=Command)
@click.argument("team_file", metavar="[TEAM]", required=False)
@click.argument("task_file", metavar="[TASK]", required=False)
@click.option(
    "-q", "--query", help="Ask this instead of a task file; - reads it from standard input."
)
@click.option(
    "--context",
    metavar="TEXT",
    help="With --query: a text for the question, such as the document that it asks about.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --query: a file for the agents. May be repeated.",
)
@click.option(
    "--repo",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="With --query: the git working copy to work on. Agents get a copy of it.",
)
@host_options
@task_options
@click.option(
    "--runs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="The folder for run folders.",
)
@click.option("--resume", metavar="RUN", type=FOLDER, help="Resume the run in this folder.")
@click.option(
    "--continue",
    "continued",
    metavar="RUN",
    type=FOLDER,
    help="With --query: ask the team of this run again; it knows the earlier questions and"
    " answers.",
)
@click.option(
    "--replay",
    metavar="RUN",
    type=FOLDER,
    help="Repeat the run in this folder offline, from its recorded answers.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="With --replay: compare every prompt and result with the recording.",
)
@click.option(
    "--adapt",
    metavar="RECIPE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Adapt the team while it works, by the strategy of this recipe.",
)
@caps_option("--agent-budget", "The limits of each agent.")
@click.option(
    "--pool",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="The pool whose memory agents with `recall` read.",
)
@click.option(
    "--embedder",
    metavar="NAME",
    help="The embedder that finds similar tasks: minilm, hashing, or an alias of models.yaml.",
)
@click.option("--seed", type=int, help="The random seed, for models that take one.")
@otel_option
@click.option("--view", is_flag=True, help="Show the run in a browser while it works.")
@click.option("--dry-run", is_flag=True, help="Print the plan; ask no model.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@spending_options
@problem_format
def main(**options: Any) -> None:
    """Run a team on a task and print its answer.

    TEAM is a team file, a team's folder, or seed:NAME for one that comes with coterie. TASK is a
    task file, or - for JSON or a question on standard input. The answer goes to standard output,
    progress to standard error, and a record of everything to a folder in runs/. --resume completes
    a run that was interrupted, failed or met a limit; answers that were paid for are reused.
    """
    code, _ = make(options)
    sys.exit(code)


def make(options: dict[str, Any]) -> tuple[int, Path | None]:
    """Make a run according to the options of `mas-run`.

    Returns:
        The exit code, and the run's folder if it has one.
    """
    _refuse_view(options)
    loaded, setting = _prepared(options)
    from ..messages.messages import refuse_unfilled
    from ..plan.plan import compile
    from .ending import tell_answer, tell_result
    from .loading import refuse_unused

    plan = compile(loaded.team, loaded.catalogue)
    if loaded.task.attachments or loaded.task.repo is not None:
        from ..messages.attached import refuse_unread

        refuse_unread([plan], loaded.task, _place(options))
    refuse_unfilled([plan], [loaded.task], _place(options))
    adapting = _adapting(options, loaded)
    if adapting is not None:
        plan = replace(plan, models={**plan.models, **adapting.models})
    refuse_unused(options["model"], [*plan.models, setting.embedder])
    if options["dry_run"]:
        described = _described(plan, loaded.task, adapting, as_json=options["as_json"])
        click.echo(speakable(described))
        return 0, None
    if (earlier := _result_of(options["resume"])) is not None:
        if options["as_json"]:
            tell_result(earlier, options["resume"])
        else:
            tell_answer(earlier["answer"], loaded.task)
        click.echo(f"this run has already finished: {options['resume']}{os.sep}", err=True)
        return 0, options["resume"]
    making = _Making(plan, loaded, setting, options, adapting)
    return making.to_the_end(), making.folder


def _refuse_view(options: dict[str, Any]) -> None:
    """Refuse `--view` where no run is made."""
    if options["view"] and (options["dry_run"] or options["replay"]):
        option = "--dry-run" if options["dry_run"] else "--replay"
        raise InputError(
            f"--view shows a run while it works, but {option} starts none. Leave one of them out,"
            " or open a recorded run with mas-view RUN."
        )


def _prepared(options: dict[str, Any]) -> tuple[Loaded, Setting]:
    """Load the team, the task and the setting of the run."""
    from ...schema.loading.task_form import task_form
    from .loading import load_continued, load_files, load_folder

    folder = _folder(options)
    catalogue = catalogue_of(options)
    if options["replay"]:  # what may be called was decided in the run
        catalogue = replace(catalogue, permissions={})
    if options["continued"]:
        if options["task_file"]:
            raise InputError("--continue asks the question of --query. Leave the task file out.")
        words = (options["continued"], options["team_file"], _question(options))
        return load_continued(*words, catalogue, task_form(options, catalogue)), setting_of(options)
    if folder is None:
        files = (options["team_file"], options["task_file"], _question(options))
        return load_files(*files, catalogue, task_form(options, catalogue)), setting_of(options)
    from ..runs.again import known_again
    from ..runs.record import read_setting

    recorded, models = read_setting(folder)
    offline = bool(options["replay"]) or _result_of(folder) is not None
    catalogue = known_again(folder, catalogue, models, options["model"], offline=offline)
    own = {**options, "cache": None} if options["replay"] else options
    return load_folder(folder, catalogue), setting_of(own, recorded)


def _question(options: dict[str, Any]) -> TypedQuestion | None:
    """Return the question that replaces a task file."""
    from .loading import TypedQuestion, standard_input

    with_it = {name: options[name] for name in ("context", "files", "repo") if options[name]}
    if options["query"] is not None:
        query = options["query"] if options["query"] != "-" else standard_input()
        return TypedQuestion(query=query, **with_it)
    if with_it:
        text = " and ".join(f"--{name.removesuffix('s')}" for name in with_it)
        raise InputError(f"{text}: valid only with --query. In a task file, write it there.")
    return None


def _adapting(options: dict[str, Any], loaded: Loaded) -> Adapting | None:
    """Return the adaptation of the team; for a recorded run, the one that it used."""
    recipe: Path | None = options["adapt"]
    folder = _folder(options)
    if recipe is None and folder is None:
        return None
    from ..runs.adapting import RECIPE, adapting

    if folder is not None:
        recipe = folder / RECIPE if (folder / RECIPE).exists() else None
    return adapting(recipe, loaded.team, loaded.catalogue) if recipe is not None else None


def _described(plan: Plan, task: Task, adapting: Adapting | None, *, as_json: bool) -> str:
    """Return a description of the run, with the most calls that it would make."""
    from ..messages.attached import unseen
    from ..runs.estimate import estimate

    expected = estimate(plan, [task])
    value = {**plan.describe(), "estimate": expected.value()}
    lines = [str(plan), f"estimate: {expected}"]
    if task.briefs:
        texts = [agent for agent in plan.agents if agent in task.briefs]
        passed_over = [brief for brief in task.briefs if brief not in plan.agents]
        value["briefs"] = {"told": texts, "passed_over": passed_over}
        lines += [f"with their own brief: {', '.join(texts)}"] if texts else []
        lines += (
            [f"briefs for agents that the team lacks: {', '.join(passed_over)}"]
            if passed_over
            else []
        )
    if blind := [*unseen(plan, task)]:
        value["unseen"] = blind
        lines += blind
    if lacking := plan.lacks():
        value["lacks"] = lacking
        lines += [f"this machine lacks: {name}" for name in lacking]
    if adapting is not None:
        most = adapting.calls_at_most(plan)
        value["adapts"] = {"by": adapting.name, "calls_at_most": most}
        bound = "an unknown number of calls" if most is None else f"at most {counted(most, 'call')}"
        lines.append(f"adapts by {adapting.name}: {bound} in all")
    return dumps(value, indent=2) if as_json else "\n".join(lines)


def _folder(options: dict[str, Any]) -> Path | None:
    """Return the folder of the run to resume or replay, if any."""
    resume, replay = options["resume"], options["replay"]
    if options["verify"] and not replay:
        raise InputError("--verify checks a replay. Write --replay RUN --verify.")
    if not (resume or replay):
        if not (options["team_file"] or options["continued"]):
            raise InputError("give a team file, or seed:NAME; or a run's folder with --resume.")
        return None
    if resume and replay:
        raise InputError("give either --resume or --replay.")
    names = ("team_file", "query", "context", "files", "repo", "adapt", "continued")
    if any(options[name] for name in names):
        option = "--resume" if resume else "--replay"
        raise InputError(
            f"{option} reads team, task and recipe from the run's folder. Leave them out."
        )
    return resume or replay


def _place(options: dict[str, Any]) -> str:
    """Return the folder of the task file."""
    there = options["resume"] or options["replay"]
    file = there / "task.json" if there else options["task_file"]
    return f"{file}:1" if file else "--query"


def _result_of(resumed: Path | None) -> dict[str, Any] | None:
    """Return the result of a run to resume that is already complete."""
    from ..runs.record import read_result

    result = read_result(resumed) if resumed else None
    return result if result and result["status"] == "done" else None


@dataclass(eq=False)
class _Making:
    """A run in progress, with every way to end it."""

    plan: Plan
    loaded: Loaded
    setting: Setting
    options: dict[str, Any]
    adapting: Adapting | None = None
    folder: Path | None = None
    budget: Budget | None = None
    spent: list[str] = field(default_factory=list[str])
    states: dict[str, str] = field(default_factory=dict[str, str])
    telemetry: Telemetry | None = None
    page: AsyncExitStack = field(default_factory=AsyncExitStack)

    def to_the_end(self) -> int:
        """Make the run and show the result; return the exit code."""
        from .loading import fetch_embedded
        from .signals import to_the_end

        try:
            with exporting(self.options) as self.telemetry:
                if not self.options["replay"]:
                    fetch_embedded(self.plan.models.values())
                return to_the_end(self._shown(), self._after_interruption)
        except StorageError as error:
            click.echo(f"error: {error}{self._how_to_resume()}", err=True)
            return error.exit_code

    def _after_interruption(self) -> str:
        """Return the cost until the signal, and how to resume."""
        text = f"\n{', '.join(self.spent)}; {self.folder}{os.sep}" if self.spent else ""
        return f"{text}{self._how_to_resume()}"

    def _how_to_resume(self, run: Run | None = None) -> str:
        """Print how to resume, on a line of its own."""
        from .ending import Resuming

        if self.folder is None or self.options["replay"]:
            return ""
        words = ("mas-run", "--resume", str(self.folder))
        resuming = Resuming(words=words, options=self.options, setting=self.setting)
        is_spent = run is not None and run.over_budget
        return f"\nResume: {resuming.command(self.budget, is_spent=is_spent)}"

    async def _shown(self) -> int:
        """Make the run; if a browser shows it, stay until the reader closes it."""
        async with self.page:
            code = await self._run_and_show()
            if self.options["view"]:
                from .viewer import kept_open

                await kept_open()
        return code

    async def _open_page(self, folder: Path) -> None:
        from .viewer import viewer

        await self.page.enter_async_context(viewer(folder))

    async def _run_and_show(self) -> int:
        from ..runs.record import as_recorded
        from ..runs.services import open_services
        from ..tools.approval import terminal_approver
        from .ending import cancelled, spent

        offline = bool(self.options["replay"])
        terminal = terminal_approver()
        async with open_services(
            self.loaded.catalogue,
            self.setting,
            approver=terminal,
            responder=terminal.respond if terminal else None,
        ) as services:
            if services.recaller is not None:
                from ..messages.recall import refuse_met

                place = _place(self.options)
                refuse_met(self.plan, self.loaded.task, services.recaller, place)
            await services.prepare(self.plan, offline=offline)
            if self.adapting is not None and not offline:
                aliases = frozenset(self.adapting.models)
                await services.gateway.prepare(aliases, priced=self.setting.must_be_priced)
            if not self.options["quiet"]:
                for note in self._notes(services):
                    click.echo(f"note: {speakable(note)}.", err=True)
            scrubber = services.scrubber(os.environ)
            task = as_recorded(self.loaded.task, scrubber.without_secrets)
            self.loaded = replace(self.loaded, task=task)
            async with self._record(scrubber) as record:
                if self.options["view"]:
                    await self._open_page(record.folder.path)
                try:
                    run = await self._run(services, record, scrubber)
                except asyncio.CancelledError:
                    took = spent(record.spent(), record.journal.seconds)
                    self.spent = [*cancelled(self.states), *took]
                    raise
                record.finish(run)
        if self.options["verify"]:
            return self._verified(run, record)
        self._show(run, record)
        # What is refused before anything was spent is bad input, as a key that is missing.
        return InputError.exit_code if run.is_misconfigured else EXIT_CODES[run.status]

    def _notes(self, services: Services) -> Iterator[str]:
        """Yield notes about attachments that agents cannot see, and about recall."""
        if self.loaded.task.attachments or self.loaded.task.files:
            from ..messages.attached import unseen

            yield from unseen(self.plan, self.loaded.task)
        recalling = services.recaller is not None or self.plan.team.recalls
        if recalling and not self.options["replay"]:
            from ..messages.recall import unreminded

            yield from unreminded(self.plan, services.recaller)

    def _record(self, scrub: Scrubber) -> RunRecord:
        """Create the run's folder, or open the existing one."""
        from ..record.trace import RunFolder
        from ..runs.record import RunRecord

        there = self.options["resume"] or self.options["replay"]
        if there is None:
            runs, task = self.options["runs"], self.loaded.task
            files = {**self.loaded.files, **(self.adapting.files if self.adapting else {})}
            record = RunRecord.begin(runs, self.plan, task, self.setting, scrub=scrub, files=files)
        else:
            replaying = self.options["replay"] is not None
            record = RunRecord(RunFolder(there, scrub), self.plan, replaying=replaying)
        self.folder = record.folder.path
        return record

    async def _run(self, services: Services, record: RunRecord, scrubber: Scrubber) -> Run:
        """Run the plan within its budget, with progress."""
        from ..record.trace import Trace
        from ..values.budget import Budget
        from .progress import progress

        if self.options["resume"] and record.failed:
            await record.journal.renew()
        if not self.options["replay"]:
            self.budget = Budget(self.setting.budget)
            self.budget.deposit(record.spent(), seconds=record.journal.seconds)
        with (
            progress(self.plan, quiet=self.options["quiet"], scrub=scrubber) as show,
            self._traced(record, scrubber) as tracers,
        ):
            writers = () if self.options["replay"] else (record.folder,)
            listeners = (*tracers, *writers, show, self._hear)
            trace, task = Trace(*listeners), self.loaded.task
            if self.adapting is not None:
                return await self.adapting.run(
                    self.plan, task, services,
                    record=record, scrubber=scrubber, trace=trace, budget=self.budget,
                )  # fmt: skip
            return await services.execute(
                self.plan,
                task,
                journal=record.journal,
                scrubber=scrubber,
                trace=trace,
                budget=self.budget,
                keep=None if self.options["replay"] else record.keep,
            )

    def _hear(self, event: Event) -> None:
        """Record how each agent ended, for a run that a signal ends without a result."""
        if event.type == "agent_finished":
            self.states[event.agent or ""] = event.fields["status"]

    @contextmanager
    def _traced(self, record: RunRecord, scrubber: Scrubber) -> Generator[tuple[Spans, ...]]:
        """Return the exporter of spans, if traces are requested."""
        if self.telemetry is None:
            yield ()
            return
        name = record.folder.path.name
        spans = self.telemetry.listener(self.plan.models, scrubber, {"coterie.run": name})
        try:
            yield (spans,)
        finally:
            spans.end()

    def _show(self, run: Run, record: RunRecord) -> None:
        from ..values.operator_answers import answer_warnings, useless_answers
        from .ending import how_to_look, summary, tell_answer, tell_result

        scrub = record.folder.scrub
        if self.options["as_json"]:
            tell_result(loads(scrub(record.result)), record.folder.path)
        elif run.answer is not None:
            tell_answer(scrub(run.answer), self.loaded.task)
        if run.said is not None and not self.options["quiet"]:
            click.echo(f"{run.answered_by} says: {scrub(speakable(run.said))}", err=True)
        if run.error:
            hint = "" if run.is_misconfigured else self._how_to_resume(run)
            click.echo(f"{run.status}: {scrub(speakable(run.error))}{hint}", err=True)
        if self.options["replay"] and record.journal.divergences:
            click.echo(f"note: {record.journal.divergences[0]}", err=True)
        if not self.options["quiet"]:
            for line in useless_answers(run.operators):
                click.echo(speakable(line), err=True)
        for warning in answer_warnings(run.operators):
            click.echo(f"warning: {speakable(warning)}", err=True)
        is_unasked = all(own.judging for own in run.operators.values())
        if self.adapting is not None and run.status == "done" and is_unasked:
            text = f"{self.adapting.name} called no operator: the team worked unchanged"
            click.echo(f"warning: {text}.", err=True)
        if not self.options["quiet"]:
            click.echo(summary(run, record), err=True)
            if not self.options["replay"] and not self.options["view"]:
                click.echo(how_to_look(record.folder.path), err=True)
        elif not self.options["as_json"]:
            click.echo(f"{record.folder.path}{os.sep}", err=True)

    def _verified(self, run: Run, record: RunRecord) -> int:
        """Compare a replay with its record; return the exit code."""
        from ..runs.record import read_result

        journal, recorded = record.journal, read_result(record.folder.path) or {}
        if journal.divergences:
            click.echo(f"differs: {journal.divergences[0]}")
            return 1
        is_done = recorded.get("status") == "done"
        if is_done and record.folder.scrub(run.answer or "") != recorded["answer"]:
            text = speakable(repr(run.error if run.answer is None else run.answer))
            click.echo(f"differs: the replay's result is {text}.")
            return 1
        where = "" if is_done else ", up to where the run ended"
        answers = counted(journal.recorded_answers, "recorded answer")
        click.echo(f"verified: {answers}, no difference{where}.")
        return 0
