"""Has the strategy work on tasks of a landscape, in this process, and measures what came of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.pool.teams.pool import Pool
from coterie.runtime.record.journal import Journal
from coterie.schema.loading.recipe import Recipe

from ..simulated import in_memory, services_of, stage_of
from .gateway import Simulated, graded, tasks
from .names import CEILING, META, catalogue
from .texts import title_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.operators.evolution.context import EvolutionContext
    from coterie.operators.evolution.episode import Episode
    from coterie.operators.evolution.strategy import Strategy

    from .landscapes import Landscape

__all__ = ["CALLS", "LEAST", "Outcome", "Trial", "adapt"]

STRATEGY = "tacomas"
TASKS = 2
CALLS = 120
"""About ten rounds of five agents, each coached, and their judge."""
LEAST = 24
"""Fewer calls are no two rounds of such a team."""
HERE = Path(__file__).parent
FRAME = HERE / "frame.yaml"
SETTINGS: Mapping[str, Any] = MappingProxyType(
    {"begin": "roles", "roles": str(HERE / "roles"), "most": 50, "threshold": 2.0}
)
"""What differs from the strategy's defaults in all trials: calls are what ends a task."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A way to adapt.

    Attributes:
        name: What the table calls it.
        skill: The meta-model's; None for the landscape's.
        changes: What differs from the strategy's default settings.
    """

    name: str
    skill: float | None = None
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a trial, each as a mean over its tasks.

    Attributes:
        answer: The score of the answer.
        worth: What the team that gave it could be expected to score then.
        first: What the team of the first round was worth.
        last: What the team of the last round was worth.
        rounds: How many rounds there were.
        agents: How many agents worked in the last one.
        edges: How many edges there were in it.
        calls: How many model calls a task took.
        asked: How many questions operators had, in all tasks.
        dropped: How many of their answers came to nothing, in all tasks.
    """

    answer: float
    worth: float
    first: float
    last: float
    rounds: float
    agents: float
    edges: float
    calls: float
    asked: Mapping[str, int]
    dropped: int


def adapt(trial: Trial, landscape: Landscape, seed: int, calls: int) -> Outcome:
    """Work on the tasks of a stream; the same for the same arguments.

    Args:
        trial: How.
        landscape: Where.
        seed: Which tasks, and which chance.
        calls: How many model calls a task takes, operators' included.
    """
    with in_memory() as folder:
        return asyncio.run(_outcome(trial, landscape, seed, calls, folder))


async def _outcome(
    trial: Trial, landscape: Landscape, seed: int, calls: int, folder: Path
) -> Outcome:
    skill = landscape.skill if trial.skill is None else trial.skill
    gateway = Simulated(landscape, skill, calls)
    pool = Pool.init(folder / "pool", [FRAME], catalogue=catalogue())
    watch = _Watch(gateway)
    with Journal.open(open_folder(pool.folder, "trial")) as journal:
        evolution = Evolution(
            stage=_stage(_recipe(trial, seed), gateway, journal, pool),
            strategy=watch.watched(strategy_of(STRATEGY)),
            tasks=tasks(landscape, seed, TASKS),
            folder=pool.folder / "evolutions" / "trial",
        )
        await evolution.to_the_end()
    return watch.outcome()


def _recipe(trial: Trial, seed: int) -> Recipe:
    settings = strategy_of(STRATEGY).settings(**{**SETTINGS, **trial.changes})
    return Recipe(strategy=STRATEGY, settings=settings, meta_model=META, workers=1, seed=seed)


def _stage(recipe: Recipe, gateway: Simulated, journal: Journal, pool: Pool) -> EvolutionContext:
    services = services_of(gateway, recipe.seed)
    return stage_of(recipe, services, journal, pool, catalogue=catalogue(), ceiling=CEILING)


class _Watch:
    """Measures what episodes come to, of which the strategy learns nothing."""

    def __init__(self, gateway: Simulated) -> None:
        self._gateway = gateway
        self._measured: list[dict[str, float]] = []
        self._dropped = 0

    def watched(self, strategy: Strategy) -> Strategy:
        """Give a strategy that does the same and is watched."""

        async def watched(episode: Episode) -> None:
            await strategy.episode(episode)
            self._take(episode)

        return replace(strategy, episode=watched)

    def _take(self, episode: Episode) -> None:
        task, answer = episode.task, episode.answer and episode.answer.run.answer
        if answer is None:
            raise RuntimeError(f"task {task.id} has no answer, and agents here always give one.")
        named = title_in(task.query) or ""
        rounds = self._gateway.rounds[named]
        self._dropped += len(episode.dropped)
        self._measured.append(
            {
                "answer": graded(answer, task.answer, {}).value,
                "worth": self._gateway.worth(answer),
                "first": rounds[0].worth,
                "last": rounds[-1].worth,
                "rounds": len(rounds),
                "agents": rounds[-1].agents,
                "edges": rounds[-1].edges,
                "calls": self._gateway.calls[named],
            }
        )

    def outcome(self) -> Outcome:
        """Give the means."""
        means = {name: fmean(one[name] for one in self._measured) for name in self._measured[0]}
        asked = dict(sorted(self._gateway.asked.items()))
        return Outcome(**means, asked=asked, dropped=self._dropped)
