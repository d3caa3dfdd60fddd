"""The calendar: five tools over the events."""

from __future__ import annotations

from typing import Any

from ..operation import Workplace, changes, reads
from ..searching import delete, expression_in, look_up, moment
from ..table import MISSING, Row

LONGEST_LIST = 5
_NO_NUMBER = "nan"
_COLUMNS = frozenset({"event_id", "event_name", "participant_email", "event_start", "duration"})
_ID = "The event's id, eight digits, such as 00000042."
_FIELDS = "event_id, event_name, participant_email, event_start or duration"


@reads(
    event_id=_ID,
    field=f"Which: {_FIELDS}.",
)
def get_event_information_by_id(at: Workplace, event_id: Any = None, field: Any = None) -> Any:
    """Give one field of an event."""
    return look_up(at.tables.events, "Event", event_id, field)


@reads(
    query="A regular expression, in any case. Empty: every event.",
    time_min="Events that start at this time or later, as YYYY-MM-DD HH:MM:SS.",
    time_max="Events that start at this time or earlier, as YYYY-MM-DD HH:MM:SS.",
)
def search_events(
    at: Workplace, query: Any = "", time_min: Any = None, time_max: Any = None
) -> Any:
    """Find up to five events by words of the name or of the participant's address."""
    occurs, table = expression_in(query), at.tables.events
    pairs = zip(table.cells("event_name"), table.cells("participant_email"), strict=True)
    # A cell without text hides its row, even if the other cell contains the query.
    flagses = [{occurs(name), occurs(email)} for name, email in pairs]
    places = [place for place, flags in enumerate(flagses) if True in flags and None not in flags]
    records = table.records(places)
    if time_min:
        records = [record for record in records if _ordered(time_min, record["event_start"])]
    if time_max:
        records = [record for record in records if _ordered(record["event_start"], time_max)]
    return records[:LONGEST_LIST] or "No events found."


def _ordered(first: Any, second: Any) -> bool:
    earlier, later = moment(first), moment(second)
    return earlier is not None and later is not None and earlier <= later


@changes(
    event_name="What it is called.",
    participant_email="The address of the one who is invited.",
    event_start="When it starts, as YYYY-MM-DD HH:MM:SS.",
    duration="How long it takes, in minutes.",
)
def create_event(
    at: Workplace,
    event_name: Any = None,
    participant_email: Any = None,
    event_start: Any = None,
    duration: Any = None,
) -> str:
    """Add an event; gives its id."""
    if not event_name:
        return "Event name not provided."
    if not participant_email:
        return "Participant email not provided."
    if not event_start:
        return "Event start not provided."
    if not duration:
        return "Event duration not provided."
    events = at.tables.events
    event = {
        "event_id": str(int(max(events.cells("event_id"))) + 1).zfill(8),
        "event_name": event_name,
        "participant_email": participant_email.lower(),
        "event_start": event_start,
        "duration": duration,
    }
    # Every new event has the label 0, unlike new tasks and customers.
    at.change(events=events.appended(event))
    return event["event_id"]


@changes(event_id=_ID)
def delete_event(at: Workplace, event_id: Any = None) -> str:
    """Remove an event."""
    return delete(at, "Event", event_id)


@changes(
    event_id=_ID,
    field=f"Which: {_FIELDS}.",
    new_value="What to write there.",
)
def update_event(
    at: Workplace, event_id: Any = None, field: Any = None, new_value: Any = None
) -> str:
    """Change one field of an event."""
    if not event_id or not field or not new_value:
        return "Event ID, field, or new value not provided."
    events = at.tables.events
    places = events.where("event_id", event_id)
    if not places:
        return "Event not found."
    if field == "participant_email":
        new_value = new_value.lower()
    several = isinstance(field, list | tuple)
    columns = list(field) if several else [field]
    for column in columns:
        if not events.has(column):
            events = events.with_column(column, MISSING if several else _elsewhere(new_value))
    # New columns stay even if the value cannot be written.
    at.change(events=events)
    for column, value in zip(columns, _each(columns, new_value, events.columns), strict=True):
        events = events.updated(places, column, value)
    at.change(events=events)
    return "Event updated successfully."


def _each(columns: list[Any], value: Any, among: Row) -> list[Any]:
    """Return the value for each column: one each, or one for all.

    A list of one item is for all only while no call has added a column to the events.
    """
    if len(columns) > 1 and isinstance(value, list | tuple):
        if len(value) == 1 and set(among) <= _COLUMNS:
            return list(value) * len(columns)
        if len(value) != len(columns):
            raise ValueError(f"{len(value)} values cannot be written into {len(columns)} columns")
        return list(value)
    return [value] * len(columns)


def _elsewhere(value: Any) -> Any:
    """Return the value of a new column in the other rows.

    It is missing, but among texts it is the word `nan`, cut to the length of the longest of them,
    as in the release of pandas that the original pins. With a number among the texts it is not cut.
    """
    items: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
    is_text = [isinstance(item, str) for item in items]
    if not any(is_text) or not all(isinstance(item, str | int | float) for item in items):
        return MISSING
    widths = [len(item) if isinstance(item, str) else len(_NO_NUMBER) for item in items]
    return _NO_NUMBER[: max(1, *widths)]
