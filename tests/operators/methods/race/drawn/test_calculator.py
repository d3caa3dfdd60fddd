"""Calculators: expressions for their examples are found where there is exactly one."""

import json
import re

import pytest

from coterie.operators.methods.race.drawn.calculator import simplest_expressions
from coterie.runtime.scoring.functions import evaluate

from .drawing import drawn, tasks


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("Ann has 3 and finds 4 more.", 7, ["3 + 4"]),
        ("Ann has 12 and spends 5.", 7, ["12 - 5"]),
        ("Of 5 she takes 12.", 7, ["12 - 5"]),
        ("6 jars of 20 each", 120, ["6 * 20"]),
        ("Three jars of 20 each for one boy", 60, ["3 * 20"]),
        ("1,200 shared by 4", 300, ["1200 / 4"]),
        ("How much is 2 * (3 - (1 + 1))? End with the number.", 2, ["2 * (3 - (1 + 1))"]),
        ("On 2024-05-01, 3 and 4 more", 7, ["3 + 4"]),
        ("2 and 2", 4, ["2 + 2", "2 * 2"]),
        ("3 boys and 4 girls get 5 each", 35, ["(3 + 4) * 5"]),
        ("Tom is 31, Eve is 40.", 40, ["40"]),
        ("Nothing here", 7, []),
        ("10 and 0", 7, []),
    ],
)
def test_the_simplest_expressions(text: str, value: float, expected: list[str]) -> None:
    result = simplest_expressions(text, value)
    assert [expression for expression, _, _ in result] == expected
    assert all(float(evaluate(expression)) == value for expression in expected)


def test_the_examples_of_a_calculator_compute_the_reference_answers() -> None:
    given = {task.text: task.answer for task in tasks("coins")}
    for proposal in drawn("calculator"):
        child = proposal.child
        prompt = child.agents["solver"].prompt
        pairs = re.findall(r"^Q: (.*)\nA: (.*)$", prompt, re.MULTILINE)
        assert pairs
        assert all(
            evaluate(json.loads(text)["expression"]) == given[query] for query, text in pairs
        )
        assert child.output == "calculator"


@pytest.mark.parametrize("name", ["sentiment", "dates", "ages"])
def test_there_is_none_where_nothing_is_to_be_computed(name: str) -> None:
    assert drawn("calculator", stream_name=name) == []
