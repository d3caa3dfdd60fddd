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
PARSIMONY = 0.5
"""Who leads by less than so many standard deviations leads by nothing that is worth an edit. With
more, edits that gain are left out."""
CURIOSITY = 2.0
"""Draws are so many times as far from what is expected as is believed. What runs score on the way
counts for nothing, so they may explore more, and an edit that failed at first is tried again."""
SURE = 2.0
"""A step counts for proposals where it gains more than so many standard deviations. Edits made in
other teams than the original can less often be made in others: they conflict."""
INTERPLAY = 0.05
"""The standard deviation of what a merge adds beyond the sum of what it merges. Merges are many
and run seldom: with more, their runs would tell little of their edits."""
SHOWN = 1.96 + 0.84
"""The gain in standard errors at which a 95 % interval lies above 0 with a probability of 80 %."""
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
    def first(self) -> int:
        """The slot of its first run."""
        ...

    @property
    def scores(self) -> Sequence[float | None]:
        """Its score in each slot from the first one on."""
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
    first: int = 0
    scores: list[float | None] = field(default_factory=list["float | None"])
    usage: Usage = field(default_factory=Usage)
    saved: Usage = field(default_factory=Usage)
    repeats: bool = True
    state: str = "open"

    @property
    def run_scores(self) -> list[float]:
        """The known scores."""
        return [score for score in self.scores if score is not None]

    @property
    def is_edit(self) -> bool:
        """Whether it has an edit of its own; the original and merges have none."""
        return self.parent is not None and self.partner is None

    @property
    def slots(self) -> range:
        """The slots that it has run in."""
        return range(self.first, self.first + len(self.scores))

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
        variance: The variance of scores around the means of their candidates and slots.
    """

    steps: Matrix
    added: Matrix
    root: Matrix
    variance: float

    @classmethod
    def of(cls, candidates: Sequence[Scored], slots: Mapping[int, float], variance: float) -> Self:
        """Return the posterior after scores, each less the effect of its slot.

        Args:
            slots: The effect of each slot on every score.
        """
        import numpy as np

        steps, prior, precision = _prior(candidates)
        cleared = [
            [
                score - slots[slot]
                for slot, score in enumerate(each.scores, each.first)
                if score is not None
            ]
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
        """Return the belief about the sum of some steps."""
        spread = steps @ self.root
        return Belief(mean=float(steps @ self.added), spread=float(spread @ spread) ** 0.5)

    def draw(self, chance: random.Random) -> Matrix:
        """Draw the effect of each step."""
        return self.added + CURIOSITY * (self.root @ [chance.gauss() for _ in self.added])


def _prior(candidates: Sequence[Scored]) -> tuple[Matrix, Matrix, Matrix]:
    """Return each candidate's steps, with the prior mean and variance of each step's effect."""
    import numpy as np

    steps = np.eye(len(candidates))
    prior, spread = np.full(len(candidates), PRIOR_GAIN), np.full(len(candidates), PRIOR_SPREAD)
    for candidate in candidates:
        place = candidate.number
        if candidate.parent is None:
            prior[place], spread[place] = PRIOR_MEAN, PRIOR_MEAN_SPREAD
            continue
        steps[place] += steps[candidate.parent]
        if candidate.partner is not None:
            steps[place, candidate.partner] = 1
            prior[place], spread[place] = 0.0, INTERPLAY
    return steps, prior, spread**-2


def believed(candidates: Sequence[Scored]) -> Posterior:
    """Return the joint beliefs about all candidates; parents come before children."""
    slots: dict[int, float] = defaultdict(float)
    variance = 0.25
    posterior = Posterior.of(candidates, slots, variance)
    for _ in range(SWEEPS):
        rests = _rests(candidates, posterior.means)
        total = _mean_square([rest for slot in rests.values() for rest in slot.values()])
        shared = _shared(rests, posterior.steps)
        variance = max(LEAST_VARIANCE, total - shared)
        slots = defaultdict(float, _effects(rests, shared, variance))
        posterior = Posterior.of(candidates, slots, variance)
    return posterior


def rank(candidate: Scored, belief: Belief) -> tuple[float, float, int]:
    """Return the key of the leader: the expected score, and for equal ones the lower cost."""
    cost = candidate.usage.tokens / max(1, len(candidate.scores))
    return round(belief.mean, 3), -cost, -candidate.number


def _rests(
    candidates: Sequence[Scored], means: Sequence[float]
) -> Mapping[int, Mapping[int, float]]:
    """Return the residuals of the scores in each slot, without each candidate's mean."""
    rests: dict[int, dict[int, float]] = defaultdict(dict)
    for candidate, mean in zip(candidates, means, strict=True):
        for slot, score in enumerate(candidate.scores, candidate.first):
            if score is not None:
                rests[slot][candidate.number] = score - mean
    return rests


