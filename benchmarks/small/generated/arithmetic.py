"""The benchmark `arithmetic`: whole-number expressions, from one operation to sixteen."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .generated import NUMBER, GeneratedQuestion, generated

OPERATIONS = (1, 2, 4, 8, 16)
"""The number of operations, by level."""

LARGEST = 99
LARGEST_FACTOR = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class Expression:
    """An expression in written form, with its result."""

    text: str
    value: int


def expression(chance: random.Random, operations: int) -> tuple[Expression, str]:
    """Draw an expression with a number of operations, and name the outermost one."""
    kind = chance.choice(("sum", "difference", "product"))
    if kind == "product":
        # One side is a small number, or the values of deep expressions would be astronomical.
        factor = chance.randint(2, LARGEST_FACTOR)
        side = _side(chance, operations - 1)
        return Expression(text=f"{factor} * {side.text}", value=factor * side.value), kind
    left = chance.randrange(operations)
    first, second = _side(chance, left), _side(chance, operations - 1 - left)
    if kind == "sum":
        return Expression(
            text=f"{first.text} + {second.text}", value=first.value + second.value
        ), kind
    return Expression(text=f"{first.text} - {second.text}", value=first.value - second.value), kind


def _side(chance: random.Random, operations: int) -> Expression:
    if operations == 0:
        number = chance.randint(2, LARGEST)
        return Expression(text=str(number), value=number)
    inner, _ = expression(chance, operations)
    return Expression(text=f"({inner.text})", value=inner.value)


def _write(chance: random.Random, level: int) -> GeneratedQuestion:
    result, kind = expression(chance, OPERATIONS[level - 1])
    while result.value < 0:  # minus signs are written in too many ways
        result, kind = expression(chance, OPERATIONS[level - 1])
    return GeneratedQuestion(
        kind=kind,
        query=f"How much is {result.text}? End with the number.",
        answer=str(result.value),
        scorer=NUMBER,
    )


ARITHMETIC = generated(
    "arithmetic",
    "Arithmetic",
    "Sums, differences and products of whole numbers: 1, 2, 4, 8 or 16 operations. No result is"
    " negative. The last number of the answer counts. A niche is the outermost operation.",
    _write,
)
