"""Runs of teams on a task of an evolution, each made once and then scored."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...pool.memory.recall import recalling
from ...runtime.agents.outcomes import Run, Score
from ...runtime.agents.round_state import NOTHING, RoundState
from ...runtime.engine.allowance import Allowance
from ...runtime.engine.engine import execute
from ...runtime.plan.plan import compile
from ...runtime.record.journal import digest
from ...runtime.rounds.rounds import NOBODY_SILENT, Next, rounds, summed
from ...runtime.runs.parent_reuse import ParentRunReuse
from ...runtime.runs.whole import as_run, passes, perform
from ...runtime.scoring.scorers import scored
from ...runtime.values.usage import Usage
from ...schema import dump
from ...schema.values.codec import from_value, to_value
from ...schema.values.errors import InputError, LimitError, RunError
from ..core.judge import JudgeVerdict, judge
from ..core.scoring import cost_of, is_judged
from .readers import readers
from .reuse import reuse_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...pool.view import PoolView
    from ...runtime.agents.outcomes import AgentOutcome
    from ...runtime.engine.artifacts import Keep
    from ...runtime.engine.engine import Context
    from ...runtime.plan.plan import Plan
    from ...runtime.record.trace import Trace
    from ...runtime.rounds.rounds import Ablation, Between, Round
    from ...runtime.runs.services import Services
    from ...runtime.values.budget import Budget
    from ...runtime.values.caps import Caps
    from ...schema.team.task import Task
    from ...schema.team.team import Team
    from ..core.meta import MetaModel
    from ..core.proposal import RejectedProposal
    from .context import EvolutionContext

NOBODY: Mapping[str, AgentOutcome] = MappingProxyType({})


class Halted(RunError):
    """A provider or a jail failed, which says nothing about a team; the evolution must wait."""


@dataclass(kw_only=True, eq=False)
class TaskRuns:
    """The runs of teams on one task.

    Attributes:
        view: What they see of the pool.
        learning: Whether results are kept. False for a test, from which nothing is learnt.
        path: The prefix of their paths in the journal.
        artifacts: Keeps the files that agents write; None: they are dropped.
        readers: The agents that read learnt entries.
    """

    context: EvolutionContext
    task: Task
    view: PoolView
    learning: bool = True
    path: str = ""
    judge: MetaModel = field(init=False, repr=False)
    trace: Trace | None = None
    artifacts: Keep | None = None
    readers: set[str] = field(default_factory=set[str])
    _runs: dict[str, Run] = field(default_factory=dict[str, "Run"])
    _beside: Usage = field(default_factory=Usage)
    _reuses: dict[str, ParentRunReuse] = field(default_factory=dict[str, ParentRunReuse])

    @property
    def services(self) -> Services:
        """Models, tools and jails; with a memory, agents recall what the episode sees of it."""
        services = self.context.services
        if self.view.memory is None:
            return services
        return replace(services, recaller=recalling(self.view.search))

    async def run(
        self,
        team: Team,
        label: str,
        *,
        state: RoundState = NOTHING,
        preset: Mapping[str, AgentOutcome] = NOBODY,
        base: Team | None = None,
        parents: Sequence[str] | None = None,
        dialogue: int = 0,
        caps: Caps | None = None,
    ) -> Run:
        """Run a team on the task. The whole result is journaled, so a restart only reads it.

        With a `state` or `preset` outcomes, the agents work once, even if the team declares rounds.

        A timeout of a slow model says nothing about a team, so it halts the evolution. But a child
        with less time than its `base` would time out forever: then the failed run is returned.

        Args:
            label: The unique name of the run in the episode.
            state: What its agents read of earlier passes.
            preset: Outcomes of the agents that are not run.
            parents: The labels of the finished runs of its parents, the one that gave the topology
                first. Their answers are reused, see `Recipe.reuse`. None: nothing is reused, and
                nothing of this run will be.
            caps: The most the run may consume. A run that reaches them counts, as the team's fault.

        Raises:
            Halted: A provider or a jail failed.
            LimitError: The budget is used up.
        """
        stage, task, place = self.context, self.task, f"{self.path}{label}/"
        plan, services = compile(team, stage.catalogue), self.services
        is_hasty = base is not None and _is_hastier(team, base)
        outcomes = {name: to_value(outcome) for name, outcome in sorted(preset.items())}
        read = [asdict(state), outcomes] if state != NOTHING or outcomes else []
        records = [dict(task.briefs)] if task.briefs else []
        reuse = self._parent_reuse(plan, label, parents)

        async def work() -> Mapping[str, Any]:
            await services.prepare(plan)
            own = self._part_of_budget(caps, place)
            part: dict[str, Any] = {"budget": own} if own else {}
            part |= {"journal": reuse} if reuse else {}
            context = self._context(dialogue=dialogue, trace=self._telling(plan, label), **part)
            if read:
                result = await execute(plan, task, context, path=place, state=state, preset=preset)
                run = await scored(result, task, services.jails)
            else:
                run = await perform(plan, task, context, path=place)
            if own is None or not own.reached - {"seconds"}:
                self._must_count(run, is_waited_for=not is_hasty)
            return to_value(replace(run, saved=reuse.saved) if reuse else run)

        question = digest(plan.content_hash, task.id, task.query, task.context, *records, *read)
        try:
            outcome = await stage.journal.once(f"{place}outcome", "run", question, work)
        except LimitError:
            self.consumed(stage.journal.spent(place, lost=False))
            raise
        run = from_value(Run, outcome)
        self._check_form(run)
        self._runs[label] = run
        self.readers |= readers(team, run)
        return run

    async def rounds(
        self, team: Team, label: str, between: Between, *, most: int, dialogue: int = 0
    ) -> tuple[Round, ...]:
        """Run a team on the task in rounds, without a score.

        On average, a round may take as long as a run of the team. Each agent's result is journaled,
        so a restart only reads it.

        Args:
            label: The unique name of the rounds in the episode.
        """
        stage, services = self.context, self.services
        allowance = Allowance(most * team.execution.timeout)

        async def one_pass(coming: Next, number: int) -> Run:
            await services.prepare(coming.plan)
            run = await execute(
                coming.plan,
                self.task,
                self._context(trace=report and report.within(round=number), dialogue=dialogue),
                path=f"{self.path}{label}/round {number}/",
                state=coming.state,
                preset=coming.preset,
                allowance=allowance,
            )
            self._must_count(run)
            return run

        first = Next(plan=compile(team, stage.catalogue))
        report = self._telling(first.plan, label)
        past = await rounds(first, one_pass, between, most=most)
        self._runs[label] = summed(past, past[-1].plan)
        return past

    async def passes(
        self,
        team: Team,
        label: str,
        *,
        silent: Ablation = NOBODY_SILENT,
    ) -> tuple[Round, ...]:
        """Run a team on the task with all its declared passes: opening, rounds and closing.

        The result is journaled, so a restart only reads it. `recorded_run` returns the run.

        Args:
            label: The unique name of the run in the episode.

        Returns:
            All passes, in order; one pass if the team declares none.

        Raises:
            Halted: A provider or a jail failed.
            LimitError: The budget is used up.
            InputError: A silenced agent is not in the team.
        """
        services, plan = self.services, compile(team, self.context.catalogue)
        await services.prepare(plan)
        context = self._context(trace=self._telling(plan, label))
        path = f"{self.path}{label}/"
        past = await passes(plan, self.task, context, path=path, silent=silent)
        run = await scored(as_run(past, plan), self.task, services.jails)
        self._must_count(run)
        self._check_form(run)
        self._runs[label] = run
        self.readers |= readers(team, run)
        return past

    def _parent_reuse(
        self, plan: Plan, label: str, parents: Sequence[str] | None
    ) -> ParentRunReuse | None:
        """Return the journal by which a run reuses its parents' answers; None if it reuses none."""
        way = reuse_of(self.context.recipe) if self.learning else "never"
        if parents is None or way == "never":
            return None
        reuse = self._reuses[label] = ParentRunReuse.of(
            self.context.journal,
            f"{self.path}{label}/",
            plan,
            [self._reuses[parent] for parent in parents],
            takes_seed=self.context.services.gateway.takes_seed,
            always=way == "always",
        )
        return reuse

    def _part_of_budget(self, caps: Caps | None, place: str) -> Budget | None:
        """Return the rest of a run's own budget; None if it has no caps."""
        if caps is None:
            return None
        spent = self.context.journal.spent(place)
        return self.context.budget.child(caps, "the run", spent=spent)

    def _telling(self, plan: Plan, label: str) -> Trace | None:
        """Emit the team of a run, and return the run's trace, whose events carry its label."""
        if self.trace is None:
            return None
        part = self.trace.within(run=label)
        part.emit("team_given", team=plan.team.name, yaml=dump(plan.resolved))
        return part

    def _context(self, **others: Any) -> Context:
        stage = self.context
        usual: dict[str, Any] = {
            "journal": stage.journal,
            "scrubber": stage.scrubber,
            "budget": stage.budget,
            "trace": self.trace,
            "keep": self.artifacts,
        }
        return self.services.context(**{**usual, **others})

    def recorded_run(self, label: str) -> Run:
        """Return an earlier run of the episode."""
        return self._runs[label]

    def consumed(self, usage: Usage) -> None:
        """Add the usage of runs without a result here: made elsewhere, or stopped by a limit."""
        self._beside += usage

    def _must_count(self, run: Run, *, is_waited_for: bool = True) -> None:
        """Raise unless the result of a run is the team's own doing."""
        if run.over_budget:
            raise LimitError(str(run.error))
        if run.is_misconfigured and not self.context.budget.spent.calls:
            raise InputError(f"task {self.task.id}: {run.why_failed}")
        if run.is_infrastructure_failure and (is_waited_for or not run.is_too_slow):
            raise Halted(f"task {self.task.id}: {run.why_failed}")

    def _check_form(self, run: Run) -> None:
        """Raise if the scorer cannot read the teams' answers."""
        if self.context.forms is not None and not is_judged(self.context.recipe, self.task):
            self.context.forms.take(self.task, run)

    async def score(self, run: Run, label: str) -> Score | RejectedProposal:
        """Score a run by the recipe's rule; a run without an answer scores 0.

        In a test, where nothing is learnt, a judge scores: no choice may depend on a reference
        answer.
        """
        judged = not self.learning or is_judged(self.context.recipe, self.task)
        return await self._scored(run, label, judged=judged)

    async def verdict(self, run: Run, label: str) -> Score | RejectedProposal:
        """Score a run by the reference answer if there is one, whatever the recipe says.

        It is for the final answer of an episode, and must not serve to choose among answers.

        Raises:
            Halted: The jail that scores it failed.
        """
        return await self._scored(run, label, judged=not self.task.is_scored)

    async def judged(self, run: Run, label: str) -> Score | RejectedProposal:
        """Score a run by the judge, even if there is a reference answer."""
        return await self._scored(run, label, judged=True)

    async def _scored(self, run: Run, label: str, *, judged: bool) -> Score | RejectedProposal:
        recipe = self.context.recipe
        if run.answer is None:
            return Score(value=0.0, reason=run.why_unanswered)
        if judged:
            verdict = await judge(
                self.judge,
                f"{self.path}{label}/judge",
                self.task,
                run.answer,
                rubric=recipe.rubric,
                samples=recipe.judge_samples,
            )
            return verdict.score if isinstance(verdict, JudgeVerdict) else verdict
        if run.score is None:
            run = await scored(run, self.task, self.context.services.jails)
            self._must_count(run)
        if run.score is None:
            raise InputError(f"task {self.task.id!r} has no answer to score against.")
        return run.score

    def reward(self, run: Run, score: Score) -> float:
        """Return score - beta * cost of a run (EvoMAS Eq. 4)."""
        recipe = self.context.recipe
        return score.value - recipe.beta * cost_of(run, recipe)

    @property
    def run_usage(self) -> Usage:
        """The total usage of its runs."""
        return sum((self._runs[what].usage for what in sorted(self._runs)), self._beside)

    @property
    def paid(self) -> Iterator[Usage]:
        """What each of its runs paid for: its usage without reused answers."""
        yield self._beside
        for run in self._runs.values():
            saved = run.saved.calls + run.saved.cached_calls
            yield run.usage - run.saved if saved else run.usage


def _is_hastier(team: Team, base: Team) -> bool:
    """Return whether an agent, or the whole team, has less time than in the base team."""
    if team.execution.timeout < base.execution.timeout:
        return True
    longest = base.execution.timeout
    before = {name: agent.timeout or longest for name, agent in base.agents.items()}
    return any(
        (agent.timeout or longest) < before.get(name, longest)
        for name, agent in team.agents.items()
    )
