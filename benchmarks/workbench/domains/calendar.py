"""The calendar: five tools over the events."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from ..operation import Operation
from ..searching import delete, expression_in, look_up, moment

if TYPE_CHECKING:
    from ..operation import Workplace

__all__ = ["OPERATIONS"]

MOST_FOUND = 5


def _get(at: Workplace, event_id: Any = None, field: Any = None) -> Any:
    return look_up(at.tables.events, "Event", event_id, field)


def _search(at: Workplace, query: Any = "", time_min: Any = None, time_max: Any = None) -> Any:
    occurs, table = expression_in(query), at.tables.events
    pairs = zip(table.cells("event_name"), table.cells("participant_email"), strict=True)
    # A cell that is no text hides its row, even where the other cell has the query in it.
    found = [{occurs(name), occurs(email)} for name, email in pairs]
    places = [place for place, one in enumerate(found) if True in one and None not in one]
    records = table.records(places)
    if time_min:
        records = [one for one in records if _ordered(time_min, one["event_start"])]
    if time_max:
        records = [one for one in records if _ordered(one["event_start"], time_max)]
    return records[:MOST_FOUND] or "No events found."


def _ordered(first: Any, second: Any) -> bool:
    earlier, later = moment(first), moment(second)
    return earlier is not None and later is not None and earlier <= later


def _create(
    at: Workplace,
    event_name: Any = None,
    participant_email: Any = None,
    event_start: Any = None,
    duration: Any = None,
) -> str:
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
    at.change(events=events.appended(event, label=0))
    return event["event_id"]


def _delete(at: Workplace, event_id: Any = None) -> str:
    events, said = delete(at.tables.events, "Event", event_id)
    at.change(events=events)
    return said


def _update(at: Workplace, event_id: Any = None, field: Any = None, new_value: Any = None) -> str:
    if not event_id or not field or not new_value:
        return "Event ID, field, or new value not provided."
    events = at.tables.events
    places = events.where("event_id", event_id)
    if not places:
        return "Event not found."
    if field == "participant_email":
        new_value = new_value.lower()
    # Nothing keeps a field from being several, each with a value of its own or all with one.
    columns = field if isinstance(field, list | tuple) else [field]
    has_each = isinstance(new_value, list) and len(new_value) == len(columns)
    for column, value in zip(columns, new_value if has_each else repeat(new_value)):  # noqa: B905
        events = events.updated(places, column, value)
    at.change(events=events)
    return "Event updated successfully."


_ID = "The event's id, eight digits, such as 00000042."
_FIELDS = "event_id, event_name, participant_email, event_start or duration"

OPERATIONS = (
    Operation(
        name="calendar.get_event_information_by_id",
        about="Give one field of an event.",
        parameters={"event_id": _ID, "field": f"Which: {_FIELDS}."},
        run=_get,
    ),
    Operation(
        name="calendar.search_events",
        about="Find up to five events by words of the name or of the participant's address.",
        parameters={
            "query": "A regular expression, in any case. Empty: every event.",
            "time_min": "Events that start at this time or later, as YYYY-MM-DD HH:MM:SS.",
            "time_max": "Events that start at this time or earlier, as YYYY-MM-DD HH:MM:SS.",
        },
        run=_search,
    ),
    Operation(
        name="calendar.create_event",
        about="Add an event; gives its id.",
        parameters={
            "event_name": "What it is called.",
            "participant_email": "The address of the one who is invited.",
            "event_start": "When it starts, as YYYY-MM-DD HH:MM:SS.",
            "duration": "How long it takes, in minutes.",
        },
        run=_create,
        changes=True,
    ),
    Operation(
        name="calendar.delete_event",
        about="Remove an event.",
        parameters={"event_id": _ID},
        run=_delete,
        changes=True,
    ),
    Operation(
        name="calendar.update_event",
        about="Change one field of an event.",
        parameters={
            "event_id": _ID,
            "field": f"Which: {_FIELDS}.",
            "new_value": "What to write there.",
        },
        run=_update,
        changes=True,
    ),
)
