"""The remaining budget of a race: the caps, less the reserve for the last word."""

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
"""Of rounding errors, when runs exactly fit into the remaining budget."""
ROUNDS = 2
"""The most runs of a held-back task in the last word, if a second run may give another answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """The caps of a budget, and how much of it was spent.

    It counts the usage of the race's own runs and calls, which a resumed race counts again in the
    same way. Spending decides when a race ends, so it must not depend on interruptions.

    Attributes:
        caps: The caps. Seconds do not count here: the budget itself ends work that takes too long.
        spent: The usage so far.
        aside: The usage that is set aside, because a kill may waste it.
    """

    caps: Caps
    spent: Usage
    aside: Usage = field(default_factory=Usage)

    def share(self, usage: Usage) -> float:
        """Return a usage as a share of the budget, by the cap that it comes closest to."""
        caps = self.caps
        pairs = ((usage.calls, caps.calls), (usage.tokens, caps.tokens), (usage.usd, caps.usd))
        return max(
            (used / cap if cap else 1.0 for used, cap in pairs if cap is not None), default=0
        )

    @property
    def used(self) -> float:
        """The share of the budget that was spent."""
        return self.share(self.spent + self.aside)

    def reserved(self, pair: Usage, most: int) -> int:
        """Return for how many pairs of runs in the last word the search leaves a part.

        It does not depend on what is left: a search that took too much would go on and on.

        Args:
            pair: The usage of a run of the original and one of the leader together.
        """
        each = self.share(pair)
        return min(most, fitting(LAST_WORD, each)) if each else most

    def pairs(self, pair: Usage, most: int) -> int:
        """Return how many of these pairs what is left pays for, as far as is known."""
        each, left = self.share(pair), max(0.0, 1 - self.used)
        reserved = self.reserved(pair, most)
        return min(reserved, fitting(left, each)) if each else reserved


def fitting(left: float, each: float) -> int:
    """Return how many runs of a given share fit into a share of the budget."""
    return int(left / each + TOLERANCE)


def each_run(candidate: Contender) -> Usage:
    """Return the mean usage of a candidate's run, rounded up."""
    return mean_of(candidate.usage, max(1, len(candidate.scores)))


def pair_of(original: Contender, leader: Contender) -> Usage:
    """Return the mean usage of a run of the original and one of the leader together.

    If answers are reused, the leader takes the original's for unchanged agents.
    """
    whole = mean_of(leader.usage + leader.saved, max(1, len(leader.scores)))
    if leader.saved.calls:
        agents = len(leader.team.agents)
        whole = mean_of(whole, agents / max(1, agents - _unchanged(original.team, leader.team)))
    return each_run(original) + whole


def _unchanged(before: Team, after: Team) -> int:
    """Count the agents of a team whose questions are the same as in another team."""
    same = {name for name, agent in after.agents.items() if before.agents.get(name) == agent}
    inputs = before.predecessors
    same = {name for name in same if after.predecessors[name] == inputs[name]}
    return sum(name in same and after.ancestors[name] <= same for name in after.agents)


def mean_of(usage: Usage, runs: float) -> Usage:
    """Divide a usage, rounding up."""
    return Usage(
        calls=math.ceil(usage.calls / runs),
        prompt_tokens=math.ceil(usage.prompt_tokens / runs),
        completion_tokens=math.ceil(usage.completion_tokens / runs),
        usd=usage.usd / runs,
    )
