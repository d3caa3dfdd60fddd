"""The fields that an event needs to be shown: by type, with a check for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...schema.values.values import is_list, is_mapping
from ..values.usage import COUNT_NAMES

LARGEST = 1e15
"""Larger numbers are not counts, times or prices."""
DEEPEST = 200
"""The most levels of lists and objects in an event."""

Is = Callable[[Any], bool]
"""Returns whether a field's value is valid."""


def fault_of(event: Mapping[str, Any]) -> str | None:
    """Return why an event cannot be shown, in a few words; None if it can.

    Unknown types are for machines, and need only the fields that all events have.

    Args:
        event: The content of a line of events.jsonl. It has a type.
    """
    checks = {**EVERY, **FIELDS.get(event["type"], {})}
    for name, is_right in checks.items():
        if not is_right(event.get(name, MISSING)):
            return f"no {name!r}" if name not in event else f"{name!r} is of the wrong type"
    return "it is nested too deeply" if _is_deep(event) else None


MISSING = object()


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) <= LARGEST


def _anything(value: Any) -> bool:
    return value is not MISSING


def _or_none(check: Is) -> Is:
    return lambda value: value is None or check(value)


def _perhaps(check: Is) -> Is:
    return lambda value: value is MISSING or value is None or check(value)


def _all(check: Is) -> Is:
    return lambda value: is_list(value) and all(check(item) for item in value)


def _place(value: Any) -> bool:
    """Return whether a value names a turn or a round."""
    return _text(value) or _number(value)


def _usage(value: Any) -> bool:
    """Return whether a value is a usage: both token counts, and other numbers."""
    if not is_mapping(value) or not {"prompt_tokens", "completion_tokens"} <= value.keys():
        return False
    return all(_number(value[name]) for name in COUNT_NAMES if name in value)


def _own_usage(value: Any) -> bool:
    return _usage(value) and value.keys() <= {*COUNT_NAMES}


def _message(value: Any) -> bool:
    if not is_mapping(value) or not _text(value.get("role")):
        return False
    content = value.get("content")
    return content is None or _text(content) or _all(_part)(content)


def _part(value: Any) -> bool:
    return is_mapping(value) and (value.get("type") != "text" or _text(value.get("text")))


def _call(value: Any) -> bool:
    return is_mapping(value) and _text(value.get("name")) and "arguments" in value


def _sent(value: Any) -> bool:
    return is_mapping(value) and _text(value.get("sender"))


def _named(value: Any) -> bool:
    """Return whether a value is a list of names, or an object whose keys are names."""
    return is_mapping(value) or _all(_text)(value)


def _is_deep(event: Mapping[str, Any]) -> bool:
    level: list[Any] = [event]
    for _ in range(DEEPEST):
        level = [
            item
            for outer in level
            for item in (outer.values() if is_mapping(outer) else outer)
            if is_mapping(item) or is_list(item)
        ]
        if not level:
            return False
    return True


EVERY: Mapping[str, Is] = {
    "t": _number,
    **dict.fromkeys(("run", "operator", "path"), _perhaps(_text)),
    **dict.fromkeys(("round", "turn"), _perhaps(_place)),
    **dict.fromkeys(("seconds", "wait", "item", "items"), _perhaps(_number)),
}
FIELDS: Mapping[str, Mapping[str, Is]] = {
    "agent_started": {"agent": _text, "received": _all(_text)},
    "agent_finished": {
        "agent": _text,
        "status": _text,
        "seconds": _number,
        "attempts": _number,
        "usage": _usage,
        "content": _perhaps(_text),
        "steps": _perhaps(_all(is_mapping)),
        "mishaps": _perhaps(_all(_text)),
        "error": _or_none(_text),
    },
    "agent_given": {"agent": _text, "status": _text},
    "agent_joined": {"agent": _text, "by": _anything},
    "agent_moved": {"error": _anything},
    "agent_retried": {"error": _anything},
    "answer_unread": {"problem": _text},
    "contributions": {"score": _number},
    "cut_off": {"finish_reason": _text},
    "drafted": {"status": _anything},
    "files_written": {"files": _all(_text)},
    "mail_returned": {"turn": _place},
    "mail_taken": {"agent": _text, "turn": _place, "messages": _all(_sent)},
    "message_posted": {"kind": _text, "text": _or_none(_text), "to": _or_none(_text)},
    "model_call": {
        "path": _text,
        "alias": _text,
        "model": _or_none(_text),
        "answered_by": _perhaps(_text),
        "messages": _all(_message),
        "text": _text,
        "tool_calls": _all(_call),
        "thinking": _perhaps(_text),
        "finish_reason": _perhaps(_text),
        "usage": _own_usage,
        "attempts": _number,
        "seconds": _number,
    },
    "model_error": {"kind": _text, "error": _text},
    "model_fallback": {"alias": _anything, "error": _anything},
    "model_retried": {"error": _anything},
    "only_thought": {"why": _anything},
    "operator_dropped": {"reason": _text, "problems": _all(_text)},
    "operator_repair": {"problems": _all(_text)},
    "parameter_adapted": dict.fromkeys(("alias", "asked", "parameter", "instead"), _anything),
    "question_asked": {"file": _text},
    "recalled": {"shown": _number},
    "recruited": {"agents": _named},
    "repair": {"problems": _all(_text)},
    "roster_ended": {"sent": _number, "why": _anything},
    "round_started": {"round": _place, "given": _all(_text)},
    "rounds_ended": dict.fromkeys(("why", "answer_of"), _anything),
    "run_finished": {"status": _anything, "seconds": _number, "error": _anything},
    "step_failed": {"error": _anything},
    "task_given": {"task": is_mapping},
    "team_given": {"yaml": _text},
    "tool_call": {"tool": _text, "arguments": _anything},
    "trimmed": {"left_out": _number},
    "work_unused": {"count": _number},
}
"""Checks of the fields without which `mas-view` or `mas dev blame` fails."""
