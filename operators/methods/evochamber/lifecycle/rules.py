"""The rules of the lifecycle: which agents to fork, merge, prune, create or specialize, and why.

A pass takes place every `tau` tasks (EvoChamber §3.5, App. E.1). Its events depend only on the
population's numbers.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .....pool.population.population import Population, RankingScore, heir, overlap
from .....schema.values.problems import quoted
from .....schema.values.terminal import counted
from ..settings import PopulationSettings

Fired = Literal["fork", "merge", "prune", "genesis", "specialize"]
"""The operators of lifecycle events."""
ORDER: tuple[Fired, ...] = ("fork", "merge", "prune", "genesis", "specialize")
"""Their order in a pass; each sees the decisions of those before it."""
ROUNDING = 1e-9
"""The tolerance for rounding errors."""
FEWEST_SHARED = 2
"""The fewest niches in common that make the overlap of two agents meaningful."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleEvent:
    """A lifecycle event that is due.

    Attributes:
        agents: The agents: the parent of a fork, the pair of a merge, or the agent to prune or
            specialize. Empty for a genesis. Of a pair, the one with the higher rolling reward is
            first.
        why: The reason in words, with the numbers.
        niche: The niche that a persona is written for; None: no particular one.
    """

    operator: Fired
    agents: tuple[str, ...]
    why: str
    niche: str | None = None
    numbers: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def about(self) -> dict[str, Any]:
        """Its fields in the ledger."""
        niche = {"niche": self.niche} if self.niche else {}
        return {"operator": self.operator, "agents": [*self.agents], **niche, "why": self.why}


def due(
    population: Population, settings: PopulationSettings, chance: random.Random
) -> tuple[LifecycleEvent, ...]:
    """Return the events that are due in a lifecycle pass (EvoChamber App. E.1).

    The rules run in this order. An agent of one event is excluded from later events of the pass.

    * *fork*: the top share `fork_top` of the agents with at least `fork_tasks` tasks, by rolling
      reward, rounded up. Each must be above the population's mean, and must have worked on as many
      tasks again since its last fork. Forks leave `team_size` places below `largest` free for
      geneses: else a full population could not cover a new niche.
    * *merge*: the pair with the highest overlap above `merge_similarity`, of agents with at least
      `merge_tasks` tasks each. At most one pair in a pass. The two must share two niches: on a
      single niche, any two agents overlap by 1.
    * *prune*: every agent that has lagged for `prune_tasks` tasks in a row, the longest lag first.
    * *genesis*: one agent if there are fewer than `genesis_below` agents (or `pool_size`, if that
      is less). It is made for the niche, among the last `tau` tasks, in which the population is
      weakest. Another one if no agent is above `genesis_affinity` in a niche of these tasks, for
      the most frequent of these niches. An agent that was made for a niche and has not met it
      counts there with `initial`.
    * *specialize*: every agent with at least `specialize_above` in its dominant niche, unless its
      persona was already written for that niche.

    Tasks without a niche give no agent a niche to be good at. After merges and prunes at least
    `team_size` agents remain, even if no new agent is written. The population never grows beyond
    `largest`.
    """
    look = _LifecycleView(population=population, settings=settings, chance=chance)
    for rule in (_forks, _merges, _prunes, _geneses, _specialized):
        for event in rule(look):  # in turn, because a rule sees its own earlier events
            look.events.append(event)
    return tuple(look.events)


@dataclass(kw_only=True, slots=True)
class _LifecycleView:
    """The state of a lifecycle pass: the events found so far."""

    population: Population
    settings: PopulationSettings
    chance: random.Random
    events: list[LifecycleEvent] = field(default_factory=list[LifecycleEvent])

    @property
    def idle(self) -> Mapping[str, RankingScore]:
        """The agents without an event."""
        busy = {name for event in self.events for name in event.agents}
        return {name: agent for name, agent in self.population.agents.items() if name not in busy}

    @property
    def staying(self) -> int:
        """The fewest agents after the pass: new agents may turn out invalid."""
        return len(self.population.agents) - self._count("merge") - self._count("prune")

    @property
    def size(self) -> int:
        """The most agents after the pass."""
        return self.staying + self._count("fork") + self._count("genesis")

    @property
    def has_room(self) -> bool:
        """Whether another agent may be added."""
        return self.size < self.settings.largest

    @property
    def may_fork(self) -> bool:
        """Whether an agent may be added without using the places reserved for new niches."""
        return self.size < self.settings.largest - self.settings.team_size

    @property
    def may_lose(self) -> bool:
        """Whether an agent may be removed."""
        return self.staying > self.settings.team_size

    def _count(self, operator: Fired) -> int:
        return sum(event.operator == operator for event in self.events)

    def best(self, niche: str) -> float | None:
        """Return the highest competence in a niche after the pass; None if no agent covers it."""
        values = [q for standing in self._there() if (q := _affinity(standing, niche)) is not None]
        return max(values, default=None)

    def _there(self) -> Iterator[RankingScore]:
        """Yield the agents that remain, and the heir of a merge."""
        agents, removed = self.population.agents, set[str]()
        for event in self.events:
            if event.operator in {"merge", "prune"}:
                removed.update(event.agents)
            if event.operator == "merge":
                yield heir([agents[name] for name in event.agents], self.population.rates)
        yield from (agent for name, agent in agents.items() if name not in removed)


