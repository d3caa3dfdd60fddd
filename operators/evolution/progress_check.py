"""Finds out early that an evolution cannot change anything: no operator's answer is of any use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...runtime.values.operator_answers import OperatorAnswers, summed_answers, useless_answers
from .lines import answers_of
from .task_runs import Halted

GO_ON = "--yes"
"""The option by which an evolution resumes all the same."""
FIRST = 3
"""Tasks that are looked at: those for which operators were asked."""
LEAST = 6
"""Answers that have to be useless. Of fewer, a small model may lose all by chance."""


@dataclass(kw_only=True, eq=False)
class ProgressCheck:
    """Stops an evolution whose operators got nothing of use on its first tasks.

    The first are those since it began or was resumed. Judgements count only where nobody else was
    asked and none was of use.

    Attributes:
        tasks: For how many tasks operators were asked until now.
        answers: What became of their questions, by their names.
    """

    tasks: int = 0
    answers: dict[str, OperatorAnswers] = field(default_factory=dict[str, OperatorAnswers])
    _is_over: bool = False

    def take(self, line: Mapping[str, Any]) -> None:
        """Take in an episode that was committed, as its line has it.

        Raises:
            Halted: All answers were useless.
        """
        answers = answers_of(line)
        if changing := {name: own for name, own in answers.items() if not own.judging}:
            answers = changing
        elif any(own.useful for own in answers.values()):
            return  # the run was judged, and nobody wanted to change anything
        if self._is_over or not answers:
            return
        self.tasks += 1
        self.answers = summed_answers([self.answers, answers])
        self._is_over = any(own.useful for own in self.answers.values())
        many = sum(own.questions for own in self.answers.values())
        if not self._is_over and self.tasks >= FIRST and many >= LEAST:
            raise Halted(
                f"nothing evolves: on {self.tasks} tasks, none of {many} operator answers was of"
                f" use. {' | '.join(useless_answers(self.answers))}. Choose another model for the"
                f" operators (meta_model of the recipe) and a new --name, or add {GO_ON} to go on"
                " all the same; nothing is lost."
            )
