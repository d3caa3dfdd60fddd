"""Functions for agents of type Function, since an exact vote or sum should not cost a model call.

A function receives the reports to the agent, in Kahn order, and the task; it returns the
agent's output as text, or raises `AgentError` with the reason why it cannot.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import AgentError
from ...schema.values.json_text import dumps, loads
from ...schema.values.problems import quoted
from ...schema.values.values import is_mapping
from ..values.structured import answer_in, json_in
from .comparing import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...schema.team.task import Task
    from ..agents.runner import AgentReport

CONCLUSION = re.compile(r"\banswer(?: is:?|:)[ \t*]*([^\s*].*)", re.IGNORECASE)
LARGEST_EXPONENT = 1000
LONGEST_EXPRESSION = 1000


def majority(reports: Sequence[AgentReport], task: Task) -> str:
    """Return the report of the first colleague whose answer is the most frequent one.

    Answers that differ only in case, outer punctuation or spacing count as the same. A structured
    report's answer is its field `answer`; that of a text is what follows its last `Answer:` or
    `answer is` in the line, else all of it. Equal patches are equal votes.

    Raises:
        AgentError: There is no report.
    """
    del task
    answers = [answer_of(report.content) for report in reports]
    if not answers:
        raise AgentError("majority: no colleague reported an answer.")
    cast = [
        report.patch or _concluded(answer) for report, answer in zip(reports, answers, strict=True)
    ]
    votes = Counter(cast)
    return answers[cast.index(max(votes, key=lambda what: votes[what]))]


def calculate(reports: Sequence[AgentReport], task: Task) -> str:
    """Compute the arithmetic expression that the last colleague wrote.

    The expression is the report's field `expression` (or `answer`), or its whole text. Numbers,
    `+ - * / // % **` and parentheses; nothing else is evaluated.

    Raises:
        AgentError: There is no report, or it is not such an expression.
    """
    del task
    if not reports:
        raise AgentError("calculate: no colleague reported an expression.")
    return evaluate(_expression(reports[-1].content))


def extract_json(reports: Sequence[AgentReport], task: Task) -> str:
    """Return the JSON value that the last colleague's text gives as its answer; see `json_in`.

    Raises:
        AgentError: There is no report, or no JSON in it.
    """
    del task
    if not reports:
        raise AgentError("extract_json: no colleague reported a text.")
    try:
        return dumps(json_in(reports[-1].content), ensure_ascii=False)
    except ValueError:
        shown = quoted(reports[-1].content)
        raise AgentError(f"extract_json: no JSON in the report {shown}.") from None


def concat(reports: Sequence[AgentReport], task: Task) -> str:
    """Return all reports, one after the other, with a blank line between them.

    Raises:
        AgentError: There is no report.
    """
    del task
    if not reports:
        raise AgentError("concat: no colleague reported a text.")
    return "\n\n".join(report.content for report in reports)


def evaluate(expression: str) -> str:
    """Compute an arithmetic expression and write its value as people do: `7`, not `7.0`.

    Raises:
        AgentError: The text is not an arithmetic expression, or has no finite value.
    """
    text = (
        expression.partition("=")[0]
        .replace("\u00d7", "*")
        .replace("\u00f7", "/")
        .replace("^", "**")
    )
    text = re.sub(r"(?<=\d),(?=\d{3}\b)|[$€£]", "", text).strip()
    if len(text) > LONGEST_EXPRESSION:
        raise AgentError(f"calculate: an expression of {len(text)} characters.")
    try:
        value = _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise AgentError(f"calculate: {quoted(expression)} is not an expression.") from None
    except ZeroDivisionError:
        raise AgentError(f"calculate: {quoted(expression)} divides by zero.") from None
    except OverflowError:
        raise AgentError(f"calculate: {quoted(expression)} is too large.") from None
    return _shown(value)


OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def _value(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp() if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](_value(node.operand))
        case ast.BinOp(op=ast.Pow()):
            return _power(_value(node.left), _value(node.right))
        case ast.BinOp() if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
        case _:
            raise ValueError(type(node).__name__)


def _power(base: float, exponent: float) -> float:
    """Raise to a power; refuse powers that would take long."""
    if abs(exponent) > LARGEST_EXPONENT or abs(base) > 10**LARGEST_EXPONENT:
        raise OverflowError
    value = base**exponent
    if isinstance(value, complex):
        raise TypeError("a complex number")
    return value


def _shown(value: float) -> str:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise AgentError("calculate: the value is not finite.")
        value = round(value, 10)
        return str(int(value)) if value == int(value) else repr(value)
    if abs(value) >= 10**LARGEST_EXPONENT:
        raise AgentError("calculate: the value is too large to write.")
    return str(value)


def _expression(content: str) -> str:
    value = _structured(content)
    for field in ("expression", "answer"):
        if is_mapping(value) and field in value:
            return str(value[field])
    return content


def answer_of(content: str) -> str:
    """Return the answer in a report: its field `answer`, else all of its text."""
    return answer_in(_structured(content))[1] or content.strip()


def _structured(content: str) -> Any:
    try:
        return loads(content)
    except ValueError:
        return None


def _concluded(answer: str) -> str:
    """Return an answer in a normal form, in which equal answers are equal."""
    result = CONCLUSION.findall(answer)
    return normal_text(result[-1]) if result else normal_text(answer)


def normal_text(answer: str) -> str:
    """Return a text without case, outer punctuation and spacing."""
    return " ".join(plain(answer).casefold().split()).strip(" .,;:!?\"'`*")
