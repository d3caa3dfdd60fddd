"""What a search may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.bounds import MOST_CALLS

if TYPE_CHECKING:
    from ....runtime.plan.plan import Plan
    from .settings import SearchSettings

MOST = 2
"""How many attempts a task may take for each candidate that it is to have."""


def calls_at_most(settings: SearchSettings, plan: Plan) -> int:
    """Bound the model calls of a task: every attempt runs a team as large as this one."""
    attempts = max(settings.parents, MOST * (settings.parents + settings.steps))
    questions = 1 + settings.parents + 2 * attempts + 1
    return attempts * settings.repeats * plan.calls_at_most + MOST_CALLS * questions
