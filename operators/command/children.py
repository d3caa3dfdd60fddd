"""`mas op` of operators that make a child of teams: the child, its difference and its reason."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from ...schema.errors import InputError
from ...schema.hints import did_you_mean
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
    from ..meta import Meta
    from ..operator import Operator
    from ..proposal import Parent, Proposal

__all__ = [
    "child_command",
    "child_options",
    "component_option",
    "must_have",
    "mutate_team",
    "painted",
    "show_child",
]

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


OPTIONS = (task_options, run_option, child_options, policy_option, memory_options, model_options)
PLACES = ((), ("team",), ("first", "second"), ("first", "second", "third"))
"""What teams are called in the words of a command, by how many there are."""
AGENTS = ("agent", "other_agent")
CHILD = (
    "Teams are team files, or seed:NAME. The child goes to standard output or to -o FILE; what"
    " differs, and why, to standard error. Ends with 1 where there is no valid child below the"
    " ceiling."
)
SEVERAL = " Give --run once for each team, in their order, for evidence."


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


def child_command(operator: Operator) -> click.Command:
    """Make the command of an operator that makes a child of teams."""

    def run(runs: tuple[Path, ...], **options: Any) -> None:
        names = [options.pop(one) for one in places]
        agents = [options.pop(one) for one in AGENTS[:many]]
        act = functools.partial(_with_agents, operator.act, agents)
        _make(act, operator.name, names, runs, options)

    many = {"agent": 1, "pair": 2}.get(operator.scale, 0)
    places = PLACES[operator.teams]
    for option in reversed((*OPTIONS, setting_options)):
        run = option(run)
    for place in reversed((*places, *AGENTS[:many])):
        run = click.argument(place)(run)
    told = f"{operator.about}\n\n{CHILD}{SEVERAL if operator.teams > 1 else ''}"
    return click.command(operator.name, cls=Command, help=told)(run)


async def _with_agents(
    act: Callable[..., Awaitable[Proposal | Dropped]],
    agents: Sequence[str],
    meta: Meta,
    path: str,
    task: Task,
    *parents: Parent,
    memories: Sequence[Learnt],
) -> Proposal | Dropped:
    """Let an operator act on agents of its parent.

    Raises:
        InputError: There is no such agent.
    """
    for agent in agents:
        must_have(parents[0].team, agent)
    return await act(meta, path, task, *parents, *agents, memories=memories)


def must_have(team: Team, agent: str) -> None:
    """Make sure that a team has an agent.

    Raises:
        InputError: It has none of that id.
    """
    if agent not in team.agents:
        hint = did_you_mean(agent, team.agents) or f" Agents: {', '.join(team.agents)}."
        raise InputError(f"no agent {agent!r} in {team.name}.{hint}")


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
    show_child(made, task.id, options)


def _memories(options: dict[str, Any], task: Task, known: Catalogue) -> tuple[Learnt, ...]:
    """Give what was learnt on similar tasks, where a pool was named.

    Raises:
        InputError: It is none.
    """
    from ...pool.pool import Pool

    folder = options["memory"]
    pool = None if folder is None else Pool.open(folder, catalogue=known)
    return tuple(one for one, _ in learnt(pool, task, known, options["embedder"]))


def show_child(made: Proposal | Dropped, task: str, options: dict[str, Any]) -> None:
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
        *words(made.base, made.child, painted),
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


def painted(text: str, tone: Tone, /) -> str:
    """Colour a piece of text; where standard error is no terminal, the colours are left out."""
    from ...schema.command.diff import TONES

    return click.style(text, fg=TONES[tone])
