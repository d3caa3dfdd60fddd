"""Players: who of a team is asked what it was worth, and what that takes at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...runtime.plan.plan import part_of
from ...runtime.rounds.declared import declares
from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ...runtime.plan.plan import Plan
    from ...runtime.rounds.rounds import Round
    from .counterfactual import Turn


def agents_of(plan: Plan, rounds: Sequence[Round], chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """Name the agents that are players, in Kahn's order.

    Args:
        chosen: Who is to be; by default all who worked but the one whose output is the answer,
            without whom there is none, and the one that recruits.

    Raises:
        InputError: Somebody who was chosen is no agent of the team, or nobody is left.
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
            f"{plan.team.name}: nobody but {plan.output}, whose output is the answer, took part."
            " There is nobody to be silenced; or choose with --agents."
        )
    return players


def turns_of(rounds: Iterable[Round], agents: Collection[str]) -> tuple[Turn, ...]:
    """Name what agents said in rounds, in the order in which they said it.

    Args:
        rounds: All passes of the run. What is said before or after the rounds is no turn.

    Raises:
        InputError: They said nothing in any round.
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
        raise InputError(f"nobody of these worked in a round: {names}. Use --per agent.")
    return turns


def calls_at_most(plan: Plan, silent: Sequence[str | Turn]) -> int:
    """Bound the calls that a run without somebody has not in common with the run with all.

    Only whom what they say can reach is asked anything else; but in rounds, or where others would
    be recruited, that may be anybody. Repeats after failures are not counted.
    """
    if not silent:
        return 0
    mute = {item if isinstance(item, str) else item[0] for item in silent}
    if not declares(plan.team):
        return part_of(plan, _reached(plan, mute) - mute).calls_at_most
    mute = {item for item in silent if isinstance(item, str)}
    return part_of(plan, {*plan.agents} - mute).calls_at_most


def _working(round_: Round) -> Iterator[str]:
    """Name who worked in a pass, whatever came of it."""
    for agent in round_.plan.agents:
        if agent not in round_.preset and round_.run.agents[agent].status in {"done", "failed"}:
            yield agent


def _reached(plan: Plan, names: Collection[str]) -> set[str]:
    """Name those who hear somebody, or somebody who does."""
    texts = {*names}
    for agent, planned in plan.agents.items():  # in Kahn's order
        if texts.intersection(planned.sees):
            texts.add(agent)
    return texts
