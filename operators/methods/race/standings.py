"""The standings of a race: what is believed of each candidate, from its scores so far.

Each edit is expected to do harm more often than good, by about `PRIOR_SPREAD`; scores then speak.
Candidates run on the same slots in the same order, so what a slot does to all of them (an easy
task, a hard one) is taken out of their scores before they are compared.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

from ....runtime.values.usage import Usage

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Mapping, Sequence

    from ....schema.team.team import Team

Matrix = Any
"""An array of numpy's, of one or two dimensions."""
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
INTERPLAY = 0.1
"""The standard deviation of what a merge adds beyond the sum of what it merges."""
SHOWN = 1.96 + 0.84
"""So many standard errors above 0, and a 95 % interval is above 0 with a chance of 80 %."""
LEAST_VARIANCE = 1e-3
SWEEPS = 3
"""Of the fit of slots and candidates, which settles quickly."""


class Scored(Protocol):
    """A candidate with its scores, in a race or in the record of one; see `Contender`."""

    @property
    def number(self) -> int:
        """Its place among those that entered."""
        ...

    @property
    def parent(self) -> int | None:
        """The number of the candidate that it was made of."""
        ...

    @property
    def partner(self) -> int | None:
        """The number of the candidate whose steps it has, too, as a merge."""
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
class Contender:
    """A team in the race.

    Attributes:
        number: Its place among those that entered, from 0; 0 is the original.
        key: What tells its team from others: the content hash.
        parent: The number of the candidate that it was made of; None: it is the original.
        partner: The number of the other candidate that a merge was made of.
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
    key: str = ""
    parent: int | None = None
    partner: int | None = None
    kind: str = ""
    reason: str = ""
    edits: tuple[str, ...] = ()
    scores: list[float | None] = field(default_factory=list["float | None"])
    usage: Usage = field(default_factory=Usage)
    saved: Usage = field(default_factory=Usage)
    repeats: bool = True
    state: str = "open"

    @property
    def run_scores(self) -> list[float]:
        """The scores that are known."""
        return [score for score in self.scores if score is not None]

    @property
    def mean(self) -> float:
        """The plain mean of its scores, in [0, 1]; 0 without any."""
        return sum(self.run_scores) / len(self.run_scores) if self.run_scores else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Belief:
    """What is believed of a mean score."""

    mean: float
    spread: float

    def draw(self, chance: random.Random) -> float:
        """Draw a value."""
        return chance.gauss(self.mean, self.spread)


@dataclass(frozen=True, kw_only=True, slots=True)
class Posterior:
    """What is believed of all candidates: a normal distribution of what each step adds.

    A candidate's mean score is the sum of the steps that led to it: the original's own mean, what
    each proposal adds, and of a merge what both lines add and how they get along. So a run tells
    something of every candidate that shares a step with it.

    Attributes:
        steps: Which steps (columns) are in each candidate (rows).
        added: What each step is expected to add.
        root: A root of the covariance of that: times its transpose it is the covariance.
        variance: Of scores around the means of their candidates and slots.
    """

    steps: Matrix
    added: Matrix
    root: Matrix
    variance: float

    @classmethod
    def of(cls, candidates: Sequence[Scored], slots: Mapping[int, float], variance: float) -> Self:
        """Return what scores show, each less what its slot adds.

        Args:
            slots: What each slot adds to every score.
        """
        import numpy as np

        steps, prior, precision = _prior(candidates)
        cleared = [
            [score - slots[slot] for slot, score in enumerate(each.scores) if score is not None]
            for each in candidates
        ]
        counts, sums = ([*map(f, cleared)] for f in (len, sum))
        weights = np.diag(precision) + (steps.T * counts) @ steps / variance
        root = np.linalg.inv(np.linalg.cholesky(weights)).T
        added = root @ root.T @ (precision * prior + steps.T @ np.array(sums) / variance)
        return cls(steps=steps, added=added, root=root, variance=variance)

    @property
    def means(self) -> Sequence[float]:
        """The expected mean score of each candidate."""
        return (self.steps @ self.added).tolist()

    def belief(self, steps: Matrix) -> Belief:
        """Return what is believed of the sum of some steps."""
        spread = steps @ self.root
        return Belief(mean=float(steps @ self.added), spread=float(spread @ spread) ** 0.5)

    def draw(self, chance: random.Random) -> Matrix:
        """Draw what each step adds."""
        return self.added + self.root @ [chance.gauss() for _ in self.added]


def _prior(candidates: Sequence[Scored]) -> tuple[Matrix, Matrix, Matrix]:
    """Return the steps of each candidate, and of each step what it adds and how sure that is."""
    import numpy as np

    steps = np.eye(len(candidates))
    parent_of = [each.parent or 0 for each in candidates]
    prior, spread = np.full(len(candidates), PRIOR_GAIN), np.full(len(candidates), PRIOR_SPREAD)
    for candidate in candidates:
        place = candidate.number
        if candidate.parent is None:
            prior[place], spread[place] = PRIOR_MEAN, PRIOR_MEAN_SPREAD
            continue
        steps[place] += steps[candidate.parent]
        if candidate.partner is not None:
            added = steps[candidate.partner] - steps[parent_of[candidate.partner]]
            steps[place] = np.maximum(steps[place], added)
            prior[place], spread[place] = 0.0, INTERPLAY
    return steps, prior, spread**-2


def believed(candidates: Sequence[Scored]) -> Posterior:
    """Return what is believed of all candidates together; parents come before children."""
    slots: dict[int, float] = defaultdict(float)
    variance = 0.25
    posterior = Posterior.of(candidates, slots, variance)
    for _ in range(SWEEPS):
        rests = _rests(candidates, posterior.means)
        total = _mean_square([rest for slot in rests.values() for rest in slot])
        shared = _shared(rests)
        variance = max(LEAST_VARIANCE, total - shared)
        slots = defaultdict(float, _effects(rests, shared, variance))
        posterior = Posterior.of(candidates, slots, variance)
    return posterior


def rank(candidate: Scored, belief: Belief) -> tuple[float, float, int]:
    """Return what the leader has most of: the expected score; of equal ones, the cheaper leads."""
    cost = candidate.usage.tokens / max(1, len(candidate.scores))
    return round(belief.mean, 3), -cost, -candidate.number


def _rests(candidates: Sequence[Scored], means: Sequence[float]) -> dict[int, list[float]]:
    """Return what is left of the scores in each slot once each candidate's mean is taken out."""
    rests: dict[int, list[float]] = defaultdict(list)
    for candidate, mean in zip(candidates, means, strict=True):
        for slot, score in enumerate(candidate.scores):
            if score is not None:
                rests[slot].append(score - mean)
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
        hashes: The content hashes of their teams.
    """

    candidates: list[Contender] = field(default_factory=list[Contender])
    hashes: set[str] = field(default_factory=set[str])
    _posterior: Posterior = field(init=False)
    _beliefs: list[Belief] = field(default_factory=list[Belief])

    def enter(self, candidate: Contender) -> None:
        """Take in a candidate."""
        self.candidates.append(candidate)
        self.hashes.add(candidate.key)
        self.refresh()

    def refresh(self) -> None:
        """Take in new scores."""
        self._posterior = believed(self.candidates)
        self._beliefs = [self._posterior.belief(steps) for steps in self._posterior.steps]

    def belief(self, candidate: Contender) -> Belief:
        """Return what is believed of a candidate, as of the last `refresh`."""
        return self._beliefs[candidate.number]

    def lead(self, candidate: Contender, rival: Contender) -> Belief:
        """Return what is believed of how much more a candidate scores than another."""
        steps = self._posterior.steps
        return self._posterior.belief(steps[candidate.number] - steps[rival.number])

    def pairs_to_show(self, candidate: Contender, rival: Contender) -> int:
        """Return in how many pairs of runs an interval shows a gain; 0: none is expected.

        It does so with a chance of 80 %, where the gain is the expected one. The prior has shrunk
        that, as who leads many others was lucky, too: of a gain of 0.4, about 0.1 in 40 runs. So
        the chance is higher where the gain is what its runs say.
        """
        gain = self.lead(candidate, rival).mean
        variance = 2 * self._posterior.variance
        return math.ceil(variance * (SHOWN / gain) ** 2) if gain > 0 else 0

    @property
    def leader(self) -> Contender:
        """The candidate that is expected to score most; of equal ones, the cheaper."""
        return max(self.candidates, key=lambda candidate: rank(candidate, self.belief(candidate)))

    @property
    def finalist(self) -> Contender:
        """The leader, without last steps that gain next to nothing: a reviewer reads each edit."""
        candidate = self.leader
        while (number := candidate.parent) is not None:
            parent = self.candidates[number]
            gained = self.lead(candidate, parent)
            if parent.parent is None or gained.mean > PARSIMONY * gained.spread:
                return candidate
            candidate = parent
        return candidate

    @property
    def running(self) -> list[Contender]:
        """The candidates that may still run."""
        return [candidate for candidate in self.candidates if candidate.state in {"open", "ahead"}]

    def draw(self, chance: random.Random) -> Matrix:
        """Draw what each step adds to the mean score, from what is believed of all."""
        return self._posterior.draw(chance)

    def scores(self, drawn: Matrix) -> dict[int, float]:
        """Return the mean score of each candidate that may run, as steps were drawn."""
        scores = (self._posterior.steps @ drawn).tolist()
        return {candidate.number: scores[candidate.number] for candidate in self.running}

    def partners(self, base: Contender, drawn: Matrix) -> list[tuple[Contender, float]]:
        """Return whose edits are expected to gain in another candidate and do so in a draw.

        Args:
            base: The candidate that does not have these edits.
            drawn: What each step adds, as it was drawn.

        Returns:
            Candidates, and what their edits add by the draw; most comes first.
        """
        steps, expected = self._posterior.steps, self._posterior.added
        partners: list[tuple[Contender, float]] = []
        for candidate in self.candidates[1:]:
            own = steps[candidate.number] - steps[candidate.parent]
            own = own * (own > steps[base.number])
            if own @ expected > 0 and own @ drawn > 0:
                partners.append((candidate, float(own @ drawn)))
        return sorted(partners, key=lambda partner: -partner[1])

    def base(self, candidate: Contender) -> Contender:
        """Return whom proposals change: a candidate that seems to gain, else its ancestor."""
        while candidate.parent is not None:
            parent = self.candidates[candidate.parent]
            gained = self.lead(candidate, parent)
            if gained.mean > gained.spread:
                return candidate
            candidate = parent
        return candidate

    def gain(self, kinds: Collection[str]) -> Belief:
        """Return what is believed of the gain of a proposal of some kinds, from those before it."""
        gains = [
            self.lead(child, self.candidates[child.parent]).mean
            for child in self.candidates
            if child.parent is not None and child.kind in kinds
        ]
        weight = PRIOR_WEIGHT + len(gains)
        mean = (PRIOR_WEIGHT * PRIOR_GAIN + sum(gains)) / weight
        return Belief(mean=mean, spread=PRIOR_SPREAD / math.sqrt(weight))
