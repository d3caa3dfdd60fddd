"""The standings of a race: the beliefs about each candidate, from its scores so far.

Each edit is expected to do harm more often than good, by about `PRIOR_SPREAD`; scores then decide.
Candidates run on the same slots in the same order, so the common effect of a slot (an easy
task, a hard one) is removed from their scores before they are compared.
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
"""A numpy array of one or two dimensions."""
PRIOR_GAIN = -0.1
"""The prior mean of an edit's effect on the mean score."""
PRIOR_SPREAD = 0.2
"""The standard deviation of that effect."""
PRIOR_MEAN, PRIOR_MEAN_SPREAD = 0.5, 0.5
"""The prior of the original's mean score: its mean and standard deviation."""
PRIOR_WEIGHT = 4
"""The number of children of a kind that weigh as much as the prior of its gain."""
PARSIMONY = 1.0
"""A step of the leader counts where it gains more than so many standard deviations. What comes
later begins where its parent stands, so it looks a little better than it is."""
INTERPLAY = 0.1
"""The standard deviation of what a merge adds beyond the sum of what it merges."""
LEAST_VARIANCE = 1e-3
SWEEPS = 3
"""Iterations of the fit of slots and candidates, which converges quickly."""


class Scored(Protocol):
    """A candidate with its scores, in a race or in the record of one; see `Contender`."""

    @property
    def number(self) -> int:
        """Its number in the order of entry."""
        ...

    @property
    def parent(self) -> int | None:
        """The number of the candidate that it was made of."""
        ...

    @property
    def partner(self) -> int | None:
        """The number of the candidate whose steps a merge includes, too."""
        ...

    @property
    def scores(self) -> Sequence[float | None]:
        """Its score in each slot."""
        ...

    @property
    def usage(self) -> Usage:
        """The usage of its runs."""
        ...


@dataclass(kw_only=True, slots=True)
class Contender:
    """A team in the race.

    Attributes:
        number: Its number in the order of entry, from 0; 0 is the original.
        key: The content hash that identifies its team.
        parent: The number of the candidate that it was made of; None for the original.
        partner: The number of the other candidate that a merge was made of.
        kind: The kind of proposal that made it.
        reason: The proposal's own reason.
        edits: Its changes to its parent, in words.
        scores: Its score in each slot, in [0, 1]; None if it could not be scored.
        usage: The usage of its runs, without answers reused from its parents' runs.
        saved: The usage that these answers saved.
        repeats: Whether running it again on a task may give another answer.
        width: The largest number of its agents that may ask a model at the same time.
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
    width: int = 1
    state: str = "open"

    @property
    def run_scores(self) -> list[float]:
        """The known scores."""
        return [score for score in self.scores if score is not None]

    @property
    def mean(self) -> float:
        """The plain mean of its scores, in [0, 1]; 0 without any."""
        return sum(self.run_scores) / len(self.run_scores) if self.run_scores else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Belief:
    """The belief about a mean score: a normal distribution."""

    mean: float
    spread: float

    def draw(self, chance: random.Random) -> float:
        """Draw a value."""
        return chance.gauss(self.mean, self.spread)


@dataclass(frozen=True, kw_only=True, slots=True)
class Posterior:
    """The beliefs about all candidates: a normal distribution of the effects of all steps.

    A candidate's mean score is the sum of the steps that led to it: the original's own mean, the
    effect of each proposal, and for a merge the effects of both lines and their interplay. So a run
    informs about every candidate that shares a step with it.

    Attributes:
        steps: Which steps (columns) are in each candidate (rows).
        added: The expected effect of each step.
        root: A root of the covariance of the effects: times its transpose it is the covariance.
    """

    steps: Matrix
    added: Matrix
    root: Matrix

    @classmethod
    def of(cls, candidates: Sequence[Scored], slots: Mapping[int, float], variance: float) -> Self:
        """Return the posterior after scores, each less the effect of its slot.

        Args:
            slots: The effect of each slot on every score.
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
        return cls(steps=steps, added=added, root=root)

    @property
    def means(self) -> Sequence[float]:
        """The expected mean score of each candidate."""
        return (self.steps @ self.added).tolist()

    def belief(self, steps: Matrix) -> Belief:
        """Return the belief about the sum of some steps."""
        spread = steps @ self.root
        return Belief(mean=float(steps @ self.added), spread=float(spread @ spread) ** 0.5)

    def draw(self, chance: random.Random) -> Matrix:
        """Draw the effect of each step."""
        return self.added + self.root @ [chance.gauss() for _ in self.added]


