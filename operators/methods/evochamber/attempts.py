"""The members' own answers to the task, their scores, and whether they agree.

An attempt is the result of a position that gives the team's answer, or from which a Function picks
it. In a debate these are the last answers; of a generator with critics, the revised answer.
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

    from ....runtime.agents.outcomes import ToolCall
    from ....schema.team.task import Task
    from ....schema.team.team import Team
    from ...evolution.episode import Episode
    from .seating import Seated

_Key = tuple[str, str]
NO_SCORES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberAttempt:
    """One member's answer to the task.

    Attributes:
        position: The agent of the team that answered.
        score: Its score, in [0, 1]; None if it was not graded.
        is_alone: Whether the member answered outside the team, where it gave no answer.
    """

    agent: str
    seat: str
    position: str
    answer: str
    score: float | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    is_alone: bool = False


def attempts(seated: Seated, run: Run) -> tuple[MemberAttempt, ...]:
    """Return the attempts of a team's members, in the order of the team.

    A member without a result has no attempt.
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
    """Score attempts by the recipe's rule: the reference answer, or the judge.

    In a test nothing is graded, because nothing is learnt. Equal answers are scored once. If the
    judge gives no score, that is recorded as a rejection, and these attempts have none.

    Args:
        earlier: Known scores of answers, such as the team's answer, in [0, 1].
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
    """Return whether the attempts reach different answers, as a vote would read them."""
    return len({conclusion(attempt.answer, task) for attempt in attempts}) > 1


def answering(team: Team, agent: str) -> Iterator[str]:
    """Yield the agents whose report can become an agent's result, through Functions that pick."""
    function = team.agents[agent].function
    if team.backend_of(team.agents[agent]) != "function" or function is None:
        yield agent
    elif picks(function):
        for name in team.predecessors[agent]:
            yield from answering(team, name)


def _key(attempt: MemberAttempt) -> _Key:
    """Return the key of attempts with the same score; an attempt with tool calls has its own."""
    return attempt.answer, attempt.position if attempt.tool_calls else ""


def _run(attempt: MemberAttempt) -> Run:
    """Return a run with this attempt as its answer."""
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
