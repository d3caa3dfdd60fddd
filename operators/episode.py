"""An episode: one task of an evolution, or of a test; what a strategy has to work with, and did."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..pool.recall import recalling
from ..pool.view import op
from ..runtime.allowance import Allowance
from ..runtime.calls import seed_of
from ..runtime.carry import NOTHING, Carry
from ..runtime.journal import digest
from ..runtime.outcomes import AgentOutcome, outcome_value, run_of, run_value
from ..runtime.plan import compile
from ..runtime.rounds import rounds, summed
from ..runtime.scorers import Score
from ..runtime.scoring import scored
from ..runtime.usage import Usage
from ..schema.errors import InputError, LimitError, RunError
from ..schema.files import make_folder, write_atomically
from .judge import Verdict, judge
from .meta import Meta
from .scoring import cost_of, is_judged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..pool.changes import Change
    from ..pool.learnt import Learnt
    from ..pool.pool import Pool
    from ..pool.view import View
    from ..runtime.outcomes import Run
    from ..runtime.rounds import Between, Next, Round
    from ..runtime.services import Services
    from ..runtime.trace import Trace
    from ..schema.task import Task
    from ..schema.team import Team
    from .proposal import Dropped
    from .stage import Stage

__all__ = ["Answer", "Closing", "Episode", "Halted"]

NOBODY: Mapping[str, AgentOutcome] = MappingProxyType({})


class Halted(RunError):
    """A provider or a jail failed, which says nothing about any team; the evolution has to wait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What an episode came to.

    Attributes:
        run: The run whose answer it is.
        score: Its score, in [0, 1]; None, where it is still to be scored.
    """

    run: Run
    score: Score | None = None


class Closing(Protocol):
    """What a strategy still has to do when all earlier episodes were committed.

    It **must** make the same updates under the same names when it is done again, and give the
    episode's line.
    """

    def close(self, pool: Pool) -> Mapping[str, Any]:
        """Commit what can be known only now, and give the line of the episode."""
        ...


@dataclass(kw_only=True, eq=False)
class Episode:
    """One task, and what was done with it.

    Attributes:
        stage: What there is of this host.
        number: Which episode it is, from 0: the task's place in the stream.
        task: The task.
        view: The pool as this episode sees it.
        past: The lines of the episodes that it sees, in order, where the strategy needs them.
        learning: Whether anything is kept. False: it is a test, of which nobody learns.
        path: Where it stands in the journal.
        meta: The model that operators ask.
        answer: What it came to.
        changes: What is to happen to the pool, in order, each with the name of its operation.
        told: Numbers of it that a report may show.
        spent: What operators consumed, by operator.
        judging: What judging consumed.
        closing: What there is to do when its turn to be committed has come, beyond its changes.
        story: What happened in it that its line tells, in order.
        folder: Where its files are kept; None: nowhere.
        trace: Told everything that happens.
    """

    stage: Stage
    number: int
    task: Task
    view: View
    past: Sequence[Mapping[str, Any]] = ()
    learning: bool = True
    path: str = ""
    answer: Answer | None = None
    changes: list[tuple[Change, str]] = field(default_factory=list["tuple[Change, str]"])
    told: dict[str, float] = field(default_factory=dict[str, float])
    spent: dict[str, Usage] = field(default_factory=dict[str, Usage])
    judging: Usage = field(default_factory=Usage)
    closing: Closing | None = None
    story: list[Mapping[str, Any]] = field(default_factory=list["Mapping[str, Any]"])
    folder: Path | None = None
    trace: Trace | None = None
    _lost: list[tuple[int, Dropped]] = field(default_factory=list["tuple[int, Dropped]"])
    _runs: dict[str, Run] = field(default_factory=dict[str, "Run"])

    def __post_init__(self) -> None:
        stage, recipe = self.stage, self.stage.recipe
        self.path = self.path or f"task {self.number:06d}/"
        self.meta = Meta(
            calls=stage.services.calls(journal=stage.journal, scrubber=stage.scrubber),
            catalogue=stage.catalogue,
            ceiling=stage.ceiling,
            model=recipe.meta_model,
            budget=stage.budget,
            tell=self.tell,
        )
        judging = self.meta.asking(recipe.judge_model or recipe.meta_model)
        self.judge = replace(judging, tell=self._tell_judging)

    @property
    def settings(self) -> Any:
        """What the recipe says under `settings`: a value of the strategy's own type."""
        return self.stage.recipe.settings

    @property
    def services(self) -> Services:
        """Models, tools and jails; where there is a memory, agents recall what the episode sees."""
        services = self.stage.services
        if self.view.memory is None:
            return services
        return replace(services, recaller=recalling(self.view.search))

    @property
    def scored_by(self) -> Literal["judge", "answer"]:
        """Who scores its task."""
        return "judge" if is_judged(self.stage.recipe, self.task) else "answer"

    def op(self, what: str) -> str:
        """Name an update of the pool, so that it counts once: `evomas/000012/best`."""
        return op(self.stage.name, self.number, what)

    def chance(self, what: str) -> random.Random:
        """Give the chance of one decision: it depends on the recipe's seed and on nothing later."""
        return random.Random(seed_of(self.stage.recipe.seed, f"{self.path}{what}"))  # noqa: S311

    async def run(
        self,
        team: Team,
        what: str,
        *,
        carry: Carry = NOTHING,
        given: Mapping[str, AgentOutcome] = NOBODY,
        base: Team | None = None,
    ) -> Run:
        """Run a team on the task; what came of it is journaled whole, so a restart only reads it.

        With something carried into it, or outcomes given, its agents work once, whatever the team
        says of rounds.

        A model that is too slow has to be waited for, and says nothing about a team. But a child
        that gives it less time than its parent did would have to be waited for forever: then the
        failed run is given.

        Args:
            team: The team.
            what: Which run of the episode it is. No two have the same.
            carry: What its agents read of earlier passes.
            given: Outcomes of those of them that are not run.
            base: The team that it is a child of.

        Raises:
            Halted: A provider or a jail failed.
            LimitError: The budget is used up.
        """
        stage, task, place = self.stage, self.task, f"{self.path}{what}/"
        plan, services = compile(team, stage.catalogue), self.services
        is_hasty = base is not None and _is_hastier(team, base)
        outcomes = {name: outcome_value(one) for name, one in sorted(given.items())}
        read = [asdict(carry), outcomes] if carry != NOTHING or outcomes else []

        async def work() -> Mapping[str, Any]:
            await services.prepare(plan)
            how: Any = {
                "journal": stage.journal,
                "scrubber": stage.scrubber,
                "budget": stage.budget,
                "trace": self.trace,
                "path": place,
            }
            if read:
                made = await services.one_pass(plan, task, carry=carry, given=given, **how)
                run = await scored(made, task, services.jails)
            else:
                run = await services.execute(plan, task, **how)
            self._must_count(run, is_waited_for=not is_hasty)
            return run_value(run)

        asked = digest(plan.content_hash, task.id, task.query, task.context, *read)
        run = run_of(await stage.journal.once(f"{place}outcome", "run", asked, work))
        self._runs[what] = run
        return run

    async def rounds(
        self, team: Team, what: str, between: Between, *, most: int, dialogue: int = 0
    ) -> tuple[Round, ...]:
        """Let a team work on the task in rounds; nothing is scored.

        Every round may take as long as the team may for a run, on the mean. What an agent came to
        is journaled, so a restart only reads it.

        Args:
            team: The team of the first round.
            what: Which rounds of the episode these are. No two have the same.
            between: Says what comes after a round.
            most: The most rounds.
            dialogue: Characters that are kept of what each agent read and said.

        Raises:
            Halted: A provider or a jail failed.
            LimitError: The budget is used up.
        """
        stage, services = self.stage, self.services
        allowance = Allowance(most * team.execution.timeout)

        async def one_pass(coming: Next, number: int) -> Run:
            await services.prepare(coming.plan)
            run = await services.one_pass(
                coming.plan,
                self.task,
                journal=stage.journal,
                scrubber=stage.scrubber,
                budget=stage.budget,
                trace=self.trace.within(round=number) if self.trace else None,
                path=f"{self.path}{what}/round {number}/",
                dialogue=dialogue,
                carry=coming.carry,
                given=coming.given,
                allowance=allowance,
            )
            self._must_count(run)
            return run

        done = await rounds(compile(team, stage.catalogue), one_pass, between, most=most)
        self._runs[what] = summed(done, done[-1].plan)
        return done

    def _must_count(self, run: Run, *, is_waited_for: bool = True) -> None:
        """Make sure that what came of a run is the team's doing."""
        if run.over_budget:
            raise LimitError(str(run.error))
        if run.is_infrastructure_failure and (is_waited_for or not run.is_too_slow):
            raise Halted(f"task {self.task.id}: {run.error}")

    async def score(self, run: Run, what: str) -> Score | Dropped:
        """Score a run as the recipe says; a team that came to no answer has none that is right.

        In a test, where nothing is learnt, nothing may be chosen by a reference answer either: a
        judge scores what there is to choose among.

        Args:
            run: The run.
            what: Which run of the episode it is.

        Raises:
            CoterieError: As for `Meta.ask`.
            InputError: The task has no answer to score against.
        """
        judged = not self.learning or is_judged(self.stage.recipe, self.task)
        return await self._scored(run, what, judged=judged)

    async def verdict(self, run: Run, what: str) -> Score | Dropped:
        """Score a run by the reference answer, where there is one, whatever the recipe says.

        It is for the answer that an episode came to, and must not choose among any.

        Args:
            run: The run.
            what: Which run of the episode it is.

        Raises:
            CoterieError: As for `Meta.ask`.
        """
        return await self._scored(run, what, judged=self.task.answer is None)

    async def _scored(self, run: Run, what: str, *, judged: bool) -> Score | Dropped:
        recipe = self.stage.recipe
        if run.answer is None:
            return Score(value=0.0, reason=run.error or "it came to no answer.")
        if judged:
            verdict = await judge(
                self.judge,
                f"{self.path}{what}/judge",
                self.task,
                run.answer,
                rubric=recipe.rubric,
                samples=recipe.judge_samples,
            )
            return verdict.score if isinstance(verdict, Verdict) else verdict
        if run.score is None:
            run = await scored(run, self.task, self.stage.services.jails)
        if run.score is None:
            raise InputError(f"task {self.task.id!r} has no answer to score against.")
        return run.score

    def reward(self, run: Run, score: Score) -> float:
        """Give score - beta * cost of a run (EvoMAS Eq. 4)."""
        recipe = self.stage.recipe
        return score.value - recipe.beta * cost_of(run, recipe)

    async def recall(
        self,
        query: str,
        k: int,
        *,
        niche: str | None = None,
        kind: str | None = None,
        owner: str | None = None,
        level: str | None = None,
    ) -> list[tuple[Learnt, float]]:
        """Find what was learnt on similar tasks, with the similarity; nothing of later episodes.

        Args:
            query: What it is to be similar to.
            k: How many entries at most.
            niche: Only of this kind of task.
            kind: Only entries of this sort.
            owner: Only this agent's.
            level: Only those that reach so far.

        Raises:
            StorageError: The ledger cannot be read.
            CoterieError: The embedder or the store failed.
        """
        return self.view.search(query, k, niche=niche, kind=kind, owner=owner, level=level)

    def keep(self, change: Change, what: str = "") -> None:
        """Have something happen to the pool when the episode is committed.

        Args:
            change: What.
            what: What its operation is called within the episode. By default, it is numbered.
        """
        self.changes.append((change, what or f"{len(self.changes):03d}"))

    def lose(self, dropped: Dropped, *, at: int = 0) -> None:
        """Count what did not come about.

        Args:
            dropped: What, and why.
            at: Where it stands among others, if they are made side by side.
        """
        self._lost.append((at, dropped))

    @property
    def dropped(self) -> list[Dropped]:
        """What did not come about, in order."""
        return [one for _, one in sorted(self._lost, key=lambda lost: lost[0])]

    def answered(self, run: Run, score: Score | None = None) -> None:
        """Say what the episode came to.

        Args:
            run: The run whose answer is that of the episode.
            score: Its score. None: it is scored when the strategy is done.
        """
        self.answer = Answer(run=run, score=score)

    async def finish(self) -> None:
        """Score the answer, where that is still to be done; of a test, by the reference answer.

        Raises:
            Halted: The judge has no score for it.
            RuntimeError: There is no answer; the strategy has to see to that.
        """
        if self.answer is None:
            raise RuntimeError(f"{self.stage.recipe.strategy} left task {self.task.id} unanswered.")
        run, score = self.answer.run, self.answer.score
        if run.score is None and self.task.answer is not None:  # a pass is not compared by itself
            run = await scored(run, self.task, self.stage.services.jails)
            if run.is_infrastructure_failure:
                raise Halted(f"task {self.task.id}: {run.error}")
        if not self.learning:
            score = await self.verdict(run, "answer")
        elif score is None:
            score = await self.score(run, "answer")
        if not isinstance(score, Score):
            raise Halted(f"task {self.task.id}: the answer has no score: {score.reason}")
        self.answered(run, score)

    @property
    def ran(self) -> Usage:
        """What its runs consumed, all together."""
        return sum((self._runs[what].usage for what in sorted(self._runs)), Usage())

    @property
    def operators(self) -> Usage:
        """What operators consumed, all together."""
        return sum((self.spent[name] for name in sorted(self.spent)), Usage())

    def note(self, event: str, /, **fields: Any) -> None:
        """Note something that happened: for the episode's line, and for whoever listens."""
        self.story.append({"event": event, **fields})
        self._emit(event, fields)

    def write(self, name: str, text: str) -> None:
        """Keep a file of the episode, where it has a folder.

        Args:
            name: Its path in that folder.
            text: What it holds; without the host's secrets.

        Raises:
            StorageError: It cannot be written.
        """
        if self.folder is not None:
            path = self.folder / name
            missing = [one for one in path.parents if not one.exists()]
            for one in reversed(missing):
                make_folder(one)
            write_atomically(path, self.stage.scrubber(text))

    def _emit(self, event: str, fields: Mapping[str, Any]) -> None:
        if self.trace is not None:
            self.trace.emit(event, **fields)

    def tell(self, event: str, /, **fields: Any) -> None:
        """Count what operators consume; who answers in the place of a model tells it, too."""
        self._emit(event, fields)
        if event == "model_call":
            name = fields.get("operator", "")
            self.spent[name] = self.spent.get(name, Usage()) + Usage(**fields["usage"])

    def _tell_judging(self, event: str, /, **fields: Any) -> None:
        """Count what judging consumes."""
        self._emit(event, fields)
        if event == "model_call":
            self.judging += Usage(**fields["usage"])

    def head(self) -> dict[str, Any]:
        """Give what the line of every episode begins with."""
        return {"task": self.task.id, "niche": self.task.niche or None}

    def tail(self) -> dict[str, Any]:
        """Give what the line of every episode ends with: what was lost, and what it cost."""
        lost = [
            {"operator": one.operator, "reason": one.reason, "problems": list(one.problems)}
            for one in self.dropped
        ]
        costs = {"operators": self.operators.value(), "judging": self.judging.value()}
        return {"dropped": lost, **costs}

    def line(self, pool: Pool) -> dict[str, Any]:
        """Give the line of a finished episode that came to an answer, and to no more.

        Raises:
            RuntimeError: It is not finished.
        """
        if self.answer is None or self.answer.score is None:
            raise RuntimeError(f"task {self.task.id} is not finished.")
        run, score, known = self.answer.run, self.answer.score, self.task.answer is not None
        verdict = run.score.value if run.score else 0.0
        return {
            **self.head(),
            "pool": len(pool.members),
            "score": score.value,
            "scored_by": self.scored_by,
            "verdict": verdict if known else None,
            "reward": self.reward(run, score),
            "executed": run.status == "done",
            "runs": sorted(self._runs),
            "usage": self.ran.value(),
            "told": dict(sorted(self.told.items())),
            **({"story": self.story} if self.story else {}),
            "spent": {name: self.spent[name].value() for name in sorted(self.spent)},
            **self.tail(),
        }


def _is_hastier(team: Team, base: Team) -> bool:
    """Tell whether some agent, or the whole team, has less time than in the team it comes from."""
    if team.execution.timeout < base.execution.timeout:
        return True
    longest = base.execution.timeout
    before = {name: one.timeout or longest for name, one in base.agents.items()}
    return any(
        (one.timeout or longest) < before.get(name, longest) for name, one in team.agents.items()
    )
