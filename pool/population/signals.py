"""A population's development: who led, how far it has specialised, who taught whom, and when.

The signals of EvoChamber's Figure 3 and Table 6, computed only from the ledger's lines.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...schema.values.codec import from_value
from ..ledger.learnt import Learnt
from ..ledger.ledger import LedgerEntry
from ..values.intervals import Interval, wilson
from ..values.statistics import Trial
from .population import ANCHOR, LIFECYCLE, Population, Rates

DREAM = "dream"
"""The name of the event for a session in which a team draws insights from failure."""
Led = tuple[str, str, frozenset[str]]
"""The niche of a task, its leader, and the living agents."""
WINDOW = 32
"""The number of tasks over which specialisation is measured (EvoChamber, Figure 3)."""
DRAWS = 20
MOST_WINDOWS = 500
"""The maximum number of windows of a drawn stream: more would not improve a mean."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkedTask:
    """A task that a team of the population worked on.

    Attributes:
        niche: Its niche; "" without one.
        roster: The agents living then, and its anchor.
        score: The score of the team's answer, in [0, 1].
    """

    task: str
    niche: str
    anchor: str
    roster: frozenset[str]
    score: float
    tokens: int
    structure: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Happened:
    """An event, with the number of tasks before it.

    Attributes:
        tasks: The number of tasks before it.
    """

    tasks: int
    about: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """The development of a population.

    Attributes:
        flow: The number of lessons and insights, by giver and receiving agent.
        shared: The number of lessons that each agent gave; one for each receiver.
        received: The number of lessons that each agent received.
        own: The number of lessons that each agent learnt itself.
        lifecycle: The changes of the roster, in order.
        dreams: The sessions of dreaming, in order.
    """

    population: Population
    worked: Sequence[WorkedTask]
    flow: Mapping[tuple[str, str], int]
    shared: Mapping[str, int]
    received: Mapping[str, int]
    own: Mapping[str, int]
    lifecycle: Sequence[Happened]
    dreams: Sequence[Happened]

    @property
    def anchors(self) -> Mapping[str, Mapping[str, int]]:
        """How often each agent led in each niche, in decreasing order."""
        return {
            niche: _counted(worked.anchor for worked in self.of(niche)) for niche in self.niches
        }

    @property
    def structures(self) -> Mapping[str, Mapping[str, int]]:
        """How often each structure was used in each niche, in decreasing order."""
        return {
            niche: _counted(
                worked.structure for worked in self.of(niche) if worked.structure is not None
            )
            for niche in self.niches
        }

    @property
    def niches(self) -> tuple[str, ...]:
        """The niches, by first occurrence."""
        return self.population.niches

    def of(self, niche: str | None = None) -> Sequence[WorkedTask]:
        """Return the tasks of a niche, or all."""
        return [worked for worked in self.worked if niche in (None, worked.niche)]

    def accuracy(self, niche: str | None = None) -> tuple[float, Interval]:
        """Return the mean score on the tasks of a niche, or on all, with Wilson's 95 % interval."""
        scores = [worked.score for worked in self.of(niche)]
        total = math.fsum(scores)
        return total / len(scores) if scores else 0.0, wilson(total, len(scores))


def signals(entries: Iterable[LedgerEntry], rates: Rates) -> Signals:
    """Compute the signals of all lines of a ledger.

    Args:
        rates: The rates at which competence and synergy adapt.
    """
    population, roster = Population(rates=rates), frozenset[str]()
    worked, flow, own = list[WorkedTask](), Counter[tuple[str, str]](), Counter[str]()
    fields: dict[str, list[Happened]] = {LIFECYCLE: [], DREAM: []}
    for entry in entries:
        before, population, value = population, population.after(entry), entry.value
        if before.agents.keys() != population.agents.keys():
            roster = frozenset(population.agents)
        if population.trials > before.trials:
            worked.append(_worked(from_value(Trial, value), roster))
        if value["kind"] == "learnt":
            learnt = Learnt.of(value)
            flow.update(_flows(learnt))
            own.update(owner for owner in learnt.owners if learnt.giver in {None, owner})
        if value["kind"] == "told" and value["what"] in fields:
            about = value.get("about", {})
            fields[value["what"]].append(Happened(tasks=population.trials, about=about))
    return Signals(
        population=population,
        worked=tuple(worked),
        flow=dict(sorted(flow.items())),
        shared=_totals(flow, 0),
        received=_totals(flow, 1),
        own=own,
        lifecycle=tuple(fields[LIFECYCLE]),
        dreams=tuple(fields[DREAM]),
    )


