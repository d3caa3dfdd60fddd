"""`mas-op` of what adapts a team while it works: contributions, coach, restructure, enlist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...runtime.terminal import speakable
from ...schema.codec import to_value
from ...schema.command import Command
from ...schema.errors import InputError
from ...schema.json_text import dumps
from ..adaptation import AdaptationSettings
from ..answers import child_of
from ..coach import SHORTEST, coach
from ..enlist import FEWEST, enlist
from ..proposal import Dropped, Proposal
from ..restructure import lasting_low, restructure
from ..roles import ROLES, alone, load_roles
from .arguments import (
    FILE,
    FOLDER,
    Host,
    asked_task,
    known_of,
    model_options,
    policy_option,
    refusal,
    run_option,
    setting_options,
    task_options,
)
from .children import child_options, must_have, show_child
from .worked import Worked, read_judged, said_of

if TYPE_CHECKING:
    from pathlib import Path

    from ...schema.team import Team
    from ..coach import Coaching
    from ..contributions import Contribution
    from ..meta import Meta

__all__ = ["coach_agent", "enlist_team", "judge_round", "restructure_team"]

USUAL = AdaptationSettings()
roles_option = click.option(
    "--roles",
    type=FOLDER,
    default=ROLES,
    help="The catalogue: a folder of agent files.  [default: the one that comes with coterie]",
)


@click.command("contributions", cls=Command)
@click.argument("team")
@run_option
@task_options
@model_options
@setting_options
def judge_round(team: str, run_folder: Path, **options: Any) -> None:
    """Let a model judge what each agent of a team contributed to a run, and how good the whole is.

    TEAM is a team file, or seed:NAME. What the model says goes to standard output as JSON, which
    coach and restructure read with --judged. It is not shown the reference answer.
    """
    worked = Worked.of(team, run_folder, options)
    came = worked.host.ask(worked.host.ceiling(worked.team), worked.judged)
    if isinstance(came, Dropped):
        raise refusal(came)
    click.echo(dumps(to_value(came), indent=2))
    click.echo(f"score {came.score:.3g}: {speakable(came.reason)}", err=True)


@click.command("coach", cls=Command)
@click.argument("team")
@click.argument("agent")
@run_option
@click.option(
    "--judged",
    type=FILE,
    help="What contributions said of the run.  [default: the model is asked for that first]",
)
@click.option(
    "--room",
    type=click.IntRange(min=SHORTEST),
    default=USUAL.room,
    show_default=True,
    help="The most characters of what the agent is told.",
)
@task_options
@child_options
@policy_option
@model_options
@setting_options
def coach_agent(
    team: str, agent: str, run_folder: Path, judged: Path | None, room: int, **options: Any
) -> None:
    """Let a model tell an agent of a team what it did wrong in a run, and what to do in the next.

    TEAM is a team file, or seed:NAME; AGENT is the id of one of its agents. The child, in which the
    agent has that in its notes, goes to standard output or to -o FILE; what differs, to standard
    error.
    """
    worked = Worked.of(team, run_folder, options)
    _must_ask_a_model(worked.team, agent)
    known = None if judged is None else said_of(agent, judged)

    async def work(meta: Meta) -> Proposal | Dropped:
        said = known
        if said is None:
            whole = await worked.judged(meta)
            if isinstance(whole, Dropped):
                return whole
            said = whole.of[agent]
        came = await _coached(meta, worked, agent, said, room)
        return came if isinstance(came, Dropped) else _with(came, worked.team, meta)

    show_child(worked.host.ask(worked.host.ceiling(worked.team), work), worked.task.id, options)


@click.command("restructure", cls=Command)
@click.argument("team")
@run_option
@click.option(
    "--judged",
    type=FILE,
    multiple=True,
    help="What contributions said of a round; once for each round, the first one first.",
)
@roles_option
@click.option(
    "--agents",
    type=click.IntRange(min=0),
    default=USUAL.b_agents,
    show_default=True,
    help="The most agents that come and go.",
)
@click.option(
    "--edges",
    type=click.IntRange(min=0),
    default=USUAL.b_edges,
    show_default=True,
    help="The most edges that come and go.",
)
@click.option(
    "--low",
    type=click.FloatRange(0, 1),
    default=USUAL.low,
    show_default=True,
    help="Who contributed less in each of the last rounds may go.",
)
@click.option(
    "--patience",
    type=click.IntRange(min=1),
    default=USUAL.patience,
    show_default=True,
    help="How many rounds those are; with fewer --judged, nobody may go.",
)
@task_options
@child_options
@policy_option
@model_options
@setting_options
def restructure_team(
    team: str,
    run_folder: Path,
    judged: tuple[Path, ...],
    roles: Path,
    **options: Any,
) -> None:
    """Let a model take agents of a catalogue's roles into a team, let go of some, and move edges.

    TEAM is a team file, or seed:NAME. The child goes to standard output or to -o FILE; what
    differs, and why, to standard error.
    """
    worked = Worked.of(team, run_folder, options)
    catalogue = load_roles(roles, worked.host.known)
    rounds = [read_judged(file) for file in judged]
    dying = lasting_low(rounds, below=options["low"], rounds=options["patience"])

    async def work(meta: Meta) -> Proposal | Dropped:
        return await restructure(
            meta,
            "restructure",
            worked.task,
            worked.account,
            rounds,
            team=worked.team,
            roles=catalogue,
            dying=dying,
            agents=options["agents"],
            edges=options["edges"],
        )

    ceiling = worked.host.ceiling(worked.team, *alone(catalogue))
    show_child(worked.host.ask(ceiling, work), worked.task.id, options)


@click.command("enlist", cls=Command)
@click.argument("team")
@roles_option
@click.option(
    "--most",
    type=click.IntRange(min=FEWEST),
    default=USUAL.most_agents,
    show_default=True,
    help="The most agents.",
)
@task_options
@child_options
@policy_option
@model_options
@setting_options
def enlist_team(team: str, roles: Path, most: int, **options: Any) -> None:
    """Let a model make a team of a catalogue's roles for a task.

    TEAM is a team file, or seed:NAME, which gives all but agents and topology. The child goes to
    standard output or to -o FILE; what differs, and why, to standard error.
    """
    known = known_of(options)
    task = asked_task(options, known)
    host = Host.of(options, known)
    [frame] = (parent.team for parent in host.parents([team]))
    catalogue = load_roles(roles, known)
    made = host.ask(
        host.ceiling(frame, *alone(catalogue)),
        lambda meta: enlist(meta, "enlist", task, frame, catalogue, most=most),
    )
    show_child(made, task.id, options)


def _must_ask_a_model(team: Team, agent: str) -> None:
    must_have(team, agent)
    if team.backend_of(team.agents[agent]) == "function":
        raise InputError(f"{agent!r} of {team.name} is a function, and reads no coaching.")


async def _coached(
    meta: Meta, worked: Worked, agent: str, said: Contribution, room: int
) -> Coaching | Dropped:
    return await coach(
        meta,
        f"coach/{agent}",
        worked.task,
        worked.account,
        agent=agent,
        contribution=said,
        share=1,
        room=min(room, meta.limits.characters),
    )


def _with(coaching: Coaching, team: Team, meta: Meta) -> Proposal:
    """Give the team in which an agent has its coaching."""
    child = child_of(team, (coaching.edit,), meta.catalogue, meta.ceiling)
    return Proposal.of("coach", team, (coaching.edit,), reason=coaching.wrong, child=child)
