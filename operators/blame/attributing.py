"""Attribution of a failure: which agent made a team fail, and at which step (Meta-Team, App. C).

There are three schemes, which differ only in how they read the same trace. *Global*: one question
with the whole trace. *Local*: one analyzer for each agent, which sees only that agent's steps.
*Collaborative*: these analyzers post their findings, read the others', and look again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...runtime.values.together import together
from ...schema.values.errors import InputError
from ..core.meta import OperatorModel, Question
from ..core.operator import Operator
from ..core.proposal import RejectedProposal
from .asking import OPERATOR, again_question, own_question, whole_question
from .trace import FailedRun
from .verdict import BlameVerdict, Scheme
from .view import TextBudget
from .votes import ALPHA, Ballot, Submission, collaborative_vote, local_vote

ROUNDS = 2
"""The default number of times that analyzers read each other's findings and look again."""
MUTE = "of no analyzer's answers anything was of use."


async def attribute(
    model: OperatorModel,
    path: str,
    trace: FailedRun,
    *,
    scheme: Scheme = "collaborative",
    rounds: int = ROUNDS,
    alpha: float = ALPHA,
    room: TextBudget | None = None,
) -> BlameVerdict | RejectedProposal:
    """Ask which agent made a team fail, and at which step (Meta-Team, App. C).

    Args:
        scheme: `global`: one call. `local`: one call for each agent. `collaborative`: the same, and
            again in each round.
        rounds: The number of rounds, at least 1; collaborative only.
        alpha: The extra weight of a vote with counter-evidence; collaborative only.
        room: How much of the steps one question may show. None: the model's default.

    Returns:
        The verdict, or a rejection if no answer was valid.

    Raises:
        InputError: No agent that can be blamed has a step.
        ValueError: Fewer than one round.
    """
    if not trace.doers:
        raise InputError("no agent did anything in this run, so there is no step to blame.")
    if rounds < 1:
        raise ValueError("analyzers that collaborate look again at least once.")
    room = room or TextBudget.of(model.limits)
    if scheme == "global":
        return await model.ask(path, whole_question(trace, model.limits, room))
    if scheme == "local":
        return await _locally(model, path, trace, room)
    return await _together(model, path, trace, room, rounds=rounds, alpha=alpha)


async def _locally(
    model: OperatorModel, path: str, trace: FailedRun, room: TextBudget
) -> BlameVerdict | RejectedProposal:
    def question(agent: str) -> Question[Submission]:
        return own_question(trace, agent, model.limits, room, is_posted=False)

    return _decided("local", await _verdicts(model, path, trace, question), local_vote)


async def _together(
    model: OperatorModel,
    path: str,
    trace: FailedRun,
    room: TextBudget,
    *,
    rounds: int,
    alpha: float,
) -> BlameVerdict | RejectedProposal:
    """Let analyzers post, read and look again; the last valid answer of each counts."""

    def vote(submissions: Sequence[Submission]) -> Ballot:
        return collaborative_vote(submissions, alpha)

    def first(agent: str) -> Question[Submission]:
        return own_question(trace, agent, model.limits, room, is_posted=True)

    fields = await _verdicts(model, f"{path}/post", trace, first)
    for number in range(1, rounds + 1):
        if not (posted := _submissions(fields)):
            break
        ballots = {"posted": posted, "ballot": vote(posted)}

        def again(agent: str, ballots: Mapping[str, Any] = ballots) -> Question[Submission]:
            return again_question(trace, agent, model.limits, room, **ballots)

        later = await _verdicts(model, f"{path}/round {number}", trace, again)
        fields |= {
            agent: submission
            for agent, submission in later.items()
            if isinstance(submission, Submission)
        }
    return _decided("collaborative", fields, vote)


async def _verdicts(
    model: OperatorModel,
    path: str,
    trace: FailedRun,
    question: Callable[[str], Question[Submission]],
) -> dict[str, Submission | RejectedProposal]:
    """Ask all analyzers concurrently; return their answers by agent."""
    agents = trace.doers
    result = await together(*(model.ask(f"{path}/{agent}", question(agent)) for agent in agents))
    return dict(zip(agents, result, strict=True))


def _submissions(answers: Mapping[str, Submission | RejectedProposal]) -> tuple[Submission, ...]:
    return tuple(
        submission for submission in answers.values() if isinstance(submission, Submission)
    )


def _decided(
    scheme: Scheme,
    answers: Mapping[str, Submission | RejectedProposal],
    vote: Callable[[Sequence[Submission]], Ballot],
) -> BlameVerdict | RejectedProposal:
    lost = {
        agent: submission
        for agent, submission in answers.items()
        if isinstance(submission, RejectedProposal)
    }
    if not (submissions := _submissions(answers)):
        problems = next(iter(lost.values())).problems
        return RejectedProposal(operator=OPERATOR, reason=MUTE, problems=problems)
    return BlameVerdict.of(scheme, vote(submissions), submissions, tuple(lost))


ATTRIBUTE = Operator(
    name=OPERATOR,
    scale="team",
    act=attribute,
    about="Say which agent made a team fail, at which step, and why.",
)
