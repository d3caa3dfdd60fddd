"""What agents said in the rounds of a run, one utterance for each that spoke (MATTRL §3.2).

Credited are those who consult: the agents that work in each round. Who recruits, merges, reports or
decides works once, outside of the rounds, and says no utterance. Nor does an agent that has nothing
new to say: one that consults and gives an empty increment, or whose outcome was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...runtime.rounds.consulting import increments
from ...runtime.rounds.rounds import Round
from .material import clip

LONGEST = 6_000
"""Characters that are kept of what an agent read, and of what it said."""
FUNCTION = "function"
"""The backend of agents that ask no model, and learn nothing."""

Turn = tuple[str, int]
"""Whose utterance it is, and in which round, from 1: what tells it from the others of a run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Utterance:
    """What one agent said in one round: `u_{i,t}` of MATTRL, with its context `h_{i,t}`.

    Attributes:
        agent: Who said it, by its id in the team.
        round: In which round, from 1.
        read: What it had read of the others when it said so, as far as there is room.
        text: What it said, as far as there is room.
        member: Which agent of the pool it is; None for one that is none.
    """

    agent: str
    role: str
    round: int
    read: str
    text: str
    member: str | None = None

    @property
    def turn(self) -> Turn:
        """What tells it from others of the run."""
        return (self.agent, self.round)


def utterances(rounds: Sequence[Round], *, most: int = LONGEST) -> tuple[Utterance, ...]:
    """Find the utterances of a run, those of earlier rounds first, in Kahn's order within a round.

    Where a team makes no rounds, its only pass is one, and whoever gives the answer decides.

    Args:
        rounds: All passes of the run, in order.
        most: The most characters of what was read, and of what was said.
    """
    return tuple(
        _utterance(item, agent, most)
        for item in rounds
        if item.kind == "round"
        for agent in _speakers(item)
        if _is_news(rounds, item, agent)
    )


def _speakers(round_: Round) -> Iterator[str]:
    team = round_.plan.team
    decides = team.output if team.execution.rounds is None else None
    for agent, outcome in round_.run.agents.items():
        calls_model = agent not in round_.preset and round_.plan.agents[agent].backend != FUNCTION
        if calls_model and agent != decides and outcome.result is not None:
            yield agent


def _is_news(rounds: Sequence[Round], round_: Round, agent: str) -> bool:
    """Return whether an agent that consults said something that it had not said before."""
    consults = round_.plan.agents[agent].agent.consults
    return not consults or bool(increments(rounds, agent).get(round_.number))


def _utterance(round_: Round, agent: str, most: int) -> Utterance:
    planned, result = round_.plan.agents[agent].agent, round_.run.agents[agent].result
    return Utterance(
        agent=agent,
        role=planned.role,
        round=round_.number,
        read=clip("\n\n".join(_read(round_, agent)), most),
        text=clip(result.content.strip() if result else "", most),
        member=planned.member,
    )


def _read(round_: Round, agent: str) -> Iterator[str]:
    """Yield what an agent read beside its task, as it reads it: news first, its own words last."""
    carried = round_.state.of(agent)
    for sender in round_.plan.agents[agent].sees:
        outcome = round_.run.agents.get(sender)
        if outcome is not None and outcome.result is not None:
            yield f"report of {sender}:\n{outcome.result.content.strip()}"
    for letter in carried.letters:
        yield f"letter of {letter.agent_id}:\n{letter.content.strip()}"
    if carried.bulletin:
        yield f"bulletin:\n{carried.bulletin.strip()}"
    if carried.own is not None:
        yield f"what it had said before:\n{carried.own.content.strip()}"
