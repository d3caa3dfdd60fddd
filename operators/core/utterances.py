"""The utterances of agents in the rounds of a run, one for each agent that spoke (MATTRL §3.2).

Only agents that work in every round have utterances. Agents that recruit, merge, report or decide
work once, outside the rounds, and have none. Neither has an agent without news: one that consults
and gives an empty increment, or one whose outcome was preset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...runtime.rounds.consulting import increments
from ...runtime.rounds.rounds import Round
from .material import clip

LONGEST = 6_000
"""The most characters of what an agent read, and of what it said."""
FUNCTION = "function"
"""The backend of agents that call no model and learn nothing."""

Turn = tuple[str, int]
"""The key of an utterance in its run: the agent's id and the round, from 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Utterance:
    """What one agent said in one round: `u_{i,t}` of MATTRL, with its context `h_{i,t}`.

    Attributes:
        agent: The speaker, by its id in the team.
        round: The round, from 1.
        read: What the agent had read before, except its task, clipped.
        text: What it said, clipped.
        member: The agent's name in the pool; None for an agent that is not in the pool.
    """

    agent: str
    role: str
    round: int
    read: str
    text: str
    member: str | None = None

    @property
    def turn(self) -> Turn:
        """Its key within the run."""
        return (self.agent, self.round)


def utterances(rounds: Sequence[Round], *, most: int = LONGEST) -> tuple[Utterance, ...]:
    """Return the utterances of a run, by round, and in Kahn's order within a round.

    A team without rounds has one pass. It counts as a round, and the output agent decides.

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
    """Return whether an agent said something new; only consulting agents can repeat themselves."""
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
    """Yield what an agent read beside its task: reports and letters first, its own words last."""
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
