"""An episode: one task of an evolution, or of a test; what a strategy has to work with, and did."""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from ...pool.ledger.changes import Change
from ...pool.ledger.learnt import Learnt
from ...pool.memory.recall import recalling
from ...pool.teams.pool import Pool
from ...pool.values.statistics import Trial
from ...pool.view import PoolView, op
from ...runtime.agents.outcomes import Run
from ...runtime.calls.calls import seed_of
from ...runtime.runs.services import Services
from ...runtime.scoring.scoring import scored
from ...runtime.values.operator_answers import OperatorTally, values_of
from ...runtime.values.score import Score
from ...runtime.values.together import together
from ...runtime.values.usage import Usage
from ...schema.host.conforming import expected
from ...schema.values.errors import InputError
from ...schema.values.files import make_folders, write_atomically
from ...schema.values.problems import quoted
from ..core.meta import MetaModel
from ..core.proposal import RejectedProposal
from ..core.scoring import is_judged
from .task_runs import Halted, TaskRuns

Result = TypeVar("Result")

__all__ = ["Closing", "EarlierEpisodes", "Episode", "EpisodeAnswer", "Halted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeAnswer:
    """The result of an episode.

    Attributes:
        score: Its score, in [0, 1]; None, where it is still to be scored.
    """

    run: Run
    score: Score | None = None


class Closing(Protocol):
    """What a strategy still has to do when all earlier episodes were committed.

    It **must** make the same updates under the same names when it is done again, and give the
    episode's line.
    """

    def close(self, pool: Pool, before: PoolView) -> Mapping[str, Any]:
        """Commit what can be known only now, and return the line of the episode.

        Args:
            pool: The pool. After a crash it may hold a part of this episode, and later ones.
            before: The pool as all earlier episodes left it.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierEpisodes:
    """The episodes before one whose turn to be committed has come: all of them are committed.

    Attributes:
        again: Returns one of them, or the one itself, as it began: its runs are answered from the
            journal. Ask for their numbers in ascending order.
        is_last: Whether no task follows this one: the stream has none, or the budget no room.
        is_final: Whether nobody raises the budget: what it has no room for is left out.
    """

    lines: Sequence[Mapping[str, Any]]
    again: Callable[[int], Episode]
    is_last: bool
    is_final: bool = False


@dataclass(kw_only=True, eq=False)
class Episode(TaskRuns):
    """One task, and what was done with it.

    Attributes:
        number: Which episode it is, from 0: the task's place in the stream.
        past: The lines of the episodes that it sees, in order, where the strategy needs them.
        changes: What is to happen to the pool, in order, each with the name of its operation.
        figures: Numbers of it that a report shows: means, and of integers the sum, too.
        tally: The outcome of the questions of operators and judges.
        closing: What there is to do when its turn to be committed has come, beyond its changes.
        story: What happened in it that its line tells, in order.
        folder: Where its files are kept; None: nowhere.
    """

    number: int
    view: PoolView
    past: Sequence[Mapping[str, Any]] = ()
    answer: EpisodeAnswer | None = None
    changes: list[tuple[Change, str]] = field(default_factory=list["tuple[Change, str]"])
    figures: dict[str, float] = field(default_factory=dict[str, float])
    spent: dict[str, Usage] = field(default_factory=dict[str, Usage])
    tally: OperatorTally = field(default_factory=OperatorTally)
    judging: Usage = field(default_factory=Usage)
    closing: Closing | None = None
    story: list[Mapping[str, Any]] = field(default_factory=list["Mapping[str, Any]"])
    folder: Path | None = None
    _rejected: list[tuple[int, RejectedProposal]] = field(
        default_factory=list["tuple[int, RejectedProposal]"]
    )

    def __post_init__(self) -> None:
        stage, recipe = self.context, self.context.recipe
        self.path = self.path or f"task {self.number:06d}/"
        self.meta_model = MetaModel(
            calls=stage.services.calls(journal=stage.journal, scrubber=stage.scrubber),
            catalogue=stage.catalogue,
            ceiling=stage.ceiling,
            model=recipe.meta_model,
            budget=stage.budget,
            tell=self.tell,
        )
        judging = self.meta_model.asking(recipe.judge_model or recipe.meta_model)
        self.judge = replace(judging, tell=self._tell_judging)

    @property
    def settings(self) -> Any:
        """What the recipe says under `settings`: a value of the strategy's own type."""
        return self.context.recipe.settings

    @property
    def services(self) -> Services:
        """Models, tools and jails; where there is a memory, agents recall what the episode sees."""
        services = self.context.services
        if self.view.memory is None:
            return services
        return replace(services, recaller=recalling(self.view.search))

    @property
    def scored_by(self) -> Literal["judge", "answer"]:
        """Who scores its task."""
        return "judge" if is_judged(self.context.recipe, self.task) else "answer"

    def op(self, label: str) -> str:
        """Name an update of the pool, so that it counts once: `evomas/000012/best`."""
        return op(self.context.name, self.number, label)

    def chance(self, purpose: str) -> random.Random:
        """Give the chance of one decision: it depends on the recipe's seed and on nothing later."""
        return random.Random(seed_of(self.context.recipe.seed, f"{self.path}{purpose}"))  # noqa: S311

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
            niche: Only of this kind of task.
            owner: Only what is in this agent's archive.
            level: Only those that reach so far.
        """
        return self.view.search(query, k, niche=niche, kind=kind, owner=owner, level=level)

    def keep(self, change: Change, reason: str = "") -> None:
        """Have something happen to the pool when the episode is committed.

        Args:
            reason: What its operation is called within the episode. By default, it is numbered.
        """
        self.changes.append((change, reason or f"{len(self.changes):03d}"))

    def lose(self, rejected: RejectedProposal, *, at: int = 0) -> None:
        """Count what did not come about.

        Args:
            at: Where it stands among others, if they are made side by side.
        """
        self._rejected.append((at, expected(rejected, RejectedProposal, self._who)))

    def usable(self, result: Result | RejectedProposal, *, at: int = 0) -> Result | None:
        """Return a result; None for one that did not come about, which is counted."""
        if not isinstance(result, RejectedProposal):
            return result
        self.lose(result, at=at)
        return None

    @property
    def _who(self) -> str:
        return f"the strategy {self.context.recipe.strategy}"

    @property
    def rejected(self) -> list[RejectedProposal]:
        """What did not come about, in order."""
        return [proposal for _, proposal in sorted(self._rejected, key=lambda lost: lost[0])]

    async def side_by_side(self, *parts: Callable[[Episode], Coroutine[Any, Any, None]]) -> None:
        """Do parts of the episode side by side.

        What they keep, lose, tell and note comes in their order, whichever is done first.

        Args:
            parts: Each does something with the episode that it is given. What it keeps has to be
                called by a name.
        """
        ones = [self._part() for _ in parts]
        await together(*(do(item) for do, item in zip(parts, ones, strict=True)))
        for episode in ones:
            self.changes += episode.changes
            self.figures |= episode.figures
            self.story += episode.story
            self._rejected += episode._rejected

    def _part(self) -> Episode:
        """Return the same episode with nothing kept, lost, told or noted yet."""
        part = copy(self)
        part.changes, part.figures, part.story, part._rejected = [], {}, [], []
        return part

    def answered(self, run: Run, score: Score | None = None) -> None:
        """Set the result of the episode.

        Args:
            run: The run whose answer is that of the episode.
            score: Its score. None: it is scored when the strategy is done.
        """
        self.answer = EpisodeAnswer(run=expected(run, Run, self._who), score=score)

    async def answer_scored(self, run: Run, label: str) -> Score | None:
        """Answer with a run, and return its score; None, and counted, where it has none."""
        score = self.usable(await self.score(run, label))
        self.answered(run, score)
        return score

    def trial(self, run: Run, score: float, /, **fields: Any) -> Trial:
        """Return what the pool keeps of a team's run on the task."""
        return Trial(
            task=self.task.id,
            niche=self.task.niche or None,
            score=score,
            usage=run.usage,
            reason="" if run.answer is not None else run.error or "it gave no answer.",
            **fields,
        )

    async def finish(self) -> None:
        """Score the answer, where that is still to be done; of a test, by the reference answer.

        Raises:
            Halted: The judge has no score for it.
            InputError: There is no answer; the strategy has to see to that.
        """
        if self.answer is None:
            raise InputError(
                f"the strategy {self.context.recipe.strategy} left the task {quoted(self.task.id)}"
                " unanswered. Its episode calls episode.answered, or raises."
            )
        run, score = self.answer.run, self.answer.score
        if run.score is None and self.task.is_scored:  # a pass is not compared by itself
            run = await scored(run, self.task, self.context.services.jails)
            if run.is_infrastructure_failure:
                raise Halted(f"task {self.task.id}: {run.why_failed}")
            self._check_form(run)
        if not self.learning:
            score = await self.verdict(run, "answer")
        elif score is None:
            score = await self.score(run, "answer")
        if not isinstance(score, Score):
            raise Halted(f"task {self.task.id}: the answer has no score: {score.reason}")
        self.answered(run, score)

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
            text: What it holds; without the host's secrets.
        """
        if self.folder is not None:
            path = self.folder / name
            if not path.parent.exists():
                make_folders(path.parent)
            write_atomically(path, self.context.scrubber(text))

    def _emit(self, event: str, fields: Mapping[str, Any]) -> None:
        if self.trace is not None:
            self.trace.emit(event, **fields)

    def tell(self, event: str, /, **fields: Any) -> None:
        """Count what operators ask and consume; who stands in for a model tells it, too."""
        self._emit(event, fields)
        self.tally.take(event, fields)
        if event == "model_call":
            name = fields.get("operator", "")
            self.spent[name] = self.spent.get(name, Usage()) + Usage(**fields["usage"])

    def _tell_judging(self, event: str, /, **fields: Any) -> None:
        """Count what judges are asked and consume."""
        self._emit(event, fields)
        self.tally.take(event, fields, judging=True)
        if event == "model_call":
            self.judging += Usage(**fields["usage"])

    def head(self) -> dict[str, Any]:
        """Return what the line of every episode begins with."""
        return {"task": self.task.id, "niche": self.task.niche or None}

    def tail(self) -> dict[str, Any]:
        """Return what the line of every episode ends with: who read, what was lost, and costs."""
        lost = [
            {
                "operator": dropped.operator,
                "reason": dropped.reason,
                "problems": list(dropped.problems),
            }
            for dropped in self.rejected
        ]
        costs = {"operators": self.operators.value(), "judging": self.judging.value()}
        read, answers = sorted(self.readers), values_of(self.tally.answers)
        fields = {**({"read": read} if read else {}), **({"asked": answers} if answers else {})}
        return {"dropped": lost, **fields, **costs}

    def line(self, pool: Pool) -> dict[str, Any]:
        """Return the line of a finished episode that has an answer and nothing else.

        Raises:
            RuntimeError: It is not finished.
        """
        if self.answer is None or self.answer.score is None:
            raise RuntimeError(f"task {self.task.id} is not finished.")
        run, score, is_scored = self.answer.run, self.answer.score, self.task.is_scored
        learnt = sum(isinstance(change, Learnt) for change, _ in self.changes)
        verdict = run.score.value if run.score else 0.0
        return {
            **self.head(),
            "pool": len(pool.members),
            "score": score.value,
            "scored_by": self.scored_by,
            "verdict": verdict if is_scored else None,
            "reward": self.reward(run, score),
            "executed": run.status == "done",
            "runs": sorted(self._runs),
            "usage": self.run_usage.value(),
            "told": dict(sorted(self.figures.items())),
            **({"learnt": learnt} if learnt else {}),
            **({"story": self.story} if self.story else {}),
            "spent": {name: self.spent[name].value() for name in sorted(self.spent)},
            **self.tail(),
        }
