"""`mas-bench evolve`: teams evolve on the tasks of a benchmark, one after the other."""

from __future__ import annotations

import io
import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...runtime.values.terminal import counted, speakable
from ...schema.command import (
    Command,
    catalogue_of,
    host_options,
    problem_format,
    task_options,
)
from ...schema.values.codec import to_value
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from .evaluating import Evaluating, setting_of, words_typed
from .options import as_json, choice_of, named, source_of, spending, tasks, workers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...operators.command.evolving import Evolving
    from ...pool.ledger.members import Member
    from ...pool.teams.pool import Pool
    from ...runtime.plan.plan import Plan
    from ...runtime.record.trace import RunFolder
    from ...schema.host.catalogue import Catalogue
    from ...schema.loading.recipe import Recipe
    from ...schema.team.task import Task
    from ..evaluation.results import Request, Results

__all__ = ["evolve"]

CONTROL = "the control, the same without what was learnt"
CONTROL_FOLDER = "control"
TEST = "test"
"""The folder, in that of the evolution, of what was held out."""
OTHERS = "Leave them out with --instances, or evolve a new pool."


@click.command("evolve", cls=Command)
@click.argument("name", metavar="BENCHMARK|TASKS")
@click.argument("recipe_file", metavar="RECIPE", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--pool",
    "pool_folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The pool. One that does not exist yet begins with the recipe's seeds.",
)
@click.option("--name", "evolution", help="The evolution's name.  [default: the benchmark's]")
@click.option(
    "--freeze",
    is_flag=True,
    help="Evolve on the split 'evolve'; then evaluate the best team, unchanged, on the split"
    " 'test', beside its control: the best team from before the evolution, without its lessons.",
)
@click.option(
    "--beside",
    "baselines",
    multiple=True,
    metavar="TEAM",
    help="With --freeze: run this team on the split test, too. May be given again.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    help="With --freeze: how often each task of the split test is tried.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    help="Evolve this many times, each with another random seed and in a pool of its own below"
    " --pool, as mas-evolve --seeds does; the means have intervals over the seeds.",
)
@click.option("--git", "use_git", is_flag=True, help="Commit the pool after each task.")
@click.option("--dry-run", is_flag=True, help="Check everything, say what it will take, stop.")
@tasks
@workers
@spending
@click.option(
    "--yes",
    is_flag=True,
    help="Go on where none of the operators' first answers was of any use.",
)
@as_json
@host_options
@task_options
@problem_format
def evolve(name: str, recipe_file: Path, pool_folder: Path, **options: Any) -> None:
    """Evolve a pool on the tasks of BENCHMARK, in order, as RECIPE says.

    Each task comes once, and what is learnt on it is used on later ones (EvoMAS App. A.5). The
    online score, the mean over all tasks, is printed. Where the recipe scores by reference answers,
    these also chose each task's best team, so the online score does not tell how good a team is on
    unseen tasks. --freeze measures that: it is printed first, and kept with the evolution in its
    pool. --budget holds for the evolution, and once more for each evaluation. The same command
    again goes on where it was interrupted. The evolution's folder, POOL/evolutions/NAME, holds
    results that `mas-bench table` and `compare` take: each task's best team, at the cost of
    everything that was done for it.
    """
    from ...operators.command.evolving import Evolving
    from ...operators.evolution.evolution import EVOLUTIONS, TURNS
    from ...runtime.command.loading import refuse_unused
    from ...runtime.record.trace import RunFolder
    from ...schema.loading.recipe import load_recipe
    from ...schema.values.secrets import scrubbed
    from ..evaluation.benchmark import find_benchmark
    from ..evaluation.online import write_online
    from ..evaluation.results import Request

    name = named(name, options, judged=False)
    benchmark = find_benchmark(name)
    choice = choice_of(options)
    if options["freeze"] and choice.split != "all":
        raise InputError("--freeze takes both splits. Leave out --split.")
    if options["baselines"] and not options["freeze"]:
        raise InputError("--beside runs teams on the split test. Write --freeze as well.")
    known = catalogue_of(options)
    request = Request(
        benchmark=name,
        source=source_of(options, known),
        choice=replace(choice, split="evolve") if options["freeze"] else choice,
        trials=options["trials"] or benchmark.trials,
    )
    tested = replace(request, choice=replace(choice, split="test", shard=None))
    chosen = request.tasks()
    beside: Mapping[str, Plan] = {}
    if options["freeze"]:
        beside = _tested_beside(tested, chosen, pool_folder, options["baselines"], known)
    given = {**options, "name": options["evolution"], "dry_run": False}
    recipe = load_recipe(recipe_file)
    _refuse_freeze(recipe, options)
    evolving = Evolving(recipe_file, recipe, chosen, pool_folder, known, given, stem=name)
    asked = [alias for plan in beside.values() for alias in plan.models]
    refuse_unused(options["model"], [*(model.alias for model in evolving.start.models), *asked])
    if options["seeds"] is not None:
        evolving.options |= {"dry_run": options["dry_run"]}
        sys.exit(_several(evolving, request, tested if options["freeze"] else None, options))
    if options["dry_run"]:
        _foretell(evolving, tested, beside)
        return
    benchmark.prepare(request.source, chosen)
    online = io.StringIO()  # told after what was held out, which is the figure of a team
    with redirect_stdout(online) if options["freeze"] else nullcontext():
        code = evolving.to_the_end()
    folder = RunFolder(pool_folder / EVOLUTIONS / evolving.name, scrubbed)
    if (folder.path / TURNS).exists():
        once = replace(request, trials=1)
        write_online(folder, once, recipe, known.models, benchmark, command=words_typed())
    if code == 0 and options["freeze"]:
        code = _frozen(tested, folder.path, pool_folder, known, options)
    if told := online.getvalue():
        by = "a judge" if recipe.score == "judge" else "its reference answer, so no held-out figure"
        _head(f"online, each task's team chosen by {by}", options)
        click.echo(told, nl=False)
    sys.exit(code)


