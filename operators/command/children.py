"""`mas-op mutate`, `crossover`, `instantiate`, `chance`: a child, its difference and its reason."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from ..components import MUTABLE
from ..proposal import Dropped
from .arguments import (
    FOLDER,
    Host,
    asked_task,
    known_of,
    learnt,
    memory_options,
    model_options,
    policy_option,
    refusal,
    setting_options,
    task_options,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from ...pool.learnt import Learnt
    from ...schema.catalogue import Catalogue
    from ...schema.edits import Tone
    from ...schema.task import Task
    from ...schema.team import Team
    from ..proposal import Proposal

__all__ = ["adapt_team", "cross_teams", "draw_child", "mutate_team"]

component_option = click.option(
    "--component", type=click.Choice(MUTABLE), help="What to change.  [default: the model chooses]"
)
run_option = click.option(
    "--run",
    "runs",
    type=FOLDER,
    multiple=True,
    metavar="RUN",
    help="The folder of a run of the team on the task, as evidence; its task, where none is given.",
)


def child_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what becomes of a child."""
    dry_run = click.option("--dry-run", is_flag=True, help="Only show what would differ, and why.")
    output = click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Where to write the child.  [default: standard output]",
    )
    return dry_run(output(command))


@click.command("mutate", cls=Command)
@click.argument("team")
@task_options
@component_option
@run_option
@child_options
@policy_option
@memory_options
@model_options
@setting_options
def mutate_team(team: str, component: Any, runs: tuple[Path, ...], **options: Any) -> None:
    """Let a model change one component of a team, on as many agents as it takes.

    TEAM is a team file, or seed:NAME. The child goes to standard output or to -o FILE; what
    differs, and why, to standard error. Ends with 1 where the model gave nothing that is valid and
    below the ceiling, also after one repair.
    """
    from ..mutate import mutate

    _make(functools.partial(mutate, component=component), "mutate", [team], runs, options)


@click.command("crossover", cls=Command)
@click.argument("first")
@click.argument("second")
@task_options
@run_option
@child_options
@policy_option
@memory_options
@model_options
@setting_options
def cross_teams(first: str, second: str, runs: tuple[Path, ...], **options: Any) -> None:
    """Let a model make a child of two teams: the topology of one, agents of both.

    Give --run once for each team, in their order, for evidence.
    """
    from ..crossover import crossover

    _make(crossover, "crossover", [first, second], runs, options)


@click.command("instantiate", cls=Command)
@click.argument("team")
@task_options
@run_option
@child_options
@policy_option
@memory_options
@model_options
@setting_options
def adapt_team(team: str, runs: tuple[Path, ...], **options: Any) -> None:
    """Let a model adapt a team to a task; it may add and remove agents."""
    from ..instantiate import instantiate

    _make(instantiate, "instantiate", [team], runs, options)


def _make(
    operator: Callable[..., Awaitable[Proposal | Dropped]],
    path: str,
    teams: Sequence[str],
    runs: tuple[Path, ...],
    options: dict[str, Any],
) -> None:
    """Have an operator make a child of teams, with what the user said, and show it."""
    known = known_of(options)
    task = asked_task(options, known, runs)
    host = Host.of(options, known)
    parents = host.parents(teams, runs)
    memories = _memories(options, task, known)
    made = host.ask(
        host.ceiling(*(one.team for one in parents)),
        lambda meta: operator(meta, path, task, *parents, memories=memories),
    )
    _show(made, task.id, options)


@click.command("chance", cls=Command)
@click.argument("team")
@click.option("--component", type=click.Choice(MUTABLE), required=True, help="What to change.")
@click.option("--edits", type=click.IntRange(1, 100), default=1, help="The most edits.")
@child_options
@policy_option
@setting_options
def draw_child(team: str, component: Any, edits: int, **options: Any) -> None:
    """Change one component of a team at random, for comparison; no model is asked.

    The same team, component and --seed give the same child.
    """
    from ..chance import chance

    known = known_of(options)
    host = Host.of(options, known)
    [parent] = host.parents([team])
    ceiling = host.ceiling(parent.team)
    made = chance(parent.team, component, known, ceiling, seed=options["seed"] or 0, edits=edits)
    _show(made, "", options)


def _memories(options: dict[str, Any], task: Task, known: Catalogue) -> tuple[Learnt, ...]:
    """Give what was learnt on similar tasks, where a pool was named.

    Raises:
        InputError: It is none.
    """
    from ...pool.pool import Pool

    folder = options["memory"]
    pool = None if folder is None else Pool.open(folder, catalogue=known)
    return tuple(one for one, _ in learnt(pool, task, known, options["embedder"]))


def _show(made: Proposal | Dropped, task: str, options: dict[str, Any]) -> None:
    """Show what differs and why, and write the child where it is wanted.

    Raises:
        RunError: There is no child.
        StorageError: It cannot be written.
    """
    from ...schema import dump
    from ...schema.edits import words
    from ...schema.files import write_atomically
    from ...schema.terminal import on_one_line

    if isinstance(made, Dropped):
        raise refusal(made)
    dry_run, output = options["dry_run"], options["output"]
    told = [
        *words(made.base, made.child, _painted),
        f"reason: {on_one_line(made.reason) or 'none given'}",
    ]
    click.echo("\n".join(told), err=not dry_run)
    if dry_run:
        return
    text = dump(_named(made, task, output))
    if output is None:
        click.echo(text, nl=False)
    else:
        write_atomically(output, text)


def _named(made: Proposal, task: str, output: Path | None) -> Team:
    """Give a child its lineage, and the name of its file where that is one."""
    from ...pool.texts import LONGEST_REASON, told, told_all
    from ...schema.edits import summary
    from ...schema.team import Lineage

    lineage = Lineage(
        operator=made.operator,
        parents=tuple(dict.fromkeys(made.parents)),
        edits=told_all(summary(made.base, made.child)),
        reason=told(made.reason, LONGEST_REASON),
        task=task,
    )
    name = output.stem if output and re.fullmatch(r"[a-z][a-z0-9_]{0,63}", output.stem) else None
    return replace(made.child, name=name or made.child.name, lineage=lineage)


def _painted(text: str, tone: Tone, /) -> str:
    """Colour a piece of text; where standard error is no terminal, the colours are left out."""
    from ...schema.command.diff import TONES

    return click.style(text, fg=TONES[tone])
