"""An upper bound on the model calls of a task of a population, known before any call."""

from __future__ import annotations

import math

from ....runtime.plan.plan import Plan
from ...core.bounds import MOST_CALLS
from .lifecycle.heritage import MOST_FUSED
from .settings import PopulationSettings
from .structures import LEADER

ENTRIES = 2
"""The most entries that a member writes when it reflects."""


def calls_at_most(settings: PopulationSettings, plan: Plan) -> int:
    """Return an upper bound on the model calls of a task, without judges and agents' retries.

    A lifecycle pass is spread over its `tau` tasks, so a stream's bound is a task's bound times the
    number of tasks. Usual costs are far lower. The bound assumes that every answer needs a repair,
    and that every new entry is fused with an earlier one.

    Args:
        plan: A team of the population in the structure with the most calls.
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
    """Return the most questions of a dream: its five phases, and the fusing of its insights."""
    size = settings.team_size
    phases = size + max(0, size - 1) + 1 + size + 1
    return phases + settings.insights * settings.largest


def _lifecycle_questions(settings: PopulationSettings) -> int:
    forks = math.ceil(settings.fork_top * settings.largest)
    return forks + 1 + MOST_FUSED + 2 + settings.largest


def _alone(settings: PopulationSettings) -> int:
    """Return the most runs of single members: own attempts, and attempts with an insight."""
    own = 0 if settings.own_attempts == "never" else settings.team_size
    return own + settings.insights * settings.reattempts


def _longest(plan: Plan) -> int:
    """Return the most calls of any single agent."""
    return max((agent.calls_at_most for agent in plan.agents.values()), default=0)
