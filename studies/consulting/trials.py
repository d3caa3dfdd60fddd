"""Has the strategy learn from cases of a landscape, in this process, and measures it."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.folder import open_folder
from coterie.operators.evolution.strategy import strategy_of
from coterie.pool.memory.recall import recalling
from coterie.pool.teams.pool import Pool
from coterie.runtime.messages.recall import nothing
from coterie.runtime.plan.plan import compile
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.usage import Usage
from coterie.schema.loading.recipe import Recipe

from ..simulated import in_memory, memory_of, services_of, stage_of
from .gateway import Simulated, tasks
from .landscapes import AGENTS
from .names import CEILING, META, TEAM, catalogue, ward
from .rows import FAIR
from .sampling import sampled
from .texts import niche_in, way_in
from .world import soundness, without_taste, worth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from coterie.operators.evolution.context import EvolutionContext
    from coterie.pool.ledger.learnt import Learnt
    from coterie.runtime.messages.recall import Recaller

    from .landscapes import Landscape
    from .rows import Trial
    from .sampling import Sampled

__all__ = ["CASES", "HELD_OUT", "Credit", "Outcome", "Sizes", "consult"]

STRATEGY = "mattrl"
CASES = 6
HELD_OUT = 12
FIRST_HELD_OUT = 1_000
"""The number of the first case of which nothing is learnt."""
EVENT = "utterances"
"""The event of an episode's line that tells what was credited."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """How much is compared in a landscape.

    Attributes:
        cases: How many cases are learnt from.
        held_out: How many others there are.
    """

    cases: int = CASES
    held_out: int = HELD_OUT


@dataclass(frozen=True, kw_only=True, slots=True)
class Credit:
    """What a scheme says of the specialists on one case, each by its id.

    Attributes:
        worth: Before it is made a ratio.
        reward: Of its utterances, on the mean (Eq. 12).
        top: The largest ratio in the first round.
    """

    worth: Mapping[str, float]
    reward: Mapping[str, float]
    top: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a trial.

    Attributes:
        credits: What its scheme said, case by case.
        kept: How many entries come from each kind of specialist.
        sound: How many of them have a sound way of working.
        unsound: How many an unsound one.
        paid: What was paid for to learn.
        spared: What a journal answered instead, of runs with somebody silenced.
        answer: The score on the held-out cases.
        promised: What could be expected there, by the rule, with the entries that were read.
        sampled: What a few orders of the same runs would have said and cost; of no other scheme.
    """

    credits: tuple[Credit, ...] = ()
    kept: Mapping[str, int] = field(default_factory=dict[str, int])
    sound: int = 0
    unsound: int = 0
    paid: Usage = field(default_factory=Usage)
    spared: Usage = field(default_factory=Usage)
    answer: float
    promised: float
    sampled: Outcome | None = None

    @property
    def entries(self) -> int:
        """How many utterances were kept."""
        return sum(self.kept.values())


def consult(trial: Trial, landscape: Landscape, seed: int, sizes: Sizes) -> Outcome:
    """Learn from some cases and be tested on others; the same for the same arguments.

    Args:
        trial: How.
        landscape: Where.
        seed: Which cases.
        sizes: How many.
    """
    world = without_taste(landscape) if trial.judge == FAIR else landscape
    with in_memory() as folder:
        return asyncio.run(_outcome(trial, world, seed, sizes, folder))


async def _outcome(
    trial: Trial, landscape: Landscape, seed: int, sizes: Sizes, folder: Path
) -> Outcome:
    if not trial.learns:
        answer, promised = await _held_out(landscape, seed, sizes, nothing)
        return Outcome(answer=answer, promised=promised)
    gateway = Simulated(landscape)
    pool = Pool.init(folder / "pool", [TEAM], catalogue=catalogue())
    folder_of_journal = open_folder(pool.folder, "trial")
    with Journal.open(folder_of_journal) as journal:
        evolution = Evolution(
            stage=_stage(trial, seed, gateway, journal, pool),
            strategy=strategy_of(STRATEGY),
            tasks=tasks(seed, range(sizes.cases)),
            folder=pool.folder / "evolutions" / "trial",
        )
        await evolution.to_the_end()
        lines = evolution.lines()
    memory = memory_of(pool)
    answer, promised = await _held_out(landscape, seed, sizes, recalling(memory.search))
    entries = pool.learnt.between(0)
    marks = Counter(_soundness(landscape, one) for one in entries)
    outcome = Outcome(
        credits=tuple(_credit(line) for line in lines),
        kept=_kept(landscape, entries),
        sound=marks[1],
        unsound=marks[-1],
        paid=sum(gateway.paid.values(), Usage()),
        spared=sum((_spared(line) for line in lines), Usage()),
        answer=answer,
        promised=promised,
    )
    if trial.settings.get("credit") != "shapley":
        return outcome
    cases = [sampled(folder_of_journal, number, seed) for number in range(sizes.cases)]
    return replace(outcome, sampled=_of_orders(outcome, cases))


