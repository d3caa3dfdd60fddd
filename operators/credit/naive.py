"""Naive credit: each agent's contribution by a judge's rating, normalised (MATTRL §5.1, Eq. 11)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...schema.values.errors import RunError
from ..core.account import RoundAccount
from ..core.proposal import RejectedProposal
from .contributions import Earlier, contributions
from .turns import ratios

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ...runtime.agents.outcomes import Run
    from ...runtime.rounds.rounds import Round
    from ...schema.team.task import Task
    from ...schema.team.team import Team
    from ..core.meta import OperatorModel
    from ..core.utterances import Turn


async def naive_agents(
    model: OperatorModel, path: str, task: Task, account: RoundAccount, agents: Collection[str]
) -> Mapping[str, float]:
    """Return each agent's share of their contributions to a run, as a judge rates them.

    Args:
        agents: The agents to rate; their shares sum to 1.
    """
    return ratios(await _judged(model, path, task, account, agents))


async def naive_turns(
    model: OperatorModel,
    path: str,
    task: Task,
    rounds: Sequence[Round],
    turns: Collection[Turn],
) -> Mapping[Turn, float]:
    """Return each utterance's share of the contributions to its round, as a judge rates them.

    Args:
        turns: The utterances to rate; the shares of a round sum to 1.
    """
    shares: dict[Turn, float] = {}
    earlier: list[Earlier] = []
    for item in rounds:
        agents = [agent for agent, number in turns if (item.kind, number) == ("round", item.number)]
        if agents:
            account = RoundAccount(team=_part(item.plan.team, item.run), run=item.run)
            place = f"{path}/round {item.number}"
            judged = await _judged(model, place, task, account, agents, earlier=earlier)
            shares |= {(agent, item.number): share for agent, share in ratios(judged).items()}
            earlier.append(Earlier(answer=item.run.answer, score=None))
    return shares


async def _judged(
    model: OperatorModel,
    path: str,
    task: Task,
    account: RoundAccount,
    agents: Collection[str],
    *,
    earlier: Sequence[Earlier] = (),
) -> Mapping[str, float]:
    verdicts = await contributions(model, path, task, account, earlier=earlier)
    if isinstance(verdicts, RejectedProposal):
        problems = "; ".join(verdicts.problems)
        raise RunError(f"the judge said nothing of use: {verdicts.reason} {problems}")
    return {agent: verdicts.of[agent].value for agent in agents}


def _part(team: Team, run: Run) -> Team:
    """Return the part of a team that worked in a pass."""
    agents = {name: agent for name, agent in team.agents.items() if name in run.agents}
    reports_to = {
        name: readers
        for name, receivers in team.reports_to.items()
        if name in agents and (readers := tuple(to for to in receivers if to in agents))
    }
    return replace(team, agents=agents, reports_to=reports_to, declared_output=team.output)
