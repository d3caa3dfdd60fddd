"""Structured answers: JSON in a model's text, checked against an agent's output schema."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...schema.values.json_text import DECODER, dumps, loads
from ...schema.values.problems import dotted, quoted
from ...schema.values.values import is_list, is_mapping
from .bounds import LONGEST_STRUCTURED
from .schema_check import StepBudget, TooManySteps, brief_keywords, excess

_FENCED = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
MOST_PROBLEMS = 8
MOST_CANDIDATES = 1_000
"""The most positions to try as the beginning of a value."""
MOST_READ = 4 * LONGEST_STRUCTURED
"""The most characters to read of text that turns out to be no value."""
MOST_CHOSEN = 20
"""The number of last values to check."""


def parse_structured(text: str, schema: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Parse a model's answer as JSON and check it.

    Returns:
        The value, chosen by `json_in`, and its problems as sentences that a model can act on.
    """
    if len(text) > LONGEST_STRUCTURED:
        return None, [
            f"it is too long: {len(text):,} characters, and at most {LONGEST_STRUCTURED:,} are read"
        ]
    check = _checker(schema)
    try:
        value = json_in(text, lambda value: not check(value))
    except ValueError:
        return None, [f"it is not JSON: {quoted(text.strip()[:80])}"]
    return value, check(value)


def json_in(text: str, fits: Callable[[Any], bool] = is_mapping) -> Any:
    """Return the JSON value that a text gives as its answer.

    That is the whole text, if it is JSON. Else it is the last complete value in it that fits,
    because quoted forms and attempts come before the answer. If none fits, it is the last object,
    else the last value. A value inside another does not count; nor does one inside an incomplete
    value at the end of the text, because such an answer was cut off.

    Args:
        text: A model's answer, without its thinking.
        fits: Returns whether a value may be the answer.

    Raises:
        ValueError: The text has no such value.
    """
    try:
        return loads(text.strip())
    except ValueError:
        values = [*_fenced(text), *_values(text)][-MOST_CHOSEN:]
    if not values:
        raise ValueError("no JSON in the text")
    for may_be in (fits, is_mapping):
        for value in reversed(values):
            if may_be(value):
                return value
    return values[-1]


def object_in(text: str) -> dict[str, Any]:
    """Return the object that a text gives as its answer, by `json_in`; else an empty one."""
    try:
        value: Any = json_in(text)
    except ValueError:
        return {}
    return value if is_mapping(value) else {}


def answer_in(value: Any) -> tuple[str, str | None]:
    """Return a structured value's JSON text, and its field `answer` as text if present."""
    content = dumps(value, ensure_ascii=False)
    if not is_mapping(value) or "answer" not in value:
        return content, None
    answer: Any = value["answer"]
    return content, answer if isinstance(answer, str) else dumps(answer, ensure_ascii=False)


def _fenced(text: str) -> Iterator[Any]:
    """Yield the plain values of fenced blocks: a number, a text."""
    for block in itertools.islice(_FENCED.finditer(text), MOST_CANDIDATES):
        try:
            value = loads(block[1])
        except ValueError:
            continue
        if not is_mapping(value) and not is_list(value):
            yield value


def _values(text: str) -> Iterator[Any]:
    """Yield the objects and lists in a text, one after the other."""
    at, room = 0, MOST_READ
    for _ in range(MOST_CANDIDATES):
        if (result := _OPENING.search(text, at)) is None:
            return
        at = result.start()
        try:
            value, at = DECODER.raw_decode(text, at)
        except RecursionError:
            return
        except ValueError as error:
            if isinstance(error, json.JSONDecodeError) and _is_cut_off(error, text):
                return
            room -= getattr(error, "pos", len(text)) - at
            if room < 0:
                return
            at += 1
        else:
            yield value


def _is_cut_off(error: json.JSONDecodeError, text: str) -> bool:
    """Return whether a text ends within the value that could not be read."""
    return error.msg.startswith("Unterminated") or not text[error.pos :].strip()


def _checker(schema: Mapping[str, Any]) -> Callable[[Any], list[str]]:
    """Return a function that finds the problems of values, within one answer's step budget."""
    from referencing import Registry

    validator, room = _validator()(schema, registry=Registry()), StepBudget()
    problems_by_id: dict[int, list[str]] = {}

    def problems(value: Any) -> list[str]:
        if id(value) not in problems_by_id:
            problems_by_id[id(value)] = problems_of(value)
        return problems_by_id[id(value)]

    def problems_of(value: Any) -> list[str]:
        if too_much := excess(value):
            return [too_much]
        try:
            with room.checking():
                errors = [*itertools.islice(validator.iter_errors(value), MOST_PROBLEMS)]
        except RecursionError:
            return ["it is nested too deeply"]
        except TooManySteps:
            return ["it is too much to be checked: give fewer values"]
        return [
            f"{dotted(tuple(error.absolute_path)) or 'the answer'}: {error.message[:200]}"
            for error in errors
        ]

    return problems


@functools.cache
def _validator() -> Any:
    """Return our validator class, cached: compiling one takes milliseconds."""
    from jsonschema import Draft202012Validator, validators

    return validators.extend(Draft202012Validator, brief_keywords(Draft202012Validator))
