"""`mas op` of a team that looks back on a run: retrospect, settle, reorganise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import click

from ...schema.command import Command
from ...schema.errors import InputError
from ...schema.terminal import on_one_line
from ..proposal import Proposal
from ..retrospective import (
    Ground,
    How,
    Scheme,
    Told,
    gate,
    interactions,
    look_back,
    retrospect,
    settle,
    speakers,
)
from .arguments import (
    FRACTION,
    model_options,
    policy_option,
    refusal,
    run_option,
    setting_options,
    task_options,
)
from .children import child_options, must_have, show_child
from .worked import Worked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from ...runtime.score import Score
    from ...schema.edits import Edit
    from ...schema.team import Team
    from ..meta import Meta
    from ..proposal import Dropped
    from ..retrospective import Exchange, Reflected, Refused, Retrospective, Settlement

__all__ = ["reorganise_team", "retrospect_on_run", "settle_pair"]

DIALOGUE = 200_000
"""Characters that are read of each agent's conversation."""
LEVELS = ("agent", "pair", "team")

questions_option = click.option(
    "--questions",
    "evidence",
    type=click.IntRange(0, 20),
    default=2,
    show_default=True,
    help="The most questions that an agent may put to colleagues.",
)


def looking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of whoever looks back on a run."""
    own = click.option(
        "--own-models/--one-model",
        default=True,
        show_default=True,
        help="Whether agents answer with their own models, or all with --meta-model.",
    )
    worth = click.option(
        "--reward", type=FRACTION, help="What the answer was worth.  [default: the run's score]"
    )
    shows = click.option("--show-answer", is_flag=True, help="Show the task's reference answer.")
    for option in (
        setting_options,
        model_options,
        policy_option,
        child_options,
        task_options,
        own,
        shows,
        worth,
        run_option,
    ):
        command = option(command)
    return command


@click.command("retrospect", cls=Command)
@click.argument("team")
@click.argument("agent")
@questions_option
@looking_options
def retrospect_on_run(
    team: str, agent: str, run_folder: Path, evidence: int, **options: Any
) -> None:
    """Let an agent look back on a run, in a further turn of its own conversation.

    TEAM is a team file, or seed:NAME; AGENT is the id of one of its agents. The agent may put
    questions to those it exchanged messages with; each answers from its own conversation. The team
    with the agent's new notes goes to standard output or to -o FILE; what differs, and what the
    agent tells its team, to standard error.
    """
    looking = _Looking.at(team, run_folder, options)
    must_have(looking.worked.team, agent)
    looking.must_have_spoken(agent)
    came: Reflected = looking.ask(
        lambda meta: retrospect(
            meta, f"retrospect/{agent}", looking.ground, agent, evidence=evidence
        )
    )
    _tell(_evidence(came.evidence), came.refused, came.lost)
    if came.lost and not came.summary:
        raise refusal(came.lost[-1])
    looking.show("retrospect", came.edits, came.summary, options)


@click.command("settle", cls=Command)
@click.argument("team")
@click.argument("agent")
@click.argument("other_agent")
@click.option("--alone", is_flag=True, help="Neither tells the other how their work went.")
@looking_options
def settle_pair(
    team: str, agent: str, other_agent: str, run_folder: Path, alone: bool, **options: Any
) -> None:
    """Let two agents that worked together in a run note what they learnt about each other.

    TEAM is a team file, or seed:NAME; AGENT and OTHER_AGENT are ids of its agents, of which one
    read what the other said. Each tells the other how their work went, then notes what it knows of
    the other. The team with their new notes goes to standard output or to -o FILE; what differs to
    standard error.
    """
    looking = _Looking.at(team, run_folder, options)
    pair = looking.pair(agent, other_agent)
    came: Settlement = looking.ask(
        lambda meta: settle(
            meta, f"settle/{pair[0]} {pair[1]}", looking.ground, pair, exchange=not alone
        )
    )
    told = [f"{one} told: {on_one_line(text)}" for one, text in came.accounts.items()]
    _tell(told, came.refused, came.lost)
    if not came.edits and came.lost:
        raise refusal(came.lost[-1])
    looking.show("settle", came.edits, f"{pair[0]} and {pair[1]} worked together.", options)


@click.command("reorganise", cls=Command)
@click.argument("team")
@questions_option
@click.option(
    "--scheme",
    type=click.Choice(get_args(Scheme)),
    default="collaborative",
    show_default=True,
    help="Who reads what happened: one analyser all; each agent its own; or that with exchange.",
)
@click.option(
    "--level",
    "levels",
    type=click.Choice(LEVELS),
    multiple=True,
    help="Look back only at this level; may be given several times.  [default: at all three]",
)
@looking_options
def reorganise_team(
    team: str,
    run_folder: Path,
    evidence: int,
    scheme: Any,
    levels: tuple[str, ...],
    **options: Any,
) -> None:
    """Let a team look back on a run, and change its notes, its rules and its roster.

    TEAM is a team file, or seed:NAME. Agents look back on themselves, then pairs that worked
    together settle what they learnt, then the team decides by what they tell it: so the last level
    knows nothing where the others are left out. The team that it leads to goes to standard output
    or to -o FILE; what differs, and what may not be kept, to standard error.
    """
    looking = _Looking.at(team, run_folder, options)
    wanted = {f"{one}_level": one in (levels or LEVELS) for one in LEVELS}
    how = How(scheme=scheme, evidence=evidence, **wanted)
    came: Retrospective = looking.ask(lambda meta: look_back(meta, "", looking.ground, how))
    found = [f"{one.agent}: {one.summary}" for one in came.reflected if one.summary]
    found += [line for one in came.reflected for line in _evidence(one.evidence)]
    _tell([*found, *(["the team wishes to try again."] if came.retry else [])],
          came.refused, came.lost)  # fmt: skip
    reason = came.reorganised.reason if came.reorganised else ""
    looking.show_team("reorganise", came.child, came.edits, reason, options)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Looking:
    """What looks back: a team that worked, with its agents' conversations."""

    worked: Worked
    ground: Ground

    @classmethod
    def at(cls, team: str, folder: Path, options: dict[str, Any]) -> _Looking:
        """Load the team, its run with what its agents read and said, and the task.

        Raises:
            InputError: One does not load, or the run is not of the team.
        """
        from ...runtime.events import all_events_of
        from ...runtime.score import Score
        from ..recorded import with_dialogues

        worked = Worked.of(team, folder, options)
        run = with_dialogues(worked.account.run, all_events_of(folder), DIALOGUE)
        worth: float | None = options["reward"]
        score: Score | None = run.score if worth is None else Score(value=worth, reason="")
        shown = options["show_answer"]
        told = Told.of(worked.task, run, score, shows_reference=shown)
        ground = Ground(team=worked.team, run=run, told=told, own_model=options["own_models"])
        return cls(worked=worked, ground=ground)

    def must_have_spoken(self, agent: str) -> None:
        """Make sure that an agent has a conversation to go on with.

        Raises:
            InputError: It has none.
        """
        known = speakers(self.ground.team, self.ground.run)
        if agent not in known:
            raise InputError(
                f"{agent} asked no model in this run, so it has no conversation to go on with."
                f" These have: {', '.join(known) or 'nobody'}."
            )

    def pair(self, agent: str, other: str) -> tuple[str, str]:
        """Give two agents in the order in which they stand in the team.

        Raises:
            InputError: There is no such agent, or neither read what the other said.
        """
        for one in (agent, other):
            must_have(self.ground.team, one)
        known = interactions(self.ground.team, self.ground.run)
        for pair in known:
            if {*pair} == {agent, other}:
                return pair
        pairs = ", ".join(f"{one} and {two}" for one, two in known) or "nobody"
        raise InputError(f"{agent} and {other} read nothing of each other. These did: {pairs}.")

    def ask(self, work: Callable[[Meta], Awaitable[Any]]) -> Any:
        """Look back, with the models of all who do at hand.

        Raises:
            CoterieError: A model cannot be had, or may cost no more.
        """
        host, team = self.worked.host, self.ground.team
        of = speakers(team, self.ground.run) if self.ground.own_model else ()
        models = {team.agents[one].model_id for one in of}
        return host.ask(host.ceiling(team), work, others=models)

    def show(
        self, operator: str, edits: tuple[Edit, ...], reason: str, options: dict[str, Any]
    ) -> None:
        """Show what edits change, and write the team that they lead to.

        Raises:
            StorageError: It cannot be written.
        """
        host, base = self.worked.host, self.ground.team
        passed = gate(base, edits, catalogue=host.known, ceiling=host.ceiling(base))
        self.show_team(operator, passed.child, edits, reason, options)

    def show_team(
        self,
        operator: str,
        child: Team,
        edits: tuple[Edit, ...],
        reason: str,
        options: dict[str, Any],
    ) -> None:
        """Show what differs, and write the team that it leads to.

        Raises:
            StorageError: It cannot be written.
        """
        made = Proposal.of(operator, self.ground.team, edits, reason=reason, child=child)
        show_child(made, self.worked.task.id, options)


def _evidence(asked: Sequence[Exchange]) -> list[str]:
    return [
        f"{one.asker} asked {one.colleague}: {one.question} - {one.answer or '(nothing of use)'}"
        for one in asked
    ]


def _tell(found: Sequence[str], refused: Sequence[Refused], lost: Sequence[Dropped]) -> None:
    """Say what was found, and what may not be kept, on standard error."""
    lines = [
        *found,
        *(f"not kept: {one.what}: {' '.join(one.reasons)}" for one in refused),
        *(f"dropped: {one.operator}: {one.reason}" for one in lost),
    ]
    for line in lines:
        click.echo(on_one_line(line), err=True)
