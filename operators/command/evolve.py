"""`mas-evolve`: evolves a team, or a pool of teams, on a stream of tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...runtime.command.spending import (
    IN_BATCHES,
    ONE_BY_ONE,
    allow_zeros,
    at_once,
    batch_option,
    otel_option,
    spending_options,
)
from ...schema.command import (
    Command,
    OutputFile,
    catalogue_of,
    host_options,
    problem_format,
    task_options,
)
from ...schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.recipe import Recipe
    from ...schema.loading.task_form import TaskForm
    from ...schema.team.task import Task
    from ..evolution.islands import Islands
    from .evolving import Testing
    from .racing import HandOver

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
EVERY = 5
REPEATS = 3
"""The number of repeats in the EvoMAS paper's evaluations."""


@click.command(
    cls=Command,
    epilog="`mas-view --text POOL` reports on a running or stopped evolution.",
)
@click.argument("recipe_file", metavar="TEAM|RECIPE", type=click.Path(path_type=Path))
@click.argument("tasks_file", metavar="TASKS", type=click.Path(path_type=Path))
@click.option(
    "--pool",
    "pool_folder",
    type=FOLDER,
    help="The pool's folder. A new pool starts with the recipe's seeds.  [default, for a"
    " team: runs/evolve-NAME]",
)
@click.option(
    "--name",
    help="The evolution's name in the pool.  [default: the recipe's file name, with an ending where"
    " branches of the pool are merged]",
)
@click.option(
    "--test",
    "test_file",
    metavar="TASKS",
    type=click.Path(path_type=Path),
    help="Held-out tasks: at the end, measure the pool's best team on them, and its control: the"
    " same team without the lessons.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1, max=1_000),
    help=f"With --test: how many times each team runs on each task.  [default: {REPEATS}]",
)
@click.option(
    "--beside",
    multiple=True,
    metavar="TEAM",
    help="With --test: also measure this team. May be repeated.",
)
@click.option(
    "--test-workers",
    type=click.IntRange(min=1, max=10_000),
    help="With --test: how many runs to make in parallel. Scores do not depend on it.  [default:"
    f" {ONE_BY_ONE}, with --batch {IN_BATCHES}]",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=1_000),
    help="Evolve this many times, with the recipe's random seed and the next ones, each in its"
    " own pool below --pool: seed_0, seed_1 and so on.",
)
@click.option(
    "--island",
    metavar="K/N",
    help="Evolve on the K-th of N parts of TASKS, as one of N islands; see --meet.",
)
@click.option(
    "--meet",
    type=FOLDER,
    metavar="FOLDER",
    help="With --island: the shared folder in which islands exchange their best teams.",
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    help=f"With --island: exchange after this many of the island's tasks.  [default: {EVERY}]",
)
@click.option(
    "--no-wait",
    is_flag=True,
    help="With --island: exit if another island is not ready; repeat the command to resume.",
)
@click.option(
    "--yes", is_flag=True, help="Continue even if the first operators gave no usable answer."
)
@click.option(
    "--embedder",
    help="The embedder: minilm, hashing, or a model's alias.  [default: minilm]",
)
@click.option(
    "--out",
    type=FILE,
    help="For a team: write the better team to this file.  [default: NAME.better.yaml]",
)
@click.option(
    "--in-place",
    is_flag=True,
    help="For a team: change its own file, as one commit in a clean git work tree.",
)
@click.option(
    "--race",
    metavar="CALLS",
    type=click.IntRange(min=1),
    help="With a recipe: at the end, race the pool's most promising teams on TASKS, with at most"
    " this many calls.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Take only the first N tasks.")
