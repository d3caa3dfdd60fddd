"""Limits of one phase of a retrospective: steps, seconds and money (Meta-Team Table 5).

Usage is counted from journaled answers, and checked before each question. So the outcome is the
same after a restart, and independent of concurrent questions.
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
    """The limits of one phase of an agent, pair or team. A call in progress is completed.

    Attributes:
        seconds: The total time in which models answered.
        usd: The total cost of answers, in USD. None: the rest of the evolution's budget.
    """

    steps: int = 50
    seconds: float = 900
    usd: float | None = 50


@dataclass(kw_only=True, eq=False)
class Meter:
    """Counts the usage of a phase, and stops its questions at the limits."""

    limits: PhaseLimits
    steps: int = 0
    seconds: float = 0.0
    usd: float = 0.0

    @property
    def reached(self) -> str | None:
        """The limit that is reached, in words; None if there is none."""
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
        """Ask and count the usage; if a limit is reached, drop the question instead."""
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
        """Return a meter for one of several concurrent parts.

        Each part starts from the current counts and ignores the other parts, so its limits do not
        depend on their speed.
        """
        return replace(self)

    def took(self, parts: Sequence[Meter]) -> None:
        """Add the usage of all concurrent parts, since `begun`."""
        begun = self.begun()
        for part in parts:
            self.steps += part.steps - begun.steps
            self.seconds += part.seconds - begun.seconds
            self.usd += part.usd - begun.usd
