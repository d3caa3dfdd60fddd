"""Experience: which utterances of a run are worth keeping, and why not the others (MATTRL §3.2).

A judge says how good each utterance was, the run how the whole ended; both together are its reward.
Nobody is asked here: what models and runs say comes in as numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ....pool.ledger.changes import EventNoted
from ...core.proposal import RejectedProposal
from ...credit import decay_weights, fused, ratios, selected
from ...routing import missing
from .distil import Distilled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...core.utterances import Turn, Utterance
    from ...credit.contributions import Contribution
    from ...evolution.episode import Episode
    from ...routing import By

__all__ = [
    "EVENT",
    "Credited",
    "ExperienceSettings",
    "check",
    "credited",
    "earlier",
    "kept",
    "tell",
    "told",
]

EVENT = "utterances"
"""The event that tells them, in an episode's story and in the pool."""
KEPT = "kept"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExperienceSettings:
    """How experience is built. The fields are those of `mattrl.schema.json`."""

    credit: Literal["naive", "difference", "shapley"] = "naive"
    per: Literal["agent", "turn"] = "agent"
    permutations: int = 12
    gamma: float = 0.8
    favour: Literal["later", "earlier"] = "later"
    individual: float = 0.4
    share: float = 0.25
    threshold: float = 0
    rubric: str = ""
    key: Literal["context", "case"] = "context"
    recalls: bool = False
    route: str | None = None
    router: By = "rule"
    gauge: bool = True


def check(settings: ExperienceSettings, said: Mapping[str, Any]) -> dict[str, str]:
    """Find fields that somebody wrote and that nothing would read beside the others."""
    found: dict[str, str] = {}
    here = f"here is credit: {settings.credit}. Leave one of them out."
    if "per" in said and settings.credit == "naive":
        found["per"] = f"nobody is silenced but with credit: difference or shapley, and {here}"
    if "permutations" in said and settings.credit != "shapley":
        found["permutations"] = f"orders are drawn only with credit: shapley, and {here}"
    if settings.route is None:
        why = "nothing is routed without route: and the name of a single agent's team."
        found |= {one: why for one in ("router", "gauge") if one in said}
    elif why := missing(settings.router):
        found["router"] = why
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Credited:
    """An utterance, and what it was worth.

    Attributes:
        utterance: What was said.
        score: What the judge says of it, s (Eq. 9); None where nothing of use was said.
        ratio: Its agent's share of its round, in [0, 1] (Eq. 11, 16).
        weight: Its round's share of the outcome, in [0, 1] (Eq. 10).
        reward: Both signals as one, in [0, 1] (Eq. 12); None where it was not judged.
        worth: What its ratio was made of, in [-1, 1], where runs with somebody silenced told that.
    """

    utterance: Utterance
    score: Contribution | None
    ratio: float
    weight: float
    reward: float | None
    worth: float | None = None

    def value(self) -> dict[str, Any]:
        """Give its numbers, with the judge's reason."""
        one = self.utterance
        judged = {"score": self.score.value, "reason": self.score.reason} if self.score else {}
        tried = {} if self.worth is None else {"worth": self.worth}
        shares = {**tried, "ratio": self.ratio, "weight": self.weight}
        rewarded = {} if self.reward is None else {"reward": self.reward}
        return {"agent": one.agent, "round": one.round, **judged, **shares, **rewarded}


def credited(
    said: Sequence[Utterance],
    scores: Mapping[Turn, Contribution],
    *,
    outcome: float,
    settings: ExperienceSettings,
    worth: Mapping[Turn, float] | None = None,
) -> tuple[Credited, ...]:
    """Give each utterance its reward (MATTRL Eq. 10 to 12).

    Args:
        said: The utterances of a run, at least one.
        scores: What the judge says of each that it judged.
        outcome: How the run ended: its score, in [0, 1].
        settings: How much of what.
        worth: What each was worth by counterfactual runs. None: its score decides (naive).
    """
    weights = decay_weights(
        max(utterance.round for utterance in said), gamma=settings.gamma, favour=settings.favour
    )
    basis = {turn: one.value for turn, one in scores.items()} if worth is None else worth
    shares = dict(_shares(said, basis))
    of: list[Credited] = []
    for utterance in said:
        score, weight = scores.get(utterance.turn), weights[utterance.round - 1]
        ratio = shares.get(utterance.turn, 0.0)
        reward = _reward(score, outcome * weight * ratio, settings)
        made = Credited(utterance=utterance, score=score, ratio=ratio, weight=weight, reward=reward)
        of.append(replace(made, worth=None if worth is None else worth.get(utterance.turn)))
    return tuple(of)


