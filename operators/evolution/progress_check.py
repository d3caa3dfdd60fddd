"""An early stop for evolutions that cannot change anything: no operator's answer is valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...runtime.values.operator_answers import OperatorAnswers, summed_answers, useless_answers
from .lines import answers_of
from .task_runs import Halted

GO_ON = "--yes"
"""The option that resumes such an evolution anyway."""
FIRST = 3
"""The fewest tasks to check; only tasks with answers of operators count."""
LEAST = 6
"""The fewest useless answers to stop for: a small model may lose fewer by chance."""


@dataclass(kw_only=True, eq=False)
class ProgressCheck:
    """Stops an evolution whose operators got no valid answer on its first tasks.

    The count starts when the evolution begins or resumes. Judges count only on tasks without other
    operators, and only if none of their answers is valid.
    """

    tasks: int = 0
    answers: dict[str, OperatorAnswers] = field(default_factory=dict[str, OperatorAnswers])
    _is_over: bool = False

    def take(self, line: Mapping[str, Any]) -> None:
        """Add a committed episode, by its line.

        Raises:
            Halted: All answers were useless.
        """
        answers = answers_of(line)
        if changing := {name: own for name, own in answers.items() if not own.judging}:
            answers = changing
        elif any(own.useful for own in answers.values()):
            return  # a useful judgement, and no operator tried to change anything
        if self._is_over or not answers:
            return
        self.tasks += 1
        self.answers = summed_answers([self.answers, answers])
        self._is_over = any(own.useful for own in self.answers.values())
        many = sum(own.questions for own in self.answers.values())
        if not self._is_over and self.tasks >= FIRST and many >= LEAST:
            raise Halted(
                f"nothing evolves: on {self.tasks} tasks, none of {many} operator answers was"
                f" usable. {' | '.join(useless_answers(self.answers))}. Choose another model for"
                f" the operators (meta_model of the recipe) and a new --name, or add {GO_ON} to"
                " continue anyway; nothing is lost."
            )
