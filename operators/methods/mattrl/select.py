"""Selection: the best utterances of a batch of cases become experience (MATTRL Eq. 13).

A batch is the whole split, or a fixed number of its cases. Nothing is stored before the batch is
complete, so the selected share is exact, and no case has an advantage because it came early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....pool.ledger.changes import EventNoted
from ...credit import selected
from ...credit.contributions import Contribution
from .distil import Distilled
from .experience import EVENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...core.proposal import RejectedProposal
    from ...evolution.episode import EarlierEpisodes, Episode
    from .experience import ExperienceSettings

SELECTED = "selected"
"""The event that ends a batch, in the log of its last case and in the pool."""
RIGHT = 1 - 1e-9
"""The lowest score of a successful run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExperienceCandidate:
    """An utterance that may become experience.

    Attributes:
        number: The number of its case in the stream.
        round: Its round, from 1.
        outcome: The score of its run, in [0, 1].
        reward: Its reward, in [0, 1]; None if it was not judged.
        score: The judge's score; None if there is no valid one.
    """

    number: int
    case: str
    agent: str
    round: int
    outcome: float
    reward: float | None = None
    score: Contribution | None = None

    @property
    def rank(self) -> tuple[float, int, int, str]:
        """The order of equal rewards: success, then case, round and agent."""
        return (-self.outcome, self.number, self.round, self.agent)


def batch_of(episode: Episode, earlier: EarlierEpisodes) -> Sequence[ExperienceCandidate] | None:
    """Return all utterances of the batch that an episode completes; None if it completes none."""
    first = _first(earlier.lines)
    size = episode.settings.batch
    if not earlier.is_last and (size is None or episode.number + 1 - first < size):
        return None
    lines = [*earlier.lines, {**episode.head(), "story": episode.story}]
    return [
        candidate for number in range(first, len(lines)) for candidate in _of(number, lines[number])
    ]


def closing_calls(
    settings: ExperienceSettings, lines: Sequence[Mapping[str, Any]], cases: int
) -> int:
    """Return the most utterances that the open batch will distil after more cases.

    Args:
        lines: The cases so far, at least one.
        cases: How many more there will be, each with as many utterances as the longest so far.
    """
    lengths = [sum(1 for _ in _of(number, line)) for number, line in enumerate(lines)]
    count = sum(lengths[_first(lines) :]) + cases * max(lengths)
    return max(1, int(settings.share * count))


def _first(lines: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of the first case after the last complete batch."""
    for number in reversed(range(len(lines))):
        if any(event["event"] == SELECTED for event in lines[number].get("story", ())):
            return number + 1
    return 0


def _of(number: int, line: Mapping[str, Any]) -> Iterator[ExperienceCandidate]:
    for event in line.get("story", ()):
        if event["event"] != EVENT:
            continue
        for utterance in event["utterances"]:
            scored = "score" in utterance
            yield ExperienceCandidate(
                number=number,
                case=line["task"],
                agent=utterance["agent"],
                round=utterance["round"],
                outcome=event["outcome"],
                reward=utterance.get("reward"),
                score=Contribution(value=utterance["score"], reason=utterance["reason"])
                if scored
                else None,
            )


def best(
    of: Iterable[ExperienceCandidate], settings: ExperienceSettings
) -> tuple[ExperienceCandidate, ...]:
    """Select the top share of a batch's utterances, the best first (Eq. 13).

    Among equal rewards, the one of the run with the higher score comes first; then that of the
    earlier case, of the earlier round, and of the agent whose id comes first.

    Args:
        of: The utterances. Those without a judge's score do not count; with `successful_only`,
            neither do those of failed runs.
    """
    eligible = {candidate.rank: candidate for candidate in of if _is_eligible(candidate, settings)}
    rewards = {rank: candidate.reward or 0.0 for rank, candidate in eligible.items()}
    ranks = selected(rewards, share=settings.share, threshold=settings.threshold)
    return tuple(eligible[rank] for rank in ranks)


def _is_eligible(candidate: ExperienceCandidate, settings: ExperienceSettings) -> bool:
    succeeds = candidate.outcome >= RIGHT or not settings.successful_only
    return candidate.reward is not None and succeeds


def fates(
    of: Sequence[ExperienceCandidate],
    outcomes: Mapping[ExperienceCandidate, Distilled | RejectedProposal],
    settings: ExperienceSettings,
) -> list[dict[str, Any]]:
    """Return the fate of each utterance of a batch: it was kept, or the reason why not."""
    whole = sum(_is_eligible(candidate, settings) for candidate in of)
    return [
        {
            "case": candidate.case,
            "agent": candidate.agent,
            "round": candidate.round,
            "came": _fate(candidate, outcomes.get(candidate), settings, whole),
        }
        for candidate in of
    ]


def _fate(
    candidate: ExperienceCandidate,
    outcome: Distilled | RejectedProposal | None,
    settings: ExperienceSettings,
    whole: int,
) -> str:
    if outcome is not None:
        return "kept" if isinstance(outcome, Distilled) else "not distilled"
    if candidate.reward is None:
        return "not judged"
    if not _is_eligible(candidate, settings):
        return "not of a run that succeeded"
    if candidate.reward <= settings.threshold:
        return f"not above {settings.threshold:.3g}"
    return f"not in the top {settings.share:.3g} of {whole}"


def tell_batch(
    episode: Episode,
    of: Sequence[ExperienceCandidate],
    outcomes: Mapping[ExperienceCandidate, Distilled | RejectedProposal],
) -> None:
    """Record the fates of a batch's utterances, in the log of its last case and in the pool."""
    lines = fates(of, outcomes, episode.settings)
    entries = sum(isinstance(outcome, Distilled) for outcome in outcomes.values())
    about = {"of": len(of), "entries": entries, "utterances": lines}
    episode.note(SELECTED, **about)
    episode.keep(EventNoted(what=SELECTED, about={"case": episode.task.id, **about}), SELECTED)
    episode.figures["entries"] = entries