def _refuse_freeze(recipe: Recipe, options: dict[str, Any]) -> None:
    """Refuse to freeze what makes a team for each task.

    Raises:
        InputError: It does.
    """
    from ...operators.evolution.strategy import strategy_of

    if options["freeze"] and strategy_of(recipe.strategy).teams is not None:
        raise InputError(
            f"--freeze: {recipe.strategy} makes a team for each task, and leaves none to freeze."
            " Test it as it is: mas-bench run BENCHMARK --recipe RECIPE --pool POOL --split test."
        )


def _head(text: str, options: dict[str, Any]) -> None:
    """Print what the following figures are of; JSON says so itself."""
    if not options["as_json"]:
        click.echo(speakable(f"== {text} =="))


def _foretell(evolving: Evolving, tested: Request, beside: Mapping[str, Plan]) -> None:
    """Say what the evolution and the evaluations after it will take; make and spend nothing.

    Raises:
        InputError: Something is wrong with the evolution.
    """
    from ...operators.command.expected import evolved_team
    from ...runtime.runs.estimate import Range, estimate

    evolving.check()
    if evolving.options["freeze"]:
        chosen, many = tested.tasks(), tested.trials
        begun = (evolving.folder / TEST).exists()
        often = Range(least=0 if begun else many, most=many)
        alone = evolved_team(evolving.start, chosen)
        each = {"the frozen team": alone * often}
        each[CONTROL] = alone * Range(least=0, most=many)
        for source, plan in beside.items():
            each[source] = estimate(plan, chosen) * often
        on = f"{counted(len(chosen), 'task')} x {counted(many, 'trial')}"
        for who, found in each.items():
            click.echo(speakable(f"held out: {on} by {who}: {found}"))
    evolving.foretell()


def _tested_beside(
    request: Request,
    stream: Sequence[Task],
    pool: Path,
    baselines: Sequence[str],
    known: Catalogue,
) -> dict[str, Plan]:
    """Find what is wrong with the evaluations before the evolution is paid for.

    Returns:
        The teams that are tested as well, by what the user calls them.
    """
    from ...pool.memory.seen import Seen
    from ...runtime.command.loading import load_team_of
    from ...runtime.plan.plan import compile
    from ...schema.loading.tasks import require_answers
    from ..evaluation.seen import places_in, refuse_seen

    chosen, name = request.tasks(), request.benchmark
    require_answers(chosen)
    seen = Seen.of(stream, places_in(f"{name}, split evolve", stream)) | Seen.by(pool)
    seen.refuse(chosen, OTHERS, places=places_in(f"{name}, split test", chosen))
    plans: dict[str, Plan] = {}
    for team_file in baselines:
        team, offered, path = load_team_of(team_file, known)
        refuse_seen(chosen, request.benchmark, team=team, path=path)
        plans[team_file] = compile(team, offered)
    return plans


