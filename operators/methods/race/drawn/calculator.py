"""Draws a calculator: an agent writes an expression, and a function computes it.

The examples are found by search: the simplest expression of the
numbers in a question whose value is the reference answer, if it is unique.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from operator import add, mul, sub, truediv
from types import MappingProxyType
from typing import TYPE_CHECKING

from .....runtime.scoring.functions import evaluate
from .....schema.edits import AddAgent, SetParameter, SetPrompt, is_tied
from .....schema.edits.offer.strict import closed
from .....schema.team.team import Agent
from .....schema.values.errors import AgentError
from .....schema.values.json_text import dumps
from .answering import agents_that_answer, is_free, new_id, plain_answer
from .choosing import LEAST_SHOWN, Example, can_be_shown, choices, with_examples

if TYPE_CHECKING:
    from ..task_trial import TaskTrial
    from .source import DrawnFrom, Sketch

MOST_NUMBERS = 5
"""Numbers of a question that are combined; more give too many expressions."""
LEAST_EXPRESSED = 0.5
"""The share of tasks that must have such an expression."""
PROMPT = "Translate the question into one arithmetic expression. Do not compute it."
WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
"""Numbers that people write as words, from two on; "one" is rarely meant as a number."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_WRITTEN = re.compile(r"\(*\d[\d\s.,()]*[-+*/][-+*/\d\s.,()]*[\d)]")
_NUMBER_OR_WORD = re.compile(rf"{_NUMBER.pattern}|\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
Operation = Callable[[float, float], float]
OPERATIONS: Mapping[str, Operation] = MappingProxyType({"+": add, "-": sub, "*": mul, "/": truediv})
Expression = tuple[str, float, str]
"""An expression, its value, and its operations in order."""


def calculator(source: DrawnFrom) -> Iterator[Sketch]:
    """Let the answering agents write an expression instead, and let a calculator compute it."""
    team = source.team
    agents = [agent for agent in agents_that_answer(team) if is_free(agent)]
    examples = [example for trial in source.trials for example in _example(trial)]
    least = max(LEAST_SHOWN, LEAST_EXPRESSED * len(source.trials))
    computes = {example.label for example in examples} != {""}
    if len(agents) != 1 or agents[0].id != team.output or not is_tied(team):
        return
    if len(examples) < least or not computes:
        return
    (agent,) = agents
    longest = 2 * max(len(example.answer) for example in examples)
    schema = closed(expression={"type": "string", "maxLength": longest})
    function = Agent(
        id=new_id("calculator", team),
        role="calculator",
        agent_type="Function",
        function="calculate",
    )
    for chosen in choices(examples, source.chance):
        edits = (
            SetPrompt(agent=agent.id, prompt=with_examples(PROMPT, chosen)),
            SetParameter(agent=agent.id, field="output_schema", value=schema),
            AddAgent(agent=function, receives_from=(agent.id,), is_output=True),
        )
        reason = f"Let {agent.id} write an expression, as {len(chosen)} examples show, and a"
        yield edits, f"{reason} function compute it."


def _example(trial: TaskTrial) -> Iterator[Example]:
    """Return the question of a task with its expression, if there is exactly one."""
    task, answer = trial.task, plain_answer(trial.task)
    wanted = _NUMBER.fullmatch(answer.lstrip("-")) if answer else None
    if answer is None or wanted is None or not can_be_shown(task):
        return
    expressions = simplest_expressions(task.text, float(answer.replace(",", "")))
    if len(expressions) == 1:
        ((text, _, operations),) = expressions
        shown = dumps({"expression": text})
        query, niche = task.text.strip(), task.niche or ""
        yield Example(query=query, answer=shown, niche=niche, label=operations)


def simplest_expressions(text: str, value: float) -> Sequence[Expression]:
    """Return the expressions with a value: one in the text, else those with the fewest numbers."""
    for expression in map(str.strip, _WRITTEN.findall(text)):
        if _value(expression) == value:
            return [(expression, value, "written")]
    numbers = [_digits(number) for number in _NUMBER_OR_WORD.findall(text)][:MOST_NUMBERS]
    for size in (1, 2, 3):
        right = {
            expression[0]: expression
            for chosen in permutations(range(len(numbers)), size)
            for expression in _expressions([numbers[place] for place in chosen], chosen)
            if abs(expression[1] - value) < 1e-9
        }
        if right:
            return list(right.values())
    return ()


def _value(expression: str) -> float | None:
    try:
        return float(evaluate(expression))
    except AgentError:
        return None


def _digits(number: str) -> str:
    word = number.lower()
    return str(WORDS.index(word) + 2) if word in WORDS else number.replace(",", "")


def _expressions(numbers: Sequence[str], places: Sequence[int]) -> Iterator[Expression]:
    """Combine numbers from left to right; for commutative operations in the order of the text."""
    first, *others = numbers
    if not others:
        yield first, float(first), ""
        return
    for text, value, operations in _expressions(numbers[:-1], places[:-1]):
        for sign, operation in OPERATIONS.items():
            if sign in "+*" and places[-1] < places[-2]:
                continue
            if sign == "/" and float(others[-1]) == 0:
                continue
            grouped = f"({text})" if sign in "*/" and operations[-1:] in {"+", "-"} else text
            result = operation(value, float(others[-1]))
            yield f"{grouped} {sign} {others[-1]}", result, operations + sign
