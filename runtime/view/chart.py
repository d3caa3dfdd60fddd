"""A timeline in pixels, for the page to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..showing.timeline import Timeline

CHART, LABELS, ROW, AXIS = 1000, 190, 22, 24
"""The timeline's measures in pixels: its width, the width of the names, and two heights."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)
"""The intervals in seconds between two grid lines of the timeline."""
MOST_LINES = 8


def chart(
    time: Timeline,
    agents: Sequence[str],
    *,
    blamed: Mapping[str, Sequence[int]],
    of_agent: Callable[[str], str],
    of_event: Callable[[int], str],
) -> dict[str, Any]:
    """Return the positions of rows, bars and lines.

    Args:
        agents: The agents of the rows, from the top; an agent without work has no row.
        blamed: The numbers of the events that agents are blamed for.
        of_agent: Returns the address of an agent's part of the page.
    """
    at_work = [agent for agent in agents if time.of_agent(agent) or agent in time.works]
    scale = (CHART - LABELS - 20) / max(time.end, 1e-6)
    step = next((value for value in STEPS if time.end / value <= MOST_LINES), STEPS[-1])
    lines = [step * number for number in range(min(200, int(time.end / step) + 1))]

    def x(seconds: float) -> float:
        return round(LABELS + seconds * scale, 1)

    def bar(start: float, end: float) -> tuple[float, float]:
        return x(start), round(max(1.5, (end - start) * scale), 1)

    rows = [
        {
            "agent": agent,
            "name": agent if len(agent) <= 26 else f"{agent[:12]}…{agent[-13:]}",
            "top": AXIS + ROW * number,
            "address": of_agent(agent),
            "spans": [(*bar(span.start, span.end), span) for span in time.of_agent(agent)],
            "works": [
                (*bar(call.start, call.end), call, of_event(call.number))
                for call in time.works.get(agent, ())
            ],
            "blamed": [
                x(time.times[count]) for count in blamed.get(agent, ()) if count in time.times
            ],
        }
        for number, agent in enumerate(at_work)
    ]
    return {
        "width": CHART,
        "height": AXIS + ROW * len(at_work) + 4,
        "lines": [(x(line), f"{line:g} s") for line in lines],
        "breaks": [x(value) for value in time.breaks],
        "rows": rows,
    }
