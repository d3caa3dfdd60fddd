"""`mas op fork`, `merge`, `genesis`, `specialize`, `prune`: a person changes who is in a pool."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from ...pool.changes import Born, Retired, Revised, Told
from ...pool.evolutions import population_of
from ...pool.population import LIFECYCLE, Population
from ...pool.state import Admission
from ...runtime.terminal import counted, speakable
from ...schema.command import Command
from ...schema.errors import InputError
from ...schema.problems import quoted
from ..operator import operator_of
from ..population.founding import founder
from ..population.rules import Event
from ..population.settings import PopulationSettings
from ..proposal import Dropped
from ..roles import alone
from .arguments import (
    FILE,
    FOLDER,
    Host,
    known_of,
    model_options,
    policy_option,
    refusal,
    setting_options,
)
from .children import painted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...pool.changes import Change
    from ...pool.pool import Pool
    from ...schema.team import Agent, Team
    from ..population.rules import Fired

__all__ = ["COMMANDS"]

NEVER_WORKED = "it has not worked yet"


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what all are given."""
    keep = click.option(
        "--keep", is_flag=True, help="Let it happen to the pool.  [default: only show it]"
    )
    place = click.argument("pool_folder", metavar="POOL", type=FOLDER)
    return place(keep(setting_options(command)))


