"""The deterministic rules of a dream: when it starts, which members are compared, what survives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from ..work import MemberWork
from .ideas import Difference, Idea, Opinion

Why = Literal["reward", "disagreement"]
SHORTEST_NUMBER = 2
"""The fewest digits of a numeric answer that insights are searched for."""
NUMBER = re.compile(r"-?[\d.]+")
SHORTEST_WORDS = 6
"""The fewest characters of any other answer: shorter ones, as `true`, say nothing about a task."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """The members of a team whose own answers were scored.

    Attributes:
        failed: The members with a score below the threshold, in the order of their seats.
    """

    failed: tuple[MemberWork, ...]
    succeeded: tuple[MemberWork, ...]


def mean_of(scores: Sequence[float], reward: float) -> float:
    """Return the mean score of attempts, or the team's reward for fewer than two attempts."""
    return fmean(scores) if len(scores) > 1 else reward


def why(mean: float, theta: float, *, disagree: bool) -> Why | None:
    """Return the reason for a dream; None if the team does not dream (EvoChamber §3.5, Table 9).

    Args:
        mean: The mean score of its attempts, in [0, 1].
        theta: The mean below which it dreams.
    """
    if mean < theta:
        return "reward"
    return "disagreement" if disagree else None


def sides(members: Sequence[MemberWork], theta: float) -> Sides:
    """Split members by the scores of their own answers: success is a score of `theta` or more."""
    scored = [(member, member.score) for member in members if member.score is not None]
    return Sides(
        failed=tuple(work for work, score in scored if score < theta),
        succeeded=tuple(work for work, score in scored if score >= theta),
    )


def pairs(of: Sides) -> tuple[tuple[MemberWork, MemberWork], ...]:
    """Pair failed members with successful ones, in their order (EvoChamber §3.5, Contrast).

    Every member is in a pair, and no pair occurs twice. So there are as many pairs as members on
    the larger side, and none if a side is empty.
    """
    failed, succeeded = of.failed, of.succeeded
    if not (failed and succeeded):
        return ()
    many = max(len(failed), len(succeeded))
    return tuple((failed[n % len(failed)], succeeded[n % len(succeeded)]) for n in range(many))


def why_not(of: Sides, shared_failure: Literal["learn", "abstain"]) -> str:
    """Return the reason why a team abstains (EvoChamber App. I), or ""."""
    if not of.failed:
        return "nobody failed" if of.succeeded else "nobody has an attempt"
    return "nobody succeeded" if shared_failure == "abstain" and not of.succeeded else ""


def own_faults(failed: Sequence[MemberWork]) -> Iterator[Difference]:
    """Yield each member's own fault, for a team without a success to compare with.

    EvoChamber App. J reports three insights from a score of 0 of 3. The member that finds the fault
    is also the one that failed, and the one that attempts the task again.
    """
    for work in failed:
        if work.diagnosis:
            yield Difference(giver=work.agent, failed=work.agent, text=work.diagnosis)


def survivors(
    ideas: Sequence[Idea], opinions: Mapping[str, Sequence[Opinion]], members: Sequence[str]
) -> tuple[int, ...]:
    """Return the ideas that survive: those that at most half of the voters would drop.

    The voters on an idea are all members except its giver. A member without a valid opinion drops
    nothing.

    Args:
        opinions: Each member's opinions on the ideas, by its name.

    Returns:
        The places of the surviving ideas, in order.
    """
    return tuple(
        place
        for place, idea in enumerate(ideas)
        if not _is_outvoted(
            place, [member for member in members if member != idea.of.giver], opinions
        )
    )


def gives_away(text: str, answers: Iterable[str]) -> bool:
    """Return whether a text contains an answer to the task, so that it would prove nothing.

    Args:
        answers: The conclusions of right answers. Very short ones are ignored.
    """
    return any(
        re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\d)", text, re.IGNORECASE)
        for name in map(str.strip, answers)
        if _can_tell(name)
    )


def _can_tell(answer: str) -> bool:
    if NUMBER.fullmatch(answer):
        return sum(map(str.isdecimal, answer)) >= SHORTEST_NUMBER
    return len(answer) >= SHORTEST_WORDS


def _is_outvoted(
    place: int, others: Sequence[str], opinions: Mapping[str, Sequence[Opinion]]
) -> bool:
    against = [peer for peer in others if peer in opinions and not opinions[peer][place].keep]
    return 2 * len(against) > len(others)