def _shares(said: Sequence[Utterance], worth: Mapping[Turn, float]) -> Iterator[tuple[Turn, float]]:
    """Share each round out among those who spoke in it, and whose worth is known."""
    for number in sorted({utterance.round for utterance in said}):
        turns = [
            utterance.turn
            for utterance in said
            if utterance.round == number and utterance.turn in worth
        ]
        yield from ratios({turn: worth[turn] for turn in turns}).items()


def _reward(score: Contribution | None, share: float, settings: ExperienceSettings) -> float | None:
    if score is None:
        return None
    return fused(score.value, share, individual_weight=settings.individual)


def kept(
    of: Sequence[Credited], settings: ExperienceSettings, before: Sequence[float]
) -> tuple[Credited, ...]:
    """Select the utterances that become entries, in the order in which they were said (Eq. 13).

    Args:
        of: All utterances of a run.
        settings: How good is good enough.
        before: The rewards of all utterances of earlier runs.
    """
    rewards = {one.utterance.turn: one.reward for one in of if one.reward is not None}
    chosen = selected(rewards, share=settings.share, threshold=settings.threshold, earlier=before)
    return tuple(one for one in of if one.utterance.turn in chosen)


def tell(
    episode: Episode,
    of: Sequence[Credited],
    came: Mapping[Turn, Distilled | RejectedProposal],
    *,
    outcome: float,
    before: Sequence[float],
    about: Mapping[str, Any] | None = None,
) -> None:
    """Keep what was distilled, count what was not, and tell the numbers of every utterance.

    Args:
        episode: The episode.
        of: All utterances of its run.
        came: What came of distilling those that were selected.
        outcome: How the run ended: its score, in [0, 1].
        before: The rewards of all utterances of earlier runs.
        about: What counterfactual runs cost and saved, where there were any.
    """
    settings: ExperienceSettings = episode.settings
    for one in of:
        match came.get(one.utterance.turn):
            case RejectedProposal() as lost:
                episode.lose(lost)
            case Distilled() as distilled:
                _keep(episode, one, distilled)
            case None:
                pass
    head = {"outcome": outcome, "credit": settings.credit}
    lines = told(of, came, settings, before)
    more = {"counterfactuals": about} if about else {}
    episode.note(EVENT, **head, utterances=lines, **more)
    case = {"case": episode.task.id, **head, "utterances": lines, **more}
    episode.keep(EventNoted(what=EVENT, about=case), EVENT)
    episode.told["utterances"] = len(of)
    episode.told["entries"] = sum(line["came"] == KEPT for line in lines)
    if about:
        episode.told["counterfactual calls asked"] = about["calls"]["asked"]
        episode.told["counterfactual calls answered"] = about["calls"]["answered"]


def _keep(episode: Episode, one: Credited, distilled: Distilled) -> None:
    """Have an entry made, called by its case's number, its agent and its round."""
    agent, number = one.utterance.turn
    entry = distilled.entry(
        episode.task,
        one.utterance,
        credit=one.reward or 0.0,
        by_case=episode.settings.key == "case",
        run=episode.stage.name,
    )
    episode.keep(entry, f"{agent}/{number}")


def told(
    of: Sequence[Credited],
    came: Mapping[Turn, Distilled | RejectedProposal],
    settings: ExperienceSettings,
    before: Sequence[float],
) -> list[dict[str, Any]]:
    """Tell the numbers of all utterances of a run, and of each whether it was kept or why not.

    Args:
        of: All utterances.
        came: What came of distilling those that were selected.
        settings: How good was good enough.
        before: The rewards of all utterances of earlier runs.
    """
    all_ = len(before) + sum(one.reward is not None for one in of)
    why = f"not in the top {settings.share:.3g} of {all_}"
    return [{**one.value(), "came": _came(one, came, settings, why)} for one in of]


def _came(
    one: Credited,
    came: Mapping[Turn, Distilled | RejectedProposal],
    settings: ExperienceSettings,
    otherwise: str,
) -> str:
    made = came.get(one.utterance.turn)
    if made is not None:
        return "not distilled" if isinstance(made, RejectedProposal) else KEPT
    return _why(one, settings, otherwise)


def _why(one: Credited, settings: ExperienceSettings, otherwise: str) -> str:
    if one.reward is None:
        return "not judged"
    if one.reward <= settings.threshold:
        return f"not above {settings.threshold:.3g}"
    return otherwise


def earlier(lines: Iterable[Mapping[str, Any]]) -> list[float]:
    """Find the rewards of all utterances that the lines of episodes tell of."""
    stories = (event for line in lines for event in line.get("story", ()))
    return [
        one["reward"]
        for event in stories
        if event["event"] == EVENT
        for one in event["utterances"]
        if "reward" in one
    ]
