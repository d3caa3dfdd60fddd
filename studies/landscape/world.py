"""What agents and teams are worth in a landscape: a rule for one agent, and nothing else.

An agent answers a puzzle with one of five letters. Alone it is right as often as its model is on
the niche, more often where its prompt has the sentence that suits the niche. Agents of one model
share mistakes. With reports, it lets the most frequent answer win; told to check, it prefers
answers that it takes for right, with the blind spots of its model.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from coterie.operators.methods.search.chance import STOCK

from ..simulated import in_order
from .landscapes import MODELS, NICHES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coterie.schema.host.catalogue import Catalogue
    from coterie.schema.team.team import Agent, Team

    from .landscapes import Landscape

__all__ = [
    "CHECK",
    "COUNT",
    "FITTING",
    "OPTIONS",
    "Draws",
    "Mind",
    "Puzzles",
    "Shape",
    "best_shape",
    "insight",
    "puzzles",
    "sentences",
    "skill",
    "think",
]

CHECK = STOCK[1]
"""Makes an agent check what others report."""
COUNT = "Only count the votes."
"""Keeps an agent from adding an answer of its own."""
FITTING: Mapping[str, str] = dict(
    zip(NICHES, (STOCK[0], STOCK[5], STOCK[4], STOCK[7]), strict=True)
)
"""The sentence that suits a niche. All of them are among those that blind edits draw from."""
TRAPS = frozenset({STOCK[2], STOCK[3], STOCK[6]})
OPTIONS = 5
"""Letters there are to a puzzle; number 0 is right."""
SIZES = {"known": 400, "fresh": 1_000}
"""Puzzles of each niche: those that the meta-model knows, and those that teams are measured on."""


@dataclass(frozen=True, slots=True)
class Mind:
    """What matters of an agent: its model, and the sentences of its prompt that have an effect."""

    model: str
    sentences: frozenset[str] = frozenset()

    @classmethod
    def of(cls, agent: Agent, catalogue: Catalogue) -> Self:
        """Read it off an agent."""
        return cls(agent.model_id, sentences(catalogue.prompt(agent.prompt) or agent.prompt))


def sentences(prompt: str) -> frozenset[str]:
    """Find the sentences of a prompt that have an effect."""
    return frozenset(one for one in (*STOCK, COUNT) if one in prompt)


def skill(mind: Mind, landscape: Landscape, niche: str) -> float:
    """Give how often a mind is right by itself."""
    plain = landscape.strength(mind.model, niche)
    odds = math.log(plain / (1 - plain)) + landscape.trap * len(mind.sentences & TRAPS)
    for suited, sentence in FITTING.items():
        if sentence in mind.sentences:
            odds += landscape.fit if suited == niche else landscape.misfit
    return 1 / (1 + math.exp(-odds))


def insight(mind: Mind, landscape: Landscape, niche: str) -> float:
    """Give how often a mind judges another's answer rightly."""
    strength = landscape.strength(mind.model, niche)
    return min(1.0, landscape.insight + landscape.acumen * strength)


class Draws:
    """The chance in an agent's answers to `size` puzzles: its own, and that of its model.

    Args:
        own: What the agent's own chance depends on.
        common: What the chance of all agents of its model depends on.
        size: How many puzzles.
        shared: How often an answer is the model's.
    """

    def __init__(self, own: str, common: str, size: int, shared: float) -> None:
        import numpy as np

        model, alone = _generator(common), _generator(own)
        is_shared = alone.random(size) < shared
        mine, my_mistake = alone.random(size), alone.integers(1, OPTIONS, size)
        theirs, mistake = model.random(size), model.integers(1, OPTIONS, size)
        self.right = np.where(is_shared, theirs, mine)
        self.wrong = np.where(is_shared, mistake, my_mistake).astype("i1")
        self.tie = alone.random((OPTIONS, size), dtype="f4") / 2
        self.doubt = alone.random((OPTIONS, size), dtype="f4")
        self.own_mistake = is_shared & (mistake == np.arange(OPTIONS)[:, None])


def _generator(text: str) -> Any:
    import numpy as np

    return np.random.default_rng(
        int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    )


def think(
    mind: Mind, landscape: Landscape, niche: str, draws: Draws, reports: tuple[Any, ...]
) -> Any:
    """Answer puzzles, each with a number below `OPTIONS`; `reports` are the answers of others."""
    import numpy as np

    attempt = np.where(draws.right < skill(mind, landscape, niche), 0, draws.wrong).astype("i1")
    if not reports or not landscape.heeds:
        return attempt
    heard = np.stack(reports if COUNT in mind.sentences else (*reports, attempt))
    votes = (heard[:, None, :] == np.arange(OPTIONS, dtype="i1")[:, None]).sum(axis=0, dtype="i1")
    rank = votes + draws.tie
    if CHECK in mind.sentences:
        rightly = insight(mind, landscape, niche)
        passes = np.where(draws.own_mistake, landscape.blind, 1 - rightly)
        passes[0] = rightly
        rank += 10 * ((draws.doubt < passes) & (votes > 0))
    return rank.argmax(axis=0).astype("i1")


