"""What came of a stream, read from the lines of a pool's ledger. It is made of JSON's values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, Self

from coterie.pool.ledger.ledger import Ledger
from coterie.pool.population.population import Rates
from coterie.pool.population.signals import by_chance, signals, specialization
from coterie.pool.values.layout import LEDGER

from .texts import habits_in, lessons_in
from .world import habit_worth, right_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coterie.operators.methods.evochamber.settings import PopulationSettings
    from coterie.pool.population.signals import Happened
    from coterie.pool.teams.pool import Pool
    from coterie.runtime.values.usage import Usage

    from .landscapes import Landscape

__all__ = ["Outcome", "outcome_of", "truths"]

QUARTER = 4


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a row on a stream. Lists have an item for each task, in order.

    Attributes:
        scores: Of the team's answers.
        niches: Of the tasks.
        anchors: Who led.
        structures: In which structure the team worked.
        index: The specialization index after each task from the first whole window on.
        chance: What it would be on the mean, had anybody led.
        left: How many agents there are at the end.
        lifecycle: How often each of its operators acted.
        dreams: How often was dreamt for which reason; under `abstained`, how often without anything
            to compare, and under `came`, how many insights there were before they were verified.
        routed: To how many agents each verified insight of a dream went.
        truths: How many entries that stand at the end are true, and how many there are: lessons by
            niche, and under `habits` insights.
        calls: Model calls, of agents and of operators.
        tokens: Their tokens.
        seconds: CPU seconds that it took.
    """

    scores: Sequence[float]
    niches: Sequence[str]
    anchors: Sequence[str]
    structures: Sequence[str]
    index: Sequence[float]
    chance: float | None
    left: int
    lifecycle: Mapping[str, int]
    dreams: Mapping[str, int]
    routed: Sequence[int]
    truths: Mapping[str, tuple[int, int]]
    calls: Mapping[str, int]
    tokens: Mapping[str, int]
    seconds: float

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Self:
        """Read it again."""
        return cls(**line)

    @property
    def accuracy(self) -> float:
        """The mean score of the stream."""
        return fmean(self.scores)

    @property
    def late(self) -> float:
        """The mean score of the last quarter."""
        return fmean(self.scores[-max(1, len(self.scores) // QUARTER) :])

    def on(self, niche: str) -> float:
        """Give the mean score of a niche."""
        return fmean(
            score for score, of in zip(self.scores, self.niches, strict=True) if of == niche
        )

    def top(self, niche: str) -> tuple[str, float]:
        """Give who led most often in a niche, and on which share of its tasks."""
        led = Counter(
            anchor for anchor, of in zip(self.anchors, self.niches, strict=True) if of == niche
        )
        [(name, times)] = led.most_common(1)
        return name, times / led.total()


def outcome_of(
    pool: Pool,
    world: Landscape,
    settings: PopulationSettings,
    paid: Mapping[str, Usage],
    seconds: float,
) -> Outcome:
    """Read what came of a stream.

    Args:
        pool: The pool that worked on it.
        world: Where.
        settings: Those of the strategy.
        paid: What was asked for, by the alias of the model.
        seconds: CPU seconds that it took.
    """
    told = signals(Ledger(pool.folder / LEDGER).read(), Rates.of(settings))
    learnt = pool.learnt.between(0)
    return Outcome(
        scores=[one.score for one in told.worked],
        niches=[one.niche for one in told.worked],
        anchors=[one.anchor for one in told.worked],
        structures=[str(one.structure) for one in told.worked],
        index=specialization(told.worked),
        chance=by_chance(told.worked),
        left=len(pool.agents),
        lifecycle={**Counter(str(one.about["operator"]) for one in told.lifecycle)},
        dreams=_dreams(told.dreams),
        routed=[
            int(one["to"])
            for dream in told.dreams
            for one in dream.about.get("insights", ())
            if one["verified"]
        ],
        truths=truths(world, (one.text for one in learnt if pool.learnt.stands(one.id))),
        calls={model: usage.calls for model, usage in sorted(paid.items())},
        tokens={model: usage.tokens for model, usage in sorted(paid.items())},
        seconds=seconds,
    )


def _dreams(dreams: Iterable[Happened]) -> Mapping[str, int]:
    """Count them by what they were for, those in vain, and what came of them to be tested."""
    told = [one.about for one in dreams]
    counts = Counter(str(one["why"]) for one in told)
    counts["abstained"] = sum(bool(one.get("abstained")) for one in told)
    counts["came"] = sum(int(one.get("came", 0)) for one in told)
    return {**counts}


def truths(world: Landscape, texts: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Count what is true of what was learnt.

    Args:
        world: Where.
        texts: What was learnt.

    Returns:
        How many lessons of each niche name the right method for their sign, and how many there are;
        under `habits`, how many habits are sound.
    """
    found: dict[str, list[bool]] = {}
    for text in texts:
        for one in lessons_in(text):
            is_right = one.method == right_method(world.name, one.niche, one.sign)
            found.setdefault(one.niche, []).append(is_right)
        for habit, _ in habits_in(text):
            found.setdefault("habits", []).append(habit_worth(world.name, habit) == 1)
    return {name: (sum(marks), len(marks)) for name, marks in sorted(found.items())}
