"""Scorers compare a team's answer with the reference answer.

A scorer takes the answer, the reference and its options and returns a `Score`. A scorer that needs
more than the answer, or runs code, is a coroutine function and takes `Evidence`. Either way,
the same evidence gives the same score.
"""

from __future__ import annotations

import inspect
import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from ...schema.host.catalogue import load_named
from ...schema.host.conforming import expected
from ...schema.host.foreign_code import foreign_code, is_theirs, running_task, why
from ...schema.host.scorer_form import ScorerForm, form_said_by, takes
from ...schema.values.errors import CoterieError, JailError
from ...schema.values.json_text import loads
from ...schema.values.problems import quoted
from ...schema.values.values import is_list, is_mapping, replaced
from ..agents.outcomes import Score
from ..jail.jails import MOST_MOVES
from .answer_line import readings
from .comparing import chosen_letter, distance, numerals, plain, same_json, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...schema.team.task import Task
    from ...schema.values.problems import Path
    from ..agents.outcomes import Run, ToolCall
    from ..jail import Jails

ENDING = 20_000
"""Characters at the end of an answer that are read by scorers of its last number or letter."""
DEEPEST = 100
"""The deepest nesting of a reference answer that is JSON in a text."""
SIMPLER = "Write it without repetition inside repetition."


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Everything that a scorer may use.

    Attributes:
        task: The task, with its reference answer.
        tool_calls: The tool calls of the agent that gave the answer, in order.
        answers: The last output of each agent that succeeded, by its id.
    """

    task: Task
    answer: str
    tool_calls: Sequence[ToolCall] = ()
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    jails: Jails


class ScorerError(Exception):
    """A scorer failed; the text says which, and how."""


async def scored(run: Run, task: Task, jails: Jails) -> Run:
    """Compare a run's answer with the task's reference answer: once, by the caller that made it.

    Returns:
        The run with its score, if it has an answer and the task a reference. A failed run without
        its answer, if the scorer or its jail failed.
    """
    if run.answer is None:
        return run
    calls = run.agents[run.answered_by].tool_calls if run.answered_by else ()
    evidence = Evidence(
        task=task, answer=run.answer, tool_calls=calls, answers=_answers(run), jails=jails
    )
    try:
        return replaced(run, score=await score(evidence))
    except (JailError, ScorerError) as error:
        why = f"the answer could not be scored: {error}"
        fault = "jail" if isinstance(error, JailError) else "scorer"
        return replaced(run, status="failed", answer=None, error=why, fault=fault)


def _answers(run: Run) -> dict[str, str]:
    results = {name: outcome.result for name, outcome in run.agents.items()}
    return {
        name: result.content if result.answer is None else result.answer
        for name, result in results.items()
        if result is not None
    }


async def score(evidence: Evidence) -> Score | None:
    """Score an answer to a task; None if the task needs a reference answer and has none.

    Raises:
        ScorerError: The scorer failed, or returned no score.
        JailError: The scorer runs code, and there is no jail, or the jail failed.
    """
    task, calling = evidence.task, running_task()
    if not task.is_scored:
        return None
    try:
        return _sound(await _moved(evidence))
    except (JailError, ScorerError):
        raise
    except CoterieError as error:
        raise ScorerError(f"the scorer {task.scorer.name} failed: {error}") from error
    except BaseException as error:  # scorers are anyone's, and the run is paid
        if not is_theirs(error, calling):
            raise
        raise ScorerError(f"the scorer {task.scorer.name} failed: {why(error)}") from error


async def _moved(evidence: Evidence) -> Any:
    """Score, and repeat if the machine with the scorer's jail is lost."""
    for _ in range(MOST_MOVES):
        try:
            return await _scored(evidence)
        except JailError as error:
            if not error.is_lost:
                raise
    return await _scored(evidence)


async def _scored(evidence: Evidence) -> Any:
    task = evidence.task
    if (own := task.scorer.python) is not None:
        from .python import called

        return await called(own, evidence)
    scorer = load_named("scorers", task.scorer.name)
    longest = form_said_by(scorer, task.scorer.name).longest
    if len(evidence.answer) > longest:
        return Score(value=0.0, reason=f"longer than {longest:,} characters")
    if inspect.iscoroutinefunction(scorer):
        return await scorer(evidence)
    with foreign_code(f"the scorer {task.scorer.name}", ScorerError):
        return scorer(evidence.answer, task.answer, task.scorer.options)


def _sound(value: Any) -> Score:
    """Return a score if all its figures are finite numbers."""
    if not isinstance(value, Score) or not is_share(expected(value, Score, "it").value):
        raise ValueError(f"{quoted(value)} is not a score from 0 to 1")
    if not all(map(math.isfinite, value.measures.values())):
        raise ValueError(f"{quoted(dict(value.measures))} are not finite measures")
    measures = {name: +item for name, item in value.measures.items()}  # +True is a number
    return replace(value, value=+value.value, measures=measures)


