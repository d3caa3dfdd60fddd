"""What there is to choose from when a model is asked for edits of a team."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...host.models import EFFORTS
from ...team._meaning import objections
from ...team.team import IMPLIED_BACKENDS, Agent
from ..kinds.of_tools import distinguishable
from ._structure import is_tied, new_edges
from .strict import NAME, PROMPT, any_of, choice, closed, edit, one_of, some, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...host.catalogue import Catalogue
    from ...host.models import Effort
    from ...loading.ceiling import CapabilityPolicy
    from ...team.team import Team
    from ..components import Component
    from .strict import Schema


NAMES = ("solver", "verifier", "decomposer", "combiner", "critic", "researcher")
"""What new agents are called, with the next free number; what they are stands in their role."""

ANY_NAME = "helper"
"""What they are called where there is room for fewer than there are names."""

TOKENS = (256, 1024, 4096)
STEPS = (5, 10, 20, 40)
SLOTS = 5
"""The most places between levels that are offered; in a longer chain, evenly spread."""

RECEIVERS, PARTS, REPORTERS, TOOLS = 3, 6, 8, 8
"""The most that a newcomer may have: receivers, those ahead of all, reporters, tools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Newcomers:
    """New agents of a team.

    Attributes:
        ceiling: What a person lets teams ask for. None: whatever the catalogue has.
        models: Aliases of models that they may ask.
        characters: The most characters of a prompt.
        count: How many there may be in one answer.
        edges: How many edges each may have.
        together: Whether there may be other edits in the answer.
    """

    team: Team
    catalogue: Catalogue
    ceiling: CapabilityPolicy | None
    models: frozenset[str]
    tools: frozenset[str]
    characters: int
    count: int
    edges: int
    together: bool

    def offers(self) -> Iterator[Schema]:
        """Offer agents that ask a model, in any place, and functions where they hear someone.

        In one answer there are as many ids as there may be newcomers, since one that is described
        twice counts once.
        """
        if self.count < 1 or self.edges < 1:
            return
        front, between = self._front(), list(self._between())
        asking, functions = list(self._asking()), list(self._functions())
        if asking:
            yield self._offer(asking, [front, *between, *self._last(least=0)])
        if functions and (places := [*between, *self._last(least=1)]):
            yield self._offer(functions, places)

    def _offer(self, kinds: Sequence[Schema], places: Sequence[Schema]) -> Schema:
        ids = one_of(self._ids())
        return edit("add_agent", agent=ids, fields=any_of(kinds), place=any_of(places))

    def _ids(self) -> Sequence[str]:
        if self.together and self.count < len(NAMES):
            numbers = range(1, len(self.team.agents) + self.count + 1)
            free = [f"{ANY_NAME}_{number}" for number in numbers]
            return [name for name in free if name not in self.team.agents][: self.count]
        return [self._free(name) for name in NAMES]

    def _free(self, name: str) -> str:
        ids = (f"{name}_{number}" for number in range(1, len(self.team.agents) + 2))
        return next(free for free in ids if free not in self.team.agents)

    def _front(self) -> Schema:
        """Return the place ahead of all, for who divides the task up."""
        agents = self.team.agents
        return closed(reports_to=some(agents, least=1, most=min(len(agents), PARTS, self.edges)))

    def _between(self) -> Iterator[Schema]:
        """Yield the places between two levels, for who works on what others report."""
        levels = self.team.levels
        for slot in _spread(range(1, len(levels)), SLOTS) if self.edges > 1 else ():
            ahead = [name for level in levels[:slot] for name in level]
            behind = [name for level in levels[slot:] for name in level]
            receivers = min(len(behind), RECEIVERS, max(1, self.edges // 3))
            reporters = min(len(ahead), REPORTERS, self.edges - receivers)
            yield closed(
                receives_from=some(ahead, least=1, most=reporters),
                reports_to=some(behind, least=1, most=receivers),
            )

    def _last(self, *, least: int) -> Iterator[Schema]:
        """Yield the place behind all: who stands there hears the former output, and others.

        Another one that stands there as well takes the first one's work over, so a function needs
        others then.
        """
        team = self.team
        others = [agent for agent in team.agents if agent != team.output]
        most = min(len(others), REPORTERS, self.edges - 1)
        senders = (
            {"receives_from": some(others, least=least, most=most)} if most >= max(least, 1) else {}
        )
        if senders or not least or not self.together:
            fields: dict[str, Schema] = {
                **senders,
                "is_output": {"type": "boolean", "enum": [True]},
            }
            yield closed(**fields)

    def _asking(self) -> Iterator[Schema]:
        """Yield the fields of newcomers that ask a model; types with the same fields share them."""
        if not self.models:
            return
        groups: dict[tuple[bool, bool], list[str]] = {}
        for name in self._types():
            has_tools = bool(self.tools) and not self._objects(name, tools=("some_tool",))
            groups.setdefault((name != "LLM", has_tools), []).append(name)
        for (loops, has_tools), names in groups.items():
            yield closed(
                role=text(40, NAME),
                agent_type=one_of(names),
                model_id=one_of(self.models),
                prompt=text(self.characters, PROMPT),
                **({"tools": self._toolset()} if has_tools else {}),
                max_tokens=choice(TOKENS, self._limit("max_tokens")),
                **({"max_steps": choice(STEPS, self._limit("max_steps"))} if loops else {}),
                **self._timeout(),
            )

    def _toolset(self) -> Schema:
        return some(self.tools, most=min(len(self.tools), TOOLS))

    def _functions(self) -> Iterator[Schema]:
        if self.catalogue.functions and self._may_be("Function", function="majority"):
            names = self.catalogue.functions
            yield closed(
                role=text(40, NAME), agent_type=one_of(["Function"]), function=one_of(names)
            )

    def _types(self) -> Iterator[str]:
        return (
            name
            for name in IMPLIED_BACKENDS
            if name not in {"Function", "Person"} and self._may_be(name, prompt="Solve the task.")
        )

    def _may_be(self, agent_type: str, **fields: Any) -> bool:
        backend = IMPLIED_BACKENDS[agent_type]
        ceiling = self.ceiling
        if ceiling and (agent_type not in ceiling.agent_types or backend not in ceiling.backends):
            return False
        return backend in self.catalogue.backends and not self._objects(agent_type, **fields)

    def _objects(self, agent_type: str, **fields: Any) -> bool:
        """Return whether the backend of a type cannot run an agent with these fields."""
        fields = {"prompt": "Solve the task.", **fields} if "function" not in fields else fields
        agent = Agent(id="one", agent_type=agent_type, **fields)
        return bool(objections(agent, IMPLIED_BACKENDS[agent_type]))

    def _timeout(self) -> Mapping[str, Schema]:
        """Return as long as the ceiling allows; without one, what is not written is the run's."""
        limit = self._limit("timeout")
        return {} if limit is None else {"timeout": choice((), limit)}

    def _limit(self, name: str) -> Any:
        return getattr(self.ceiling, name) if self.ceiling else None


def _spread(slots: Sequence[int], most: int) -> Sequence[int]:
    """Choose some of many, evenly, the first and the last among them."""
    if len(slots) <= most:
        return slots
    return [slots[round(place * (len(slots) - 1) / (most - 1))] for place in range(most)]


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
        """Return whether the agent's backend cannot run it."""
        return bool(objections(agent, self.team.backend_of(agent)))

    def most_of(self, limit: str) -> Any:
        """Return a limit of the ceiling; None where there is none."""
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
            tools=frozenset(distinguishable(self.tools)),
            characters=self.characters,
            count=count,
            edges=edges // count if count else 0,
            together=self.together,
        )

    @property
    def room_for_new_edges(self) -> int:
        """The most new edges beside those of new agents; 0 where it would leave few edits."""
        used = self.newcomers.count * self.newcomers.edges if self.together else 0
        room = self.room_for_edges - used
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
