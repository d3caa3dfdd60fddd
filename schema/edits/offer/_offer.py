"""What there is to choose from when a model is asked for edits of a team."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...host.models import EFFORTS
from ...team._meaning import objections
from ..kinds.of_tools import told_apart
from ._newcomers import NAMES, Newcomers
from ._structure import is_tied, new_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...host.catalogue import Catalogue
    from ...host.models import Effort
    from ...loading.ceiling import CapabilityPolicy
    from ...team.team import Agent, Team
    from ..components import Component

MOST_AGENTS, MOST_EDGES = 256, 4_096
"""Of a team, and of a team that is offered more."""

FEW = 8
"""Edits. Rather than fewer of every kind, no edge is offered beside other edits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """What there is to choose from; the fields are the arguments of `components_schema`."""

    team: Team
    catalogue: Catalogue
    ceiling: CapabilityPolicy | None
    components: frozenset[Component]
    most: int
    characters: int

    @property
    def together(self) -> bool:
        """Whether there may be several edits in the answer."""
        return self.most > 1

    @property
    def models(self) -> frozenset[str]:
        """Aliases of models that agents may ask."""
        aliases = self.catalogue.aliases
        return aliases & self.ceiling.models if self.ceiling else aliases

    @property
    def tools(self) -> frozenset[str]:
        """Tools that agents may use."""
        tools = self.catalogue.tools
        return tools & self.ceiling.tools if self.ceiling else tools

    @property
    def asking(self) -> Sequence[Agent]:
        """The agents that ask a model."""
        team = self.team
        return [agent for agent in team.agents.values() if team.asks_model(agent)]

    def objects(self, agent: Agent) -> bool:
        """Tell whether the agent's backend cannot run it."""
        return bool(objections(agent, self.team.backend_of(agent)))

    def most_of(self, limit: str) -> Any:
        """Give a limit of the ceiling; None where there is none."""
        return getattr(self.ceiling, limit) if self.ceiling else None

    @property
    def efforts(self) -> Sequence[Effort]:
        """Efforts that agents may write; none where neither a person nor this team speaks of any.

        What nobody has spoken of is not offered: a model that does not think would be asked to.
        """
        limit = self.most_of("effort")
        spoken_of = limit not in {None, "none"} or any(agent.effort for agent in self.asking)
        most = EFFORTS.index(limit) + 1 if limit is not None else len(EFFORTS)
        return EFFORTS[:most] if spoken_of else ()

    @property
    def room_for_agents(self) -> int:
        """How many more agents there may be."""
        limit = self.most_of("agents")
        return min(MOST_AGENTS, MOST_AGENTS if limit is None else limit) - len(self.team.agents)

    @property
    def room_for_edges(self) -> int:
        """How many more edges there may be."""
        limit = self.most_of("edges")
        return (MOST_EDGES if limit is None else limit) - len(self.team.edges)

    @property
    def newcomers(self) -> Newcomers:
        """Share the room for edges out: half to new agents, where there are new edges as well."""
        agents, edges = self.room_for_agents, self.room_for_edges
        if self.together and "topology" in self.components:
            edges //= 2
        fit = min(agents, edges // 3, len(NAMES), self.most) if self.together else 1
        count = max(fit, 1) if "roster" in self.components and min(agents, edges) > 0 else 0
        return Newcomers(
            team=self.team,
            catalogue=self.catalogue,
            ceiling=self.ceiling,
            models=self.models,
            tools=frozenset(told_apart(self.tools)),
            characters=self.characters,
            count=count,
            edges=edges // count if count else 0,
            together=self.together,
        )

    @property
    def room_for_new_edges(self) -> int:
        """The most new edges beside those of new agents; 0 where it would leave few edits."""
        taken = self.newcomers.count * self.newcomers.edges if self.together else 0
        room = self.room_for_edges - taken
        is_alone = len(self.components) == 1
        return room if room >= min(FEW, self.most, self.new_edges) or is_alone else 0

    @property
    def new_edges(self) -> int:
        """How many edges there are to choose from."""
        return sum(map(len, new_edges(self.team, together=self.together).values()))

    @property
    def room_for_edits(self) -> int:
        """Every edit might be a new edge, where more are offered than there is room for."""
        if "topology" not in self.components or not is_tied(self.team):
            return self.most
        room = self.room_for_new_edges
        return min(self.most, room) if 0 < room < self.new_edges else self.most

    @property
    def longest_run(self) -> float | None:
        """The most seconds of a run; an agent that writes none of its own has as many."""
        limits = [self.most_of("run_timeout")]
        if any(agent.timeout is None for agent in self.asking):
            limits.append(self.most_of("timeout"))
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def looping(self) -> Sequence[str]:
        """The agents that work in a loop."""
        return [agent.id for agent in self.asking if self.team.backend_of(agent) != "llm"]
