"""Detects early that a scorer cannot read a team's answers: all scores are 0, wrongly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...schema.values.errors import AnswerFormError
from ...schema.values.problems import quoted
from .answer_line import ANSWER_FORM

if TYPE_CHECKING:
    from ...schema.team.task import Task
    from ..agents.outcomes import Run

ALLOW_ZEROS = "--allow-zeros"
"""The option that lets work continue regardless."""
FIRST = 10
"""The number of first scores that are checked."""
LEAST = 8
"""How many of these answers must contain the reference answer to show that the form is wrong. Fewer
may be chance."""
ENDING = 200
"""Characters at the end of an answer that are searched for the reference answer."""
LONGEST = 100
"""The most characters of a short reference answer."""


@dataclass(kw_only=True, eq=False)
class FormCheck:
    """Stops work whose first scores are all 0 because of the form of the answers.

    The first scores are counted from its beginning, or from where it was resumed.

    Attributes:
        scored: The number of scores so far.
        containing: How many of these answers contain the reference answer.
    """

    scored: int = 0
    containing: int = 0
    _is_over: bool = False

    def take(self, task: Task, run: Run) -> None:
        """Add a run.

        Raises:
            AnswerFormError: The first scores are all 0, and the answers contain the reference.
        """
        if run.score is None or self._is_over:
            return
        self.scored += 1
        self.containing += _contains(run.answer or "", task.answer)
        self._is_over = run.score.value > 0 or (self.scored >= FIRST and self.containing < LEAST)
        if self.scored >= FIRST and not self._is_over:
            raise AnswerFormError(self._message(task, run))

    def _message(self, task: Task, run: Run) -> str:
        scorer, answer = task.scorer.name, (run.answer or "").strip()[-ENDING:]
        usual = "number" if re.search(r"\d", str(task.answer)) else "contains"
        instead = f'write "scorer": {{"name": "{usual}"}} into the tasks, or ' * (usual != scorer)
        return (
            f"the first {self.scored} scores are all 0, yet {self.containing} of these answers"
            f" contain the reference answer, and the scorer {scorer} does not find it there. Task"
            f" {quoted(task.id)}: the answer ends in {quoted(answer)}, the reference answer is"
            f" {quoted(task.answer)}. Choose a new name and {instead}write into the agents'"
            f" prompts: {quoted(ANSWER_FORM)} To go on all the same, add {ALLOW_ZEROS}; nothing is"
            " lost."
        )


def _contains(answer: str, reference: object) -> bool:
    """Return whether the end of an answer contains a short reference answer as whole words."""
    if not isinstance(reference, str | int | float):
        return False
    text = str(reference).strip().casefold()
    ending = answer.strip()[-ENDING:].casefold()
    is_short = 0 < len(text) <= LONGEST
    return is_short and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", ending) is not None
