"""The review of a leader's choice: why the structure did or did not work (EvoChamber §3.4)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ....pool.ledger.changes import EventNoted
from ....pool.population.population import LEADERSHIP
from ....schema.edits.offer.strict import closed, free_text
from ...core.account import RoundAccount
from ...core.material import fenced, material, task_text
from ...core.meta import Question, prompt
from ...core.operator import Operator, operator_of
from ...core.proposal import RejectedProposal
from .leading import LONGEST_ABOUT, team_text
from .wording import one_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....runtime.agents.outcomes import Run
    from ....schema.team.task import Task
    from ...core.meta import OperatorModel
    from ...evolution.episode import Episode
    from .attempts import MemberAttempt
    from .leading import Leader, StructureChoice
    from .seating import Seated

OPERATOR = "lead_review"


async def lead_review(
    model: OperatorModel,
    path: str,
    task: Task,
    leader: Leader,
    account: RoundAccount,
    *,
    structure: str,
    reward: float,
    attempts: Sequence[MemberAttempt] = (),
) -> str | RejectedProposal:
    """Ask the leader of a team why a structure did or did not work.

    Args:
        reward: The reward of the team's answer, in [0, 1].
        attempts: The members' own attempts, with their scores if graded.

    Returns:
        The note, on one line.
    """
    limits = model.limits
    longest = min(LONGEST_ABOUT, limits.characters)
    question = Question(
        operator=OPERATOR,
        instructions=prompt(OPERATOR, structure=structure, longest=longest),
        material=material(
            task_text(task, limits),
            team_text(leader, task.niche or "", limits),
            account.text(limits),
            fenced("worth", "\n".join(_worth(reward, attempts))),
        ),
        schema=closed(note=free_text(longest)),
        read=functools.partial(one_text, "note", longest, limits),
        parents=(structure,),
        inputs={"task": task, "structure": structure, "reward": reward},
    )
    return await model.ask(path, question)


async def review_choice(
    episode: Episode,
    choice: StructureChoice,
    seated: Seated,
    run: Run,
    *,
    reward: float,
    attempts: Sequence[MemberAttempt] = (),
) -> None:
    """Record a leader's choice in the population's bank, with the leader's note on it.

    If the leader writes no valid note, the choice is kept without one and the rejection is
    recorded. If there was no choice, or nothing is learnt, no model is called and nothing is kept.

    Args:
        reward: The reward of the team's answer, in [0, 1].
    """
    if choice.by == "nobody" or not episode.learning:
        return
    task, leader = episode.task, choice.leader
    result: str | RejectedProposal = await operator_of(OPERATOR).act(
        episode.meta_model,
        f"{episode.path}lead_review",
        task,
        leader,
        RoundAccount(team=seated.team, run=run),
        structure=seated.structure,
        reward=reward,
        attempts=attempts,
    )
    about = {
        "niche": task.niche or "",
        "structure": seated.structure,
        "profile": [*leader.profile],
        "reward": reward,
        "reflection": episode.usable(result) or "",
        "task": task.id,
        "anchor": leader.agent.id,
    }
    episode.keep(EventNoted(what=LEADERSHIP, about=about), LEADERSHIP)


def _worth(reward: float, attempts: Sequence[MemberAttempt]) -> list[str]:
    graded = (
        f"{attempt.agent}'s own: {attempt.score:.3g}"
        for attempt in attempts
        if attempt.score is not None
    )
    return [f"the team's answer: {reward:.3g}", *graded]


LEAD_REVIEW = Operator(
    name=OPERATOR,
    scale="team",
    act=lead_review,
    about="Let the leader of a team explain why its structure did or did not work. TEAM is a team"
    " whose seats are taken, as a pool keeps them under worked/. The model does not see the"
    " reference answer.",
    inputs={"leader": "seated_leader", "structure": "structure"},
    gives="words",
)
