"""EvoMAS in simulated worlds: do operators find better teams, or does trying often look like it?

    python -m studies.landscape --results results

**The rules and the expectations of this page were committed before its results.**

Tasks are of four niches, with ten letters each; the score is the share that is right. Teams of at
most four agents of three models are built. `studies/world/builders.py` has the rules: which model
is best in a niche is drawn (0.2 to 0.7), a hint for the niche helps, others and traps harm, agents
let the most frequent letters win, count, or check, and the topology decides who hears whom.

The meta-model knows what is best with its `skill`, from 0.6 to 0.95: it tries every single change
that a question offers, and a hint for all agents at once, on 16 tasks of the niche that nobody
works on. Else it draws among the same changes. A crossover takes for each position what is best, or
draws. A judge is off by up to 0 to 0.3.

Rows differ from *EvoMAS*, the default with prompts, models and topology as components, in one
switch. **Equal calls**: a trial stops after 240 model calls, of agents, operators and judges; what
costs more calls gets fewer tasks. *Held out* is what the team is worth, on 60 fresh tasks of each
niche, that the pool ranks first there; *before* the same before any task; *promised* what the pool
expects of it; *best* what the best team of the pool is worth. The unit is the seed; intervals are
of 95 % by Student's t. In a *level* world every team is equally good, and 4 tasks are worked
on. "Right or wrong" rows have one letter to a task.

To be expected: *EvoMAS* is above *fixed*, *best of n* and *all by chance*; without mutation it
gains nothing by prompts and models, so *no mutation* loses most; *skill 0* is near *by chance*; a
*judge* costs little; in right or wrong tasks less is found. In level worlds nothing.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from coterie.pool.expectation.expectation import ranked
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.loading import load_team

from .world.builders import BUILDERS, KNOWN, MODELS, PARTS, Shape, built, worth
from .world.gateway import catalogue
from .world.tables import command, costs, measured
from .world.trials import LEVEL, Outcome, Row, Study
from .world.worlds import NICHES, drawn, leveled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .world.tables import Came
    from .world.trials import Trial
    from .world.worlds import World

TEAMS = Path(__file__).parent / "world" / "teams"
SEEDS = tuple(TEAMS / f"{name}.yaml" for name in ("peer_review", "majority_vote", "debate"))
CALLS, MOST_TASKS = 240, 60
CEILING = CapabilityPolicy(
    models=frozenset(MODELS),
    agent_types=frozenset({"LLM"}),
    backends=frozenset({"llm"}),
    agents=4,
)
CHANCE: Mapping[str, Any] = {"operators": "chance", "choice": "chance"}
COMPONENTS = ("prompts", "model_id", "topology")
SEARCH: Mapping[str, Any] = {"components": COMPONENTS, "early_stop": False}
SINGLE: Mapping[str, Any] = {"parts": 1}
ROWS = (
    Row(name="EvoMAS"),
    Row(name="operators: chance", settings={"operators": "chance"}),
    Row(name="all by chance", settings={**CHANCE, "select": "chance"}),
    Row(name="best of n", strategy="best_of_n"),
    Row(name="fixed", strategy="fixed"),
    Row(name="no crossover", settings={"moves": ("mutate",)}),
    Row(name="no mutation", settings={"moves": ("crossover",)}),
    Row(name="no instantiation", settings={"instantiate": False}),
    Row(name="no memory", settings={"memory": 0}),
    Row(name="no trace", settings={"trace": False}),
    Row(name="early_stop", settings={"early_stop": True}),
    Row(name="admission: best", settings={"admission": "best"}),
    Row(name="judge", recipe={"score": "judge"}),
    Row(name="skill 0", changes={"skill": 0.0}),
    Row(name="right or wrong", changes=SINGLE),
)


def world_of(kind: str, seed: int, _name: str) -> World:
    """Make a world; in a level one every team is equally good."""
    world = drawn("landscape", seed, parts=PARTS)
    return leveled(world, "") if kind == LEVEL else world


def figures(trial: Trial) -> Mapping[str, Any]:
    """Measure the teams that a pool ranks first, before and after."""
    world, pool = trial.world, trial.context.pool
    first, *_ = (Shape.of(load_team(str(seed), catalogue(*MODELS))) for seed in SEEDS)
    shapes = [Shape.of(team.team) for team in pool.teams.values()]
    held, promised, best = list[float](), list[float](), list[float]()
    for niche in NICHES:
        member, known = next(iter(ranked(pool.teams.values(), niche).items()))
        held.append(worth(world, Shape.of(member.team), niche))
        promised.append(known.score)
        top = max(shapes, key=lambda shape, niche=niche: worth(world, shape, niche, KNOWN))
        best.append(worth(world, top, niche))
    return {
        "before": fmean(worth(world, first, niche) for niche in NICHES),
        "held out": fmean(held),
        "promised - held out": fmean(promised) - fmean(held),
        "best": fmean(best),
        "teams": len(shapes),
        "tasks": len(trial.lines),
        **trial.gateway.asked,
    }


STUDY = Study(
    name="landscape",
    strategy="evomas",
    settings=SEARCH,
    rows=ROWS,
    worlds=world_of,
    level=15,
    calls=CALLS,
    teams=lambda _world, _folder: SEEDS,
    operators=BUILDERS,
    agents=built,
    figures=figures,
    ceiling=CEILING,
    models=MODELS,
)


def _of(name: str) -> Callable[[Outcome], float]:
    return lambda outcome: outcome.figures.get(name, 0)


MEASURES = {name: _of(name) for name in ("held out", "best", "promised - held out")}


def tables(_study: Study, result: Came) -> Sequence[Iterator[str]]:
    """Print what there was before, tasks and teams, questions of operators, and costs."""
    begun = ("before", "tasks", "teams")
    asked = ("select", "instantiate", "decide", "mutate", "crossover", "consolidate", "judge")
    return (
        measured(result, {name: _of(name) for name in begun}, "a trial"),
        measured(result, {name: _of(name) for name in asked}, "questions"),
        costs(result, "fixed"),
    )


main = command(STUDY, tables, MEASURES, seeds=4, tasks=MOST_TASKS)

if __name__ == "__main__":
    main()
