"""The feedback that a team gets when a task is over."""

from __future__ import annotations

from dataclasses import dataclass

from .....runtime.agents.outcomes import Run
from .....runtime.values.score import Score
from .....schema.team.task import Task
from .....schema.values.json_text import dumps
from .....schema.values.terminal import on_one_line
from ....core.bounds import Bounds
from ....core.material import clip, fenced, material, task_text


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskFeedback:
    """The feedback when a task is over: `r_k` of Meta-Team Algorithm 1, and what it is about.

    Attributes:
        answer: What the team handed in; None where it handed nothing in.
        error: Why it did not.
        score: What that was worth, in [0, 1]; None where nobody knows.
        words: What was said of it by a judge that does not know the reference answer.
        reference: The reference answer, where a person wants it shown; else empty.
    """

    task: Task
    answer: str | None
    error: str = ""
    score: float | None = None
    words: str = ""
    reference: str = ""

    @classmethod
    def of(
        cls,
        task: Task,
        run: Run,
        score: Score | None,
        *,
        is_judged: bool = False,
        shows_reference: bool = False,
    ) -> TaskFeedback:
        """Return the feedback on a run of a team.

        Args:
            is_judged: Whether a judge gave the score, that does not know the reference answer. Then
                what it said is told, too; any other scorer's words may quote that answer.
            shows_reference: Whether a person wants the team to see the reference answer.
        """
        return cls(
            task=task,
            answer=run.answer,
            error=run.error or "",
            score=None if score is None else score.value,
            words=score.reason if score is not None and is_judged else "",
            reference=_written(task.answer) if shows_reference else "",
        )

    def text(self, bounds: Bounds) -> str:
        """Tell it, each text of others in its fence."""
        line = self.answer
        if line is None:
            line = f"(none: {on_one_line(self.error) or 'nobody gave one'})"
        room = bounds.task_characters
        return material(
            task_text(self.task, bounds),
            fenced("team_answer", clip(line.strip() or "(empty)", room)),
            "" if self.score is None else fenced("worth", f"the team's answer: {self.score:.3g}"),
            fenced("judge", clip(self.words, bounds.characters)),
            fenced("right_answer", clip(self.reference, room)),
        )


def _written(answer: object) -> str:
    if answer is None or isinstance(answer, str):
        return answer or ""
    return dumps(answer, ensure_ascii=False)
