"""`mas op` of what agents learn from a task: reflect, fuse."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ...runtime.terminal import speakable
from ...schema.command import Command
from ...schema.json_text import dumps
from ..population.fusing import fuse
from ..population.reflecting import reflect
from ..population.work import Work, persona_of
from ..proposal import Dropped
from .arguments import (
    FRACTION,
    Host,
    known_of,
    model_options,
    refusal,
    run_option,
    setting_options,
    task_options,
)
from .children import must_have
from .worked import Worked

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["fuse_texts", "reflect_on_run", "work_of"]


@click.command("reflect", cls=Command)
@click.argument("team")
@click.argument("agent")
@run_option
@click.option(
    "--reward",
    type=FRACTION,
    help="What the team's answer was worth.  [default: the score of the run]",
)
@task_options
@model_options
@setting_options
def reflect_on_run(
    team: str, agent: str, run_folder: Path, reward: float | None, **options: Any
) -> None:
    """Let a model put what an agent of a team should know from now on into words.

    TEAM is a team file, or seed:NAME; AGENT is the id of one of its agents. A lesson for tasks of
    the same kind and an insight for tasks of any go to standard output as JSON; either may be
    empty. The model is not shown the reference answer.
    """
    worked = Worked.of(team, run_folder, options)
    work = work_of(worked, agent)
    worth = worked.reward(run_folder) if reward is None else reward
    came = worked.host.ask(
        worked.host.ceiling(worked.team),
        lambda meta: reflect(meta, f"reflect/{agent}", worked.task, work, reward=worth),
    )
    if isinstance(came, Dropped):
        raise refusal(came)
    click.echo(dumps(asdict(came), indent=2, ensure_ascii=False))


@click.command("fuse", cls=Command)
@click.argument("earlier")
@click.argument("new")
@model_options
@setting_options
def fuse_texts(earlier: str, new: str, **options: Any) -> None:
    """Let a model merge two texts that say almost the same.

    EARLIER and NEW are the texts themselves. The one that takes their place goes to standard
    output.
    """
    host = Host.of(options, known_of(options))
    came = host.ask(host.ceiling(), lambda meta: fuse(meta, "fuse", earlier, new))
    if isinstance(came, Dropped):
        raise refusal(came)
    click.echo(speakable(came))


def work_of(worked: Worked, agent: str, score: float | None = None) -> Work:
    """Take what one agent of a team did.

    Args:
        worked: The team that worked.
        agent: The agent's id.
        score: What its own answer was worth, where that is known.

    Raises:
        InputError: There is no such agent.
    """
    must_have(worked.team, agent)
    one = worked.team.agents[agent]
    persona = persona_of(one, worked.host.known)
    return Work(
        agent=one.member or agent,
        persona=persona,
        account=worked.account,
        positions=(agent,),
        score=score,
    )
