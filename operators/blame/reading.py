"""A failed run of ours as a trace, read from its folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...runtime.record import read_result, read_value
from ...runtime.trace import VERSION
from ...schema.errors import InputError
from ...schema.task import Task
from ...schema.values import is_mapping
from .steps import blamable, steps_of
from .trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["EVENTS", "events_of", "trace_of", "trace_of_events"]

EVENTS = "events.jsonl"


def _as_it_is(text: str) -> str:
    return text


def trace_of(
    folder: Path,
    *,
    expected: str | None = None,
    is_blind: bool = False,
    scrub: Callable[[str], str] = _as_it_is,
) -> Trace:
    """Read the trace of a run from its folder, however the run ended.

    Args:
        folder: The run's folder.
        expected: The right answer; None for the reference answer of the task, where it has one.
        is_blind: Whether nobody is to be shown a right answer, nor a score's reason that quotes it.
        scrub: Takes out what may not be shown. What the run wrote is without secrets already.

    Raises:
        InputError: It is not the folder of a run, another version wrote it, or a file is damaged.
    """
    task, result = read_value(folder / "task.json"), read_result(folder) or {}
    right = task.get("answer") if expected is None else expected
    try:
        case: dict[str, Any] = {
            "question": Task(id="", query=task["query"], context=task.get("context", "")).text,
            "answer": result.get("answer") or "",
            "expected": "" if is_blind or right is None else _as_text(right),
            "ended": "\n".join(_ended(result, is_blind=is_blind)),
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder}: this is no record of a run: {error!r}.") from None
    told = {name: scrub(text) for name, text in case.items()}
    return trace_of_events(events_of(folder, scrub), str(folder / EVENTS), **told)


def trace_of_events(
    events: Sequence[Mapping[str, Any]],
    source: str,
    *,
    question: str,
    answer: str = "",
    expected: str = "",
    ended: str = "",
) -> Trace:
    """Make a trace of a run's events.

    Args:
        events: The events, as events.jsonl has them, in order.
        source: Where they are from, for messages.
        question: What was asked.
        answer: What the run came to.
        expected: The right answer, where it may be shown.
        ended: What else is known of how it ended.

    Raises:
        InputError: One of them is none that a run tells.
    """
    try:
        steps, agents = steps_of(events), blamable(events)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{source}: an event has not the form that runs write: {error!r}. The file was changed,"
            " or another version of coterie wrote it."
        ) from None
    return Trace(
        question=question,
        agents=agents,
        steps=steps,
        answer=answer,
        expected=expected,
        ended=ended,
    )


def events_of(
    folder: Path, scrub: Callable[[str], str] = _as_it_is
) -> tuple[Mapping[str, Any], ...]:
    """Read the events of a run; half a line at the end, which a crash leaves, is passed over.

    Raises:
        InputError: There are none, they cannot be read, or another version wrote them.
    """
    path = folder / EVENTS
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such file, so nothing tells what this run did. Is {str(folder)!r}"
            " the folder of a run?"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None
    return tuple(_events(path, scrub(text)))


def _events(path: Path, text: str) -> Iterator[Mapping[str, Any]]:
    last = 0
    for number, line in enumerate(text.split("\n")[:-1], 1):
        event = _event(line)
        if event is None or event["n"] <= last:
            raise InputError(f"{path}:{number}: this line is damaged: it is no event of a run.")
        if event["v"] != VERSION:
            raise InputError(
                f"{path}:{number}: version {event['v']!r} of the format; this coterie reads"
                f" {VERSION}. Use the one that made the run."
            )
        last = event["n"]
        yield event


def _event(line: str) -> Mapping[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = is_mapping(event) and isinstance(event.get("type"), str) and "v" in event
    return event if known and type(event.get("n")) is int else None


def _ended(result: Mapping[str, Any], *, is_blind: bool) -> Iterator[str]:
    status, error = result.get("status", "interrupted"), result.get("error")
    if status != "done":
        yield f"{status}: {error}" if error else status
    if score := result.get("score"):
        told = "" if is_blind or not score.get("reason") else f": {score['reason']}"
        yield f"score {score['value']:.3g}{told}"


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