def _affinity(standing: RankingScore, niche: str) -> float | None:
    """Return an agent's competence in a niche; None if it neither met it nor was made for it."""
    return standing.q(niche) if niche in standing.competence or niche in standing.aims else None


def _forks(view: _LifecycleView) -> Iterator[LifecycleEvent]:
    settings, mean = view.settings, view.population.mean
    ranked = _by_reward(view)
    top = math.ceil(settings.fork_top * len(ranked) - ROUNDING)
    for name, score, rolling in ranked[:top]:
        stands_out = mean is not None and rolling > mean + ROUNDING
        is_ready = score.total - score.forked >= max(1, settings.fork_tasks)
        if stands_out and is_ready and score.dominant and view.may_fork:
            yield _fork(name, score, rolling, top=top, of=len(ranked), view=view)


def _by_reward(view: _LifecycleView) -> list[tuple[str, RankingScore, float]]:
    """Return the agents with enough tasks, by rolling reward; ties are broken at random."""
    ranked = [
        (name, standing, standing.rolling)
        for name, standing in view.idle.items()
        if standing.rolling is not None and standing.total >= view.settings.fork_tasks
    ]
    view.chance.shuffle(ranked)
    return sorted(ranked, key=lambda row: -row[2])


def _fork(
    name: str, standing: RankingScore, rolling: float, *, top: int, of: int, view: _LifecycleView
) -> LifecycleEvent:
    niche = standing.dominant or ""
    last, share = len(standing.rewards), view.settings.fork_top
    return LifecycleEvent(
        operator="fork",
        agents=(name,),
        why=f"rolling reward {rolling:.3g} over {counted(last, 'task')}, among the best {top} of"
        f" {of} (a share of {share:.3g}, rounded up); {quoted(niche)} is its dominant niche:"
        f" competence {standing.q(niche):.3g} after {counted(standing.n(niche), 'task')}",
        niche=niche,
        numbers={
            "rolling": rolling,
            "over": last,
            "best": top,
            "of": of,
            "mean": view.population.mean or 0.0,
            "competence": standing.q(niche),
            "tasks": standing.total,
        },
    )


def _merges(view: _LifecycleView) -> Iterator[LifecycleEvent]:
    settings = view.settings
    ready = {
        name: standing
        for name, standing in view.idle.items()
        if standing.total >= settings.merge_tasks
    }
    closest = _closest(ready) if view.may_lose else ()
    if not closest or (omega := _overlap(ready, closest[0])) <= settings.merge_similarity:
        return
    pair = view.chance.choice(closest)
    names = sorted(pair, key=lambda name: (-(ready[name].rolling or 0), -ready[name].total))
    score, second = (ready[name] for name in names)
    shared = len(score.competence.keys() & second.competence.keys())
    yield LifecycleEvent(
        operator="merge",
        agents=(*names,),
        why=f"overlap {omega:.3f} above {settings.merge_similarity:.3g}, the closest pair of"
        f" {counted(len(ready), 'agent')} with {counted(settings.merge_tasks, 'task')} or more;"
        f" {shared} niches in common, after {score.total} and {counted(second.total, 'task')}",
        numbers={"overlap": omega, "shared": shared, "tasks": score.total, "tasks_2": second.total},
    )


def _closest(agents: Mapping[str, RankingScore]) -> Sequence[tuple[str, str]]:
    """Return the pairs with the highest overlap among those that share enough niches.

    A thousand agents have half a million pairs, so a matrix product excludes most of them first.
    """
    names, niches = [*agents], sorted({z for agent in agents.values() for z in agent.competence})
    column = {niche: place for place, niche in enumerate(niches)}
    skills, met = (np.zeros((len(names), len(niches))) for _ in range(2))
    for row, agent in enumerate(agents.values()):
        for niche, q in agent.competence.items():
            skills[row, column[niche]] = q / (agent.norm or 1.0)
            met[row, column[niche]] = 1
    alike = np.triu(np.where(met @ met.T >= FEWEST_SHARED, skills @ skills.T, -1.0), 1)
    if not (alike > 0).any():
        return ()
    rows, columns = np.nonzero(alike >= alike.max() - ROUNDING)
    pairs = [(names[a], names[b]) for a, b in zip(rows.tolist(), columns.tolist(), strict=True)]
    most = max(_overlap(agents, pair) for pair in pairs)
    return [pair for pair in pairs if _overlap(agents, pair) == most]


