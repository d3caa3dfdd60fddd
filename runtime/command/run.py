"""`mas-run`: a team, a task, an answer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command, host_catalogue, host_options, problem_format
from ...schema.errors import InputError
from ...schema.models import EMBEDDED
from ..terminal import counted, speakable

if TYPE_CHECKING:
    from ...schema.catalogue import Catalogue
    from ...schema.problems import Problem
    from ...schema.task import Task
    from ...schema.team import Team
    from ..engine import Run
    from ..plan import Plan
    from ..trace import RunFolder

__all__ = ["main"]

EXIT_CODES = {"done": 0, "failed": 1, "stopped": 3}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Options:
    """How a run is made and shown."""

    runs: Path
    as_json: bool
    quiet: bool
    unsafe_local: bool
    seed: int | None


@click.command(cls=Command)
@click.argument("team_file", metavar="TEAM")
@click.argument("task_file", metavar="[TASK]", required=False)
@click.option("-q", "--query", help="Ask this instead of a task file.")
@host_options
@click.option(
    "--runs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Where run folders are made.",
)
@click.option("--seed", type=int, help="Make sampling repeatable where the endpoint allows it.")
@click.option("--dry-run", is_flag=True, help="Show the plan; ask no model.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@click.option(
    "--unsafe-local",
    is_flag=True,
    help="Run code that agents write without a jail, with your rights. Only in a throw-away VM.",
)
@problem_format
def main(team_file: str, task_file: str | None, query: str | None, **options: Any) -> None:
    """Run the team of a YAML file on a task and print its answer.

    TEAM is a team file, or seed:NAME for one that comes with coterie. TASK is a task file, or - for
    JSON on standard input. Progress goes to standard error, the answer to standard output; runs/
    keeps everything that happened.
    """
    host = {name: options[name] for name in ("model", "models_file", "tools_file", "allowed_tools")}
    team, task, known = _load(team_file, task_file, query, host_catalogue(**host))
    from ..plan import compile

    plan = compile(team, known)
    if options["dry_run"]:
        described = json.dumps(plan.describe(), indent=2) if options["as_json"] else str(plan)
        click.echo(described)
        return
    _fetch_embedded_model(plan)
    chosen = _Options(**{field.name: options[field.name] for field in fields(_Options)})
    sys.exit(_run(plan, task, known, chosen))


def _load(
    team_file: str, task_file: str | None, query: str | None, known: Catalogue
) -> tuple[Team, Task, Catalogue]:
    """Load both files; the problems of both are shown together."""
    from ...schema.errors import ConfigError
    from ...schema.loading import load_team

    path = _team_path(team_file)
    known = known.beside(path.parent)
    problems: list[Problem] = []
    team, task = None, None
    try:
        team = load_team(path, known)
    except ConfigError as error:
        problems += error.problems
    try:
        task = _task(task_file, query, known)
    except ConfigError as error:
        problems += error.problems
    if team is None or task is None:
        raise ConfigError(problems)
    return team, task, known


def _team_path(name: str) -> Path:
    if not name.startswith("seed:"):
        return Path(name)
    seeds = Path(__file__).parents[2] / "seeds"
    path = seeds / f"{name.removeprefix('seed:')}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(seed.stem for seed in seeds.glob("*.yaml")))
        raise InputError(f"no seed team {name!r}. Seeds: {known}.")
    return path


def _fetch_embedded_model(plan: Plan) -> None:
    """Fetch the embedded model, where this plan is the first to use it."""
    models = {one.model.model for one in plan.agents.values() if one.model is not None}
    if EMBEDDED in models:
        from .models import pull_with_progress

        pull_with_progress()


def _task(task_file: str | None, query: str | None, known: Catalogue) -> Task:
    from ...schema.loading import load_task, parse_task
    from ...schema.task import Task

    if (task_file is None) == (query is None):
        raise InputError("give a task file, or a question with --query; one of them.")
    if query is not None:
        return Task(id="query", query=query)
    if task_file == "-":
        return parse_task(sys.stdin.buffer.read(), "-", Path(), known)
    return load_task(str(task_file), known)


def _run(plan: Plan, task: Task, known: Catalogue, chosen: _Options) -> int:
    """Run the plan, whatever ends it; give the exit code."""
    stop = _Stop()
    try:
        run, folder = asyncio.run(_recorded(plan, task, known, chosen, stop))
    except (KeyboardInterrupt, asyncio.CancelledError):
        click.echo("interrupted.", err=True)
        return 128 + stop.signal
    _show(run, folder, chosen)
    return EXIT_CODES[run.status]


class _Stop:
    """Which signal ended the run: SIGINT, unless SIGTERM came."""

    signal = int(signal.SIGINT)

    def on_terminate(self, main: asyncio.Task[Any]) -> None:
        """Let SIGTERM end the run as Ctrl-C does."""

        def terminate() -> None:
            self.signal = int(signal.SIGTERM)
            main.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)


async def _recorded(
    plan: Plan, task: Task, known: Catalogue, chosen: _Options, stop: _Stop
) -> tuple[Run, RunFolder]:
    """Execute the plan, with its folder and its progress."""
    from ..engine import execute
    from ..gateway import Gateway
    from ..jail import Jails
    from ..record import Record
    from ..tools import Toolbox
    from ..trace import Trace
    from .progress import progress

    if main_task := asyncio.current_task():
        stop.on_terminate(main_task)
    async with (
        Gateway(known.models, seed=chosen.seed) as gateway,
        Toolbox(known.servers) as toolbox,
    ):
        jails = Jails(unsafe=chosen.unsafe_local)
        if plan.needs_jail:
            jails.check()
        await gateway.prepare(plan.aliases)
        await toolbox.prepare(plan.tools)
        secrets = gateway.secrets() | toolbox.secrets()
        with (
            Record(chosen.runs, plan, task, secrets=secrets) as record,
            progress(plan, quiet=chosen.quiet) as show,
        ):
            run = await execute(
                plan,
                task,
                gateway=gateway,
                jails=jails,
                toolbox=toolbox,
                trace=Trace(record.folder, show),
                seed=chosen.seed,
            )
            record.finish(run)
    return run, record.folder


def _show(run: Run, folder: RunFolder, chosen: _Options) -> None:
    if chosen.as_json:
        click.echo((folder.path / "result.json").read_text(encoding="utf-8"), nl=False)
    elif run.answer is not None:
        click.echo(speakable(run.answer))
    if run.error:
        click.echo(f"{run.status}: {speakable(run.error)}", err=True)
    if not chosen.quiet:
        click.echo(_summary(run, folder.path), err=True)


def _summary(run: Run, folder: Path) -> str:
    parts = [
        counted(run.usage.calls, "call"),
        counted(run.usage.tokens, "token"),
        run.usage.cost,
        f"{run.seconds:.1f} s",
    ]
    if run.score is not None:
        parts.insert(0, f"score {run.score.value:g} ({speakable(run.score.reason)})")
    return f"{', '.join(parts)}; {folder}{os.sep}"


if __name__ == "__main__":
    main()
