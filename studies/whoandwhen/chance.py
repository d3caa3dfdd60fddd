"""What a blind draw gets: an agent of the trace, or a step of it, each as likely; computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .verdicts import names, names_as_original

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .published import Labelled


@dataclass(frozen=True, kw_only=True, slots=True)
class Chance:
    """How likely a blind draw is right, each in [0, 1].

    Attributes:
        agent: Of one who speaks, exactly.
        agent_original: The same by the original's verdict.
        step: Of a step, exactly.
        step_original: The same by the original's verdict.
    """

    agent: float
    agent_original: float
    step: float
    step_original: float


def chance_of(label: Labelled) -> Chance:
    """Count which of the agents that speak, and which of the steps, would be right."""
    steps = [str(number) for number in range(len(label.history))]
    return Chance(
        agent=_share(names(label.agent, agent) for agent in label.agents),
        agent_original=_share(names_as_original(label.agent, agent) for agent in label.agents),
        step=_share(label.step == step for step in steps),
        step_original=_share(label.step in step for step in steps),
    )


def _share(rights: Iterable[bool]) -> float:
    counted = [*rights]
    return sum(counted) / len(counted) if counted else 0.0
