"""What agents and teams are worth in the landscape: a rule for one agent, and nothing else.

An agent answers a task with one of five letters. Alone it is right as often as its model is on the
niche (EvoMAS Tables 3 and 4, Single Agent), more often where its prompt has the sentence that suits
the niche. Agents of one model share many mistakes. With reports, it lets the most frequent answer
win; told to check, it prefers answers that it takes for right, with the blind spots of its model.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, Self

from ...operators.chance import STOCK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...schema.catalogue import Catalogue
    from ...schema.team import Agent, Team

__all__ = [
    "CHECK",
    "COUNT",
    "MODELS",
    "NICHES",
    "Draws",
    "Mind",
    "Shape",
    "best_value",
    "sentences",
    "think",
]

MODELS = ("sonnet", "qwen_235b", "qwen_480b")
NICHES: Mapping[str, tuple[float, float, float]] = {
    "boolean_expressions": (0.360, 0.585, 0.455),
    "object_counting": (0.400, 0.222, 0.154),
    "zebra_puzzles": (0.390, 0.607, 0.455),
    "calendar": (0.661, 0.562, 0.452),
}
"""Accuracy of a single agent, for each of `MODELS`."""
CHECK = STOCK[1]
"""Makes an agent check what others report."""
COUNT = "Only count the votes."
"""Keeps an agent from adding an answer of its own."""
FITTING = dict(zip(NICHES, (STOCK[0], STOCK[5], STOCK[4], STOCK[7]), strict=True))
"""The sentence that suits a niche. All of them are among those that blind edits draw from."""
TRAPS = frozenset({STOCK[2], STOCK[3], STOCK[6]})
FIT, MISFIT, TRAP = 0.8, -0.2, -0.4
"""What a sentence adds to the log odds of being right."""
SHARED = 0.4
"""How often an answer is what all agents of the model would answer, mistakes included."""
BLIND = 0.9
"""How often a checker passes the very mistake that its own model makes."""
HELD_OUT = 1_000
"""On how many tasks of each niche teams are measured."""
OPTIONS = 5
"""Answers there are to a task; number 0 is right."""


@dataclass(frozen=True, slots=True)
class Mind:
    """What matters of an agent: its model, and the sentences of its prompt that have an effect."""

    model: str
    sentences: frozenset[str] = frozenset()

    @classmethod
    def of(cls, agent: Agent, catalogue: Catalogue) -> Self:
        """Read it off an agent."""
        return cls(agent.model_id, sentences(catalogue.prompt(agent.prompt) or agent.prompt))

    def __repr__(self) -> str:
        """Write equal minds alike: their order in a team goes by it, and a set has none."""
        return f"Mind({self.model!r}, {sorted(self.sentences)})"

    def skill(self, niche: str) -> float:
        """Give how often it is right by itself."""
        plain = NICHES[niche][MODELS.index(self.model)]
        odds = math.log(plain / (1 - plain)) + TRAP * len(self.sentences & TRAPS)
        for suited, sentence in FITTING.items():
            if sentence in self.sentences:
                odds += FIT if suited == niche else MISFIT
        return 1 / (1 + math.exp(-odds))

    def insight(self, niche: str) -> float:
        """Give how often it judges another's answer rightly."""
        return 0.7 + 0.3 * NICHES[niche][MODELS.index(self.model)]


def sentences(prompt: str) -> frozenset[str]:
    """Find the sentences of a prompt that have an effect."""
    return frozenset(one for one in (*STOCK, COUNT) if one in prompt)


class Draws:
    """The chance in the answers of an agent, to `size` tasks: its own, and that of its model.

    Args:
        own: What the agent's own chance depends on.
        common: What the chance of all agents of its model depends on.
        size: How many tasks.
    """

    def __init__(self, own: str, common: str, size: int) -> None:
        shared, alone = _generator(common), _generator(own)
        self.shared = alone.random(size) < SHARED
        mine, my_mistake = alone.random(size), alone.integers(1, OPTIONS, size)
        theirs, self.mistake = shared.random(size), shared.integers(1, OPTIONS, size)
        self.right = _where(self.shared, theirs, mine)
        self.wrong = _where(self.shared, self.mistake, my_mistake)
        self.tie = alone.random((OPTIONS, size)) / 2
        self.doubt = alone.random((OPTIONS, size))


def _generator(text: str) -> Any:
    import numpy as np

    return np.random.default_rng(list(text.encode()))


def _where(condition: Any, one: Any, other: Any) -> Any:
    import numpy as np

    return np.where(condition, one, other)