def _frozen(
    request: Request, evolution: Path, folder: Path, known: Catalogue, options: dict[str, Any]
) -> int:
    """Evaluate the best team of a pool, its control and others, on what none of them has seen."""
    from ...operators.report.heldout import control_of
    from ...pool.teams.pool import Pool
    from ...pool.view import Views
    from ...runtime.messages.recall import recalls
    from ..comparison.comparing import compare

    pool, parent = Pool.open(folder, catalogue=known), evolution / TEST
    best, before = _best(pool), Views(pool, evolution.name).upto(-1)
    control = control_of(pool, before)
    tested: list[tuple[str, str, Path | None, str]] = [
        ("the frozen team", str(best.path), folder, "")
    ]
    if control.name != best.name or recalls(best.team):
        tested.append((CONTROL, str(control.path), None, CONTROL_FOLDER))
    tested += [("beside it", team, folder, "") for team in options["baselines"]]
    for what, team, recalled, place in tested:
        _head(f"held out, {what}: {team}", options)
        code = _evaluated(request, team, parent, known, options, pool=recalled, name=place)
        if code:
            return code
    if (parent / CONTROL_FOLDER).exists():
        _head(f"held out, {CONTROL}, and the frozen team", options)
        comparison = compare(parent / CONTROL_FOLDER, parent / best.team.name)
        click.echo(dumps(comparison.value(), indent=2) if options["as_json"] else str(comparison))
    return 0


def _best(pool: Pool) -> Member:
    """Return the team with the highest expected score: a lucky score does not decide."""
    from ...pool.expectation.expectation import most_promising

    best, expected = most_promising(pool)
    low, high = best.statistics.interval
    click.echo(
        speakable(
            f"frozen: {best.name}, which is expected to score {expected}, and scored"
            f" {best.statistics.score or 0:.3f} [{low:.3f}, {high:.3f}] over {best.statistics.n}"
            " evaluations"
        ),
        err=True,
    )
    return best


def _evaluated(
    request: Request,
    team_file: str,
    parent: Path,
    known: Catalogue,
    options: dict[str, Any],
    *,
    pool: Path | None,
    name: str,
) -> int:
    """Evaluate a team; where a pool is given, agents recall from its current state."""
    from ...runtime.command.loading import load_team_of
    from ...runtime.messages.recall import recalls
    from ...runtime.plan.plan import compile
    from ...runtime.runs.record import MANIFEST
    from ...schema.values.secrets import scrubbed
    from ..evaluation.results import Results
    from ..evaluation.seen import refuse_seen

    team, known, path = load_team_of(team_file, known)
    chosen = request.tasks()
    recalled = pool if recalls(team) else None
    refuse_seen(chosen, request.benchmark, team=team, path=path, pool=recalled)
    plan = compile(team, known)
    setting = replace(setting_of(options), pool=recalled)
    evaluating = Evaluating(request, chosen, plan, known, setting, options)
    folder = parent / (name or team.name)
    if (folder / MANIFEST).exists():
        evaluating.results = Results.open(folder, scrub=scrubbed)
        _check_same(evaluating.results, request, plan)
    evaluating.place = lambda: _made(folder)
    return evaluating.to_the_end()


def _made(folder: Path) -> RunFolder:
    from ...runtime.record.trace import RunFolder
    from ...schema.values.files import make_folder
    from ...schema.values.secrets import scrubbed

    for path in (folder.parent, folder):
        make_folder(path)
    return RunFolder(folder, scrubbed)


def _check_same(results: Results, request: Request, plan: Plan) -> None:
    """Make sure that what was begun is what is wanted now."""
    was = (to_value(results.request), results.head["content_hash"])
    if was != (to_value(request), plan.content_hash):
        raise InputError(
            f"{results.folder.path} holds another evaluation, of other tasks or another team."
            " Give what it was begun with, or move it away."
        )


def _several(
    evolving: Evolving, request: Request, tested: Request | None, options: dict[str, Any]
) -> int:
    """Evolve with several seeds, test each deployed team, and give the exit code."""
    from ...operators.command.evolving import Testing
    from ...operators.command.several import Several
    from ...operators.evolution.evolution import TURNS
    from ...pool.teams.sources import load_source
    from ...runtime.record.trace import RunFolder
    from ...schema.values.secrets import scrubbed
    from ..evaluation.benchmark import find_benchmark
    from ..evaluation.online import write_online
    from ..evaluation.seen import places_in

    if tested is not None:
        held_out = tested.tasks()
        evolving.testing = Testing(
            tasks=held_out,
            repeats=tested.trials,
            beside=[load_source(team, evolving.known) for team in options["baselines"]],
            places=places_in(f"{tested.benchmark}, split test", held_out),
            workers=options["workers"],
        )
    several = Several.of(evolving, options["seeds"])
    benchmark = find_benchmark(request.benchmark)
    if not options["dry_run"]:
        benchmark.prepare(request.source, evolving.tasks)
    code = several.to_the_end()
    for evolution in several.evolutions:
        folder, once = RunFolder(evolution.folder, scrubbed), replace(request, trials=1)
        if (evolution.folder / TURNS).exists():
            write_online(
                folder,
                once,
                evolution.recipe,
                evolution.known.models,
                benchmark,
                command=words_typed(),
            )
    return code
