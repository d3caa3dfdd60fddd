"""The rules of a dream that no model decides: when there is one, who is compared, what is left."""

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
"""Digits of an answer that is a number, from which on it is looked for in an insight."""
NUMBER = re.compile(r"-?[\d.]+")
SHORTEST_WORDS = 6
"""Characters of any other: shorter ones are words that say nothing of a task, as `true`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """The members of a team of whose own answers it is known what they were worth.

    Attributes:
        failed: Those whose answer was worth less than the threshold, in the order of their seats.
    """

    failed: tuple[MemberWork, ...]
    succeeded: tuple[MemberWork, ...]


def mean_of(scores: Sequence[float], reward: float) -> float:
    """Return the mean of the scores of attempts; with one or none, it is the team's reward."""
    return fmean(scores) if len(scores) > 1 else reward


def why(mean: float, theta: float, *, disagree: bool) -> Why | None:
    """Return why a team dreams, or that it does not (EvoChamber §3.5, Table 9).

    Args:
        mean: The mean of the scores of its attempts, in [0, 1].
        theta: The mean below which it dreams.
    """
    if mean < theta:
        return "reward"
    return "disagreement" if disagree else None


def sides(members: Sequence[MemberWork], theta: float) -> Sides:
    """Return who succeeded, by their own answers: those that were worth the threshold or more."""
    scored = [(member, member.score) for member in members if member.score is not None]
    return Sides(
        failed=tuple(work for work, score in scored if score < theta),
        succeeded=tuple(work for work, score in scored if score >= theta),
    )


def pairs(of: Sides) -> tuple[tuple[MemberWork, MemberWork], ...]:
    """Pair those who failed with those who succeeded, in their order (EvoChamber §3.5, Contrast).

    Everybody is in a pair, and no pair is there twice; so there are as many as the larger side has
    members, and none where a side is empty.
    """
    failed, succeeded = of.failed, of.succeeded
    if not (failed and succeeded):
        return ()
    many = max(len(failed), len(succeeded))
    return tuple((failed[n % len(failed)], succeeded[n % len(succeeded)]) for n in range(many))


def why_not(of: Sides, shared_failure: Literal["learn", "abstain"]) -> str:
    """Return why a team abstains (EvoChamber App. I), or nothing.

    Args:
        shared_failure: What a team does of which nobody succeeded.
    """
    if not of.failed:
        return "nobody failed" if of.succeeded else "nobody has an attempt"
    return "nobody succeeded" if shared_failure == "abstain" and not of.succeeded else ""


def own_faults(failed: Sequence[MemberWork]) -> Iterator[Difference]:
    """Return what each finds in its own work, where there is no success to compare with.

    EvoChamber App. J has three insights from a score of 0 of 3. Who finds a fault is the one who
    failed, too, and attempts the task again.
    """
    for work in failed:
        if work.diagnosis:
            yield Difference(giver=work.agent, failed=work.agent, text=work.diagnosis)


def survivors(
    ideas: Sequence[Idea], opinions: Mapping[str, Sequence[Opinion]], members: Sequence[str]
) -> tuple[int, ...]:
    """Return which ideas are left: all but those that most of the others would drop.

    The others of an idea are all members but the one whose success it comes from. Who said nothing
    of use drops nothing.

    Args:
        opinions: What each member thinks of each of them, by its name.

    Returns:
        The places of those that are left, in order.
    """
    return tuple(
        place
        for place, idea in enumerate(ideas)
        if not _is_outvoted(
            place, [member for member in members if member != idea.of.giver], opinions
        )
    )


def gives_away(text: str, answers: Iterable[str]) -> bool:
    """Return whether a text has an answer of the task in it, so that no attempt with it is a test.

    Args:
        answers: What answers come down to. Those that are too short to tell are passed over.
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
