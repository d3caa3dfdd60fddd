"""The scorers `lesson`, `letter`, `mention` and `sequence`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from ...runtime.agents.outcomes import Score
from ...runtime.scoring.answer_line import readings
from ...runtime.scoring.scorers import ENDING, Evidence
from ...schema.host.scorer_form import ScorerForm, takes
from ...schema.values.problems import Path

# Places where a letter means a choice, the surest first. `END` excludes the words "A" and "I".
END = r"(?=\W*$|[*_]*[.:,;)\]])"
PLACES = (
    r"\(([{letters}])\)",
    # At the beginning of a line, after any non-word characters: each run is read once.
    rf"(?<!\W)(?:\A\W*+|[^\w\n]*+\n\W*+)([{{letters}}])\b{END}",
    rf"\b([{{letters}}])\b{END}",
)
_DATE = r"\d{4}-\d\d-\d\d"
_NOT_IN_AN_ITEM = " \t\"'`*.[](){}"
_A_LETTER = {
    "type": "string", "pattern": "[A-Z]", "x-rule": "a capital letter", "examples": ["B"]
}  # fmt: skip
_A_TEXT = {"type": "string", "minLength": 1, "maxLength": 1000, "x-unit": "characters"}


def _not_a_choice(options: Mapping[str, Any], reference: Any) -> Mapping[Path, str]:
    letters = options.get("letters") or ascii_uppercase[: len(options.get("choices", ()))]
    if reference is None or reference in letters:
        return {}
    return {("answer",): f"{reference!r} is not one of the letters {letters}."}


@takes(
    ScorerForm(
        options={
            "letters": {
                "type": "string",
                "pattern": "[A-Z]{1,26}",
                "x-rule": "capital letters",
                "description": "Which letters there are.",
                "examples": ["ABCD"],
            }
        },
        required=("letters",),
        reference=_A_LETTER,
        check=_not_a_choice,
    )
)
def letter(answer: str, reference: str, options: Mapping[str, Any]) -> Score:
    """Compare the letter of a choice: `(B)`, else one at the start of a line, else one on its own.

    The `Answer:` line is searched first. The last match of the first of these kinds counts. So
    words after it do not matter: `(A) I have no comment.` is A. The option `letters` sets the valid
    letters.
    """
    text = _letter_in(answer, options["letters"])
    if text is None:
        return Score(value=0.0, reason="no letter of a choice in the answer")
    return _verdict(text == reference, text, reference)


def _letter_in(answer: str, letters: str) -> str | None:
    for reading in readings(answer):
        for place in PLACES:
            pattern = place.format(letters=letters)
            if result := re.findall(pattern, reading[-ENDING:], re.MULTILINE):
                return result[-1]
    return None


@takes(
    ScorerForm(
        options={
            "choices": {
                "type": "array",
                "minItems": 1,
                "maxItems": 26,
                "items": _A_TEXT,
                "description": "The texts of the choices, in the order of their letters.",
                "examples": [["4", "5"]],
            },
            "before": {
                "type": "string",
                "description": "The agent whose last answer is the student's before the lesson.",
                "examples": ["student"],
            },
        },
        required=("choices", "before"),
        reference=_A_LETTER,
        check=_not_a_choice,
    )
)
async def lesson(evidence: Evidence) -> Score:
    """Compare a student's choice after a lesson, and before it, with the right choice.

    The option `choices` has their texts in the order of their letters: an answer is one of these,
    or a letter as read by the scorer `letter`. `before` names the agent whose last answer is the
    student's before the lesson. The score is that of the team's answer, which comes after it.

    Measures `after`, and, if there is an answer from before, `before` and their difference, the
    learning `gain`.
    """
    options, reference = evidence.task.scorer.options, evidence.task.answer
    choices = options["choices"]
    after = float(_chosen(evidence.answer, choices) == reference)
    measures = {"after": after}
    if (first := evidence.answers.get(options["before"])) is not None:
        before = float(_chosen(first, choices) == reference)
        measures |= {"before": before, "gain": after - before}
    reason = "right" if after else f"{evidence.answer.strip()[:80]!r} is not {reference}"
    return Score(value=after, reason=reason, measures=measures)


def _chosen(answer: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the choice in an answer, given by its text or by its letter."""
    letters = ascii_uppercase[: len(choices)]
    texts = [text.casefold() for text in choices]
    words = answer.strip(_NOT_IN_AN_ITEM + "\n").casefold()
    return letters[texts.index(words)] if words in texts else _letter_in(answer, letters)


@takes(
    ScorerForm(
        options={
            "among": {
                "type": ["array", "string"],
                "pattern": "dates",
                "x-rule": "dates, or a list of words",
                "minItems": 1,
                "maxItems": 100,
                "items": _A_TEXT,
                "description": "The words, or `dates`: whatever is written as YYYY-MM-DD.",
                "examples": [["True", "False"]],
            }
        },
        required=("among",),
        reference={"type": "string"},
    )
)
def mention(answer: str, reference: str, options: Mapping[str, Any]) -> Score:
    """Compare the last mentioned of some words in the answer, in any case.

    The option `among` is a list of these words, or `dates`: everything written as YYYY-MM-DD. The
    `Answer:` line is searched first.
    """
    among = options["among"]
    words = _DATE if among == "dates" else "|".join(map(re.escape, among))
    for reading in readings(answer):
        if result := re.findall(rf"\b(?:{words})\b", reading[-ENDING:], re.IGNORECASE):
            return _verdict(result[-1].casefold() == reference.casefold(), result[-1], reference)
    return Score(value=0.0, reason="nothing in the answer is one of those asked for")


@takes(
    ScorerForm(
        reference={
            "type": "array",
            "minItems": 1,
            "items": {"type": ["string", "number", "boolean"]},
            "examples": [["ant", "bee"]],
        }
    )
)
def sequence(answer: str, reference: Sequence[Any], options: Mapping[str, Any]) -> Score:
    """Compare the comma-separated items of the answer's last line: all of them, in order.

    If there is an `Answer:` line, its items are compared. Text before a colon in that line, case,
    quotes and brackets do not count.
    """
    del options
    last = (readings(answer)[0][-ENDING:].strip().splitlines() or [""])[-1].rpartition(":")[2]
    texts = [item.strip(_NOT_IN_AN_ITEM).casefold() for item in last.split(",")]
    wanted = [str(item).casefold() for item in reference]
    return _verdict(texts == wanted, ", ".join(texts), ", ".join(wanted))


def _verdict(right: bool, answer: str, wanted: str) -> Score:
    reason = "right" if right else f"{answer[:80]!r} is not {wanted[:80]!r}"
    return Score(value=float(right), reason=reason)
