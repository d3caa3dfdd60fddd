"""What came of a stream, read from the lines of a pool's ledger. It is made of JSON's values."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, Self

from ...pool.layout import LEDGER
from ...pool.ledger import Ledger
from .texts import habits_in, lessons_in
from .world import habit_worth, right_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ...pool.pool import Pool
    from ...runtime.usage import Usage
    from .landscapes import Landscape

__all__ = ["WINDOW", "Outcome", "Told", "outcome_of", "truths"]

WINDOW = 32
"""Tasks of which the specialization index is (EvoChamber, Fig. 3)."""
QUARTER = 4


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a row on a stream. Lists have an item for each task, in order.

    Attributes:
        scores: Of the team's answers.
        niches: Of the tasks.
        anchors: Who led.
        sizes: How many agents there were.
        structures: In which structure the team worked.
        left: How many agents there are at the end.
        lifecycle: How often each of its operators acted.
        dreams: How often was dreamt; under `abstained`, how often without anything to compare.
        routed: To how many agents each insight of a dream went.
        truths: How many entries that stand at the end are true, and how many there are: lessons by
            niche, and under `habits` insights.
        calls: Model calls, of agents and of operators.
        tokens: Their tokens.
        seconds: CPU seconds that it took.
    """

    scores: Sequence[float]
    niches: Sequence[str]
    anchors: Sequence[str]
    sizes: Sequence[int]
    structures: Sequence[str]
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

    @cached_property
    def index(self) -> Sequence[float]:
        """The specialization index after each task from the first whole window on.

        It is 1 less the entropy of who led in the window, as a share of the most that so many
        agents could have (EvoChamber, Fig. 3): 1 where one leads always.
        """
        ends = range(min(WINDOW, len(self.anchors)), len(self.anchors) + 1)
        return [
            _index(self.anchors[max(0, end - WINDOW) : end], self.sizes[end - 1]) for end in ends
        ]

    def top(self, niche: str) -> tuple[str, float]:
        """Give who led most often in a niche, and on which share of its tasks."""
        led = Counter(
            anchor for anchor, of in zip(self.anchors, self.niches, strict=True) if of == niche
        )
        [(name, times)] = led.most_common(1)
        return name, times / led.total()


def _index(anchors: Sequence[str], agents: int) -> float:
    if agents < 2:
        return 1.0
    shares = [times / len(anchors) for times in Counter(anchors).values()]
    return 1 + sum(share * math.log(share) for share in shares) / math.log(agents)


def outcome_of(pool: Pool, world: Landscape, paid: Mapping[str, Usage], seconds: float) -> Outcome:
    """Read what came of a stream.

    Args:
        pool: The pool that worked on it.
        world: Where.
        paid: What was asked for, by the alias of the model.
        seconds: CPU seconds that it took.
    """
    told = Told(pool.folder)
    learnt = pool.learnt
    stand = [one.text for one in learnt.between(0) if learnt.stands(one.id)]
    return Outcome(
        scores=[one["score"] for one in told.trials],
        niches=[one["niche"] for one in told.trials],
        anchors=[one["agents"]["anchor"]["member"] for one in told.trials],
        sizes=told.sizes,
        structures=[one["structure"] for one in told.trials],
        left=len(pool.agents),
        lifecycle=Counter(one["operator"] for one in told.events("lifecycle")),
        dreams=told.dreams,
        routed=told.routed,
        truths=truths(world, stand),
        calls={model: usage.calls for model, usage in sorted(paid.items())},
        tokens={
            model: usage.prompt_tokens + usage.completion_tokens
            for model, usage in sorted(paid.items())
        },
        seconds=seconds,
    )


class Told:
    """The lines of a population's ledger.

    Args:
        folder: The pool's.
    """

    def __init__(self, folder: Path) -> None:
        self._values = [one.value for one in Ledger(folder / LEDGER).read()]

    @property
    def trials(self) -> list[Mapping[str, Any]]:
        """The trials of seated teams."""
        return [one for one in self._values if _is_trial(one)]

    @property
    def sizes(self) -> list[int]:
        """How many agents there were on each of them."""
        return [*_sizes(self._values)]

    def events(self, what: str) -> list[Mapping[str, Any]]:
        """What was told of events that are called so."""
        told = (one for one in self._values if one["kind"] == "told" and one["what"] == what)
        return [one["about"] for one in told]

    @property
    def dreams(self) -> Mapping[str, int]:
        """How often was dreamt for which reason, and how often in vain."""
        dreams = self.events("dream")
        counts = Counter(str(one["why"]) for one in dreams)
        return {**counts, "abstained": sum(bool(one.get("abstained")) for one in dreams)}

    @property
    def routed(self) -> list[int]:
        """To how many agents each insight of a dream went."""
        entries = (one["entry"] for one in self._values if one["kind"] == "learnt")
        return [len(one.get("to", ())) or 1 for one in entries if one.get("giver")]


def _is_trial(value: Mapping[str, Any]) -> bool:
    return value["kind"] == "evaluated" and "anchor" in value.get("agents", {})


def _sizes(values: Iterable[Mapping[str, Any]]) -> Iterator[int]:
    living: set[str] = set()
    for one in values:
        if one["kind"] in {"born", "restored"} and "agent" in one:
            living.add(one["agent"])
        elif one["kind"] == "retired" and "agent" in one:
            living.discard(one["agent"])
        elif _is_trial(one):
            yield len(living)


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
