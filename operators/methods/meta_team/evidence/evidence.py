"""Questions of an agent to its colleagues after a task, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .....schema.edits.offer.strict import ANY_LIST, ANY_TEXT, closed
from .....schema.values.problems import quoted
from .....schema.values.terminal import on_one_line
from .....schema.values.values import is_mapping
from ....core.answers import InvalidAnswer, structured
from ....core.bounds import Bounds
from ....core.material import clip, fenced
from ..notes import text_of

LONGEST_QUESTION = 300
LONGEST_EVIDENCE = 1_200


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceExchange:
    """A question of an agent to a colleague after a task, and the answer.

    Attributes:
        answer: The colleague's answer; empty if there was no valid one.
    """

    asker: str
    colleague: str
    question: str
    answer: str = ""

    def text(self, most: int = LONGEST_EVIDENCE) -> str:
        """Return question and answer in a fence.

        Args:
            most: The most characters of each part.
        """
        answer = clip(self.answer, most) or "(nothing of use)"
        words = f"{self.asker} asked: {clip(self.question, most)}\n{self.colleague}: {answer}"
        return fenced("evidence", words)


def questions_in(
    text: str, others: Sequence[str], most: int, *, strict: bool
) -> tuple[tuple[str, str], ...]:
    """Parse questions, each with the colleague it is addressed to.

    Args:
        strict: Whether an invalid question is an error; else it is ignored.

    Raises:
        InvalidAnswer: The answer has another shape, or a question is invalid.
    """
    shape = closed(questions=ANY_LIST)
    items: list[Any] = structured(text, shape, Bounds())["questions"]
    table = dict.fromkeys(filter(None, (_question(item, others) for item in items)))
    problems = [_problem(item, others) for item in items if _question(item, others) is None]
    if len(items) > most:
        problems.append(f"{len(items)} questions; at most {most} may be asked.")
    if strict and problems:
        raise InvalidAnswer(*problems)
    return tuple(table)[:most]


def _question(item: Any, others: Sequence[str]) -> tuple[str, str] | None:
    if not is_mapping(item) or item.keys() != {"to", "question"}:
        return None
    question = text_of(item["question"])[:LONGEST_QUESTION]
    return (item["to"], question) if item["to"] in others and question else None


def _problem(item: Any, others: Sequence[str]) -> str:
    shown = quoted(on_one_line(str(item))[:80])
    return f"{shown}: a question has `to`, one of {', '.join(others)}, and `question`, a text."


def answer_in(text: str) -> str:
    """Parse a colleague's answer.

    Raises:
        InvalidAnswer: It has another shape, or no words.
    """
    line = text_of(structured(text, closed(answer=ANY_TEXT), Bounds())["answer"])
    if not line:
        raise InvalidAnswer(
            "answer: nothing is said there. Say what you know, or that you do not know."
        )
    return line[:LONGEST_EVIDENCE]
