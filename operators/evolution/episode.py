"""An episode: one task of an evolution or a test, with a strategy's resources and results."""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from ...pool.ledger.changes import Change
from ...pool.ledger.learnt import Learnt
from ...pool.teams.pool import Pool
from ...pool.values.statistics import Trial
from ...pool.view import PoolView, op
from ...runtime.agents.outcomes import Run, Score
from ...runtime.calls.calls import seed_of
from ...runtime.scoring.scorers import scored
from ...runtime.values.operator_answers import OperatorTally, values_of
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
        score: Its score, in [0, 1]; None if it is still to be scored.
    """

    run: Run
    score: Score | None = None


class Closing(Protocol):
    """A strategy's last step for an episode, once all earlier episodes are committed.

    It **must** make the same updates under the same names when it is repeated, and return the
    episode's line.
    """

    def close(self, pool: Pool, before: PoolView) -> Mapping[str, Any]:
        """Commit the changes that depend on earlier episodes, and return the episode's line.

        Args:
            pool: The pool. After a crash it may already hold parts of this episode and of later
                ones.
            before: The pool after all earlier episodes.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierEpisodes:
    """The committed episodes before the one that is about to be committed.

    Attributes:
        again: Returns an earlier episode, or the current one, in its initial state: its runs are
            answered from the journal. Call it with ascending numbers.
        is_last: Whether the current episode is the last of the stream.
    """

    lines: Sequence[Mapping[str, Any]]
    again: Callable[[int], Episode]
    is_last: bool
    is_final: bool = False


@dataclass(kw_only=True, eq=False)
class Episode(TaskRuns):
    """One task, and everything that a strategy did with it.

    Attributes:
        number: Its number, from 0: the task's place in the stream.
        past: The lines of the episodes that it sees, in order, if the strategy needs them.
        changes: The changes to the pool, in order, each with the name of its operation.
        figures: Figures for the report, which shows their means, and the sums of integers.
        tally: The outcomes of the questions to operators and judges.
        closing: The last step when it is committed, beyond its changes.
        story: The events for its line, in order.
        folder: The folder of its files; None: no files are kept.
    """

    number: int
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
        """The recipe's `settings`: a value of the strategy's own type."""
        return self.context.recipe.settings

    @property
    def scored_by(self) -> Literal["judge", "answer"]:
        """Whether a judge or the reference answer scores its task."""
        return "judge" if is_judged(self.context.recipe, self.task) else "answer"

    def op(self, label: str) -> str:
        """Return the unique name of a pool update, such as `evomas/000012/best`: it counts once."""
        return op(self.context.name, self.number, label)

    def chance(self, purpose: str) -> random.Random:
        """Return the random generator of one decision, seeded by recipe, episode and `purpose`."""
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
        """Return entries learnt on similar tasks, with their similarity; none of later episodes."""
        return self.view.search(query, k, niche=niche, kind=kind, owner=owner, level=level)

    def keep(self, change: Change, reason: str = "") -> None:
        """Add a change to the pool, to be applied when the episode is committed.

        Args:
            reason: The name of its operation within the episode. By default, its number.
        """
        self.changes.append((change, reason or f"{len(self.changes):03d}"))

    def lose(self, rejected: RejectedProposal, *, at: int = 0) -> None:
        """Record a rejected proposal.

        Args:
            at: Its sort key among proposals that are made concurrently.
        """
        self._rejected.append((at, expected(rejected, RejectedProposal, self._who)))

    def usable(self, result: Result | RejectedProposal, *, at: int = 0) -> Result | None:
        """Return a result, or record it and return None if it is a rejected proposal."""
        if not isinstance(result, RejectedProposal):
            return result
        self.lose(result, at=at)
        return None

    @property
    def _who(self) -> str:
        return f"the strategy {self.context.recipe.strategy}"

    @property
    def rejected(self) -> list[RejectedProposal]:
        """The rejected proposals, in order."""
        return [proposal for _, proposal in sorted(self._rejected, key=lambda lost: lost[0])]

    async def side_by_side(self, *parts: Callable[[Episode], Coroutine[Any, Any, None]]) -> None:
        """Run parts of the episode concurrently.

        Their changes, rejections, figures and events are merged in the order of the parts,
        whichever finishes first.

        Args:
            parts: Each part works on the episode that it receives. It must name the changes it
                keeps.
        """
        ones = [self._part() for _ in parts]
        await together(*(do(item) for do, item in zip(parts, ones, strict=True)))
        for episode in ones:
            self.changes += episode.changes
            self.figures |= episode.figures
            self.story += episode.story
            self._rejected += episode._rejected

    def _part(self) -> Episode:
        """Return a copy of the episode without changes, rejections, figures and events."""
        part = copy(self)
        part.changes, part.figures, part.story, part._rejected = [], {}, [], []
        return part

    def answered(self, run: Run, score: Score | None = None) -> None:
        """Set the result of the episode.

        Args:
            score: Its score. None: it is scored when the strategy has finished.
        """
        self.answer = EpisodeAnswer(run=expected(run, Run, self._who), score=score)

    async def answer_scored(self, run: Run, label: str) -> Score | None:
        """Answer with a run and return its score; if it gets none, record that and return None."""
        score = self.usable(await self.score(run, label))
        self.answered(run, score)
        return score

    def trial(self, run: Run, score: float, /, **fields: Any) -> Trial:
        """Return the trial that the pool keeps of a team's run on the task."""
        return Trial(
            task=self.task.id,
            niche=self.task.niche or None,
            score=score,
            usage=run.usage,
            reason=run.why_unanswered,
            **fields,
        )

    async def finish(self) -> None:
        """Score the answer if it has no score; in a test, by the reference answer, if any.

        Raises:
            Halted: The judge gives no score.
            InputError: There is no answer; the strategy must set one.
        """
        if self.answer is None:
            raise InputError(
                f"the strategy {self.context.recipe.strategy} left the task {quoted(self.task.id)}"
                " unanswered. Its episode calls episode.answered, or raises."
            )
        run, score = self.answer.run, self.answer.score
        if run.score is None and self.task.is_scored:  # a single pass was not scored yet
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
        """The total usage of operators."""
        return sum((self.spent[name] for name in sorted(self.spent)), Usage())

    def note(self, event: str, /, **fields: Any) -> None:
        """Record an event for the episode's line, and emit it to the trace."""
        self.story.append({"event": event, **fields})
        self._emit(event, fields)

    def write(self, name: str, text: str) -> None:
        """Write a file of the episode, if it has a folder.

        Args:
            text: Its content, from which the host's secrets are removed.
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
        """Record the questions and usage of operators; simulated models report here, too."""
        self._emit(event, fields)
        self.tally.take(event, fields)
        if event == "model_call":
            name = fields.get("operator", "")
            self.spent[name] = self.spent.get(name, Usage()) + Usage(**fields["usage"])

    def _tell_judging(self, event: str, /, **fields: Any) -> None:
        self._emit(event, fields)
        self.tally.take(event, fields, judging=True)
        if event == "model_call":
            self.judging += Usage(**fields["usage"])

    def head(self) -> dict[str, Any]:
        """Return the first fields of every episode's line."""
        return {"task": self.task.id, "niche": self.task.niche or None}

    def tail(self) -> dict[str, Any]:
        """Return the last fields of every episode's line: rejections, readers, and costs."""
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
        """Return the line of a finished episode of a strategy without candidates.

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
