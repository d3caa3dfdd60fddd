"""The search of a race: who runs next, what is proposed, who is dropped, and when it ends.

Each step draws a mean score for every candidate from what is believed of it (Thompson sampling),
and one for a proposal that nobody made yet. The highest runs next, or every other time the highest
of the others, so that runs go where the decision is open (top-two sampling, Russo 2020).
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from ....runtime.calls.calls import seed_of
from ....runtime.record.journal import digest
from ....runtime.values.together import together
from ....runtime.values.usage import Usage
from ....schema.values.errors import LimitError
from ...core.proposal import Proposal
from ...evolution.episode import Episode
from .bets import Bets
from .course import Course, RunOutcome, repeats, width
from .proposing import Proposing
from .settings import MERGE
from .spending import ROUNDS, Spending, each_run, fitting, mean_of, pair_of
from .split import Split, split
from .standings import Contender, Standings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ....pool.view import PoolView
    from ....runtime.values.caps import Caps
    from ....schema.team.team import Team
    from ...evolution.context import EvolutionContext
    from ...evolution.stream import TaskStream
    from .settings import RaceSettings

REDRAWS = 20
"""Draws in which another candidate may come out on top."""
PROPOSING = 0.8
"""The share of the search's budget after which no proposal is made."""
DEAR = 2.0
"""A run that costs more than so many times the original's is made less often, in proportion."""
SHARE_TO_LEARN = 0.03
"""The share of the remaining runs that a team may take so that proposals can be made from it."""
HOPELESS = 3.0
"""The number of standard deviations behind the leader at which a candidate is dropped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pick:
    """What happens next: a run of a candidate in a slot, or a proposal of a kind for it.

    A merge has a partner, whose edits are made in the candidate. Before other proposals the
    candidate runs on tasks to learn from, where there are runs enough left for that.
    """

    candidate: Contender
    slot: int = 0
    kind: str = ""
    partner: Contender | None = None
    learns: bool = False


@dataclass(kw_only=True)
class Race:
    """A race in progress.

    Attributes:
        settings: The kinds of proposals, and the number of runs.
        split: The tasks to propose on, to race on, and to hold back.
        order: The candidate of each run, in order.
        ended: Why the search ended; empty while it runs.
        course: Where candidates run on the tasks to race on.
        gains: Bets on each candidate's gain over the original, by number.
        spending: The caps, and the usage as of the last `account`.
        view: The pool, for agents that recall.
    """

    stream: TaskStream
    settings: RaceSettings
    split: Split
    caps: Caps
    standings: Standings = field(default_factory=Standings)
    order: list[int] = field(default_factory=list[int])
    ended: str = ""
    course: Course = field(init=False)
    proposing: Proposing = field(init=False)
    view: PoolView = field(init=False)
    gains: dict[int, Bets] = field(default_factory=dict[int, Bets])
    spending: Spending = field(init=False)
    _steps: int = 0
    _proposals: int = 0
    _limits: list[LimitError] = field(default_factory=list[LimitError])

    def __post_init__(self) -> None:
        stage, tasks = self.stream.context, self.stream.tasks
        self.view = stage.view()
        self.course = Course(context=stage, name="race", tasks=self.split.race, view=self.view)
        self.proposing = Proposing(
            context=stage,
            settings=self.settings,
            standings=self.standings,
            course=Course(context=stage, name="propose", tasks=self.split.propose, view=self.view),
            author=Episode(
                context=stage, number=0, task=tasks[0], view=self.view, path="race/proposals/"
            ),
        )
        self.account()

    @classmethod
    def of(cls, stream: TaskStream) -> Self:
        """Begin a race by the stream's recipe, within the budget."""
        stage = stream.context
        parts = split(stream.tasks, _chance(stage, "split"), stream.held_out)
        settings: RaceSettings = stage.recipe.settings
        return cls(stream=stream, settings=settings, split=parts, caps=stage.budget.caps)

    async def begin(self) -> None:
        """Run the original on the tasks to propose on: the pilot."""
        await self.proposing.trials(self.standings.candidates[0])
        self.account()

    async def step(self) -> bool:
        """Make the next runs and proposals; return False once the search has ended.

        Raises:
            LimitError: The budget is used up; the runs that it did pay for are recorded.
        """
        self.ended = self._why_ended() or await self._out_of_time()
        picks = [] if self.ended else [*self._picks()]
        if not picks:
            self.ended = self.ended or "nothing was left to try"
            return False
        self._steps += 1
        results = await together(*(self._within_limits(pick) for pick in picks))
        for pick, result in zip(picks, results, strict=True):
            if isinstance(result, Proposal):
                self._accept(pick, result)
            elif isinstance(result, RunOutcome):
                self._record(pick.candidate, result)
        self._settle()
        self.account()
        if self._limits:
            raise self._limits[0]
        return True

    def _picks(self) -> Iterator[_Pick]:
        """Choose what to do concurrently: as many runs as there are workers, and one proposal."""
        chance = _chance(self.stream.context, f"step {self._steps}")
        pending = Counter[int]()
        may_propose, room = self.used < PROPOSING, self._room
        for _ in range(min(self.stream.context.recipe.workers, room)):
            pick = self._pick(chance, pending, room if may_propose else 0)
            if pick is None:
                return
            may_propose = may_propose and not pick.kind
            if not pick.kind:
                pending[pick.candidate.number] += 1
            yield pick

    def _pick(self, chance: random.Random, pending: Counter[int], room: int) -> _Pick | None:
        """Choose one thing to do; None if nothing is left.

        Args:
            pending: The number of runs of each candidate that are about to start.
            room: The number of runs left in the budget; 0: no proposal is made.
        """
        ready = self._ready(pending)
        for candidate in ready:
            if not candidate.scores and not pending[candidate.number]:
                return _Pick(candidate=candidate)
        steps = self.standings.draw(chance)
        drawn = self.standings.scores(steps)
        top = max(drawn, key=drawn.__getitem__)
        if room:
            leader = self.standings.candidates[top]
            if (partner := self.proposing.partner(leader, steps, chance)) is not None:
                return _Pick(candidate=leader, kind=MERGE, partner=partner)
            base = self.standings.base(leader)
            chosen = self.proposing.choose(base, chance)
            if chosen is not None and (chosen[1] > drawn[top] or not ready):
                learns = self.proposing.runs_for(base) <= SHARE_TO_LEARN * room
                return _Pick(candidate=base, kind=chosen[0], learns=learns)
        if not ready:
            return None
        if chance.random() < 0.5:
            drawn = self._second(chance, top)
        affordable = [
            candidate for candidate in ready if chance.random() < DEAR / self._price(candidate)
        ]
        runner = max(affordable or ready, key=lambda candidate: drawn[candidate.number])
        return _Pick(candidate=runner, slot=len(runner.scores) + pending[runner.number])

    def _price(self, candidate: Contender) -> float:
        """Return the cost of a candidate's run as a multiple of the original's, at least 1."""
        own, first = each_run(candidate), each_run(self.standings.candidates[0])
        share = self.spending.share
        prices = (share(own), share(first)) if share(first) else (own.tokens, first.tokens)
        return max(1.0, prices[0] / prices[1]) if prices[1] else 1.0

    def _ready(self, pending: Mapping[int, int]) -> list[Contender]:
        """Return the candidates that have a slot left to run in."""
        return [
            candidate
            for candidate in self.standings.running
            if self.course.has_slot(candidate, pending[candidate.number])
        ]

    def _second(self, chance: random.Random, top: int) -> dict[int, float]:
        """Draw again until another candidate comes out on top."""
        for _ in range(REDRAWS):
            drawn = self.standings.scores(self.standings.draw(chance))
            if max(drawn, key=drawn.__getitem__) != top:
                return drawn
        return self.standings.scores(self.standings.draw(chance))

    async def _within_limits(self, pick: _Pick) -> RunOutcome | Proposal | None:
        """Do what was picked; if a limit stops it, what runs beside it still counts."""
        try:
            return await self._do(pick)
        except LimitError as error:
            if pick.kind and self.proposing.can_do_without(pick.kind):
                self.stream.say(f"no more hypotheses: {error}")
            else:
                self._limits.append(error)
            return None

    async def _do(self, pick: _Pick) -> RunOutcome | Proposal | None:
        candidate = pick.candidate
        if pick.partner is not None:
            return self.proposing.merging.merge(candidate, pick.partner)
        if pick.kind:
            self._proposals += 1
            if pick.learns:
                await self.proposing.trials(candidate)
            return await self.proposing.make(candidate, pick.kind, self._proposals)
        return await self.course.run(candidate, pick.slot, self._relatives(pick))

    def _relatives(self, pick: _Pick) -> list[Contender]:
        """Return the candidates whose answers in a slot may be reused, the parent first."""
        own, slot = pick.candidate, pick.slot
        rivals = [rival for rival in self.standings.candidates if len(rival.scores) > slot]
        lineage = (own.parent, own.partner)
        return sorted(rivals, key=lambda rival: [rival.number != each for each in lineage])

    def _accept(self, pick: _Pick, proposal: Proposal) -> None:
        """Enter a child."""
        parent, reason = pick.candidate.number, proposal.reason
        partner = pick.partner and pick.partner.number
        number = self.enter(
            proposal.child,
            parent=parent,
            partner=partner,
            kind=pick.kind,
            reason=reason,
            edits=proposal.words,
        )
        whom = f"candidate {parent}" if parent else "the original"
        if partner:
            self.stream.say(f"candidate {number} merges {whom} with {partner}")
        else:
            self.stream.say(f"candidate {number} changes {whom} ({pick.kind}): {reason}")

    def enter(self, team: Team, **lineage: Any) -> int:
        """Enter a team, and return its number.

        Args:
            lineage: Its origin: fields of `Contender`.
        """
        number = len(self.standings.candidates)
        lineage |= {"key": team.content_hash, "repeats": repeats(team), "width": width(team)}
        entered = Contender(number=number, team=team, **lineage)
        self.standings.enter(entered)
        self.gains[number] = Bets()
        return number

    def _record(self, candidate: Contender, outcome: RunOutcome) -> None:
        candidate.scores.append(outcome.trial.score.value if outcome.trial else None)
        candidate.usage += outcome.usage
        candidate.saved += outcome.saved
        self.order.append(candidate.number)

    def _settle(self) -> None:
        """Update beliefs by new scores: settle the bets, and drop hopeless candidates."""
        self.standings.refresh()
        original, leader = self.standings.candidates[0], self.standings.leader
        for candidate in self.standings.running[1:]:
            self._bet(candidate, original)
            if candidate is not leader and self._is_hopeless(candidate, leader):
                self._move(candidate, "behind")
            elif candidate.state == "open" and self.gains[candidate.number].interval[0] > 0:
                self._move(candidate, "ahead")

    def _bet(self, candidate: Contender, original: Contender) -> None:
        """Settle the bets on slots in which both have now run."""
        bets = self.gains[candidate.number]
        both = min(len(candidate.scores), len(original.scores))
        for slot in range(bets.slots, both):
            new, old = candidate.scores[slot], original.scores[slot]
            bets.take(None if new is None or old is None else new - old)

    def _is_hopeless(self, candidate: Contender, leader: Contender) -> bool:
        belief, best = self.standings.belief(candidate), self.standings.belief(leader)
        spread = (belief.spread**2 + best.spread**2) ** 0.5
        return bool(candidate.run_scores) and best.mean - belief.mean > HOPELESS * spread

    def _move(self, candidate: Contender, state: str) -> None:
        candidate.state = state
        low, high = self.gains[candidate.number].interval
        self.stream.say(
            f"candidate {candidate.number} is {state}: {candidate.mean:.2f} in"
            f" {len(candidate.run_scores)} runs, gain {low:+.2f} to {high:+.2f}"
        )

    def account(self) -> None:
        """Sum up all usage so far, operators and judges included."""
        spent = self.proposing.spent + self.course.spent
        self.spending = Spending(caps=self.caps, spent=spent, aside=self._aside)

    @property
    def _aside(self) -> Usage:
        """The calls that a kill may waste: paid for, but without an answer in the journal.

        A resumed race makes them again, and still ends like one that was never stopped.
        """
        widest = max((candidate.width for candidate in self.standings.candidates), default=0)
        return Usage(calls=self.stream.context.recipe.workers * widest)

    def pair(self, winner: Contender) -> Usage:
        """Return the mean usage of a pair of runs in the last word, with their judging."""
        usage, runs = pair_of(self.standings.candidates[0], winner), self.course.judged_runs
        if not runs or not (judged := self.split.judged):
            return usage
        in_a_pair = 2 * judged / len(self.split.held)
        return usage + mean_of(self.course.judging, runs / in_a_pair)

    @property
    def used(self) -> float:
        """The share of the search's budget that was used, by calls and by runs."""
        runs = len(self.order) / self.settings.runs
        return max(runs, self.spending.used / (1 - self._reserve))

    def pairs(self, winner: Contender) -> int:
        """Return the largest number of pairs of runs for a last word, within the budget."""
        return self.spending.pairs(self.pair(winner), self.most_pairs(winner))

    def most_pairs(self, winner: Contender) -> int:
        """Return the number of pairs of runs in a last word that no budget shortens."""
        return (ROUNDS if winner.repeats else 1) * len(self.split.held)

    @property
    def _reserve(self) -> float:
        """The share of the budget that is reserved for the last word."""
        leader = self.standings.leader
        pair = self.pair(leader)
        pairs = self.spending.reserved(pair, self.most_pairs(leader))
        return min(0.99, pairs * self.spending.share(pair))

    @property
    def _room(self) -> int:
        """The number of runs that the remaining budget pays for, at the highest price so far."""
        runs = self.settings.runs - len(self.order)
        each = max(self.spending.share(each_run(runner)) for runner in self.standings.running)
        left = 1 - self._reserve - self.spending.used
        return max(0, min(runs, fitting(left, each) if each else runs))

    def _why_ended(self) -> str:
        leader = self.standings.leader
        if len(self.order) >= self.settings.runs:
            return f"the search ended after {len(self.order)} runs"
        if self._room < 1:
            return "the search ended as its part of the budget was spent"
        is_perfect = len(leader.run_scores) >= len(self.split.race) and leader.mean >= 1
        return "the search ended at a mean score that cannot be beaten" if is_perfect else ""

    async def _out_of_time(self) -> str:
        """End while there is time for the last word; the decision is journaled."""
        stage, left = self.stream.context, self.stream.context.budget.left()
        if self.caps.seconds is None:
            return ""

        async def work() -> dict[str, bool]:
            each = stage.budget.seconds / (len(self.order) + len(self.split.propose))
            runs = 2 * self.pairs(self.standings.leader)
            return {"late": left is not None and left < runs * each}

        key = digest("late", self._steps)
        decided = await stage.journal.once(f"race/step {self._steps}/time", "decision", key, work)
        return "the search ended as its part of the time was over" if decided["late"] else ""


def _chance(context: EvolutionContext, purpose: str) -> random.Random:
    """Return the random generator of one decision; it depends on the recipe's seed only."""
    return random.Random(seed_of(context.recipe.seed, f"race/{purpose}"))  # noqa: S311 - no secret
