"""Draws output schemas from the form of the reference answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .....schema.edits import Edit, SetParameter, SetPrompt, is_tied
from .....schema.edits.offer.strict import closed
from .....schema.team.team import Agent
from .....schema.values.hints import listed
from .....schema.values.json_text import dumps, loads
from .answering import (
    ANSWER,
    agents_that_answer,
    is_free,
    plain_answer,
    prompt_text,
)
from .choosing import COUNTS, choose, with_examples, without_examples
from .examples import reference_examples
from .source import DrawnFrom, Sketch

MOST_LABELS = 12
LONGEST_LABEL = 80
LONGEST_SHAPE = 40
LEAST_ALIKE = 3
"""The number of answers of one shape that make it a form."""
LONGEST_ANSWER = 200
"""Characters; longer answers are no short texts."""
ROOM = 20
"""Characters by which a short text may exceed the longest answer."""
WORKING: Mapping[str, Any] = {"type": "string", "maxLength": 400}
"""The schema of the working that an agent writes before its answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerForm:
    """A form that all reference answers have.

    Attributes:
        name: The form's name, for people.
        request: A sentence that asks for it.
    """

    schema: Mapping[str, Any]
    name: str
    request: str


def answer_form(source: DrawnFrom) -> Iterator[Sketch]:
    """Enforce the form of the reference answers: alone, with examples, or with working."""
    tasks = [trial.task for trial in source.trials if trial.task.answer is not None]
    references = [plain_answer(task) for task in tasks]
    agents = [agent for agent in agents_that_answer(source.team) if is_free(agent)]
    answers = [answer for answer in references if answer is not None]
    if not agents or not is_tied(source.team) or len(answers) < len(references):
        return
    ids = listed([agent.id for agent in agents])
    for form in forms(answers):
        held, working = _held(form), _held(form, working=WORKING)
        yield _edits(source, agents, held, form.request), f"Hold {ids} to {form.name}."
        for count in COUNTS:
            edits = _edits(source, agents, held, form.request, count)
            yield edits, f"Hold {ids} to {form.name}, and show {count} examples."
        yield _edits(source, agents, held), f"Hold {ids} to {form.name}, with the same prompt."
        reason = f"Let {ids} work out the answer first, and hold it to {form.name}."
        yield _edits(source, agents, working, form.request), reason


def forms(answers: Sequence[str]) -> Iterator[AnswerForm]:
    """Return the forms that all of these answers have, the narrowest first."""
    labels = sorted(set(answers))
    longest = max(map(len, answers), default=0)
    is_choice = _are_labels(labels, answers)
    if is_choice:
        yield AnswerForm(
            schema={"type": "string", "enum": labels},
            name=f"one of {len(labels)} answers",
            request=f"Answer with one of these: {', '.join(labels)}.",
        )
    if (kind := _number_kind(answers)) is not None:
        number = "an integer" if kind == "integer" else "a number"
        request = f"Answer with {number} only."
        yield AnswerForm(schema={"type": kind}, name=number, request=request)
    elif not is_choice and _are_alike(answers):
        yield AnswerForm(
            schema={"type": "string", "minLength": longest, "maxLength": longest},
            name=f"an answer of {longest} characters",
            request=f"Write the answer in the form of {answers[0]}.",
        )
    elif not is_choice and 0 < longest <= LONGEST_ANSWER:
        yield AnswerForm(
            schema={"type": "string", "maxLength": longest + ROOM},
            name="a short answer",
            request="Answer in a few words.",
        )


def _are_labels(labels: Sequence[str], answers: Sequence[str]) -> bool:
    """Return whether the answers are a few short texts that recur."""
    few = min(MOST_LABELS, max(2, len(answers) / 2), len(answers) - 1)
    return len(labels) <= few and max(map(len, labels), default=0) <= LONGEST_LABEL


def _number_kind(answers: Sequence[str]) -> str | None:
    """Return the type of the numbers if all answers are numbers as JSON writes them."""
    kinds = {_type_of_number(answer) for answer in answers}
    if not kinds or None in kinds:
        return None
    return "integer" if kinds == {"integer"} else "number"


def _type_of_number(answer: str) -> str | None:
    try:
        value = loads(answer)
    except ValueError:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or dumps(value) != answer:
        return None
    return "integer" if isinstance(value, int) else "number"


def _are_alike(answers: Sequence[str]) -> bool:
    """Return whether all answers differ only in their digits and letters."""
    is_short = max(map(len, answers), default=0) <= LONGEST_SHAPE
    return len(answers) >= LEAST_ALIKE and is_short and len({*map(_shape, answers)}) == 1


def _shape(answer: str) -> str:
    """Return an answer with every digit and every letter replaced by the same sign."""
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "9", answer))


def _held(form: AnswerForm, **before: Any) -> Mapping[str, Any]:
    return closed(**before, **{ANSWER: form.schema})


def _edits(
    source: DrawnFrom,
    agents: Sequence[Agent],
    schema: Mapping[str, Any],
    request: str = "",
    examples: int = 0,
) -> tuple[Edit, ...]:
    """Give agents a schema, ask for the form in words, and show examples of it."""
    edits: list[Edit] = []
    for agent in agents:
        edits.append(SetParameter(agent=agent.id, field="output_schema", value=schema))
        if not request:
            continue
        prompt = without_examples(prompt_text(agent, source.catalogue))
        prompt = prompt if request in prompt else f"{prompt}\n{request}".strip()
        if examples:
            references = reference_examples(source, replace(agent, output_schema=schema))
            prompt = with_examples(prompt, choose(references, examples, source.chance))
        edits.append(SetPrompt(agent=agent.id, prompt=prompt))
    return tuple(edits)
