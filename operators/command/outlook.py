"""A preview of an evolution, before anything is created or spent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...runtime.plan.plan import compile
from ...schema.values.terminal import counted
from ..core.scoring import is_judged
from ..evolution.reuse import told_reuse
from ..evolution.strategy import strategy_of
from .expected import evolution

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...schema.team.task import Task
    from .evolving import Evolving
    from .starting import EvolutionStart

MOST_NICHES = 12
"""The most niches that are named."""


def outlook(of: Evolving, *, finished: int) -> str:
    """Return a preview of an evolution."""
    recipe, start = of.recipe, of.start
    strategy = strategy_of(recipe.strategy)
    on_a_task = strategy.foretells(recipe.settings)
    where = "all tasks" if strategy.whole else "a task"
    left = list(of.tasks[finished:])
    begun = f", {finished} of {len(of.tasks)} done" if finished else ""
    lines = [
        f"{recipe.strategy} over {counted(len(of.tasks), 'task')}{begun},"
        f" {recipe.workers} at a time, into {of.folder}",
        f"tasks: {_niches(left)}",
        *([str(of.islands)] if of.islands else []),
        *([f"on {where}: {on_a_task}"] if on_a_task else []),
        *_pool(start),
        f"models: {', '.join(sorted(start.asked_models))}{_operators(start)}",
        f"scores: {_scores(of, left)}",
        _memory(start),
        _calls(start, len(left)),
        *([f"reuse: {reuse}"] if (reuse := told_reuse(of.recipe)) else []),
    ]
    if left and strategy.whole is None:
        estimate = evolution(start, left)
        estimate = estimate.in_batches(start.models) if of.setting.batch else estimate
        lines.append(f"estimate: {estimate}")
    if start.outlook:
        lines.append(start.outlook)
    return "\n".join([*lines, "nothing was written or spent"])


def _niches(tasks: list[Task]) -> str:
    pairs = Counter(task.niche or "no niche" for task in tasks).most_common()
    named = ", ".join(f"{niche} {count}" for niche, count in pairs[:MOST_NICHES])
    more = len(pairs) - MOST_NICHES
    return f"{named} and {counted(more, 'other niche')}" if more > 0 else named or "none are left"


def _pool(start: EvolutionStart) -> Iterator[str]:
    new = "" if start.is_there else " (new)"
    teams = [team.name for team in (*start.written, *start.others)]
    if teams:
        yield f"teams of {start.folder}{new}: {', '.join(teams)}"
    if names := [agent.id for agent in start.agents]:
        yield f"agents of {start.folder}{new}: {len(names)}, {names[0]} to {names[-1]}"


def _operators(start: EvolutionStart) -> str:
    names = sorted(start.operator_models)
    return f"; operators and the judge ask {', '.join(names)}" if names else "; no operator asks"


def _scores(of: Evolving, tasks: list[Task]) -> str:
    judged = sum(is_judged(of.recipe, task) for task in tasks)
    if not judged:
        return "by the reference answers"
    return f"by the judge on {judged} of {counted(len(tasks), 'task')}"


def _memory(start: EvolutionStart) -> str:
    return "memory: none" if start.embedder is None else f"memory: {start.embedder}"


def _calls(start: EvolutionStart, tasks: int) -> str:
    bound = strategy_of(start.recipe.strategy).calls_at_most
    if bound is None:
        return f"model calls: {start.recipe.strategy} sets no limit; set one with --budget calls=N"
    most = max(
        bound(start.recipe.settings, compile(team, start.catalogue)) for team in start.teams_at_work
    )
    bounds = f"at most {most} a task, {most * tasks} in all"
    return f"model calls: {bounds}, without judging and retries of agents"
