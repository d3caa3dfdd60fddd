"""The benchmark `logic`: whether a nested statement about numbers is true."""

from __future__ import annotations

import operator
import random
from dataclasses import dataclass

from .generated import GeneratedQuestion, generated, last_of

COMPARISONS = (1, 2, 4, 8, 16)
"""The number of comparisons, by level."""

LARGEST = 99
RELATIONS = (
    ("is less than", operator.lt),
    ("is greater than", operator.gt),
    ("is at most", operator.le),
    ("is at least", operator.ge),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LogicStatement:
    """A statement in written form, with its truth value and its outermost operator."""

    text: str
    value: bool
    kind: str


def statement(chance: random.Random, comparisons: int) -> LogicStatement:
    """Draw a statement with a number of comparisons. By symmetry half of them are true."""
    if comparisons == 1:
        result = _comparison(chance)
    else:
        left = chance.randrange(1, comparisons)
        first, second = statement(chance, left), statement(chance, comparisons - left)
        kind = chance.choice(("and", "or"))
        value = (first.value and second.value) if kind == "and" else (first.value or second.value)
        result = LogicStatement(
            text=f"({first.text}) {kind} ({second.text})", value=value, kind=kind
        )
    if chance.random() < 1 / 4:
        return LogicStatement(text=f"not ({result.text})", value=not result.value, kind="not")
    return result


def _comparison(chance: random.Random) -> LogicStatement:
    words, holds = chance.choice(RELATIONS)
    first, second = chance.sample(range(1, LARGEST + 1), 2)
    return LogicStatement(
        text=f"{first} {words} {second}", value=holds(first, second), kind="comparison"
    )


def _write(chance: random.Random, level: int) -> GeneratedQuestion:
    result = statement(chance, COMPARISONS[level - 1])
    answer = str(result.value)
    return GeneratedQuestion(
        kind=result.kind,
        query=f"True or False? {result.text[0].upper()}{result.text[1:]}. End with True or False.",
        answer=answer,
        scorer=last_of(["True", "False"]),
    )


LOGIC = generated(
    "logic",
    "Logic",
    "Comparisons of numbers, joined by and, or and not: 1, 2, 4, 8 or 16 of them. Half of the"
    " statements are true. Whichever of True and False the answer has last counts. A niche is the"
    " outermost word.",
    _write,
)
