"""What members of a team answered to the task itself, what that was worth, and whether they agree.

An attempt is the result of a position whose report is the team's answer, or of one among which
a Function picks it: in a debate the later answers, of a generator with critics the revised one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ....runtime.agents.outcomes import AgentOutcome, Run
from ....runtime.agents.runner import AgentResult
from ....runtime.scoring.voting import conclusion, picks
from ....runtime.values.together import together
from .seating import seat_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ....runtime.tools import ToolCall
    from ....schema.team.task import Task
    from ....schema.team.team import Team
    from ...evolution.episode import Episode
    from .seating import Seated

_Key = tuple[str, str]
NO_SCORES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberAttempt:
    """What one member answered to the task itself.

    Attributes:
        agent: Who: its name in the pool.
        position: The agent of the team that answered.
        score: What that is worth, in [0, 1]; None, where nobody graded it.
        tool_calls: What it had its tools do for that, in order.
        is_alone: Whether it answered by itself, as its part in the team was no answer.
    """

    agent: str
    seat: str
    position: str
    answer: str
    score: float | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    is_alone: bool = False


def attempts(seated: Seated, run: Run) -> tuple[MemberAttempt, ...]:
    """Return what the members of a team answered to the task, in the order of the team.

    Whoever had no result has no attempt.
    """
    positions = {*answering(seated.team, seated.team.output)}
    return tuple(
        MemberAttempt(
            agent=seated.seats[seat],
            seat=seat,
            position=agent,
            answer=result.content if result.answer is None else result.answer,
            tool_calls=outcome.tool_calls,
        )
        for agent in seated.team.agents
        if agent in positions
        and (seat := seat_of(agent)) is not None
        and (outcome := run.agents.get(agent)) is not None
        and (result := outcome.result) is not None
    )


async def graded(
    episode: Episode,
    attempts: Sequence[MemberAttempt],
    earlier: Mapping[str, float] = NO_SCORES,
) -> tuple[MemberAttempt, ...]:
    """Score attempts as the recipe says: by the reference answer, or by the judge.

    In a test nothing is graded, as nobody learns of it. One text is scored once, however many came
    to it; where the judge has no score for it, that is counted as lost, and nobody has one.

    Args:
        earlier: Scores of answers that have one already, such as that of the team, in [0, 1].
    """
    if not episode.learning:
        return (*attempts,)
    first: dict[_Key, MemberAttempt] = {}
    for attempt in attempts:
        first.setdefault(_key(attempt), attempt)
    mine = [
        attempt for attempt in first.values() if attempt.tool_calls or attempt.answer not in earlier
    ]
    result = await together(
        *(episode.score(_run(item), f"attempt {item.position}") for item in mine)
    )
    scores = [episode.usable(score) for score in result]
    table = {_key(item): score and score.value for item, score in zip(mine, scores, strict=True)}
    return tuple(
        replace(attempt, score=table.get(_key(attempt), earlier.get(attempt.answer)))
        for attempt in attempts
    )


def disagree(attempts: Sequence[MemberAttempt], task: Task) -> bool:
    """Return whether attempts come down to different answers, as the vote reads them."""
    return len({conclusion(attempt.answer, task) for attempt in attempts}) > 1


def answering(team: Team, agent: str) -> Iterator[str]:
    """Return the agents whose report is the result of an agent."""
    function = team.agents[agent].function
    if team.backend_of(team.agents[agent]) != "function" or function is None:
        yield agent
    elif picks(function):
        for name in team.predecessors[agent]:
            yield from answering(team, name)


def _key(attempt: MemberAttempt) -> _Key:
    """Return what attempts share that are worth the same; one that used tools shares nothing."""
    return attempt.answer, attempt.position if attempt.tool_calls else ""


def _run(attempt: MemberAttempt) -> Run:
    """Return the run of which it would be the answer."""
    outcome = AgentOutcome(
        status="done",
        result=AgentResult(content=attempt.answer),
        tool_calls=attempt.tool_calls,
    )
    return Run(
        status="done",
        answer=attempt.answer,
        answered_by=attempt.position,
        agents={attempt.position: outcome},
    )
