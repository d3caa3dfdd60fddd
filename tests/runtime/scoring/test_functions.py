"""Functions as agents: exact, deterministic, and unable to run anything."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.scoring.functions import calculate, concat, evaluate, extract_json, majority
from coterie.schema import AgentError, Task

from ...support.teams import reports

TASK = Task(id="t", query="?")


@pytest.mark.parametrize(
    ("contents", "winner"),
    [
        (("7", "8", "7"), "7"),
        (("Paris.", "paris", "London"), "Paris."),
        (('{"answer": "yes"}', '{"answer": "no"}', '{"answer": "no"}'), "no"),
        (('{"answer": 7}', "8", " 7 "), "7"),
        (("b", "a"), "b"),  # a tie goes to the first
        (("  spaced   out ", "Spaced out"), "spaced   out"),
        (("3 + 4.\nAnswer: 7", "8", "So the answer is 7."), "3 + 4.\nAnswer: 7"),
        (
            ("The answer is: yes\nor the answer is: no", "**Answer:** no", "yes"),
            "The answer is: yes\nor the answer is: no",
        ),
    ],
)
def test_majority_counts_answers(contents: tuple[str, ...], winner: str) -> None:
    assert majority(reports(*contents), TASK) == winner


@pytest.mark.parametrize("function", [majority, calculate, extract_json, concat])
def test_without_reports_there_is_nothing_to_work_with(function) -> None:
    with pytest.raises(AgentError, match="no colleague reported"):
        function((), TASK)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2+3", "5"),
        ("7 / 2", "3.5"),
        ("8 / 2", "4"),
        ("0.1 + 0.2", "0.3"),
        ("3 × 4 ÷ 2", "6"),  # noqa: RUF001
        ("2^10", "1024"),
        ("-(1 + 2) * 3", "-9"),
        ("1,234 + 1", "1235"),
        ("$5 + $6 =", "11"),
        ("51 + 7 = 58", "58"),
        ("17 % 5", "2"),
        ("17 // 5", "3"),
    ],
)
def test_evaluate_computes_as_people_write(expression: str, value: str) -> None:
    assert evaluate(expression) == value


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("__import__('os').system('true')", "not an expression"),
        ("(lambda: 1)()", "not an expression"),
        ("'a' * 3", "not an expression"),
        ("x + 1", "not an expression"),
        ("True + 1", "not an expression"),
        ("1 if 2 else 3", "not an expression"),
        ("", "not an expression"),
        ("(-8) ** 0.5", "not an expression"),
        ("1 / 0", "divides by zero"),
        ("9 ** 9 ** 9", "too large"),
        ("(10 ** 1000) ** 1000", "too large"),
        ("1e308 * 10", "not finite"),
        ("(" * 5000 + "1" + ")" * 5000, "characters"),
        ("(" * 400 + "1" + ")" * 400, "not an expression"),
    ],
)
def test_evaluate_refuses_everything_else(expression: str, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        evaluate(expression)


@given(st.text(alphabet="0123456789+-*/%.() e^,", max_size=60))
def test_evaluate_answers_or_refuses_and_never_hangs(expression: str) -> None:
    with contextlib.suppress(AgentError):
        float(evaluate(expression))


def test_calculate_takes_the_expression_of_the_last_report() -> None:
    assert calculate(reports("1+1", '{"expression": "2*21"}'), TASK) == "42"
    assert calculate(reports('{"answer": "2+2"}'), TASK) == "4"
    assert calculate(reports("6*7"), TASK) == "42"


def test_extract_json_finds_the_value_in_prose() -> None:
    assert (
        extract_json(reports('Sure!\n```json\n{"a": [1, 2]}\n```\nDone.'), TASK) == '{"a": [1, 2]}'
    )
    with pytest.raises(AgentError, match="no JSON in the report 'nothing'"):
        extract_json(reports("nothing"), TASK)


def test_concat_keeps_the_order() -> None:
    assert concat(reports("first", "second"), TASK) == "first\n\nsecond"
