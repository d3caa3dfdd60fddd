"""The verdict on a failure: the blamed agent and step, and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

from .votes import Ballot, Submission, Vote

Scheme = Literal["global", "local", "collaborative"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
"""How a trace is read: whole, by agent, or by agents that exchange their findings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BlameVerdict:
    """The result of an attribution.

    Attributes:
        step: The number of the step, which is one of the agent's.
        why: The reason of the most confident accuser.
        confidence: That accuser's confidence, in [0, 1], as the model states it.
        votes: The votes for each accused pair, the heaviest first. The global scheme has a single
            vote, without an analyzer.
        by_default: Whether no analyzer accused an agent, so that the least sure denier is charged.
        lost: The agents whose analyzers gave no valid answer; they have no vote.
    """

    agent: str
    step: int
    why: str
    confidence: float
    scheme: Scheme
    votes: tuple[Vote, ...] = ()
    by_default: bool = False
    submissions: tuple[Submission, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def is_decided(self) -> bool:
        """Whether an analyzer accuses the agent with a confidence above 0."""
        return not self.by_default and self.confidence > 0

    @classmethod
    def of(
        cls,
        scheme: Scheme,
        ballot: Ballot,
        submissions: Sequence[Submission],
        lost: Sequence[str],
    ) -> Self:
        """Return the verdict of a vote."""
        return cls(
            agent=ballot.agent,
            step=ballot.step,
            why=_why(ballot, submissions),
            confidence=ballot.confidence,
            scheme=scheme,
            votes=ballot.votes,
            by_default=ballot.by_default,
            submissions=tuple(submissions),
            lost=tuple(lost),
        )


def _why(ballot: Ballot, submissions: Sequence[Submission]) -> str:
    """Return the reason of the most confident accuser, or of the least sure denier."""
    charged = (ballot.agent, ballot.step)
    if ballot.by_default:
        return next(
            submission.why for submission in submissions if submission.analyzer == ballot.agent
        )
    accusers = (submission for submission in submissions if submission.accuses == charged)
    return min(accusers, key=lambda submission: (-submission.confidence, submission.analyzer)).why