@click.option("--view", is_flag=True, help="Show the evolution in a browser while it works.")
@click.option("--git", "use_git", is_flag=True, help="Commit the pool after each task.")
@click.option("--csv", type=OutputFile(), help="Write a CSV file with a line for each task.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@otel_option
@click.option(
    "--dry-run", is_flag=True, help="Check everything, print what would be done, and stop."
)
@batch_option
@spending_options
@allow_zeros
@host_options
@task_options
@problem_format
def main(recipe_file: Path, tasks_file: Path, pool_folder: Path | None, **options: Any) -> None:
    """Find a better version of a team, or evolve a pool of teams over a stream of tasks.

    With TEAM, a team file, changed versions of the team race on TASKS, and the winner is compared
    with it on tasks held back until then. RECIPE names another way to evolve (`mas dev explain
    evolution`). TASKS is a JSONL file with a task on each line, or a folder of task files;
    `mas-bench tasks` writes those of a benchmark.

    Only valid teams enter the pool, whatever a model answers. The same command again resumes an
    interrupted evolution, and shows the report of a finished one; nothing is paid twice. You may
    add tasks at the end.
    """
    from ...schema.loading.recipe import load_recipe
    from ...schema.loading.tasks import placed_tasks
    from .evolving import Evolving
    from .racing import race_of
    from .several import Several

    _refuse_view(options)
    catalogue = catalogue_of(options)
    recipe_file = recipe_file.resolve() if recipe_file.is_dir() else recipe_file
    race = race_of(recipe_file)
    recipe = race or load_recipe(recipe_file)
    _refuse_race(recipe, options)
    hand_over = _hand_over(recipe_file, options, is_team=race is not None)
    pool_folder = pool_folder or _pool_of(recipe_file, recipe)
    form = _form(recipe_file, recipe, options, catalogue)
    placed = placed_tasks(tasks_file, catalogue, form)
    tasks = [*placed.values()][: options["limit"]]
    testing = _testing(recipe, options, catalogue, form)

    islands = _islands(tasks, options)

    places = {task.id: place for place, task in placed.items()}
    own, own_recipe = tasks, recipe
    if islands is not None:
        own, own_recipe = islands.tasks(), islands.seeded(recipe)
    evolving = Evolving(
        recipe_file,
        own_recipe,
        own,
        pool_folder,
        catalogue,
        options,
        testing,
        places,
        islands=islands,
    )
    evolving.refuse_unused()
    if options["seeds"] is not None:
        sys.exit(Several.of(evolving, options["seeds"]).to_the_end())
    evolving.hand_over = hand_over
    sys.exit(evolving.to_the_end())


def _form(
    recipe_file: Path, recipe: Recipe, options: dict[str, Any], catalogue: Catalogue
) -> TaskForm:
    """Return how tasks are read: options take precedence over the recipe."""
    from ...schema.loading.recipe import scorer_of_recipe
    from ...schema.loading.task_form import task_form

    scorer = None if options["scorer"] else scorer_of_recipe(recipe_file, recipe, catalogue)
    return task_form(options, catalogue, scorer=scorer)


def _pool_of(recipe_file: Path, recipe: Recipe) -> Path:
    from .racing import RACE

    if recipe.strategy != RACE:
        raise InputError(f"{recipe_file}: a recipe needs a pool. Name its folder: --pool FOLDER.")
    return Path("runs") / f"evolve-{recipe_file.stem}"


def _refuse_race(recipe: Recipe, options: dict[str, Any]) -> None:
    """Refuse a final race without teams of a pool, and several races in one command."""
    from ..evolution.strategy import strategy_of

    strategy = strategy_of(recipe.strategy)
    if strategy.whole is not None and options["seeds"] is not None:
        raise InputError(
            f"--seeds does not support {recipe.strategy}. Write seed: N in several recipes, each"
            " with its own --pool."
        )
    if options["race"] is None or (strategy.leaves_team and strategy.whole is None):
        return
    why = "races by itself" if strategy.whole else "leaves no team that a pool could deploy"
    raise InputError(f"--race: {recipe.strategy} {why}. Leave the option out.")


def _hand_over(source: Path, options: dict[str, Any], *, is_team: bool) -> HandOver | None:
    """Return where a better team is written; None if the pool keeps it."""
    from .racing import HandOver

    targets = [name for name in ("out", "in_place") if options[name]]
    if targets and (not is_team or options["seeds"] is not None):
        name = f"--{targets[0].replace('_', '-')}"
        raise InputError(f"{name} needs a single team: mas-evolve TEAM TASKS {name} ...")
    if not is_team or options["seeds"] is not None:
        return None
    return HandOver.of(source, options["out"], in_place=options["in_place"])


def _refuse_view(options: dict[str, Any]) -> None:
    """Refuse to show an evolution that is not run, or several ones."""
    if options["view"] and options["dry_run"]:
        raise InputError(
            "--view shows an evolution while it runs, but --dry-run starts none. Leave one of them"
            " out, or open a pool with mas-view POOL."
        )
    if options["view"] and options["seeds"] is not None:
        raise InputError(
            "--view shows one evolution, but --seeds runs several. Open each with mas-view."
        )


def _islands(tasks: Sequence[Task], options: dict[str, Any]) -> Islands | None:
    from ...schema.values.part import Part
    from ..evolution.islands import Islands

    flags = [f"--{name}" for name in ("meet", "every") if options[name] is not None]
    flags += ["--no-wait"] if options["no_wait"] else []
    if options["island"] is None:
        if flags:
            raise InputError(f"{flags[0]} needs an island. Name one, as in --island 1/4.")
        return None
    if options["meet"] is None:
        raise InputError("--island: name the folder where the islands meet, as in --meet islands/.")
    if options["seeds"] is not None:
        raise InputError("--seeds and --island cannot be combined: each counts seeds up.")
    return Islands(
        part=Part.read(options["island"], "--island"),
        every=options["every"] or EVERY,
        stream=tasks,
        place=options["meet"],
        waits=not options["no_wait"],
    )


def _testing(
    recipe: Recipe, options: dict[str, Any], catalogue: Catalogue, form: TaskForm
) -> Testing | None:
    """Return the held-out test that the options choose, if any."""
    from ...pool.teams.sources import load_source
    from ...schema.loading.tasks import placed_tasks
    from .evolving import Testing

    if options["test_file"] is None:
        if options["repeats"] or options["beside"]:
            raise InputError("--repeats and --beside need test tasks. Name them: --test TASKS.")
        return None
    placed = placed_tasks(options["test_file"], catalogue, form)
    tasks = [*placed.values()]
    if recipe.score == "answer":
        from ...schema.loading.tasks import require_answers

        require_answers(tasks)
    return Testing(
        tasks=tasks,
        repeats=options["repeats"] or REPEATS,
        beside=[load_source(item, catalogue) for item in options["beside"]],
        workers=at_once(options["test_workers"], batch=options["batch"]),
        places={task.id: place for place, task in placed.items()},
    )
