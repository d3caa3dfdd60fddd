"""The outcome of operators' and judges' questions to models."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from ...schema.values.codec import OMITTED, stored, to_value
from ...schema.values.terminal import counted, on_one_line

LONGEST_REASON = 100
MOST_REASONS = 3
"""The most reasons to show for one operator."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


@stored()
class OperatorAnswers:
    """The outcome of one operator's questions.

    Attributes:
        useful: Questions with a usable answer.
        useless: Questions without one, after a repair, by the reason.
    """

    useful: int = 0
    useless: Mapping[str, int] = field(default_factory=dict[str, int])
    judging: Annotated[bool, OMITTED] = False

    @property
    def questions(self) -> int:
        """The number of questions."""
        return self.useful + sum(self.useless.values())

    def __add__(self, other: OperatorAnswers) -> OperatorAnswers:
        reasons = Counter(self.useless) + Counter(other.useless)
        return OperatorAnswers(
            useful=self.useful + other.useful,
            useless=dict(sorted(reasons.items())),
            judging=self.judging or other.judging,
        )

    def __str__(self) -> str:
        """Return the outcome as text: `2 of 5 answers useless: it is not JSON: … (2)`."""
        reasons = Counter(self.useless).most_common()
        words = [f"{reason} ({number})" for reason, number in reasons[:MOST_REASONS]]
        words += [f"and {len(reasons) - MOST_REASONS} more"] * (len(reasons) > MOST_REASONS)
        many = f"{sum(self.useless.values())} of {counted(self.questions, 'answer')} useless"
        return f"{many}: {'; '.join(words)}"


@dataclass(kw_only=True, eq=False)
class OperatorTally:
    """Counts the outcomes of questions, from their events."""

    answers: dict[str, OperatorAnswers] = field(default_factory=dict[str, OperatorAnswers])

    def take(self, event: str, fields: Mapping[str, Any], *, judging: bool = False) -> None:
        """Count an event; events that end no question do not count."""
        if event == "operator_answered":
            answer = OperatorAnswers(useful=1, judging=judging)
        elif event == "operator_dropped":
            answer = OperatorAnswers(useless={_reason(fields): 1}, judging=judging)
        else:
            return
        name = fields["operator"]
        self.answers[name] = self.answers.get(name, OperatorAnswers()) + answer


def _reason(fields: Mapping[str, Any]) -> str:
    """Return why a question failed, without details that differ between answers."""
    why = next(iter(fields["problems"]), fields["reason"])
    return on_one_line(_QUOTED.sub("…", why))[:LONGEST_REASON].rstrip(" .")


def summed_answers(
    several: Iterable[Mapping[str, OperatorAnswers]],
) -> dict[str, OperatorAnswers]:
    """Sum up the outcomes of questions, by the operators' names."""
    answers = dict[str, OperatorAnswers]()
    for fields in several:
        for name, own in fields.items():
            answers[name] = answers.get(name, OperatorAnswers()) + own
    return dict(sorted(answers.items()))


def values_of(answers: Mapping[str, OperatorAnswers]) -> dict[str, Any]:
    """Return the outcomes of questions as JSON-able values, by the operators' names."""
    return {name: to_value(own) for name, own in sorted(answers.items())}


def useless_answers(answers: Mapping[str, OperatorAnswers]) -> Iterator[str]:
    """Return a line for each operator that got unusable answers."""
    yield from (f"{name}: {own}" for name, own in sorted(answers.items()) if own.useless)


def answer_warnings(answers: Mapping[str, OperatorAnswers]) -> Iterator[str]:
    """Yield warnings if judges never judged, or if all answers to operators were unusable."""
    for name, own in sorted(answers.items()):
        if own.judging and own.useless and not own.useful:
            yield f"nothing was judged: {name} had no answer of use."
    changing = [own for own in answers.values() if not own.judging] or [*answers.values()]
    questions = sum(own.questions for own in changing)
    if questions and not any(own.useful for own in changing):
        yield f"every operator answer was useless: {questions} of {questions}."
