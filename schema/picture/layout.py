"""The layout of a layered graph: boxes on Kahn's levels, with few crossings and straight edges.

This is Sugiyama's method in its plainest form. An edge that skips levels passes each in a slot of
its own, so that it runs around boxes. Barycenters order the slots of a level. Then every slot moves
as close to the middle of its neighbours as the order allows.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..team.team import Team

SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Slot:
    """A place on a level: an agent's own, or one where its edges pass a later level."""

    agent_id: str
    level: int
    passing: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Spacing:
    """Widths on a level, in pixels: a box, a lane for passing edges, the gap between."""

    box: float
    lane: float
    gap: float

    def size(self, slot: Slot) -> float:
        """Return the width of a slot."""
        return self.lane if slot.passing else self.box


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrangement:
    """The slots of a graph and the links between them.

    Attributes:
        centers: The middle of every slot across its level, in pixels from 0.
        extent: The width of the levels, in pixels.
        links: The pieces of edges, each from a level to the next. Edges of one agent share pieces.
    """

    centers: Mapping[Slot, float]
    extent: float
    links: Sequence[tuple[Slot, Slot]]


Neighbours = dict[Slot, list[Slot]]


def arrange(team: Team, spacing: Spacing) -> Arrangement:
    """Order a team's agents within their levels and place them."""
    links = _links(team)
    before: Neighbours = defaultdict(list)
    after: Neighbours = defaultdict(list)
    for upper, lower in links:
        after[upper].append(lower)
        before[lower].append(upper)
    levels = _levels(team, links)
    for _ in range(SWEEPS):
        levels = _ordered(levels, before)
        levels = _ordered(levels[::-1], after)[::-1]
    centers = _centers(levels, before, after, spacing)
    start = min(center - spacing.size(slot) / 2 for slot, center in centers.items())
    end = max(center + spacing.size(slot) / 2 for slot, center in centers.items())
    shifted = {slot: center - start for slot, center in centers.items()}
    return Arrangement(centers=shifted, extent=end - start, links=links)


def _links(team: Team) -> list[tuple[Slot, Slot]]:
    level_of = {agent_id: index for index, ids in enumerate(team.levels) for agent_id in ids}
    links: dict[tuple[Slot, Slot], None] = {}
    for sender, receiver in team.edges:
        first, last = level_of[sender], level_of[receiver]
        passed = (Slot(sender, level, passing=True) for level in range(first + 1, last))
        way = (Slot(sender, first), *passed, Slot(receiver, last))
        links.update(dict.fromkeys(pairwise(way)))
    return list(links)


def _levels(team: Team, links: Sequence[tuple[Slot, Slot]]) -> list[list[Slot]]:
    levels = [[Slot(agent_id, i) for agent_id in ids] for i, ids in enumerate(team.levels)]
    for slot in dict.fromkeys(receiver for _, receiver in links):
        if slot.passing:
            levels[slot.level].append(slot)
    return levels


def _ordered(levels: Sequence[list[Slot]], neighbours: Neighbours) -> list[list[Slot]]:
    """Sort each level by the position of neighbours on the level before it."""
    places: dict[Slot, float] = {}
    ordered: list[list[Slot]] = []
    for level in levels:
        own = {slot: (index + 0.5) / len(level) for index, slot in enumerate(level)}
        wanted = {slot: _mean(places, neighbours[slot], own[slot]) for slot in level}
        ordered.append(sorted(level, key=wanted.__getitem__))
        places |= {slot: (index + 0.5) / len(level) for index, slot in enumerate(ordered[-1])}
    return ordered


def _centers(
    levels: Sequence[list[Slot]], before: Neighbours, after: Neighbours, spacing: Spacing
) -> dict[Slot, float]:
    centers: dict[Slot, float] = {}
    for level in levels:
        centers |= _fitted(level, [0.0] * len(level), spacing)
    both = {slot: [*before[slot], *after[slot]] for level in levels for slot in level}
    for neighbours, order in [(before, levels), (after, levels[::-1])] * SWEEPS + [(both, levels)]:
        for level in order:
            wanted = [_mean(centers, neighbours[slot], centers[slot]) for slot in level]
            centers |= _fitted(level, wanted, spacing)
    return centers


def _mean(places: Mapping[Slot, float], slots: Sequence[Slot], otherwise: float) -> float:
    return fmean(places[slot] for slot in slots) if slots else otherwise


def _fitted(level: Sequence[Slot], wanted: Sequence[float], spacing: Spacing) -> dict[Slot, float]:
    """Place slots in this order, without overlap, as close as possible to the wanted positions.

    Each slot's minimum distance from the first is subtracted. This leaves a regression with
    non-decreasing positions: neighbours that violate it are pooled at their mean (Ayer et al.
    1955).
    """
    sizes = [spacing.size(slot) for slot in level]
    steps = [(size + next_size) / 2 + spacing.gap for size, next_size in pairwise(sizes)]
    offsets = list(accumulate(steps, initial=0.0))
    pools: list[tuple[float, int]] = []
    for place, offset in zip(wanted, offsets, strict=True):
        mean, count = place - offset, 1
        while pools and pools[-1][0] >= mean:
            value, size = pools.pop()
            mean, count = (mean * count + value * size) / (count + size), count + size
        pools.append((mean, count))
    fitted = [mean for mean, count in pools for _ in range(count)]
    return {slot: fitted[i] + offsets[i] for i, slot in enumerate(level)}
