"""The edits of a team that a model may choose from."""

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
"""Base names of new agents, completed by the next free number; the role says what they do."""

ANY_NAME = "helper"
"""The base name of new agents if there is room for fewer than `NAMES` has."""

TOKENS = (256, 1024, 4096)
STEPS = (5, 10, 20, 40)
SLOTS = 5
"""The maximum number of places between levels that are offered; of more, evenly spread ones."""

RECEIVERS, PARTS, REPORTERS, TOOLS = 3, 6, 8, 8
"""Limits of a new agent: receivers, receivers of an agent before all others, reporters, tools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Newcomers:
    """New agents of a team.

    Attributes:
        ceiling: The limits that a person sets for teams. None: all that the catalogue has.
        models: Aliases of models that new agents may call.
        characters: The maximum characters of a prompt.
        count: The maximum number of new agents in one answer.
        edges: The maximum number of edges of each new agent.
        together: Whether the answer may contain other edits.
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
        """Offer agents that call a model in any place, and functions where they hear someone.

        An answer has as many ids to choose from as it may have new agents, because an agent
        described twice counts once.
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
        """Return the place before all others, for an agent that divides up the task."""
        agents = self.team.agents
        return closed(reports_to=some(agents, least=1, most=min(len(agents), PARTS, self.edges)))

    def _between(self) -> Iterator[Schema]:
        """Yield the places between two levels, for an agent that works on reports."""
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
        """Yield the place after all others, which hears the former output and further agents.

        A second agent in that place takes the former output over from the first. A function then
        needs further reports.
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
        """Yield schemas of new agents that call a model; types with the same fields share one."""
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
        """Return the ceiling's timeout as the only choice; without a ceiling, none is offered."""
        limit = self._limit("timeout")
        return {} if limit is None else {"timeout": choice((), limit)}

    def _limit(self, name: str) -> Any:
        return getattr(self.ceiling, name) if self.ceiling else None


def _spread(slots: Sequence[int], most: int) -> Sequence[int]:
    """Choose evenly spread items, including the first and the last."""
    if len(slots) <= most:
        return slots
    return [slots[round(place * (len(slots) - 1) / (most - 1))] for place in range(most)]


MOST_AGENTS, MOST_EDGES = 256, 4_096
"""The limits of an offered team."""

FEW = 8
"""The minimum number of edits in one answer. New edges are not offered if they would reduce it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """The edits to choose from; the fields are the arguments of `components_schema`."""

    team: Team
    catalogue: Catalogue
    ceiling: CapabilityPolicy | None
    components: frozenset[Component]
    most: int
    characters: int

    @property
    def together(self) -> bool:
        """Whether the answer may contain several edits."""
        return self.most > 1

    @property
    def models(self) -> frozenset[str]:
        """Aliases of models that agents may call."""
        aliases = self.catalogue.aliases
        return aliases & self.ceiling.models if self.ceiling else aliases

    @property
    def tools(self) -> frozenset[str]:
        """Tools that agents may use."""
        tools = self.catalogue.tools
        return tools & self.ceiling.tools if self.ceiling else tools

    @property
    def asking(self) -> Sequence[Agent]:
        """The agents that call a model."""
        team = self.team
        return [agent for agent in team.agents.values() if team.asks_model(agent)]

    def objects(self, agent: Agent) -> bool:
        """Return whether the agent's backend cannot run it."""
        return bool(objections(agent, self.team.backend_of(agent)))

    def most_of(self, limit: str) -> Any:
        """Return a limit of the ceiling; None without a ceiling."""
        return getattr(self.ceiling, limit) if self.ceiling else None

    @property
    def efforts(self) -> Sequence[Effort]:
        """The efforts that agents may set; empty if neither the ceiling nor this team mentions any.

        Otherwise, models that do not think would be asked to.
        """
        limit = self.most_of("effort")
        spoken_of = limit not in {None, "none"} or any(agent.effort for agent in self.asking)
        most = EFFORTS.index(limit) + 1 if limit is not None else len(EFFORTS)
        return EFFORTS[:most] if spoken_of else ()

    @property
    def room_for_agents(self) -> int:
        """The maximum number of additional agents."""
        limit = self.most_of("agents")
        return min(MOST_AGENTS, MOST_AGENTS if limit is None else limit) - len(self.team.agents)

    @property
    def room_for_edges(self) -> int:
        """The maximum number of additional edges."""
        limit = self.most_of("edges")
        return (MOST_EDGES if limit is None else limit) - len(self.team.edges)

    @property
    def newcomers(self) -> Newcomers:
        """The offer of new agents; they get half of the free edges if new edges are offered too."""
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
        """The maximum number of edges between old agents; 0 if that allows too few edits."""
        used = self.newcomers.count * self.newcomers.edges if self.together else 0
        room = self.room_for_edges - used
        is_alone = len(self.components) == 1
        return room if room >= min(FEW, self.most, self.new_edges) or is_alone else 0

    @property
    def new_edges(self) -> int:
        """The number of new edges to choose from."""
        return sum(map(len, new_edges(self.team, together=self.together).values()))

    @property
    def room_for_edits(self) -> int:
        """The maximum number of edits; each could be a new edge, so the free edges limit it."""
        if "topology" not in self.components or not is_tied(self.team):
            return self.most
        room = self.room_for_new_edges
        return min(self.most, room) if 0 < room < self.new_edges else self.most

    @property
    def longest_run(self) -> float | None:
        """The maximum seconds of a run, which also limit agents without a timeout of their own."""
        limits = [self.most_of("run_timeout")]
        if any(agent.timeout is None for agent in self.asking):
            limits.append(self.most_of("timeout"))
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def looping(self) -> Sequence[str]:
        """The agents that work in a loop."""
        return [agent.id for agent in self.asking if self.team.backend_of(agent) != "llm"]
