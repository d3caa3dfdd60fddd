"""`mas op select` and `consolidate`: what a pool offers to a task, and what it learns from it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from ...runtime.terminal import speakable
from ...schema.command import Command
from ...schema.errors import InputError
from ..proposal import Dropped
from .arguments import (
    FOLDER,
    Host,
    asked_task,
    embedder_option,
    known_of,
    learnt,
    model_options,
    refusal,
    setting_options,
    task_options,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...pool.members import Member
    from ...pool.pool import Pool
    from ...schema.catalogue import Catalogue
    from ...schema.task import Task
    from ..consolidate import Step

__all__ = ["consolidate_task", "select_teams"]

MOST_HITS = 10
no_model_option = click.option("--no-model", is_flag=True, help="Ask no model.")


@click.command("select", cls=Command)
@click.argument("pool_folder", metavar="POOL", type=FOLDER)
@click.option("-k", "k", type=click.IntRange(min=1), default=3, show_default=True, help="How many.")
@embedder_option
@task_options
@no_model_option
@model_options
@setting_options
def select_teams(
    pool_folder: Path, k: int, embedder: str | None, no_model: bool, **options: Any
) -> None:
    """Choose the teams of a pool that are to begin with a task, the most promising first.

    Statistics and memory make a shortlist, from which a model chooses. With --no-model, its first
    are taken.
    """
    from ..select import select

    known = known_of(options)
    task = asked_task(options, known)
    pool = _opened(pool_folder, known)
    members = list(pool.teams.values())
    hits = learnt(pool, task, known, embedder, MOST_HITS)
    host = Host.of(options, known)
    if no_model:
        came = asyncio.run(select(None, "select", task, members, k=k, hits=hits))
    else:
        came = host.ask(
            host.ceiling(), lambda meta: select(meta, "select", task, members, k=k, hits=hits)
        )
    if isinstance(came, Dropped):
        raise refusal(came)
    click.echo("\n".join(came.names))
    click.echo(f"reason: {speakable(came.reason)}", err=True)


@click.command("consolidate", cls=Command)
@click.argument("pool_folder", metavar="POOL", type=FOLDER)
@task_options
@no_model_option
@click.option("--dry-run", is_flag=True, help="Only show the summary.")
@model_options
@setting_options
def consolidate_task(pool_folder: Path, no_model: bool, dry_run: bool, **options: Any) -> None:
    """Write what an evolution learnt on a task into its pool's memory.

    The trace is what the pool holds of the task: the teams that were made on it and those that they
    were made of. With --no-model, the summary is the trace in words.
    """
    from ...runtime.journal import digest
    from ..consolidate import consolidate, tell_steps

    known = known_of(options)
    task = asked_task(options, known)
    pool = _opened(pool_folder, known)
    steps = _steps(pool, task)
    path = f"consolidate/{task.id}/{digest(tell_steps(steps))[:12]}"
    host = Host.of(options, known)
    if no_model:
        came = asyncio.run(consolidate(None, path, task, steps))
    else:
        came = host.ask(host.ceiling(), lambda meta: consolidate(meta, path, task, steps))
    if isinstance(came, Dropped):
        raise refusal(came)
    click.echo(speakable(came.text))
    if not dry_run and not pool.commit(came, op=path):
        click.echo("the memory has this entry already.", err=True)


def _opened(folder: Path, known: Catalogue) -> Pool:
    from ...pool.pool import Pool

    return Pool.open(folder, catalogue=known)


def _steps(pool: Pool, task: Task) -> list[Step]:
    """Tell the evolution on a task as the pool has it, parents before their children.

    Raises:
        InputError: The pool has no team that was made on it.
    """
    made = [member for member in pool.teams.values() if member.born.task == task.id]
    if not made:
        raise InputError(
            f"{pool.folder}: no team was made on task {task.id!r}. Give the task of an evolution."
        )
    parents = {name for member in made for name in member.born.parents}
    wanted = parents | {member.name for member in made}
    told = [member for name, member in pool.teams.items() if name in wanted]
    numbers = {member.name: number for number, member in enumerate(told, start=1)}
    return [_step(member, pool, task, numbers) for member in told]


def _step(member: Member, pool: Pool, task: Task, numbers: Mapping[str, int]) -> Step:
    from ..consolidate import Step
    from ..proposal import edit_words

    known = member.on_task(task.id)
    reward = None if known is None else known.score if known.reward is None else known.reward
    was_made_here = member.born.task == task.id
    parents = member.born.parents if was_made_here else ()
    return Step(
        number=numbers[member.name],
        operator=member.born.operator if was_made_here else "select",
        team=member.name,
        content_hash=member.content_hash,
        reward=reward,
        parents=parents,
        sources=tuple(numbers[name] for name in parents),
        edits=edit_words(pool.teams[parents[0]].team, member.team) if parents else (),
        reason=member.born.reason if was_made_here else "",
    )
