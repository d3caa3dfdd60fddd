"""The standings of a race: what is believed of each candidate, from its scores so far.

Each edit is expected to do harm more often than good, by about `PRIOR_SPREAD`; scores then speak.
Candidates run on the same slots in the same order, so what a slot does to all of them (an easy
task, a hard one) is taken out of their scores before they are compared.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ....runtime.values.usage import Usage

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Sequence

    from ....schema.team.team import Team

PRIOR_GAIN = -0.1
"""What an edit adds to the mean score, before it was tried."""
PRIOR_SPREAD = 0.2
"""The standard deviation of that."""
PRIOR_MEAN, PRIOR_MEAN_SPREAD = 0.5, 0.5
"""Of the original's mean score."""
PRIOR_WEIGHT = 4
"""How many children of a kind weigh as much as the prior of its gain."""
PARSIMONY = 1.0
"""A step of the leader counts where it gains more than so many standard deviations. What comes
later begins where its parent stands, so it looks a little better than it is."""
LEAST_VARIANCE = 1e-3
SWEEPS = 3
"""Of the fit of slots and candidates, which settles quickly."""


class Scored(Protocol):
    """A candidate with its scores, in a race or in the record of one; see `Candidate`."""

    @property
    def number(self) -> int:
        """Its place among those that entered."""
        ...

    @property
    def parent(self) -> int | None:
        """The number of the candidate that it was made of."""
        ...

    @property
    def scores(self) -> Sequence[float | None]:
        """Its score in each slot."""
        ...

    @property
    def usage(self) -> Usage:
        """What its runs consumed."""
        ...


@dataclass(kw_only=True, slots=True)
class Candidate:
    """A team in the race.

    Attributes:
        number: Its place among those that entered, from 0; 0 is the original.
        team: The team.
        parent: The number of the candidate that it was made of; None: it is the original.
        kind: The kind of proposal that made it.
        reason: Why, in the words of who proposed it.
        edits: What it changes about its parent, in words.
        scores: Its score in each slot, in [0, 1]; None where nobody could score it.
        usage: What its runs consumed, without what its parents' runs had the answers for.
        saved: What those had the answers for.
        repeats: Whether running it again on a task may give another answer.
        state: `open`; `ahead` of the original; `behind` the leader, so it runs no more.
    """

    number: int
    team: Team
    parent: int | None = None
    kind: str = ""
    reason: str = ""
    edits: tuple[str, ...] = ()
    scores: list[float | None] = field(default_factory=list["float | None"])
    usage: Usage = field(default_factory=Usage)
    saved: Usage = field(default_factory=Usage)
    repeats: bool = True
    state: str = "open"

    @property
    def known(self) -> list[float]:
        """The scores that are known."""
        return [score for score in self.scores if score is not None]

    @property
    def mean(self) -> float:
        """The plain mean of its scores, in [0, 1]; 0 without any."""
        return sum(self.known) / len(self.known) if self.known else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Belief:
    """What is believed of a mean score.

    Attributes:
        mean: The expectation.
        spread: The standard deviation.
    """

    mean: float
    spread: float

    def draw(self, chance: random.Random) -> float:
        """Draw a value."""
        return chance.gauss(self.mean, self.spread)


def believed(candidates: Sequence[Scored]) -> list[Belief]:
    """Return what is believed of each candidate's mean score; parents come before children."""
    slots: dict[int, float] = defaultdict(float)
    variance = 0.25
    beliefs = _beliefs(candidates, slots, variance)
    for _ in range(SWEEPS):
        rests = _rests(candidates, beliefs)
        total = _mean_square([rest for slot in rests.values() for rest in slot])
        shared = _shared(rests)
        variance = max(LEAST_VARIANCE, total - shared)
        slots = defaultdict(float, _effects(rests, shared, variance))
        beliefs = _beliefs(candidates, slots, variance)
    return beliefs


def rank(candidate: Scored, belief: Belief) -> tuple[float, float, int]:
    """Return what the leader has most of: the expected score; of equal ones, the cheaper leads."""
    cost = candidate.usage.tokens / max(1, len(candidate.scores))
    return round(belief.mean, 3), -cost, -candidate.number


def _beliefs(
    candidates: Sequence[Scored], slots: dict[int, float], variance: float
) -> list[Belief]:
    beliefs: list[Belief] = []
    for candidate in candidates:
        if candidate.parent is None:
            prior, spread = PRIOR_MEAN, PRIOR_MEAN_SPREAD
        else:
            prior, spread = beliefs[candidate.parent].mean + PRIOR_GAIN, PRIOR_SPREAD
        cleared = [
            score - slots[slot] for slot, score in enumerate(candidate.scores) if score is not None
        ]
        n = len(cleared)
        weight = n * spread**2 / (n * spread**2 + variance)
        mean = (1 - weight) * prior + weight * (sum(cleared) / n if n else 0.0)
        beliefs.append(Belief(mean=mean, spread=spread * math.sqrt(1 - weight)))
    return beliefs


