"""Chooses and makes proposals: each kind by its gains so far."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....pool.teams.sources import load_source
from ....runtime.calls.calls import seed_of
from ....runtime.values.together import by_workers
from ....runtime.values.usage import Usage
from ....schema.loading.seeds import is_seed
from ...core.proposal import Proposal, RejectedProposal
from .drawn import KINDS, DrawnFrom
from .merging import Merging
from .propose import EarlierChange, propose
from .settings import HYPOTHESIS, MERGE
from .showing import FAILURES, shown, with_credits
from .standings import INTERPLAY, PRIOR_SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....schema.team.task import Task
    from ...evolution.context import EvolutionContext
    from ...evolution.episode import Episode
    from .course import Course, RunOutcome
    from .settings import RaceSettings
    from .standings import Contender, Matrix, Standings
    from .task_trial import TaskTrial

LEAD = 0.3
"""The expected advantage of a hypothesis over a draw, as long as neither was tried. With a smaller
one, draws use up the runs that show which hypothesis gains."""
USELESS = 2
"""The number of consecutive invalid answers after which a team's proposals no longer use the
meta-model."""


@dataclass(kw_only=True)
class Proposing:
    """Makes proposals for a race.

    Attributes:
        standings: The candidates, and the beliefs about them.
        course: Where teams run on the tasks to propose on.
        author: The episode that asks the meta-model.
    """

    context: EvolutionContext
    settings: RaceSettings
    standings: Standings
    course: Course
    author: Episode
    merging: Merging = field(init=False)
    _trials: dict[int, Sequence[TaskTrial]] = field(
        default_factory=dict[int, "Sequence[TaskTrial]"]
    )
    _draws: dict[tuple[int, str], Iterator[Proposal]] = field(
        default_factory=dict[tuple[int, str], "Iterator[Proposal]"]
    )
    _exhausted: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    _useless: int = 0
    _is_too_dear: bool = False
    rejected: list[RejectedProposal] = field(default_factory=list[RejectedProposal])

    def __post_init__(self) -> None:
        self.merging = Merging(
            standings=self.standings, catalogue=self.context.catalogue, ceiling=self.context.ceiling
        )

    def choose(self, base: Contender, chance: random.Random) -> tuple[str, float] | None:
        """Choose a kind of proposal for a team by what is believed of each kind's gain.

        First it chooses who proposes (the meta-model, a merge, a draw), so that the many kinds of
        draws do not crowd out the others; then the kind.

        Returns:
            The kind, and the mean score that is drawn for its child; None if nothing is left.
        """
        kinds = [kind for kind in self.settings.kinds if self._is_open(base, kind)]
        if not kinds:
            return None
        draws = [kind for kind in kinds if kind in KINDS]
        authors = [[kind] for kind in kinds if kind not in KINDS] + ([draws] if draws else [])
        author = max(authors, key=lambda kinds: self._worth(kinds, chance))
        kind = max(author, key=lambda kind: self.standings.gain([kind]).draw(chance))
        belief, gain = self.standings.belief(base), self.standings.gain([kind])
        spread = (PRIOR_SPREAD**2 + belief.spread**2) ** 0.5
        return kind, chance.gauss(belief.mean + gain.mean, spread)

    def _worth(self, kinds: Sequence[str], chance: random.Random) -> float:
        """Draw what the next proposal of an author gains; who reads failures has a lead."""
        return self.standings.gain(kinds).draw(chance) + (LEAD if HYPOTHESIS in kinds else 0)

    def _is_open(self, base: Contender, kind: str) -> bool:
        if (base.number, kind) in self._exhausted:
            return False
        if kind == HYPOTHESIS:
            model = self.context.catalogue.models.get(self.context.recipe.meta_model)
            return not self._is_too_dear and (model is None or not model.is_embedded)
        return kind != MERGE

    def can_do_without(self, kind: str) -> bool:
        """Ask the meta-model no more if the budget refused it, and others propose without it."""
        self._is_too_dear |= kind == HYPOTHESIS
        return kind == HYPOTHESIS and any(other in KINDS for other in self.settings.kinds)

    def partner(self, base: Contender, drawn: Matrix, chance: random.Random) -> Contender | None:
        """Return the candidate whose edits gain in another one, as steps were drawn; None if none.

        Args:
            chance: Draws how well the edits of both combine.
        """
        chosen = self.merging.choose(base, drawn) if MERGE in self.settings.kinds else None
        if chosen is None or chosen[1] + chance.gauss(0, INTERPLAY) <= 0:
            return None
        return chosen[0]

    def runs_for(self, base: Contender) -> int:
        """Return the number of runs that a team needs before proposals can be made from it."""
        return 0 if base.number in self._trials else self._few

    async def make(self, base: Contender, kind: str, number: int) -> Proposal | None:
        """Make a proposal that was not tried before; None if there is none.

        Args:
            number: The number of the proposal in the race.
        """
        learnt_from = self._learnt_from(base)
        trials = self._trials[learnt_from.number]
        if kind == HYPOTHESIS:
            return await self._hypothesis(base, trials, number, is_own=learnt_from is base)
        if (base.number, kind) not in self._draws:
            self._draws[base.number, kind] = KINDS[kind](self._source(base, kind, trials))
        return self._fresh(self._draws[base.number, kind], base, kind)

    def _learnt_from(self, base: Contender) -> Contender:
        """Return the candidate, or its nearest ancestor, that ran on these tasks."""
        while base.number not in self._trials and base.parent is not None:
            base = self.standings.candidates[base.parent]
        return base

    def _fresh(self, proposals: Iterator[Proposal], base: Contender, kind: str) -> Proposal | None:
        """Return the next proposal that makes a new team; without one, the kind is exhausted."""
        for proposal in proposals:
            if proposal.child.content_hash not in self.standings.hashes:
                return proposal
        self._exhausted.add((base.number, kind))
        return None

    def _source(self, base: Contender, kind: str, trials: Sequence[TaskTrial]) -> DrawnFrom:
        recipe, catalogue = self.context.recipe, self.context.catalogue
        places = [
            source if is_seed(source) else self.context.beside / source
            for source in self.settings.library
        ]
        seed = seed_of(recipe.seed, f"race/draw {base.team.content_hash} {kind}")
        return DrawnFrom(
            team=base.team,
            trials=trials,
            catalogue=catalogue,
            ceiling=self.context.ceiling,
            seeds=[load_source(place, catalogue) for place in places] if kind == "seed" else (),
            chance=random.Random(seed),  # noqa: S311 - no secret
        )

    async def _hypothesis(
        self, base: Contender, trials: Sequence[TaskTrial], number: int, *, is_own: bool
    ) -> Proposal | None:
        episode, stage = self.author, self.context
        chance = random.Random(seed_of(stage.recipe.seed, f"race/niche {number}"))  # noqa: S311
        jails = stage.services.jails
        proposal = await propose(
            episode.meta_model,
            f"{episode.path}proposal {number}",
            base.team,
            [await with_credits(trial, jails) for trial in shown(trials, chance)],
            components=self.settings.components,
            changes=[self._trial_of(candidate) for candidate in self.standings.candidates[1:]],
            hashes=self.standings.hashes,
            answers=self.settings.feedback == "answers",
            is_own=is_own,
        )
        if isinstance(proposal, Proposal):
            self._useless = 0
            return proposal
        self.rejected.append(proposal)
        self._useless += 1
        if self._useless >= USELESS:
            self._useless = 0
            self._exhausted.add((base.number, HYPOTHESIS))
        return None

    def _trial_of(self, candidate: Contender) -> EarlierChange:
        parent = self.standings.candidates[candidate.parent or 0]
        beliefs = [self.standings.belief(team).mean for team in (candidate, parent)]
        effect = beliefs[0] - beliefs[1]
        return EarlierChange(edits=candidate.edits, effect=effect, runs=len(candidate.run_scores))

    async def trials(self, base: Contender) -> Sequence[TaskTrial]:
        """Run a team on tasks to propose on, once; a child on fewer."""
        if base.number not in self._trials:
            slots = self._slots(base)
            originals = [self.standings.candidates[0]] if base.parent is not None else []
            outcomes: dict[int, RunOutcome] = {}

            async def run(slot: int) -> None:
                outcomes[slot] = await self.course.run(base, slot, originals)

            await by_workers(slots, run, self.context.recipe.workers)
            self._trials[base.number] = [
                trial for slot in slots if (trial := outcomes[slot].trial) is not None
            ]
        return self._trials[base.number]

    def _slots(self, base: Contender) -> Sequence[int]:
        """Return the tasks to propose on by slot; for a child, a few that the original failed."""
        places = range(len(self.tasks))
        if base.parent is None:
            return places
        scores = {trial.task.id: trial.score.value for trial in self.pilot}
        return sorted(places, key=lambda place: scores.get(self.tasks[place].id, 0))[: self._few]

    @property
    def pilot(self) -> Sequence[TaskTrial]:
        """The original's runs on the tasks to propose on."""
        return self._trials[0]

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks to propose on."""
        return self.course.tasks

    @property
    def _few(self) -> int:
        return min(FAILURES + 1, len(self.tasks))

    @property
    def spent(self) -> Usage:
        """The usage of the meta-model, and of the runs to propose on with their judge."""
        return self.author.operators + self.course.spent