def _prior(candidates: Sequence[Scored]) -> tuple[Matrix, Matrix, Matrix]:
    """Return each candidate's steps, with the prior mean and variance of each step's effect."""
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
    """Return the joint beliefs about all candidates; parents come before children."""
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
    """Return the key of the leader: the expected score, and for equal ones the lower cost."""
    cost = candidate.usage.tokens / max(1, len(candidate.scores))
    return round(belief.mean, 3), -cost, -candidate.number


def _rests(candidates: Sequence[Scored], means: Sequence[float]) -> dict[int, list[float]]:
    """Return the residuals of the scores in each slot, without each candidate's mean."""
    rests: dict[int, list[float]] = defaultdict(list)
    for candidate, mean in zip(candidates, means, strict=True):
        for slot, score in enumerate(candidate.scores):
            if score is not None:
                rests[slot].append(score - mean)
    return rests


def _shared(rests: dict[int, list[float]]) -> float:
    """Estimate the variance that candidates share in a slot, from products of their residuals."""
    products = pairs = 0.0
    for slot in rests.values():
        products += sum(slot) ** 2 - sum(rest**2 for rest in slot)
        pairs += len(slot) * (len(slot) - 1)
    return max(0.0, products / pairs) if pairs else 0.0


def _effects(rests: dict[int, list[float]], shared: float, variance: float) -> dict[int, float]:
    """Estimate each slot's effect on every score, shrunk by its noise."""
    if not shared:
        return {}
    return {slot: sum(rest) / (len(rest) + variance / shared) for slot, rest in rests.items()}


def _mean_square(values: Sequence[float]) -> float:
    """Return the variance, with one more value that varies as right and wrong do."""
    return (sum(value**2 for value in values) + 0.25) / (len(values) + 1)


@dataclass(kw_only=True)
class Standings:
    """All candidates, and draws from the beliefs about them.

    Attributes:
        hashes: The content hashes of their teams.
    """

    candidates: list[Contender] = field(default_factory=list[Contender])
    hashes: set[str] = field(default_factory=set[str])
    _posterior: Posterior = field(init=False)
    _beliefs: list[Belief] = field(default_factory=list[Belief])

    def enter(self, candidate: Contender) -> None:
        """Add a candidate."""
        self.candidates.append(candidate)
        self.hashes.add(candidate.key)
        self.refresh()

    def refresh(self) -> None:
        """Update the beliefs by new scores."""
        self._posterior = believed(self.candidates)
        self._beliefs = [self._posterior.belief(steps) for steps in self._posterior.steps]

    def belief(self, candidate: Contender) -> Belief:
        """Return the belief about a candidate, as of the last `refresh`."""
        return self._beliefs[candidate.number]

    def lead(self, candidate: Contender, rival: Contender) -> Belief:
        """Return the belief about a candidate's lead over another."""
        steps = self._posterior.steps
        return self._posterior.belief(steps[candidate.number] - steps[rival.number])

    @property
    def leader(self) -> Contender:
        """The candidate with the highest expected score; of equal ones, the cheaper."""
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
        """Draw the effect of each step on the mean score, from the beliefs about all."""
        return self._posterior.draw(chance)

    def scores(self, drawn: Matrix) -> dict[int, float]:
        """Return the mean score of each candidate that may run, by the drawn effects."""
        scores = (self._posterior.steps @ drawn).tolist()
        return {candidate.number: scores[candidate.number] for candidate in self.running}

    def partners(self, base: Contender, drawn: Matrix) -> list[tuple[Contender, float]]:
        """Return the candidates whose edits gain in another one, as expected and in a draw.

        Args:
            base: The candidate that does not have these edits.
            drawn: What each step adds, as it was drawn.

        Returns:
            The candidates, and the gain of their edits in the draw; the largest first.
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
        """Return the candidate that proposals change: one that seems to gain, else its ancestor."""
        while candidate.parent is not None:
            parent = self.candidates[candidate.parent]
            gained = self.lead(candidate, parent)
            if gained.mean > gained.spread:
                return candidate
            candidate = parent
        return candidate

    def gain(self, kinds: Collection[str]) -> Belief:
        """Return the belief about the gain of the next proposal of some kinds, from past ones."""
        gains = [
            self.lead(child, self.candidates[child.parent]).mean
            for child in self.candidates
            if child.parent is not None and child.kind in kinds
        ]
        weight = PRIOR_WEIGHT + len(gains)
        mean = (PRIOR_WEIGHT * PRIOR_GAIN + sum(gains)) / weight
        return Belief(mean=mean, spread=PRIOR_SPREAD / math.sqrt(weight))