def _rests(candidates: Sequence[Scored], beliefs: Sequence[Belief]) -> dict[int, list[float]]:
    """Return what is left of the scores in each slot once each candidate's mean is taken out."""
    rests: dict[int, list[float]] = defaultdict(list)
    for candidate, belief in zip(candidates, beliefs, strict=True):
        for slot, score in enumerate(candidate.scores):
            if score is not None:
                rests[slot].append(score - belief.mean)
    return rests


def _shared(rests: dict[int, list[float]]) -> float:
    """Estimate the variance that candidates share in a slot, from the products of their rests."""
    products = pairs = 0.0
    for slot in rests.values():
        products += sum(slot) ** 2 - sum(rest**2 for rest in slot)
        pairs += len(slot) * (len(slot) - 1)
    return max(0.0, products / pairs) if pairs else 0.0


def _effects(rests: dict[int, list[float]], shared: float, variance: float) -> dict[int, float]:
    """Estimate what each slot adds to every score, shrunk as far as it may be noise."""
    if not shared:
        return {}
    return {slot: sum(rest) / (len(rest) + variance / shared) for slot, rest in rests.items()}


def _mean_square(values: Sequence[float]) -> float:
    """Return the variance, with one more value that varies as right and wrong do."""
    return (sum(value**2 for value in values) + 0.25) / (len(values) + 1)


@dataclass(kw_only=True)
class Standings:
    """All candidates, and what is drawn from what is believed of them.

    Attributes:
        candidates: All that entered, in order.
        hashes: The content hashes of their teams.
    """

    candidates: list[Candidate] = field(default_factory=list[Candidate])
    hashes: set[str] = field(default_factory=set[str])
    _beliefs: list[Belief] = field(default_factory=list[Belief])

    def enter(self, candidate: Candidate) -> None:
        """Take in a candidate."""
        self.candidates.append(candidate)
        self.hashes.add(candidate.team.content_hash)
        self.refresh()

    def refresh(self) -> None:
        """Take in new scores."""
        self._beliefs = believed(self.candidates)

    def belief(self, candidate: Candidate) -> Belief:
        """Return what is believed of a candidate, as of the last `refresh`."""
        return self._beliefs[candidate.number]

    @property
    def leader(self) -> Candidate:
        """The candidate that is expected to score most; of equal ones, the cheaper."""
        return max(self.candidates, key=lambda candidate: rank(candidate, self.belief(candidate)))

    @property
    def finalist(self) -> Candidate:
        """The leader, without last steps that gain next to nothing: a reviewer reads each edit."""
        candidate = self.leader
        while (number := candidate.parent) is not None:
            parent, belief = self.candidates[number], self.belief(candidate)
            gained = belief.mean - self.belief(parent).mean
            if parent.parent is None or gained > PARSIMONY * belief.spread:
                return candidate
            candidate = parent
        return candidate

    @property
    def running(self) -> list[Candidate]:
        """The candidates that may still run."""
        return [candidate for candidate in self.candidates if candidate.state in {"open", "ahead"}]

    def drawn(self, chance: random.Random) -> dict[int, float]:
        """Draw a mean score for each candidate that may run, from what is believed of it."""
        return {candidate.number: self.belief(candidate).draw(chance) for candidate in self.running}

    def base(self, candidate: Candidate) -> Candidate:
        """Return whom proposals change: a candidate that seems to gain, else its ancestor."""
        while candidate.parent is not None:
            belief, parent = self.belief(candidate), self.candidates[candidate.parent]
            if belief.mean - belief.spread > self.belief(parent).mean:
                return candidate
            candidate = parent
        return candidate

    def gain(self, kinds: Collection[str]) -> Belief:
        """Return what is believed of the gain of a proposal of some kinds, from those before it."""
        gains = [
            self.belief(child).mean - self.belief(self.candidates[child.parent]).mean
            for child in self.candidates
            if child.parent is not None and child.kind in kinds
        ]
        weight = PRIOR_WEIGHT + len(gains)
        mean = (PRIOR_WEIGHT * PRIOR_GAIN + sum(gains)) / weight
        return Belief(mean=mean, spread=PRIOR_SPREAD / math.sqrt(weight))
