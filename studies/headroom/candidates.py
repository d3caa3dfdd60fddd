"""Edits that people wrote for each stream: some that should help, and some that only sound so.

They stand in for a meta-model, so that what is measured is what edits are worth, and not how well
some model finds them. All of them edit the team `solo`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coterie.schema.edits import AddAgent, SetParameter, SetPrompt
from coterie.schema.team.team import Agent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.schema.edits import Edit

SOLVER = "solver"


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """Edits that somebody proposes.

    Attributes:
        name: What the child is called.
        reason: What its author hopes for.
        edits: What is to be different from `solo`.
    """

    name: str
    reason: str
    edits: tuple[Edit, ...]


def _prompt(text: str) -> SetPrompt:
    return SetPrompt(agent=SOLVER, prompt=text.strip())


def _answering(**fields: Any) -> SetParameter:
    """Hold the solver to an object with these fields."""
    schema = {
        "type": "object",
        "properties": fields,
        "required": [*fields],
        "additionalProperties": False,
    }
    return SetParameter(agent=SOLVER, field="output_schema", value=schema)


CAREFUL = Candidate(
    name="careful",
    reason="An expert who is told to be careful makes fewer mistakes.",
    edits=(
        _prompt(
            "You are a careful expert. Read the question twice, check your answer, and then give"
            " the final answer only."
        ),
    ),
)
STEP_BY_STEP = Candidate(
    name="step_by_step",
    reason="Whoever writes the steps down makes fewer mistakes.",
    edits=(_prompt("Solve the task step by step. Give the final answer at the end."),),
)
CHECKED = Candidate(
    name="checked",
    reason="A second agent finds the mistakes of the first.",
    edits=(
        AddAgent(
            agent=Agent(
                id="checker",
                role="checker",
                prompt="Check the answer of your colleague and give the right answer only.",
                max_tokens=96,
                temperature=0.0,
                timeout=120,
            ),
            receives_from=(SOLVER,),
        ),
    ),
)
CALCULATOR = AddAgent(
    agent=Agent(id="calculator", role="calculator", agent_type="Function", function="calculate"),
    receives_from=(SOLVER,),
)
EXPRESSION = _answering(expression={"type": "string", "maxLength": 12})
NUMBER = _answering(answer={"type": "integer"})
QUOTED = _answering(fact={"type": "string", "maxLength": 60}, age={"type": "integer"})
LABEL = _answering(answer={"type": "string", "enum": ["negative", "positive"]})

WRITE_PRODUCT = """
Translate the question into one arithmetic expression. Do not compute it.

What is 11 times 12?
{"expression": "11 * 12"}
Multiply 14 by 10.
{"expression": "14 * 10"}
"""
WRITE_EXPRESSION = """
Translate the problem into one arithmetic expression. Do not compute it.

Tim has 8 cards and gets 3 more. How many has he?
{"expression": "8 + 3"}
Tim has 8 cards and gives away 3. How many are left?
{"expression": "8 - 3"}
There are 3 bags with 8 cards each. How many cards?
{"expression": "3 * 8"}
"""
PRODUCT_SHOTS = """
Answer the question with a number.

What is 11 times 12?
132
Multiply 14 by 10.
140
"""
COIN_SHOTS = """
Answer the problem with a number.

Tim has 8 cards and gets 3 more. How many has he?
11
Tim has 8 cards and gives away 3. How many are left?
5
There are 3 bags with 8 cards each. How many cards?
24
"""
SENTIMENT_SHOTS = """
Say whether the review is positive or negative. Answer with one word.

The weather was nice.
positive
The weather was bad.
negative
The weather was not nice.
negative
The weather was not bad.
positive
"""
DATE_SHOTS = """
Answer like this.

Q: Write this date as YYYY-MM-DD: March 5, 1821
A: 1821-03-05

Q: Write this date as YYYY-MM-DD: October 23, 1783
A: 1783-10-23

Q: Write this date as YYYY-MM-DD: June 12, 1850
A: 1850-06-12

Q: Write this date as YYYY-MM-DD: January 30, 1801
A: 1801-01-30

Q: Write this date as YYYY-MM-DD: September 8, 1876
A: 1876-09-08

Q: Write this date as YYYY-MM-DD: December 17, 1835
A: 1835-12-17

Q: Write this date as YYYY-MM-DD: April 2, 1812
A: 1812-04-02

Q: Write this date as YYYY-MM-DD: July 21, 1867
A: 1867-07-21
"""
AGE_SHOTS = """
Answer like this.

Q: Tom is 3 years old. Eve is 4 years old. How old is Eve?
A: 4

Q: Eve is 91 years old. Tom is 95 years old. How old is Eve?
A: 91

Q: Lea is 2 years old. Max is 93 years old. How old is Max?
A: 93

Q: Max is 94 years old. Lea is 1 years old. How old is Max?
A: 94
"""
QUOTE_FACT = """
Answer like this.

Tom is 3 years old. Eve is 4 years old. How old is Eve?
{"fact": "Eve is 4 years old.", "age": 4}

Eve is 91 years old. Tom is 95 years old. How old is Eve?
{"fact": "Eve is 91 years old.", "age": 91}

Lea is 2 years old. Max is 93 years old. How old is Max?
{"fact": "Max is 93 years old.", "age": 93}

Max is 94 years old. Lea is 1 years old. How old is Max?
{"fact": "Max is 94 years old.", "age": 94}
"""


def _shots(text: str) -> Candidate:
    reason = "Solved examples show what is wanted."
    return Candidate(name="examples", reason=reason, edits=(_prompt(text),))


def _calculating(text: str) -> Candidate:
    return Candidate(
        name="calculating",
        reason="The model says what to calculate; a function that makes no mistake calculates.",
        edits=(_prompt(text), EXPRESSION, CALCULATOR),
    )


INTEGER = Candidate(
    name="integer", reason="Decoding that can only write a number stays on topic.", edits=(NUMBER,)
)
CANDIDATES: Mapping[str, tuple[Candidate, ...]] = MappingProxyType(
    {
        "products": (
            CAREFUL,
            STEP_BY_STEP,
            CHECKED,
            _shots(PRODUCT_SHOTS),
            INTEGER,
            _calculating(WRITE_PRODUCT),
        ),
        "coins": (
            CAREFUL,
            STEP_BY_STEP,
            CHECKED,
            _shots(COIN_SHOTS),
            INTEGER,
            _calculating(WRITE_EXPRESSION),
        ),
        "sentiment": (
            CAREFUL,
            CHECKED,
            _shots(SENTIMENT_SHOTS),
            Candidate(
                name="labels", reason="Decoding leaves it nothing but the labels.", edits=(LABEL,)
            ),
            Candidate(
                name="labels_prompted",
                reason="The labels, and a prompt that asks for them.",
                edits=(
                    LABEL,
                    _prompt(
                        "Decide whether the text is positive or negative. Answer with one word."
                    ),
                ),
            ),
        ),
        "dates": (CAREFUL, STEP_BY_STEP, CHECKED, _shots(DATE_SHOTS)),
        "ages": (
            CAREFUL,
            STEP_BY_STEP,
            CHECKED,
            _shots(AGE_SHOTS),
            INTEGER,
            Candidate(
                name="quoting",
                reason="Whoever copies the fact first need only read it off.",
                edits=(QUOTED, _prompt(QUOTE_FACT)),
            ),
        ),
    }
)
"""The candidate edits of each stream, in the order in which they are tried."""
