"""Verifying an insight: somebody who failed attempts the task again, with it (EvoChamber App. L).

It works alone, and reads the insight and nothing of what others answered. An answer that is worth
more than its former one speaks for the insight. It is no proof: one more attempt is but one draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .....runtime.agents.round_state import RoundState
from ....core.proposal import RejectedProposal
from ..alone import alone

if TYPE_CHECKING:
    from ....evolution.episode import Episode
    from ..work import MemberWork
    from .ideas import Insight

LEARNT = "This was learnt on tasks like this one. It may not hold here:\n"


async def attempted_again(
    episode: Episode, work: MemberWork, insight: Insight, what: str
) -> float | RejectedProposal:
    """Have a member attempt the task again, alone, with an insight in what it reads.

    Where the recipe wants several attempts, they end with the first that is worth no more.

    Returns:
        What the answer is worth, in [0, 1], scored as the recipe says; zero without an answer. Of
        several the least.
    """
    carry = RoundState(bulletin=f"{LEARNT}{insight.text}")
    team, least = alone(episode, work.account.team, work.agent), 1.0
    for number in range(1, episode.settings.reattempts + 1):
        place = what if number == 1 else f"{what}.{number}"
        score = await episode.score(await episode.run(team, place, carry=carry), place)
        if isinstance(score, RejectedProposal):
            return score
        least = min(least, score.value)
        if least <= (work.score or 0.0):
            break
    return least
