"""A strategy's fold: what it wants to know of a pool, line by line, as each episode sees it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.episode import Episode
from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.strategy import Strategy
from coterie.operators.methods.search.settings import SearchSettings
from coterie.pool.ledger.changes import Added, Evaluated, Learnt
from coterie.pool.population.population import Population
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.runtime import Run, Score
from coterie.schema import Agent, Lineage, Task
from coterie.schema.loading.recipe import Recipe

from ..building import Killed, dying
from .test_episode import done

TASKS = [Task(id=f"t{n}", query=f"Question {n}?", answer="7", niche="sums") for n in range(6)]


def two_agents(_context: EvolutionContext) -> Iterable[Added]:
    for name in ("ada", "ben"):
        agent = Agent(id=name, prompt="Solve it.")
        yield Added(member=agent, lineage=Lineage(operator="genesis"), name=name)


async def weighed(episode: Episode) -> None:
    """Have the agent work that is worse at it so far; it succeeds every other time."""
    population: Population = episode.view.folded
    worst = min(population.agents, key=lambda name: (population.agents[name].q("sums"), name))
    score = Score(value=float(population.trials % 2), reason="so")
    trial = Trial(
        task=episode.task.id,
        niche="sums",
        score=score.value,
        agents={"anchor": TrialPart(member=worst)},
    )
    episode.keep(Evaluated(member="pair", trial=trial))
    episode.keep(Learnt(kind="lesson", task=episode.task.text, text="So.", owner=worst))
    episode.figures["competence"] = population.agents[worst].q("sums")
    episode.figures["trials"] = population.trials
    episode.answered(Run(status="done", answer="7"), score)


WEIGHED = Strategy(
    name="weighed", episode=weighed, begin=two_agents, fold=lambda _settings: Population()
)


def evolved(folder: Path, workers: int) -> list[dict[str, float]]:
    """Return what each episode told."""

    async def work(context: EvolutionContext) -> list[Any]:
        result = Evolution(
            context=context,
            strategy=WEIGHED,
            tasks=TASKS,
            folder=context.pool.folder.parent / "evolution",
        )
        await result.to_the_end()
        return [line["told"] for line in result.lines()]

    recipe = Recipe(strategy="fixed", settings=SearchSettings(), workers=workers)
    return done(folder, "http://unused", work, recipe)


@pytest.mark.parametrize("workers", [1, 3])
def test_an_episode_has_the_fold_of_all_that_it_sees(tmp_path: Path, workers: int) -> None:
    records = evolved(tmp_path, workers)
    assert [fields["trials"] for fields in records] == [
        max(0, n - workers + 1) for n in range(len(TASKS))
    ]
    if workers == 1:  # ada fails and succeeds, ben fails and succeeds, ada fails and succeeds
        seen = [fields["competence"] for fields in records]
        assert seen == pytest.approx([0.5, 0.35, 0.5, 0.35, 0.545, 0.3815])


@pytest.mark.parametrize("workers", [1, 3])
def test_killed_and_resumed_it_is_the_same(tmp_path: Path, workers: int) -> None:
    clean, killed = tmp_path / "clean", tmp_path / "killed"
    records = evolved(clean, workers)
    for writes in (3, 7, 4, 5, 2):
        with pytest.raises(Killed), dying(writes):
            evolved(killed, workers)
    assert evolved(killed, workers) == records
    ledgers = [folder / "pool" / "ledger.jsonl" for folder in (clean, killed)]
    assert ledgers[0].read_text() == ledgers[1].read_text()


def test_a_strategy_without_one_has_nothing_folded(tmp_path: Path) -> None:
    async def work(context: EvolutionContext) -> Any:
        return context.view().folded

    assert done(tmp_path, "http://unused", work) is None
