"""What a race may still spend: the caps of the budget, less what the last word will need."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....runtime.values.usage import Usage

if TYPE_CHECKING:
    from ....runtime.values.caps import Caps
    from ....schema.team.team import Team
    from .standings import Contender

LAST_WORD = 1 / 3
"""The largest share of the budget that the last word may take."""
TOLERANCE = 1e-9
"""Of rounding, where runs exactly fit into what is left."""
MOST_REPEATS = 3
"""How often the last word does a task at most, where the budget allows more runs than tasks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """The caps of a budget, and what of it was spent.

    It counts what the race's own runs and calls consumed, which a resumed race counts again in the
    same way. What is spent decides when a race ends, so it must not depend on how often it stopped.

    Attributes:
        caps: The caps. Seconds do not count here: the budget itself ends what takes too long.
        aside: What is kept in case that the race is killed.
    """

    caps: Caps
    spent: Usage
    aside: Usage = field(default_factory=Usage)

    def share(self, usage: Usage) -> float:
        """Return the share of the budget that a usage is, by the cap that it comes closest to."""
        caps = self.caps
        pairs = ((usage.calls, caps.calls), (usage.tokens, caps.tokens), (usage.usd, caps.usd))
        return max(
            (used / cap if cap else 1.0 for used, cap in pairs if cap is not None), default=0
        )

    @property
    def used(self) -> float:
        """The share of the budget that was spent."""
        return self.share(self.spent + self.aside)

    def pairs(self, pair: Usage, most: int) -> int:
        """Return how many held-back tasks the last word can have, as far as is known.

        Args:
            pair: What a run of the original and one of the leader consume together.
        """
        each = self.share(pair)
        left = max(0.0, 1 - self.used)
        return min(most, fitting(LAST_WORD, each), fitting(left, each)) if each else most


def fitting(left: float, each: float) -> int:
    """Return how many runs of a share fit into a share of the budget."""
    return int(left / each + TOLERANCE)


def each_run(candidate: Contender) -> Usage:
    """Return what a run of a candidate consumes on the mean, rounded up."""
    return _mean(candidate.usage, max(1, len(candidate.scores)))


def pair_of(original: Contender, leader: Contender) -> Usage:
    """Return what a run of the original and one of the leader consume together, on the mean.

    Where answers are reused, the leader has the original's for agents that did not change.
    """
    whole = _mean(leader.usage + leader.saved, max(1, len(leader.scores)))
    if leader.saved.calls:
        agents = len(leader.team.agents)
        whole = _mean(whole, agents / max(1, agents - _unchanged(original.team, leader.team)))
    return each_run(original) + whole


def _unchanged(before: Team, after: Team) -> int:
    """Count the agents of a team that differ from those of another in nothing that they ask."""
    same = {name for name, agent in after.agents.items() if before.agents.get(name) == agent}
    inputs = before.predecessors
    same = {name for name in same if after.predecessors[name] == inputs[name]}
    return sum(name in same and after.ancestors[name] <= same for name in after.agents)


def _mean(usage: Usage, runs: float) -> Usage:
    """Divide a usage, rounding up."""
    return Usage(
        calls=math.ceil(usage.calls / runs),
        prompt_tokens=math.ceil(usage.prompt_tokens / runs),
        completion_tokens=math.ceil(usage.completion_tokens / runs),
        usd=usage.usd / runs,
    )
