"""Scorers: how a team's answer compares with the reference answer.

A scorer takes the answer, the reference and its options and gives a `Score`. One that must see
more than the answer, or run something, is a coroutine function and takes `Evidence`. Either way
the same evidence gives the same score.
"""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..schema.catalogue import load_named
from ..schema.errors import InputError
from ..schema.scorer_form import ScorerForm, takes
from ..schema.values import is_list
from .structured import first_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..schema.task import Task
    from .jail import Jails
    from .tools import ToolCall

__all__ = [
    "Evidence",
    "Score",
    "choice",
    "contains",
    "exact",
    "json_equal",
    "number",
    "regex",
    "score",
]

REGEX_SECONDS = 2.0
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LETTER = re.compile(r"\(?\b([A-Z])\b\)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """How good an answer is.

    Attributes:
        value: From 0 (wrong) to 1 (right).
        reason: Why, in a few words.
        measures: What else was measured, by name, such as `side_effects`.
        log: What is kept for whoever wants to know more, such as what tests printed. At most some
            hundred kilobytes: there is one for every trial.
    """

    value: float
    reason: str
    measures: Mapping[str, float] = field(default_factory=dict[str, float])
    log: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What a scorer can go by.

    Attributes:
        task: The task, with its reference answer.
        answer: The team's answer.
        tool_calls: What the agent that gave the answer had its tools do, in order.
        answers: What each agent that was done came to last, by its id.
        jails: Where code may run.
    """

    task: Task
    answer: str
    tool_calls: Sequence[ToolCall] = ()
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    jails: Jails


async def score(evidence: Evidence) -> Score | None:
    """Score an answer to a task; None where the task has no reference answer.

    Raises:
        InputError: The task's scorer cannot work with its options.
        JailError: The scorer runs code, and there is no jail, or the jail failed.
    """
    task = evidence.task
    if task.answer is None:
        return None
    scorer = load_named("scorers", task.scorer.name)
    if inspect.iscoroutinefunction(scorer):
        return await scorer(evidence)
    return scorer(evidence.answer, task.answer, task.scorer.options)


@takes(ScorerForm(options={"ignore_case": {"type": "boolean"}}))
def exact(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Compare texts without regard to outer space; `ignore_case: true` ignores case as well."""
    texts = [answer.strip(), str(reference).strip()]
    if options.get("ignore_case"):
        texts = [text.casefold() for text in texts]
    return _verdict(texts[0] == texts[1], answer, reference)


@takes(ScorerForm())
def choice(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Compare the letter of a multiple choice: `(B)`, `B.`, `The answer is B`."""
    del options
    letters = _LETTER.findall(answer)
    chosen = letters[-1] if letters else answer.strip().upper()[:1]
    wanted = _LETTER.findall(str(reference).upper())
    return _verdict(bool(wanted) and chosen == wanted[0], answer, reference)


@takes(ScorerForm(options={"tolerance": {"type": "number", "minimum": 0}}))
def number(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Compare the last number of the answer, within `tolerance` (absolute, default 1e-6)."""
    found = _NUMBER.findall(answer)
    wanted = _NUMBER.findall(str(reference))
    if not found or not wanted:
        return Score(value=0.0, reason="no number in the answer")
    distance = abs(_float(found[-1]) - _float(wanted[-1]))
    return _verdict(distance <= float(options.get("tolerance", 1e-6)), found[-1], reference)


@takes(ScorerForm(options={"case": {"type": "boolean"}}))
def contains(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Look for the reference text, or for all texts of a list; case counts if `case: true`."""
    texts = [str(text) for text in (reference if is_list(reference) else [reference])]
    same = str if options.get("case") else str.casefold
    missing = [text for text in texts if same(text) not in same(answer)]
    reason = f"missing: {', '.join(missing)}" if missing else "all there"
    return Score(value=float(not missing), reason=reason)


@takes(ScorerForm(options={"pattern": {"type": "string"}}))
def regex(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Search with a regular expression: the option `pattern`, else the reference answer.

    Raises:
        InputError: The expression is not valid, or takes too long on this answer.
    """
    import regex as regex_module

    pattern = str(options.get("pattern", reference))
    try:
        found = regex_module.search(pattern, answer, timeout=REGEX_SECONDS)
    except regex_module.error as error:
        raise InputError(
            f"scorer regex: {pattern!r} is not a regular expression: {error}."
        ) from None
    except TimeoutError:
        raise InputError(
            f"scorer regex: {pattern!r} took more than {REGEX_SECONDS:g} seconds. Write it without"
            " repetition inside repetition."
        ) from None
    return _verdict(found is not None, answer, pattern)


@takes(ScorerForm())
def json_equal(answer: str, reference: Any, options: Mapping[str, Any]) -> Score:
    """Compare JSON values; the order of an object's fields does not matter."""
    del options
    try:
        value = first_json(answer)
    except ValueError:
        return Score(value=0.0, reason="no JSON in the answer")
    wanted = json.loads(reference) if isinstance(reference, str) else reference
    return _verdict(value == wanted, answer, reference)


def _verdict(right: bool, answer: str, reference: Any) -> Score:
    if right:
        return Score(value=1.0, reason="right")
    return Score(value=0.0, reason=f"{answer.strip()[:80]!r} is not {str(reference)[:80]!r}")


def _float(text: str) -> float:
    return float(text.replace(",", ""))