async def _held_out(
    landscape: Landscape, seed: int, sizes: Sizes, recaller: Recaller
) -> tuple[float, float]:
    """Have the team answer cases of which nothing was learnt: what came, and what was to come."""
    gateway = Simulated(landscape)
    services = replace(services_of(gateway, seed), recaller=recaller)
    plan = compile(ward(), catalogue())
    scores: list[float] = []
    others = range(FIRST_HELD_OUT, FIRST_HELD_OUT + sizes.held_out)
    for task in tasks(seed, others):
        run = await services.execute(plan, task)
        if run.score is None:
            raise RuntimeError(f"{task.id} has no score, and the team here always answers.")
        scores.append(run.score.value)
    promised = [worth(landscape, AGENTS, one) for one in gateway.added.values()]
    return fmean(scores), fmean(promised)


def _stage(
    trial: Trial, seed: int, gateway: Simulated, journal: Journal, pool: Pool
) -> EvolutionContext:
    settings = strategy_of(STRATEGY).settings(**trial.settings)
    recipe = Recipe(strategy=STRATEGY, settings=settings, meta_model=META, seed=seed)
    services = services_of(gateway, seed)
    return stage_of(recipe, services, journal, pool, catalogue=catalogue(), ceiling=CEILING)


def _kept(landscape: Landscape, entries: Sequence[Learnt]) -> Mapping[str, int]:
    """Count entries by the kind of specialist that they come from."""
    return Counter(landscape.seat(str(one.owner)).kind for one in entries)


def _soundness(landscape: Landscape, entry: Learnt) -> int:
    niche, way = niche_in(entry.task), way_in(entry.text)
    return soundness(landscape, niche, way) if niche and way else 0


def _credit(line: Mapping[str, Any]) -> Credit:
    """Read what a scheme said of a case from the line of its episode."""
    told = _told(line)
    said: Sequence[Mapping[str, Any]] = told["utterances"]
    by_turn = told.get("counterfactuals", {}).get("per") == "turn"
    measure = "score" if told["credit"] == "naive" else "worth"
    return Credit(
        worth=_by_agent(said, measure, sum if by_turn else fmean),
        reward=_by_agent(said, "reward", fmean),
        top=max(one["ratio"] for one in said if one["round"] == 1),
    )


def _told(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Find what the line of an episode tells of its utterances."""
    return next(one for one in line["story"] if one["event"] == EVENT)


def _by_agent(
    said: Sequence[Mapping[str, Any]], field: str, of: Callable[[list[float]], float]
) -> dict[str, float]:
    """Give each specialist's mean, or sum, over its utterances."""
    return {agent: of([one[field] for one in said if one["agent"] == agent]) for agent in AGENTS}


def _spared(line: Mapping[str, Any]) -> Usage:
    """Read what a journal answered of the runs with somebody silenced."""
    cost = _told(line).get("counterfactuals")
    if cost is None:
        return Usage()
    return Usage(calls=cost["calls"]["answered"], prompt_tokens=cost["tokens"]["saved"])


def _of_orders(exact: Outcome, cases: Sequence[Sampled]) -> Outcome:
    """Give what a few orders say, at what their groups cost in place of all."""
    extra = sum((one.whole.paid - one.cost.paid for one in cases), Usage())
    return replace(
        exact,
        credits=tuple(Credit(worth=one.worth, reward={}, top=one.top) for one in cases),
        paid=exact.paid - extra,
        spared=sum((one.cost.saved for one in cases), Usage()),
    )
