"""Verifying an insight: somebody who failed attempts the task again, with it (EvoChamber App. L).

It works alone, and reads the insight and nothing of what others answered. An answer that is worth
more than its former one speaks for the insight. It is no proof: one more attempt is but one draw.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .....runtime.agents.round_state import RoundState
from .....schema.team.team import Team
from ....core.proposal import RejectedProposal

if TYPE_CHECKING:
    from ....evolution.episode import Episode
    from ..work import MemberWork
    from .ideas import Insight

__all__ = ["LEARNT", "alone", "attempted_again"]

LEARNT = "This was learnt on tasks like this one. It may not hold here:\n"


async def attempted_again(
    episode: Episode, work: MemberWork, insight: Insight, what: str
) -> float | RejectedProposal:
    """Have a member attempt the task again, alone, with an insight in what it reads.

    Args:
        episode: The task.
        work: What the member did before.
        insight: The insight.
        what: Which run of the episode it is.

    Returns:
        What the answer is worth, in [0, 1], scored as the recipe says; zero without an answer.

    Raises:
        Halted: A provider or a jail failed.
        LimitError: The budget is used up.
    """
    carry = RoundState(bulletin=f"{LEARNT}{insight.text}")
    run = await episode.run(alone(work), what, carry=carry)
    score = await episode.score(run, what)
    return score if isinstance(score, RejectedProposal) else score.value


def alone(work: MemberWork) -> Team:
    """Give the team of one in which a member works as it did first in its team."""
    team = work.account.team
    agent = team.agents[work.positions[0]]
    execution = replace(team.execution, rounds=None, recruit=None)
    return Team(
        name=team.name,
        backend=team.backend,
        constitution=team.constitution,
        agents={agent.id: agent},
        execution=execution,
    )
