"""`mas-evolve`: a recipe, a stream of tasks, a pool that learns from them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...runtime.terminal import speakable
from ...schema.command import Command, host_catalogue, host_options, problem_format
from ...schema.errors import CoterieError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...pool.pool import Pool
    from ...runtime.services import Setting
    from ...schema.catalogue import Catalogue
    from ...schema.ceiling import Ceiling
    from ...schema.recipe import Recipe
    from ...schema.task import Task

__all__ = ["main"]


@click.command(cls=Command)
@click.argument("recipe_file", metavar="RECIPE", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("tasks_file", metavar="TASKS", type=click.Path(path_type=Path))
@click.option(
    "--pool",
    "pool_folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The pool. One that does not exist yet begins with the recipe's seeds.",
)
@click.option("--name", help="The evolution's name in the pool.  [default: the recipe's file name]")
@click.option(
    "--budget",
    metavar="CAPS",
    help="What everything together may cost: usd=20,tokens=5000000,calls=1000,seconds=3600.",
)
@click.option(
    "--allow-unpriced", is_flag=True, help="With usd=: also call models whose price is unknown."
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep answers in this folder, and take from there what others asked alike.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Take only the first so many tasks.")
@click.option("--git", "use_git", is_flag=True, help="Commit the pool after each task.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", is_flag=True, help="No progress on standard error.")
@click.option(
    "--unsafe-local",
    is_flag=True,
    help="Run code that agents write without a jail, with your rights. Only in a throw-away VM.",
)
@host_options
@problem_format
def main(recipe_file: Path, tasks_file: Path, pool_folder: Path, **options: Any) -> None:
    """Evolve the teams of a pool over a stream of tasks.

    RECIPE says how (`mas explain evolution`). TASKS is a JSONL file with a task on each line, or a
    folder of task files. The pool holds valid teams only, whatever a model answers. The same
    command again goes on where an interrupted evolution ended, and shows the report of one that is
    done; nothing is paid twice.
    """
    from ...schema.recipe import load_recipe

    names = ("model", "models_file", "tools_file", "allowed_tools")
    known = host_catalogue(**{name: options[name] for name in names})
    recipe = load_recipe(recipe_file)
    tasks = load_tasks(tasks_file, known)[: options["limit"]]
    evolving = _Evolving(recipe_file, recipe, tasks, pool_folder, known, options)
    sys.exit(evolving.to_the_end())


def load_tasks(path: Path, known: Catalogue) -> list[Task]:
    """Load a stream of tasks, in order: the lines of a file, or the files of a folder by name.

    Raises:
        InputError: One does not load, there is none, or two have the same id.
    """
    from ...schema.loading import load_task, parse_task, read_file

    if path.is_dir():
        tasks = [load_task(one, known) for one in sorted(path.glob("*.json"))]
    else:
        lines = enumerate(read_file(path).splitlines(), start=1)
        tasks = [
            parse_task(line, f"{path}:{number}", path.parent, known)
            for number, line in lines
            if line.strip()
        ]
    if not tasks:
        raise InputError(f"{path}: there is no task in it.")
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise InputError(f"{path}: two tasks have the id {task.id!r}. Each needs its own.")
        seen.add(task.id)
    return tasks


@dataclass(eq=False)
class _Evolving:
    """An evolution on its way, whatever ends it."""

    recipe_file: Path
    recipe: Recipe
    tasks: Sequence[Task]
    pool_folder: Path
    known: Catalogue
    options: dict[str, Any]
    ended_by: int = int(signal.SIGINT)
    done: int = 0

    @property
    def name(self) -> str:
        """What the evolution is called."""
        return self.options["name"] or self.recipe_file.stem

    def to_the_end(self) -> int:
        """Evolve, show the report, and give the exit code."""
        self._check()
        try:
            asyncio.run(self._evolved())
        except (KeyboardInterrupt, asyncio.CancelledError):
            click.echo("interrupted. The same command goes on.", err=True)
            return 128 + self.ended_by
        except InputError:
            raise
        except CoterieError as error:
            self._show_report()
            click.echo(f"stopped: {speakable(str(error))} The same command goes on.", err=True)
            return error.exit_code
        self._show_report()
        return 0

    def _check(self) -> None:
        """Find what is wrong before anything is made or spent."""
        from ..strategies import strategy_of
        from ..turn import require_answers

        strategy_of(self.recipe.strategy)
        if self.recipe.score == "answer":
            require_answers(self.tasks)
        if self.recipe.meta_model not in self.known.aliases:
            models = ", ".join(sorted(self.known.aliases))
            raise InputError(
                f"meta_model: no model {self.recipe.meta_model!r} on this host. Known: {models}."
            )

    async def _evolved(self) -> None:
        from ...runtime.command.signals import end_on_signals
        from ..evolution import Evolution, open_folder
        from ..stage import open_stage
        from ..strategies import strategy_of

        end_on_signals(self._note_signal)
        self._fetch_embedded_model()
        pool, ceiling = self._pool()
        folder = open_folder(self.pool_folder, self.name, self._manifest())
        async with open_stage(
            name=self.name,
            recipe=self.recipe,
            catalogue=pool.catalogue,
            ceiling=ceiling,
            setting=self._setting(),
            pool=pool,
            folder=folder,
        ) as stage:
            priced = stage.services.setting.must_be_priced
            await stage.services.gateway.prepare(
                {self.recipe.meta_model} if self._asks_model else (), priced=priced
            )
            evolution = Evolution(
                stage=stage,
                strategy=strategy_of(self.recipe.strategy),
                tasks=self.tasks,
                folder=folder,
                on_turn=self._on_turn,
            )
            await evolution.to_the_end()

    @property
    def _asks_model(self) -> bool:
        """Whether operators or the judge ask the meta-model."""
        evolves = self.recipe.strategy not in {"fixed", "best_of_n"}
        return self.recipe.score == "judge" or (evolves and self.recipe.operators == "model")

    def _note_signal(self, number: int) -> None:
        self.ended_by = number

    def _fetch_embedded_model(self) -> None:
        """Fetch the embedded model, where some alias stands for it."""
        from ...runtime.command.models import pull_with_progress
        from ...schema.models import EMBEDDED

        if any(model.model == EMBEDDED for model in self.known.models.values()):
            pull_with_progress()

    def _pool(self) -> tuple[Pool, Ceiling]:
        """Open the pool, or begin it with the recipe's seeds; and say what children may ask for."""
        from ...pool.pool import Pool
        from ...schema.ceiling import Ceiling, load_ceiling

        beside = self.recipe_file.parent
        known = self.known.beside(beside)
        seeds = [one if one.startswith("seed:") else beside / one for one in self.recipe.seeds]
        if (self.pool_folder / "ledger.jsonl").exists():
            pool = Pool.open(self.pool_folder, catalogue=known)
        else:
            pool = Pool.init(self.pool_folder, seeds, catalogue=known)
        if self.recipe.policy is not None:
            return pool, load_ceiling(beside / self.recipe.policy)
        written = [one.team for one in pool.teams.values() if not one.born.parents]
        ceiling = Ceiling.of(*written)
        return pool, replace(ceiling, models=ceiling.models | frozenset(self.known.models))

    def _setting(self) -> Setting:
        from ...runtime.budget import Caps
        from ...runtime.services import Setting

        budget = self.options["budget"]
        return Setting(
            seed=self.recipe.seed,
            budget=Caps.parse(budget) if budget else Caps(),
            allow_unpriced=self.options["allow_unpriced"],
            cache=self.options["cache"],
            unsafe_local=self.options["unsafe_local"],
        )

    def _manifest(self) -> dict[str, Any]:
        """Say what makes this evolution: a change of it would make another one."""
        recipe = json.dumps(asdict(self.recipe), sort_keys=True)
        tasks = json.dumps([[task.id, task.query, task.context] for task in self.tasks])
        return {
            "recipe": hashlib.sha256(recipe.encode()).hexdigest(),
            "tasks": hashlib.sha256(tasks.encode("utf-8", "backslashreplace")).hexdigest(),
        }

    def _on_turn(self, turn: Mapping[str, Any]) -> None:
        """Show a turn, and commit the pool where that is wanted."""
        self.done += 1
        if not self.options["quiet"]:
            made = f"{len(turn['candidates'])} tried, {len(turn['dropped'])} dropped"
            text = f"{turn['task']}: {turn['score']:g} by {turn['team']} ({made})"
            click.echo(f"{self.done:5} of {len(self.tasks)}  {speakable(text)}", err=True)
        if self.options["use_git"]:
            commit(self.pool_folder, f"{turn['task']}: {turn['score']:g} by {turn['team']}")

    def _show_report(self) -> None:
        from ...pool.ledger import Ledger
        from ..evolution import EVOLUTIONS, TURNS
        from ..report import Report

        turns = Ledger(self.pool_folder / EVOLUTIONS / self.name / TURNS)
        report = Report.of(entry.value for entry in turns.read())
        click.echo(json.dumps(report.value(), indent=2) if self.options["as_json"] else str(report))


def commit(folder: Path, message: str) -> None:
    """Commit a pool, in a repository of its own where it stands in none.

    Raises:
        AgentError: git is not installed, or failed.
    """
    from ...runtime.workspace import git

    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    if git(folder, "status", "--porcelain"):
        git(folder, "commit", "--quiet", "--message", message)


if __name__ == "__main__":
    main()