def _shared(rests: Mapping[int, Mapping[int, float]], steps: Matrix) -> float:
    """Estimate the variance that candidates share in a slot, from products of their residuals."""
    import numpy as np

    edits = steps[:, 1:]
    apart = edits @ edits.T == 0
    apart[0] = apart[:, 0] = False
    products = pairs = 0.0
    for slot in rests.values():
        own, both = np.array([*slot.values()]), apart[np.ix_([*slot], [*slot])]
        products += own @ both @ own
        pairs += both.sum()
    return max(0.0, float(products / pairs)) if pairs else 0.0


def _effects(
    rests: Mapping[int, Mapping[int, float]], shared: float, variance: float
) -> dict[int, float]:
    """Estimate each slot's effect on every score, shrunk by its noise."""
    if not shared:
        return {}
    return {
        slot: sum(rest.values()) / (len(rest) + variance / shared) for slot, rest in rests.items()
    }


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
    edits: list[frozenset[int]] = field(default_factory=list[frozenset[int]])
    _posterior: Posterior = field(init=False)
    _beliefs: list[Belief] = field(default_factory=list[Belief])

    def enter(self, candidate: Contender) -> None:
        """Add a candidate."""
        self.candidates.append(candidate)
        self.hashes.add(candidate.key)
        self.refresh()

    def refresh(self) -> None:
        """Update the beliefs by new scores."""
        self.edits = []
        for each in self.candidates:
            own = {each.number if each.partner is None else each.partner}
            self.edits.append(frozenset() if each.parent is None else self.edits[each.parent] | own)
        self._posterior = believed(self.candidates)
        self._beliefs = [self._posterior.belief(steps) for steps in self._posterior.steps]

    def belief(self, candidate: Contender) -> Belief:
        """Return the belief about a candidate, as of the last `refresh`."""
        return self._beliefs[candidate.number]

    def lead(self, candidate: Contender, rival: Contender) -> Belief:
        """Return the belief about a candidate's lead over another."""
        steps = self._posterior.steps
        return self._posterior.belief(steps[candidate.number] - steps[rival.number])

    def pairs_to_show(self, candidate: Contender, rival: Contender) -> int:
        """Return in how many pairs of runs an interval shows the gain; 0: none is expected.

        It does so with a probability of 80 % if the gain is the expected one. The prior has shrunk
        the expected gain, because the leader of many candidates was also lucky: a gain of 0.4 by
        about 0.1 in 40 runs. So the probability is higher if the gain is the one that its runs
        show.
        """
        gain = self.lead(candidate, rival).mean
        variance = 2 * self._posterior.variance
        return math.ceil(variance * (SHOWN / gain) ** 2) if gain > 0 else 0

    @property
    def leader(self) -> Contender:
        """The candidate with the highest expected score; of equal ones, the cheaper."""
        return max(self.candidates, key=lambda candidate: rank(candidate, self.belief(candidate)))

    @property
    def finalist(self) -> Contender:
        """The leader, without last steps that gain next to nothing: a reviewer reads each edit."""
        leader = self.leader
        if leader.parent is None:
            return leader
        leads = [(self.lead(leader, each), each) for each in self.candidates[1:]]
        close = [each for lead, each in leads if lead.mean <= PARSIMONY * lead.spread]
        return min(close, key=lambda each: (len(self.edits[each.number]), -self.belief(each).mean))

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

    def gains(self, drawn: Matrix) -> dict[int, float]:
        """Return what each edit gains, as steps were drawn, by the candidate that it made."""
        return {each.number: drawn[each.number] for each in self.candidates if each.is_edit}

    def best_addition(self, base: Contender, drawn: Matrix) -> float:
        """Return what the best edit gains that a candidate lacks, at least 0."""
        gains = self.gains(drawn).items()
        return max([0.0, *(gain for edit, gain in gains if edit not in self.edits[base.number])])

    def merges(self, drawn: Matrix) -> list[tuple[Contender, Contender]]:
        """Return merges that nobody made and that score more than every candidate in a draw.

        Returns:
            The candidate to change and the one whose edit it gets; the highest first.
        """
        scores, gains, there = self.scores(drawn), self.gains(drawn), {*self.edits}
        top = max(scores.values())
        merges = [
            (score + gain, base, partner)
            for base, score in scores.items()
            for partner, gain in gains.items()
            if gain > 0 and score + gain > top and partner not in self.edits[base]
            if self.edits[base] | {partner} not in there
        ]
        pairs = sorted(merges, key=lambda merge: -merge[0])
        return [(self.candidates[base], self.candidates[partner]) for _, base, partner in pairs]

    def base(self, candidate: Contender) -> Contender:
        """Return the candidate that proposals change: one that seems to gain, else its ancestor."""
        while candidate.parent is not None:
            parent = self.candidates[candidate.parent]
            gained = self.lead(candidate, parent)
            if gained.mean > SURE * gained.spread:
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