def is_share(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number from 0 to 1."""
    return isinstance(value, int | float) and 0 <= value <= 1


@takes(
    ScorerForm(
        options={"ignore_case": {"type": "boolean", "description": "Whether case is ignored."}}
    )
)
def exact(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Compare texts without regard to outer space; `ignore_case: true` ignores case as well.

    The answer's `Answer:` line counts, or the whole text.
    """
    texts = [text_of(reference).strip(), *(plain(text).strip() for text in readings(answer))]
    if options.get("ignore_case") or isinstance(reference, bool):
        texts = [text.casefold() for text in texts]
    return _verdict(texts[0] in texts[1:], readings(answer)[0], reference)


@takes(
    ScorerForm(
        reference={
            "type": "string",
            "pattern": r"(?s)(.*[\W_])?[A-Za-z]([\W_].*)?",
            "x-rule": "a text with a single letter",
            "examples": ["B"],
        }
    )
)
def choice(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Compare the letter of a multiple choice: `(B)`, `B.`, `The answer is B`.

    The letter is looked for in the `Answer:` line first.
    """
    del options
    wanted = re.search(r"\b[A-Z]\b", str(reference).upper())
    letters = (chosen_letter(reading[-ENDING:]) for reading in readings(answer))
    chosen = next((letter for letter in letters if letter is not None), None)
    return _verdict(wanted is not None and chosen == wanted[0], answer, reference)


@takes(
    ScorerForm(
        options={
            "tolerance": {
                "type": "number",
                "minimum": 0,
                "default": 1e-6,
                "description": "How far the number may be from the reference.",
                "examples": [0.01],
            }
        },
        reference={
            "type": ["number", "string"],
            "pattern": r"(?s).*\d.*",
            "x-rule": "a number",
            "examples": [3.14],
        },
    )
)
def number(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Compare the last number of the answer, within `tolerance` (absolute, default 1e-6).

    The number is looked for in the `Answer:` line first.
    """
    numbers = (numerals(reading[-ENDING:]) for reading in readings(answer))
    texts, wanted = next(filter(None, numbers), []), numerals(str(reference))
    if not texts or not wanted:
        return Score(value=0.0, reason="no number in the answer")
    is_near = distance(texts[-1], wanted[-1]) <= float(options.get("tolerance", 1e-6))
    return _verdict(is_near, texts[-1], reference)


@takes(
    ScorerForm(
        options={"case": {"type": "boolean", "description": "Whether case counts."}},
        reference={
            "type": ["string", "array", "number", "boolean"],
            "minItems": 1,
            "maxItems": 100,
            "items": {"type": ["string", "number", "boolean"]},
        },
    )
)
def contains(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Look for the reference text, or for all texts of a list; case counts if `case: true`."""
    texts = [text_of(text) for text in (reference if is_list(reference) else [reference])]
    same = str if options.get("case") else str.casefold
    there = same(plain(answer))
    missing = [text for text in texts if same(text) not in there]
    reason = f"missing: {', '.join(missing)}" if missing else "all there"
    return Score(value=float(not missing), reason=reason)


def _not_searchable(options: Mapping[str, Any], reference: Any) -> Mapping[Path, str]:
    path: Path = ("scorer", "pattern") if "pattern" in options else ("answer",)
    pattern = options.get("pattern", reference)
    if pattern is None:
        return {}
    if not isinstance(pattern, str):
        return {path: f"{quoted(pattern)} is not a pattern. Write text, or the option pattern."}
    from .searching import SearchTooLong, searches

    try:
        searches().find(pattern, "")
    except ValueError as error:
        return {path: f"{quoted(pattern)} is not a regular expression: {error}."}
    except SearchTooLong as error:
        return {path: f"{quoted(pattern)} is too large a regular expression: {error}. {SIMPLER}"}
    return {}


@takes(
    ScorerForm(
        options={
            "pattern": {
                "type": "string",
                "description": "The pattern. Default: the reference answer.",
                "examples": [r"\b7\b"],
            }
        },
        check=_not_searchable,
    )
)
async def regex(evidence: Evidence) -> Score:
    """Search with a regular expression: the option `pattern`, else the reference answer.

    It is searched for in the `Answer:` line and in the whole text.

    It is searched with by a process of its own, for `SEARCH_SECONDS` and in `SEARCH_MEMORY` at
    most; an answer in which it is not found so is wrong.

    Raises:
        ValueError: The expression is not valid, which a task that was loaded has none.
    """
    from asyncio import to_thread

    from .searching import SearchTooLong, searches

    task, find = evidence.task, searches().find
    pattern = str(task.scorer.options.get("pattern", task.answer))

    def is_in_a_reading() -> bool:
        return any(find(pattern, reading) for reading in readings(evidence.answer))

    try:
        is_there = await to_thread(is_in_a_reading)
    except SearchTooLong as error:
        return Score(value=0.0, reason=f"{quoted(pattern)} is not found: {error}. {SIMPLER}")
    return _verdict(is_there, evidence.answer, pattern)


def _not_json(_options: Mapping[str, Any], reference: Any) -> Mapping[Path, str]:
    if not isinstance(reference, str):
        return {}
    try:
        value = loads(reference)
    except ValueError as error:
        return {("answer",): f"{quoted(reference)} is not JSON: {error}."}
    if _is_deep(value):
        return {("answer",): f"it is nested deeper than {DEEPEST} levels. Flatten it."}
    return {}


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [item for entry in level for item in _items(entry)]
    return bool(level)


def _items(value: Any) -> Sequence[Any]:
    if is_mapping(value):
        return [*value.values()]
    return value if is_list(value) else ()


@takes(ScorerForm(check=_not_json))
def json_equal(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Compare JSON values; the order of an object's fields does not matter.

    The value is looked for in the `Answer:` line first.
    """
    del options
    from ..values.structured import json_in

    wanted: Any = loads(reference) if isinstance(reference, str) else reference
    for reading in readings(answer):
        try:
            value = json_in(plain(reading), lambda value: type(value) is type(wanted))
        except ValueError:
            continue
        return _verdict(same_json(value, wanted), reading, reference)
    return Score(value=0.0, reason="no JSON in the answer")


def _verdict(right: bool, answer: str, reference: Any) -> Score:
    if right:
        return Score(value=1.0, reason="right")
    return Score(value=0.0, reason=f"{answer.strip()[:80]!r} is not {str(reference)[:80]!r}")
