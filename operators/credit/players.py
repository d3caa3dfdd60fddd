"""Players: the agents and utterances that get credit, and the most calls that this takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...runtime.plan.plan import part_of
from ...runtime.rounds.rounds import declares
from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ...runtime.plan.plan import Plan
    from ...runtime.rounds.rounds import Round
    from ..core.utterances import Turn


def agents_of(plan: Plan, rounds: Sequence[Round], chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the agents that are players, in Kahn's order.

    Args:
        chosen: The agents to include. By default, all that worked, except the output agent, without
            which there is no answer, and the agent that recruits.

    Raises:
        InputError: A chosen agent is not in the team, or no agent is left.
    """
    for agent in chosen:
        if agent not in plan.agents:
            hint = did_you_mean(agent, plan.agents) or f" Agents: {', '.join(plan.agents)}."
            raise InputError(f"no agent {agent!r} in {plan.team.name}.{hint}")
    recruit = plan.team.execution.recruit
    apart = {plan.output, *([recruit.by] if recruit else ())}
    usual = {agent for item in rounds for agent in _working(item)} - apart
    players = tuple(name for name in plan.agents if name in (chosen or usual))
    if not players:
        raise InputError(
            f"{plan.team.name}: only {plan.output}, whose output is the answer, took part."
            " There is no other agent to silence; or choose with --agents."
        )
    return players


def turns_of(rounds: Iterable[Round], agents: Collection[str]) -> tuple[Turn, ...]:
    """Return the utterances of agents in rounds, in the order in which they were made.

    Args:
        rounds: All passes of the run. Utterances before or after the rounds are not turns.

    Raises:
        InputError: The agents said nothing in any round.
    """
    turns = tuple(
        (agent, item.number)
        for item in rounds
        if item.kind == "round"
        for agent in _working(item)
        if agent in agents
    )
    if not turns:
        names = ", ".join(agents)
        raise InputError(f"none of these agents worked in a round: {names}. Use --per agent.")
    return turns


def calls_at_most(plan: Plan, silent: Sequence[str | Turn]) -> int:
    """Return an upper bound on the calls that a run without some players does not share.

    Only agents that the silenced players can reach get other input. With rounds or recruiting, that
    may be any agent. Retries after failures are not counted.
    """
    if not silent:
        return 0
    mute = {item if isinstance(item, str) else item[0] for item in silent}
    if not declares(plan.team):
        return part_of(plan, _reached(plan, mute) - mute).calls_at_most
    mute = {item for item in silent if isinstance(item, str)}
    return part_of(plan, {*plan.agents} - mute).calls_at_most


def _working(round_: Round) -> Iterator[str]:
    """Yield the agents that worked in a pass, whether or not they succeeded."""
    for agent in round_.plan.agents:
        if agent not in round_.preset and round_.run.agents[agent].status in {"done", "failed"}:
            yield agent


def _reached(plan: Plan, names: Collection[str]) -> set[str]:
    """Return the given agents, and all agents that hear them directly or indirectly."""
    texts = {*names}
    for agent, planned in plan.agents.items():  # in Kahn's order
        if texts.intersection(planned.sees):
            texts.add(agent)
    return texts
