"""The feedback that a team gets when a task is over."""

from __future__ import annotations

from dataclasses import dataclass

from .....runtime.agents.outcomes import Run, Score
from .....schema.team.task import Task
from .....schema.values.json_text import dumps
from .....schema.values.terminal import on_one_line
from ....core.account import answer_text
from ....core.bounds import Bounds
from ....core.material import clip, fenced, material, task_text


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskFeedback:
    """The feedback after a task: `r_k` of Meta-Team Algorithm 1, with the task and the answer.

    Attributes:
        answer: The team's answer; None without one.
        score: The score of the answer, in [0, 1]; None if unknown.
        words: The reason of a judge that does not know the reference answer.
        reference: The reference answer, if the user wants the team to see it; else empty.
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
            is_judged: Whether the score comes from a judge that does not know the reference answer.
                If so, its reason is included; another scorer's reason may quote that answer.
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
        """Return it as shown to a model, with each untrusted text in a fence."""
        return material(
            task_text(self.task, bounds),
            answer_text("team_answer", self.answer, on_one_line(self.error), bounds),
            "" if self.score is None else fenced("worth", f"the team's answer: {self.score:.3g}"),
            fenced("judge", clip(self.words, bounds.characters)),
            fenced("right_answer", clip(self.reference, bounds.task_characters)),
        )


def _written(answer: object) -> str:
    if answer is None or isinstance(answer, str):
        return answer or ""
    return dumps(answer, ensure_ascii=False)
