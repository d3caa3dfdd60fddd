"""What one agent's looking back may take: steps, seconds and money (Meta-Team Table 5).

It is counted from the answers as they are journaled, and before each question: so it is the same
after a restart, and does not depend on who was asked beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ....runtime.values.usage import Usage
from ...core.meta import OperatorModel, Question
from ...core.proposal import RejectedProposal

Answered = TypeVar("Answered")


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseLimits:
    """What one phase of one agent, pair or team may take. What is under way is brought to its end.

    Attributes:
        seconds: Seconds that models took to answer, all together.
        usd: What their answers cost, in USD. None: as much as the evolution has left.
    """

    steps: int = 50
    seconds: float = 900
    usd: float | None = 50


@dataclass(kw_only=True, eq=False)
class Meter:
    """Counts what a phase took, and asks no more when that is enough.

    Attributes:
        usd: What they cost, in USD.
        since: Where it began, of one that was begun by another.
    """

    limits: PhaseLimits
    steps: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    since: tuple[int, float, float] = (0, 0.0, 0.0)

    @property
    def reached(self) -> str | None:
        """Which limit is reached, in words."""
        limits = self.limits
        if self.steps >= limits.steps:
            return f"{limits.steps} calls were made; no more may be."
        if self.seconds >= limits.seconds:
            return f"models took {limits.seconds:g} seconds; that is all that they may."
        if limits.usd is not None and self.usd >= limits.usd:
            return f"answers cost {limits.usd:g} USD; that is all that they may."
        return None

    async def ask(
        self, model: OperatorModel, path: str, question: Question[Answered]
    ) -> Answered | RejectedProposal:
        """Ask, and count what that took; where a limit is reached, it is dropped instead."""
        if self.reached is not None:
            return model.drop(path, question.operator, self.reached, parents=question.parents)

        def tell(event: str, /, **fields: Any) -> None:
            self._count(event, fields)
            model.tell(event, **fields)

        return await replace(model, tell=tell).ask(path, question)

    def _count(self, event: str, fields: dict[str, Any]) -> None:
        if event == "model_call":
            self.steps += 1
            self.seconds += fields["seconds"]
            self.usd += Usage(**fields["usage"]).usd

    def begun(self) -> Meter:
        """Return a meter for one of several that are at work side by side from here on.

        Each counts what was taken up to here, and nothing of the others: so what one of them may
        take does not depend on which of them is faster.
        """
        return replace(self, since=(self.steps, self.seconds, self.usd))

    def took(self, others: Sequence[Meter]) -> None:
        """Count what those took as well that were begun from here."""
        for meter in others:
            steps, seconds, usd = meter.since
            self.steps += meter.steps - steps
            self.seconds += meter.seconds - seconds
            self.usd += meter.usd - usd
