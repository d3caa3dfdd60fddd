"""The material of draws, and how a sketch becomes a proposal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .....schema.edits import Edit, components
from ....core.answers import InvalidAnswer, child_of
from ....core.proposal import Proposal

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from .....schema.host.catalogue import Catalogue
    from .....schema.loading.ceiling import CapabilityPolicy
    from .....schema.team.team import Team
    from ..task_trial import TaskTrial


@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnFrom:
    """The material of draws.

    Attributes:
        trials: The parent's runs on tasks to learn from: their reference answers may be shown.
        ceiling: The most that a child may ask for.
        seeds: Teams that may replace the parent, or one of its agents.
    """

    team: Team
    trials: Sequence[TaskTrial]
    catalogue: Catalogue
    ceiling: CapabilityPolicy
    seeds: Sequence[Team] = ()
    chance: random.Random


Sketch = tuple[tuple[Edit, ...], str]
"""Edits that may make a child, and the reason for them."""
Sketches = Callable[[DrawnFrom], Iterator[Sketch]]
Draw = Callable[[DrawnFrom], Iterator[Proposal]]
"""Yields every distinct proposal of a kind for a team, the best guess first."""


def drawing(kind: str, sketches: Sketches) -> Draw:
    """Yield the sketches that make a valid child, without repetitions."""

    def draw(source: DrawnFrom) -> Iterator[Proposal]:
        team = source.team
        hashes = {team.content_hash}
        for edits, reason in sketches(source):
            try:
                child = child_of(team, edits, source.catalogue, source.ceiling)
            except InvalidAnswer:
                continue
            if child.content_hash in hashes:
                continue
            hashes.add(child.content_hash)
            touched = components(edits)
            component = next(iter(touched)) if len(touched) == 1 else None
            yield Proposal.of(
                f"race_{kind}", team, edits, reason=reason, child=child, component=component
            )

    return draw
