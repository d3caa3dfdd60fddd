"""The component that a mutation touches: the options, and policies that choose one.

A mutation touches exactly one component (EvoMAS §3.2.2). In the paper, the model chooses it from
the trace: `decide`. A model that writes good edits does not always know what to edit. So a policy
can choose instead: by a schedule, at random, or by past gains.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from ....schema.edits import components_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....schema.edits import Component
    from ....schema.loading.ceiling import CapabilityPolicy
    from ....schema.team.team import Team
    from ...core.meta import OperatorModel
    from ...core.proposal import Parent

MUTABLE: tuple[Component, ...] = ("prompts", "model_id", "topology", "tools", "parameters")
"""What a mutation may touch by default; the roster stays (App. C.1)."""
CHANGEABLE: tuple[Component, ...] = (*MUTABLE, "roster")
"""What a step may touch if a recipe also lets it add and remove agents (App. D.1, D.4)."""


def open_components(
    model: OperatorModel, parent: Parent, components: Sequence[Component] = MUTABLE
) -> tuple[Component, ...]:
    """Return the components of a team in which a mutation can change something."""
    allowed: list[Component] = [component for component in CHANGEABLE if component in components]
    ceiling = newcomer_ceiling(model.ceiling, parent.team, components)
    return tuple(
        component for component in allowed if _offered(model, parent.team, component, ceiling)
    )


def _offered(
    model: OperatorModel, team: Team, component: Component, newcomers: CapabilityPolicy
) -> bool:
    ceiling = newcomers if component == "roster" else None
    return offer(model, team, component, ceiling=ceiling) is not None


def newcomer_ceiling(
    ceiling: CapabilityPolicy, team: Team, components: Sequence[Component]
) -> CapabilityPolicy:
    """Return the ceiling of new agents.

    If models or tools are not among the components, new agents get only those that the team already
    has.
    """
    if "model_id" not in components:
        asking = [agent for agent in team.agents.values() if team.asks_model(agent)]
        ceiling = replace(ceiling, models=ceiling.models & {agent.model_id for agent in asking})
    if "tools" not in components:
        tools = {tool for agent in team.agents.values() for tool in agent.tools}
        ceiling = replace(ceiling, tools=ceiling.tools & tools)
    return ceiling


def offer(
    model: OperatorModel,
    team: Team,
    *components: Component,
    ceiling: CapabilityPolicy | None = None,
    least: int = 1,
) -> Mapping[str, Any] | None:
    """Return the schema of edits of some components, within the model's limits.

    Args:
        ceiling: The ceiling of the child, if it is lower than the model's.

    Returns:
        The schema; None if there is nothing to choose.
    """
    limits = model.limits
    return components_schema(
        components,
        team,
        model.catalogue,
        ceiling or model.ceiling,
        least=least,
        most=limits.edits,
        characters=limits.characters,
    )


class ComponentPolicy(Protocol):
    """Chooses a component.

    It must return one of `open_to`, and the same one for the same arguments.
    """

    def choose(self, path: str, step: int, open_to: Sequence[Component]) -> Component:
        """Return the component to mutate.

        Args:
            step: The number of earlier steps on the task.
            open_to: The components in which something can change; at least one.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class BySchedule:
    """Takes components in turn: by default prompts, then models, then topology (EvoMAS §5).

    Attributes:
        stages: The component of each step; after the last comes the first again.
    """

    stages: tuple[Component, ...] = MUTABLE

    def choose(self, path: str, step: int, open_to: Sequence[Component]) -> Component:
        """Return the step's component, or the next one that is open."""
        del path
        place = step % len(self.stages)
        ahead: Sequence[Component] = (*self.stages[place:], *self.stages[:place])
        for component in ahead:
            if component in open_to:
                return component
        return open_to[0]


def _shares() -> Mapping[Component, float]:
    shares: dict[Component, float] = {
        "prompts": 0.506, "model_id": 0.313, "topology": 0.181,
        "tools": 0.1, "parameters": 0.1, "roster": 0.1,
    }  # fmt: skip
    return MappingProxyType(shares)


@dataclass(frozen=True, kw_only=True, slots=True)
class ByChance:
    """Draws a component, by default in proportion to successful mutations (EvoMAS Fig. 8).

    Attributes:
        weights: The relative frequency of each component. The figure lacks tools, parameters and
            roster; their weights are guesses of ours.
    """

    weights: Mapping[Component, float] = field(default_factory=_shares)
    seed: int = 0

    def choose(self, path: str, step: int, open_to: Sequence[Component]) -> Component:
        """Return a random component."""
        del step
        weights = [self.weights.get(component, 0.0) for component in open_to]
        chance = random.Random(f"{self.seed}/{path}/component")  # noqa: S311 - guards nothing
        return chance.choices(open_to, weights if any(weights) else None)[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class ByOutcome:
    """Takes the component with the highest gains, with a bonus for rarely tried ones (UCB1).

    Attributes:
        outcomes: The components tried so far, each with the child's gain over its parent.
    """

    outcomes: tuple[tuple[Component, float], ...] = ()
    exploration: float = 0.5

    def choose(self, path: str, step: int, open_to: Sequence[Component]) -> Component:
        """Return the best component; on a tie, the first of `open_to`."""
        del path, step
        return max(open_to, key=self._worth)

    def _worth(self, component: Component) -> float:
        gains = [gain for choice, gain in self.outcomes if choice == component]
        if not gains:
            return math.inf
        bonus = math.sqrt(math.log(len(self.outcomes)) / len(gains))
        return sum(gains) / len(gains) + self.exploration * bonus
