"""How analyzers' submissions become a verdict: pure functions of values (Meta-Team, App. C).

Weights are added as decimal fractions, exactly as submitted, so ties on paper are ties here: 0.1
and 0.2 weigh as much as 0.3. On a tie, the earlier step wins, then the name that sorts first. The
order of submissions never matters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

ALPHA = 1.0
"""The extra weight of a vote with explicit counter-evidence, as a share of it (App. C)."""

Pair = tuple[str, int]
"""The accused agent and its step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """The submission of one agent's analyzer (App. C: `i_erred`, `my_step`, `c`, `r`).

    Attributes:
        first: The first step of that agent.
        confidence: Its confidence, in [0, 1], in the accusation, or in its agent's innocence.
        accuses: The accused pair: a step of its own agent or of another one. None: it accuses no
            agent.
        countered: Whether it disagrees with the current verdict, with evidence from its own agent's
            steps.
    """

    analyzer: str
    first: int
    confidence: float
    accuses: Pair | None = None
    countered: bool = False
    why: str = ""

    @property
    def erred(self) -> bool:
        """Whether it accuses its own agent."""
        return self.accuses is not None and self.accuses[0] == self.analyzer


@dataclass(frozen=True, kw_only=True, slots=True)
class Vote:
    """The votes for one pair.

    Attributes:
        weight: The total weight of its accusers.
        by: The agents whose analyzers accuse it, sorted by name.
    """

    agent: str
    step: int
    weight: float
    by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ballot:
    """The result of a vote.

    Attributes:
        confidence: The highest confidence among its accusers; by default, 1 minus the confidence of
            the least sure denier.
        votes: All accused pairs, the heaviest first.
        by_default: Whether no analyzer accused an agent, so that the least sure denier is charged.
    """

    agent: str
    step: int
    confidence: float
    votes: tuple[Vote, ...]
    by_default: bool = False


def local_vote(submissions: Sequence[Submission]) -> Ballot:
    """Charge the most confident self-accuser, or the least sure denier if there is none.

    An analyzer that accuses another agent counts as a denier: in this scheme none knows of others.
    A denier is charged with its first step (App. C).

    Raises:
        ValueError: There are no submissions.
    """
    accusers = [submission for submission in submissions if submission.erred]
    votes = _votes([(accuser, _exact(accuser.confidence)) for accuser in accusers], together=False)
    return _ballot(accusers or submissions, votes)


def collaborative_vote(submissions: Sequence[Submission], alpha: float = ALPHA) -> Ballot:
    """Charge the pair with the highest weight; each analyzer gives `c (1 + alpha r)` to one pair.

    If no analyzer accuses an agent, the least sure denier is charged, as in the local scheme.

    Raises:
        ValueError: There are no submissions.
    """
    weights = [
        (submission, _exact(submission.confidence) * (1 + _exact(alpha) * submission.countered))
        for submission in submissions
    ]
    return _ballot(submissions, _votes(weights, together=True))


def _exact(number: float) -> Fraction:
    return Fraction(str(number))


def _votes(weights: Sequence[tuple[Submission, Fraction]], *, together: bool) -> list[Vote]:
    """Return the accused pairs by weight: the sum of their accusers, or the heaviest of them."""
    pairs = defaultdict[Pair, list[tuple[Submission, Fraction]]](list)
    for submission, weight in weights:
        if submission.accuses is not None:
            pairs[submission.accuses].append((submission, weight))
    count = sum if together else max
    heaviest = sorted(
        ((-count(weight for _, weight in of), step, agent) for (agent, step), of in pairs.items())
    )
    return [
        Vote(
            agent=agent,
            step=step,
            weight=float(-weight),
            by=tuple(sorted(item.analyzer for item, _ in pairs[agent, step])),
        )
        for weight, step, agent in heaviest
    ]


def _ballot(submissions: Sequence[Submission], votes: Sequence[Vote]) -> Ballot:
    if not submissions:
        raise ValueError("nobody submitted anything.")
    if not votes:
        least = min(
            submissions,
            key=lambda submission: (submission.confidence, submission.first, submission.analyzer),
        )
        return Ballot(
            agent=least.analyzer,
            step=least.first,
            confidence=1 - least.confidence,
            votes=(),
            by_default=True,
        )
    won = votes[0]
    sure = max(
        submission.confidence
        for submission in submissions
        if submission.accuses == (won.agent, won.step)
    )
    return Ballot(agent=won.agent, step=won.step, confidence=sure, votes=tuple(votes))
