"""What a race may still spend: the caps of the budget, less what the last word will need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ....runtime.values.caps import Caps
    from ....runtime.values.usage import Usage

LAST_WORD = 0.25
"""The largest share of the budget that the last word may take."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """The caps of a budget, and what of it was spent.

    It counts what the race's own runs and calls consumed, which a resumed race counts again in the
    same way. What is spent decides when a race ends, so it must not depend on how often it stopped.

    Attributes:
        caps: The caps. Seconds do not count here: the budget itself ends what takes too long.
        spent: What was spent.
    """

    caps: Caps
    spent: Usage

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
        return self.share(self.spent)

    def pairs(self, pair: Usage, most: int) -> int:
        """Return how many held-back tasks the last word can have, as far as is known.

        Args:
            pair: What a run of the original and one of the leader consume together.
            most: How many there are.
        """
        each = self.share(pair)
        left = max(0.0, 1 - self.used)
        return most if not each else min(most, int(LAST_WORD / each), int(left / each))