def specialization(
    worked: Sequence[WorkedTask], window: int = WINDOW, *, by_niche: bool = True
) -> list[float]:
    """Return, task by task, how far leading depends on the niche (EvoChamber, Figure 3).

    For the last `window` tasks up to each one, it is `1 - H(A | Z) / log N`. `H(A | Z)` is the
    entropy of the leader, given the niche: that of the anchors among the window's tasks of a niche,
    weighted by that niche's share of the window. `N` counts the agents living at its last task, and
    leaders in the window that no longer live. The index is 1 if each niche has one leader, and 0 if
    all agents led equally often in each.

    Args:
        window: The number of tasks per index. The first index comes with the `window`th task; a
            shorter stream is one window.
        by_niche: If false, all tasks count as one niche: the index shows how few agents lead.

    Returns:
        The index of each window, in [0, 1], without windows with only one living agent.
    """
    return _indices([_led(task, task.anchor, by_niche) for task in worked], window)


def by_chance(
    worked: Sequence[WorkedTask], window: int = WINDOW, *, by_niche: bool = True
) -> float | None:
    """Return the mean index under uniformly drawn leaders; None without a window.

    A window has few tasks for many agents, so this baseline is above 0 too. It uses a fixed seed.
    """
    chance = random.Random(0)  # noqa: S311
    step = max(1, len(worked) // MOST_WINDOWS)
    rosters = {task.roster: sorted(task.roster) for task in worked}
    values: list[float] = []
    for _ in range(DRAWS):
        drawn = [_led(task, chance.choice(rosters[task.roster]), by_niche) for task in worked]
        values += _indices(drawn, window, step)
    return math.fsum(values) / len(values) if values else None


def _led(work: WorkedTask, anchor: str, by_niche: bool) -> Led:
    return work.niche if by_niche else "", anchor, work.roster


def _indices(led: Sequence[Led], window: int, step: int = 1) -> list[float]:
    values = list[float]()
    for end in range(min(window, len(led)), len(led) + 1, step) if led else ():
        recent = led[max(0, end - window) : end]
        roster = recent[-1][2].union(anchor for _, anchor, _ in recent)
        if len(roster) > 1:
            unsure = _uncertainty(Counter((niche, anchor) for niche, anchor, _ in recent))
            values.append(min(1.0, max(0.0, 1 - unsure / math.log(len(roster)))))
    return values


def _uncertainty(led: Mapping[tuple[str, str], int]) -> float:
    """Return `H(A | Z)` of counts by niche and anchor, in nats."""
    niches = Counter[str]()
    for (niche, _), number in led.items():
        niches[niche] += number
    terms = (number * math.log(niches[niche] / number) for (niche, _), number in led.items())
    return math.fsum(terms) / sum(niches.values())


def _worked(trial: Trial, roster: frozenset[str]) -> WorkedTask:
    anchor = trial.agents[ANCHOR].member  # it may be retired while its team is at work
    return WorkedTask(
        task=trial.task,
        niche=trial.niche or "",
        anchor=anchor,
        roster=roster if anchor in roster else roster | {anchor},
        score=trial.score or 0.0,
        tokens=trial.usage.tokens,
        structure=trial.structure,
    )


def _flows(lesson: Learnt) -> Iterator[tuple[str, str]]:
    if lesson.giver is not None:
        yield from ((lesson.giver, owner) for owner in lesson.owners if owner != lesson.giver)


def _totals(flow: Mapping[tuple[str, str], int], end: Literal[0, 1]) -> Counter[str]:
    totals = Counter[str]()
    for pair, number in flow.items():
        totals[pair[end]] += number
    return totals


def _counted(names: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))
