"""The website's visitors: six tools over the visits, one of which plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..operation import Workplace, changes, reads
from ..searching import bounded
from ..table import Table

VALUES = (
    "total_visits",
    "session_duration_seconds",
    "user_engaged",
    "visits_direct",
    "visits_referral",
    "visits_search_engine",
    "visits_social_media",
)
KINDS = ("bar", "line", "scatter", "histogram")
# The original shows agents names of values that it does not accept.
_WRONG_VALUE = (
    "Value to plot must be one of 'total_visits', 'session_duration_seconds', 'user_engaged',"
    " 'direct', 'referral', 'search engine', 'social media'"
)
_WRONG_KIND = "Plot type must be one of 'bar', 'line', 'scatter', or 'histogram'"

_Visit = dict[str, Any]
_SPAN = {
    "time_min": "The first day, as YYYY-MM-DD. Left out: from the beginning.",
    "time_max": "The last day, as YYYY-MM-DD. Left out: to the end.",
}


@reads(visitor_id="The visitor's id, four digits.")
def get_visitor_information_by_id(at: Workplace, visitor_id: Any = None) -> Any:
    """Give all visits of a visitor."""
    if not visitor_id:
        return "Visitor ID not provided."
    visits = at.tables.visits
    return visits.records(visits.where("visitor_id", visitor_id)) or "Visitor not found."


@changes(
    time_min="The first day, as YYYY-MM-DD.",
    time_max="The last day, as YYYY-MM-DD.",
    value_to_plot=f"One of {', '.join(VALUES)}.",
    plot_type=f"One of {', '.join(KINDS)}.",
)
def create_plot(
    at: Workplace,
    time_min: Any = None,
    time_max: Any = None,
    value_to_plot: Any = None,
    plot_type: Any = None,
) -> str:
    """Plot a value over a span of days; gives the path of the picture."""
    if not time_min:
        return "Start date not provided."
    if not time_max:
        return "End date not provided."
    if value_to_plot not in VALUES:
        return _WRONG_VALUE
    if plot_type not in KINDS:
        return _WRONG_KIND
    path = f"plots/{time_min}_{time_max}_{value_to_plot}_{plot_type}.png"
    plots = at.tables.plots
    at.change(plots=plots.written((path,), label=len(plots)))
    return path


@reads(**_SPAN)
def total_visits_count(at: Workplace, time_min: Any = None, time_max: Any = None) -> dict[str, int]:
    """Count the visits of each day."""
    return _by_day(bounded(at.tables.visits, "date_of_visit", time_min, time_max), len)


@reads(**_SPAN)
def engaged_users_count(
    at: Workplace, time_min: Any = None, time_max: Any = None
) -> dict[str, int]:
    """Count the engaged visitors of each day."""
    chosen = bounded(at.tables.visits, "date_of_visit", time_min, time_max)
    return _by_day(chosen, lambda visits: sum(visit["user_engaged"] for visit in visits))


@reads(
    **_SPAN,
    traffic_source="direct, referral, search engine or social media. Left out: every source.",
)
def traffic_source_count(
    at: Workplace, time_min: Any = None, time_max: Any = None, traffic_source: Any = None
) -> dict[str, int]:
    """Count the visits of each day that came from one source."""
    if not traffic_source:
        return total_visits_count.run(at, time_min, time_max)
    chosen = bounded(at.tables.visits, "date_of_visit", time_min, time_max)
    fitting = chosen.records(chosen.where("traffic_source", traffic_source))
    days = dict.fromkeys(sorted(chosen.cells("date_of_visit")), 0)
    for visit in fitting:
        days[visit["date_of_visit"]] += 1
    return days


@reads(**_SPAN)
def get_average_session_duration(
    at: Workplace, time_min: Any = None, time_max: Any = None
) -> dict[str, float]:
    """Give the mean length of the sessions of each day, in seconds."""
    chosen = bounded(at.tables.visits, "date_of_visit", time_min, time_max)
    place = chosen.columns.index("session_duration_seconds")
    rows = [(*row[:place], float(row[place]), *row[place + 1 :]) for row in chosen.rows]
    numbers = Table(columns=chosen.columns, labels=chosen.labels, rows=tuple(rows))
    if not time_min and not time_max:
        at.change(visits=numbers)  # without bounds it works on the visits themselves, and it shows
    return _by_day(
        numbers,
        lambda visits: sum(visit["session_duration_seconds"] for visit in visits) / len(visits),
    )


def _by_day(visits: Table, figure: Callable[[Sequence[_Visit]], Any]) -> dict[str, Any]:
    day = itemgetter("date_of_visit")
    grouped = groupby(sorted(visits.records(), key=day), key=day)
    return {item: figure(list(those)) for item, those in grouped}
