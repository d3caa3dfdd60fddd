"""`mas-bench run`, `resume` and `replay`: a team on a benchmark."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...runtime.command.spending import (
    allow_zeros,
    batch_option,
    on_option,
    otel_option,
    setting_of,
    spending_options,
)
from ...schema.command import (
    Command,
    as_json,
    catalogue_of,
    host_options,
    name_options,
    problem_format,
    scorer_option,
)
from ...schema.values.errors import InputError
from ...schema.values.terminal import speakable
from .evaluating import Evaluating, new_folder, recorded
from .options import (
    RESULTS_FOLDER,
    choice_of,
    named,
    own_tasks,
    results_parent,
    source_of,
    tasks,
    verdict,
    workers,
)

if TYPE_CHECKING:
    from ...schema.host.catalogue import Catalogue
    from ..evaluation.results import Request

OFFLINE = {
    "batch": False,
    "budget": None,
    "cache": None,
    "allow_unpriced": True,
    "unsafe_local": False,
    "on": None,
}


@click.command("run", cls=Command)
@click.argument("name", metavar="BENCHMARK|TASKS")
@click.option("--team", "team_file", help="A team file, or seed:NAME.")
@click.option(
    "--recipe",
    "recipe_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Instead of a team: measure the strategy of this recipe with the lessons in --pool.",
)
@click.option(
    "--pool",
    "pool_folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The pool whose memory agents with `recall`, or the recipe's strategy, read. It stays"
    " unchanged.",
)
@click.option(
    "--embedder",
    metavar="NAME",
    help="The embedder that finds similar tasks in the pool: minilm, hashing, or a model's alias."
    "  [default: minilm]",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1, max=1_000),
    help="How many times to try each task.  [default: the benchmark's protocol]",
)
@tasks
@own_tasks
@click.option(
    "--allow-seen",
    is_flag=True,
    help="Also run tasks that the team or the pool has learnt from. The figure is then not a test.",
)
@workers
@batch_option
@spending_options
@allow_zeros
@results_parent
@otel_option
@click.option("--dry-run", is_flag=True, help="Print what would be run; ask no model.")
@verdict
@as_json
@host_options
@problem_format
def run(name: str, team_file: str | None, parent: Path, **options: Any) -> None:
    """Run a team on tasks, and write figures and samples to a folder of results.

    BENCHMARK is one that `mas-bench list` names. TASKS is your own file: .jsonl with a task on each
    line, or .csv with a row for each; its first row names the columns: query and reference, and
    optionally id, niche, context, scorer.

    With --recipe and --pool, a strategy works with the lessons of an evolution in the pool. It
    learns nothing new: the pool stays unchanged, and reference answers have no influence. The same
    command resumes an interrupted evaluation, as long as the pool is unchanged.

    A trial without an answer scores 0. A trial that failed because of the provider or this host has
    no score. It is counted separately, and `mas-bench resume` repeats it.
    """
    from ...runtime.command.loading import load_team_of, refuse_unused
    from ...runtime.plan.plan import compile
    from ...schema.loading.tasks import require_answers
    from ..evaluation.benchmark import find_benchmark
    from ..evaluation.judging import judge_of
    from ..evaluation.learnt_tasks import refuse_learnt
    from ..evaluation.own import JUDGE, is_judged
    from ..evaluation.results import Request

    name = named(name, options)
    benchmark = find_benchmark(name)
    recipe_file, pool = options["recipe_file"], options["pool_folder"]
    if (team_file is None) == (recipe_file is None) or (recipe_file and pool is None):
        raise InputError(
            "name what to run: --team TEAM, with --pool POOL if its agents recall, or --recipe"
            " RECIPE and --pool POOL."
        )
    catalogue = catalogue_of(options)
    trials = options["trials"] or benchmark.trials
    request = Request(
        benchmark=name,
        source=source_of(options, catalogue),
        choice=choice_of(options),
        trials=trials,
    )
    if pool is None and options["embedder"] is not None:
        raise InputError("--embedder needs a pool. Name it with --pool POOL.")
    if team_file is None:
        if options["scorer"] == JUDGE:
            raise InputError(f"--scorer {JUDGE}: set the judge in the recipe instead.")
        sys.exit(_examined(request, catalogue, parent, options))
    team, catalogue, path = load_team_of(team_file, catalogue)
    chosen = request.tasks()
    require_answers([task for task in chosen if not is_judged(task)])
    if pool is not None and not team.recalls:
        raise InputError(f"--pool: no agent of {team.name} recalls anything. Leave it out.")
    if not options["allow_seen"]:
        refuse_learnt(chosen, name, team=team, path=path, pool=pool)
    plan = compile(team, catalogue)
    if (judge := judge_of(chosen, catalogue.models)) is not None:
        plan = replace(plan, models={**plan.models, judge: catalogue.models[judge]})
    refuse_unused(options["model"], [*plan.models, options["embedder"]])
    setting = setting_of({**options, "pool": pool})
    evaluating = Evaluating(request, chosen, plan, catalogue, setting, options, judge)
    if options["dry_run"]:
        click.echo(speakable(f"{evaluating.outlook}\nestimate: {evaluating.estimate()}"))
        return
    evaluating.place = lambda: new_folder(parent, name, team.name)
    sys.exit(evaluating.to_the_end())


def _examined(request: Request, catalogue: Catalogue, parent: Path, options: dict[str, Any]) -> int:
    """Examine a strategy with its pool's lessons; return the exit code."""
    from ...schema.loading.recipe import load_recipe
    from ...schema.loading.tasks import require_answers
    from .examining import Examining

    recipe = load_recipe(options["recipe_file"])
    tasks = request.tasks()
    require_answers(tasks)
    examining = Examining(
        request=request,
        tasks=tasks,
        recipe_file=options["recipe_file"],
        recipe=recipe,
        pool_folder=options["pool_folder"],
        catalogue=catalogue,
        setting=setting_of({**options, "seed": recipe.seed, "embedder": None}),
        options=options,
        parent=parent,
    )
    if options["dry_run"]:
        examining.check()
        click.echo(speakable(f"{examining.outlook}\nestimate: {examining.estimate()}"))
        return 0
    return examining.to_the_end()


@click.command("resume", cls=Command)
@click.argument("folder", metavar="RESULTS", type=RESULTS_FOLDER)
@workers
@batch_option
@spending_options
@allow_zeros
@otel_option
@verdict
@as_json
@host_options
@scorer_option
@problem_format
def resume(folder: Path, **options: Any) -> None:
    """Resume an evaluation: make the missing trials, and repeat those without a score.

    Answers that were paid for are reused. The models are this host's; if they differ from the
    folder's, name them with --model. The budget limits everything together; --budget raises it.
    """
    sys.exit(recorded(folder, options, offline=False).to_the_end())


@click.command("replay", cls=Command)
@click.argument("folder", metavar="RESULTS", type=RESULTS_FOLDER)
@workers
@on_option
@name_options
@scorer_option
@problem_format
def replay(folder: Path, **options: Any) -> None:
    """Repeat an evaluation offline, from its recorded answers, and compare.

    The installed version derives every prompt and scores every answer again. Nothing is changed.
    Exits with code 1 if something differs.
    """
    sys.exit(recorded(folder, {**OFFLINE, **options}).replayed())
