"""Which component a mutation touches: what there is to choose from, and policies that choose.

A mutation touches exactly one component (EvoMAS §3.2.2). In the paper the model chooses it, from
the trace: `decide`. A model that writes good edits is not always one that knows what to edit, so
the choice can also be a policy's: by a schedule, by chance, or by what has paid off.
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
"""What a mutation touches unless a recipe says otherwise; who is in the team stays (App. C.1)."""
CHANGEABLE: tuple[Component, ...] = (*MUTABLE, "roster")
"""What a step may touch where a recipe lets it add and remove agents too (App. D.1, D.4)."""


def open_components(
    model: OperatorModel, parent: Parent, components: Sequence[Component] = MUTABLE
) -> tuple[Component, ...]:
    """Return the components of a team in which a mutation has something to change.

    Args:
        model: Knows what names there are, and the ceiling.
        components: What may be touched at all.
    """
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
    """Return what newcomers may ask for.

    Where models or tools may not be touched, newcomers have those that the team has already.

    Args:
        ceiling: What a child may ask for.
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
    """Write the schema of edits of some components, as long as who answers may write them.

    Args:
        ceiling: What the child may ask for, where that is less than `model` says.

    Returns:
        The schema; None where there is nothing to choose.
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

    It must give one of `open_to`, and for the same arguments the same one.
    """

    def choose(self, path: str, step: int, open_to: Sequence[Component]) -> Component:
        """Choose.

        Args:
            step: How many steps of evolution the task has behind it.
            open_to: Components of the team in which there is something to change; at least one.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class BySchedule:
    """Takes components in turn: by default prompts, then models, then topology (EvoMAS §5).

    Attributes:
        stages: One for each step; after the last comes the first.
    """

    stages: tuple[Component, ...] = MUTABLE

    def choose(self, path: str, step: int, open_to: Sequence[Component]) -> Component:
        """Take the step's component, or the next that is open."""
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
    """Draws a component, by default as often as successful mutations had it (EvoMAS Fig. 8).

    Attributes:
        weights: How often each is drawn, relative to the others; tools, parameters and roster,
            which the figure does not have, by our own guess.
    """

    weights: Mapping[Component, float] = field(default_factory=_shares)
    seed: int = 0

    def choose(self, path: str, step: int, open_to: Sequence[Component]) -> Component:
        """Draw one."""
        del step
        weights = [self.weights.get(component, 0.0) for component in open_to]
        chance = random.Random(f"{self.seed}/{path}/component")  # noqa: S311 - guards nothing
        return chance.choices(open_to, weights if any(weights) else None)[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class ByOutcome:
    """Takes what has paid off most, with a bonus for what was seldom tried (UCB1).

    Attributes:
        outcomes: What was tried, and what the child's reward was more than its parent's.
    """

    outcomes: tuple[tuple[Component, float], ...] = ()
    exploration: float = 0.5

    def choose(self, path: str, step: int, open_to: Sequence[Component]) -> Component:
        """Take the best; among equals, the first of `open_to`."""
        del path, step
        return max(open_to, key=self._worth)

    def _worth(self, component: Component) -> float:
        gains = [gain for choice, gain in self.outcomes if choice == component]
        if not gains:
            return math.inf
        bonus = math.sqrt(math.log(len(self.outcomes)) / len(gains))
        return sum(gains) / len(gains) + self.exploration * bonus
