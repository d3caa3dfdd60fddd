"""A recorded run as a failed run, read from its folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ...runtime.record.events import EVENTS, all_events_of, checked, unscrubbed
from ...runtime.runs.record import read_result, read_value
from ...schema.team.task import Task
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from .steps import blamable, outage_of, steps_of
from .trace import FailedRun


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnding:
    """The outcome of a run, from its folder.

    Attributes:
        status: `done`, `failed`, `stopped` or `interrupted`.
        answer: Its answer; None without one.
        error: The reason for a missing answer; empty if unknown.
        score: The score of the answer, in [0, 1]; None if it was not scored.
        reason: The reason of the score. It may quote the reference answer.
    """

    status: str
    answer: str | None
    error: str
    score: float | None
    reason: str

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read the outcome of a run. A run without a recorded result was interrupted.

        Raises:
            InputError: The file is damaged.
        """
        result = read_result(folder) or {"status": "interrupted"}
        score = result.get("score") or {}
        try:
            ended = cls(
                status=str(result["status"]),
                answer=None if (answer := result.get("answer")) is None else str(answer),
                error=str(result.get("error") or ""),
                score=float(score["value"]) if score else None,
                reason=str(score.get("reason") or ""),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{folder}: this is no record of a run: {error!r}.") from None
        return ended

    def text(self, *, is_blind: bool) -> str:
        """Return the outcome in words; if blind, without the reason of the score."""
        error = f": {self.error}" if self.error else ""
        reason = f": {self.reason}" if self.reason and not is_blind else ""
        parts = (
            "" if self.status == "done" else f"{self.status}{error}",
            "" if self.score is None else f"score {self.score:.3g}{reason}",
        )
        return "\n".join(part for part in parts if part)


def trace_of(
    folder: Path,
    *,
    expected: str | None = None,
    is_blind: bool = False,
    scrub: Callable[[str], str] = unscrubbed,
) -> FailedRun:
    """Read a run from its folder, whatever its outcome.

    Args:
        expected: The right answer; None for the task's reference answer, if any.
        is_blind: Whether to hide the right answer, and the score's reason, which may quote it.
        scrub: Removes what may not be shown. Recorded files contain no secrets anyway.

    Raises:
        InputError: It is not the folder of a run, another version wrote it, or a file is damaged.
    """
    task, ended = read_value(folder / "task.json"), RunEnding.of(folder)
    right = task.get("answer") if expected is None else expected
    case = {
        "question": _question(folder, task),
        "answer": ended.answer or "",
        "expected": "" if is_blind or right is None else _as_text(right),
        "ended": ended.text(is_blind=is_blind),
    }
    fields = {name: scrub(text) for name, text in case.items()}
    return trace_of_events(all_events_of(folder, scrub), str(folder / EVENTS), **fields)


def _question(folder: Path, task: Mapping[str, Any]) -> str:
    query, context = task.get("query"), task.get("context", "")
    if not isinstance(query, str) or not isinstance(context, str):
        raise InputError(f"{folder / 'task.json'}: it asks nothing: this is no task of a run.")
    return Task(id="", query=query, context=context).text


def outage_of_run(folder: Path) -> str | None:
    """Return the model outage that made a run fail; None if the agents themselves failed."""
    events, error = all_events_of(folder), RunEnding.of(folder).error
    return checked(str(folder / EVENTS), lambda: outage_of(events, error))


def trace_of_events(
    events: Sequence[Mapping[str, Any]],
    source: str,
    *,
    question: str,
    answer: str = "",
    expected: str = "",
    ended: str = "",
) -> FailedRun:
    """Return a failed run from its events.

    Args:
        events: The events of events.jsonl, in order.
        source: The source of the events, for messages.
        expected: The right answer, if it may be shown.
        ended: Further information on the outcome.

    Raises:
        InputError: An event is not a valid event of a run.
    """
    return FailedRun(
        question=question,
        agents=checked(source, lambda: blamable(events)),
        steps=checked(source, lambda: steps_of(events)),
        answer=answer,
        expected=expected,
        ended=ended,
    )


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)
