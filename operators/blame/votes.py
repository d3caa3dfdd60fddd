"""How what analyzers submit becomes a verdict: pure functions of values (Meta-Team, App. C).

Weights are added as the decimal fractions that were submitted, so a tie on paper is a tie here:
0.1 and 0.2 weigh as much as 0.3. Of what ties, the earlier step wins, then the name that sorts
first; in which order things were submitted never matters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

ALPHA = 1.0
"""What explicit counter-evidence adds to the weight of a vote, as a share of it (App. C)."""

Pair = tuple[str, int]
"""Who is accused, and of which step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """What the analyzer of one agent submits (App. C: `i_erred`, `my_step`, `c`, `r`).

    Attributes:
        analyzer: Whose analyzer it is, by the agent's id.
        first: The first step of that agent.
        confidence: How sure it is, in [0, 1]: of what it accuses, or that its agent did not err.
        accuses: The pair that it accuses: one of its own steps where its agent erred, or somebody
            else's where it thinks so. None: nobody.
        countered: Whether it disagrees with the verdict that stood, and gave evidence for that from
            its own sub-trace.
    """

    analyzer: str
    first: int
    confidence: float
    accuses: Pair | None = None
    countered: bool = False
    why: str = ""

    @property
    def erred(self) -> bool:
        """Whether it says of its own agent that it erred."""
        return self.accuses is not None and self.accuses[0] == self.analyzer


@dataclass(frozen=True, kw_only=True, slots=True)
class Vote:
    """What speaks for one pair.

    Attributes:
        weight: The sum of the weights of those who accuse it.
        by: Whose analyzers do, in the order of their names.
    """

    agent: str
    step: int
    weight: float
    by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ballot:
    """How a vote came out.

    Attributes:
        confidence: The greatest confidence of those who accuse it; where it is charged by default,
            what the least sure denier lacked.
        votes: All pairs that were accused, the heaviest first.
        by_default: Whether nobody accused anybody, so that the least sure denier is charged.
    """

    agent: str
    step: int
    confidence: float
    votes: tuple[Vote, ...]
    by_default: bool = False


def local_vote(submissions: Sequence[Submission]) -> Ballot:
    """Charge the most confident self-accuser; if nobody accuses itself, the least sure denier.

    Who accuses somebody else denies: in this scheme nobody knows of anybody else. A denier is
    charged with its first step (App. C).

    Raises:
        ValueError: Nobody submitted anything.
    """
    accusers = [submission for submission in submissions if submission.erred]
    votes = _votes([(accuser, _exact(accuser.confidence)) for accuser in accusers], together=False)
    return _ballot(accusers or submissions, votes)


def collaborative_vote(submissions: Sequence[Submission], alpha: float = ALPHA) -> Ballot:
    """Charge the pair of the greatest weight, each analyzer giving `c (1 + alpha r)` to one pair.

    Where nobody accuses anybody, the least sure denier is charged, as in the local scheme.

    Args:
        alpha: What counter-evidence adds, as a share.

    Raises:
        ValueError: Nobody submitted anything.
    """
    weights = [
        (submission, _exact(submission.confidence) * (1 + _exact(alpha) * submission.countered))
        for submission in submissions
    ]
    return _ballot(submissions, _votes(weights, together=True))


def _exact(number: float) -> Fraction:
    return Fraction(str(number))


def _votes(weights: Sequence[tuple[Submission, Fraction]], *, together: bool) -> list[Vote]:
    """Weigh each accused pair, those who accuse it together or only the heaviest of them."""
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