def _overlap(agents: Mapping[str, RankingScore], pair: tuple[str, str]) -> float:
    return overlap(agents[pair[0]], agents[pair[1]])


def _prunes(view: _LifecycleView) -> Iterator[LifecycleEvent]:
    settings, mean = view.settings, view.population.mean or 0.0
    what = "with a rolling reward " if settings.prune_by == "recent_mean" else ""
    lagging = [
        (name, standing)
        for name, standing in view.idle.items()
        if standing.lagging >= settings.prune_tasks
    ]
    for name, score in sorted(lagging, key=lambda pair: (-pair[1].lagging, pair[1].rolling or 0)):
        if view.may_lose:
            rolling = score.rolling or 0.0
            yield LifecycleEvent(
                operator="prune",
                agents=(name,),
                why=f"{counted(score.lagging, 'task')} in a row {what}below"
                f" {settings.prune_below:.3g} x the population's mean, which is {mean:.3g} now;"
                f" rolling reward {rolling:.3g} over {counted(len(score.rewards), 'task')}",
                numbers={"lagging": score.lagging, "rolling": rolling, "mean": mean},
            )


def _geneses(view: _LifecycleView) -> Iterator[LifecycleEvent]:
    settings, met = view.settings, _niche_counts(view)
    fewest = min(settings.genesis_below, settings.pool_size)
    if view.size < fewest and view.has_room:
        niche = _weakest(view, met)
        yield _genesis(
            view,
            f"{counted(view.size, 'agent')}, fewer than {fewest}",
            niche,
            met,
            agents=view.size,
            fewest=fewest,
        )
    seeded = {event.niche for event in view.events if event.operator == "genesis"}
    uncovered = {
        niche: tasks
        for niche, tasks in met.items()
        if niche not in seeded and (view.best(niche) or 0.0) <= settings.genesis_affinity > 0
    }
    if uncovered and view.has_room:
        niche = max(uncovered, key=lambda text: uncovered[text])
        why = f"nobody is above {settings.genesis_affinity:.3g} there"
        yield _genesis(view, why, niche, met)


def _niche_counts(view: _LifecycleView) -> Mapping[str, int]:
    """Return the counts of the last tasks by niche, in random order, so that ties are random."""
    recent = Counter(niche for niche in view.population.recent(view.settings.tau) if niche)
    niches = [*recent]
    view.chance.shuffle(niches)
    return {niche: recent[niche] for niche in niches}


def _weakest(view: _LifecycleView, met: Mapping[str, int]) -> str | None:
    """Return the niche in which the population is weakest; on a tie, the most frequent."""
    return min(met, key=lambda text: (view.best(text) or 0.0, -met[text]), default=None)


def _genesis(
    view: _LifecycleView, why: str, niche: str | None, met: Mapping[str, int], **numbers: float
) -> LifecycleEvent:
    if niche is None:
        return LifecycleEvent(operator="genesis", agents=(), why=why, numbers=numbers)
    best, recent = view.best(niche), len(view.population.recent(view.settings.tau))
    most = "and nobody has met it" if best is None else f"best competence {best:.3g}"
    return LifecycleEvent(
        operator="genesis",
        agents=(),
        why=f"{quoted(niche)}, {met[niche]} of the last {counted(recent, 'task')}, {most}: {why}",
        niche=niche,
        numbers={**numbers, "best": best or 0.0, "met": met[niche], "of": recent},
    )


def _specialized(view: _LifecycleView) -> Iterator[LifecycleEvent]:
    above = view.settings.specialize_above
    for name, standing in view.idle.items():
        niche = standing.dominant
        if niche and niche not in standing.aims and standing.q(niche) >= above:
            yield LifecycleEvent(
                operator="specialize",
                agents=(name,),
                why=f"competence {standing.q(niche):.3g} in {quoted(niche)}, its dominant niche,"
                f" after {counted(standing.n(niche), 'task')} there; {above:.3g} is enough",
                niche=niche,
                numbers={"competence": standing.q(niche), "tasks": standing.n(niche)},
            )
