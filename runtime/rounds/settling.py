"""Who need not be asked again: it has nothing to add, or nothing else to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consulting import has_converged
from .reviewing import idle

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..agents.outcomes import AgentOutcome
    from ..agents.round_state import RoundState
    from ..agents.runner import AgentResult
    from ..plan.plan import Plan
    from .rounds import Round


def settled(
    rounds: Sequence[Round],
    coming: Plan,
    state: RoundState,
    opened: Collection[str],
    accepted: frozenset[str],
) -> Mapping[str, AgentOutcome]:
    """Return the outcomes of those who need not be asked in a round.

    They would read word for word what they read before, have nothing new to say, or did what was
    accepted. In Kahn's order: what one sees stays as it was where it sees the same, and all of it
    is settled.

    Args:
        coming: Whose agents are to work in the next one.
        opened: Those of them that worked before the rounds.
    """
    fields = {agent: outcome for item in rounds for agent, outcome in item.run.agents.items()}
    is_over = accepted | idle(coming, accepted) if accepted else accepted
    record: dict[str, AgentOutcome] = {}
    for agent_id in coming.agents:
        if agent_id not in fields or agent_id in opened:
            continue
        if agent_id in state.consulting:
            is_settled = has_converged(rounds, agent_id)
        else:
            still = {*record, *opened}
            is_alike = _reads_alike(agent_id, rounds[-1], coming, state, still)
            is_settled = agent_id in is_over or is_alike
        if is_settled:
            record[agent_id] = fields[agent_id]
    return record


def changed(before: Round, after: Round) -> list[str]:
    """Name the agents whose contribution is another one than in the round before."""
    earlier, later = before.run.agents, after.run.agents
    return [
        name for name in later if _contribution(earlier.get(name)) != _contribution(later[name])
    ]


def _reads_alike(
    agent_id: str, last: Round, coming: Plan, state: RoundState, still: Collection[str]
) -> bool:
    """Return whether an agent was done, and would read word for word what it read before."""
    planned, before = coming.agents[agent_id], last.plan.agents.get(agent_id)
    if before is None or last.run.agents[agent_id].status != "done":
        return False
    sees_alike = planned.sees == before.sees and all(see in still for see in planned.sees)
    return sees_alike and state.of(agent_id) == last.state.of(agent_id)


def _contribution(outcome: AgentOutcome | None) -> tuple[str, str | None] | None:
    """Return what an agent said and did, but for the whitespace around it."""
    result: AgentResult | None = outcome.result if outcome else None
    return (result.content.strip(), result.patch) if result else None
