"""Read the events of a run from events.jsonl."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ...schema.values.errors import InputError
from ...schema.values.json_text import loads
from ...schema.values.problems import quoted
from ...schema.values.terminal import counted, on_one_line
from ...schema.values.values import is_mapping
from .event_fields import fault_of
from .trace import EVENTS, VERSION

__all__ = ["EVENTS", "EventLog", "all_events_of", "checked", "events_of", "unscrubbed"]

MOST = 5
"""The most damaged lines to name."""
LONGEST = 80
"""The most characters of the reason for a damaged line."""
OTHER = "version "

Read = TypeVar("Read")


def unscrubbed(text: str) -> str:
    """Return a text unchanged."""
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class EventLog:
    """The readable events of a run.

    Attributes:
        damage: A sentence that names the damaged lines, with reasons; empty if there are none.
    """

    events: Sequence[Mapping[str, Any]] = ()
    damage: str = ""


def events_of(folder: Path, scrub: Callable[[str], str] = unscrubbed) -> EventLog:
    """Read the events of a run; ignore an incomplete last line, which a crash leaves.

    Damaged lines are left out, so that all others can be shown.

    Raises:
        InputError: There are no events, they cannot be read, or another version wrote them.
    """
    path = folder / EVENTS
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file, so this run's events are unknown. Is {str(folder)!r} the folder"
            " of a run?"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None
    return _read(path, scrub(text))


def all_events_of(
    folder: Path, scrub: Callable[[str], str] = unscrubbed
) -> Sequence[Mapping[str, Any]]:
    """Read all events of a run, for uses that need every one: a verdict, or an agent's memory.

    Raises:
        InputError: As for `events_of`, or a line is damaged.
    """
    log = events_of(folder, scrub)
    if log.damage:
        raise InputError(f"{log.damage}. A run can be shown only with all of its events.")
    return log.events


def _read(path: Path, text: str) -> EventLog:
    *lines, rest = text.split("\n")
    damaged: dict[int, str] = {}
    events: dict[int, Mapping[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        event = _event(line)
        if isinstance(event, str):
            damaged[number] = event
        else:
            events[number] = event
    if is_mapping(last := _event(rest)):  # complete except for the line end
        events[len(lines) + 1] = last
    if not events and (others := [why for why in damaged.values() if why.startswith(OTHER)]):
        raise InputError(
            f"{path}: {others[0]} of the format; this coterie supports {VERSION}. Use the version"
            " of coterie that made the run."
        )
    ordered = _rising([(number, event["n"]) for number, event in events.items()])
    damaged |= dict.fromkeys(events.keys() - ordered, "out of order")
    return EventLog(
        events=[events[number] for number in ordered], damage=_damage_text(path, damaged)
    )


def _event(line: str) -> Mapping[str, Any] | str:
    """Return the event of a line, or in a few words why the line is invalid."""
    try:
        event = loads(line)
    except ValueError as error:
        return f"no JSON: {on_one_line(str(error))[:LONGEST]}" if line.strip() else "it is empty"
    if not is_mapping(event):
        return "no object"
    if type(event.get("v")) is int and event["v"] != VERSION:
        return f"{OTHER}{quoted(event['v'])}"
    if type(event.get("v")) is not int or type(event.get("n")) is not int or event["n"] <= 0:
        return "not an event: 'v' or 'n' is invalid"
    if not isinstance(event.get("type"), str) or not isinstance(event.get("agent", ""), str):
        return "not an event: 'type' or 'agent' is invalid"
    return fault_of(event) or event


def _rising(numbered: Sequence[tuple[int, int]]) -> dict[int, None]:
    """Return the longest selection of lines whose events' numbers rise.

    So a wrong number, however large, costs only its own line.

    Args:
        numbered: Each line's number, and that of its event.
    """
    ends: list[int] = []  # the least number with which a sequence of each length ends
    last: list[int] = []  # its place
    before: list[int] = []
    for place, (_, number) in enumerate(numbered):
        length = bisect_left(ends, number)
        ends[length : length + 1] = [number]
        last[length : length + 1] = [place]
        before.append(last[length - 1] if length else -1)
    numbers: list[int] = []
    place = last[-1] if last else -1
    while place >= 0:
        numbers.append(numbered[place][0])
        place = before[place]
    return dict.fromkeys(reversed(numbers))


def _damage_text(path: Path, damaged: Mapping[int, str]) -> str:
    if not damaged:
        return ""
    texts = [f"{path}:{number} ({damaged[number]})" for number in sorted(damaged)[:MOST]]
    more = f" and {len(damaged) - MOST:,} more" if len(damaged) > MOST else ""
    return f"{counted(len(damaged), 'line')} cannot be read: {', '.join(texts)}{more}"


def checked(source: str, read: Callable[[], Read]) -> Read:
    """Compute something from a run's events, which anyone may have changed.

    Raises:
        InputError: The events do not have the form that runs write.
    """
    try:
        return read()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{source}: an event is invalid: {error!r}. The file was changed, or another version"
            " of coterie wrote it."
        ) from None
