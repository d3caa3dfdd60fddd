"""`mas op lead` and `lead_review`: how a team of a population works together, and what of that."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import click

from ...pool.evolutions import population_of
from ...pool.pool import Pool
from ...pool.population import ANCHOR, Population
from ...pool.sources import load_source
from ...runtime.terminal import speakable
from ...schema.command import Command
from ...schema.errors import InputError
from ..population.compose import compose, seats
from ..population.lead_review import lead_review
from ..population.leading import Leader, closest, lead
from ..population.seating import STRUCTURES, fits, seat_of
from ..population.settings import PopulationSettings
from ..proposal import Dropped
from .arguments import (
    FOLDER,
    FRACTION,
    Host,
    asked_task,
    known_of,
    model_options,
    refusal,
    run_option,
    setting_options,
    task_options,
)
from .worked import Worked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...schema.task import Task
    from ...schema.team import Team

__all__ = ["lead_team", "review_lead"]

USUAL = PopulationSettings()


@click.command("lead", cls=Command)
@click.argument("pool", type=FOLDER)
@click.argument("agents", nargs=-1)
@click.option(
    "--structure",
    "structures",
    metavar="TEAM",
    multiple=True,
    help="A structure that may be chosen: a team file whose agents are seats, or seed:NAME; give it"
    " once for each.  [default: the four that come with coterie]",
)
@click.option(
    "--team-size",
    type=click.IntRange(min=1),
    default=USUAL.team_size,
    show_default=True,
    help="How many work, where no agents are named.",
)
@click.option(
    "--bank",
    type=click.IntRange(min=0),
    default=USUAL.bank,
    show_default=True,
    help="How many earlier rounds of leadership the leader is shown.",
)
@task_options
@model_options
@setting_options
def lead_team(
    pool: Path,
    agents: tuple[str, ...],
    structures: tuple[str, ...],
    team_size: int,
    bank: int,
    **options: Any,
) -> None:
    """Let the leader of a team of a population choose the structure by which it works on a task.

    POOL is the pool of the population; AGENTS are those who work, the leader first; without any,
    they are chosen as EvoChamber does. The structure's name goes to standard output; who works, and
    why so, to standard error.
    """
    known = known_of(options)
    task = asked_task(options, known)
    host, population = Host.of(options, known), population_of(Pool.open(pool))
    chosen = _chosen(population, agents, task, team_size, host.seed)
    offered = _fitting([load_source(one, known) for one in structures or STRUCTURES], [*chosen])
    leader = _leader(pool, population, chosen, task)
    rounds = closest(population.rounds, leader.profile, task.niche or "", bank)
    made = host.ask(
        host.ceiling(*offered.values()),
        lambda meta: lead(meta, "lead", task, leader, offered, known=rounds),
    )
    if isinstance(made, Dropped):
        raise refusal(made)
    click.echo(made.structure)
    click.echo(f"team: {', '.join(f'{name} ({seat})' for seat, name in chosen.items())}", err=True)
    click.echo(speakable(f"why: {made.reason or 'there is no other'}"), err=True)


@click.command("lead_review", cls=Command)
@click.argument("pool", type=FOLDER)
@click.argument("team")
@run_option
@click.option(
    "--reward",
    type=FRACTION,
    help="What the team's answer was worth.  [default: the score of the run]",
)
@task_options
@model_options
@setting_options
def review_lead(
    pool: Path, team: str, run_folder: Path, reward: float | None, **options: Any
) -> None:
    """Let the leader of a team say why the structure by which it worked did or did not work.

    POOL is the pool of the population; TEAM is the file of a team whose seats are taken, as a pool
    keeps them under worked/. The note goes to standard output. The model is not shown the reference
    answer.
    """
    worked = Worked.of(team, run_folder, options)
    worth = worked.reward(run_folder) if reward is None else reward
    leader = _leader(pool, population_of(Pool.open(pool)), _seated(worked.team), worked.task)
    said = worked.host.ask(
        worked.host.ceiling(worked.team),
        lambda meta: lead_review(
            meta,
            "lead_review",
            worked.task,
            leader,
            worked.account,
            structure=worked.team.name,
            reward=worth,
        ),
    )
    if isinstance(said, Dropped):
        raise refusal(said)
    click.echo(speakable(said))


def _chosen(
    population: Population, agents: Sequence[str], task: Task, size: int, seed: int | None
) -> Mapping[str, str]:
    """Give who works by their seats.

    Raises:
        InputError: There are too few agents.
    """
    if agents:
        return dict(zip(seats(len(agents)), agents, strict=True))
    chance = random.Random(seed)  # noqa: S311 - guards nothing
    return compose(population, task.niche or "", size, USUAL, chance)


def _leader(folder: Path, population: Population, chosen: Mapping[str, str], task: Task) -> Leader:
    """Tell who leads.

    Raises:
        InputError: An agent is not among those of the population.
    """
    if strange := [one for one in chosen.values() if one not in population.agents]:
        known = ", ".join(population.agents) or "none"
        raise InputError(f"{folder}: no agent {strange[0]!r} is in this pool. Agents: {known}.")
    agents = {name: one.agent for name, one in Pool.open(folder).agents.items()}
    return Leader.of(population, chosen, agents, task.niche or "")


def _fitting(teams: Sequence[Team], taken: Sequence[str]) -> Mapping[str, Team]:
    """Give the structures that work with those who are there.

    Raises:
        InputError: A team is no structure, or none fits.
    """
    offered = {one.name: one for one in teams if fits(one, taken)}
    if not offered:
        raise InputError(f"no structure works with {', '.join(taken)} only. Let more agents work.")
    return offered


def _seated(team: Team) -> Mapping[str, str]:
    """Give who sits where in a team, the anchor first.

    Raises:
        InputError: Its seats are not taken by agents of a pool.
    """
    taken = {seat_of(one.id): one.member for one in team.agents.values() if one.member}
    found = {seat: name for seat in sorted(filter(None, taken)) if (name := taken[seat])}
    if ANCHOR not in found:
        raise InputError(
            f"{team.name}: nobody of a pool sits in the seat of the anchor. Give a team that"
            " worked, as a pool keeps it under worked/."
        )
    return found