@dataclass(frozen=True, slots=True)
class Shape:
    """What matters of a team: minds in an order in which all hear of earlier ones only."""

    minds: Mapping[str, Mind]
    heard: Mapping[str, tuple[str, ...]]
    output: str

    @classmethod
    def made(cls, minds: Mapping[str, Mind], heard: Mapping[str, tuple[str, ...]]) -> Self | None:
        """Put minds in order; None where some hear in a circle, or not all come to one output."""
        found = in_order(heard)
        if found is None:
            return None
        order, output = found
        return cls({one: minds[one] for one in order}, heard, output)

    @classmethod
    def of(cls, team: Team, catalogue: Catalogue) -> Self:
        """Read it off a team."""
        order = [one for level in team.levels for one in level]
        minds = {one: Mind.of(team.agents[one], catalogue) for one in order}
        heard = team.predecessors
        return cls(minds, {one: tuple(heard[one]) for one in order}, team.output)

    def minded(self, agent: str, mind: Mind) -> Shape:
        """Give the same team with another mind in a place."""
        return replace(self, minds={**self.minds, agent: mind})


class Puzzles:
    """A set of puzzles of each niche, the same for all teams of a landscape.

    No two sets have a puzzle in common, nor with the tasks of any stream.

    Args:
        landscape: Where.
        name: Which set.
        size: How many puzzles of each niche.
    """

    def __init__(self, landscape: Landscape, name: str, size: int) -> None:
        self.landscape, self._name, self._size = landscape, name, size
        self._numbers: dict[tuple[Mind, tuple[int, ...], int], int] = {}
        self._nodes: list[tuple[Mind, tuple[int, ...], int]] = []
        self._draws: dict[tuple[str, int, int, str], Draws] = {}
        self._answers: dict[tuple[int, str], Any] = {}
        self._values: dict[tuple[int, str], float] = {}

    def value(self, shape: Shape, niche: str) -> float:
        """Give the share of the niche's puzzles that a team gets right."""
        core = self.core(shape)
        found = self._values.get((core, niche))
        if found is None:
            found = float((self._answered(core, niche) == 0).mean())
            self._values[core, niche] = found
        return found

    def core(self, shape: Shape) -> int:
        """Number what a value depends on: not on names, nor on words without an effect.

        Teams that work alike have the same number.
        """
        numbers: dict[str, int] = {}
        kinds: Counter[tuple[str, int]] = Counter()
        for one, mind in shape.minds.items():
            heard = tuple(sorted(numbers[other] for other in shape.heard[one]))
            kind = (mind.model, len(heard))
            node = (mind, heard, kinds[kind])
            kinds[kind] += 1
            if node not in self._numbers:
                self._numbers[node] = len(self._nodes)
                self._nodes.append(node)
            numbers[one] = self._numbers[node]
        return numbers[shape.output]

    def _answered(self, number: int, niche: str) -> Any:
        known = self._answers.get((number, niche))
        if known is None:
            mind, heard, rank = self._nodes[number]
            reports = tuple(self._answered(one, niche) for one in heard)
            draws = self._drawn(mind.model, len(heard), rank, niche)
            known = think(mind, self.landscape, niche, draws, reports)
            self._answers[number, niche] = known
        return known

    def _drawn(self, model: str, heard: int, rank: int, niche: str) -> Draws:
        """Draw the chance of an agent, by its number among those of its model that hear as many."""
        key = (model, heard, rank, niche)
        if key not in self._draws:
            common = f"{self._name}/{niche}/{model}"
            own = f"{common}/{heard}/{rank}"
            self._draws[key] = Draws(own, common, self._size, self.landscape.shared)
        return self._draws[key]


@functools.lru_cache(maxsize=4)
def puzzles(landscape: Landscape, name: str) -> Puzzles:
    """Give a set of puzzles of a landscape: `known` to the meta-model, or `fresh`."""
    return Puzzles(landscape, f"{landscape.name}/{name}", SIZES[name])


def best_shape(known: Puzzles, niche: str, most: int) -> Shape:
    """Find a team of at most so many agents that no other is worth more than, by trying all.

    Agents that hear nobody differ by model alone, others also by whether they check or count; all
    have the sentence that suits the niche. Teams that differ by an order of equals are tried once.
    """
    return max(_shapes({}, {}, niche, most), key=lambda shape: known.value(shape, niche))


def _shapes(
    minds: dict[str, Mind], heard: dict[str, tuple[str, ...]], niche: str, most: int
) -> Iterator[Shape]:
    """Add an agent in every way; a team is whole where its last agent hears of all the others."""
    name = f"agent_{len(minds)}"
    for ears in _subsets(tuple(minds)):
        for mind in _minds(niche, hears=bool(ears)):
            last = next(reversed(minds), None)
            if last and heard[last] == ears and _sorted(mind) < _sorted(minds[last]):
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
