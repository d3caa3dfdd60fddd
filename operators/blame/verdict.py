"""Who is to blame for a failure, at which step, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

from .votes import Ballot, Submission, Vote

Scheme = Literal["global", "local", "collaborative"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
"""How a trace is read to find out: whole, by agent, or by agents that exchange what they found."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BlameVerdict:
    """The result of an attribution.

    Attributes:
        step: The number of the step; it is one of that agent's.
        why: In the words of the model that accuses it most surely.
        confidence: How sure that is, in [0, 1], by the model's own word.
        votes: What speaks for each pair that was accused, the heaviest first. The global scheme
            has one vote, of nobody's analyzer.
        by_default: Whether nobody accused anybody, so that the least sure denier is charged.
        lost: Of whose analyzers nothing was of use: they have no vote.
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
        """Whether somebody accuses the agent and is sure of it at all."""
        return not self.by_default and self.confidence > 0

    @classmethod
    def of(
        cls,
        scheme: Scheme,
        ballot: Ballot,
        submissions: Sequence[Submission],
        lost: Sequence[str],
    ) -> Self:
        """Return the verdict that a vote came to."""
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
    """Return the reason of who accuses the pair most surely, or denied least surely."""
    charged = (ballot.agent, ballot.step)
    if ballot.by_default:
        return next(
            submission.why for submission in submissions if submission.analyzer == ballot.agent
        )
    accusers = (submission for submission in submissions if submission.accuses == charged)
    return min(accusers, key=lambda submission: (-submission.confidence, submission.analyzer)).why
