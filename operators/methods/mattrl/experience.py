"""Rewards: the value of each utterance of a run (MATTRL §3.2).

A judge scores each utterance, and the run has an outcome; the reward combines both.
This module calls no model: it receives numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ....pool.ledger.changes import EventNoted
from ...credit import decay_weights, fused, ratios
from ...routing import missing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...core.utterances import Turn, Utterance
    from ...credit.contributions import Contribution
    from ...evolution.episode import Episode
    from ...routing import By

EVENT = "utterances"
"""The event with these numbers, in an episode's log and in the pool."""


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
    batch: int | None = None
    successful_only: bool = False
    pre_test: Literal["keep", "skip_right"] = "keep"
    catalogue: tuple[str, ...] = ()
    experience: Literal["shared", "own"] | None = None
    first: Literal["similar", "successful"] = "successful"
    rubric: str = ""
    key: Literal["context", "case"] = "context"
    recalls: bool = False
    route: str | None = None
    router: By = "rule"
    gauge: bool = True


def check(settings: ExperienceSettings, written: Mapping[str, Any]) -> dict[str, str]:
    """Yield the fields that have no effect in combination with the others."""
    fields: dict[str, str] = {}
    here = f"here is credit: {settings.credit}. Leave one of them out."
    if "per" in written and settings.credit == "naive":
        fields["per"] = f"agents are silenced only with credit: difference or shapley, and {here}"
    if "permutations" in written and settings.credit != "shapley":
        fields["permutations"] = f"orders are drawn only with credit: shapley, and {here}"
    if settings.route is None:
        why = "nothing is routed without route: and the name of a single agent's team."
        fields |= {word: why for word in ("router", "gauge") if word in written}
    elif why := missing(settings.router):
        fields["router"] = why
    return fields


@dataclass(frozen=True, kw_only=True, slots=True)
class Credited:
    """An utterance with its credit.

    Attributes:
        score: The judge's score s (Eq. 9); None if there is no valid one.
        ratio: Its agent's share of its round, in [0, 1] (Eq. 11, 16).
        weight: Its round's share of the outcome, in [0, 1] (Eq. 10).
        reward: Both signals combined, in [0, 1] (Eq. 12); None if it was not judged.
        worth: The worth behind its ratio, in [-1, 1], if counterfactual runs measured it.
    """

    utterance: Utterance
    score: Contribution | None
    ratio: float
    weight: float
    reward: float | None
    worth: float | None = None

    def value(self) -> dict[str, Any]:
        """Return its numbers, with the judge's reason."""
        item = self.utterance
        judged = {"score": self.score.value, "reason": self.score.reason} if self.score else {}
        scores = {} if self.worth is None else {"worth": self.worth}
        shares = {**scores, "ratio": self.ratio, "weight": self.weight}
        rewarded = {} if self.reward is None else {"reward": self.reward}
        return {"agent": item.agent, "round": item.round, **judged, **shares, **rewarded}


def credited(
    utterances: Sequence[Utterance],
    scores: Mapping[Turn, Contribution],
    *,
    outcome: float,
    settings: ExperienceSettings,
    worth: Mapping[Turn, float] | None = None,
) -> tuple[Credited, ...]:
    """Compute the reward of each utterance (MATTRL Eq. 10 to 12).

    Args:
        utterances: The utterances of a run, at least one.
        scores: The judge's scores, as far as there are any.
        outcome: The score of the run, in [0, 1].
        worth: The worth of each by counterfactual runs. None: its score decides (naive).
    """
    weights = decay_weights(
        max(utterance.round for utterance in utterances),
        gamma=settings.gamma,
        favour=settings.favour,
    )
    basis = (
        {turn: contribution.value for turn, contribution in scores.items()}
        if worth is None
        else worth
    )
    shares = dict(_shares(utterances, basis))
    of: list[Credited] = []
    for utterance in utterances:
        score, weight = scores.get(utterance.turn), weights[utterance.round - 1]
        ratio = shares.get(utterance.turn, 0.0)
        reward = _reward(score, outcome * weight * ratio, settings)
        result = Credited(
            utterance=utterance, score=score, ratio=ratio, weight=weight, reward=reward
        )
        of.append(replace(result, worth=None if worth is None else worth.get(utterance.turn)))
    return tuple(of)


def _shares(
    utterances: Sequence[Utterance], worth: Mapping[Turn, float]
) -> Iterator[tuple[Turn, float]]:
    """Divide each round among the agents that spoke in it and whose worth is known."""
    for number in sorted({utterance.round for utterance in utterances}):
        turns = [
            utterance.turn
            for utterance in utterances
            if utterance.round == number and utterance.turn in worth
        ]
        yield from ratios({turn: worth[turn] for turn in turns}).items()


def _reward(score: Contribution | None, share: float, settings: ExperienceSettings) -> float | None:
    if score is None:
        return None
    return fused(score.value, share, individual_weight=settings.individual)


def tell(
    episode: Episode,
    of: Sequence[Credited],
    *,
    outcome: float,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Record the numbers of every utterance of a case, for the selection from its batch.

    Args:
        outcome: The score of the run, in [0, 1].
        about: The cost and savings of counterfactual runs, if there were any.
    """
    fields = {
        "outcome": outcome,
        "credit": episode.settings.credit,
        "utterances": [utterance.value() for utterance in of],
        **({"counterfactuals": about} if about else {}),
    }
    episode.note(EVENT, **fields)
    episode.keep(EventNoted(what=EVENT, about={"case": episode.task.id, **fields}), EVENT)
    episode.figures["utterances"] = len(of)
    if about:
        episode.figures["counterfactual calls asked"] = about["calls"]["asked"]
        episode.figures["counterfactual calls answered"] = about["calls"]["answered"]
