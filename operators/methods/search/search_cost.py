"""An upper bound on the cost of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.bounds import MOST_CALLS

if TYPE_CHECKING:
    from ....runtime.plan.plan import Plan
    from .settings import SearchSettings

MOST = 2
"""The most attempts for each candidate that a task should have."""


def calls_at_most(settings: SearchSettings, plan: Plan) -> int:
    """Return an upper bound on a task's model calls, if every attempt runs a team of this size."""
    attempts = max(settings.parents, MOST * (settings.parents + settings.steps))
    questions = 1 + settings.parents + 2 * attempts + 1
    return attempts * settings.repeats * plan.calls_at_most + MOST_CALLS * questions
