"""What a task of a population costs at most, in model calls: known before anybody is asked."""

from __future__ import annotations

import math

from ....runtime.plan.plan import Plan
from ...core.bounds import MOST_CALLS
from .lifecycle.heritage import MOST_FUSED
from .settings import PopulationSettings
from .structures import LEADER

ENTRIES = 2
"""Entries that a member may come to when it reflects."""


def calls_at_most(settings: PopulationSettings, plan: Plan) -> int:
    """Bound the model calls of a task, without judging and without retries of agents.

    A look at the roster counts for all the tasks since the one before, so that the bound of a
    stream is that of a task as often as it has tasks. It is far above what is usual: every answer
    would have to be repaired, and whatever anybody learns be known to them in other words.

    Args:
        plan: A team of the population in the structure that asks most.
    """
    questions = 0
    if settings.structure == LEADER:
        questions += 2
    if settings.learning:
        questions += settings.team_size * (1 + ENTRIES)
    if settings.codream:
        questions += _dream(settings)
    look = _lifecycle_questions(settings) / settings.tau if settings.lifecycle else 0
    alone = _alone(settings) * _longest(plan) if settings.codream else 0
    return plan.calls_at_most + alone + math.ceil(MOST_CALLS * (questions + look))


def _dream(settings: PopulationSettings) -> int:
    """Count the questions of a dream: five phases, and what its insights are joined with."""
    size = settings.team_size
    phases = size + max(0, size - 1) + 1 + size + 1
    return phases + settings.insights * settings.largest


def _lifecycle_questions(settings: PopulationSettings) -> int:
    """Count the questions of a look at the roster."""
    forks = math.ceil(settings.fork_top * settings.largest)
    return forks + 1 + MOST_FUSED + 2 + settings.largest


def _alone(settings: PopulationSettings) -> int:
    """Count how often a member attempts the task by itself: an own attempt, or with an insight."""
    own = 0 if settings.own_attempts == "never" else settings.team_size
    return own + settings.insights * settings.reattempts


def _longest(plan: Plan) -> int:
    """Return the calls of who may make most."""
    return max((agent.calls_at_most for agent in plan.agents.values()), default=0)