def think(mind: Mind, niche: str, draws: Draws, reports: tuple[Any, ...]) -> Any:
    """Answer tasks, each with a number below `OPTIONS`; `reports` are the answers of others."""
    attempt = _where(draws.right < mind.skill(niche), 0, draws.wrong)
    if not reports:
        return attempt
    heard = reports if COUNT in mind.sentences else (*reports, attempt)
    insight, rank = mind.insight(niche), draws.tie.copy()
    for option in range(OPTIONS):
        votes = sum((one == option) * 1 for one in heard)
        rank[option] += votes
        if CHECK in mind.sentences:
            own = draws.shared & (draws.mistake == option)
            pass_wrong = _where(own, BLIND, 1 - insight)
            passed = draws.doubt[option] < (pass_wrong if option else insight)
            rank[option] += 10 * (passed & (votes > 0))
    return rank.argmax(axis=0)


@dataclass(frozen=True, slots=True)
class Shape:
    """What matters of a team: minds in an order in which all hear of earlier ones only."""

    minds: Mapping[str, Mind]
    heard: Mapping[str, tuple[str, ...]]
    output: str

    @classmethod
    def made(cls, minds: Mapping[str, Mind], heard: Mapping[str, tuple[str, ...]]) -> Self | None:
        """Put minds in order; None where some hear in a circle, or not all come to one output."""
        silent = {*minds} - {one for ears in heard.values() for one in ears}
        try:
            order = list(TopologicalSorter(heard).static_order())
        except CycleError:
            return None
        if len(silent) != 1:
            return None
        return cls({one: minds[one] for one in order}, heard, *silent)

    @classmethod
    def of(cls, team: Team, catalogue: Catalogue) -> Self:
        """Read it off a team."""
        order = [one for level in team.levels for one in level]
        minds = {one: Mind.of(team.agents[one], catalogue) for one in order}
        return cls(minds, {one: team.predecessors[one] for one in order}, team.output)

    def value(self, niche: str) -> float:
        """Give the share of the held-out tasks of a niche that the team gets right."""
        return _value(self.core, niche)

    @property
    def core(self) -> _Node:
        """What its value depends on: not on names, nor on words without an effect."""
        nodes: dict[str, _Node] = {}
        kinds: Counter[tuple[str, int]] = Counter()
        for one, mind in self.minds.items():
            heard = tuple(sorted((nodes[other] for other in self.heard[one]), key=repr))
            kind = (mind.model, len(heard))
            nodes[one] = (mind, heard, kinds[kind])
            kinds[kind] += 1
        return nodes[self.output]


_Node = tuple[Mind, tuple[Any, ...], int]
"""A mind, the nodes that it hears of, and its number among those of its model that hear as many."""


@functools.cache
def _draws(model: str, heard: int, number: int, niche: str) -> Draws:
    return Draws(f"{niche}/{model}/{heard}/{number}", f"{niche}/{model}", HELD_OUT)


@functools.lru_cache(maxsize=20_000)
def _answers(node: _Node, niche: str) -> Any:
    mind, heard, number = node
    reports = tuple(_answers(one, niche) for one in heard)
    return think(mind, niche, _draws(mind.model, len(heard), number, niche), reports).astype("i1")


@functools.lru_cache(maxsize=200_000)
def _value(node: _Node, niche: str) -> float:
    return float((_answers(node, niche) == 0).mean())


@functools.cache
def best_value(niche: str, most: int = 4) -> float:
    """Find the highest value of any team of at most so many agents, by trying all of them.

    Agents that hear nobody differ by model alone, others also by whether they check or count; all
    have the sentence that suits the niche. Teams that differ by an order of equals are tried once.
    """
    return max(shape.value(niche) for shape in _shapes({}, {}, niche, most))


def _shapes(
    minds: dict[str, Mind], heard: dict[str, tuple[str, ...]], niche: str, most: int
) -> Iterator[Shape]:
    """Add an agent in every way; a team is whole where its last agent hears of all the others."""
    name = f"agent_{len(minds)}"
    for ears in _subsets(tuple(minds)):
        for mind in _minds(niche, hears=bool(ears)):
            last = next(reversed(minds), None)
            if last and heard[last] == ears and repr(_sorted(mind)) < repr(_sorted(minds[last])):
                continue
            made, ways = {**minds, name: mind}, {**heard, name: ears}
            if {*made} - {one for way in ways.values() for one in way} == {name}:
                yield Shape(made, ways, name)
            if len(made) < most:
                yield from _shapes(made, ways, niche, most)


def _subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for size in range(len(names) + 1):
        yield from itertools.combinations(names, size)


def _sorted(mind: Mind) -> tuple[str, list[str]]:
    return mind.model, sorted(mind.sentences)


def _minds(niche: str, *, hears: bool) -> Iterator[Mind]:
    manners: tuple[set[str], ...] = (set(), {CHECK}, {COUNT}, {CHECK, COUNT}) if hears else (set(),)
    for model, manner in itertools.product(MODELS, manners):
        yield Mind(model, frozenset({FITTING[niche], *manner}))