def _asking(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what those are given that ask a model."""
    return _options(policy_option(model_options(command)))


def _niche(help_text: str) -> Callable[..., Any]:
    return click.option("--niche", metavar="NICHE", help=help_text)


@click.command("fork", cls=Command)
@_asking
@click.argument("agent")
@_niche("What its twin puts weight on.  [default: the niche in which it worked most]")
def fork_agent(agent: str, niche: str | None, **options: Any) -> None:
    """Let a model write the persona of a twin of an agent, which knows all that the agent knows.

    What differs from the agent, and why, goes to standard output. With --keep the twin becomes an
    agent of the pool.
    """
    town = _Town.of(options)
    town.do("fork", (agent,), niche or town.dominant(agent))


@click.command("merge", cls=Command)
@_asking
@click.argument("agent")
@click.argument("other_agent")
def merge_agents(agent: str, other_agent: str, **options: Any) -> None:
    """Let a model write the persona of one agent in the place of two, which knows what both know.

    It is as the first is but for that. With --keep it becomes an agent of the pool, and the two are
    retired. What they know twice stays so; in an evolution, near-duplicates are made one.
    """
    if agent == other_agent:
        raise InputError(f"{agent!r} cannot be merged with itself. Name two agents.")
    _Town.of(options).do("merge", (agent, other_agent), None)


@click.command("genesis", cls=Command)
@_asking
@_niche("The kind of task that it is made for.  [default: any]")
@click.option(
    "--founder",
    "founder_file",
    type=FILE,
    help="The agent file that it is like but for its persona.  [default: a generic assistant]",
)
def make_agent(niche: str | None, founder_file: Path | None, **options: Any) -> None:
    """Let a model write the persona of a new agent, which knows nothing yet.

    With --keep it becomes an agent of the pool.
    """
    town = _Town.of(options)
    settings = PopulationSettings(founder=None if founder_file is None else str(founder_file))
    town.do("genesis", (), niche, like=founder(settings, Path(), town.host.known))


@click.command("specialize", cls=Command)
@_asking
@click.argument("agent")
@_niche("What it is to put weight on.  [default: the niche in which it worked most]")
def specialize_agent(agent: str, niche: str | None, **options: Any) -> None:
    """Let a model nudge the persona of an agent towards what it is good at.

    What differs, and why, goes to standard output. With --keep the agent is revised.
    """
    town = _Town.of(options)
    town.do("specialize", (agent,), niche or town.dominant(agent))


@click.command("prune", cls=Command)
@_options
@click.argument("agent")
def prune_agent(agent: str, **options: Any) -> None:
    """Say how an agent did, and with --keep, retire it. No model is asked.

    Its folder and its lessons stay, and mas-pool restore brings it back.
    """
    _Town.of(options).do("prune", (agent,), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Town:
    """A pool whose agents somebody wants to change."""

    pool: Pool
    population: Population
    host: Host
    keeps: bool

    @classmethod
    def of(cls, options: dict[str, Any]) -> _Town:
        """Open the pool, and see how its agents did.

        Raises:
            InputError: There is none, or its evolutions say different rates.
            StorageError: It is damaged.
        """
        from ...pool.pool import Pool

        known = known_of(options)
        pool = Pool.open(options["pool_folder"], catalogue=known)
        population, host = population_of(pool), Host.of(options, known)
        return cls(pool=pool, population=population, host=host, keeps=options["keep"])

    def dominant(self, name: str) -> str:
        """Give the niche in which an agent worked most.

        Raises:
            InputError: There is no such agent, or it has none.
        """
        self._agent(name)
        if not (niche := self.population.agents[name].dominant):
            raise InputError(f"{name} has worked on no task of a niche. Name one: --niche NICHE.")
        return niche

    def do(
        self, operator: Fired, names: tuple[str, ...], niche: str | None, like: Agent | None = None
    ) -> None:
        """Have an operator act, show what comes of it, and let it happen where that is wanted.

        Raises:
            InputError: There is no such agent.
            RunError: The model gave no persona that is of use.
        """
        agents = tuple(map(self._agent, names)) if like is None else (like,)
        event = Event(operator=operator, agents=names, niche=niche, why=self._why(names))
        changes = self._changes(event, agents)
        click.echo("\n".join(line for one in changes for line in _shown(one, agents)))
        if self.keeps:
            self._let(event, changes)

    def _changes(self, event: Event, agents: Sequence[Agent]) -> Sequence[Change]:
        act = operator_of(event.operator).act
        if event.operator == "prune":
            return asyncio.run(act(None, event.operator, event, agents))
        teams = alone({one.id: one for one in agents})
        made = self.host.ask(
            self.host.ceiling(*teams), lambda meta: act(meta, event.operator, event, agents)
        )
        if isinstance(made, Dropped):
            raise refusal(made)
        return made

    def _agent(self, name: str) -> Agent:
        found = self.pool.agent(name)
        if found.retired is not None:
            where = self.pool.folder
            raise InputError(f"{name} is retired. Bring it back: mas-pool restore {where} {name}")
        return found.agent

    def _why(self, names: Sequence[str]) -> str:
        said = "; ".join(f"{name}: {self._stands(name)}" for name in names)
        return f"asked for by a person{f' ({said})' if said else ''}"

    def _stands(self, name: str) -> str:
        one = self.population.agents[name]
        if one.rolling is None:
            return NEVER_WORKED
        did = f"rolling reward {one.rolling:.3g} over {counted(len(one.rewards), 'task')}"
        if not one.dominant:
            return did
        return f"{did}, competence {one.q(one.dominant):.3g} in {quoted(one.dominant)}"

    def _let(self, event: Event, changes: Sequence[Change]) -> None:
        """Let changes happen, and tell of them as an evolution does."""
        op = f"mas-op/{uuid4().hex}"
        for number, change in enumerate(changes):
            came = self.pool.commit(change, op=f"{op}/{number}")
            if isinstance(came, Admission):
                click.echo(f"kept: {came.name} ({self.pool.agent(came.name).path})", err=True)
        self.pool.commit(Told(what=LIFECYCLE, about=_about(event)), op=f"{op}/told")


def _about(event: Event) -> Mapping[str, Any]:
    niche = {"niche": event.niche} if event.niche else {}
    return {"operator": event.operator, "agents": [*event.agents], **niche, "why": event.why}


def _shown(change: Change, agents: Sequence[Agent]) -> Iterator[str]:
    """Say what a change is, in words; of a new persona, how it differs from the first agent's."""
    from ...schema.edits import words

    match change:
        case Born(lineage=born):
            yield from words(_alone(agents[0]), _alone(change.member), painted)
            yield f"reason: {speakable(born.reason)}"
        case Revised():
            yield from words(_alone(agents[0]), _alone(change.to), painted)
            yield f"reason: {speakable(change.reason)}"
        case Retired():
            yield f"{change.member}: retired, {speakable(change.reason)}"
        case _:
            pass


def _alone(agent: Any) -> Team:
    [team] = alone({agent.id: agent})
    return team


COMMANDS: Mapping[str, click.Command] = {
    one.name or "": one
    for one in (fork_agent, merge_agents, make_agent, specialize_agent, prune_agent)
}
"""The commands of the operators, by their names."""
